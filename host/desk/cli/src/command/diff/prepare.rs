//! The input of both sides: the situation as it was read, and with overlays and changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_forecast::change::{ChangeError, ResolvedChanges};
use divvy_forecast::document::{OverlayRow, SideDocument};
use divvy_forecast::eviction::{Horizon, evict};
use divvy_forecast::notes;
use divvy_forecast::situation::{ClusterEntry, Situation};
use divvy_karmada::detector::Detected;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_loader::PluginDirectories;
use divvy_manifests::{Manifests, WorkloadLabels};
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::profile::ConfiguredProfile;

use super::arguments::{MissingClusters, SituationArguments};
use super::overlaid::{self, Overlays};
use crate::command::choosing::Shown;
use crate::command::clusters;
use crate::command::input::LeftOut;
use crate::command::origin::Origin;
use crate::command::schedule::{PlanFindings, check_strategy, report_warnings};
use crate::command::tables::check_clusters;

/// One side with the names that are printed.
pub(in crate::command) struct Loaded {
    pub(in crate::command) side: ConfiguredProfile,
    pub(in crate::command) document: SideDocument,
}

/// The input of both sides, and the findings of preparing it.
pub(in crate::command) struct Prepared {
    /// Input as it was read.
    pub(in crate::command) original: Situation,
    /// Input of the left side.
    pub(in crate::command) base: Situation,
    /// Input of the right side.
    pub(in crate::command) after: Situation,
    pub(in crate::command) notes: Vec<String>,
    /// The objects of the overlays, and those that are deleted.
    pub(super) overlay: Vec<OverlayRow>,
    /// Bindings that overlays and deletions leave without a policy.
    pub(super) left_without_policy: usize,
    /// Objects of the input with problems that did not end the run.
    pub(in crate::command) left_out: LeftOut,
    /// The bindings to show.
    pub(in crate::command) shown: Shown,
    pub(super) changes: ResolvedChanges,
    /// Where the input and the overlays came from.
    pub(in crate::command) origin: Origin,
}

/// Loads the plugins of one side.
pub(in crate::command) fn load(
    chosen: &ChosenProfile,
    strategy: Option<&str>,
    directories: &PluginDirectories,
) -> Result<Loaded, Failure> {
    let profile = chosen.build(directories)?;
    let strategy = strategy
        .map(|strategy| check_strategy(strategy, &profile))
        .transpose()?;
    let profile = Arc::new(profile.overriding_strategy(strategy.clone()));
    let document = SideDocument {
        profile: profile.name().to_owned(),
        strategy,
        changes: Vec::new(),
    };
    Ok(Loaded {
        side: ConfiguredProfile::new(profile, &chosen.configuration),
        document,
    })
}

/// The input with the overlays.
struct Laid {
    situation: Situation,
    /// The labels of its workloads.
    labels: WorkloadLabels,
    /// The objects of the overlays, and those that are deleted.
    rows: Vec<OverlayRow>,
    /// Bindings that have a policy in the input and none with the overlays.
    left_without_policy: usize,
}

/// Reads the input, lays the overlays over it and makes the changes. A change that cannot be made ends the
/// run before anything is decided, as does a problem, unless objects with problems are left out.
pub(in crate::command) fn prepare(
    arguments: &SituationArguments,
    kinds: &WorkloadKinds,
    (right, left): (&Loaded, Option<&Loaded>),
    needs_bindings: bool,
    console: &Console,
) -> Result<Prepared, Failure> {
    let needs_raw = |loaded: &Loaded| loaded.side.profile.needs_raw_clusters();
    let keep_json = needs_raw(right) || left.is_some_and(needs_raw);
    let (mut manifests, overlays, origin) = read(arguments, kinds, keep_json)?;
    let choosing = &arguments.choosing;
    let live = choosing.live_workloads(&arguments.input, &manifests, console)?;
    let labels = choosing.labels(&manifests, &live);
    // Detection takes the policies out.
    let under = overlays.is_given().then(|| manifests.clone());
    let mut detected = manifests.detect(kinds.clone());
    if !choosing.quiet {
        warn(right, &manifests, &mut detected, console);
    }
    let mut problems = manifests.problems.clone();
    problems.extend(overlays.problems());
    let left_out = arguments.input.judge(&problems, console)?;
    let original = original(arguments, &manifests, detected, needs_bindings)?;
    let laid = match under {
        Some(manifests) => lay_over(&overlays, manifests, &original, kinds, |manifests| {
            choosing.labels(manifests, &live)
        })?,
        None => Laid {
            situation: original.clone(),
            labels,
            rows: Vec::new(),
            left_without_policy: 0,
        },
    };
    let shown = choosing.shown(laid.situation.bindings.iter().map(Arc::as_ref), &laid.labels)?;
    let changes = arguments.changes.changes().resolve(&laid.situation, &original);
    let changes = changes.map_err(|errors| refused(&errors))?;
    let loses = |situation: Situation| match arguments.missing_clusters {
        MissingClusters::Lost => situation.losing_missing(),
        MissingClusters::Error => situation,
    };
    let mut base = loses(original.clone());
    let (mut after, applied) = changes.apply(&loses(laid.situation));
    if !choosing.quiet {
        warn_of_tables((right, left), &original, &after, console);
    }
    let mut notes = notes::on_changes(&changes, &applied);
    notes.extend(laid.rows.iter().filter_map(overlaid::note));
    notes.extend(notes_on_taints(arguments, &changes, &mut base, &mut after));
    Ok(Prepared {
        original,
        base,
        after,
        notes,
        overlay: laid.rows,
        left_without_policy: laid.left_without_policy,
        left_out,
        shown,
        changes,
        origin,
    })
}

/// Reads the input and the overlays.
fn read(
    arguments: &SituationArguments,
    kinds: &WorkloadKinds,
    keep_json: bool,
) -> Result<(Manifests, Overlays, Origin), Failure> {
    let (mut manifests, mut origin) = arguments.input.read(kinds, keep_json)?;
    let mut overlays = Overlays::read(arguments, kinds, keep_json);
    overlays.files().for_each(|files| origin.add_files(files));
    // Reported with those of the input.
    manifests.warnings.append(&mut overlays.take_warnings());
    Ok((manifests, overlays, origin))
}

/// The situation as it was read. It must have something to compare.
fn original(
    arguments: &SituationArguments,
    manifests: &Manifests,
    detected: Detected,
    needs_bindings: bool,
) -> Result<Situation, Failure> {
    if manifests.clusters.is_empty() || detected.bindings.is_empty() && needs_bindings {
        return Err(nothing_to_compare());
    }
    let original = situation(manifests, detected);
    let missing = original.missing();
    if !missing.is_empty() && arguments.missing_clusters == MissingClusters::Error {
        return Err(missing_clusters(&missing));
    }
    Ok(original)
}

/// Lays the overlays over the input.
fn lay_over(
    overlays: &Overlays,
    mut manifests: Manifests,
    original: &Situation,
    kinds: &WorkloadKinds,
    labels: impl FnOnce(&Manifests) -> WorkloadLabels,
) -> Result<Laid, Failure> {
    let changes = overlays.lay_over(&mut manifests)?;
    let labels = labels(&manifests);
    let detected = manifests.detect(kinds.clone());
    let mut laid = situation(&manifests, detected);
    laid.changed.extend(overlays.clusters());
    // As with `--without`: their replicas are lost, and bindings that list them are decided.
    let deleted = original
        .clusters
        .keys()
        .filter(|name| !laid.clusters.contains_key(*name));
    let deleted: Vec<String> = deleted.cloned().collect();
    laid.changed.extend(deleted.iter().cloned());
    laid.gone.extend(deleted);
    Ok(Laid {
        rows: overlays.rows(&changes, original, &laid),
        left_without_policy: left_without_policy(original, &laid),
        situation: laid,
        labels,
    })
}

/// Bindings that have a policy in one situation and none in another.
fn left_without_policy(original: &Situation, laid: &Situation) -> usize {
    let governed = original.bindings.iter().filter(|binding| binding.policy.is_some());
    let governed: BTreeSet<_> = governed.map(|binding| binding.identity()).collect();
    let left = laid.bindings.iter().filter(|binding| binding.policy.is_none());
    left.filter(|binding| governed.contains(&binding.identity())).count()
}

/// Warnings about the input.
fn warn(right: &Loaded, manifests: &Manifests, detected: &mut Detected, console: &Console) {
    let profile = &right.side.profile;
    let scheduler = Scheduler::new(Arc::clone(profile));
    let findings = PlanFindings::of(&detected.bindings, &scheduler, profile);
    report_warnings(manifests, detected, false, findings, console);
}

/// Warnings about rows of tables that are for no cluster. A table may also name clusters that do not exist yet.
fn warn_of_tables(
    (right, left): (&Loaded, Option<&Loaded>),
    original: &Situation,
    after: &Situation,
    console: &Console,
) {
    let known = original.clusters.values().chain(after.clusters.values());
    let profiles = [Some(right), left].into_iter().flatten();
    check_clusters(
        profiles.map(|loaded| &*loaded.side.profile),
        known.map(|entry| &entry.object),
        Some(console),
    );
}

/// Evicts bindings from tainted clusters on both sides, if requested. Returns notes on what stays there.
fn notes_on_taints(
    arguments: &SituationArguments,
    changes: &ResolvedChanges,
    base: &mut Situation,
    after: &mut Situation,
) -> Vec<String> {
    let handled: BTreeSet<String> = changes.drained.union(&changes.failed).cloned().collect();
    if !arguments.evict_no_execute {
        return notes::not_evicted(after, &handled).into_iter().collect();
    }
    let tainted = notes::tainted(base);
    evict(base, &tainted, Horizon::AtOnce);
    let tainted = notes::tainted(after);
    let departures = evict(after, &tainted, Horizon::AtOnce);
    let others = tainted.difference(&handled);
    others
        .flat_map(|cluster| notes::remaining(cluster, &departures))
        .collect()
}

fn nothing_to_compare() -> Failure {
    let message = "there is nothing to compare: the input needs clusters and bindings, or workloads with policies";
    Failure::usage(Diagnostic::new(message))
}

fn situation(manifests: &Manifests, detected: Detected) -> Situation {
    let clusters = manifests.clusters.iter().map(|located| ClusterEntry {
        object: located.object.clone(),
        json: located.json.clone(),
    });
    Situation::new(clusters, detected.bindings)
}

fn missing_clusters(missing: &BTreeMap<String, i64>) -> Failure {
    let message = clusters::assigned_to_missing(missing);
    let hint = "add the clusters to the input, or pass `--missing-clusters lost` if they are gone";
    Failure::usage(Diagnostic::new(message).with_hint(hint))
}

fn refused(errors: &[ChangeError]) -> Failure {
    let diagnostics = errors.iter().map(|error| Diagnostic {
        hint: error.hint(),
        ..Diagnostic::new(error.to_string())
    });
    Failure::usage_errors(diagnostics.collect())
}
