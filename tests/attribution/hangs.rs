//! Calls that do not return.

use super::{HOSTILE, POINTS, construct, harm, open, opened, profile, run};
use crate::manifests::binding;

/// A limit that the tests wait for.
const LIMIT: [&str; 2] = ["--hang-limit", "2s"];

#[test]
fn a_call_that_does_not_return_ends_the_process_with_exit_code_3() {
    for (point, call) in POINTS {
        let expected = format!("error: plugin `hostile` has not returned from {call} of binding `default/web` for 2s");
        let ended = harm(point, "endless loop", &LIMIT);
        ended.check(point, Ok(3), &[&expected]);
        let hint = "\nhint: `--hang-limit` sets the limit, and 0s waits forever\n";
        assert!(ended.log.ends_with(hint), "{}", ended.log);
    }
    let expected = "error: plugin `hostile` has not returned from Assign of binding `default/web` for 2s";
    harm("assign", "deadlock", &LIMIT).check("deadlock", Ok(3), &[expected]);
}

#[test]
fn a_constructor_that_does_not_return_ends_the_process_with_exit_code_3() {
    let expected = "error: plugin `hostile` has not returned from its construction for 2s";
    construct("endless loop", &LIMIT).check("construct", Ok(3), &[expected]);
    let library = opened("hostile_hangs", "for(;;){depth++;}");
    let expected = format!(
        "error: library `{}` has not returned from its initialisation for 2s",
        library.display()
    );
    open(&library, &LIMIT).check("open", Ok(3), &[&expected]);
}

/// Before it watches anything else.
#[test]
fn a_scheduler_that_cannot_construct_its_plugins_ends_with_exit_code_3() {
    let expected = "error: plugin `hostile` has not returned from its construction for 2s";
    let command = ["run", "--kubeconfig", "/there/is/none", LIMIT[0], LIMIT[1]];
    let ended = run(&command, &profile(&HOSTILE, "endless loop"), binding("web", 3));
    ended.check("run", Ok(3), &[expected]);
}

/// The program is done, and what it has printed counts for nothing if it never ends.
#[test]
fn an_exit_handler_that_does_not_return_ends_the_process_with_exit_code_3() {
    let library = opened("hostile_never_ends", "atexit(loop)");
    let expected = "error: a library has not returned from an exit handler for 2s";
    open(&library, &LIMIT).check("end", Ok(3), &[expected]);
}

#[test]
fn a_call_that_takes_its_time_returns() {
    for limit in ["10s", "0s"] {
        let ended = harm("assign", "nap", &["--hang-limit", limit]);
        ended.check(limit, Ok(0), &[]);
    }
}
