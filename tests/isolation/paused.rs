//! A machine that is paused again and again: no call of a plugin is late, however long the pauses are.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::file;
use super::harm::{objects, profile};
use crate::artifacts::{with_bundled_plugins, workspace};

/// Signals a process, which may have ended.
pub(super) fn signal(signal: Signal, process: u32) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let sent = kill_process(process.expect("a process has a positive number"), signal);
    assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{sent:?}");
}

/// The workers of a process.
pub(super) fn workers(of: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc can be read").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{of}"))
    };
    numbers.filter(is_child).collect()
}

#[test]
fn a_paused_machine_is_not_a_plugin_that_hangs() {
    // Each call takes 0.4 s of the 1 s that it may take.
    let manifests = file("paused/objects.json", &objects("assign", &["nap", "nap", "nap"]));
    let mut command = Command::new(workspace().binary("divvy"));
    command
        .args(["schedule", "-f"])
        .arg(manifests)
        .arg("--profile")
        .arg(profile("paused/profile.toml", ""));
    let command = with_bundled_plugins(&mut command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    let host = command.id();
    let mut pauses = 0;
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(250));
        signal(Signal::STOP, host);
        let workers = workers(host);
        for worker in &workers {
            signal(Signal::STOP, *worker);
        }
        std::thread::sleep(Duration::from_millis(1_500));
        for worker in &workers {
            signal(Signal::CONT, *worker);
        }
        signal(Signal::CONT, host);
        pauses += usize::from(!workers.is_empty());
    }
    let output = command.wait_with_output().expect("the command ends");
    assert!(output.status.success(), "{output:?}");
    assert!(pauses > 1, "the command was not paused while it had a worker");
}
