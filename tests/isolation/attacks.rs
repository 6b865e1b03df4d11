//! A plugin that means to cost more than the decision that it is called for: time, memory, threads, processors, lines of a log, a description
//! of itself, and what others have. The table in the documentation has the bounds that these tests check.
//!
//! What is checked are counts: of bindings that are decided, of workers that were started, of what they have. None depends on how busy the machine
//! is: how often a worker is looked at before its time is over is a matter of `host/core/isolation/src/deadline.rs`, which needs no clock.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::harm::{objects, profile};
use super::paused::{signal, workers};
use super::{divvy, file};
use crate::artifacts::{repository, with_bundled_plugins, workspace};
use crate::c_interface::hostile::{HOSTILE, named, opened};
use crate::c_interface::library;
use crate::generated;
use crate::manifests::{binding, cluster, list};

const PAGE: &str = "docs/measurements.md";
const HEADING: &str = "## What attacks cost\n";
const NEXT: &str = "\n## Building and continuous integration\n";

/// Attempts that a binding has. Each is made in a worker of its own if the worker of the first was ended.
const ATTEMPTS: usize = 2;
/// Time after which a command never ends. Those here take a minute on a machine with nothing else to do.
const NEVER: Duration = Duration::from_secs(900);
/// Threads that a worker may have.
const MOST_THREADS: u64 = 512;
/// Memory that a worker may have.
const MOST_MEMORY: u64 = (1 << 30) + (64 << 20);
/// Tables of pages that a worker may have.
const MOST_TABLES: u64 = 300 << 20;
/// Memory that one call may cost the host.
const MOST_OF_HOST: u64 = 160 << 20;
/// Processor time that a worker may use between its calls, beyond half a processor.
const ADVANCE: Duration = Duration::from_secs(2);
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
    /// Most threads of a worker.
    threads: u64,
    /// Most memory and tables of pages of a worker, and most memory of the host, in bytes.
    memory: u64,
    tables: u64,
    host: u64,
    /// Most processor time of a worker.
    used: Duration,
}

impl Seen {
    /// True if each binding is decided, in order.
    fn is_decided(&self) -> Vec<bool> {
        let bindings: Value =
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

/// Decides bindings with these attacks in Assign, and looks at the processes meanwhile.
fn attacked(test: &str, faults: &[&str], more: &str) -> Seen {
    let profile = profile(&format!("attacks/{test}.toml"), more);
    watched(test, &objects("assign", faults), &profile, |_| {})
}

/// Decides objects under a profile, and looks at the processes meanwhile. `looked` is told the workers at each look.
fn watched(test: &str, objects: &str, profile: &Path, mut looked: impl FnMut(&[u32])) -> Seen {
    let manifests = file(&format!("attacks/{test}.json"), objects);
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
    let (mut seen, mut known) = (Seen::default(), BTreeSet::new());
    while !waiting.is_finished() {
        let workers = workers(host);
        looked(&workers);
        if start.elapsed() > NEVER {
            signal(Signal::KILL, host);
        }
        for worker in &workers {
            seen.threads = seen.threads.max(figure(*worker, "Threads"));
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

/// Fails unless a call that does not end is given up at its deadline, both times that it is made.
#[track_caller]
fn ends_at_its_deadline(fault: &str) {
    let seen = attacked(&fault.replace(' ', "-"), &[fault], "");
    assert!(
        seen.output.contains("its worker did not answer a call within 1 s"),
        "{fault}: {seen:#?}"
    );
    assert_eq!(seen.workers, ATTEMPTS, "{fault}: {seen:#?}");
}

#[test]
fn a_worker_that_wakes_the_host_has_its_deadline() {
    ends_at_its_deadline("wake the host");
}

#[test]
fn a_worker_that_is_awake_when_it_is_looked_at_has_its_deadline() {
    ends_at_its_deadline("awake at looks");
}

#[test]
fn a_worker_whose_name_cannot_be_read_has_its_deadline() {
    ends_at_its_deadline("unreadable name");
}

#[test]
fn a_worker_that_has_to_be_asked_again_has_its_deadline() {
    ends_at_its_deadline("count much slowly");
}

/// Opening and constructing have half a minute, which waking the host does not prolong.
#[test]
fn a_constructor_that_wakes_the_host_has_its_deadline() {
    let configuration = "[profile.plugin.hostile.configuration]\nfault = 'wake the host'\n";
    let profile = profile("attacks/constructor.toml", configuration);
    let (exit, _, log) = divvy(&["profile", "check", "--profile", profile.to_str().expect("ASCII")]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(
        log.contains("its worker did not construct the plugin within 30 s"),
        "{log}"
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
    let (profile, objects) = (
        profile("attacks/again.toml", &configuration),
        objects("assign", &faults),
    );
    let mut is_marked = false;
    let seen = watched("again", &objects, &profile, |workers| {
        // Only the loop takes so much, so the plugin is constructed by then.
        let loops = |worker: &u32| processor_time(*worker) > Duration::from_millis(300);
        if !is_marked && workers.iter().any(loops) {
            fs::write(&marker, "").expect("the folder is there");
            is_marked = true;
        }
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
}

/// Fails unless a worker that has too much after this attack is ended, and all other bindings are decided. On a busy machine, it may not get
/// so far.
#[track_caller]
fn ends_between_calls(fault: &str, has_too_much: impl Fn(&Seen) -> bool) {
    // These give the host time to look.
    let faults = [&[fault][..], &["nap"; 10]].concat();
    let seen = attacked(&fault.replace(' ', "-"), &faults, "");
    assert_eq!(seen.is_decided()[1..], [true; 10], "{seen:#?}");
    assert!(seen.workers >= 2 || !has_too_much(&seen), "{seen:#?}");
}

#[test]
fn threads_of_a_worker_are_bounded_between_calls() {
    ends_between_calls("many threads", |seen| seen.threads > MOST_THREADS);
}

#[test]
fn memory_of_a_worker_is_bounded_between_calls() {
    ends_between_calls("memory after the answer", |seen| seen.memory > MOST_MEMORY);
}

#[test]
fn tables_of_pages_of_a_worker_are_bounded() {
    let seen = attacked("tables", &["tables of pages", "none"], "");
    assert!(seen.is_decided()[1], "{seen:#?}");
    assert!(seen.tables < MOST_TABLES, "{seen:#?}");
}

/// Another plugin takes its time meanwhile, so that the worker is asked for nothing.
#[test]
fn a_worker_that_spins_after_its_answer_is_ended() {
    let patient = format!(
        "[profile.plugin.patient]\npath = '{}'\nallow-uncertified = true\nisolation = 'process'\n",
        named("patient").display()
    );
    let listed = fs::read_to_string(profile("attacks/spin.toml", &patient)).expect("a profile");
    let listed = listed.replace(
        "filters = ['cluster-affinity', 'hostile']",
        "filters = ['cluster-affinity', 'patient']",
    );
    assert!(listed.contains("'patient'"), "{listed}");
    let profile = file("attacks/spin.toml", &listed);
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let naps = 12 * threads;
    let decided = |number: usize, strategy: &str, fault: &str, point: &str| -> Value {
        let binding = binding(&format!("binding-{number:05}"), 3).strategy(strategy);
        let binding = binding.annotation("hostile.example/fault", fault);
        binding.annotation("hostile.example/point", point).into()
    };
    let mut objects: Vec<Value> = vec![cluster("a", 9).into(), cluster("b", 9).into()];
    objects.push(decided(0, "Hostile", "spin after the answer", "assign"));
    objects.extend((1..=naps).map(|number| decided(number, "Average", "nap", "filter")));
    objects.push(decided(naps + 1, "Hostile", "nap", "assign"));
    let seen = watched("spin", &list(objects), &profile, |_| {});
    assert_eq!(
        (seen.exit, seen.is_decided()),
        (Some(0), vec![true; naps + 2]),
        "{seen:#?}"
    );
    // Two plugins, and one of them again; unless others had the processors, and the threads little of them.
    let most = ADVANCE + seen.elapsed / 2 + Duration::from_secs(1);
    assert!(seen.workers == 3 || seen.used < most, "{seen:#?}");
}

/// A call is bounded by its deadline alone, whatever it does with the processors until then.
#[test]
fn a_call_that_computes_on_several_threads_is_answered() {
    let profile = profile("attacks/several.toml", "");
    let text = fs::read_to_string(profile).expect("a profile");
    let profile = file(
        "attacks/several.toml",
        &text.replace("deadline = '1s'", "deadline = '60s'"),
    );
    let objects = objects("assign", &["compute on four threads"]);
    let seen = watched("several", &objects, &profile, |_| {});
    assert_eq!((seen.exit, seen.is_decided()), (Some(0), vec![true]), "{seen:#?}");
    assert_eq!(seen.workers, 1, "{seen:#?}");
}

#[test]
fn what_a_call_hands_over_costs_the_host_a_bounded_amount_of_memory() {
    let usual = attacked("everything-none", &["none"], "");
    let seen = attacked("everything", &["much of everything"], "");
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
    let seen = attacked("forged", &["forged line"], "");
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
    let output: Value = serde_json::from_str(&seen.output).expect("JSON");
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
    let seen = watched("unseen", &objects("assign", &faults), &profile, |_| {});
    assert_eq!(seen.is_decided(), [true, false], "{seen:#?}");
    assert!(seen.output.contains("its worker was ended by SIGABRT"), "{seen:#?}");
}

/// The bundled plugins run in the scheduler's process, so it has tables of functions for them. What an exchange of a call has is the worker's own.
#[test]
fn a_worker_sees_no_address_of_the_host() {
    let seen = attacked("addresses", &["look at addresses"], "");
    assert_eq!(seen.is_decided(), [true], "{seen:#?}");
    // It would have found one.
    let seen = attacked("planted", &["look at a planted address"], "");
    assert_eq!(seen.is_decided(), [false], "{seen:#?}");
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
    let time = format!("each of its {ATTEMPTS} attempts is ended at its deadline");
    let rows = [
        ("wakes the host without end, in a call", time.clone()),
        ("sleeps, and is awake when it is looked at", time.clone()),
        ("has a thread with a name that is not UTF-8", time.clone()),
        ("counts more than there is room for, slowly", time.clone()),
        (
            "wakes the host without end, in its constructor",
            "is ended at its deadline of 30 s".to_owned(),
        ),
        (
            "hangs when it is constructed again",
            "one binding fails; the plugin is suspended".to_owned(),
        ),
        (
            "starts 2,000 threads, and answers",
            format!("is ended with more than {MOST_THREADS}; every other binding is decided"),
        ),
        (
            "fills memory after its answer",
            format!(
                "is ended with more than {} MiB; every other binding is decided",
                MOST_MEMORY >> 20
            ),
        ),
        (
            "reads 512 GiB that it never writes",
            format!("at most {} MiB of tables of pages", MOST_TABLES >> 20),
        ),
        (
            "spins on 16 threads after its answer",
            format!(
                "is ended after {} s of processor time beyond half a processor; every binding is decided",
                ADVANCE.as_secs()
            ),
        ),
        (
            "computes on four threads until it answers",
            "is answered by one worker".to_owned(),
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
            "looks for addresses of the scheduler's code, stacks or heap",
            "0 words in memory that it is shown".to_owned(),
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
