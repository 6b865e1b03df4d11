//! `divvy replay`: decides recorded cases again and reports every difference.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::profile::{ProfileConfiguration, ProfileSource};
use divvy_scheduler::replay::{
    CaseRunner, Expectation, Mismatch, RecordedFleet, RecordedPlugin, Recording, RecordingHeader, compare,
    read_recording,
};
use divvy_scheduler::scheduler::Profile;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::Exit;
use super::setup::{ChosenProfile, ProfileArguments};
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};
use crate::report::structured;

const EXAMPLES: &str = "\
Examples:
  # Does this profile decide as Karmada did?
  divvy replay tests/conformance/karmada-parity.jsonl.gz --profile karmada

  # Does the new build of a plugin decide as yesterday's build did?
  divvy schedule -f dump/ --record yesterday.jsonl.gz
  divvy replay yesterday.jsonl.gz --plugin-directory new/

Exit codes: 0 no case differs, 1 some cases differ, 2 wrong usage, profile, plugin or recording.";

/// Decide recorded cases again and report every difference.
///
/// A recording is JSON Lines, plain or gzip: fleets, cases with their decisions, and the profile and plugins that made
/// them. Each case runs one cycle on its binding as given. Without `--profile`, the profile in the recording is used.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct ReplayArguments {
    /// Recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Output format of the differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// One line per difference, then the summary
    Table,
    /// One JSON object
    Json,
}

/// A case whose decision differs from the recorded one.
#[derive(Debug, Serialize)]
struct Difference {
    file: String,
    line: usize,
    case: String,
    #[serde(flatten)]
    mismatch: Mismatch,
}

/// Outcome of a replay over all files.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replayed {
    passed: usize,
    failed: usize,
    mismatches: Vec<Difference>,
}

/// Replays every recording, then prints the differences.
///
/// A difference ends the run with exit code 1. A recording that cannot be read, a case without a recorded decision, or
/// a profile that cannot be built ends it with exit code 2, and no difference is printed.
pub(super) fn run(arguments: &ReplayArguments, console: &Console) -> Result<Exit, Failure> {
    let mut replayed = Replayed::default();
    for file in &arguments.files {
        let recording = read(file)?;
        if let Some(case) = recording.cases.iter().find(|case| case.expect.is_none()) {
            let place = format!("{}:{}", file.display(), case.line);
            let message = format!("{place}: case `{}` has no recorded decision", case.name);
            let hint = "`divvy bench` times cases without comparing them";
            return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
        }
        let chosen = choose(&arguments.profile, file, &recording)?;
        let profile = Arc::new(chosen.build(&arguments.profile.directories()?)?);
        if let Some(header) = &recording.header {
            tell_changes(file, header, &chosen.configuration, &profile, console);
        }
        replay(file, &recording, &profile, &mut replayed)?;
    }
    console.print(|out| match arguments.output {
        Format::Table => write_table(&replayed, out),
        Format::Json => structured::write_value(&replayed, out),
    })?;
    Ok(if replayed.failed == 0 {
        Exit::Success
    } else {
        Exit::Unschedulable
    })
}

/// Reads a recording. A file that cannot be opened or parsed is an error with exit code 2.
pub(super) fn read(file: &Path) -> Result<Recording, Failure> {
    read_recording(file).map_err(|error| Failure::usage(Diagnostic::new(error.to_string()).with_causes_of(&error)))
}

/// Reads the requested profile; if none was requested, the one in the recording, else the built-in one.
pub(super) fn choose(
    arguments: &ProfileArguments,
    file: &Path,
    recording: &Recording,
) -> Result<ChosenProfile, Failure> {
    match &recording.header {
        Some(header) if !arguments.is_given() => {
            let name = PathBuf::from(format!("{} (its recorded profile)", file.display()));
            let source = ProfileSource::parse(name, &header.profile);
            let configuration = source.profile(Some(&header.profile_name))?;
            Ok(ChosenProfile { source, configuration })
        }
        _ => arguments.read(),
    }
}

/// Decides every case of a recording again and adds the outcome to `replayed`. A case that cannot be decided, because a
/// plugin needs a time that the recording lacks, ends the run with exit code 2.
fn replay(file: &Path, recording: &Recording, profile: &Arc<Profile>, replayed: &mut Replayed) -> Result<(), Failure> {
    let snapshot = |fleet: &RecordedFleet| {
        let mut store = Fleet::new(profile.needs_raw_clusters());
        store.extend(&fleet.clusters);
        store.snapshot()
    };
    let recorded = recording.fleets.iter();
    let fleets: BTreeMap<&str, FleetSnapshot> =
        recorded.map(|(name, fleet)| (name.as_str(), snapshot(fleet))).collect();
    let mut runner = CaseRunner::new(Arc::clone(profile));
    let progress = progress(recording.cases.len());
    for case in &recording.cases {
        progress.inc(1);
        let (Some(expected), Some(fleet)) = (&case.expect, fleets.get(case.fleet.as_str())) else {
            continue;
        };
        let prepared = runner.prepare(case);
        let actual = runner.try_decide(&prepared, fleet).map_err(|error| {
            progress.finish_and_clear();
            let message = format!("{}:{}: case `{}`: {error}", file.display(), case.line, case.name);
            let hint = "record the decisions with `--time`, or under a profile with a plugin that reads the time";
            Failure::usage(Diagnostic::new(message).with_hint(hint))
        })?;
        match compare(expected, actual) {
            Ok(()) => replayed.passed += 1,
            Err(mismatch) => {
                replayed.failed += 1;
                replayed.mismatches.push(Difference {
                    file: file.display().to_string(),
                    line: case.line,
                    case: case.name.clone(),
                    mismatch,
                });
            }
        }
    }
    progress.finish_and_clear();
    Ok(())
}

/// A progress bar on standard error, if that is a terminal.
pub(super) fn progress(length: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
    // If the template cannot be parsed, the default bar will do.
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// Prints a note for each respect in which profile and plugins differ from those of the recording.
fn tell_changes(
    file: &Path,
    header: &RecordingHeader,
    configuration: &ProfileConfiguration,
    profile: &Profile,
    console: &Console,
) {
    let mut changes = Vec::new();
    if header.profile != configuration.to_toml() {
        changes.push(format!("profile `{}` is not the recorded one", configuration.name));
    }
    let seed = configuration.seed.unwrap_or(0);
    if header.seed != seed {
        changes.push(format!("the seed is {seed}, recorded {}", header.seed));
    }
    for RecordedPlugin { name, version, sha256 } in &header.plugins {
        let now = profile.plugins().find(|plugin| plugin.name() == name);
        match now.map(|plugin| plugin.library()) {
            None => changes.push(format!("plugin `{name}` is not used any more")),
            Some(library) if library.version() != *version => {
                changes.push(format!(
                    "plugin `{name}` has version {}, recorded {version}",
                    library.version()
                ));
            }
            Some(library) if library.checksum() != *sha256 => {
                changes.push(format!(
                    "plugin `{name}` {version} is another build than the recorded one"
                ));
            }
            Some(_) => {}
        }
    }
    for plugin in profile.plugins() {
        if !header.plugins.iter().any(|recorded| recorded.name == plugin.name()) {
            changes.push(format!("plugin `{}` was not used when it was recorded", plugin.name()));
        }
    }
    console.tell(|out| {
        for change in &changes {
            writeln!(out, "note: {}: {change}", file.display())?;
        }
        Ok(())
    });
}

/// Writes one line per difference, and the summary alone on the last line.
fn write_table(replayed: &Replayed, out: &mut dyn Write) -> std::io::Result<()> {
    for Difference {
        file,
        line,
        case,
        mismatch,
    } in &replayed.mismatches
    {
        let (expected, actual) = (in_words(&mismatch.expected), in_words(&mismatch.actual));
        let stage = mismatch.stage;
        write!(
            out,
            "{file}:{line}: {case}: expected {expected}, got {actual}, first differs at {stage}"
        )?;
        match mismatch.message.as_str() {
            "" => writeln!(out)?,
            message => writeln!(out, " ({message})")?,
        }
    }
    writeln!(out, "{} passed, {} failed", replayed.passed, replayed.failed)
}

/// `member1=3 member2=0`, or the kind of error.
fn in_words(expectation: &Expectation) -> String {
    match expectation {
        Expectation::Error(kind) => kind.clone(),
        Expectation::Clusters(clusters) if clusters.is_empty() => "no cluster".to_owned(),
        Expectation::Clusters(clusters) => {
            let parts = clusters
                .iter()
                .map(|cluster| format!("{}={}", cluster.name, cluster.replicas));
            parts.collect::<Vec<_>>().join(" ")
        }
    }
}
