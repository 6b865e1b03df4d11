//! System calls: a seccomp filter reports those in a list to another thread, which notes them and lets them go on.
//!
//! The notes describe calls, and prevent none: another thread of the process could change a path between the look at it and the kernel's.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Instant, SystemTime};

use libc::{c_long, seccomp_notif, seccomp_notif_resp, sock_filter, sock_fprog};

use super::record;
use crate::Request;

/// A request for the system: number of the call, predicate of a sentence, and index of the argument that is a path.
type Listed = (c_long, &'static str, Option<usize>);

/// The system calls by which a call reaches beyond its process. Printing is none of them, nor is `sysinfo`, by which glibc's `qsort`
/// learns how much memory it may take.
const LISTED: &[Listed] = &[
    (libc::SYS_openat, OPENS, Some(1)),
    (libc::SYS_openat2, OPENS, Some(1)),
    (libc::SYS_newfstatat, LOOKS, Some(1)),
    (libc::SYS_statx, LOOKS, Some(1)),
    (libc::SYS_faccessat, LOOKS, Some(1)),
    (libc::SYS_faccessat2, LOOKS, Some(1)),
    (libc::SYS_readlinkat, LOOKS, Some(1)),
    (libc::SYS_unlinkat, REMOVES, Some(1)),
    (libc::SYS_mkdirat, CREATES, Some(1)),
    (libc::SYS_renameat2, RENAMES, Some(1)),
    (libc::SYS_truncate, WRITES, Some(0)),
    (libc::SYS_socket, "opens a socket", None),
    (libc::SYS_execve, STARTS, Some(0)),
    (libc::SYS_execveat, STARTS, Some(1)),
    (libc::SYS_clone, FORKS, None),
    (libc::SYS_clone3, FORKS, None),
    (libc::SYS_uname, "asks for the name of the machine", None),
    (libc::SYS_clock_gettime, CLOCK, None),
    (libc::SYS_gettimeofday, CLOCK, None),
];

/// Older forms of the above, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD: &[Listed] = &[
    (libc::SYS_open, OPENS, Some(0)),
    (libc::SYS_creat, CREATES, Some(0)),
    (libc::SYS_stat, LOOKS, Some(0)),
    (libc::SYS_lstat, LOOKS, Some(0)),
    (libc::SYS_access, LOOKS, Some(0)),
    (libc::SYS_readlink, LOOKS, Some(0)),
    (libc::SYS_unlink, REMOVES, Some(0)),
    (libc::SYS_mkdir, CREATES, Some(0)),
    (libc::SYS_rmdir, REMOVES, Some(0)),
    (libc::SYS_rename, RENAMES, Some(0)),
    (libc::SYS_renameat, RENAMES, Some(1)),
    (libc::SYS_fork, FORKS, None),
    (libc::SYS_vfork, FORKS, None),
    (libc::SYS_time, CLOCK, None),
];
#[cfg(target_arch = "aarch64")]
const OLD: &[Listed] = &[(libc::SYS_renameat, RENAMES, Some(1))];

const OPENS: &str = "opens";
const LOOKS: &str = "looks at the file";
const CREATES: &str = "creates";
const REMOVES: &str = "removes";
const RENAMES: &str = "renames";
const WRITES: &str = "writes to";
const STARTS: &str = "starts the program";
const FORKS: &str = "starts a process";
const CLOCK: &str = "reads the clock by a system call";

/// The processor in `struct seccomp_data`: its number in ELF files, of 64 bits, with the least significant byte first.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_0000 | libc::EM_X86_64 as u32;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_0000 | libc::EM_AARCH64 as u32;

/// Files that glibc's allocator reads: for the number of processors when a thread allocates memory for the first time, and for the
/// system's rule on promising memory more than once when a thread gives back a large part.
const OF_THE_ALLOCATOR: [&str; 3] = [
    "/sys/devices/system/cpu/online",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
];

/// True on a system whose vDSO makes a system call for each time: that of a virtual machine without a usable counter. There, asking the
/// kernel says nothing about the code that wants to know the time.
static CLOCK_IS_A_CALL: AtomicBool = AtomicBool::new(false);

/// Finds out, under the filter, if the C library asks the kernel for the time.
pub(super) fn try_clock() {
    record::begin();
    let _time = (SystemTime::now(), Instant::now());
    let is_call = record::end().iter().any(|request| request.what == CLOCK);
    CLOCK_IS_A_CALL.store(is_call, Ordering::Relaxed);
}

/// Has the calls of this thread, and of threads that it starts, reported from now on.
pub(super) fn install() -> io::Result<()> {
    // Started before there is a filter, so that its own calls are not reported to itself.
    let (send, receive) = mpsc::channel();
    std::thread::Builder::new()
        .name("witness".to_owned())
        .spawn(move || answer_all(&receive))?;
    // SAFETY: it takes numbers alone.
    let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut program = program();
    let program = sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    let address: *const sock_fprog = &raw const program;
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: the kernel copies the program, which outlives the call.
    let descriptor = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, address) };
    let descriptor = i32::try_from(descriptor).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it for this process.
    let listener = unsafe { OwnedFd::from_raw_fd(descriptor) };
    send.send(listener).map_err(io::Error::other)
}

/// Instructions that report the listed calls and allow all others.
fn program() -> Vec<sock_filter> {
    /// Where `struct seccomp_data` has the number of the call and its architecture.
    const NUMBER: u32 = 0;
    const MACHINE: u32 = 4;
    let load = |offset| sock_filter {
        code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        jt: 0,
        jf: 0,
        k: offset,
    };
    // Skips `jt` instructions if the value is `k`, and `jf` instructions otherwise.
    let compare = |k, jt, jf| sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt,
        jf,
        k,
    };
    let answer = |k| sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let allow = answer(libc::SECCOMP_RET_ALLOW);
    let mut program = vec![load(MACHINE), compare(ARCHITECTURE, 1, 0), allow, load(NUMBER)];
    for (number, ..) in listed() {
        program.push(compare(u32::try_from(*number).unwrap_or(u32::MAX), 0, 1));
        program.push(answer(libc::SECCOMP_RET_USER_NOTIF));
    }
    program.push(allow);
    program
}

fn listed() -> impl Iterator<Item = &'static Listed> {
    LISTED.iter().chain(OLD)
}

/// Notes the reported calls and lets each go on, until no watched thread is left.
fn answer_all(listeners: &Receiver<OwnedFd>) {
    let Ok(listener) = listeners.recv() else { return };
    let listener = listener.as_raw_fd();
    loop {
        // SAFETY: a struct of numbers, for which zero is valid; the kernel asks for it.
        let mut reported: seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open as long as its owner above, and the kernel writes to the struct alone.
        let result = unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut reported) };
        if result != 0 {
            match io::Error::last_os_error().raw_os_error() {
                // The thread was interrupted, or has ended meanwhile.
                Some(libc::EINTR | libc::ENOENT) => continue,
                _ => return,
            }
        }
        if record::is_calling() {
            note(&reported);
        }
        let response = seccomp_notif_resp {
            id: reported.id,
            val: 0,
            error: 0,
            flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        };
        // It fails if the thread has ended meanwhile, which does not matter.
        // SAFETY: the descriptor is open as long as its owner above, and the kernel only reads the struct.
        let _answered = unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
    }
}

fn note(reported: &seccomp_notif) {
    let (number, arguments) = (c_long::from(reported.data.nr), reported.data.args);
    let Some((_, what, path)) = listed().find(|(known, ..)| *known == number) else {
        return;
    };
    let is_clock = *what == CLOCK && CLOCK_IS_A_CALL.load(Ordering::Relaxed);
    let is_harmless = match number {
        libc::SYS_clock_gettime => i32::try_from(arguments[0]).is_ok_and(is_usage),
        libc::SYS_clone => arguments[0] & libc::CLONE_THREAD as u64 != 0,
        libc::SYS_clone3 => flags_of_clone(arguments[0]) & libc::CLONE_THREAD as u64 != 0,
        _ => false,
    };
    let path = path.and_then(|argument| text_at(*arguments.get(argument)?));
    // Without a path, the call is about a descriptor that is open already, such as standard output.
    let is_of_descriptor = path.as_deref() == Some("");
    let is_of_allocator = path.as_deref().is_some_and(|path| OF_THE_ALLOCATOR.contains(&path));
    if !is_harmless && !is_clock && !is_of_descriptor && !is_of_allocator {
        record::note(Request { what, path });
    }
}

/// True for a clock that shows how much of the processor is used.
fn is_usage(clock: i32) -> bool {
    [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_THREAD_CPUTIME_ID].contains(&clock)
}

/// The first field of the struct that `clone3` takes.
fn flags_of_clone(address: u64) -> u64 {
    let mut bytes = [0; 8];
    match read(address, &mut bytes) {
        8 => u64::from_ne_bytes(bytes),
        _ => 0,
    }
}

/// The text at an address of this process, up to its null byte; `None` if there is none. Read by the kernel, because the address is
/// whatever the plugin passed.
fn text_at(address: u64) -> Option<String> {
    /// Bytes of a path that are shown.
    const SHOWN: usize = 256;
    /// No part crosses the boundary of a page, behind which there may be nothing.
    const PART: u64 = 64;
    let mut text = Vec::new();
    while text.len() < SHOWN {
        let start = address.checked_add(text.len() as u64)?;
        let mut part = [0; PART as usize];
        let part = part.get_mut(..(PART - start % PART) as usize)?;
        let count = read(start, part);
        if count == 0 {
            break;
        }
        let end = part.iter().take(count).position(|byte| *byte == 0);
        text.extend_from_slice(part.get(..end.unwrap_or(count))?);
        if end.is_some() {
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
    }
    (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
}

/// Reads memory of this process, which need not be there. Returns the number of bytes.
fn read(address: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut c_void,
        iov_len: into.len(),
    };
    // SAFETY: it takes no argument.
    let process = unsafe { libc::getpid() };
    // SAFETY: the kernel writes to the slice alone, and answers with an error if the other address is not readable.
    let count = unsafe { libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count).unwrap_or(0)
}
