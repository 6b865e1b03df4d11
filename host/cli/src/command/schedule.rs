//! `divvy schedule`: reads manifests, schedules their bindings and prints the result.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use divvy_forecast::cluster_view::{self, Placed};
use divvy_forecast::cost;
use divvy_forecast::document::ClusterRow;
use divvy_forecast::plans::PlanSummaries;
use divvy_forecast::situation::{ClusterEntry, Situation, assigned};
use divvy_karmada::api::Cluster;
use divvy_karmada::detector::{Binding, Detected};
use divvy_manifests::{Manifests, Warning, WorkloadLabels};
use divvy_page::Explanations;
use divvy_scheduler::cycle::Detail;
use divvy_scheduler::decision::{Decision, Scheduler, decide_each};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::{PlanInput, PlanResult};
use divvy_scheduler::profile::Profile;
use divvy_scheduler::strategy::{InvalidBinding, StrategyContext, resolve_strategy};

use super::choosing::{ChoosingArguments, Shown};
use super::input::{InputArguments, workload_kinds};
use super::origin::heading;
use super::output::{Output, OutputParser, binding_name, check_destination, cluster_names};
use super::setup::ProfileArguments;
use super::tables::check_clusters;
use super::time::TimeArguments;
use super::{clusters, logging, moving, record};
use crate::exit::{EXIT_CODES, Exit};
use crate::report::clusters::targets::{Packer, Targets};
use crate::report::console::Console;
use crate::report::costs::Pricer;
use crate::report::entry::{Decided, ProfileSummary, Report, message};
use crate::report::errors::{Diagnostic, Failure, headline};
use crate::report::form::Form;
use crate::report::format::{Content, Printed};
use crate::report::layout::Layout;
use crate::report::loads::{gone, loads};
use crate::report::page::{self, ExplainedBindings};
use crate::report::progress::Progress;
use crate::report::table::{self, TableOptions};
use crate::report::{binding_errors, cluster_views, structured, style, warnings};

const EXAMPLES: &str = "\
Examples:
  # Where workloads would run, from files and folders
  divvy schedule -f fleet.yaml -f policies/

  # From a live control plane, which is only read
  divvy schedule --kubeconfig karmada.config -n default
  kubectl get clusters,resourcebindings -A -o json | divvy schedule -f -

  # Some bindings, or everything from one cluster's view; all are decided
  divvy schedule -f dump/ deployment/web 'shop/*'
  divvy schedule -f dump/ -n shop -l 'tier in (gold,silver)' -o wide
  divvy schedule -f dump/ --cluster eu-1

  # What another strategy would do, and why
  divvy schedule -f fleet.yaml --strategy Average --explain

  # Record decisions, and check a new build of a plugin against them
  divvy schedule -f dump/ --record yesterday.jsonl.gz
  divvy replay yesterday.jsonl.gz --plugin-directory new/

  # What runs where during next week's maintenance, for plugins that read the time
  divvy schedule -f dump/ --time 2026-03-14T02:00:00Z

  # As a page with charts for a browser, which needs no network
  divvy schedule -f dump/ -o html > report.html

  # Count the new replicas of each result as used, by priority; as JSON
  divvy schedule -f dump/ --assume -o json | jq .totals
  divvy schedule -f dump/ -o jsonpath='{range .bindings[*]}{.binding}={.result}{\"\\n\"}{end}'

In the table, CHANGE is relative to the binding's last result. FREE is the number of further replicas \
that fit after this decision. Replicas that it takes away still run, so their capacity does not count \
as free yet. FREE is negative if a strategy that ignores capacity gave a cluster more than it holds.";

/// Decide which clusters get how many replicas, from manifests.
///
/// Reads clusters, policies, bindings and workloads as YAML or JSON, decides each binding on its own against the
/// clusters as given, and prints the result. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"), after_help = "See `--help` for examples and exit codes.")]
pub(super) struct ScheduleArguments {
    #[command(flatten)]
    choosing: ChoosingArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    time: TimeArguments,
    /// Divide every binding with this strategy, regardless of its policy
    #[arg(long, value_name = "STRATEGY", value_hint = clap::ValueHint::Other)]
    strategy: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table")]
    output: Output,
    /// Explain each result: rejections, scores, replicas that fit, and the strategy's remarks
    #[arg(long)]
    explain: bool,
    /// Break ties with this seed instead of the profile's
    #[arg(long, value_name = "NUMBER", value_parser = super::seed::parse, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Record the decisions in a file for `divvy replay`; compressed if its name ends in `.gz`
    ///
    /// With `-`, the recording is written to standard output instead of the result.
    #[arg(long, value_name = "FILE", conflicts_with = "assume")]
    record: Option<PathBuf>,
    /// Decide by priority, then name, and count the new replicas of each result as used
    #[arg(long)]
    assume: bool,
}

/// Reads the manifests, schedules their bindings, and prints the result.
///
/// Any problem in the input ends the run with exit code 2 before anything is scheduled, or leaves out its object. A binding that fails does not
/// end the run: the report shows its error, and the highest exit code of all bindings is returned.
pub(super) fn run(arguments: &ScheduleArguments, console: &Console) -> Result<Exit, Failure> {
    let has_page = arguments.output.is_page();
    check_destination(&arguments.output, "schedule", console)?;
    let directories = arguments.profile.directories()?;
    let mut chosen = arguments.profile.read()?;
    if arguments.seed.is_some() {
        chosen.configuration.seed = arguments.seed;
    }
    let profile = chosen.build(&directories)?;
    let strategy = arguments.strategy.as_deref();
    let strategy = strategy
        .map(|strategy| check_strategy(strategy, &profile))
        .transpose()?;
    let profile = Arc::new(profile.overriding_strategy(strategy));
    let kinds = workload_kinds(&chosen.configuration);
    let choosing = &arguments.choosing;
    let (mut manifests, origin) = arguments.input.read(&kinds, profile.needs_raw_clusters())?;
    let live = choosing.live_workloads(&arguments.input, &manifests, console)?;
    let labels = choosing.labels(&manifests, &live);
    let mut detected = manifests.detect(kinds);
    // Explanations of thousands of decisions do not fit into memory: each decision is made again when it is written. That is not
    // possible where a result affects the next ones, and where plugins are watched.
    let explains_later = arguments.explain
        && !arguments.assume
        && console.verbosity() == 0
        && !has_page
        && !arguments.output.is_markdown()
        && !choosing.shows_clusters();
    let explains_now = arguments.explain || has_page || choosing.shows_clusters() || logging::gives_reasons(console);
    // A page of a large fleet explains the clusters that have or had replicas.
    let is_brief = has_page
        && !choosing.shows_clusters()
        && !logging::gives_reasons(console)
        && !page::explains_everything(detected.bindings.len(), manifests.clusters.len());
    let scheduler = Scheduler::new(Arc::clone(&profile))
        .keeping_no_plans()
        .explaining_in(match (explains_now && !explains_later, is_brief) {
            (false, _) => None,
            (true, false) => Some(Detail::Full),
            (true, true) => Some(Detail::Assigned),
        })
        .assuming(arguments.assume)
        .deciding_at(arguments.time.if_needed(&profile));
    let selected = arguments.input.judge(&manifests.problems, console);
    let selected = selected.and_then(|left_out| {
        let selected = select(choosing, &manifests, &detected, &labels, (&profile, console))?;
        Ok((left_out, selected))
    });
    let (left_out, (shown, clusters)) = match selected {
        Ok(selected) => selected,
        Err(failure) => {
            // Plans need no cluster, so warnings about bindings come even if the input has problems.
            if !choosing.quiet {
                let findings = PlanFindings::of(&detected.bindings, &scheduler, &profile);
                report_warnings(&manifests, &mut detected, true, findings, console);
            }
            return Err(failure);
        }
    };
    if let Some(file) = &arguments.record {
        let plugins = profile.plugins().map(|plugin| plugin.library().path().to_owned());
        let tables = profile.tables().map_or(&[][..], |tables| tables.tables()).iter();
        let read = arguments.profile.files().into_iter().chain(plugins);
        let read = read.chain(tables.map(|table| table.source().file.clone()));
        record::check_target(file, manifests.files.iter().cloned().chain(read))?;
    }
    let fleet = fleet(&manifests, &profile);
    let explaining = explains_later.then(|| {
        let scheduler = scheduler.another().explaining(true);
        Mutex::new(scheduler.knowing_placements_of(&detected.bindings))
    });
    let started = Instant::now();
    let (mut explanations, mut explained) = (Explanations::for_scope(is_brief), ExplainedBindings::new());
    let deciding = Deciding {
        scheduler,
        bindings: &detected.bindings,
        fleet: &fleet,
        threads: if logging::gives_reasons(console) {
            // On one thread, so that the messages of a decision stay together.
            NonZeroUsize::MIN
        } else {
            divvy_parallel::threads()
        },
        keeps_plans: arguments.explain && !explains_later
            || arguments.record.is_some()
            || logging::gives_reasons(console),
    };
    let progress = Progress::counting("deciding", detected.bindings.len());
    let (decisions, findings) = deciding.run(|binding, decision| {
        progress.advance();
        if let (true, Some(explanation)) = (has_page, &decision.explanation) {
            let kind = binding.object.scope().kind();
            let reasons = explanations.add(explanation, &message(&decision.outcome));
            explained.insert((decision.binding.clone(), kind), reasons);
            // The page has already taken what it needs from the explanation.
            decision.explanation.take_if(|_| !logging::gives_reasons(console));
        }
        let is_shown = choosing.shows_clusters() || logging::gives_reasons(console) || shown.includes(binding);
        decision.explanation.take_if(|_| !is_shown);
    });
    drop(progress);
    if !choosing.quiet {
        report_warnings(&manifests, &mut detected, true, findings, console);
    }
    tracing::info!(bindings = decisions.len(), clusters = fleet.len(), elapsed = ?started.elapsed(), "decided");
    decisions
        .iter()
        .for_each(|decided| logging::decision(&decided.decision));
    let mut report = Report::new(&detected.bindings, &decisions, &fleet, ProfileSummary::of(&profile));
    // Before the report: a recording that cannot be written must not look like a run that succeeded.
    if let Some(file) = &arguments.record {
        let recorded = record::write(file, &manifests, &report, &profile, &chosen.configuration, console)?;
        if let (Some(replaced), false) = (recorded, choosing.quiet) {
            let message = format!("replaced `{}`", replaced.display());
            console.message(|out| headline(out, "note", style::HINT, &message));
        }
    }
    let clusters_read = manifests.clusters.iter().map(|cluster| &cluster.object);
    report.pricer = profile.pricing().map(|pricing| Pricer::new(pricing, clusters_read));
    report.explains = arguments.explain;
    report.strategy = profile.plan_options().strategy_override.clone();
    report.assumes = arguments.assume;
    report.explaining = explaining;
    report.left_out = left_out.objects;
    let exit = report.exit().max(left_out.exit);
    let output = &arguments.output;
    if choosing.shows_clusters() || has_page || output.is_wide() || output.is_data() {
        report.clusters = totals(&report, &manifests, &profile);
        let clusters = manifests.clusters.iter();
        let clusters: HashMap<&str, &Cluster> = clusters
            .map(|located| (located.object.metadata.name.as_str(), &located.object))
            .collect();
        let gone = gone(&report, &profile).costs(|name| clusters.get(name).copied());
        report.cost = cost::total(&report.clusters, gone.as_ref(), profile.pricing());
    }
    let prints_report = !choosing.quiet && !arguments.record.as_deref().is_some_and(record::is_standard_output);
    let shows_errors = prints_report && arguments.output.shows_errors() && !choosing.shows_clusters();
    binding_errors::report(
        &report.errors(|binding| !(shows_errors && shown.includes(binding))),
        console,
    );
    report.retain(|binding| shown.includes(binding));
    if prints_report {
        match choosing.shows_clusters() {
            _ if has_page => {
                let explained = (explanations, explained);
                let mut content = page::decisions(&report, &profile, arguments.assume, explained);
                content.heading = heading(&origin, &arguments.time)?;
                if choosing.shows_clusters() {
                    content.retain_clusters(&clusters);
                }
                page::print(&content, console)?;
            }
            true => print_views(&clusters, &report, arguments, console)?,
            false => print(&report, arguments, console)?,
        }
    }
    if !choosing.quiet {
        if exit > report.exit().max(left_out.exit) {
            let message = "bindings that are not shown determine the exit code";
            console.message(|out| headline(out, "note", style::HINT, message));
        }
        // After the report, where a note about missing policies is not scrolled away.
        warnings::report_unmatched(&detected, console);
    }
    log_metrics(&profile);
    drop(report);
    // The process is about to end, and freeing hundreds of thousands of objects one by one takes a second.
    std::mem::forget((manifests, detected, decisions));
    Ok(exit)
}

/// The bindings and the clusters to show. A part that matches nothing ends the run.
fn select<'a>(
    choosing: &ChoosingArguments,
    manifests: &'a Manifests,
    detected: &Detected,
    labels: &WorkloadLabels,
    (profile, console): (&Profile, &Console),
) -> Result<(Shown, Vec<&'a str>), Failure> {
    let shown = choosing.shown(detected.bindings.iter(), labels)?;
    let clusters = manifests.clusters.iter().map(|cluster| &cluster.object);
    let selected = choosing.clusters(clusters.clone())?;
    check_clusters([profile], clusters, (!choosing.quiet).then_some(console));
    Ok((shown, selected))
}

/// All bindings, to be decided against one snapshot.
struct Deciding<'a> {
    scheduler: Scheduler,
    bindings: &'a [Binding],
    fleet: &'a FleetSnapshot,
    threads: NonZeroUsize,
    /// True if more of the plans is read than the strategy.
    keeps_plans: bool,
}

impl Deciding<'_> {
    /// Decides, on all threads if no result affects another, and passes each decision to `each` in the order in which one thread
    /// would make them. Returns them in the order of the bindings, with the findings from their plans.
    fn run(self, mut each: impl FnMut(&Binding, &mut Decision)) -> (Vec<Decided>, PlanFindings) {
        let Self {
            mut scheduler,
            bindings,
            fleet,
            threads,
            keeps_plans,
        } = self;
        let (profile, mut findings) = (Arc::clone(scheduler.profile()), PlanFindings::default());
        if scheduler.ledger().is_some() {
            let decided = decide_each(&mut scheduler, bindings, fleet, |index, decision| {
                let targets = Targets::take(decision, fleet);
                findings.add(index, Finding::of_decision(decision, &bindings[index], &profile));
                each(&bindings[index], decision);
                targets
            });
            let decided = decided
                .into_iter()
                .map(|(decision, targets)| Decided { decision, targets });
            // In the order of the bindings, whatever the order of the decisions.
            findings.warnings.sort_by_key(|(index, _)| *index);
            return (decided.collect(), findings);
        }
        let scheduler = Mutex::new(scheduler.knowing_placements_of(bindings));
        let mut decided = Vec::with_capacity(bindings.len());
        let worker = || {
            // No thread panics while it holds the lock.
            let mut scheduler = scheduler.lock().unwrap_or_else(PoisonError::into_inner).another();
            let (profile, mut summaries, mut packer) = (&profile, PlanSummaries::default(), Packer::default());
            move |binding: &Binding| {
                let mut decision = scheduler.schedule_rows(binding, fleet, &mut |row, replicas, figures| {
                    packer.add(row, replicas, figures);
                });
                let targets = packer.finish();
                let finding = Finding::of_decision(&decision, binding, profile);
                if !keeps_plans {
                    summaries.put_into(&mut decision);
                }
                (Decided { decision, targets }, finding)
            }
        };
        let Ok(()) = divvy_parallel::each(bindings, threads, worker, |(mut one, finding): (Decided, Finding)| {
            findings.add(decided.len(), finding);
            each(&bindings[decided.len()], &mut one.decision);
            decided.push(one);
            Ok::<(), Infallible>(())
        });
        (decided, findings)
    }
}

/// Findings from the plans of all bindings. The plans are not kept.
#[derive(Default)]
pub(super) struct PlanFindings {
    /// Warnings, each with the index of its binding.
    warnings: Vec<(usize, Warning)>,
    /// True if the replicas of a binding are divided by a strategy that respects capacity.
    divides_by_capacity: bool,
}

/// Findings from one plan.
#[derive(Default)]
struct Finding {
    warnings: Vec<Warning>,
    divides_by_capacity: bool,
}

impl Finding {
    /// Findings from the plan of a decision, and from the decision.
    fn of_decision(decision: &Decision, binding: &Binding, profile: &Profile) -> Self {
        let mut finding = Self::of(&decision.plan, binding, profile);
        let skipped = decision.without.iter();
        finding
            .warnings
            .extend(skipped.map(|skipped| Warning::new(skipped.to_string())));
        finding
    }

    fn of(plan: &PlanResult, binding: &Binding, profile: &Profile) -> Self {
        let Ok(plan) = plan.as_ref() else {
            return Self::default();
        };
        let strategy = profile.strategy(&plan.strategy);
        let respects_capacity = strategy.is_ok_and(|strategy| strategy.respects_capacity());
        Self {
            warnings: plan.warnings.clone(),
            divides_by_capacity: binding.is_workload() && respects_capacity,
        }
    }
}

impl PlanFindings {
    /// Findings of bindings that are not decided, or not all at once.
    pub(super) fn of(bindings: &[Binding], scheduler: &Scheduler, profile: &Profile) -> Self {
        let scheduler = Mutex::new(scheduler.another().keeping_no_plans());
        let worker = || {
            // No thread panics while it holds the lock.
            let mut scheduler = scheduler.lock().unwrap_or_else(PoisonError::into_inner).another();
            move |binding: &Binding| Finding::of(&scheduler.plan(binding), binding, profile)
        };
        let (mut findings, mut indices) = (Self::default(), 0..);
        let Ok(()) = divvy_parallel::each(bindings, divvy_parallel::threads(), worker, |finding| {
            if let Some(index) = indices.next() {
                findings.add(index, finding);
            }
            Ok::<(), Infallible>(())
        });
        findings
    }

    fn add(&mut self, index: usize, finding: Finding) {
        let warnings = finding.warnings.into_iter();
        self.warnings.extend(warnings.map(|warning| (index, warning)));
        self.divides_by_capacity |= finding.divides_by_capacity;
    }
}

/// Prints warnings about the input, about clusters and about bindings. `names_missing` adds one about replicas on clusters
/// that the input lacks.
pub(super) fn report_warnings(
    manifests: &Manifests,
    detected: &mut Detected,
    names_missing: bool,
    findings: PlanFindings,
    console: &Console,
) {
    let mut more = clusters::warnings(manifests, &detected.bindings, findings.divides_by_capacity);
    if names_missing {
        more.extend(clusters::missing(manifests, &detected.bindings));
    }
    more.extend(moving::warnings(&detected.bindings));
    detected.warnings.extend(more);
    let of_plans = findings.warnings.into_iter();
    let of_plans: Vec<(&Binding, Warning)> = of_plans
        .filter_map(|(index, warning)| Some((detected.bindings.get(index)?, warning)))
        .collect();
    warnings::report(manifests, detected, &of_plans, console);
}

/// Logs the plugins' counters and histograms.
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

/// Replicas and resources of every cluster, before and after all decisions.
fn totals(report: &Report<'_>, manifests: &Manifests, profile: &Profile) -> Vec<ClusterRow> {
    let clusters = manifests.clusters.iter().map(|located| ClusterEntry {
        object: located.object.clone(),
        json: None,
    });
    cluster_view::totals(&Situation::new(clusters, []), profile.pricing(), loads(report))
}

fn print_views(
    clusters: &[&str],
    report: &Report<'_>,
    arguments: &ScheduleArguments,
    console: &Console,
) -> Result<(), Failure> {
    let placed = report.entries.iter().map(|entry| Placed {
        binding: entry.binding,
        strategy: entry.decision.strategy().to_owned(),
        result: entry.decision.outcome.word(),
        message: entry.message(),
        before: assigned(entry.binding),
        base: None,
        after: entry.after(&report.names),
        explanation: entry.decision.explanation.as_ref(),
    });
    let mut document = cluster_view::views(clusters, &report.clusters, &placed.collect::<Vec<_>>());
    document.totals.left_out = report.left_out;
    let content = Printed {
        document: &document,
        names: || cluster_names(&document),
        table: |out: &mut dyn Write, layout| cluster_views::write(&document, out, layout),
    };
    arguments.output.print(&content, console)
}

/// The strategy that an argument names. Case does not matter on the command line, as long as the name is unambiguous.
///
/// Rejects one that no plugin of the profile serves, before any manifest is read. The error lists the known ones, nearest
/// first.
pub(super) fn check_strategy(strategy: &str, profile: &Profile) -> Result<String, Failure> {
    let known = profile.strategies().map(|known| known.name().to_owned());
    let mut meant = known.filter(|known| known.eq_ignore_ascii_case(strategy));
    let strategy = &match (meant.next(), meant.next()) {
        (Some(one), None) => one,
        _ => strategy.to_owned(),
    };
    // Names are resolved as in manifests, so that the command line accepts what a policy may say.
    let context = StrategyContext {
        declarations: profile.declarations(),
        strategy_override: Some(strategy),
        affinity_groups_as_tiers: false,
    };
    let understood = resolve_strategy(&PlanInput::new(&Binding::default()), context);
    let Err(error @ InvalidBinding::UnknownStrategy { .. }) = &understood else {
        return Ok(strategy.clone());
    };
    let message = format!("unknown strategy `{strategy}`");
    let hint = profile.hint_at(error).unwrap_or_else(|| match error {
        InvalidBinding::UnknownStrategy { known, .. } if !known.is_empty() => {
            format!("known, nearest first: {}", known.join(", "))
        }
        _ => "the profile has no strategy: name plugins in `assign`".to_owned(),
    });
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
        wide: arguments.output.is_wide(),
        explain: arguments.explain,
        bars: console.has_bars(),
        colours: console.has_colours(),
        columns: console.width(),
    };
    arguments.output.print(&Decisions { report, options }, console)
}

/// The decisions as formats print them.
struct Decisions<'a> {
    report: &'a Report<'a>,
    options: TableOptions,
}

impl Content for Decisions<'_> {
    fn write_text(&self, layout: Layout, out: &mut dyn Write) -> std::io::Result<()> {
        match layout {
            Layout::Terminal(_) => table::write(self.report, self.options, out),
            Layout::Markdown => table::write_markdown(self.report, self.options, out),
        }
    }

    // Rows are made when they are written, on all cores, because all of them together may not fit into memory.
    fn write_data(&self, form: Form, out: &mut dyn Write) -> std::io::Result<()> {
        structured::write_document(self.report, form, out)
    }

    fn data(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(structured::document(self.report))
    }

    fn names(&self) -> Vec<String> {
        let entries = self.report.entries.iter();
        let names = entries.map(|entry| binding_name(entry.binding.object.scope().kind(), &entry.decision.binding));
        names.collect()
    }
}
