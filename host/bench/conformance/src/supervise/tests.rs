//! Children that end, hang, or never stop writing.

use super::*;

/// More time than any of these children needs.
const LONG: Duration = Duration::from_secs(600);
const CASES: u64 = 1_000;

fn shell(script: &str, patience: Duration) -> End {
    let program = Program {
        path: "/bin/sh".into(),
        arguments: vec!["-c".into()],
        environment: None,
        memory: None,
        patience,
        longest: LONG,
        cases: CASES,
    };
    program.run(&[script.into()]).expect("there is a shell")
}

/// Runs a script with bounds.
fn bounded(script: &str, environment: &[(&str, &str)], memory: MemoryLimit) -> End {
    let program = Program {
        path: "/bin/sh".into(),
        arguments: vec!["-c".into()],
        environment: Some(
            environment
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ),
        memory: Some(memory),
        patience: Duration::from_secs(30),
        longest: LONG,
        cases: CASES,
    };
    program.run(&[script.into()]).expect("there is a shell")
}

const DONE: &str = r#"echo '{"event":"done","outcome":{"cases":3},"peakBytes":7}'"#;

fn how_it_died(end: End) -> (String, Option<u64>) {
    match end {
        End::Died { how, case, .. } => (how, case),
        other => panic!("it did not die: {other:?}"),
    }
}

#[test]
fn a_child_is_done_or_refuses() {
    let long = Duration::from_secs(30);
    let End::Done { last, .. } = shell(&format!("echo noise; {DONE}"), long) else {
        panic!("it is done")
    };
    assert!(matches!(last, Event::Done { peak_bytes: 7, .. }));
    assert_eq!(shell("echo no >&2; exit 2", long), End::Refused("no\n".to_owned()));
}

#[test]
fn a_child_that_dies_is_reported_with_its_case() {
    let long = Duration::from_secs(30);
    let begins = r#"echo '{"event":"begins","case":4}'"#;
    for (script, how) in [
        ("kill -SEGV $$", "the process was killed by SIGSEGV"),
        (
            "exit 0",
            "the process ended with exit code 0 in the middle of the check",
        ),
        (
            "exit 7",
            "the process ended with exit code 7 in the middle of the check",
        ),
    ] {
        let end = shell(&format!("{begins}; {script}"), long);
        assert_eq!(how_it_died(end), (how.to_owned(), Some(4)), "{script}");
    }
    let end = shell(&format!("{DONE}; kill -ABRT $$"), long);
    assert_eq!(
        how_it_died(end).0,
        "the process was killed by SIGABRT after the check had ended"
    );
}

#[test]
fn a_child_has_the_variables_that_it_is_given_and_no_others() {
    let enough = MemoryLimit {
        bytes: u64::MAX,
        of: |_| Some(0),
    };
    let end = bounded("echo \"$KEPT $HOME$USER\" >&2; exit 2", &[("KEPT", "yes")], enough);
    assert_eq!(end, End::Refused("yes \n".to_owned()));
}

/// Whether it is in the middle of the check or after it. The figures are made up.
#[test]
fn a_child_that_needs_more_memory_than_it_may_is_ended() {
    let limit = MemoryLimit {
        bytes: 7 << 20,
        of: |process| {
            let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
            (name.trim() == "sleep").then_some((7 << 20) + 1)
        },
    };
    let begins = r#"echo '{"event":"begins","case":4}'"#;
    for script in [
        format!("{begins}; exec sleep 60"),
        format!("{begins}; {DONE}; exec >&-; exec sleep 60"),
    ] {
        let end = bounded(&script, &[("PATH", "/usr/bin:/bin")], limit);
        assert_eq!(
            how_it_died(end),
            ("more than 7 MiB of memory are needed".to_owned(), Some(4)),
            "{script}"
        );
    }
    // The system refuses at once what is much too large.
    let refused = "echo 'memory allocation of 99000000 bytes failed' >&2; kill -ABRT $$";
    let limit = MemoryLimit { of: |_| None, ..limit };
    let (how, _) = how_it_died(bounded(refused, &[], limit));
    assert_eq!(how, "more than 7 MiB of memory are needed");
    let small = "echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$";
    assert_eq!(
        how_it_died(bounded(small, &[], limit)).0,
        "the process was killed by SIGABRT"
    );
}

/// Every message is a case further.
#[test]
fn what_a_child_has_started_is_not_listened_to_without_end() {
    let limit = MemoryLimit {
        bytes: 0,
        of: |process| {
            let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
            (name.trim() == "sleep").then_some(1)
        },
    };
    let begins = r#"echo "{\"event\":\"begins\",\"case\":$case}""#;
    let further = format!("case=0; while [ $case -lt 200 ]; do {begins}; case=$((case + 1)); sleep 0.05; done");
    let end = bounded(
        &format!("({further}) & exec sleep 60"),
        &[("PATH", "/usr/bin:/bin")],
        limit,
    );
    let (how, case) = how_it_died(end);
    assert_eq!(how, "more than 0 MiB of memory are needed");
    assert!(case.is_none_or(|case| case < 100), "{case:?}");
}

#[test]
fn a_child_that_hangs_is_killed() {
    let end = shell(
        r#"echo '{"event":"begins","case":1}'; exec sleep 60"#,
        Duration::from_secs(1),
    );
    assert_eq!(how_it_died(end), ("no answer within 1 s".to_owned(), Some(1)));
}

/// The plugin, or what it has started, has the standard output. Each of these scripts writes for ever.
#[test]
fn a_child_that_writes_messages_for_ever_is_ended() {
    let second = Duration::from_secs(1);
    let begins = r#"echo "{\"event\":\"begins\",\"case\":$case}""#;
    for (script, how, case) in [
        (
            format!("case=7; {begins}; case=6; while :; do {begins}; done"),
            "no answer within 1 s",
            Some(7),
        ),
        (
            format!("case=999; while :; do {begins}; case=$((case + 1)); done"),
            "no answer within 1 s",
            Some(999),
        ),
        (
            format!("case=3; {begins}; while :; do {DONE}; case=$((case + 1)); {begins}; done"),
            "the process did not end within 1 s after the check",
            Some(3),
        ),
        ("while :; do echo noise; done".to_owned(), "no answer within 1 s", None),
    ] {
        let end = shell(&script, second);
        assert_eq!(how_it_died(end), (how.to_owned(), case), "{script}");
    }
}

/// Each message is a case further, and comes in time.
#[test]
fn a_child_that_makes_progress_for_ever_is_ended() {
    let begins = r#"echo "{\"event\":\"begins\",\"case\":$case}""#;
    let program = Program {
        path: "/bin/sh".into(),
        arguments: vec!["-c".into()],
        environment: None,
        memory: None,
        patience: Duration::from_secs(30),
        longest: Duration::from_secs(1),
        cases: u64::MAX,
    };
    let script = format!("case=0; while :; do {begins}; case=$((case + 1)); sleep 0.05; done");
    let (how, case) = how_it_died(program.run(&[script.into()]).expect("there is a shell"));
    assert_eq!(how, "no end within 1 s");
    assert!(case.is_none_or(|case| case < 100), "{case:?}");
}

/// A search for a smaller case begins the same case again and again, and has its own end.
#[test]
fn only_what_is_new_is_progress() {
    let mut progress = Progress::default();
    let begun = Instant::now();
    let mut takes = |event: Event, after: Duration| progress.takes(&event, 10, begun + after);
    let begins = |case| Event::Begins { case };
    let second = Duration::from_secs(1);
    assert!(takes(begins(3), Duration::ZERO));
    assert!(takes(begins(3), 100 * second));
    assert!(takes(begins(3), 100 * second + SEARCH));
    assert!(!takes(begins(3), 101 * second + SEARCH));
    assert!(!takes(begins(2), 102 * second));
    assert!(takes(begins(4), 103 * second));
    assert!(takes(begins(4), 103 * second));
    assert!(!takes(begins(10), 103 * second) && !takes(begins(u64::MAX), 103 * second));
    assert!(takes(begins(9), 104 * second));
    let done = || Event::Done {
        outcome: Outcome::default(),
        peak_bytes: 0,
    };
    assert!(takes(done(), 105 * second));
    assert!(!takes(done(), 105 * second) && !takes(begins(9), 105 * second));
}

#[test]
fn a_line_without_an_end_is_read_to_a_limit() {
    let lines = |text: &[u8], most| {
        let mut lines = Vec::new();
        each_line(text, most, |line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            true
        });
        lines
    };
    assert_eq!(lines(b"one\n\xff\nthree", 6), ["one\n", "\u{fffd}\n", "three"]);
    assert_eq!(lines(b"one\nseven!\nthree\n", 6), ["one\n"]);
    // The limit counts the end of the line.
    assert_eq!(lines(b"sixes\nthree\n", 6), ["sixes\n", "three\n"]);
}
