//! The page of `-o html`: the content of `divvy_page`, filled from the same figures as the table and the JSON.

use std::collections::BTreeMap;

use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::text::counted;
use divvy_forecast::cluster_view::Placed;
use divvy_forecast::cost::Costs;
use divvy_forecast::document::{BindingRow, ClusterRow, Document, SideDocument, Totals};
use divvy_forecast::forecast::{is_known_to_be_unschedulable, is_unschedulable};
use divvy_forecast::headroom::Subject;
use divvy_forecast::headroom::document::{HeadroomDocument, HeadroomRow, HeadroomTotals};
use divvy_forecast::movement::Movement;
use divvy_forecast::situation::{Assignment, assigned};
use divvy_forecast::verdict::{Verdict, moves};
use divvy_page::{Command, Content, Explained, Explanations, Growth, Heading, PageError};
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::profile::Profile;

use super::costs;
use super::entry::{Entry, Report};
use super::forecast::others;
use super::headroom::stopped_by;
use super::loads::movement;
use super::plan;

/// Maximum pairs of a binding and a cluster for which every cluster is explained; beyond it, only those of the results.
const EXPLAINED_MAX: usize = 500_000;

/// Reasons by key and kind of the binding.
pub(crate) type ExplainedBindings = BTreeMap<(String, &'static str), Explained>;

/// True if decisions on this number of bindings and clusters can be explained for every cluster.
pub(crate) fn explains_everything(bindings: usize, clusters: usize) -> bool {
    bindings.saturating_mul(clusters) <= EXPLAINED_MAX
}

/// Writes a page to standard output.
///
/// # Errors
///
/// A [`Failure`] with exit code 3 if the page cannot be made or written.
pub(crate) fn print(content: &Content, console: &Console) -> Result<(), Failure> {
    print_page(divvy_page::render(content), console)
}

/// Writes a rendered page.
pub(super) fn print_page(page: Result<String, PageError>, console: &Console) -> Result<(), Failure> {
    let page = page.map_err(|error| {
        let diagnostic = Diagnostic::new(error.to_string());
        Failure::internal(diagnostic.with_causes_of(&error))
    })?;
    console.print_as_it_is(&page)
}

/// The command line of this process, the program's name first.
pub(crate) fn arguments() -> Vec<String> {
    let arguments = std::env::args_os().skip(1);
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once("divvy".to_owned()).chain(arguments).collect()
}

/// A page without data, from the command and its sides.
fn content(command: Command, base: Option<SideDocument>, after: SideDocument, explanations: Explanations) -> Content {
    Content {
        command,
        arguments: arguments(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        heading: Heading::default(),
        base,
        after,
        assumes: true,
        clusters: Vec::new(),
        bindings: Vec::new(),
        hidden: 0,
        is_partial: false,
        verdict: Verdict::default(),
        totals: Totals::default(),
        measured: HeadroomTotals::default(),
        cost: None,
        growth: Vec::new(),
        tables: Vec::new(),
        explanations,
        notes: Vec::new(),
    }
}

/// The page of `divvy schedule`.
pub(crate) fn decisions(
    report: &Report<'_>,
    profile: &Profile,
    assumes: bool,
    (explanations, mut explained): (Explanations, ExplainedBindings),
) -> Content {
    let side = SideDocument {
        profile: profile.name().to_owned(),
        strategy: profile.plan_options().strategy_override.clone(),
        changes: Vec::new(),
    };
    let mut totals = Totals::default();
    let bindings = report.entries.iter().map(|entry| {
        let binding = decided(entry, entry.after(&report.names), profile);
        count(entry, &binding, &mut totals);
        let key = (binding.key.clone(), entry.binding.object.scope().kind());
        divvy_page::Binding {
            explained: explained.remove(&key),
            ..binding
        }
    });
    let bindings: Vec<divvy_page::Binding> = bindings.collect();
    // Of all results, whether they are shown or not.
    totals.beyond_capacity = report.capacity.beyond_capacity;
    (totals.full, totals.newly_full) = (report.capacity.full, report.capacity.newly_full);
    Content {
        assumes,
        clusters: report.clusters.clone(),
        bindings,
        hidden: report.hidden,
        verdict: report.outcomes().verdict(),
        totals,
        cost: report.cost.as_ref().map(costs::figure),
        notes: {
            let could_place = report.could_place.as_ref().and_then(plan::could_place);
            let costs = cost_notes(report.cost.as_ref(), &report.clusters);
            let jointly = report.jointly.map(|jointly| jointly.sentence());
            jointly.into_iter().chain(could_place).chain(costs).collect()
        },
        ..content(Command::Schedule, None, side, explanations)
    }
}

fn decided(entry: &Entry<'_>, to: Assignment, profile: &Profile) -> divvy_page::Binding {
    let from = assigned(entry.binding);
    let strategy = entry.decision.strategy();
    let fails = matches!(&entry.decision.outcome, Outcome::Failed(error) if is_unschedulable(error));
    divvy_page::Binding {
        key: entry.decision.binding.clone(),
        kind: entry.binding.object.scope().kind().to_owned(),
        strategy: strategy.to_owned(),
        replicas: entry.decision.replicas,
        result: entry.decision.outcome.word().to_owned(),
        message: match (entry.message(), entry.share_text()) {
            (message, Some(share)) if message.is_empty() => share,
            (message, Some(share)) => format!("{message}; {share}"),
            (message, None) => message,
        },
        newly_unschedulable: fails && !is_known_to_be_unschedulable(entry.binding),
        movement: movement(entry, (&from, &to), profile),
        from,
        to,
        explained: None,
    }
}

fn count(entry: &Entry<'_>, binding: &divvy_page::Binding, totals: &mut Totals) {
    let (fails, is_error) = match &entry.decision.outcome {
        Outcome::Failed(error) => (is_unschedulable(error), !is_unschedulable(error)),
        Outcome::Scheduled(_) | Outcome::Skipped(_) => (false, false),
    };
    totals.changed += usize::from(!binding.movement.is_nothing());
    totals.replicas += binding.from.values().sum::<i64>();
    totals.movement += binding.movement;
    totals.missing += entry.missing();
    totals.unschedulable += usize::from(fails);
    totals.newly_unschedulable += usize::from(binding.newly_unschedulable);
    totals.errors += usize::from(is_error);
}

/// The bindings of the page of `divvy diff`. `rows` are those that change or fail.
pub(crate) fn compared(
    placed: &[Placed<'_>],
    rows: &[BindingRow],
    explanations: &mut Explanations,
) -> Vec<divvy_page::Binding> {
    let rows: BTreeMap<(&str, &str), &BindingRow> = rows
        .iter()
        .map(|row| ((row.binding.as_str(), row.kind.as_str()), row))
        .collect();
    let bindings = placed.iter().map(|placed| {
        let (key, kind) = (placed.binding.key(), placed.binding.object.scope().kind());
        let row = rows.get(&(key.as_str(), kind));
        divvy_page::Binding {
            kind: kind.to_owned(),
            strategy: placed.strategy.clone(),
            replicas: placed.binding.replicas(),
            result: placed.result.to_owned(),
            message: placed.message.clone(),
            newly_unschedulable: row.is_some_and(|row| row.newly_unschedulable),
            from: placed.base.unwrap_or(&placed.before).clone(),
            to: placed.after.clone(),
            movement: row.map(|row| row.movement).unwrap_or_default(),
            explained: placed
                .explanation
                .map(|explanation| explanations.add(explanation, placed.failure())),
            key,
        }
    });
    let mut bindings: Vec<divvy_page::Binding> = bindings.collect();
    bindings.sort_by(|left, right| (&left.key, &left.kind).cmp(&(&right.key, &right.kind)));
    bindings
}

/// The page of `divvy diff`.
pub(crate) fn difference(
    document: &Document,
    bindings: Vec<divvy_page::Binding>,
    hidden: usize,
    explanations: Explanations,
) -> Content {
    Content {
        assumes: document.assumes,
        clusters: document.clusters.clone(),
        bindings,
        hidden,
        verdict: document.totals.verdict(),
        totals: document.totals,
        cost: document.cost.as_ref().map(costs::figure),
        tables: document.place_pending.as_ref().map(plan::tables).unwrap_or_default(),
        notes: notes(document),
        ..content(
            Command::Diff,
            document.base.clone(),
            document.after.clone(),
            explanations,
        )
    }
}

/// The notes of a forecast, and the lines that its table prints below the totals.
fn notes(document: &Document) -> Vec<String> {
    let mut notes = document.notes.clone();
    notes.extend(cost_notes(document.cost.as_ref(), &document.clusters));
    if let Some(pending) = document.pending.filter(|pending| pending.changed > 0) {
        let movement = moves(&pending.movement);
        let count = counted(pending.changed, "binding");
        notes.push(format!("pending without the changes: {movement} ({count})"));
    }
    if let Some(plan) = &document.place_pending {
        let verdict = plan.verdict();
        notes.push(match verdict.more.as_str() {
            "" => verdict.sentence,
            more => format!("{}; {more}", verdict.sentence),
        });
    }
    // Only a writer could fail, and there is none.
    let _infallible = others(&document.latent, &document.violations, &mut |text| {
        notes.push(text.to_owned());
        Ok(())
    });
    notes
}

/// The costs of all clusters, and prices that are missing.
fn cost_notes(cost: Option<&Costs>, clusters: &[ClusterRow]) -> Vec<String> {
    cost.map(|cost| costs::totals(cost, clusters)).unwrap_or_default()
}

/// The page of `divvy headroom`. The subjects are those that were measured, in the order of the document.
pub(crate) fn headroom(document: &HeadroomDocument, subjects: &[Subject<'_>], clusters: Vec<ClusterRow>) -> Content {
    let present: BTreeMap<(String, &str), Assignment> = subjects
        .iter()
        .map(|subject| {
            // A hypothetical workload has no replicas yet.
            let targets = subject.entry.map(|entry| Assignment::clone(&entry.targets));
            let key = (subject.binding.key(), subject.binding.object.scope().kind());
            (key, targets.unwrap_or_default())
        })
        .collect();
    let mut explanations = Explanations::default();
    let mut bindings: Vec<divvy_page::Binding> = document
        .bindings
        .iter()
        .map(|row| {
            let from = &present[&(row.binding.clone(), row.kind.as_str())];
            measured(row, from.clone(), &mut explanations)
        })
        .collect();
    bindings.sort_by(|left, right| (&left.key, &left.kind).cmp(&(&right.key, &right.kind)));
    let growth = document.bindings.iter().map(|row| Growth {
        stopped_by: stopped_by(row),
        row: row.clone(),
    });
    Content {
        assumes: document.assumes,
        clusters,
        bindings,
        verdict: document.verdict(),
        measured: document.totals,
        growth: growth.collect(),
        notes: {
            let could_place = document.could_place.as_ref().and_then(plan::could_place);
            could_place.into_iter().chain(document.notes.iter().cloned()).collect()
        },
        ..content(Command::Headroom, None, document.after.clone(), explanations)
    }
}

fn measured(row: &HeadroomRow, from: Assignment, explanations: &mut Explanations) -> divvy_page::Binding {
    let to: Assignment = row
        .clusters
        .iter()
        .map(|target| (target.name.clone(), target.replicas))
        .collect();
    let stop = row.stop.as_ref();
    let count = stop.map_or(0, |stop| stop.replicas);
    let mut explained = Explained::default();
    for resource in stop.iter().flat_map(|stop| &stop.resources) {
        let text = format!(
            "{} is the scarcest resource here: {count} replicas in all do not fit",
            resource.resource
        );
        for cluster in &resource.clusters {
            explanations.remark(&mut explained, cluster, &text);
        }
    }
    divvy_page::Binding {
        key: row.binding.clone(),
        kind: row.kind.clone(),
        strategy: row.strategy.clone(),
        replicas: row.replicas,
        result: row.result.clone(),
        message: match row.message.as_str() {
            "" => format!("stopped by: {}", stopped_by(row)),
            message => message.to_owned(),
        },
        newly_unschedulable: false,
        from,
        to,
        movement: Movement::default(),
        explained: Some(explained),
    }
}
