//! What a call changes in its process. One test, because the state is that of a whole process.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use divvy_witness::ProcessState;

#[test]
fn changes_of_the_process_are_named_and_undone() {
    let before = ProcessState::now();
    assert_eq!(before.changes(&ProcessState::now()), Vec::<String>::new());
    let change = |call: fn()| {
        call();
        let changes = before.changes(&ProcessState::now());
        before.restore();
        assert_eq!(
            before.changes(&ProcessState::now()),
            Vec::<String>::new(),
            "after {changes:?}"
        );
        changes
    };
    let found = change(|| std::env::set_current_dir("/").expect("there is a root"));
    assert!(
        found[0].starts_with("changes the working directory from `"),
        "{found:?}"
    );
    let found = change(|| {
        // SAFETY: this process has one test, and nothing else uses the environment.
        unsafe { std::env::set_var("DIVVY_NEW", "1") };
        // SAFETY: as above.
        unsafe { std::env::remove_var("PATH") };
    });
    let expected = ["PATH", "DIVVY_NEW"].map(|name| format!("changes the environment variable `{name}`"));
    assert_eq!(found, expected);
    let found = change(|| {
        // SAFETY: it takes a number.
        unsafe { libc::umask(0o123) };
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("changes the mask of new files (umask) from 0"),
        "{found:?}"
    );
    let found = change(|| {
        // SAFETY: the signal is ignored from here on.
        unsafe { libc::signal(libc::SIGUSR1, libc::SIG_IGN) };
    });
    assert_eq!(found, ["changes what happens on signal 10"]);
    #[cfg(target_env = "gnu")]
    {
        let found = change(|| {
            // SAFETY: the text ends with a null byte, and no other thread uses the locale.
            unsafe { libc::setlocale(libc::LC_ALL, c"C.UTF-8".as_ptr()) };
        });
        assert_eq!(found, ["changes the locale from `C` to `C.UTF-8`"]);
    }
    #[cfg(target_arch = "x86_64")]
    {
        let found = change(|| {
            let upwards = 0x5f80_u32;
            // SAFETY: the register takes the rounding mode; the test restores it.
            unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const upwards, options(nostack, preserves_flags)) };
        });
        let expected = "changes how the processor rounds or treats exceptions of floating-point numbers";
        assert_eq!(found, [expected]);
    }
}
