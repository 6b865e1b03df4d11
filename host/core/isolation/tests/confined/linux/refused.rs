//! System calls that no confined process may make.

use super::answer::{Case, checked};

/// With impossible arguments, these fail even if they are permitted, but not with `EPERM`.
const CALLS: &[(&str, libc::c_long)] = &[
    ("accept4", libc::SYS_accept4),
    ("bind", libc::SYS_bind),
    ("connect", libc::SYS_connect),
    ("copy_file_range", libc::SYS_copy_file_range),
    ("fallocate", libc::SYS_fallocate),
    ("fchmod", libc::SYS_fchmod),
    ("fchown", libc::SYS_fchown),
    ("flock", libc::SYS_flock),
    ("fsetxattr", libc::SYS_fsetxattr),
    ("ftruncate", libc::SYS_ftruncate),
    ("getsockname", libc::SYS_getsockname),
    ("inotify_init1", libc::SYS_inotify_init1),
    ("io_setup", libc::SYS_io_setup),
    ("ioprio_set", libc::SYS_ioprio_set),
    ("listen", libc::SYS_listen),
    ("mlock", libc::SYS_mlock),
    ("mq_open", libc::SYS_mq_open),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("pwrite64", libc::SYS_pwrite64),
    ("rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo),
    ("rt_tgsigqueueinfo", libc::SYS_rt_tgsigqueueinfo),
    ("sched_setscheduler", libc::SYS_sched_setscheduler),
    ("seccomp", libc::SYS_seccomp),
    ("sendmmsg", libc::SYS_sendmmsg),
    ("setpgid", libc::SYS_setpgid),
    ("setpriority", libc::SYS_setpriority),
    ("shmat", libc::SYS_shmat),
    ("shmget", libc::SYS_shmget),
    ("socket", libc::SYS_socket),
    ("socketpair", libc::SYS_socketpair),
    ("splice", libc::SYS_splice),
    ("timer_create", libc::SYS_timer_create),
    ("truncate", libc::SYS_truncate),
    ("utimensat", libc::SYS_utimensat),
    ("vmsplice", libc::SYS_vmsplice),
    ("waitid", libc::SYS_waitid),
];

/// These may answer `EPERM` to a process that is not confined, because it is not root, or because its container forbids them.
const PRIVILEGED: &[(&str, libc::c_long)] = &[
    ("acct", libc::SYS_acct),
    ("add_key", libc::SYS_add_key),
    ("bpf", libc::SYS_bpf),
    ("chroot", libc::SYS_chroot),
    ("clock_settime", libc::SYS_clock_settime),
    ("delete_module", libc::SYS_delete_module),
    ("finit_module", libc::SYS_finit_module),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("kcmp", libc::SYS_kcmp),
    ("kexec_load", libc::SYS_kexec_load),
    ("keyctl", libc::SYS_keyctl),
    ("mbind", libc::SYS_mbind),
    ("mount", libc::SYS_mount),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("personality", libc::SYS_personality),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pivot_root", libc::SYS_pivot_root),
    ("process_madvise", libc::SYS_process_madvise),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    ("quotactl", libc::SYS_quotactl),
    ("reboot", libc::SYS_reboot),
    ("sethostname", libc::SYS_sethostname),
    ("setns", libc::SYS_setns),
    ("setuid", libc::SYS_setuid),
    ("swapon", libc::SYS_swapon),
    ("syslog", libc::SYS_syslog),
    ("umount2", libc::SYS_umount2),
    ("unshare", libc::SYS_unshare),
    ("userfaultfd", libc::SYS_userfaultfd),
];

/// Calls that are permitted, with arguments that are not: name, call, arguments.
const ARGUMENTS: &[(&str, libc::c_long, [usize; 6])] = &[
    ("fcntl_owner", libc::SYS_fcntl, [0, libc::F_SETOWN as usize, 1, 0, 0, 0]),
    (
        "fcntl_flags_that_the_host_shares",
        libc::SYS_fcntl,
        [2, libc::F_SETFL as usize, libc::O_NONBLOCK as usize, 0, 0, 0],
    ),
    (
        "ioctl_flags_that_the_host_shares",
        libc::SYS_ioctl,
        [2, libc::FIONBIO as usize, 0, 0, 0, 0],
    ),
    (
        "fcntl_size_of_a_pipe",
        libc::SYS_fcntl,
        [1, libc::F_SETPIPE_SZ as usize, 1 << 16, 0, 0, 0],
    ),
    (
        "ioctl_types_into_a_terminal",
        libc::SYS_ioctl,
        [0, libc::TIOCSTI as usize, 0, 0, 0, 0],
    ),
    (
        "prctl_dumpable",
        libc::SYS_prctl,
        [libc::PR_SET_DUMPABLE as usize, 0, 0, 0, 0, 0],
    ),
    (
        "prctl_death_signal",
        libc::SYS_prctl,
        [libc::PR_SET_PDEATHSIG as usize, 0, 0, 0, 0, 0],
    ),
    (
        "prctl_seccomp",
        libc::SYS_prctl,
        [libc::PR_SET_SECCOMP as usize, 0, 0, 0, 0, 0],
    ),
    #[cfg(target_arch = "x86_64")]
    ("getpid_by_its_number_in_x32", 0x4000_0000 | libc::SYS_getpid, [0; 6]),
    ("sendto_an_address", libc::SYS_sendto, [usize::MAX, 0, 0, 0, 1, 0]),
];

pub(super) fn cases() -> Vec<Case> {
    let impossible = [usize::MAX; 6];
    let compared = CALLS.iter().map(|&(name, call)| refused(name, call, impossible));
    let privileged = PRIVILEGED
        .iter()
        .map(|&(name, call)| refused(name, call, impossible).alone());
    let arguments = ARGUMENTS
        .iter()
        .map(|&(name, call, arguments)| refused(name, call, arguments));
    compared.chain(privileged).chain(arguments).collect()
}

fn refused(name: &str, call: libc::c_long, arguments: [usize; 6]) -> Case {
    Case::refused(&format!("call_{name}"), libc::EPERM, move |_| {
        let [first, second, third, fourth, fifth, sixth] = arguments;
        // SAFETY: no address among the arguments is valid, so that the kernel writes nothing.
        checked(unsafe { libc::syscall(call, first, second, third, fourth, fifth, sixth) })
    })
}
