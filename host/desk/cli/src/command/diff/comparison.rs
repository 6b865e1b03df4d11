//! Both futures of `divvy diff`, compared: the document, the views of clusters, and the bindings of a page.

use std::collections::{BTreeMap, BTreeSet};

use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::progress::Progress;
use divvy_forecast::cluster_view::{self, ClusterViewsDocument, Placed};
use divvy_forecast::document::{BindingRow, Document, FORMAT, SideDocument, Sums, Totals};
use divvy_forecast::forecast::{Comparison, compare, placed};
use divvy_forecast::future::{Entry, Explains, Future, Options};
use divvy_forecast::latent::latent;
use divvy_forecast::load;
use divvy_forecast::notes;
use divvy_forecast::rebalance::place_pending;
use divvy_forecast::sums::{sums, top};
use divvy_forecast::violations::violations;
use divvy_page::Explanations;

use super::arguments::{DiffArguments, SumOf};
use super::{Input, Prepared, fault};
use crate::command::choosing::{Shown, keep_top};
use crate::command::reasons;
use crate::report::binding_errors::BindingError;
use crate::report::locations::{self, FaultLocation};
use crate::report::{forecast as report, page};

/// Both futures.
pub(in crate::command) struct Futures {
    /// The left side; `None` if it is what was read, and nothing else is decided.
    base: Option<Future>,
    after: Future,
}

/// Both futures, compared.
pub(super) struct Compared {
    pub(super) document: Document,
    /// The views of the clusters that are shown.
    pub(super) views: Option<ClusterViewsDocument>,
    /// The bindings, if a page shows them.
    pub(super) page: Option<Page>,
}

/// All bindings in both states, for a page.
pub(super) struct Page {
    pub(super) bindings: Vec<divvy_page::Binding>,
    /// Bindings that are not shown.
    pub(super) hidden: usize,
    pub(super) explanations: Explanations,
}

impl Futures {
    /// Decides both sides.
    pub(super) fn decide(input: &Input) -> Self {
        let Input {
            prepared,
            right,
            options,
            ..
        } = input;
        let progress = Progress::start("deciding");
        // Reasons of the left side are never printed.
        let unexplained = Options {
            explains: Explains::Nothing,
            ..*options
        };
        let futures = match input.has_base() {
            true => {
                let base = (&prepared.base, &input.left().side, unexplained);
                let (base, after) = Future::decide_both(base, (&prepared.after, &right.side, *options));
                Self {
                    base: Some(base),
                    after,
                }
            }
            false => Self {
                base: None,
                after: Future::decide(&prepared.after, &right.side, *options),
            },
        };
        drop(progress);
        let decisions = futures.after.entries.iter().filter_map(|entry| entry.decision());
        decisions.for_each(reasons::decision);
        futures
    }

    /// Compares both sides.
    pub(super) fn compare(&self, arguments: &DiffArguments, input: &Input) -> Result<Compared, Failure> {
        let (base, after) = (self.base.as_ref(), &self.after);
        let (Prepared { original, .. }, side) = (&*input.prepared, &input.right.side);
        let _progress = Progress::start("comparing");
        let mut comparison = compare(original, base, (&input.prepared.after, after), &side.profile);
        locate(&mut comparison.bindings, after);
        let latent = latent(after, side, input.options, arguments.latent);
        let today = base.unwrap_or(after);
        let violations = violations(original, today, side, input.options, arguments.violations);
        let violations = violations.map_err(|error| Failure::internal(Diagnostic::new(error.to_string())))?;
        let place_pending = arguments
            .place_pending
            .then(|| place_pending(after, side, input.options));
        let views = (!input.clusters.is_empty() && !arguments.output.is_page()).then(|| self.views(&comparison, input));
        let page = arguments.output.is_page().then(|| self.page(&comparison, input));
        let mut notes = input.prepared.notes.clone();
        notes.extend(notes::growth_on_cordoned(&input.prepared.changes, &comparison.bindings));
        let document = Document {
            format: FORMAT,
            base: input.has_base().then(|| SideDocument {
                changes: Vec::new(),
                ..input.left().document.clone()
            }),
            after: input.right.document.clone(),
            assumes: input.options.assumes,
            bindings: comparison.bindings,
            sums: None,
            cost: load::total_costs(&comparison.clusters, comparison.gone.as_ref(), side.profile.pricing()),
            clusters: comparison.clusters,
            totals: Totals {
                left_out: Some(input.prepared.left_out.objects),
                left_without_policy: input.prepared.left_without_policy,
                ..comparison.totals
            },
            pending: comparison.pending,
            overlay: input.prepared.overlay.clone(),
            latent,
            violations,
            place_pending,
            notes,
        };
        Ok(Compared { document, views, page })
    }

    /// The bindings that are shown, with their clusters on both sides.
    fn shown<'a>(&'a self, input: &'a Input) -> Vec<Placed<'a>> {
        let profile = &input.right.side.profile;
        let placed = placed(&input.prepared.original, self.base.as_ref(), &self.after, profile).into_iter();
        placed
            .filter(|placed| input.prepared.shown.includes(placed.binding))
            .collect()
    }

    fn views(&self, comparison: &Comparison, input: &Input) -> ClusterViewsDocument {
        let names: Vec<&str> = input.clusters.iter().map(String::as_str).collect();
        let mut views = cluster_view::views(&names, &comparison.clusters, &self.shown(input));
        views.totals.left_out = input.prepared.left_out.objects;
        views
    }

    fn page(&self, comparison: &Comparison, input: &Input) -> Page {
        let mut explanations = Explanations::for_scope(input.options.explains == Explains::Assigned);
        let bindings = page::compared(&self.shown(input), &comparison.bindings, &mut explanations);
        Page {
            hidden: self.after.entries.len() - bindings.len(),
            bindings,
            explanations,
        }
    }

    /// Errors of both sides that are not outcomes of scheduling, each once. A binding that is invalid without the changes is only warned
    /// of, unless it determines the exit code.
    pub(super) fn errors(&self, strict: bool) -> Vec<BindingError> {
        let base = self.base.iter().flat_map(|base| &base.entries);
        let invalid = |entry: &&Entry| entry.error().is_some_and(|error| fault(error) == Exit::Usage);
        let as_before: BTreeSet<_> = match strict {
            true => BTreeSet::new(),
            false => base
                .clone()
                .filter(invalid)
                .map(|entry| entry.binding.identity())
                .collect(),
        };
        let entries = self.after.entries.iter().chain(base);
        let errors = entries.filter_map(|entry| Some((entry, entry.error()?)));
        let errors = errors.filter(|(_, error)| fault(error) > Exit::Success);
        let mut known = BTreeSet::new();
        errors
            .map(|(entry, error)| BindingError {
                is_warning: fault(error) == Exit::Usage && as_before.contains(&entry.binding.identity()),
                ..BindingError::of(&entry.binding, error)
            })
            .filter(|error| known.insert((error.binding.clone(), error.message.clone())))
            .collect()
    }

    /// Exit code of the errors of both sides. A binding that only the changes make invalid is an effect of the changes and counted as
    /// such. One that is invalid without them is not their fault, and only counts if `strict`.
    pub(super) fn fault(&self, strict: bool) -> Exit {
        let worst = |future: &Future| {
            let errors = future.entries.iter().filter_map(|entry| entry.error());
            errors.map(fault).max().unwrap_or_default()
        };
        match (self.base.as_ref().map(worst), worst(&self.after)) {
            (None, after) | (Some(_), after @ Exit::Internal) => after,
            (Some(Exit::Usage), _) if !strict => Exit::Success,
            (Some(base), _) => base,
        }
    }
}

/// Adds the locations of what is wrong to the rows of invalid bindings.
fn locate(rows: &mut [BindingRow], after: &Future) {
    let located = |entry: &Entry| {
        let location = locations::fault(&entry.binding, entry.error()?)?;
        let kind = entry.binding.object.scope().kind().to_owned();
        Some(((kind, entry.binding.key()), location))
    };
    let mut known: BTreeMap<(String, String), FaultLocation> = after.entries.iter().filter_map(located).collect();
    if known.is_empty() {
        return;
    }
    for row in rows {
        if let Some(found) = known.remove(&(row.kind.clone(), row.binding.clone())) {
            (row.location, row.locations) = (found.first, Some(found.all));
        }
    }
}

/// Takes bindings out of a document that are not shown. Returns how many of them change.
pub(super) fn hide(shown: &Shown, document: &mut Document) -> usize {
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
    if let Some(plan) = &mut document.place_pending {
        plan.retain(|binding, kind| shown.includes_key(binding, kind));
    }
    before - changed(document)
}

/// The policy of each binding, by kind and key: the one that it gets, or else the one that it had.
pub(super) fn policies(prepared: &Prepared) -> BTreeMap<(&'static str, String), String> {
    let bindings = prepared.original.bindings.iter().chain(&prepared.after.bindings);
    let policies = bindings.filter_map(|binding| {
        let policy = binding.policy.as_ref()?.object_name().to_string();
        Some(((binding.object.scope().kind(), binding.key()), policy))
    });
    policies.collect()
}

/// Sums the shown changes up, if that is requested. The sums then replace the bindings in tables.
pub(super) fn sum_up(
    arguments: &DiffArguments,
    policies: &BTreeMap<(&'static str, String), String>,
    document: &mut Document,
) {
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
pub(super) fn shorten(arguments: &DiffArguments, document: &mut Document) -> usize {
    let Some(most) = arguments.top else { return 0 };
    if let Some(sums) = &mut document.sums {
        return keep_top(&mut sums.rows, Some(most));
    }
    document.bindings.retain(report::is_shown);
    let left_out = document.bindings.len().saturating_sub(most);
    top(&mut document.bindings, most);
    left_out
}
