//! Processes, threads and signals.

use std::io;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::answer::{Case, checked};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(threads());
    cases.extend(processes());
    cases.extend(signals());
    cases
}

fn own_process() -> libc::pid_t {
    // SAFETY: the call has no conditions.
    unsafe { libc::getpid() }
}

fn parent() -> libc::pid_t {
    // SAFETY: the call has no conditions.
    unsafe { libc::getppid() }
}

fn threads() -> Vec<Case> {
    vec![
        Case::works("starts_threads_that_wait_for_each_other", |_| {
            let (send, receive) = mpsc::channel();
            let threads: Vec<_> = (0..8)
                .map(|number| {
                    let send = send.clone();
                    thread::Builder::new().name(format!("thread {number}")).spawn(move || {
                        thread::sleep(Duration::from_millis(1));
                        send.send(number).expect("the receiver is there");
                    })
                })
                .collect::<Result<_, _>>()?;
            drop(send);
            assert_eq!(receive.iter().sum::<i32>(), 28, "each thread answers");
            threads
                .into_iter()
                .for_each(|thread| thread.join().expect("the thread ends"));
            Ok(())
        }),
        Case::works("catches_a_panic", |_| {
            let caught = std::panic::catch_unwind(|| panic!("expected"));
            caught.expect_err("it panicked");
            Ok(())
        }),
        Case::works("shows_names_in_a_backtrace", |_| {
            let shown = std::backtrace::Backtrace::force_capture().to_string();
            assert!(shown.contains("processes::threads"), "{shown}");
            Ok(())
        }),
        Case::works("counts_processors", |_| thread::available_parallelism().map(drop)),
        Case::refused("a_thread_is_confined_as_well", libc::EACCES, |_| {
            thread::spawn(|| std::fs::read("/etc/passwd"))
                .join()
                .expect("the thread ends")
                .map(drop)
        }),
    ]
}

fn processes() -> Vec<Case> {
    vec![
        Case::refused("forks", libc::EPERM, |_| {
            // SAFETY: the child ends at once.
            match unsafe { libc::fork() } {
                0 => std::process::exit(0),
                child => checked(child.into()),
            }
        }),
        Case::refused("starts_a_program", libc::EPERM, |_| {
            Command::new("/bin/true").spawn()?.wait().map(drop)
        }),
        Case::refused("becomes_a_program", libc::EPERM, |_| {
            let path = c"/bin/sh";
            let arguments = [path.as_ptr(), c"-c".as_ptr(), c"echo worked".as_ptr(), std::ptr::null()];
            // SAFETY: the texts end with zero bytes and the list with a null pointer.
            checked(unsafe { libc::execv(path.as_ptr(), arguments.as_ptr()) }.into())
        }),
        Case::refused("clone_makes_a_process_that_shares_memory", libc::EPERM, |_| {
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            clone_and_end(libc::SYS_clone, flags as usize)
        }),
        // A container may forbid it as well.
        Case::refused("clone_makes_a_thread_in_another_namespace", libc::EPERM, |_| {
            let flags = libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD | libc::CLONE_NEWUSER;
            clone_and_end(libc::SYS_clone, flags as usize)
        })
        .alone(),
        // In a container, it may be absent without confinement.
        Case::refused("clone3_is_absent", libc::ENOSYS, |_| {
            // SAFETY: without arguments, the call fails.
            checked(unsafe { libc::syscall(libc::SYS_clone3, 0_usize, 0_usize) })
        })
        .alone(),
        Case::refused("traces_itself_by_its_parent", libc::EPERM, |_| {
            // SAFETY: the call reads no memory.
            checked(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) })
        }),
        Case::refused("raises_a_limit", libc::EPERM, |_| {
            let limit = libc::rlimit {
                rlim_cur: 8,
                rlim_max: 8,
            };
            // SAFETY: the limit lives during the call.
            checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }.into())
        }),
        Case::refused("reads_a_limit_of_its_parent", libc::EPERM, |_| {
            // SAFETY: no limit is set and none is asked for.
            checked(unsafe { libc::syscall(libc::SYS_prlimit64, parent(), libc::RLIMIT_NOFILE, 0_usize, 0_usize) })
        }),
        Case::works("reads_a_limit", |_| {
            // SAFETY: a limit is two numbers.
            let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
            // SAFETY: the limit lives during the call.
            checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }.into())
        }),
        Case::refused("chooses_the_processors_of_a_process", libc::EPERM, |_| {
            // SAFETY: a set is an array of numbers.
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            // SAFETY: number 0 is inside the set.
            unsafe { libc::CPU_SET(0, &mut set) };
            // SAFETY: the set lives during the call.
            checked(unsafe { libc::sched_setaffinity(own_process(), size_of_val(&set), &raw const set) }.into())
        }),
    ]
}

/// Calls `clone` without a stack of its own; a child ends at once.
fn clone_and_end(call: libc::c_long, flags: usize) -> io::Result<()> {
    // SAFETY: the child of `CLONE_VFORK` runs while its parent waits, and only ends.
    match unsafe { libc::syscall(call, flags, 0_usize, 0_usize, 0_usize, 0_usize) } {
        // SAFETY: the call does not return.
        0 => unsafe { libc::_exit(0) },
        child => checked(child),
    }
}

fn signals() -> Vec<Case> {
    vec![
        Case::works("sends_a_signal_to_its_own_thread", |_| {
            // SAFETY: a handler that does nothing.
            checked(unsafe { libc::signal(libc::SIGUSR1, ignore as *const () as libc::sighandler_t) } as libc::c_long)?;
            // SAFETY: the signal has a handler.
            checked(unsafe { libc::raise(libc::SIGUSR1) }.into())?;
            // SAFETY: the thread is this one.
            let thread = unsafe { libc::syscall(libc::SYS_gettid) };
            // SAFETY: the signal has a handler.
            checked(unsafe { libc::syscall(libc::SYS_tgkill, own_process(), thread, libc::SIGUSR1) })?;
            // SAFETY: the signal has a handler.
            checked(unsafe { libc::kill(own_process(), libc::SIGUSR1) }.into())
        }),
        // The kernel checks whether it may, but sends nothing.
        Case::refused("signals_its_parent", libc::EPERM, |_| {
            // SAFETY: no signal is sent.
            checked(unsafe { libc::kill(parent(), 0) }.into())
        }),
        Case::refused("signals_its_group", libc::EPERM, |_| {
            // SAFETY: no signal is sent.
            checked(unsafe { libc::kill(0, 0) }.into())
        }),
        Case::refused("signals_everyone", libc::EPERM, |_| {
            // SAFETY: no signal is sent.
            checked(unsafe { libc::kill(-1, 0) }.into())
        }),
        Case::refused("signals_a_thread_of_its_parent", libc::EPERM, |_| {
            // SAFETY: no signal is sent.
            checked(unsafe { libc::syscall(libc::SYS_tgkill, parent(), parent(), 0) })
        }),
        Case::refused("signals_its_parent_as_a_thread", libc::EPERM, |_| {
            // SAFETY: no signal is sent.
            checked(unsafe { libc::syscall(libc::SYS_tkill, parent(), 0) })
        }),
        Case::dies("aborts", libc::SIGABRT, |_| std::process::abort()).alone(),
    ]
}

extern "C" fn ignore(_signal: libc::c_int) {}
