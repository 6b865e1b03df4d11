//! A plugin that means to cost more than the decision that it is called for: time, memory, threads, processors, lines of a log, a description
//! of itself, and what others have. The table in the documentation has the bounds that these tests check.
//!
//! Time is compared with that of the same command without an attack, and has some more, since tests run beside each other.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::harm::{objects, profile};
use super::paused::workers;
use super::{divvy, file};
use crate::artifacts::{repository, with_bundled_plugins, workspace};
use crate::c_interface::hostile::{HOSTILE, opened};
use crate::c_interface::library;
use crate::generated;

const PAGE: &str = "docs/measurements.md";
const HEADING: &str = "## What attacks cost\n";
const NEXT: &str = "\n## Building and continuous integration\n";

/// The deadline of a call in the profile.
const DEADLINE: Duration = Duration::from_secs(1);
/// Parts of a deadline that a call may take under an attack. A binding has two attempts.
const MOST_DEADLINES: f64 = 1.2;
/// What a busy machine may take more. In the gate, beside other builds, only what never ends is told apart; `.ci/run all` has the bound that
/// each of these attacks exceeded while a call had several deadlines (6.8 s and more).
fn slack() -> Duration {
    divvy_built::cases(Duration::from_secs(20), Duration::from_secs(3))
}
/// Threads that a worker may have.
const MOST_THREADS: u64 = 512;
/// Memory of a worker: what it may have, and what it may get before the host looks.
const MOST_MEMORY: u64 = (1 << 30) + (512 << 20);
/// Tables of pages that a worker may have.
const MOST_TABLES: u64 = 300 << 20;
/// Memory that one call may cost the host.
const MOST_OF_HOST: u64 = 160 << 20;
/// Processor time of one worker that answers for six seconds, of which it sleeps nearly all, and otherwise spins.
const MOST_PROCESSOR_TIME: Duration = Duration::from_secs(6);
/// Bytes of log that one call may cost.
const MOST_LOG: usize = 2 << 20;

/// What was seen of a command while a plugin attacked.
#[derive(Debug, Default)]
struct Seen {
    exit: Option<i32>,
    output: String,
    log: String,
    elapsed: Duration,
    /// Number of workers.
    workers: usize,
    /// Most memory and tables of pages of a worker, and most memory of the host, in bytes.
    memory: u64,
    tables: u64,
    host: u64,
    /// Most processor time of a worker.
    used: Duration,
    /// Longest time for which a worker had too many threads.
    crowded: Duration,
}

impl Seen {
    /// True if each binding is decided, in order.
    fn is_decided(&self) -> Vec<bool> {
        let bindings: serde_json::Value =
            serde_json::from_str(&self.output).unwrap_or_else(|error| panic!("{error}: {} {}", self.output, self.log));
        let bindings = bindings["bindings"].as_array().expect("a list");
        bindings
            .iter()
            .map(|binding| {
                binding["clusters"]
                    .as_array()
                    .is_some_and(|clusters| !clusters.is_empty())
            })
            .collect()
    }
}

/// A figure of a process, in bytes, or a number.
fn figure(process: u32, name: &str) -> u64 {
    let status = fs::read(format!("/proc/{process}/status")).unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    let words: Vec<&str> = line.trim_start_matches(':').split_whitespace().collect();
    let number: u64 = words.first().and_then(|word| word.parse().ok()).unwrap_or(0);
    match words.get(1) {
        Some(&"kB") => number * 1_024,
        _ => number,
    }
}

/// Processor time of a process.
fn processor_time(process: u32) -> Duration {
    let stat = fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    // utime and stime are the fields 14 and 15 of proc_pid_stat(5), in hundredths of a second.
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = times.filter_map(|time| time.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Decides bindings with these attacks in Assign, and looks at the processes meanwhile. `begun` is called once there is a worker.
fn attacked(test: &str, faults: &[&str], more: &str, begun: impl FnOnce()) -> Seen {
    let profile = profile(&format!("attacks/{test}.toml"), more);
    watched(test, faults, &profile, begun)
}

/// As [`attacked`], under a profile.
fn watched(test: &str, faults: &[&str], profile: &Path, begun: impl FnOnce()) -> Seen {
    let manifests = file(&format!("attacks/{test}.json"), &objects("assign", faults));
    let mut command = Command::new(workspace().binary("divvy"));
    command.args(["schedule", "-o", "json", "-f"]).arg(manifests);
    command.arg("--profile").arg(profile);
    let command = with_bundled_plugins(&mut command)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    let (start, host) = (Instant::now(), command.id());
    let waiting = std::thread::spawn(move || (command.wait_with_output(), start.elapsed()));
    let (mut seen, mut known, mut begun) = (Seen::default(), BTreeSet::new(), Some(begun));
    let mut crowded_since = None;
    while !waiting.is_finished() {
        let workers = workers(host);
        if let Some(begun) = begun.take_if(|_| !workers.is_empty()) {
            begun();
        }
        let threads = workers.iter().map(|worker| figure(*worker, "Threads")).max();
        crowded_since = match threads.is_some_and(|threads| threads > MOST_THREADS) {
            true => crowded_since.or(Some(Instant::now())),
            false => None,
        };
        let crowded = crowded_since.map_or(Duration::ZERO, |since: Instant| since.elapsed());
        seen.crowded = seen.crowded.max(crowded);
        for worker in &workers {
            seen.memory = seen.memory.max(figure(*worker, "RssAnon"));
            seen.tables = seen.tables.max(figure(*worker, "VmPTE"));
            seen.used = seen.used.max(processor_time(*worker));
        }
        seen.host = seen.host.max(figure(host, "VmHWM"));
        known.extend(workers);
        std::thread::sleep(Duration::from_millis(10));
    }
    let (ended, elapsed) = waiting.join().expect("the command ends");
    let ended = ended.expect("its output can be read");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    Seen {
        exit: ended.status.code(),
        output: text(ended.stdout),
        log: text(ended.stderr),
        elapsed,
        workers: known.len(),
        ..seen
    }
}

/// The same without an attack.
fn peaceful(test: &str, number: usize) -> Seen {
    attacked(&format!("{test}-none"), &vec!["none"; number], "", || {})
}

/// Fails unless a call that does not end is given up in time, both times that it is made.
#[track_caller]
fn ends_in_time(fault: &str) {
    let test = fault.replace(' ', "-");
    let usual = peaceful(&test, 1).elapsed;
    let seen = attacked(&test, &[fault], "", || {});
    // Where the usual takes longer, so does all that is not the deadline.
    let limit = 2 * usual + DEADLINE.mul_f64(2.0 * MOST_DEADLINES) + slack();
    assert!(
        seen.output.contains("its worker did not answer a call within 1 s"),
        "{fault}: {seen:#?}"
    );
    assert!(seen.elapsed < limit, "{fault}: {:?} of {limit:?}", seen.elapsed);
}

#[test]
fn a_worker_that_wakes_the_host_has_its_deadline() {
    ends_in_time("wake the host");
}

#[test]
fn a_worker_that_is_awake_when_it_is_looked_at_has_its_deadline() {
    ends_in_time("awake at looks");
}

#[test]
fn a_worker_whose_name_cannot_be_read_has_its_deadline() {
    ends_in_time("unreadable name");
}

#[test]
fn a_worker_that_has_to_be_asked_again_has_its_deadline() {
    ends_in_time("count much slowly");
}

/// Opening and constructing have half a minute, which waking the host does not prolong. It is looked at once a second then.
#[test]
fn a_constructor_that_wakes_the_host_has_its_deadline() {
    let configuration = "[profile.plugin.hostile.configuration]\nfault = 'wake the host'\n";
    let profile = profile("attacks/constructor.toml", configuration);
    let begun = Instant::now();
    let (exit, _, log) = divvy(&["profile", "check", "--profile", profile.to_str().expect("ASCII")]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(
        log.contains("its worker did not construct the plugin within 30 s"),
        "{log}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(36) + 2 * slack(),
        "{:?}",
        begun.elapsed()
    );
}

/// It costs one binding, and then the plugin waits. Before, each binding cost half a minute twice.
#[test]
fn a_constructor_that_hangs_when_it_is_made_again_costs_one_binding() {
    let marker = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isolation/attacks/hang-again");
    let _absent = fs::remove_file(&marker);
    let configuration = format!(
        "[profile.plugin.hostile.configuration]\nfault = 'hang while {}'\n",
        marker.display()
    );
    let faults = [
        "nap",
        "nap",
        "nap",
        "nap",
        "nap",
        "endless loop",
        "none",
        "none",
        "none",
        "none",
    ];
    let usual = peaceful("again", 1);
    let seen = attacked("again", &faults, &configuration, || {
        // The plugin is constructed by then, and the loop has not ended.
        std::thread::sleep(Duration::from_millis(1_500));
        fs::write(&marker, "").expect("the folder is there");
    });
    assert_eq!(seen.exit, Some(3), "{seen:#?}");
    assert!(
        seen.output.contains("its worker did not construct the plugin within"),
        "{seen:#?}"
    );
    // What is decided at the same time or later is decided, or finds the plugin suspended.
    let undecided = seen.is_decided().iter().filter(|is_decided| !**is_decided).count();
    let suspended = seen.output.matches("is not called after its worker failed").count();
    assert!(undecided > 0 && suspended + 1 >= undecided, "{seen:#?}");
    let limit = 2 * usual.elapsed + Duration::from_secs(2) + DEADLINE + Duration::from_secs(10) + 2 * slack();
    assert!(seen.elapsed < limit, "{:?} of {limit:?}", seen.elapsed);
}

#[test]
fn threads_of_a_worker_are_bounded_between_calls() {
    let seen = attacked("threads", &["many threads", "nap", "nap", "nap", "nap"], "", || {});
    // Where starting them takes long, the call itself fails.
    assert_eq!(seen.is_decided()[1..], [true; 4], "{seen:#?}");
    assert!(seen.crowded < Duration::from_secs(1) && seen.workers >= 2, "{seen:#?}");
}

#[test]
fn memory_of_a_worker_is_bounded_between_calls() {
    let seen = attacked(
        "memory",
        &["memory after the answer", "nap", "nap", "nap", "nap", "nap"],
        "",
        || {},
    );
    assert_eq!(seen.is_decided()[1..], [true; 5], "{seen:#?}");
    assert!(seen.memory < MOST_MEMORY, "{seen:#?}");
}

#[test]
fn tables_of_pages_of_a_worker_are_bounded() {
    let seen = attacked("tables", &["tables of pages", "none"], "", || {});
    assert!(seen.is_decided()[1], "{seen:#?}");
    assert!(seen.tables < MOST_TABLES, "{seen:#?}");
}

#[test]
fn a_worker_that_spins_after_its_answer_is_ended() {
    let mut faults = vec!["nap"; 15];
    faults[0] = "spin after the answer";
    let seen = attacked("spin", &faults, "", || {});
    assert_eq!((seen.exit, seen.is_decided()), (Some(0), vec![true; 15]), "{seen:#?}");
    // On a busy machine, the spinning threads get little, and the worker may live.
    assert!(seen.used < MOST_PROCESSOR_TIME, "{seen:#?}");
}

#[test]
fn what_a_call_hands_over_costs_the_host_a_bounded_amount_of_memory() {
    let usual = peaceful("everything", 1);
    let seen = attacked("everything", &["much of everything"], "", || {});
    assert_eq!(
        (seen.exit, seen.is_decided()),
        (Some(0), vec![true]),
        "{}",
        seen.log.len()
    );
    assert!(
        seen.host < usual.host + MOST_OF_HOST,
        "{} of {} MiB",
        seen.host >> 20,
        usual.host >> 20
    );
    assert!(seen.log.len() < MOST_LOG, "{} bytes", seen.log.len());
    let end = seen.log.lines().last().unwrap_or_default();
    assert!(
        end.contains("log records left out: ") && end.contains("texts left out: "),
        "{end}"
    );
}

/// True for what acts on a terminal or changes the direction of text.
fn is_control(character: char) -> bool {
    character.is_control() && character != '\n' || ('\u{202a}'..='\u{202e}').contains(&character)
}

#[test]
fn texts_of_a_plugin_begin_no_line_and_have_no_control_characters() {
    let seen = attacked("forged", &["forged line"], "", || {});
    assert_eq!(seen.is_decided(), [true], "{seen:#?}");
    let lines: Vec<&str> = seen.log.lines().collect();
    assert!(lines.len() >= 2, "{seen:#?}");
    for line in lines {
        assert!(
            line.starts_with(" WARN ") && line.contains("plugin=\"hostile\""),
            "{line:?}"
        );
    }
    assert!(!seen.log.contains(is_control), "{:?}", seen.log);
    // What people read of a decision, and what a recording keeps of it.
    let output: serde_json::Value = serde_json::from_str(&seen.output).expect("JSON");
    assert!(!output.to_string().contains(is_control), "{output:#}");
    let [manifests, profile] = ["attacks/forged.json", "attacks/forged.toml"].map(|name| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isolation").join(name);
        path.to_str().expect("ASCII").to_owned()
    });
    let recording = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isolation/attacks/recording.json");
    let _absent = fs::remove_file(&recording);
    let arguments = [
        "schedule",
        "-f",
        &manifests,
        "--profile",
        &profile,
        "--explain",
        "--record",
    ];
    let (_, output, log) = divvy(&[&arguments[..], &[recording.to_str().expect("ASCII")]].concat());
    assert!(
        !output.contains(is_control) && output.contains("forged"),
        "{output:?} {log}"
    );
    let recorded = fs::read_to_string(&recording).expect("a recording");
    assert!(!recorded.contains(is_control), "{recorded:?}");
}

#[test]
fn what_a_file_states_counts_and_not_what_its_library_says_once_it_is_open() {
    let library = opened("hostile_otherwise", "describe_otherwise()");
    let text = fs::read_to_string(profile("attacks/otherwise.toml", "")).expect("a profile");
    let named = HOSTILE.display().to_string();
    let profile = file(
        "attacks/otherwise.toml",
        &text.replace(&named, &library.display().to_string()),
    );
    let (exit, _, log) = divvy(&["profile", "check", "--profile", profile.to_str().expect("ASCII")]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(
        log.contains("once it is open, its version is not that of its file"),
        "{log}"
    );
}

/// The configuration of a plugin in the scheduler's process is not in what its workers read.
#[test]
fn a_worker_does_not_see_the_configuration_of_another_plugin() {
    let careless = library("careless_attacked", &[repository().join("tests/fixtures/careless.c")]);
    let more = format!(
        "[profile.plugin.careless]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\n\
         [profile.plugin.careless.configuration]\nfault = 'none'\nlonger = '{} swordfish-of-another'\n",
        careless.display(),
        // So long that nothing else takes its place once it is dropped.
        "x".repeat(3_000)
    );
    let text = fs::read_to_string(profile("attacks/unseen.toml", &more)).expect("a profile");
    let listed = text.replace("'hostile', 'average'", "'hostile', 'careless', 'average'");
    assert_ne!(listed, text);
    let profile = file("attacks/unseen.toml", &listed);
    // The binding is among what it reads, so it names the text otherwise.
    let faults = ["look for swordfish of another", "look for hostile.example/fault"];
    let seen = watched("unseen", &faults, &profile, || {});
    assert_eq!(seen.is_decided(), [true, false], "{seen:#?}");
    assert!(seen.output.contains("its worker was ended by SIGABRT"), "{seen:#?}");
}

/// A stranger's library is confined by what people run before they install it, unless the profile trusts it.
#[test]
fn what_is_not_bundled_is_confined_when_it_is_verified_or_inspected() {
    let marker = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isolation/attacks/mark");
    fs::create_dir_all(marker.parent().expect("a folder")).expect("a folder for the tests");
    let library = opened("hostile_marks", &format!("leave_a_mark(\"{}\")", marker.display()));
    let library = library.to_str().expect("ASCII");
    let profile = |isolation: &str| {
        let text = fs::read_to_string(profile("attacks/mark.toml", "")).expect("a profile");
        let text = text.replace(&HOSTILE.display().to_string(), library);
        let text = text.replace("isolation = 'process'", &format!("isolation = '{isolation}'"));
        let text = match isolation {
            "none" => text.replace("deadline = '1s'\n", ""),
            _ => text,
        };
        file(&format!("attacks/mark-{isolation}.toml"), &text)
    };
    for (isolation, is_marked) in [("process", false), ("none", true)] {
        let profile = profile(isolation);
        let profile = profile.to_str().expect("ASCII");
        let verify = [
            "plugin",
            "verify",
            library,
            "--profile",
            profile,
            "--runs",
            "1",
            "--clusters",
            "5",
            "--check",
            "sum",
        ];
        let inspect = ["plugin", "inspect", library, "--load", "--profile", profile];
        for arguments in [&verify[..], &inspect[..]] {
            let _absent = fs::remove_file(&marker);
            let (exit, output, log) = divvy(arguments);
            assert_ne!(exit, Some(2), "{arguments:?}: {output}{log}");
            assert_eq!(marker.exists(), is_marked, "{arguments:?}: {output}{log}");
        }
    }
}

/// The bounds, in words.
#[test]
fn the_table_in_the_documentation_has_the_bounds() {
    let time = format!("each attempt ends within {MOST_DEADLINES} times its deadline");
    let rows = [
        ("wakes the host without end, in a call", time.clone()),
        ("sleeps, and is awake when it is looked at", time.clone()),
        ("has a thread with a name that is not UTF-8", time.clone()),
        ("counts more than there is room for, slowly", time.clone()),
        (
            "wakes the host without end, in its constructor",
            format!("ends within {MOST_DEADLINES} times 30 s"),
        ),
        (
            "hangs when it is constructed again",
            "one binding fails; the plugin is suspended".to_owned(),
        ),
        (
            "starts 2,000 threads, and answers",
            format!("has more than {MOST_THREADS} for less than 1 s; every binding is decided"),
        ),
        (
            "fills memory after its answer",
            format!("at most {} MiB; every binding is decided", MOST_MEMORY >> 20),
        ),
        (
            "reads 512 GiB that it never writes",
            format!("at most {} MiB of tables of pages", MOST_TABLES >> 20),
        ),
        (
            "spins on 16 threads after its answer",
            format!(
                "at most {} s of processor time; every binding is decided",
                MOST_PROCESSOR_TIME.as_secs()
            ),
        ),
        (
            "hands over 250 MiB of texts and log messages",
            format!(
                "the host takes at most {} MiB more; at most {} MiB of log",
                MOST_OF_HOST >> 20,
                MOST_LOG >> 20
            ),
        ),
        (
            "logs and prints line breaks, CR, U+202E and escape sequences",
            "each message is one line without them".to_owned(),
        ),
        (
            "describes itself otherwise than its file",
            "error of the profile".to_owned(),
        ),
        (
            "looks for another plugin's configuration",
            "0 places in memory that it can read".to_owned(),
        ),
        (
            "writes a file when its library is opened by `divvy plugin verify` or `inspect --load`",
            "0 files".to_owned(),
        ),
    ];
    let mut table = String::from("\n| the plugin | bound |\n|---|---|\n");
    for (what, bound) in rows {
        _ = writeln!(table, "| {what} | {bound} |");
    }
    let page = fs::read_to_string(repository().join(PAGE)).expect("there is this page");
    let (before, after) = page.split_once(HEADING).expect("the page has the heading");
    let introduction = after.split("\n| ").next().expect("a split has a first part");
    let (_, after) = after.split_once(NEXT).expect("the page goes on");
    generated::check(PAGE, &format!("{before}{HEADING}{introduction}{table}{NEXT}{after}"));
}
