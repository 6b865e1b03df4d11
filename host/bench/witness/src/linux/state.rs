//! The state of a process that a call must leave as it was.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use libc::c_int;

use super::processor;

/// Signals that a program can handle, real-time signals included. The C library keeps two to itself.
const SIGNALS: std::ops::RangeInclusive<c_int> = 1..=64;
/// The flag by which the kernel knows how a handler returns.
const SA_RESTORER: c_int = 0x0400_0000;
/// Resources with limits.
const RESOURCES: u32 = 16;
/// The timers of a process that send signals.
const TIMERS: [c_int; 3] = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF];

/// State that a call must leave as it was, in the process and on the thread that makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessState {
    directory: Option<PathBuf>,
    locale: CString,
    variables: BTreeMap<OsString, OsString>,
    /// What the kernel says about the thread: name, mask of new files, blocked signals.
    status: BTreeMap<&'static str, String>,
    /// Handlers by signal, with their flags.
    handlers: Vec<Handler>,
    control: u64,
    limits: Vec<(u64, u64)>,
    timers: Vec<bool>,
    /// Device and number of each open file.
    descriptors: BTreeMap<u32, (u64, u64)>,
    has_children: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Handler {
    signal: c_int,
    address: usize,
    flags: c_int,
}

/// The lines of /proc/thread-self/status that are compared.
const NAME: &str = "Name";
const MASK: &str = "Umask";
const BLOCKED: &str = "SigBlk";

impl ProcessState {
    /// The state now.
    pub fn now() -> Self {
        Self {
            directory: std::env::current_dir().ok(),
            locale: locale(),
            variables: std::env::vars_os().collect(),
            status: status(),
            handlers: SIGNALS.filter_map(handler).collect(),
            control: processor::control(),
            limits: (0..RESOURCES).filter_map(limit).collect(),
            timers: TIMERS.map(is_set).to_vec(),
            descriptors: descriptors(),
            has_children: has_children(),
        }
    }

    /// What is different now, as predicates of a sentence about a call: "changes the locale from `C` to `de_DE`".
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        if self.directory != now.directory {
            let shown = |directory: &Option<PathBuf>| match directory {
                Some(path) => format!("`{}`", path.display()),
                None => "none".to_owned(),
            };
            changes.push(format!(
                "changes the working directory from {} to {}",
                shown(&self.directory),
                shown(&now.directory)
            ));
        }
        if self.locale != now.locale {
            changes.push(format!(
                "changes the locale from `{}` to `{}`",
                self.locale.to_string_lossy(),
                now.locale.to_string_lossy()
            ));
        }
        for name in self.variables.keys().chain(now.variables.keys()) {
            if self.variables.get(name) != now.variables.get(name) {
                let change = format!("changes the environment variable `{}`", name.to_string_lossy());
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        for (name, what) in [
            (NAME, "the name of its thread"),
            (MASK, "the mask of new files (umask)"),
            (BLOCKED, "the signals that its thread blocks"),
        ] {
            let (was, is) = (self.status.get(name), now.status.get(name));
            if let (Some(was), Some(is)) = (was, is)
                && was != is
            {
                changes.push(format!("changes {what} from {was} to {is}"));
            }
        }
        for (was, is) in self.handlers.iter().zip(&now.handlers) {
            if was != is {
                changes.push(format!("changes what happens on signal {}", was.signal));
            }
        }
        if self.control != now.control {
            changes.push("changes how the processor rounds or treats exceptions of floating-point numbers".to_owned());
        }
        if self.limits != now.limits {
            changes.push("changes the limits of the process".to_owned());
        }
        if self.timers != now.timers {
            changes.push("sets a timer that sends a signal".to_owned());
        }
        changes.extend(self.changes_of_descriptors(now));
        if !self.has_children && now.has_children {
            changes.push("leaves a child process behind".to_owned());
        }
        changes
    }

    fn changes_of_descriptors(&self, now: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for (number, file) in &self.descriptors {
            match now.descriptors.get(number) {
                None => changes.push(format!("closes descriptor {number}, which is not its own")),
                Some(other) if other != file => {
                    changes.push(format!("replaces descriptor {number}, which is not its own"));
                }
                Some(_) => {}
            }
        }
        let opened = now
            .descriptors
            .keys()
            .find(|number| !self.descriptors.contains_key(number));
        if let Some(number) = opened {
            changes.push(format!("leaves descriptor {number} open"));
        }
        changes
    }

    /// Makes the state what it was, as far as that is possible, so that another call can be observed. Descriptors that were closed and
    /// children that go on stay as they are.
    pub fn restore(&self) {
        if let Some(directory) = &self.directory {
            let _result = std::env::set_current_dir(directory);
        }
        // SAFETY: the text ends with a null byte. No other thread uses the locale.
        unsafe { libc::setlocale(libc::LC_ALL, self.locale.as_ptr()) };
        self.restore_variables();
        if let Some(mask) = self
            .status
            .get(MASK)
            .and_then(|mask| libc::mode_t::from_str_radix(mask, 8).ok())
        {
            // SAFETY: it takes a number.
            unsafe { libc::umask(mask) };
        }
        if let Some(blocked) = self.status.get(BLOCKED) {
            block(blocked);
        }
        for handler in &self.handlers {
            handler.restore();
        }
        processor::set_control(self.control);
        for (timer, was_set) in TIMERS.into_iter().zip(&self.timers) {
            if !was_set && is_set(timer) {
                unset(timer);
            }
        }
        for number in descriptors()
            .into_keys()
            .filter(|number| !self.descriptors.contains_key(number))
        {
            if let Ok(number) = c_int::try_from(number) {
                // SAFETY: the call opened it, and has ended. What belongs to nobody else is closed once.
                unsafe { libc::close(number) };
            }
        }
        if !self.has_children {
            // SAFETY: without an address for the status, it only ends what has ended already.
            while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
        }
    }

    fn restore_variables(&self) {
        let now: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for name in now.keys().filter(|name| !self.variables.contains_key(*name)) {
            // SAFETY: no other thread of a process that observes calls uses the environment.
            unsafe { std::env::remove_var(name) };
        }
        for (name, value) in self
            .variables
            .iter()
            .filter(|(name, value)| now.get(*name) != Some(value))
        {
            // SAFETY: as above.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

impl Handler {
    fn restore(&self) {
        if handler(self.signal) == Some(*self) {
            return;
        }
        // SAFETY: a struct of numbers, for which zero is valid.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = self.address;
        action.sa_flags = self.flags;
        // SAFETY: the handler is the one that was there before.
        unsafe { libc::sigaction(self.signal, &raw const action, std::ptr::null_mut()) };
    }
}

/// The handler of a signal; `None` for a signal that has none.
fn handler(signal: c_int) -> Option<Handler> {
    // SAFETY: a struct of numbers, for which zero is valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: it writes to the struct alone.
    let result = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    (result == 0).then_some(Handler {
        signal,
        address: action.sa_sigaction,
        // The C library sets one flag itself.
        flags: action.sa_flags & !SA_RESTORER,
    })
}

/// Blocks these signals on the calling thread, and no others. They are given as /proc shows them.
fn block(blocked: &str) {
    let Ok(bits) = u64::from_str_radix(blocked, 16) else {
        return;
    };
    // SAFETY: a struct of numbers, for which zero is valid.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    for signal in SIGNALS.filter(|signal| bits >> (signal - 1) & 1 == 1) {
        // SAFETY: it writes to the struct alone.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: it reads the struct alone.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

fn locale() -> CString {
    // SAFETY: without a name, it only reads.
    let name = unsafe { libc::setlocale(libc::LC_ALL, std::ptr::null()) };
    if name.is_null() {
        return CString::default();
    }
    // SAFETY: the C library returns a text that ends with a null byte and stays until the locale is changed.
    unsafe { CStr::from_ptr(name) }.to_owned()
}

fn status() -> BTreeMap<&'static str, String> {
    let text = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .filter_map(|(name, value)| {
            let known = [NAME, MASK, BLOCKED].into_iter().find(|known| *known == name)?;
            Some((known, value.trim().to_owned()))
        })
        .collect()
}

fn limit(resource: u32) -> Option<(u64, u64)> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it writes to the struct alone.
    let result = unsafe { libc::getrlimit(resource as _, &raw mut limit) };
    (result == 0).then_some((limit.rlim_cur, limit.rlim_max))
}

/// True if a timer will send a signal.
fn is_set(timer: c_int) -> bool {
    // SAFETY: a struct of numbers, for which zero is valid.
    let mut value: libc::itimerval = unsafe { std::mem::zeroed() };
    // SAFETY: it writes to the struct alone.
    let result = unsafe { libc::getitimer(timer as _, &raw mut value) };
    result == 0 && (value.it_value.tv_sec, value.it_value.tv_usec) != (0, 0)
}

/// Stops a timer.
fn unset(timer: c_int) {
    // SAFETY: a struct of numbers, of which zeros stop the timer.
    let never: libc::itimerval = unsafe { std::mem::zeroed() };
    // SAFETY: it reads the struct alone.
    unsafe { libc::setitimer(timer as _, &raw const never, std::ptr::null_mut()) };
}

fn descriptors() -> BTreeMap<u32, (u64, u64)> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return BTreeMap::new();
    };
    let numbers: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    // The folder that was just listed is not open any more.
    let file = |number: u32| {
        let facts = fs::metadata(format!("/proc/self/fd/{number}")).ok()?;
        Some((number, (facts.dev(), facts.ino())))
    };
    numbers.into_iter().filter_map(file).collect()
}

/// True if the process has a child, whether it has ended or not.
fn has_children() -> bool {
    // SAFETY: a struct of numbers, for which zero is valid.
    let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: it writes to the struct alone, and leaves the child as it is.
    unsafe { libc::waitid(libc::P_ALL, 0, &raw mut information, options) == 0 }
}
