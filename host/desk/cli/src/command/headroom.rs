//! `divvy headroom`: how far workloads can grow, and what stops them.

use std::collections::BTreeSet;

use clap::Args;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::progress::Progress;
use divvy_command::reading::workload_kinds;
use divvy_command::setup::ProfileArguments;
use divvy_command::text::counted;
use divvy_forecast::choice::{BindingPattern, ClusterChoice};
use divvy_forecast::document::{FORMAT, SideDocument};
use divvy_forecast::forecast::compare;
use divvy_forecast::future::{Entry, Explains, Future, Options};
use divvy_forecast::headroom::document::{HeadroomDocument, HeadroomRow, HeadroomTotals};
use divvy_forecast::headroom::hypothetical::Hypothetical;
use divvy_forecast::headroom::{Subject, add_costs, headroom, is_measurable};
use divvy_forecast::planned::CouldPlace;
use divvy_forecast::rebalance::could_place;
use divvy_karmada::api::{Quantity, ResourceList};
use divvy_scheduler::cycle::CycleError;

use super::choosing::Shown;
use super::desk::{Answer, Document, Presentation, Question};
use super::diff::{self, Loaded, Prepared, SituationArguments};
use super::help::{ANSWER, DECIDING, HelpArguments};
use super::output::{Output, OutputParser, binding_names};
use crate::report::binding_errors::BindingError;
use crate::report::{headroom as report, locations, page};

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

/// The end of the short page.
const SUMMARY: &str = "\
Examples:
  divvy headroom -f dump/ --top 20
  divvy headroom -f dump/ shop/deployment/web --drain eu-1
  divvy headroom -f dump/ --cpu 2 --memory 4Gi --strategy DynamicWeight

Exit codes: 0 all present replicas schedule, 1 some do not, 2 wrong usage, input or binding, 3 Divvy failed.
`divvy help headroom` has every option in full, more examples, and what the columns mean.";

/// Show how far workloads can grow, and what stops them.
///
/// Finds the largest number of replicas that can be scheduled, for every workload of the input, for some of them, or for
/// one that does not exist. Every number is decided, not estimated. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = EXAMPLES, after_help = SUMMARY)]
pub(super) struct HeadroomArguments {
    #[command(flatten)]
    situation: SituationArguments,
    #[command(flatten, next_help_heading = DECIDING)]
    profile: ProfileArguments,
    #[command(flatten)]
    hypothetical: HypotheticalArguments,
    /// Divide the workload with this strategy, as if its policy named it
    #[arg(long, value_name = "STRATEGY", value_hint = clap::ValueHint::Other, help_heading = DECIDING)]
    strategy: Option<String>,
    /// Print at most this many workloads, those with the least headroom first; all count
    #[arg(long, value_name = "N", help_heading = ANSWER)]
    top: Option<usize>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table", help_heading = ANSWER)]
    output: Output,
    #[command(flatten)]
    _help: HelpArguments,
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

/// The situation in which workloads grow, and the profiles.
pub(super) struct Input {
    prepared: Prepared,
    loaded: Loaded,
    /// The side that decides the growing workload, if it has another strategy. Existing workloads are decided unchanged.
    other_strategy: Option<Loaded>,
    options: Options,
    /// Clusters to show; empty for all.
    clusters: Vec<String>,
}

impl Input {
    /// The side that decides the growing workload.
    fn growing(&self) -> &Loaded {
        self.other_strategy.as_ref().unwrap_or(&self.loaded)
    }
}

impl Question for HeadroomArguments {
    const COMMAND: &'static str = "headroom";
    type Input = Input;
    /// Everything as it is today, decided once. Each growth is tried against it.
    type Decided = Future;

    fn check(&self) -> Result<(), Failure> {
        self.workload().map(drop)
    }

    fn read(&self, console: &Console) -> Result<Input, Failure> {
        let directories = self.profile.directories()?;
        let chosen = self.profile.read()?;
        let loaded = diff::load(&chosen, None, &directories)?;
        let strategy = self.strategy.as_deref();
        let other_strategy = strategy
            .map(|strategy| diff::load(&chosen, Some(strategy), &directories))
            .transpose()?;
        let kinds = workload_kinds(&chosen.configuration);
        let sides = (&loaded, Some(other_strategy.as_ref().unwrap_or(&loaded)));
        let needs_bindings = !self.hypothetical.is_given();
        let prepared = diff::prepare(&self.situation, &kinds, sides, needs_bindings, console)?;
        let clusters = prepared.after.clusters.values().map(|entry| &entry.object);
        let clusters = self.situation.choosing.clusters(clusters)?;
        Ok(Input {
            clusters: clusters.into_iter().map(str::to_owned).collect(),
            options: self.situation.options(Explains::Nothing),
            prepared,
            loaded,
            other_strategy,
        })
    }

    fn decide(&self, input: &mut Input, _: &Console) -> Result<Future, Failure> {
        let _progress = Progress::start("deciding");
        Ok(Future::decide(&input.prepared.after, &input.loaded.side, input.options))
    }

    fn answer<'a>(&'a self, input: &'a Input, future: &'a mut Future, _: &Console) -> Result<Answer<'a>, Failure> {
        let future = &*future;
        let mut notes = input.prepared.notes.clone();
        let subjects = self.subjects(input, future, &mut notes)?;
        let measured = measure(&subjects, future, input);
        let shows_errors = self.output.shows_errors() && !self.situation.choosing.quiet;
        let errors = match shows_errors {
            true => Vec::new(),
            false => errors(&measured, &subjects),
        };
        let exit = self.exit(&measured, input);
        let could_place = could_place(future, &input.loaded.side, input.options);
        let document = self.document(measured, (notes, could_place), input);
        let is_wide = self.output.is_wide() || !input.clusters.is_empty();
        Ok(Answer {
            exit,
            errors,
            notes: document.notes.clone(),
            document: Document::new(
                &self.output,
                document,
                |document| page_of(document, &subjects, future, input),
                |document| binding_names(document.bindings.iter().map(|row| (&row.kind, &row.binding))),
                move |document, out, layout| report::write(document, is_wide, out, layout),
            ),
            origin: &input.prepared.origin,
            closing: Box::new(|_| ()),
        })
    }

    fn presentation(&self) -> Presentation<'_> {
        self.situation.presentation(&self.output)
    }
}

/// How far a workload can grow, and the error of its present replicas.
type Measured = (HeadroomRow, Option<CycleError>);

impl HeadroomArguments {
    /// The workload that does not exist, if one is described.
    fn workload(&self) -> Result<Option<Hypothetical>, Failure> {
        let strategy = self.strategy.as_deref();
        let is_given = self.hypothetical.is_given();
        is_given.then(|| self.hypothetical.workload(strategy)).transpose()
    }

    /// What is measured: the chosen bindings, or the workload that does not exist.
    fn subjects<'a>(
        &self,
        input: &'a Input,
        future: &'a Future,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Subject<'a>>, Failure> {
        let Some(workload) = self.workload()? else {
            return existing(&input.prepared.shown, future, notes);
        };
        let binding = workload.binding(&input.prepared.after).map_err(|error| {
            let diagnostic = Diagnostic::new(error.to_string());
            Failure::usage(Diagnostic {
                hint: error.hint(),
                ..diagnostic
            })
        })?;
        Ok(vec![Subject::hypothetical(binding)])
    }

    fn exit(&self, measured: &[Measured], input: &Input) -> Exit {
        // A binding that only a change makes invalid is an effect of the change. A hypothetical workload is the caller's own.
        let is_changed = !self.hypothetical.is_given() && !self.situation.changes.texts().is_empty();
        let is_any_invalid = measured.iter().filter_map(|(_, error)| error.as_ref()).any(is_invalid);
        let invalid_before = (is_changed && is_any_invalid).then(|| invalid_before(input));
        let exit = measured.iter().map(|(row, error)| match (error, &invalid_before) {
            (Some(error), Some(known)) if is_invalid(error) && !known.contains(&row.binding) => Exit::Unschedulable,
            (Some(error), _) => diff::fault(error).max(Exit::Unschedulable),
            (None, _) => Exit::Success,
        });
        exit.max().unwrap_or_default().max(input.prepared.left_out.exit)
    }

    fn document(
        &self,
        measured: Vec<Measured>,
        (notes, could_place): (Vec<String>, Option<CouldPlace>),
        input: &Input,
    ) -> HeadroomDocument {
        let mut rows: Vec<HeadroomRow> = measured.into_iter().map(|(row, _)| row).collect();
        let totals = HeadroomTotals::of(&rows, input.prepared.left_out.objects);
        if let Some(most) = self.top {
            // A binding of which no number schedules has less than none, and one without a bound has the most.
            rows.sort_by_key(|row| (row.is_unbounded, row.headroom.unwrap_or(i64::MIN)));
            rows.truncate(most);
        }
        if !input.clusters.is_empty() {
            rows = on_clusters(rows, &input.clusters);
        }
        HeadroomDocument {
            format: FORMAT,
            after: SideDocument {
                changes: self.situation.changes.texts(),
                ..input.growing().document.clone()
            },
            assumes: input.options.assumes,
            bindings: rows,
            totals,
            could_place,
            notes,
        }
    }
}

/// Finds out how far each subject can grow.
fn measure(subjects: &[Subject<'_>], future: &Future, input: &Input) -> Vec<Measured> {
    let _progress = Progress::start("trying how far each grows");
    let side = &input.growing().side;
    let mut measured = headroom(subjects, future, side, input.options);
    for ((row, error), subject) in measured.iter_mut().zip(subjects) {
        let error = error.as_ref();
        if let Some(found) = error.and_then(|error| locations::fault(&subject.binding, error)) {
            (row.location, row.locations) = (found.first, Some(found.all));
        }
    }
    if let Some(pricing) = side.profile.pricing() {
        let rows = measured.iter_mut().map(|(row, _)| row);
        add_costs(rows, subjects, &input.prepared.after, pricing);
    }
    measured
}

/// Errors that are not outcomes of scheduling.
fn errors(measured: &[Measured], subjects: &[Subject<'_>]) -> Vec<BindingError> {
    let errors = measured.iter().zip(subjects).filter_map(|((_, error), subject)| {
        let error = error.as_ref().filter(|error| diff::fault(error) > Exit::Success)?;
        Some(BindingError::of(&subject.binding, error))
    });
    errors.collect()
}

fn is_invalid(error: &CycleError) -> bool {
    diff::fault(error) == Exit::Usage
}

/// The bindings that are invalid without the changes.
fn invalid_before(input: &Input) -> BTreeSet<String> {
    let before = Future::decide(&input.prepared.base, &input.loaded.side, input.options);
    let invalid = before
        .entries
        .iter()
        .filter(|entry| entry.error().is_some_and(is_invalid));
    invalid.map(|entry| entry.binding.key()).collect()
}

/// The bindings that could grow on these clusters, or are stopped there, with their replicas on these clusters alone.
fn on_clusters(rows: Vec<HeadroomRow>, clusters: &[String]) -> Vec<HeadroomRow> {
    let rows = rows.into_iter().filter_map(|mut row| {
        row.clusters.retain(|target| clusters.contains(&target.name));
        let stops = row.stop.iter().flat_map(|stop| &stop.resources);
        let is_stopped = stops
            .flat_map(|resource| &resource.clusters)
            .any(|cluster| clusters.contains(cluster));
        (is_stopped || !row.clusters.is_empty()).then_some(row)
    });
    rows.collect()
}

fn page_of(
    document: &HeadroomDocument,
    subjects: &[Subject<'_>],
    future: &Future,
    input: &Input,
) -> divvy_page::Content {
    let Input { prepared, clusters, .. } = input;
    let sides = (&prepared.after, future);
    let compared = compare(&prepared.original, None, sides, &input.growing().side.profile);
    let mut content = page::headroom(document, subjects, compared.clusters);
    if !clusters.is_empty() {
        content.retain_clusters(&clusters.iter().map(String::as_str).collect::<Vec<_>>());
    }
    content
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
