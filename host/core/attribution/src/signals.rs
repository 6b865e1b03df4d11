//! Handlers of the signals that a crash raises.
//!
//! The handler writes one line, puts the action back that was there before, and returns. An instruction that faulted then runs again, under
//! the action of before: Rust's prints that a stack has overflowed. Handlers are installed once, before any library is opened. A runtime
//! that comes with a library installs its own in front of them: Go's makes a panic of a fault in Go code, and forwards all others to ours.

use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::line::{Line, what, who};
use crate::slot::{all, known_slot};

/// The signals of a crash.
const SIGNALS: [(c_int, &str); 7] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGSYS, "SIGSYS"),
];

/// Most calls in progress that are listed for a fault of a thread that makes none.
const LISTED: usize = 4;

/// The actions that were there before ours. `OnceLock::get` only loads, so a handler may call it.
static BEFORE: [OnceLock<libc::sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

/// Has the handler of each signal be ours, and keeps the action that was there. To be called once.
pub(crate) fn install() {
    for ((signal, _), before) in SIGNALS.iter().zip(&BEFORE) {
        let Some(current) = action(*signal) else { continue };
        if before.set(current).is_err() {
            continue;
        }
        let mut ours = current;
        ours.sa_sigaction = handler();
        ours.sa_flags = (current.sa_flags | libc::SA_SIGINFO | libc::SA_ONSTACK) & !libc::SA_RESETHAND;
        set_action(*signal, &ours);
    }
}

/// Has the system keep how each child of this process ended until it is asked, whatever the parent of this process left.
///
/// A parent that ignores SIGCHLD hands that on to the programs that it starts. The system then forgets a child when it ends, no one can learn
/// how, and a program that waits for it fails. To be called before the first child is started; children inherit it.
pub fn keep_ends_of_children() {
    let Some(mut ours) = action(libc::SIGCHLD) else { return };
    ours.sa_sigaction = libc::SIG_DFL;
    ours.sa_flags &= !libc::SA_NOCLDWAIT;
    set_action(libc::SIGCHLD, &ours);
}

fn handler() -> libc::sighandler_t {
    handle as *const () as libc::sighandler_t
}

/// The present action of a signal.
fn action(signal: c_int) -> Option<libc::sigaction> {
    let mut current = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: only `current` is written, which is large enough.
    let code = unsafe { libc::sigaction(signal, std::ptr::null(), current.as_mut_ptr()) };
    // SAFETY: the system has written it.
    (code == 0).then(|| unsafe { current.assume_init() })
}

fn set_action(signal: c_int, action: &libc::sigaction) {
    // SAFETY: the action is the one of before, the default, or `handle`, which keeps to what a handler may do.
    unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
}

/// Where a signal comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// An instruction, which runs again when the handler returns. With the address that it used, if that is the cause.
    Instruction(Option<usize>),
    /// This process, by `raise` or `abort`, or by an instruction that does not run again: a trap, or a system call that a filter refused.
    Raised,
    /// Another process.
    Sent(libc::pid_t),
}

impl Origin {
    fn new(signal: c_int, info: *const libc::siginfo_t) -> Self {
        // SAFETY: the system hands the handler what it knows about the signal.
        let Some(info) = (unsafe { info.as_ref() }) else {
            return Self::Raised;
        };
        if info.si_code > 0 {
            return match signal {
                libc::SIGTRAP | libc::SIGSYS => Self::Raised,
                // SAFETY: these signals have an address.
                libc::SIGSEGV | libc::SIGBUS => Self::Instruction(Some(unsafe { info.si_addr() }.addr())),
                _ => Self::Instruction(None),
            };
        }
        // SAFETY: signals that are sent name their sender. Others have a number there that is not used.
        let sender = unsafe { info.si_pid() };
        match info.si_code == libc::SI_USER && sender != own_process() {
            true => Self::Sent(sender),
            false => Self::Raised,
        }
    }
}

pub(crate) fn own_process() -> libc::pid_t {
    // SAFETY: it has no preconditions.
    unsafe { libc::getpid() }
}

/// The handler of all signals.
unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // What the thread was doing may look at the number of its last error.
    // SAFETY: it has no preconditions.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the address is that of this thread's own number.
    let kept = unsafe { *errno };
    if let Some(((_, name), before)) = SIGNALS.iter().zip(&BEFORE).find(|((known, _), _)| *known == signal) {
        let origin = Origin::new(signal, info);
        report(name, origin);
        step_aside(signal, origin, before.get());
    }
    // SAFETY: as above.
    unsafe { *errno = kept };
}

/// Has the signal do what it does without us.
fn step_aside(signal: c_int, origin: Origin, before: Option<&libc::sigaction>) {
    match (before, origin) {
        // The instruction runs again when the handler returns. The system does not let its fault be ignored.
        (Some(before), Origin::Instruction(_)) if before.sa_sigaction != libc::SIG_IGN => set_action(signal, before),
        (Some(before), Origin::Raised | Origin::Sent(_)) if before.sa_sigaction == libc::SIG_IGN => {}
        (_, origin) => {
            default(signal);
            if !matches!(origin, Origin::Instruction(_)) {
                // It does not come again by itself. Rust's handler of before would only ask for that.
                // SAFETY: it has no preconditions. The signal waits until this handler returns.
                unsafe { libc::raise(signal) };
            }
        }
    }
}

/// Has the system do what it does without a handler.
fn default(signal: c_int) {
    let Some(mut action) = action(signal) else { return };
    action.sa_sigaction = libc::SIG_DFL;
    set_action(signal, &action);
}

/// Names the plugin whose step this thread is in. A step is reported once, since one fault may raise several signals.
fn report(signal: &'static str, origin: Origin) {
    static HAS_REPORTED_OTHER: AtomicBool = AtomicBool::new(false);
    let cause = fmt::from_fn(|to| match origin {
        Origin::Instruction(Some(address))
            if divvy_framework_memory::is_protected(std::ptr::without_provenance(address)) =>
        {
            write!(to, "{signal} at address {address:#x}, which plugins can only read")
        }
        Origin::Instruction(Some(address)) => write!(to, "{signal} at address {address:#x}"),
        Origin::Sent(sender) => write!(to, "{signal} from process {sender}"),
        Origin::Instruction(None) | Origin::Raised => to.write_str(signal),
    });
    let slot = known_slot();
    let mut line = Line::new();
    // A line cuts what does not fit, so nothing fails.
    let _whole = match slot.and_then(|slot| slot.step().map(|step| (slot, step))) {
        Some((slot, step)) => match slot.reports(step.number) {
            true => writeln!(line, "error: {} failed in {}: {cause}", who(&step), what(&step)),
            false => return,
        },
        None if HAS_REPORTED_OTHER.swap(true, Ordering::Relaxed) => return,
        None => {
            let last = slot
                .and_then(|slot| slot.last())
                .filter(|last| !last.plugin().is_empty());
            elsewhere(&mut line, &cause, last.map(|last| (last.plugin(), last.step())))
        }
    };
    line.print();
}

/// Says about a fault outside of every step what may help: a plugin may have overwritten memory before, or have threads of its own.
fn elsewhere(line: &mut Line, cause: &dyn fmt::Display, last: Option<(&str, &str)>) -> fmt::Result {
    write!(line, "error: {cause} outside of every call of a plugin")?;
    if let Some((plugin, step)) = last {
        write!(line, "; the last one on this thread was {step} of `{plugin}`")?;
    }
    let others = all().filter_map(|slot| slot.step());
    for (index, step) in others.take(LISTED).enumerate() {
        let begins = if index == 0 { "; other threads are in" } else { "," };
        write!(line, "{begins} {} of {}", what(&step), who(&step))?;
    }
    writeln!(line)
}
