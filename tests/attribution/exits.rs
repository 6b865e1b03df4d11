//! `exit` and `quick_exit`: their code is 3, whatever a plugin says.

use super::{POINTS, construct, harm, open, opened};

#[test]
fn a_plugin_that_exits_is_named_and_the_exit_code_is_3() {
    for (point, call) in POINTS {
        let expected = format!("error: plugin `hostile` called `exit` in {call} of binding `default/web`");
        harm(point, "exit", &[]).check(point, Ok(3), &[&expected]);
    }
    let expected = "error: plugin `hostile` called `quick_exit` in Assign of binding `default/web`";
    harm("assign", "quick_exit", &[]).check("quick_exit", Ok(3), &[expected]);
    let expected = "error: a thread of a plugin called `exit`, while another was in Assign of binding `default/web` of plugin \
                    `hostile`";
    harm("assign", "exit on another thread", &[]).check("thread", Ok(3), &[expected]);
}

#[test]
fn an_exit_in_a_constructor_has_exit_code_3() {
    let expected = "error: plugin `hostile` called `exit` in its construction";
    construct("exit", &[]).check("construct", Ok(3), &[expected]);
    let library = opened("hostile_exits", "exit(0)");
    let expected = format!(
        "error: library `{}` called `exit` in its initialisation",
        library.display()
    );
    open(&library, &[]).check("open", Ok(3), &[&expected]);
    let library = opened("hostile_exits_quickly", "quick_exit(0)");
    let expected = format!(
        "error: library `{}` called `quick_exit` in its initialisation",
        library.display()
    );
    open(&library, &[]).check("open quickly", Ok(3), &[&expected]);
}

/// The documentation says so: no handler runs.
#[test]
fn an_end_without_handlers_is_out_of_reach() {
    harm("assign", "_exit", &[]).check("_exit", Ok(0), &[]);
}

/// A fork is a process of the plugin's own.
#[test]
fn a_fork_may_exit() {
    let ended = harm("assign", "fork that exits", &[]);
    ended.check("fork", Ok(0), &[]);
    assert!(ended.output.contains("Scheduled"), "{}", ended.output);
}
