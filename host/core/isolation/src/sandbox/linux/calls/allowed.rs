//! System calls that a confined process may make.
//!
//! What the runtimes of Rust, C and Go need for memory, threads and time, and what the worker needs to talk to its host over
//! descriptors that it already has. Calls that name a process are limited to this one; calls that open files, to reading.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls with any arguments.
const ANY: &[&[c_long]] = &[MEMORY, FILES, WAITING, CONTROL, SIGNALS, THREADS, TIME, FACTS, OLD];

/// Allocators and the dynamic linker. `mmap` has rules of its own.
const MEMORY: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
];

/// Reading what is open, and writing to it: the only files open for writing are those that the process was given. Landlock does not
/// restrict facts about a file.
const FILES: &[c_long] = &[
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fstat,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_newfstatat,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_statx,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Waiting for something: Go's network poller starts even if nothing uses it.
const WAITING: &[c_long] = &[
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_futex,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
];

/// The socket to the host, which the process inherits; it cannot make another. `sendto` has a rule of its own.
const CONTROL: &[c_long] = &[libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_sendmsg];

/// Handling signals. Sending them has rules of its own.
const SIGNALS: &[c_long] = &[
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
];

/// Threads. `clone` has a rule of its own.
const THREADS: &[c_long] = &[
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_getcpu,
    libc::SYS_gettid,
    libc::SYS_rseq,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
];

/// Clocks and sleeping. Clocks are usually read without a system call.
const TIME: &[c_long] = &[
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
];

/// Facts about the process and the machine.
const FACTS: &[c_long] = &[
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_getuid,
    libc::SYS_sysinfo,
    libc::SYS_uname,
];

/// Older forms of the above, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_dup2,
    libc::SYS_epoll_wait,
    libc::SYS_getrlimit,
    libc::SYS_lstat,
    libc::SYS_pause,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(target_arch = "aarch64")]
const OLD: &[c_long] = &[];

/// Flags of `clone` for a thread, as the C libraries and Go set them. The last one has no effect; musl sets it.
const THREAD_FLAGS: i32 = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_SETTLS
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_SETTID
    | libc::CLONE_CHILD_CLEARTID
    | libc::CLONE_DETACHED;

/// Flags of `open` with which something could be written or created. `O_TMPFILE` contains `O_DIRECTORY`, with which folders are read;
/// it works only with a flag for writing.
pub(super) const WRITE_FLAGS: i32 = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;

/// The rules for the process with this number and this amount of memory, by system call.
pub(super) fn rules(process: u32, memory_bytes: u64) -> Result<Rules, BackendError> {
    let mut rules: Rules = ANY
        .iter()
        .flat_map(|calls| calls.iter())
        .map(|&call| (call, Vec::new()))
        .collect();
    let itself = u64::from(process);

    rules.insert(
        libc::SYS_clone,
        vec![rule([flags(
            0,
            libc::CLONE_THREAD | !THREAD_FLAGS,
            libc::CLONE_THREAD,
        )])?],
    );
    rules.insert(libc::SYS_mmap, counted_memory(memory_bytes)?);
    rules.insert(libc::SYS_openat, vec![rule([flags(2, WRITE_FLAGS, 0)])?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![rule([flags(1, WRITE_FLAGS, 0)])?]);

    // Signals to itself: `abort`, and Go's preemption of a goroutine. musl raises a signal by the number of the thread alone, so that
    // works in the main thread.
    for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_tkill] {
        rules.insert(call, vec![rule([number(0, itself)])?]);
    }
    // Reading its own limits; the third argument is a new limit.
    rules.insert(
        libc::SYS_prlimit64,
        vec![
            rule([number(0, 0), address(2, 0)])?,
            rule([number(0, itself), address(2, 0)])?,
        ],
    );
    // The fifth argument is an address.
    rules.insert(libc::SYS_sendto, vec![rule([address(4, 0)])?]);

    // Not among them: owners of descriptors, to whom signals are sent; sizes of pipes; flags that the host sees as well, if it shares a
    // descriptor such as standard error. `O_NONBLOCK` there would make the host's own writes fail.
    let fcntl = [
        libc::F_DUPFD,
        libc::F_DUPFD_CLOEXEC,
        libc::F_GETFD,
        libc::F_GETFL,
        libc::F_GET_SEALS,
        libc::F_SETFD,
    ];
    rules.insert(libc::SYS_fcntl, any_of(1, fcntl.map(i64::from))?);
    let ioctl = [libc::FIOCLEX, libc::FIONCLEX, libc::FIONREAD, libc::TCGETS];
    rules.insert(libc::SYS_ioctl, any_of(1, ioctl.map(|request| request as i64))?);
    // Names of threads and of memory.
    let prctl = [libc::PR_GET_NAME, libc::PR_SET_NAME, libc::PR_SET_VMA];
    rules.insert(libc::SYS_prctl, any_of(0, prctl.map(i64::from))?);
    Ok(rules)
}

/// Memory that `RLIMIT_DATA` counts, or that is shared with a file that the process was given. Neither shared memory without a file, nor
/// what grows like a stack.
///
/// When a mapping replaces another one (`MAP_FIXED`), the kernel checks the limit only for the pages that are added, even if those that are
/// replaced were merely reserved and did not count. Therefore, such a mapping may be writable only up to `memory_bytes`. Go's heap grows in
/// this way.
fn counted_memory(memory_bytes: u64) -> Result<Vec<SeccompRule>, BackendError> {
    let kind = |value| {
        flags(
            3,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_GROWSDOWN | libc::MAP_FIXED,
            value,
        )
    };
    let private_file = 0;
    let mut rules = Vec::new();
    for new in [private_file, libc::MAP_SHARED, libc::MAP_ANONYMOUS] {
        rules.push(rule([kind(new)])?);
    }
    rules.push(rule([kind(libc::MAP_SHARED | libc::MAP_FIXED)])?);
    for replacing in [private_file | libc::MAP_FIXED, libc::MAP_ANONYMOUS | libc::MAP_FIXED] {
        let is_short = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Le, memory_bytes);
        rules.push(rule([kind(replacing), is_short])?);
        rules.push(rule([kind(replacing), flags(2, libc::PROT_WRITE, 0)])?);
    }
    Ok(rules)
}

/// A rule for the first argument alone.
#[cfg(feature = "testing")]
pub(super) fn first_is(value: u64) -> Result<SeccompRule, BackendError> {
    rule([number(0, value)])
}

pub(super) fn rule<const CONDITIONS: usize>(
    conditions: [Result<SeccompCondition, BackendError>; CONDITIONS],
) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// One rule for each value of an argument.
fn any_of<const VALUES: usize>(argument: u8, values: [i64; VALUES]) -> Result<Vec<SeccompRule>, BackendError> {
    values
        .into_iter()
        .map(|value| rule([number(argument, value.unsigned_abs())]))
        .collect()
}

/// The argument is this number of 32 bits. The kernel ignores the other bits as well.
pub(super) fn number(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// The argument is this address.
pub(super) fn address(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, value)
}

/// The argument's bits in `mask` are those of `value`. All flags that have a meaning are in the lower 32 bits.
pub(super) fn flags(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, BackendError> {
    let bits = |number: i32| u64::from(number.cast_unsigned());
    let operation = SeccompCmpOp::MaskedEq(bits(mask));
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, bits(value))
}
