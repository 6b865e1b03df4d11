//! The one loop that decides a binding: its affinity groups in turn, until one fits.

use std::ops::Range;

use divvy_framework_view::clusters::Clusters;
use divvy_spanned::names;

use super::quorum::{Fewer, Partial, Running};
use crate::cycle::{Cycle, CycleError, CycleInput, Detail, Explanation, Skipped, Target};
use crate::fleet::estimate::{Demand, estimate};
use crate::fleet::{FleetSnapshot, Ledger};
use crate::guard::guarded;
use crate::placements::Peers;
use crate::plan::{AffinityGroup, Decidable, Plan, PlanError};
use crate::profile::Profile;

/// Accurate estimates for one binding, beside Karmada's general estimate.
pub trait Estimates {
    /// Replicas, or sets of components, of this demand that fit now in a cluster; `None` if no estimator answered for it.
    fn fits(&self, cluster: &str, demand: &Demand) -> Option<i64>;
}

/// Everything that a decision reads beside the binding and its plan.
#[derive(Clone, Copy)]
pub struct Circumstances<'a> {
    /// Profile whose plugins decide.
    pub profile: &'a Profile,
    /// The clusters.
    pub fleet: &'a FleetSnapshot,
    /// Capacity that results have taken and clusters do not report yet; `None` if nothing is taken.
    pub ledger: Option<&'a Ledger>,
    /// Accurate estimates; `None` if only the general estimate counts.
    pub estimates: Option<&'a dyn Estimates>,
    /// True if the replicas are divided from scratch.
    pub fresh: bool,
    /// Time of the decision, in milliseconds since 1970; `None` if it is not known.
    pub time: Option<i64>,
    /// The binding's workload affinity groups and the other bindings in them; `None` if no plugin needs them or they are not
    /// known.
    pub peers: Option<&'a Peers>,
    /// Clusters that an explanation lists; `None` for no explanation.
    pub detail: Option<Detail>,
    /// Plugins that are not called, because the decision is known to have gone on without them.
    pub without: &'a [Skipped],
}

/// An affinity group that does not fit, with its error.
pub(super) struct FailedAttempt<'a> {
    pub(super) group: &'a AffinityGroup,
    pub(super) error: CycleError,
}

/// The outcome of the affinity groups that were tried.
#[derive(Default)]
pub(super) struct Attempt<'a> {
    /// The group that fits; `None` if none does, or if there are no groups.
    pub(super) fitting: Option<&'a AffinityGroup>,
    /// The other groups that were tried, none of which fits, in order.
    pub(super) failed: Vec<FailedAttempt<'a>>,
    /// The missing replicas, if the group that fits has fewer than requested.
    pub(super) partial: Option<Partial>,
    /// Explanation of the group that fits, otherwise of the first that was tried, if requested.
    pub(super) explanation: Option<Explanation>,
    /// Earliest time until which the answers of all groups that were tried hold.
    pub(super) valid_until: Option<i64>,
    /// The panic of Divvy that ended the attempt, regardless of the groups before it.
    pub(super) defect: Option<CycleError>,
    /// Plugins that failed, and that every group was tried without.
    pub(super) without: Vec<Skipped>,
}

impl Attempt<'_> {
    /// The error that is reported: a defect, otherwise that of the first group, which is the preferred one; `None` if a group fits.
    pub(super) fn error(&self) -> Option<&CycleError> {
        if self.defect.is_some() {
            return self.defect.as_ref();
        }
        match self.fitting {
            Some(_) => None,
            None => self.failed.first().map(|failed| &failed.error),
        }
    }

    /// True if the filters of every group that was tried reject all clusters.
    pub(super) fn fits_nowhere(&self) -> bool {
        let rejects_all = |failed: &FailedAttempt<'_>| matches!(failed.error, CycleError::NoClusterFit { .. });
        self.fitting.is_none() && !self.failed.is_empty() && self.failed.iter().all(rejects_all)
    }
}

/// Tries the affinity groups of a binding's plan in order, starting with the observed one, which was used last. If all of them lack room
/// and the plan has a quorum, they are tried for fewer replicas. Writes the clusters of the result to `targets`, sorted by name. A panic
/// of Divvy ends the attempt and leaves `cycle` and `targets` empty.
///
/// All groups are tried without the same plugins: one that fails in a later group is left out of the earlier ones as well, so that the
/// names of those left out suffice to decide in the same way again.
pub(super) fn try_groups<'a>(
    cycle: &mut Cycle,
    binding: &dyn Decidable,
    plan: &'a Plan,
    circumstances: &Circumstances<'_>,
    targets: &mut Vec<Target>,
) -> Attempt<'a> {
    let first = plan.first_group(binding.observed_affinity(), circumstances.fresh);
    try_range(cycle, binding, (plan, first..plan.groups.len()), circumstances, targets)
}

/// Decides a binding in one affinity group alone, given by its index in the plan, and writes the clusters of the result to `targets`,
/// sorted by name. Returns the missing replicas if there are fewer than requested.
///
/// # Errors
///
/// The error of the group, or [`CycleError::Defect`] if Divvy panics.
pub fn decide_in_group(
    cycle: &mut Cycle,
    binding: &dyn Decidable,
    (plan, group): (&Plan, usize),
    circumstances: &Circumstances<'_>,
    targets: &mut Vec<Target>,
) -> Result<Option<Partial>, CycleError> {
    let attempt = try_range(cycle, binding, (plan, group..group + 1), circumstances, targets);
    match (attempt.defect, attempt.fitting, attempt.failed.into_iter().next()) {
        (Some(defect), ..) => Err(defect),
        (None, None, Some(failed)) => Err(failed.error),
        _ => Ok(attempt.partial),
    }
}

/// Tries these groups of a plan in order.
fn try_range<'a>(
    cycle: &mut Cycle,
    binding: &dyn Decidable,
    (plan, groups): (&'a Plan, Range<usize>),
    circumstances: &Circumstances<'_>,
    targets: &mut Vec<Target>,
) -> Attempt<'a> {
    let mut without = circumstances.without.to_vec();
    let attempt = guarded(|| {
        loop {
            let circumstances = Circumstances {
                without: &without,
                ..*circumstances
            };
            let attempt = try_once(cycle, binding, (plan, groups.clone()), &circumstances, targets);
            // Each round leaves out at least one more plugin, and their number is limited.
            if attempt.without.len() <= without.len() || attempt.failed.is_empty() && attempt.partial.is_none() {
                return attempt;
            }
            without = attempt.without;
        }
    });
    attempt.unwrap_or_else(|defect| {
        *cycle = Cycle::new();
        targets.clear();
        Attempt {
            defect: Some(CycleError::Defect(defect)),
            ..Attempt::default()
        }
    })
}

/// Tries the groups once. A plugin that fails in one of them is left out of the later ones.
fn try_once<'a>(
    cycle: &mut Cycle,
    binding: &dyn Decidable,
    (plan, groups): (&'a Plan, Range<usize>),
    circumstances: &Circumstances<'_>,
    targets: &mut Vec<Target>,
) -> Attempt<'a> {
    let mut attempt = Attempt {
        without: circumstances.without.to_vec(),
        ..Attempt::default()
    };
    targets.clear();
    let first = groups.start;
    let mut running = Running::default();
    for group in &plan.groups[groups] {
        let (mut result, explanation) = run_group(cycle, plan, group, circumstances, &mut attempt, targets);
        if plan.quorum.is_some() {
            // The first group is the one that the last result is in.
            if attempt.failed.is_empty() {
                running = Running::of(binding, plan, circumstances, cycle);
            }
            result = result.and_then(|()| running.check(plan.replicas, targets, circumstances));
        }
        match result {
            Ok(()) => {
                attempt.fitting = Some(group);
                attempt.explanation = explanation;
                return attempt;
            }
            Err(error) => {
                let error = naming_lists(error, circumstances.profile, plan);
                // Of several failures, the first is reported.
                if attempt.failed.is_empty() {
                    attempt.explanation = explanation;
                }
                attempt.failed.push(FailedAttempt { group, error });
            }
        }
    }
    if let Some(quorum) = plan.quorum {
        let fewer = Fewer {
            cycle,
            binding,
            plan,
            first,
            quorum,
            running: &running,
            circumstances,
            targets,
            attempt: &mut attempt,
        };
        fewer.divide();
    }
    attempt
}

/// Runs the cycle of one group. A result is written to `targets`; what the attempt has to know of every cycle is added to it.
pub(super) fn run_group(
    cycle: &mut Cycle,
    plan: &Plan,
    group: &AffinityGroup,
    circumstances: &Circumstances<'_>,
    attempt: &mut Attempt<'_>,
    targets: &mut Vec<Target>,
) -> (Result<(), CycleError>, Option<Explanation>) {
    targets.clear();
    let input = CycleInput {
        fresh: circumstances.fresh,
        time: circumstances.time,
        peers: circumstances.peers,
        without: &attempt.without,
        ..CycleInput::new(circumstances.profile, circumstances.fleet, plan, group)
    };
    let estimated = |rows: &[u32], fits: &mut [i64]| estimate_fits(plan, circumstances, rows, fits);
    let (result, explanation) = cycle.run_with_estimates(&input, circumstances.detail, estimated);
    // The targets borrow the cycle, whose figures are read later.
    let result = result.map(|found| {
        check_targets(found);
        targets.extend_from_slice(found);
    });
    if cycle.skipped().len() > attempt.without.len() {
        attempt.without = cycle.skipped().to_vec();
    }
    // A group that fails counts too, because it may fit later, and the decision would then be another.
    attempt.valid_until = attempt.valid_until.into_iter().chain(cycle.valid_until()).min();
    (result, explanation)
}

/// Asserts the properties of a result that later code relies on: one pass pairs the targets with the last result, and the API's counts
/// have 32 bits.
fn check_targets(targets: &[Target]) {
    assert!(
        targets.is_sorted_by(|left, right| left.row < right.row),
        "the clusters of a result are not sorted, or one occurs twice"
    );
    assert!(
        targets
            .iter()
            .all(|target| (0..=i64::from(i32::MAX)).contains(&target.replicas)),
        "a result has a count that is negative or does not fit into 32 bits"
    );
}

/// The general estimate, or the estimator's answer if that is smaller, as in Karmada.
fn estimate_fits(plan: &Plan, circumstances: &Circumstances<'_>, rows: &[u32], fits: &mut [i64]) {
    let Circumstances { fleet, ledger, .. } = circumstances;
    let clusters: Clusters<'_> = fleet.snapshot().clusters();
    estimate(&clusters, rows, &plan.demand, plan.replicas, *ledger, fits);
    // An estimator does not know a resource without replicas.
    let Some(estimates) = circumstances.estimates.filter(|_| plan.demand != Demand::Nothing) else {
        return;
    };
    for (fits, &row) in fits.iter_mut().zip(rows) {
        let accurate = estimates.fits(fleet.name(row), &plan.demand);
        *fits = accurate.map_or(*fits, |accurate| accurate.min(*fits));
    }
}

/// The error of a binding that has no plan.
pub(super) fn planless(error: &PlanError, profile: &Profile) -> CycleError {
    match error {
        PlanError::Invalid(error) => CycleError::InvalidBinding {
            message: error.to_string(),
            annotation: error.annotation().map(Into::into),
            hint: profile.hint_at(error),
        },
        PlanError::Defect(defect) => CycleError::Defect(defect.clone()),
    }
}

/// In an error about an unknown key, suggests a list that the strategy reads. The plugin cannot suggest it: it sees only the keys that
/// remain after the host has read those lists.
fn naming_lists(mut error: CycleError, profile: &Profile, plan: &Plan) -> CycleError {
    if let CycleError::InvalidPreferences { message, hint, .. } = &mut error
        && let Some(key) = message.strip_prefix("unknown key `")
        && let Some(key) = key.strip_suffix('`')
    {
        let lists = profile.declarations().preference_keys(&plan.strategy);
        if let Some(near) = names::nearest(key, lists.iter().map(String::as_str)) {
            *hint = Some(format!("did you mean `{near}`?"));
        }
    }
    error
}
