//! What a call asks for. One test, because a witness watches a whole process and cannot be removed.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::io::Write;
use std::time::{Instant, SystemTime};

use divvy_witness::Witness;

/// What is asked for during `call`, in words.
fn asked(witness: &Witness, call: impl FnOnce()) -> Vec<String> {
    witness.begin();
    call();
    witness.end().iter().map(ToString::to_string).collect()
}

#[test]
fn a_witness_reports_requests_of_calls_and_nothing_else() {
    let folder = std::env::temp_dir();
    let witness = Witness::install().expect("the system lets a process watch itself");

    // Outside of a call, everything goes on as usual, and nothing is reported.
    std::fs::read_dir(&folder).expect("the folder can be listed");
    assert!(std::env::var_os("PATH").is_some());
    assert!(asked(&witness, || {}).is_empty());

    // Memory, threads, printing and the time are no requests.
    let harmless = asked(&witness, || {
        let thread = std::thread::spawn(|| vec![1_u8; 1 << 20].len());
        let _time = (SystemTime::now(), Instant::now());
        let length = thread.join().expect("it does not panic");
        writeln!(std::io::stdout(), "{length}").expect("it can be written");
    });
    assert!(harmless.is_empty(), "{harmless:?}");

    let found = asked(&witness, || {
        let _file = std::fs::read("/no/such/file");
        let _state = std::fs::metadata("/no/such/state");
        let _folder = std::fs::create_dir("/no/such/folder");
        let _socket = std::net::UdpSocket::bind("127.0.0.1:0");
        let _again = std::fs::read("/no/such/file");
    });
    assert_eq!(
        found,
        [
            "opens `/no/such/file`",
            "looks at the file `/no/such/state`",
            "creates `/no/such/folder`",
            "opens a socket",
        ]
    );
    let started = asked(&witness, || {
        let _status = std::process::Command::new("/no/such/program").status();
    });
    assert!(started.iter().any(|asked| asked == "starts a process"), "{started:?}");

    // Code sees none of the environment while it is hidden, however it looks.
    let mut variables = usize::MAX;
    witness.hide_environment(true);
    let mut path = None;
    asked(&witness, || {
        (variables, path) = (std::env::vars_os().count(), std::env::var_os("PATH"))
    });
    witness.hide_environment(false);
    assert_eq!((variables, path), (0, None));
    assert!(std::env::vars_os().count() > 0);
}
