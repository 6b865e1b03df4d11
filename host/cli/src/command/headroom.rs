//! `divvy headroom`: how far workloads can grow, and what stops them.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use divvy_forecast::choice::{BindingPattern, ClusterChoice};
use divvy_forecast::cost;
use divvy_forecast::document::{FORMAT, SideDocument};
use divvy_forecast::forecast::compare;
use divvy_forecast::future::{Entry, Explains, Future, Options};
use divvy_forecast::headroom::document::{HeadroomDocument, HeadroomRow, HeadroomTotals};
use divvy_forecast::headroom::hypothetical::Hypothetical;
use divvy_forecast::headroom::{Subject, headroom, is_measurable};
use divvy_forecast::situation::Situation;
use divvy_karmada::api::{Quantity, ResourceList};
use divvy_scheduler::cycle::CycleError;

use super::choosing::Shown;
use super::diff::{self, SituationArguments};
use super::input::workload_kinds;
use super::origin::heading;
use super::output::{Output, OutputParser, binding_name, check_destination};
use super::setup::ProfileArguments;
use crate::exit::Exit;
use crate::report::binding_errors::{self, BindingError};
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};
use crate::report::format::Printed;
use crate::report::progress::Progress;
use crate::report::text::counted;
use crate::report::{headroom as report, page};

const EXAMPLES: &str = "\
Examples:
  # How many more replicas of each workload fit, and what runs out first
  divvy headroom -f dump/

  # The same as a page for a browser
  divvy headroom -f dump/ -o html > report.html

  # For one workload, by its binding or its own name, if a cluster is drained
  divvy headroom -f dump/ shop/deployment/web --drain eu-1

  # The twenty workloads that can grow least
  divvy headroom -f dump/ --top 20

  # How many replicas of a workload that does not exist yet would fit
  divvy headroom -f dump/ --cpu 2 --memory 4Gi --strategy DynamicWeight
  divvy headroom -f dump/ --cpu 2 --memory 4Gi --replicas-of deployment/web

Each workload grows alone: all others keep their replicas, and the capacity that those use is not free. \
MOST is the largest number of replicas that can be scheduled. Both this number and the next one, which \
cannot be scheduled, are decided to verify it. With a strategy that ignores capacity, any number can be \
scheduled, and the number that fits is shown instead.

Exit codes, the highest that applies:
  0  the present replicas of every workload schedule
  1  the present replicas of some workload do not
  2  wrong usage, profile, plugin or input, or an invalid binding
  3  a plugin failed, or Divvy itself";

/// Heading of the options for a workload that does not exist.
const HYPOTHETICAL: &str = "A workload that does not exist";

/// Show how far workloads can grow, and what stops them.
///
/// Finds the largest number of replicas that can be scheduled, for every workload of the input, for some of them, or for
/// one that does not exist. Every number is decided, not estimated. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples and exit codes.")]
pub(super) struct HeadroomArguments {
    #[command(flatten)]
    situation: SituationArguments,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    hypothetical: HypotheticalArguments,
    /// Divide the workload with this strategy, as if its policy named it
    #[arg(long, value_name = "STRATEGY", value_hint = clap::ValueHint::Other)]
    strategy: Option<String>,
    /// Print at most this many workloads, those with the least headroom first; all count
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table")]
    output: Output,
}

/// A workload that does not exist.
#[derive(Debug, Args)]
#[group(id = "hypothetical", multiple = true, conflicts_with_all = ["bindings", "namespace", "selector"])]
struct HypotheticalArguments {
    /// CPU that each replica requests, such as `2` or `500m`
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, help_heading = HYPOTHETICAL)]
    cpu: Option<Quantity>,
    /// Memory that each replica requests, such as `4Gi`
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, help_heading = HYPOTHETICAL)]
    memory: Option<Quantity>,
    /// Another resource that each replica requests, such as `nvidia.com/gpu=1`; may be repeated
    #[arg(long, value_name = "RESOURCE=QUANTITY", value_parser = request, help_heading = HYPOTHETICAL)]
    request: Vec<(String, Quantity)>,
    /// Take placement, strategy and priority from this binding, and its requests if none are given
    #[arg(long, value_name = "BINDING", help_heading = HYPOTHETICAL)]
    replicas_of: Option<BindingPattern>,
    /// Clusters that the workload may use: names, globs, `region=`, `zone=`, `provider=` or `label:KEY=VALUE`
    #[arg(long, value_name = "CLUSTERS", help_heading = HYPOTHETICAL)]
    clusters: Vec<ClusterChoice>,
}

/// Parses a quantity, which must not be negative.
fn quantity(text: &str) -> Result<Quantity, String> {
    let quantity: Quantity = text.parse().map_err(|error| format!("{error}"))?;
    match quantity.is_negative() {
        true => Err("expected a quantity that is not negative".to_owned()),
        false => Ok(quantity),
    }
}

/// Parses `RESOURCE=QUANTITY`.
fn request(text: &str) -> Result<(String, Quantity), String> {
    match text.split_once('=') {
        Some((name, amount)) if !name.is_empty() => Ok((name.to_owned(), quantity(amount)?)),
        _ => Err("expected `RESOURCE=QUANTITY`, for instance `nvidia.com/gpu=1`".to_owned()),
    }
}

impl HypotheticalArguments {
    fn is_given(&self) -> bool {
        let Self {
            cpu,
            memory,
            request,
            replicas_of,
            clusters,
        } = self;
        cpu.is_some() || memory.is_some() || !request.is_empty() || replicas_of.is_some() || !clusters.is_empty()
    }

    /// The workload. Without a binding to copy the placement from, its strategy must be named.
    fn workload(&self, strategy: Option<&str>) -> Result<Hypothetical, Failure> {
        if self.replicas_of.is_none() && strategy.is_none() {
            let message = "the strategy that divides the workload's replicas is not known";
            let hint = "pass `--strategy NAME`, or `--replicas-of` with a binding that is placed in the same way";
            return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
        }
        let mut requests: ResourceList = self.request.iter().cloned().collect();
        let named = [("cpu", self.cpu), ("memory", self.memory)];
        for (name, quantity) in named {
            if let Some(quantity) = quantity
                && requests.insert(name.to_owned(), quantity).is_some()
            {
                let message = format!("`--{name}` and `--request {name}` both set the request for `{name}`");
                return Err(Failure::usage(
                    Diagnostic::new(message).with_hint("leave one of them out"),
                ));
            }
        }
        Ok(Hypothetical {
            requests,
            strategy: strategy.map(ToOwned::to_owned),
            placed_as: self.replicas_of.clone(),
            clusters: self.clusters.clone(),
        })
    }
}

/// Reads the manifests, decides everything once, and then finds out how far each chosen workload can grow.
pub(super) fn run(arguments: &HeadroomArguments, console: &Console) -> Result<Exit, Failure> {
    check_destination(&arguments.output, "headroom", console)?;
    let hypothetical = &arguments.hypothetical;
    let strategy = arguments.strategy.as_deref();
    let workload = hypothetical
        .is_given()
        .then(|| hypothetical.workload(strategy))
        .transpose()?;
    let directories = arguments.profile.directories()?;
    let chosen = arguments.profile.read()?;
    let loaded = diff::load(&chosen, None, &directories)?;
    // Existing workloads are decided unchanged; only the growing workload has another strategy.
    let growing = match strategy {
        Some(strategy) => Some(diff::load(&chosen, Some(strategy), &directories)?),
        None => None,
    };
    let growing = growing.as_ref().unwrap_or(&loaded);
    let kinds = workload_kinds(&chosen.configuration);
    let sides = (&loaded, Some(growing));
    let prepared = diff::prepare(&arguments.situation, &kinds, sides, workload.is_none(), console)?;
    let options = Options {
        assumes: !arguments.situation.no_assume,
        explains: Explains::Nothing,
        threads: divvy_parallel::threads(),
        time: Some(arguments.situation.time.milliseconds()),
    };
    let progress = Progress::start("deciding");
    let future = Future::decide(&prepared.after, &loaded.side, options);
    drop(progress);
    let mut notes = prepared.notes;
    let is_hypothetical = workload.is_some();
    let subjects = match workload {
        Some(workload) => {
            let binding = workload.binding(&prepared.after).map_err(|error| {
                let diagnostic = Diagnostic::new(error.to_string());
                Failure::usage(Diagnostic {
                    hint: error.hint(),
                    ..diagnostic
                })
            })?;
            vec![Subject::hypothetical(binding)]
        }
        None => existing(&prepared.shown, &future, &mut notes)?,
    };
    let progress = Progress::start("trying how far each grows");
    let mut measured = headroom(&subjects, &future, &growing.side, options);
    if let Some(pricing) = growing.side.profile.pricing() {
        let rows = measured.iter_mut().map(|(row, _)| row);
        cost::add_to_headroom(rows, &subjects, &prepared.after, pricing);
    }
    drop(progress);
    let choosing = &arguments.situation.choosing;
    if choosing.quiet || !arguments.output.shows_errors() {
        let errors = measured.iter().filter_map(|(row, error)| {
            let error = error.as_ref().filter(|error| diff::fault(error) > Exit::Success)?;
            Some(BindingError::of(row.binding.clone(), error))
        });
        binding_errors::report(&errors.collect::<Vec<_>>(), console);
    }
    let is_invalid = |error: &Option<CycleError>| error.as_ref().is_some_and(|error| diff::fault(error) == Exit::Usage);
    // A binding that only a change makes invalid is an effect of the change. A hypothetical workload is the caller's own.
    let is_changed = !is_hypothetical && !arguments.situation.changes.texts().is_empty();
    let before = match is_changed && measured.iter().any(|(_, error)| is_invalid(error)) {
        true => Some(Future::decide(&prepared.base, &loaded.side, options)),
        false => None,
    };
    let invalid_before: Option<BTreeSet<String>> = before.map(|before| {
        let entries = before.entries.iter();
        let failed = entries.filter(|entry| entry.error().is_some_and(|error| diff::fault(error) == Exit::Usage));
        failed.map(|entry| entry.binding.key()).collect()
    });
    let exit = measured.iter().map(|(row, error)| match error {
        Some(_)
            if is_invalid(error)
                && invalid_before
                    .as_ref()
                    .is_some_and(|known| !known.contains(&row.binding)) =>
        {
            Exit::Unschedulable
        }
        Some(error) => diff::fault(error).max(Exit::Unschedulable),
        None => Exit::Success,
    });
    let exit = exit.max().unwrap_or_default().max(prepared.left_out.exit);
    let mut rows: Vec<HeadroomRow> = measured.into_iter().map(|(row, _)| row).collect();
    let totals = HeadroomTotals::of(&rows, prepared.left_out.objects);
    if let Some(most) = arguments.top {
        // A binding of which no number schedules has less than none, and one without a bound has the most.
        rows.sort_by_key(|row| (row.is_unbounded, row.headroom.unwrap_or(i64::MIN)));
        rows.truncate(most);
    }
    let document = HeadroomDocument {
        format: FORMAT,
        after: SideDocument {
            changes: arguments.situation.changes.texts(),
            ..growing.document.clone()
        },
        assumes: options.assumes,
        bindings: rows,
        totals,
        notes,
    };
    let document = arguments.with_clusters(document, &prepared.after)?;
    if arguments.output.is_page() && !arguments.situation.choosing.quiet {
        let sides = (&prepared.after, &future);
        let clusters = compare(&prepared.original, None, sides, &growing.side.profile).clusters;
        let mut content = page::headroom(&document, &subjects, clusters);
        content.heading = heading(&prepared.origin, &arguments.situation.time)?;
        let choosing = &arguments.situation.choosing;
        if choosing.shows_clusters() {
            let clusters = prepared.after.clusters.values().map(|entry| &entry.object);
            content.retain_clusters(&choosing.clusters(clusters)?);
        }
        page::print(&content, console)?;
        return Ok(exit);
    }
    let is_wide = arguments.output.is_wide() || arguments.situation.choosing.shows_clusters();
    let content = Printed {
        document: &document,
        names: || {
            let rows = document.bindings.iter();
            rows.map(|row| binding_name(&row.kind, &row.binding)).collect()
        },
        table: |out: &mut dyn Write, layout| report::write(&document, is_wide, out, layout),
    };
    diff::print(&arguments.situation, &arguments.output, console, &content)?;
    diff::print_notes(&arguments.situation, &arguments.output, &document.notes, console);
    Ok(exit)
}

impl HeadroomArguments {
    /// With `--cluster`, the document from the view of these clusters: the bindings that could grow there, or are stopped
    /// there, with their replicas on these clusters alone.
    fn with_clusters(&self, document: HeadroomDocument, situation: &Situation) -> Result<HeadroomDocument, Failure> {
        let choosing = &self.situation.choosing;
        if !choosing.shows_clusters() {
            return Ok(document);
        }
        let chosen = choosing.clusters(situation.clusters.values().map(|entry| &entry.object))?;
        let is_chosen = |name: &String| chosen.contains(&name.as_str());
        let rows = document.bindings.into_iter().filter_map(|mut row| {
            row.clusters.retain(|target| is_chosen(&target.name));
            let stops = row.stop.iter().flat_map(|stop| &stop.resources);
            let is_stopped = stops.flat_map(|resource| &resource.clusters).any(is_chosen);
            (is_stopped || !row.clusters.is_empty()).then_some(row)
        });
        Ok(HeadroomDocument {
            bindings: rows.collect(),
            ..document
        })
    }
}

/// The bindings to measure. Those without a number of replicas are left out; if no others are chosen, that is an error.
fn existing<'a>(shown: &Shown, future: &'a Future, notes: &mut Vec<String>) -> Result<Vec<Subject<'a>>, Failure> {
    let chosen = future.entries.iter().filter(|entry| shown.includes(&entry.binding));
    let (measurable, others): (Vec<&Entry>, Vec<&Entry>) = chosen.partition(|entry| is_measurable(&entry.binding));
    if measurable.is_empty() {
        let message = "no chosen binding has a number of replicas";
        return Err(Failure::usage(Diagnostic::new(message)));
    }
    if !others.is_empty() {
        let count = counted(others.len(), "binding");
        notes.push(format!("{count} left out: no single number of replicas"));
    }
    Ok(measurable.into_iter().map(Subject::existing).collect())
}
