//! Handlers of the signals that a crash raises.
//!
//! The handler writes one line and hands on to the action that was there before. Rust's prints that a stack has overflowed; Go's makes a
//! panic of it, which may be recovered, so the line does not claim that the process ends. A runtime that comes with a library installs its
//! handler when the library is opened, before ours, and hands faults that are not its own on to ours: so ours is put first again
//! ([`install`]), and keeps all that were before it. Entered once more while it hands on, it hands on to the next older one.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Most actions of a signal to hand on to. A process opens few libraries that bring a runtime.
const ACTIONS: usize = 16;
/// Most calls in progress that are listed for a fault of a thread that makes none.
const LISTED: usize = 4;

/// The actions that were there before ours, the oldest first. They are never freed.
struct Before {
    count: AtomicUsize,
    actions: [AtomicPtr<libc::sigaction>; ACTIONS],
}

impl Before {
    const fn new() -> Self {
        Self {
            count: AtomicUsize::new(0),
            actions: [const { AtomicPtr::new(std::ptr::null_mut()) }; ACTIONS],
        }
    }

    /// Adds the newest action. If there is no room, it takes the place of the one before.
    fn push(&self, action: libc::sigaction) {
        let count = self.count.load(Ordering::Relaxed);
        let index = count.min(ACTIONS - 1);
        self.actions[index].store(Box::into_raw(Box::new(action)), Ordering::Relaxed);
        self.count.store(index + 1, Ordering::Release);
    }

    /// The action that is `depth` older than the newest one.
    fn action(&self, depth: usize) -> Option<&'static libc::sigaction> {
        let count = self.count.load(Ordering::Acquire);
        let action = self.actions.get(count.checked_sub(depth + 1)?)?;
        // SAFETY: `push` stored the address of a value that is never freed, before it counted it.
        unsafe { action.load(Ordering::Relaxed).as_ref() }
    }
}

static BEFORE: [Before; SIGNALS.len()] = [const { Before::new() }; SIGNALS.len()];

thread_local! {
    /// How often the handler of each signal is entered on this thread. It has no destructor, so that a handler can use it at any time.
    static DEPTHS: [Cell<usize>; SIGNALS.len()] = const { [const { Cell::new(0) }; SIGNALS.len()] };
}

/// Has the handler of each signal be ours, and keeps the action that was there.
pub(crate) fn install() {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for ((signal, _), before) in SIGNALS.iter().zip(&BEFORE) {
        let Some(current) = action(*signal) else { continue };
        if current.sa_sigaction == handler() {
            continue;
        }
        before.push(current);
        let mut ours = current;
        ours.sa_sigaction = handler();
        // The mask and everything else are those of the handler that is called next.
        ours.sa_flags = (current.sa_flags | libc::SA_SIGINFO | libc::SA_ONSTACK) & !libc::SA_RESETHAND;
        set_action(*signal, &ours);
    }
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
    // SAFETY: the action is the default, or `handle`, which keeps to what a handler may do.
    unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
}

/// Where a signal comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// An instruction, which runs again when the handler returns. With the address that it used, if that is the cause.
    Instruction(Option<usize>),
    /// This process, by `raise` or `abort`.
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
            let has_address = matches!(signal, libc::SIGSEGV | libc::SIGBUS);
            // SAFETY: these signals have an address.
            return Self::Instruction(has_address.then(|| unsafe { info.si_addr() }.addr()));
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
unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // What the thread was doing may look at the number of its last error.
    // SAFETY: it has no preconditions.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the address is that of this thread's own number.
    let kept = unsafe { *errno };
    if let Some(index) = SIGNALS.iter().position(|(known, _)| *known == signal) {
        let origin = Origin::new(signal, info);
        let depth = DEPTHS.with(|depths| depths[index].get());
        if depth == 0 {
            report(SIGNALS[index].1, origin);
        }
        DEPTHS.with(|depths| depths[index].set(depth + 1));
        match BEFORE[index].action(depth) {
            // SAFETY: these are the arguments of this handler, and it was installed for the same signal.
            Some(before) => unsafe { hand_on(before, signal, origin, info, context) },
            None => default(signal),
        }
        DEPTHS.with(|depths| depths[index].set(depth));
        // An instruction is run again. A signal that was sent would be lost with the handler that has gone back to the default.
        let is_default = || action(signal).is_some_and(|action| action.sa_sigaction == libc::SIG_DFL);
        if depth == 0 && !matches!(origin, Origin::Instruction(_)) && is_default() {
            // SAFETY: it has no preconditions. The signal waits until this handler returns.
            unsafe { libc::raise(signal) };
        }
    }
    // SAFETY: as above.
    unsafe { *errno = kept };
}

/// Does what the action does.
///
/// # Safety
///
/// The action is one of the signal, and the arguments are those of its handler.
unsafe fn hand_on(
    before: &libc::sigaction,
    signal: c_int,
    origin: Origin,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    type Handler = unsafe extern "C" fn(c_int);
    type HandlerWithInfo = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    match (before.sa_sigaction, origin) {
        // The system does not let an instruction's fault be ignored.
        (libc::SIG_DFL, _) | (libc::SIG_IGN, Origin::Instruction(_)) => default(signal),
        (libc::SIG_IGN, _) => {}
        (function, _) if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: an action with this flag has a function of this type.
            let function = unsafe { std::mem::transmute::<usize, HandlerWithInfo>(function) };
            // SAFETY: the caller promises it.
            unsafe { function(signal, info, context) };
        }
        (function, _) => {
            // SAFETY: an action without the flag has a function of this type.
            let function = unsafe { std::mem::transmute::<usize, Handler>(function) };
            // SAFETY: the caller promises it.
            unsafe { function(signal) };
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
            if divvy_framework_memory::is_shared(std::ptr::without_provenance(address)) =>
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
