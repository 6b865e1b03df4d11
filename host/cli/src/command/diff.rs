//! `divvy diff`: what moves if clusters, workloads, policies or the profile change.

mod arguments;
mod overlaid;
mod prepare;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use divvy_forecast::capacity::{TooFull, too_full};
use divvy_forecast::cluster_view::{self, ClusterViewsDocument, Placed};
use divvy_forecast::cost;
use divvy_forecast::document::{
    BindingRow, Document, FORMAT, FailureRow, FailureTotals, FailuresDocument, SideDocument, Sums, Totals,
};
use divvy_forecast::failures::{Each, Errors, Failures, failures};
use divvy_forecast::forecast::{compare, placed};
use divvy_forecast::future::{Explains, Future, Options};
use divvy_forecast::latent::latent;
use divvy_forecast::notes;
use divvy_forecast::sums::{sums, top};
use divvy_forecast::violations::violations;
use divvy_page::Explanations;
use divvy_scheduler::cycle::CycleError;

pub(super) use arguments::{DiffArguments, LossOfEach, SituationArguments};
use arguments::{FullLimit, MovedLimit, SumOf};
pub(super) use overlaid::Overlays;
pub(super) use prepare::{Loaded, Prepared, load, prepare};

use super::choosing::{Shown, keep_top};
use super::input::workload_kinds;
use super::logging;
use super::origin::heading;
use super::output::{Output, binding_name, check_destination, cluster_names};
use crate::exit::Exit;
use crate::report::binding_errors::{self, BindingError};
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure, headline, remark};
use crate::report::format::{Content, Printed};
use crate::report::progress::Progress;
use crate::report::text::{counted, listed, plural};
use crate::report::{cluster_views, forecast as report, losses, page, sheets, style};

/// Maximum number of clusters that an error names.
const NAMED_MAX: usize = 5;

/// Reads the manifests, decides both sides and prints the difference.
pub(super) fn run(arguments: &DiffArguments, console: &Console) -> Result<Exit, Failure> {
    check_destination(&arguments.output, "diff", console)?;
    let directories = arguments.profile.directories()?;
    let without_plugins = arguments.profile.without_plugins();
    let plain = without_plugins.read()?;
    let chosen = arguments.profile.with_plugins(plain.clone())?;
    let right = load(&chosen, arguments.strategy.as_deref(), &directories)?;
    // Additional plugins are a change of the right side.
    let left = match &arguments.base {
        Some(base) => Some(load(&without_plugins.with_profile(base).read()?, None, &directories)?),
        None if arguments.profile.plugins().is_empty() => None,
        None => Some(load(&plain, None, &directories)?),
    };
    let kinds = workload_kinds(&chosen.configuration);
    let prepared = prepare(&arguments.situation, &kinds, (&right, left.as_ref()), true, console)?;
    let options = Options {
        assumes: !arguments.situation.no_assume,
        explains: explains(arguments, &prepared, console),
        threads: divvy_parallel::threads(),
        time: Some(arguments.situation.time.milliseconds()),
    };
    let right = Loaded {
        document: SideDocument {
            changes: arguments.changes(),
            ..right.document
        },
        ..right
    };
    if let Some(each) = arguments.without_each {
        let progress = Progress::start("losing each");
        let (mut document, errors) = lose_each(&prepared, &right, (each.into(), arguments.max_full), options);
        drop(progress);
        let exit = exit_of_losses(arguments, (&document, errors), console);
        let beyond_top = keep_top(&mut document.failures, arguments.top);
        if arguments.output.is_page() {
            if !arguments.situation.choosing.quiet {
                let heading = heading(&prepared.origin, &arguments.situation.time)?;
                sheets::print(sheets::without_each(&document, beyond_top), heading, console)?;
            }
            return Ok(exit.max(prepared.left_out.exit));
        }
        let content = Printed {
            document: &document,
            names: || document.failures.iter().map(|row| row.name.clone()).collect(),
            table: |out: &mut dyn Write, layout| losses::write(&document, beyond_top, out, layout),
        };
        print(&arguments.situation, &arguments.output, console, &content)?;
        print_notes(&arguments.situation, &arguments.output, &document.notes, console);
        return Ok(exit.max(prepared.left_out.exit));
    }
    let choosing = &arguments.situation.choosing;
    let clusters = prepared
        .after
        .clusters
        .values()
        .chain(prepared.original.clusters.values());
    let clusters = choosing.clusters(clusters.map(|entry| &entry.object))?;
    let clusters: Vec<String> = clusters.into_iter().map(str::to_owned).collect();
    let shown = prepared.shown.clone();
    let left_out = prepared.left_out;
    let origin = prepared.origin.clone();
    let policies = match arguments.sum {
        Some(SumOf::Policy) => policies(&prepared),
        _ => BTreeMap::new(),
    };
    let Forecast {
        mut document,
        views,
        page,
        fault,
        errors,
    } = forecast(arguments, prepared, &right, left.as_ref(), &clusters, options)?;
    let exit = exit(arguments, &document, console).max(fault).max(left_out.exit);
    let hidden = hide(&shown, &mut document);
    sum_up(arguments, &policies, &mut document);
    let beyond_top = shorten(arguments, &mut document);
    let options = report::Options {
        is_wide: arguments.output.is_wide(),
        hidden,
        beyond_top,
    };
    let shows_errors = arguments.output.shows_errors() && !choosing.quiet && !choosing.shows_clusters();
    let displayed = document
        .bindings
        .iter()
        .filter(|row| shows_errors && row.result == "Error");
    let displayed: BTreeSet<(&str, &str)> = displayed
        .map(|row| (row.binding.as_str(), row.message.as_str()))
        .collect();
    let is_hidden = |error: &&BindingError| !displayed.contains(&(error.binding.as_str(), error.message.as_str()));
    let hidden: Vec<BindingError> = errors.iter().filter(is_hidden).cloned().collect();
    binding_errors::report(&hidden, console);
    if let Some(Page {
        bindings,
        hidden,
        explanations,
    }) = page
    {
        let mut content = page::difference(&document, bindings, hidden, explanations);
        content.heading = heading(&origin, &arguments.situation.time)?;
        if !clusters.is_empty() {
            content.retain_clusters(&clusters.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if !choosing.quiet {
            page::print(&content, console)?;
        }
    } else if let Some(views) = views {
        let content = Printed {
            document: &views,
            names: || cluster_names(&views),
            table: |out: &mut dyn Write, layout| cluster_views::write(&views, out, layout),
        };
        print(&arguments.situation, &arguments.output, console, &content)?;
    } else {
        let rows = || document.bindings.iter().filter(|row| report::is_shown(row));
        let content = Printed {
            document: &document,
            names: || rows().map(|row| binding_name(&row.kind, &row.binding)).collect(),
            table: |out: &mut dyn Write, layout| report::write(&document, options, out, layout),
        };
        print(&arguments.situation, &arguments.output, console, &content)?;
    }
    print_notes(&arguments.situation, &arguments.output, &document.notes, console);
    Ok(exit)
}

/// The decisions to explain: all that are printed, as far as they fit into memory.
fn explains(arguments: &DiffArguments, prepared: &Prepared, console: &Console) -> Explains {
    let after = &prepared.after;
    let is_small = page::explains_everything(after.bindings.len(), after.clusters.len());
    match arguments.output.is_page() {
        _ if logging::gives_reasons(console) => Explains::Everything,
        true if is_small => Explains::Everything,
        true => Explains::Assigned,
        false if arguments.situation.choosing.shows_clusters() => Explains::Everything,
        false => Explains::Nothing,
    }
}

/// Takes bindings out of a document that are not shown. Returns how many of them change.
fn hide(shown: &Shown, document: &mut Document) -> usize {
    let changed = |document: &Document| document.bindings.iter().filter(|row| report::is_shown(row)).count();
    let before = changed(document);
    document
        .bindings
        .retain(|row| shown.includes_key(&row.binding, &row.kind));
    if let Some(rows) = &mut document.latent.bindings {
        rows.retain(|row| shown.includes_name(&row.binding));
    }
    if let Some(rows) = &mut document.violations.list {
        rows.retain(|row| shown.includes_name(&row.binding));
    }
    before - changed(document)
}

/// The policy of each binding, by kind and key: the one that it gets, or else the one that it had.
fn policies(prepared: &Prepared) -> BTreeMap<(&'static str, String), String> {
    let bindings = prepared.original.bindings.iter().chain(&prepared.after.bindings);
    let policies = bindings.filter_map(|binding| {
        let policy = binding.policy.as_ref()?.object_name().to_string();
        Some(((binding.object.scope().kind(), binding.key()), policy))
    });
    policies.collect()
}

/// Sums the shown changes up, if that is requested. The sums then replace the bindings in tables.
fn sum_up(arguments: &DiffArguments, policies: &BTreeMap<(&'static str, String), String>, document: &mut Document) {
    let Some(by) = arguments.sum else { return };
    let kinds = ["ResourceBinding", "ClusterResourceBinding"];
    let name = |row: &BindingRow| match by {
        SumOf::Namespace => row
            .binding
            .split_once('/')
            .map_or("", |(namespace, _)| namespace)
            .to_owned(),
        SumOf::Policy => {
            let kind = kinds.into_iter().find(|kind| **kind == *row.kind);
            let policy = kind.and_then(|kind| policies.get(&(kind, row.binding.clone())));
            policy.cloned().unwrap_or_default()
        }
    };
    let changed = document.bindings.iter().filter(|row| report::is_shown(row));
    document.sums = Some(Sums {
        by: by.word().to_owned(),
        rows: sums(changed, name),
    });
}

/// Leaves only the worst bindings or sums, if that is requested. Returns how many that change are left out.
fn shorten(arguments: &DiffArguments, document: &mut Document) -> usize {
    let Some(most) = arguments.top else { return 0 };
    if let Some(sums) = &mut document.sums {
        return keep_top(&mut sums.rows, Some(most));
    }
    document.bindings.retain(report::is_shown);
    let left_out = document.bindings.len().saturating_sub(most);
    top(&mut document.bindings, most);
    left_out
}

/// Both futures, compared.
struct Forecast {
    document: Document,
    /// The views of the clusters that are shown.
    views: Option<ClusterViewsDocument>,
    /// The bindings, if a page shows them.
    page: Option<Page>,
    /// Exit code of errors in single bindings.
    fault: Exit,
    /// Errors of single bindings on either side that are not outcomes of scheduling.
    errors: Vec<BindingError>,
}

/// All bindings in both states, for a page.
struct Page {
    bindings: Vec<divvy_page::Binding>,
    /// Bindings that are not shown.
    hidden: usize,
    explanations: Explanations,
}

/// Decides both sides and compares them.
fn forecast(
    arguments: &DiffArguments,
    prepared: Prepared,
    right: &Loaded,
    left: Option<&Loaded>,
    clusters: &[String],
    options: Options,
) -> Result<Forecast, Failure> {
    let Prepared { original, .. } = &prepared;
    let has_base = left.is_some() || !right.document.changes.is_empty();
    let left = left.unwrap_or(right);
    // Reasons of the left side are never printed.
    let unexplained = Options {
        explains: Explains::Nothing,
        ..options
    };
    let progress = Progress::start("deciding");
    let after = (&prepared.after, &right.side, options);
    let (base, after) = match has_base {
        true => {
            let (base, after) = Future::decide_both((&prepared.base, &left.side, unexplained), after);
            (Some(base), after)
        }
        false => (None, Future::decide(&prepared.after, &right.side, options)),
    };
    drop(progress);
    after
        .entries
        .iter()
        .filter_map(|entry| entry.decision())
        .for_each(logging::decision);
    let _progress = Progress::start("comparing");
    let comparison = compare(original, base.as_ref(), (&prepared.after, &after), &right.side.profile);
    let latent = latent(&after, &right.side, options, arguments.latent);
    let today = base.as_ref().unwrap_or(&after);
    let violations = violations(original, today, &right.side, options, arguments.violations);
    let violations = violations.map_err(|error| Failure::internal(Diagnostic::new(error.to_string())))?;
    let fault = fault_of_sides(base.as_ref(), &after);
    let errors = errors_of_sides(base.as_ref(), &after);
    let shown = || {
        let placed = placed(original, base.as_ref(), &after, &right.side.profile).into_iter();
        let shown: Vec<Placed<'_>> = placed
            .filter(|placed| prepared.shown.includes(placed.binding))
            .collect();
        shown
    };
    let is_page = arguments.output.is_page();
    let views = (!clusters.is_empty() && !is_page).then(|| {
        let names: Vec<&str> = clusters.iter().map(String::as_str).collect();
        let mut views = cluster_view::views(&names, &comparison.clusters, &shown());
        views.totals.left_out = prepared.left_out.objects;
        views
    });
    let page = is_page.then(|| {
        let mut explanations = Explanations::for_scope(options.explains == Explains::Assigned);
        let bindings = page::compared(&shown(), &comparison.bindings, &mut explanations);
        Page {
            hidden: after.entries.len() - bindings.len(),
            bindings,
            explanations,
        }
    });
    let mut notes = prepared.notes;
    // The process is about to end, and freeing millions of small objects takes as long as comparing them.
    std::mem::forget((prepared.original, prepared.base, prepared.after));
    std::mem::forget((base, after));
    notes.extend(notes::growth_on_cordoned(&prepared.changes, &comparison.bindings));
    let document = Document {
        format: FORMAT,
        base: has_base.then(|| SideDocument {
            changes: Vec::new(),
            ..left.document.clone()
        }),
        after: right.document.clone(),
        assumes: options.assumes,
        bindings: comparison.bindings,
        sums: None,
        cost: cost::total(
            &comparison.clusters,
            comparison.gone.as_ref(),
            right.side.profile.pricing(),
        ),
        clusters: comparison.clusters,
        totals: Totals {
            left_out: Some(prepared.left_out.objects),
            ..comparison.totals
        },
        pending: comparison.pending,
        overlay: prepared.overlay,
        latent,
        violations,
        notes,
    };
    Ok(Forecast {
        document,
        views,
        page,
        fault,
        errors,
    })
}

/// Exit code of an error in a single binding. A binding that cannot be scheduled is counted elsewhere.
pub(super) fn fault(error: &CycleError) -> Exit {
    match error {
        error if error.is_input_fault() => Exit::Usage,
        error if error.is_plugin_fault() || error.is_defect() => Exit::Internal,
        _ => Exit::Success,
    }
}

/// Errors of both sides that are not outcomes of scheduling, each once.
fn errors_of_sides(base: Option<&Future>, after: &Future) -> Vec<BindingError> {
    let entries = after
        .entries
        .iter()
        .chain(base.into_iter().flat_map(|base| &base.entries));
    let errors = entries.filter_map(|entry| Some((entry, entry.error()?)));
    let errors = errors.filter(|(_, error)| fault(error) > Exit::Success);
    let mut known = BTreeSet::new();
    errors
        .map(|(entry, error)| BindingError::of(entry.binding.key(), error))
        .filter(|error| known.insert((error.binding.clone(), error.message.clone())))
        .collect()
}

/// Exit code of the errors of both sides. A binding that only the changes make invalid is an effect of the changes and counted as
/// such.
fn fault_of_sides(base: Option<&Future>, after: &Future) -> Exit {
    let worst = |future: &Future| {
        let errors = future.entries.iter().filter_map(|entry| entry.error());
        errors.map(fault).max().unwrap_or_default()
    };
    match (base.map(worst), worst(after)) {
        (None, after) | (Some(_), after @ Exit::Internal) => after,
        (Some(base), _) => base,
    }
}

fn lose_each(
    prepared: &Prepared,
    right: &Loaded,
    (each, max_full): (Each, Option<FullLimit>),
    options: Options,
) -> (FailuresDocument, Errors) {
    let percent = max_full.map(|limit| limit.0);
    let choosing = &prepared.shown;
    let shown = prepared.after.bindings.iter().map(|binding| choosing.includes(binding));
    let shown: Option<Vec<bool>> = choosing.is_partial().then(|| shown.collect());
    let Failures { rows, errors } = failures(&prepared.after, &right.side, each, options, percent, shown.as_deref());
    let document = FailuresDocument {
        totals: FailureTotals::of(&rows, prepared.left_out.objects),
        format: FORMAT,
        after: right.document.clone(),
        assumes: options.assumes,
        each: each.word().to_owned(),
        failures: rows,
        errors: errors.counted,
        notes: prepared.notes.clone(),
    };
    (document, errors)
}

/// Exit code of bindings that are in error without any loss, also of those that are not chosen. Says how many there are.
pub(super) fn exit_of_errors(errors: Errors, hint: &str, console: &Console) -> Exit {
    let message = match (errors.counted, errors.others) {
        (0, 0) => return Exit::Success,
        (counted_errors, 0) => format!("{} in error without any loss", counted(counted_errors, "binding")),
        (0, others) => format!("{} in error without any loss, not chosen", counted(others, "binding")),
        (chosen, others) => format!(
            "{} in error without any loss, {others} of them not chosen",
            counted(chosen + others, "binding")
        ),
    };
    console.message(|out| {
        headline(out, "error", style::ERROR, &message)?;
        remark(out, "hint", hint)
    });
    Exit::Usage
}

/// Exit code of the losses of all clusters, regions, zones or providers.
fn exit_of_losses(
    arguments: &DiffArguments,
    (document, errors): (&FailuresDocument, Errors),
    console: &Console,
) -> Exit {
    let too_full = document.failures.iter().filter(|row| row.too_full).count();
    if let (Some(FullLimit(percent)), true) = (arguments.max_full, too_full > 0) {
        let losses = if too_full == 1 {
            "1 loss fills".to_owned()
        } else {
            format!("{too_full} losses fill")
        };
        let message = format!("{losses} a cluster beyond what `--max-full` allows ({percent}%)");
        console.message(|out| headline(out, "error", style::ERROR, &message));
    }
    let of_errors = exit_of_errors(errors, "`divvy diff` without `--without-each` says why", console);
    if of_errors != Exit::Success {
        return of_errors;
    }
    let is_harmful = |row: &FailureRow| row.lost > 0 || row.newly_unschedulable > 0 || row.newly_in_error > 0;
    match too_full > 0 || document.failures.iter().any(is_harmful) {
        true => Exit::Unschedulable,
        false => Exit::Success,
    }
}

fn exit(arguments: &DiffArguments, document: &Document, console: &Console) -> Exit {
    let totals = &document.totals;
    let movement = totals.movement;
    let is_exceeded = arguments
        .max_moved
        .is_some_and(|limit| limit.is_exceeded(movement.moved, totals.replicas));
    if let (true, Some(limit)) = (is_exceeded, arguments.max_moved) {
        let limit = match limit {
            MovedLimit::Replicas(most) => most.to_string(),
            MovedLimit::Percent(most) => format!("{most}% of {}", totals.replicas),
        };
        let moved = usize::try_from(movement.moved).unwrap_or(usize::MAX);
        let message = format!(
            "{} {}, more than `--max-moved` allows ({limit})",
            counted(moved, "replica"),
            plural(moved, "moves", "move")
        );
        console.message(|out| headline(out, "error", style::ERROR, &message));
    }
    let limit = arguments.max_full;
    let too_full = limit.map(|FullLimit(percent)| too_full(&document.clusters, percent));
    if let (Some(FullLimit(percent)), Some(found @ [_, ..])) = (limit, too_full.as_deref()) {
        let names = found.iter().map(|found| {
            let TooFull {
                cluster,
                resource,
                percent,
            } = found;
            format!("{cluster} ({resource} {percent}%)")
        });
        let names: Vec<String> = names.collect();
        let is = if found.len() == 1 { "is" } else { "are" };
        let message = format!(
            "{} {is} fuller than `--max-full` allows ({percent}%): {}",
            counted(found.len(), "cluster"),
            listed(names.iter().map(String::as_str), NAMED_MAX)
        );
        console.message(|out| headline(out, "error", style::ERROR, &message));
    }
    let is_too_full = too_full.is_some_and(|clusters| !clusters.is_empty());
    let is_harmful = totals.newly_unschedulable > 0
        || totals.newly_in_error > 0
        || totals.down > 0
        || movement.lost > 0
        || movement.stranded > 0;
    match is_harmful || is_exceeded || is_too_full || arguments.exit_code && totals.changed > 0 {
        true => Exit::Unschedulable,
        false => Exit::Success,
    }
}

/// Prints a document, unless the output is suppressed.
pub(super) fn print(
    arguments: &SituationArguments,
    output: &Output,
    console: &Console,
    content: &dyn Content,
) -> Result<(), Failure> {
    match arguments.choosing.quiet {
        true => Ok(()),
        false => output.print(content, console),
    }
}

/// Prints notes beside a table. Documents for programs contain them.
pub(super) fn print_notes(arguments: &SituationArguments, output: &Output, notes: &[String], console: &Console) {
    if arguments.choosing.quiet || !output.is_table() {
        return;
    }
    for note in notes {
        console.message(|out| headline(out, "note", style::HINT, note));
    }
}
