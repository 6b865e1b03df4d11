//! `divvy replay`: decides recorded cases again and reports every difference.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::progress::Progress;
use divvy_command::setup::ProfileArguments;
use divvy_command::text::{counted, listed, printable};
use divvy_forecast::choice::BindingPattern;
use divvy_forecast::glob::{matches, matches_parts};
use divvy_karmada::detector::Binding;
use divvy_profile::table::time_zone_version;
use divvy_profile::{ProfileConfiguration, ProfileSource};
use divvy_recordings::{
    Case, CaseRunner, ClusterDifference, Expectation, Mismatch, RecordedFleet, RecordedPlugin, Recording,
    RecordingHeader, compare, read_recording,
};
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::Defect;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::profile::Profile;
use serde::Serialize;

use super::output::{Output, OutputParser, binding_name};
use crate::report::format::Printed;

/// Heading of the options that choose what is shown.
const SHOWN: &str = "Selection of what is shown (never of what is decided)";

/// Clusters of a difference that are named before the rest is counted.
const CLUSTERS_MAX: usize = 12;

const EXAMPLES: &str = "\
Examples:
  # Does this profile decide as Karmada did?
  divvy replay tests/conformance/karmada-parity.jsonl.gz --profile karmada

  # Does the new build of a plugin decide as yesterday's build did?
  divvy schedule -f dump/ --record yesterday.jsonl.gz
  divvy replay yesterday.jsonl.gz --plugin-directory new/

  # What does the next profile decide differently from this one, on recorded cases?
  divvy replay yesterday.jsonl.gz --base production.toml --profile next.toml

  # Some cases, or what changes on one cluster; all are decided
  divvy replay yesterday.jsonl.gz --case 'shop/*' --cluster eu-1

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
    /// Profile to compare with; by default, the recorded decisions
    #[arg(long, value_name = "PROFILE")]
    base: Option<String>,
    /// Cases by their name, or by their binding as in `divvy diff`; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = SHOWN)]
    case: Vec<BindingPattern>,
    /// Cases whose binding is in this namespace
    #[arg(long, short, value_name = "NAMESPACE", help_heading = SHOWN)]
    namespace: Option<String>,
    /// Differences on these clusters: names or globs; may be repeated
    #[arg(long, value_name = "CLUSTER", help_heading = SHOWN)]
    cluster: Vec<String>,
    /// Print nothing but errors: the exit code is the answer
    #[arg(long, short, conflicts_with = "output", help_heading = SHOWN)]
    quiet: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::PLAIN, default_value = "table")]
    output: Output,
}

/// A case whose decision differs from the recorded one.
#[derive(Debug, Serialize)]
struct Difference {
    file: String,
    line: usize,
    case: String,
    /// The binding, as kubectl names it.
    #[serde(skip)]
    name: String,
    #[serde(flatten)]
    mismatch: Box<Mismatch>,
}

/// Outcome of a replay over all files.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replayed {
    passed: usize,
    failed: usize,
    mismatches: Vec<Difference>,
    /// Differences that are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    hidden: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Patterns that matched so far. A pattern that matches nothing is an error.
#[derive(Debug, Default)]
struct Matched {
    cases: BTreeSet<usize>,
    clusters: BTreeSet<usize>,
    has_namespace: bool,
    /// Names that are known, for suggestions.
    known: [BTreeSet<String>; 3],
}

/// Replays every recording, then prints the differences.
///
/// A difference ends the run with exit code 1. A recording that cannot be read, a case without a recorded decision, or
/// a profile that cannot be built ends it with exit code 2, and no difference is printed.
pub(super) fn run(arguments: &ReplayArguments, console: &Console) -> Result<Exit, Failure> {
    let mut replayed = Replayed::default();
    let mut matched = Matched::default();
    for file in &arguments.files {
        let recording = read(file)?;
        arguments.note(&recording, &mut matched);
        if arguments.base.is_none()
            && let Some(case) = recording.cases.iter().find(|case| case.expect.is_none())
        {
            let location = format!("{}:{}", file.display(), case.line);
            let message = format!("{location}: case `{}` has no recorded decision", case.name);
            let hint = "`divvy bench` times cases without comparing them";
            return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
        }
        let chosen = choose(&arguments.profile, file, &recording)?;
        let profile = Arc::new(chosen.build_without_tables(&arguments.profile.directories()?)?);
        let base = arguments.base.as_deref().map(|base| {
            let base = arguments.profile.without_plugins().with_profile(base).read()?;
            Ok::<_, Failure>(Arc::new(base.build_without_tables(&arguments.profile.directories()?)?))
        });
        let base = base.transpose()?;
        if let (Some(header), None, false) = (&recording.header, &base, arguments.quiet) {
            report_changes(
                file,
                (header, &recording.time_zones),
                &chosen.configuration,
                &profile,
                console,
            )?;
        }
        replay(file, &recording, (base.as_ref(), &profile), arguments, &mut replayed)?;
    }
    arguments.refuse_unmatched(&matched)?;
    if !arguments.quiet {
        let content = Printed::new(
            &replayed,
            |replayed| {
                let mismatches = replayed.mismatches.iter();
                mismatches.map(|difference| difference.name.clone()).collect()
            },
            |replayed, out, _| write_table(replayed, arguments, out),
        );
        arguments.output.print(&content, console)?;
    }
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
            arguments.with_plugins(ChosenProfile { source, configuration })
        }
        _ => arguments.read(),
    }
}

impl ReplayArguments {
    /// Notes which patterns match something in a recording.
    fn note(&self, recording: &Recording, matched: &mut Matched) {
        for case in &recording.cases {
            let binding = case.binding();
            let found = self
                .case
                .iter()
                .enumerate()
                .filter(|(_, pattern)| names(pattern, case, &binding));
            matched.cases.extend(found.map(|(index, _)| index));
            matched.has_namespace |= self.namespace.as_ref() == Some(&case.binding.metadata.namespace);
            if !self.case.is_empty() {
                matched.known[0].insert(case.name.clone());
            }
            matched.known[1].insert(case.binding.metadata.namespace.clone());
        }
        let clusters = recording.fleets.values().flat_map(|fleet| &fleet.clusters);
        for cluster in clusters.filter(|_| !self.cluster.is_empty()) {
            let name = &cluster.metadata.name;
            let found = self
                .cluster
                .iter()
                .enumerate()
                .filter(|(_, pattern)| matches(pattern, name));
            matched.clusters.extend(found.map(|(index, _)| index));
            matched.known[2].insert(name.clone());
        }
    }

    /// Refuses every pattern that matched nothing, with the nearest name.
    fn refuse_unmatched(&self, matched: &Matched) -> Result<(), Failure> {
        let [cases, namespaces, clusters] = &matched.known;
        let refused = |what: &str, wrong: &str, known: &BTreeSet<String>| {
            let nearest = divvy_spanned::names::nearest(wrong, known.iter().map(String::as_str));
            Diagnostic {
                hint: nearest.map(|nearest| format!("did you mean `{nearest}`?")),
                ..Diagnostic::new(format!("no recorded {what} matches `{wrong}`"))
            }
        };
        let mut diagnostics = Vec::new();
        for (index, pattern) in self.case.iter().enumerate() {
            if !matched.cases.contains(&index) {
                diagnostics.push(refused("case", &pattern.to_string(), cases));
            }
        }
        if let Some(namespace) = self.namespace.as_ref().filter(|_| !matched.has_namespace) {
            diagnostics.push(refused("namespace", namespace, namespaces));
        }
        for (index, pattern) in self.cluster.iter().enumerate() {
            if !matched.clusters.contains(&index) {
                diagnostics.push(refused("cluster", pattern, clusters));
            }
        }
        match diagnostics.is_empty() {
            true => Ok(()),
            false => Err(Failure::usage_errors(diagnostics)),
        }
    }

    /// True if a difference is shown.
    fn shows(&self, case: &Case, mismatch: &Mismatch) -> bool {
        let is_on = |name: &str| self.cluster.iter().any(|pattern| matches(pattern, name));
        let binding = case.binding();
        (self.case.is_empty() || self.case.iter().any(|pattern| names(pattern, case, &binding)))
            && self.namespace.as_ref().is_none_or(|namespace| case.binding.metadata.namespace == *namespace)
            // An error affects all clusters at once.
            && (self.cluster.is_empty()
                || mismatch.differences.is_empty()
                || mismatch.differences.iter().any(|difference| is_on(&difference.name)))
    }
}

/// True if a pattern names a case, by its own name or by its binding.
fn names(pattern: &BindingPattern, case: &Case, binding: &Binding) -> bool {
    matches_parts(&pattern.to_string(), &case.name) || pattern.includes(binding)
}

/// Decides every case of a recording again, under `base` too if there is one, and adds the outcome to `replayed`. A case that
/// cannot be decided, because a plugin needs a time or a table that the recording lacks, ends the run with exit code 2.
fn replay(
    file: &Path,
    recording: &Recording,
    (base, profile): (Option<&Arc<Profile>>, &Arc<Profile>),
    arguments: &ReplayArguments,
    replayed: &mut Replayed,
) -> Result<(), Failure> {
    let keeps_raw = profile.needs_raw_clusters() || base.is_some_and(|base| base.needs_raw_clusters());
    let snapshot = |fleet: &RecordedFleet| {
        let mut store = Fleet::new(keeps_raw);
        store.extend(&fleet.clusters);
        store.snapshot()
    };
    let recorded = recording.fleets.iter();
    let fleets: BTreeMap<&str, FleetSnapshot> =
        recorded.map(|(name, fleet)| (name.as_str(), snapshot(fleet))).collect();
    let runner = |profile: &Arc<Profile>| CaseRunner::new(Arc::clone(profile)).with_tables(&recording.tables);
    let (mut runner, mut base) = (runner(profile), base.map(runner));
    let progress = Progress::counting("replaying", recording.cases.len());
    for case in &recording.cases {
        progress.advance();
        let Some(fleet) = fleets.get(case.fleet.as_str()) else {
            continue;
        };
        let undecided = |error: CycleError| undecided(file, case, &error);
        let of_base = base.as_mut().map(|base| {
            let prepared = base.prepare(case);
            base.try_decide(&prepared, fleet)
        });
        let of_base = of_base.transpose().map_err(undecided)?.map(|(decided, _)| decided);
        let Some(expected) = of_base.as_ref().or(case.expect.as_ref()) else {
            continue;
        };
        let prepared = runner.prepare(case);
        let actual = runner.try_decide(&prepared, fleet).map_err(undecided)?;
        match compare(expected, actual) {
            Ok(()) => replayed.passed += 1,
            Err(mismatch) => {
                replayed.failed += 1;
                if !arguments.shows(case, &mismatch) {
                    replayed.hidden += 1;
                    continue;
                }
                replayed.mismatches.push(Difference {
                    file: file.display().to_string(),
                    line: case.line,
                    name: binding_name(case.binding.scope().kind(), &case.binding.metadata.name),
                    case: case.name.clone(),
                    mismatch,
                });
            }
        }
    }
    Ok(())
}

/// The failure of a case that cannot be decided with the data in the recording.
fn undecided(file: &Path, case: &Case, error: &CycleError) -> Failure {
    let message = format!("{}:{}: case `{}`: {error}", file.display(), case.line, case.name);
    if error.is_defect() {
        return Failure::internal(Diagnostic::new(message).with_hint(Defect::HINT));
    }
    let hint = match error {
        CycleError::TimeUnknown { .. } => {
            "record the decisions with `--time`, or under a profile with a plugin that reads the time"
        }
        CycleError::PlacementsUnknown { .. } => {
            "record the decisions under a profile with a plugin that reads placements"
        }
        _ => "record the decisions under a profile whose plugins read the table",
    };
    Failure::usage(Diagnostic::new(message).with_hint(hint))
}

/// Prints a note for each respect in which profile and plugins differ from those of the recording.
fn report_changes(
    file: &Path,
    (header, time_zones): (&RecordingHeader, &BTreeSet<String>),
    configuration: &ProfileConfiguration,
    profile: &Profile,
    console: &Console,
) -> Result<(), Failure> {
    let mut changes = Vec::new();
    if header.profile != configuration.with_absolute_paths().to_toml()? {
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
    let zones = time_zone_version();
    for recorded in time_zones.iter().filter(|recorded| *recorded != zones) {
        changes.push(format!("the time zone database is {zones}, recorded {recorded}"));
    }
    console.message(|out| {
        for change in &changes {
            writeln!(out, "note: {}: {change}", file.display())?;
        }
        Ok(())
    });
    Ok(())
}

/// Writes one line per difference, and the summary alone on the last line.
fn write_table(replayed: &Replayed, arguments: &ReplayArguments, out: &mut dyn Write) -> std::io::Result<()> {
    let is_wide = arguments.output.is_wide();
    for Difference {
        file,
        line,
        case,
        mismatch,
        ..
    } in &replayed.mismatches
    {
        let stage = mismatch.stage;
        write!(out, "{file}:{line}: {}: ", printable(case))?;
        match mismatch.differences.as_slice() {
            different if is_wide || different.is_empty() => {
                let (expected, actual) = (in_words(&mismatch.expected), in_words(&mismatch.actual));
                write!(out, "expected {expected}, got {actual}")?;
            }
            different => write!(out, "{}", between(different, mismatch, arguments))?,
        }
        write!(out, ", first differs at {stage}")?;
        match mismatch.message.as_str() {
            "" => writeln!(out)?,
            message => writeln!(out, " ({})", printable(message))?,
        }
    }
    if replayed.hidden > 0 {
        writeln!(out, "{} not shown", counted(replayed.hidden, "difference"))?;
    }
    writeln!(out, "{} passed, {} failed", replayed.passed, replayed.failed)
}

/// `2 of 5 clusters differ: member1 3→2, member2 -→1`: requested clusters first.
fn between(different: &[ClusterDifference], mismatch: &Mismatch, arguments: &ReplayArguments) -> String {
    let names: BTreeSet<&str> = [&mismatch.expected, &mismatch.actual]
        .into_iter()
        .flat_map(|expectation| match expectation {
            Expectation::Clusters(clusters) => clusters.as_slice(),
            Expectation::Error(_) => &[],
        })
        .map(|target| target.name.as_str())
        .collect();
    let is_chosen = |difference: &&ClusterDifference| {
        let mut patterns = arguments.cluster.iter();
        arguments.cluster.is_empty() || patterns.any(|pattern| matches(pattern, &difference.name))
    };
    let shown = |count: Option<i32>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let parts = different.iter().filter(is_chosen).map(|difference| {
        let ClusterDifference { name, expected, actual } = difference;
        format!("{name} {}→{}", shown(*expected), shown(*actual))
    });
    let parts: Vec<String> = parts.collect();
    let (count, of) = (different.len(), counted(names.len(), "cluster"));
    let differ = if count == 1 { "differs" } else { "differ" };
    format!(
        "{count} of {of} {differ}: {}",
        listed(parts.iter().map(String::as_str), CLUSTERS_MAX)
    )
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
