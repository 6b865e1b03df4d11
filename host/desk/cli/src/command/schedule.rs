//! `divvy schedule`: where the bindings of the manifests would run.

mod completing;
mod deciding;
mod explaining;
mod findings;
mod printing;

use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use deciding::{AllDecided, Deciding};
use divvy_forecast::cluster_view::{self, ClusterViewsDocument, Placed};
use divvy_forecast::situation::assigned;
use divvy_karmada::api::PropagationPolicy;
use divvy_karmada::detector::{Binding, Detected};
use divvy_manifests::{Located, Manifests, WorkloadLabels};
use divvy_page::Explanations;
use divvy_profile::ProfileConfiguration;
use divvy_scheduler::cycle::Detail;
use divvy_scheduler::decision::{Decision, Scheduler};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::PlanInput;
use divvy_scheduler::profile::Profile;
use divvy_scheduler::strategy::{InvalidBinding, StrategyContext, resolve_strategy};
use explaining::Explaining;
pub(super) use findings::{PlanFindings, report_warnings};
use printing::Decisions;

use super::choosing::{ChoosingArguments, Shown};
use super::desk::{Answer, Document, Presentation, Question};
use super::help::{ANSWER, ASSUMPTIONS, DECIDING, HelpArguments};
use super::input::{InputArguments, LeftOut};
use super::origin::Origin;
use super::output::{Output, OutputParser, cluster_names};
use super::tables::check_clusters;
use super::{effects, reasons, record};
use crate::report::binding_errors::BindingError;
use crate::report::entry::{self, Jointly, ProfileSummary, Report, message};
use crate::report::format::Printed;
use crate::report::page::{self, ExplainedBindings};
use crate::report::table::TableOptions;
use crate::report::{cluster_views, warnings};
use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure, headline};
use divvy_command::exit::EXIT_CODES;
use divvy_command::progress::Progress;
use divvy_command::reading::workload_kinds;
use divvy_command::setup::ProfileArguments;
use divvy_command::style;
use divvy_command::time::TimeArguments;

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

  # A fleet of thousands: the ten bindings that are worst off; all count
  divvy schedule -f dump/ --top 10

  # What another strategy would do, and why
  divvy schedule -f fleet.yaml --strategy Average --explain

  # Record decisions, and check a new build of a plugin against them
  divvy schedule -f dump/ --record yesterday.jsonl.gz
  divvy replay yesterday.jsonl.gz --plugin-directory new/

  # What runs where during next week's maintenance, for plugins that read the time
  divvy schedule -f dump/ --time 2026-03-14T02:00:00Z

  # As a page with charts for a browser, which needs no network
  divvy schedule -f dump/ -o html > report.html

  # A burst at once: as one plan, which may place what waits one after another
  divvy schedule -f dump/ --jointly --explain

  # Count the new replicas of each result as used, by priority; as JSON
  divvy schedule -f dump/ --assume -o json | jq .totals
  divvy schedule -f dump/ -o jsonpath='{range .bindings[*]}{.binding}={.result}{\"\\n\"}{end}'

In the table, CHANGE is relative to the binding's last result. FREE is the number of further replicas \
that fit after this decision. Replicas that it takes away still run, so their capacity does not count \
as free yet. FREE is negative if a strategy that ignores capacity gave a cluster more than it holds.

Each binding is decided on its own against what clusters report, as Karmada's scheduler decides one that \
it is asked about, so that a result does not depend on which other bindings are in the input. Together, \
results may exceed the room of a cluster, which a line below the table and `beyondCapacity` in JSON say. With \
`--assume`, each result counts as used for those after it, as in `diff`, `headroom` and `survive`, which \
forecast the whole fleet.

With `--jointly`, bindings are decided as with `--assume`. If some then wait for room, all that need replicas are planned \
together: what is not running yet goes elsewhere where that places more, the highest priority first, each binding with all \
its replicas. What runs stays. Every part of the plan is decided by the binding's own plugins; what they refuse, and what \
the plan leaves out, is decided as with `--assume`. So is everything if no plan places more. Strategies that do not \
divide by room, bindings with several affinity groups or in a workload affinity group, and those that are to be rescheduled \
are decided as ever, and count as used.";

/// The end of the short page.
const SUMMARY: &str = "\
Examples:
  divvy schedule -f fleet.yaml -f policies/
  divvy schedule --kubeconfig karmada.config -n default
  divvy schedule -f dump/ shop/deployment/web --explain
  divvy schedule -f dump/ --assume -o html > report.html

Exit codes: 0 everything was scheduled, 1 something was not, 2 wrong usage, input or binding, 3 Divvy failed.
`divvy help schedule` has every option in full, more examples, and what the columns mean.";

/// Decide which clusters get how many replicas, from manifests.
///
/// Reads clusters, policies, bindings and workloads as YAML or JSON, decides each binding on its own against the
/// clusters as given, and prints the result. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"), after_help = SUMMARY)]
pub(super) struct ScheduleArguments {
    #[command(flatten)]
    choosing: ChoosingArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten, next_help_heading = DECIDING)]
    profile: ProfileArguments,
    #[command(flatten, next_help_heading = ASSUMPTIONS)]
    time: TimeArguments,
    /// Divide every binding with this strategy, regardless of its policy
    #[arg(long, value_name = "STRATEGY", value_hint = clap::ValueHint::Other, help_heading = DECIDING)]
    strategy: Option<String>,
    /// Print at most this many bindings, the worst first; all count
    #[arg(long, value_name = "N", conflicts_with = "cluster", help_heading = ANSWER)]
    top: Option<usize>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table", help_heading = ANSWER)]
    output: Output,
    /// Explain each result: rejections, scores, replicas that fit, and the strategy's remarks
    #[arg(long, help_heading = ANSWER)]
    explain: bool,
    /// Break ties with this seed instead of the profile's
    #[arg(long, value_name = "NUMBER", value_parser = divvy_command::seed::parse, allow_negative_numbers = true, help_heading = DECIDING)]
    seed: Option<u64>,
    /// Record the decisions in a file for `divvy replay`; compressed if its name ends in `.gz`
    ///
    /// With `-`, the recording is written to standard output instead of the result.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["assume", "jointly"], help_heading = ANSWER)]
    record: Option<PathBuf>,
    /// Decide by priority, then name, and count the new replicas of each result as used
    #[arg(long, help_heading = ASSUMPTIONS)]
    assume: bool,
    /// Decide all bindings as one plan that places more than one after another, and moves nothing that runs; implies `--assume`
    #[arg(long, help_heading = ASSUMPTIONS)]
    jointly: bool,
    #[command(flatten)]
    _help: HelpArguments,
}

/// Everything that is known before the first decision.
pub(super) struct Input {
    profile: Arc<Profile>,
    configuration: ProfileConfiguration,
    /// Never freed, as the bindings and the decisions: the process is about to end, and freeing hundreds of thousands of objects one by
    /// one takes a second.
    manifests: ManuallyDrop<Manifests>,
    detected: ManuallyDrop<Detected>,
    /// The policies, which detection takes out of the manifests.
    policies: ManuallyDrop<Vec<Located<PropagationPolicy>>>,
    fleet: FleetSnapshot,
    origin: Origin,
    left_out: LeftOut,
    /// Bindings to show.
    shown: Shown,
    /// Clusters to show; empty for all.
    clusters: Vec<String>,
}

/// All decisions, in the order of the bindings.
pub(super) struct Decided {
    decisions: ManuallyDrop<Vec<entry::Decided>>,
    /// Explanations that a page shows.
    explanations: Explanations,
    explained: ExplainedBindings,
    /// Explains the decisions before they are printed; `None` if they are explained already, or not at all.
    explaining: Option<Explaining>,
    /// What one plan for all bindings has placed; `None` if they are decided one after another.
    jointly: Option<Jointly>,
}

impl Question for ScheduleArguments {
    const COMMAND: &'static str = "schedule";
    type Input = Input;
    type Decided = Decided;

    fn read(&self, console: &Console) -> Result<Input, Failure> {
        let (chosen, profile) = self.load()?;
        let kinds = workload_kinds(&chosen.configuration);
        let (mut manifests, origin) = self.input.read(&kinds, profile.needs_raw_clusters())?;
        let live = self.choosing.live_workloads(&self.input, &manifests, console)?;
        let labels = self.choosing.labels(&manifests, &live);
        let policies = manifests.policies.clone();
        let mut detected = manifests.detect(kinds);
        let selected = self.input.judge(&manifests.problems, console).and_then(|left_out| {
            let (shown, clusters) = self.select(&manifests, &detected, &labels, (&profile, console))?;
            Ok((left_out, shown, clusters))
        });
        let (left_out, shown, clusters) = selected.inspect_err(|_| {
            // Plans need no cluster, so warnings about bindings come even if the input has problems.
            if !self.choosing.quiet {
                let scheduler = Scheduler::new(Arc::clone(&profile));
                let findings = PlanFindings::of(&detected.bindings, &scheduler, &profile);
                report_warnings(&manifests, &mut detected, true, findings, console);
            }
        })?;
        self.check_recording(&manifests, &profile)?;
        Ok(Input {
            fleet: fleet(&manifests, &profile),
            profile,
            configuration: chosen.configuration,
            manifests: ManuallyDrop::new(manifests),
            detected: ManuallyDrop::new(detected),
            policies: ManuallyDrop::new(policies),
            origin,
            left_out,
            shown,
            clusters,
        })
    }

    fn decide(&self, input: &mut Input, console: &Console) -> Result<Decided, Failure> {
        let detail = self.detail(input, console);
        let scheduler = Scheduler::new(Arc::clone(&input.profile))
            .keeping_no_plans()
            .explaining_in(detail)
            .assuming(self.assumes())
            .deciding_at(self.time.if_needed(&input.profile));
        let explaining = self.explains_in_pass(console).then(|| {
            let scheduler = scheduler.another().explaining(true);
            Explaining::new(scheduler.knowing_placements_of(&input.detected.bindings))
        });
        let started = Instant::now();
        let gives_reasons = reasons::gives_reasons(console);
        let deciding = Deciding {
            scheduler,
            bindings: &input.detected.bindings,
            fleet: &input.fleet,
            threads: match gives_reasons {
                // On one thread, so that the messages of a decision stay together.
                true => NonZeroUsize::MIN,
                false => divvy_parallel::threads(),
            },
            is_joint: self.jointly,
            keeps_plans: self.explain && explaining.is_none() || self.record.is_some() || gives_reasons,
        };
        let mut explanations = Explanations::for_scope(detail == Some(Detail::Assigned));
        let mut explained = ExplainedBindings::new();
        let progress = Progress::counting("deciding", input.detected.bindings.len());
        let decided = deciding.run(|binding, decision| {
            progress.advance();
            if self.output.is_page() {
                explain_on_page(binding, decision, &mut explanations, &mut explained);
                // The page has already taken what it needs from the explanation.
                decision.explanation.take_if(|_| !gives_reasons);
            }
            let is_shown = self.choosing.shows_clusters() || gives_reasons || input.shown.includes(binding);
            decision.explanation.take_if(|_| !is_shown);
        });
        drop(progress);
        let AllDecided {
            decisions,
            findings,
            jointly,
        } = decided;
        if !self.choosing.quiet {
            report_warnings(&input.manifests, &mut input.detected, true, findings, console);
        }
        tracing::info!(bindings = decisions.len(), clusters = input.fleet.len(), elapsed = ?started.elapsed(), "decided");
        decisions
            .iter()
            .for_each(|decided| reasons::decision(&decided.decision));
        Ok(Decided {
            decisions: ManuallyDrop::new(decisions),
            explanations,
            explained,
            explaining,
            jointly,
        })
    }

    fn answer<'a>(
        &'a self,
        input: &'a Input,
        decided: &'a mut Decided,
        console: &Console,
    ) -> Result<Answer<'a>, Failure> {
        let Decided {
            decisions,
            explanations,
            explained,
            explaining,
            jointly,
        } = decided;
        let summary = ProfileSummary::of(&input.profile);
        let mut report = Report::new(&input.detected.bindings, decisions, &input.fleet, summary);
        // Before the report: a recording that cannot be written must not look like a run that succeeded.
        self.write_recording(input, &report, console)?;
        self.complete(&mut report, input, *jointly);
        let left_out = input.left_out.exit;
        let exit = report.exit().max(left_out);
        let errors = self.errors_beside(&report, input);
        // Of all results, also those that are not shown.
        let effects = match self.choosing.quiet {
            true => Vec::new(),
            false => effects::of_report(&report, &input.manifests, &input.policies, &input.detected),
        };
        report.retain(|binding| input.shown.includes(binding));
        let is_hidden = exit > report.exit().max(left_out);
        // A page has tables that a reader sorts.
        if let (Some(most), false) = (self.top, self.output.is_page()) {
            report.keep_top(most);
        }
        let explained = (std::mem::take(explanations), std::mem::take(explained));
        let explaining = explaining.as_ref();
        Ok(Answer {
            exit,
            errors,
            notes: Vec::new(),
            document: self.document(report, input, (explained, explaining), console),
            origin: &input.origin,
            closing: Box::new(move |console| {
                if !self.choosing.quiet {
                    if is_hidden {
                        let message = "bindings that are not shown determine the exit code";
                        console.message(|out| headline(out, "note", style::HINT, message));
                    }
                    effects::print_notes(&effects, console);
                    // After the report, where a note about missing policies is not scrolled away.
                    warnings::report_unmatched(&input.detected, console);
                }
                log_metrics(&input.profile);
            }),
        })
    }

    fn presentation(&self) -> Presentation<'_> {
        Presentation {
            output: &self.output,
            is_quiet: self.choosing.quiet,
            time: self.time.clone(),
        }
    }
}

impl ScheduleArguments {
    /// The profile with the requested seed and strategy, and its plugins.
    fn load(&self) -> Result<(ChosenProfile, Arc<Profile>), Failure> {
        let directories = self.profile.directories()?;
        let mut chosen = self.profile.read()?;
        if self.seed.is_some() {
            chosen.configuration.seed = self.seed;
        }
        let profile = chosen.build(&directories)?;
        let strategy = self.strategy.as_deref();
        let strategy = strategy
            .map(|strategy| check_strategy(strategy, &profile))
            .transpose()?;
        Ok((chosen, Arc::new(profile.overriding_strategy(strategy))))
    }

    /// The bindings and the clusters to show. A part that matches nothing ends the run.
    fn select(
        &self,
        manifests: &Manifests,
        detected: &Detected,
        labels: &WorkloadLabels,
        (profile, console): (&Profile, &Console),
    ) -> Result<(Shown, Vec<String>), Failure> {
        let shown = self.choosing.shown(detected.bindings.iter(), labels)?;
        let clusters = manifests.clusters.iter().map(|cluster| &cluster.object);
        let selected = self.choosing.clusters(clusters.clone())?;
        check_clusters([profile], clusters, (!self.choosing.quiet).then_some(console));
        Ok((shown, selected.into_iter().map(str::to_owned).collect()))
    }

    /// True if each result counts as used for those after it.
    fn assumes(&self) -> bool {
        self.assume || self.jointly
    }

    /// True if decisions are explained in a pass of their own. That is not possible where a result affects the next ones, and where
    /// plugins are watched.
    fn explains_in_pass(&self, console: &Console) -> bool {
        let is_whole = self.output.is_page() || self.output.is_markdown() || self.choosing.shows_clusters();
        self.explain && !is_whole && !self.assumes() && console.verbosity() == 0
    }

    /// Detail of the explanations that are made with the decisions; `None` for none.
    fn detail(&self, input: &Input, console: &Console) -> Option<Detail> {
        let (is_page, shows_clusters) = (self.output.is_page(), self.choosing.shows_clusters());
        let gives_reasons = reasons::gives_reasons(console);
        let is_explained = self.explain || is_page || shows_clusters || gives_reasons;
        if !is_explained || self.explains_in_pass(console) {
            return None;
        }
        // A page of a large fleet explains the clusters that have or had replicas.
        let is_brief = is_page
            && !shows_clusters
            && !gives_reasons
            && !page::explains_everything(input.detected.bindings.len(), input.manifests.clusters.len());
        Some(if is_brief { Detail::Assigned } else { Detail::Full })
    }

    /// Refuses to write a recording over a file of the input, of the profile or of a plugin.
    fn check_recording(&self, manifests: &Manifests, profile: &Profile) -> Result<(), Failure> {
        let Some(file) = &self.record else { return Ok(()) };
        let plugins = profile.plugins().map(|plugin| plugin.library().path().to_owned());
        let tables = profile.tables().map_or(&[][..], |tables| tables.tables()).iter();
        let read = self.profile.files().into_iter().chain(plugins);
        let read = read.chain(tables.map(|table| table.source().file.clone()));
        record::check_target(file, manifests.files.iter().cloned().chain(read))
    }

    fn write_recording(&self, input: &Input, report: &Report<'_>, console: &Console) -> Result<(), Failure> {
        let Some(file) = &self.record else { return Ok(()) };
        let (profile, configuration) = (&input.profile, &input.configuration);
        let replaced = record::write(file, &input.manifests, report, profile, configuration, console)?;
        if let (Some(replaced), false) = (replaced, self.choosing.quiet) {
            let message = format!("replaced `{}`", replaced.display());
            console.message(|out| headline(out, "note", style::HINT, &message));
        }
        Ok(())
    }

    /// True if the result is printed: standard output is not used for the recording.
    fn prints_report(&self) -> bool {
        !self.choosing.quiet && !self.record.as_deref().is_some_and(record::is_standard_output)
    }

    /// The errors that the document does not show beside their bindings.
    fn errors_beside(&self, report: &Report<'_>, input: &Input) -> Vec<BindingError> {
        let shows_errors = self.prints_report() && self.output.shows_errors() && !self.choosing.shows_clusters();
        report.errors(|binding| !(shows_errors && input.shown.includes(binding)))
    }

    /// A page, the views of clusters, or the decisions.
    fn document<'a>(
        &self,
        report: Report<'a>,
        input: &Input,
        (explained, explaining): ((Explanations, ExplainedBindings), Option<&'a Explaining>),
        console: &Console,
    ) -> Document<'a> {
        let clusters: Vec<&str> = input.clusters.iter().map(String::as_str).collect();
        if !self.prints_report() {
            Document::Nothing
        } else if self.output.is_page() {
            let mut content = page::decisions(&report, &input.profile, self.assumes(), explained);
            if self.choosing.shows_clusters() {
                content.retain_clusters(&clusters);
            }
            content.into()
        } else if self.choosing.shows_clusters() {
            let views = views(&clusters, &report);
            Document::Content(Box::new(Printed::new(views, cluster_names, cluster_views::write)))
        } else {
            let options = TableOptions {
                wide: self.output.is_wide(),
                explain: self.explain,
                bars: console.has_bars(),
                colours: console.has_colours(),
                columns: console.width(),
            };
            Document::Content(Box::new(Decisions {
                report,
                explaining,
                options,
            }))
        }
    }
}

/// Adds the explanation of a decision to those of a page.
fn explain_on_page(
    binding: &Binding,
    decision: &Decision,
    explanations: &mut Explanations,
    explained: &mut ExplainedBindings,
) {
    if let Some(explanation) = &decision.explanation {
        let kind = binding.object.scope().kind();
        let reasons = explanations.add(explanation, &message(&decision.outcome));
        explained.insert((decision.binding.clone(), kind), reasons);
    }
}

/// Clusters instead of bindings.
fn views(clusters: &[&str], report: &Report<'_>) -> ClusterViewsDocument {
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
    let mut views = cluster_view::views(clusters, &report.clusters, &placed.collect::<Vec<_>>());
    views.totals.left_out = report.left_out;
    views
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
