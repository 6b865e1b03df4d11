//! Memory after moves: what the scheduler keeps does not grow with their number, neither with those of one binding nor with bindings that
//! are gone, whatever their moves waited for. `DIVVY_MOVES_MEMORY` sets the number of moves.
//!
//! Resident memory is that of a process, so the moves are made in one of their own: this test binary, with nothing but this test. Pages of its
//! file are left out: the first use of any function maps 64 KiB of code, which nothing keeps.

use std::process::Command;
use std::time::Duration;

use divvy_controller::condition::ScheduledReason;
use divvy_controller::write::WriteOutcome;
use serde_json::json;

use super::super::simulation::{Simulation, active_profile};
use super::{SURGE, binding, mark, place, ready_cluster, report_ready, weighted};

/// Name of the test, and the variable that makes its process the one that is measured.
const TEST: &str = "controller::moves::memory::it_does_not_grow_with_moves";
const MEASURED: &str = "DIVVY_MOVES_MEASURED";

/// Decisions that a process remembers, to try a new profile on them.
const REMEMBERED: usize = 64;

/// Moves after which memory is measured first; the second time is after four times as many.
fn moves() -> usize {
    let written = std::env::var("DIVVY_MOVES_MEMORY").ok();
    written.map_or(divvy_built::cases(50, 100), |number| {
        number.parse().expect("a number of moves")
    })
}

/// Resident memory of this process in KiB, without what is mapped from files.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux shows the state of a process");
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number
        .expect("the resident memory in kB")
        .trim()
        .parse()
        .expect("a number")
}

/// Has a binding moved that is there for no longer, and that is deleted at the end or on the way.
fn pass_by(simulation: &mut Simulation, number: usize) {
    let name = format!("passing-{number}");
    let report = |simulation: &mut Simulation| {
        let result = simulation.result(&name);
        let states = result.iter().map(|(cluster, replicas)| {
            let status = json!({"replicas": replicas, "readyReplicas": replicas});
            json!({"clusterName": cluster, "applied": true, "status": status})
        });
        let states: Vec<_> = states.collect();
        simulation.patch(&name, &json!({"status": {"aggregatedStatus": states}}));
    };
    simulation.create(&name, binding(4, &[("a", 1)]));
    report(simulation);
    if number % 4 == 1 {
        let refused = WriteOutcome::Refused(ScheduledReason::QuotaExceeded, "quota".to_owned());
        simulation.fail_next_write(refused);
    }
    let suspension = json!({"dispatching": number % 4 == 2});
    simulation.patch(
        &name,
        &json!({"spec": {"placement": weighted(&[("b", 1)]), "suspension": suspension}}),
    );
    if number % 4 == 3 {
        for _ in 0..4 {
            report(simulation);
        }
        simulation.pass(Duration::from_secs(61));
    }
    simulation.delete(&name);
}

/// Whatever its move waits for, or whether it ended: of a binding that is gone, nothing is kept but its last decisions, until others are the
/// last.
#[test]
fn a_binding_that_is_gone_is_forgotten_whatever_its_move_waited_for() {
    let mut simulation = Simulation::with_active(active_profile(SURGE), &["a", "b", "c"].map(ready_cluster));
    simulation.create("other", binding(1, &[("c", 1)]));
    let mut replicas = 1;
    for number in 0..4 {
        pass_by(&mut simulation, number);
        assert!(simulation.engine().leftovers().is_empty(), "{number}");
        for _ in 0..REMEMBERED {
            replicas += 1;
            simulation.patch("other", &json!({"spec": {"replicas": replicas}}));
        }
        // Events have the key, and are sent.
        simulation.forget_announcements();
        assert!(!simulation.is_kept(&format!("passing-{number}")), "{number}");
    }
    simulation.create("web", binding(10, &[("a", 1)]));
    assert!(simulation.is_kept("web"));
}

/// Makes moves: one of a binding that stays, and one of another that passes by. Returns the results that were written.
fn make(simulation: &mut Simulation, numbers: std::ops::Range<usize>) -> usize {
    let writes = simulation.writes("web").0;
    for number in numbers {
        place(simulation, &[(if number % 2 == 0 { "b" } else { "a" }, 1)]);
        pass_by(simulation, number);
        for _ in 0..8 {
            report_ready(simulation);
        }
        simulation.pass(Duration::from_secs(61));
        assert_eq!(mark(simulation), None, "{:?}", simulation.result("web"));
        simulation.forget_announcements();
    }
    simulation.writes("web").0 - writes
}

/// Makes the moves, and prints what is resident after a quarter of them and after all.
fn measure() {
    let moves = moves();
    let mut simulation = Simulation::with_active(active_profile(SURGE), &["a", "b", "c"].map(ready_cluster));
    simulation.create("web", binding(10, &[("a", 1)]));
    report_ready(&mut simulation);
    let first = make(&mut simulation, 0..moves);
    let before = resident();
    let second = make(&mut simulation, moves..4 * moves);
    let after = resident();
    assert_eq!(second, 3 * first, "every move is made");
    println!(
        "resident: {before} KiB after {first} steps of {moves} moves, {after} KiB after {}",
        4 * first
    );
    simulation.publish();
    for state in ["under_way", "waiting"] {
        let line = format!("divvy_moves{{state=\"{state}\"}} 0");
        assert!(simulation.scraped("divvy_moves{").contains(&line), "{state}");
    }
    // Less than a few words for each move: what a move that is forgotten late would leave is more.
    let most = 128 + moves * 3 * 64 / 1024;
    assert!(
        after < before + most,
        "{before} KiB became {after} KiB in {} moves",
        3 * moves
    );
}

#[test]
#[cfg(target_os = "linux")]
fn it_does_not_grow_with_moves() {
    if std::env::var_os(MEASURED).is_some() {
        return measure();
    }
    let this = std::env::current_exe().expect("this program");
    let output = Command::new(this)
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(MEASURED, "1")
        .output()
        .expect("it can be run again");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}");
    let line = shown.lines().find_map(|line| line.split_once("resident: "));
    println!(
        "resident: {}",
        line.unwrap_or_else(|| panic!("nothing was measured: {shown}")).1
    );
}
