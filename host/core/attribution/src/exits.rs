//! Ends of the process that are not the program's own: `exit` and `quick_exit` in code of a library.
//!
//! Their handlers run in the reverse order, and ours is registered before any library is opened, so what libraries registered has run.
//! The exit code of a library would otherwise be that of the program: 0 says that everything was scheduled.

use std::ffi::c_int;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::line::{Line, what, who};
use crate::signals::own_process;
use crate::slot::{all, known_slot, slot};
use crate::{mark, signals};

/// The process in which an exit is not expected; 0 if it is. A fork of a library may end as it likes.
static WATCHED: AtomicI32 = AtomicI32::new(0);
/// The exit code for an end that a library brings about.
static CODE: AtomicI32 = AtomicI32::new(0);
static IS_ARMED: AtomicBool = AtomicBool::new(false);

/// True once handlers were installed.
pub(crate) fn is_armed() -> bool {
    IS_ARMED.load(Ordering::Relaxed)
}

/// Ends the process at once, without handlers and destructors, which belong to libraries.
pub(crate) fn end_now(code: i32) -> ! {
    // SAFETY: it has no preconditions.
    unsafe { libc::_exit(code) }
}

/// The program runs. When this is dropped, its end is its own.
#[derive(Debug)]
#[must_use]
pub struct Armed(());

impl Drop for Armed {
    fn drop(&mut self) {
        WATCHED.store(0, Ordering::Relaxed);
        // What libraries do at the end is theirs.
        mark::ending();
    }
}

/// Installs handlers that name a plugin on standard error when it crashes or ends the process. If it ends the process by `exit` or
/// `quick_exit`, the exit code is `code`.
///
/// To be called once, on the main thread, before any library is opened. The answer is dropped when the program returns from `main`.
pub fn arm(code: i32) -> Armed {
    CODE.store(code, Ordering::Relaxed);
    if !IS_ARMED.swap(true, Ordering::Relaxed) {
        register();
        signals::install();
    }
    WATCHED.store(own_process(), Ordering::Relaxed);
    // The main thread gets its stack for handlers.
    let _slot = slot();
    Armed(())
}

fn register() {
    // SAFETY: the declaration is that of the C standard (7.24.4.3 of C23).
    unsafe extern "C" {
        fn at_quick_exit(handler: extern "C" fn()) -> c_int;
    }
    // They fail only if memory runs out, and then only the plugin's name is missing from the output.
    // SAFETY: the handler is a function of this program, which is not unloaded.
    let _registered = unsafe { libc::atexit(exits) };
    // SAFETY: as above.
    let _registered = unsafe { at_quick_exit(exits_quickly) };
}

extern "C" fn exits() {
    ends("exit");
}

extern "C" fn exits_quickly() {
    ends("quick_exit");
}

/// Ends the process with our exit code if its end is not the program's own.
fn ends(function: &str) {
    if WATCHED.load(Ordering::Relaxed) != own_process() {
        return;
    }
    let mut line = Line::new();
    let mine = known_slot().and_then(|slot| slot.step());
    // A thread that a plugin started itself has no slot.
    let step = mine.or_else(|| all().find_map(|slot| slot.step()));
    let _whole = match (mine, step) {
        (Some(step), _) => writeln!(line, "error: {} called `{function}` in {}", who(&step), what(&step)),
        (None, Some(step)) => {
            let (what, who) = (what(&step), who(&step));
            writeln!(
                line,
                "error: a thread of a plugin called `{function}`, while another was in {what} of {who}"
            )
        }
        (None, None) => writeln!(line, "error: a thread of a plugin called `{function}`"),
    };
    line.print();
    end_now(CODE.load(Ordering::Relaxed));
}
