//! System calls that an observed process may not make: those that reach beyond it. What an observer reports is not among them, because a
//! call that a filter refuses is not reported: files are landlock's, and a socket that is made cannot be connected.

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::allowed::{Rules, WRITE_FLAGS, flags, rule};

/// Calls with any arguments.
const ANY: &[&[c_long]] = &[NETWORK, PROCESSES, ATTRIBUTES, SYSTEM, OLD];

/// Connections, with a socket of any kind.
const NETWORK: &[c_long] = &[
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
];

/// Other processes, and what is shared with them by a name.
const PROCESSES: &[c_long] = &[
    libc::SYS_kcmp,
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_semget,
    libc::SYS_setns,
    libc::SYS_shmget,
    libc::SYS_unshare,
];

/// Attributes of files, which landlock does not protect.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    libc::SYS_utimensat,
];

/// The system, and ways around a filter.
const SYSTEM: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_request_key,
    libc::SYS_settimeofday,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
];

/// Older forms of the above, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_futimesat,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(target_arch = "aarch64")]
const OLD: &[c_long] = &[];

/// What landlock refuses where there is one: programs, and changes of folders.
const WITHOUT_LANDLOCK: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_linkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_renameat2,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_unlinkat,
];

/// Older forms of these.
#[cfg(target_arch = "x86_64")]
const OLD_WITHOUT_LANDLOCK: &[c_long] = &[
    libc::SYS_creat,
    libc::SYS_link,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_symlink,
    libc::SYS_unlink,
];
#[cfg(target_arch = "aarch64")]
const OLD_WITHOUT_LANDLOCK: &[c_long] = &[libc::SYS_renameat];

/// Flags of `clone` for a namespace, in which a process would have rights that it does not have here.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The rules for the process with this number, by system call.
pub(super) fn rules(process: u32, has_landlock: bool) -> Result<Rules, BackendError> {
    let any = ANY.iter().flat_map(|calls| calls.iter());
    let mut rules: Rules = any.map(|&call| (call, Vec::new())).collect();
    let namespaces = NAMESPACES.map(|flag| rule([flags(0, flag, flag)]));
    rules.insert(libc::SYS_clone, namespaces.into_iter().collect::<Result<_, _>>()?);
    // Signals to others. `abort` of a process that it forks is one of these, and ends it by other means.
    let other = || differs(0, SeccompCmpArgLen::Dword, u64::from(process));
    for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_tkill] {
        rules.insert(call, vec![rule([other()])?]);
    }
    // Memory of others. An observer reads the paths of calls from its own.
    rules.insert(libc::SYS_process_vm_readv, vec![rule([other()])?]);
    // The fifth argument is an address.
    rules.insert(libc::SYS_sendto, vec![rule([differs(4, SeccompCmpArgLen::Qword, 0)])?]);
    // Limits of others.
    rules.insert(
        libc::SYS_prlimit64,
        vec![rule([differs(0, SeccompCmpArgLen::Dword, 0), other()])?],
    );
    if !has_landlock {
        let calls = WITHOUT_LANDLOCK.iter().chain(OLD_WITHOUT_LANDLOCK);
        rules.extend(calls.map(|&call| (call, Vec::new())));
        rules.insert(libc::SYS_openat, writing(2)?);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, writing(1)?);
    }
    Ok(rules)
}

/// Rules for flags of `open` in an argument with which something can be written: one for each flag.
fn writing(argument: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let bits = (0..i32::BITS - 1)
        .map(|bit| 1 << bit)
        .filter(|bit| WRITE_FLAGS & bit != 0);
    bits.map(|bit| rule([flags(argument, bit, bit)])).collect()
}

/// The argument is another number.
fn differs(argument: u8, length: SeccompCmpArgLen, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, length, SeccompCmpOp::Ne, value)
}
