//! `divvy schedule`: reads manifests, schedules their bindings and prints the result.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use divvy_karmada::detector::Binding;
use divvy_manifests::Manifests;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::{PlanInput, PlanResult};
use divvy_scheduler::scheduler::{Profile, Scheduler, decide};
use divvy_scheduler::strategy::{InvalidBinding, StrategyContext, resolve_strategy};

use super::input::{InputArguments, workload_kinds};
use super::setup::ProfileArguments;
use super::time::TimeArguments;
use super::{EXIT_CODES, Exit, record};
use crate::report::console::Console;
use crate::report::entry::{ProfileSummary, Report};
use crate::report::errors::{Diagnostic, Failure};
use crate::report::table::{self, TableOptions};
use crate::report::{structured, warnings};

const EXAMPLES: &str = "\
Examples:
  # Where workloads would run, from files and folders
  divvy schedule -f fleet.yaml -f policies/

  # From a live control plane, which is only read
  divvy schedule --kubeconfig karmada.config -n default
  kubectl get clusters,resourcebindings -A -o json | divvy schedule -f -

  # What another strategy would do, and why
  divvy schedule -f fleet.yaml --strategy Average --explain

  # Record decisions, and check a new build of a plugin against them
  divvy schedule -f dump/ --record yesterday.jsonl.gz
  divvy replay yesterday.jsonl.gz --plugin-directory new/

  # What runs where during next week's maintenance, for plugins that read the time
  divvy schedule -f dump/ --time 2026-03-14T02:00:00Z

  # Each binding takes room from those after it, by priority; as JSON
  divvy schedule -f dump/ --assume -o json | jq '.[].result'

In the table, CHANGE is relative to the binding's last result. FREE is how many more replicas fit \
after this decision; it is negative if a strategy that ignores capacity gave a cluster more than \
it holds.";

/// Decide which clusters get how many replicas, from manifests.
///
/// Reads clusters, policies, bindings and workloads as YAML or JSON, decides each binding on its own against the
/// clusters as given, and prints the result. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"), after_help = "See `--help` for examples and exit codes.")]
pub(super) struct ScheduleArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    time: TimeArguments,
    /// Divide every binding with this strategy, regardless of its policy
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Explain each result: rejections, scores, what fits, and the strategy's remarks
    #[arg(long)]
    explain: bool,
    /// Break ties with this seed instead of the profile's
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Record the decisions in a file for `divvy replay`; compressed if its name ends in `.gz`
    ///
    /// With `-`, the recording is written to standard output instead of the result.
    #[arg(long, value_name = "FILE", conflicts_with = "assume")]
    record: Option<PathBuf>,
    /// Let each result take the room of its new replicas from later bindings, by priority, then name
    #[arg(long)]
    assume: bool,
}

/// Output format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns for people
    Table,
    /// The table with one line per cluster, last results, scores, regions, plugins and policies
    Wide,
    /// A JSON array, one object per binding
    Json,
    /// The same data as YAML
    Yaml,
}

/// Reads the manifests, schedules their bindings, and prints the result.
///
/// Any problem in the input ends the run with exit code 2 before anything is scheduled. A binding that fails does not
/// end the run: the report shows its error, and the highest exit code of all bindings is returned.
pub(super) fn run(arguments: &ScheduleArguments, console: &Console) -> Result<Exit, Failure> {
    let directories = arguments.profile.directories()?;
    let mut chosen = arguments.profile.read()?;
    if arguments.seed.is_some() {
        chosen.configuration.seed = arguments.seed;
    }
    let profile = chosen.build(&directories)?;
    if let Some(strategy) = &arguments.strategy {
        check_strategy(strategy, &profile)?;
    }
    let profile = Arc::new(profile.overriding_strategy(arguments.strategy.clone()));
    let kinds = workload_kinds(&chosen.configuration);
    let mut manifests = arguments.input.read(&kinds, profile.needs_raw_clusters())?;
    let detected = manifests.detect(kinds);
    let mut scheduler = Scheduler::new(Arc::clone(&profile))
        .explaining(arguments.explain)
        .assuming(arguments.assume)
        .deciding_at(arguments.time.if_needed(&profile));
    let plans = detected.bindings.iter().map(|binding| scheduler.plan(binding));
    let plans: Vec<PlanResult> = plans.collect();
    // Plans need no cluster, so warnings about bindings come even if the input has problems.
    warnings::tell(&manifests, &detected, &plans, console);
    if !manifests.problems.is_empty() {
        return Err(Failure::input(&manifests.problems));
    }
    let fleet = fleet(&manifests, &profile);
    let started = Instant::now();
    let decisions = decide(&mut scheduler, &detected.bindings, &fleet);
    tracing::info!(bindings = decisions.len(), clusters = fleet.len(), elapsed = ?started.elapsed(), "decided");
    let report = Report::new(&detected.bindings, &decisions, &fleet, ProfileSummary::of(&profile));
    // Before the report: a recording that cannot be written must not look like a run that succeeded.
    if let Some(file) = &arguments.record {
        record::write(file, &manifests, &report, &profile, &chosen.configuration, console)?;
    }
    if !arguments.record.as_deref().is_some_and(record::is_standard_output) {
        print(&report, arguments, console)?;
    }
    log_metrics(&profile);
    // After the report, where a note about missing policies is not scrolled away.
    warnings::tell_unmatched(&detected, console);
    Ok(report.exit())
}

/// Logs what the plugins counted.
fn log_metrics(profile: &Profile) {
    for plugin in profile.plugins() {
        let (name, metrics) = (plugin.name(), plugin.metrics());
        for (counter, value) in &metrics.counters {
            tracing::info!(plugin = name, counter, value, "plugin counted");
        }
        for (histogram, figures) in &metrics.histograms {
            tracing::info!(
                plugin = name,
                histogram,
                values = figures.count(),
                sum = figures.sum,
                "plugin measured"
            );
        }
    }
}

/// Rejects a strategy that no plugin of the profile serves, before any manifest is read. The error lists the known
/// ones, nearest first.
pub(super) fn check_strategy(strategy: &str, profile: &Profile) -> Result<(), Failure> {
    // Names are resolved as in manifests, so that the command line accepts what a policy may say.
    let context = StrategyContext {
        declarations: profile.declarations(),
        strategy_override: Some(strategy),
        affinity_groups_as_tiers: false,
    };
    let understood = resolve_strategy(&PlanInput::new(&Binding::default()), context);
    let Err(InvalidBinding::UnknownStrategy { known, .. }) = understood else {
        return Ok(());
    };
    let message = format!("unknown strategy `{strategy}`");
    let hint = match known.as_slice() {
        [] => "the profile has no strategy: name plugins in `assign`".to_owned(),
        known => format!("known, nearest first: {}", known.join(", ")),
    };
    Err(Failure::usage(Diagnostic::new(message).with_hint(hint)))
}

/// Snapshot of the clusters, against which every binding is scheduled.
fn fleet(manifests: &Manifests, profile: &Profile) -> FleetSnapshot {
    let mut fleet = Fleet::new(profile.needs_raw_clusters());
    for cluster in &manifests.clusters {
        fleet.upsert_with_json(&cluster.object, cluster.json.as_deref());
    }
    fleet.snapshot()
}

fn print(report: &Report<'_>, arguments: &ScheduleArguments, console: &Console) -> Result<(), Failure> {
    let options = TableOptions {
        wide: arguments.output == Format::Wide,
        explain: arguments.explain,
        bars: console.has_bars(),
        columns: console.width(),
    };
    console.print(|out: &mut dyn Write| match arguments.output {
        Format::Table | Format::Wide => table::write(report, options, out),
        Format::Json => structured::write_json(report, out),
        Format::Yaml => structured::write_yaml(report, out),
    })
}
