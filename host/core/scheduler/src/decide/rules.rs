//! The rules by which a woken binding is decided: the five of Karmada (`doScheduleBinding`, `pkg/scheduler/scheduler.go:420`),
//! and those of Divvy's own.
//!
//! A binding to which no rule applies is satisfied: it keeps its replicas, and at most its status is updated.

use divvy_karmada::api::{Placement, ReadJson, ReplicaSchedulingType, TargetCluster};

use super::policy::{AppliedPolicy, Request};
use crate::profile::Profile;

/// The rule by which a binding is decided, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The placement differs from the one that was applied.
    PlacementChanged,
    /// Strategy or preferences differ from those that were applied.
    PolicyChanged,
    /// The replicas of the result do not add up.
    ReplicasChanged,
    /// A reschedule from scratch was requested since.
    RescheduleRequested,
    /// The result has fewer replicas than requested, and a cluster may have room for more.
    RoomGrew,
    /// The resource goes to every candidate, so that each change of the clusters counts.
    GoesEverywhere,
    /// A cluster of the result is being deleted.
    ClusterDeleting,
    /// A cluster changed, and the profile moves satisfied bindings for that reason.
    ClustersChanged,
    /// The time until which the result holds, according to a plugin, has passed.
    ResultExpired,
    /// The binding was on its way to another result, and someone else has changed it since.
    MoveInterrupted,
    /// A cluster that was left against the policy's wish has been Ready again for the time of the profile, and takes replicas back.
    TakesBack,
}

/// Relation between the replicas of a result and those of the binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// They add up to the binding's replicas.
    Divided,
    /// Each cluster has the binding's replicas.
    Duplicated,
    /// Nothing is expected of them: the placement has no `replicaScheduling`.
    Unknown,
}

/// A woken binding with everything that the rules read.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// Replicas that it asks for.
    pub replicas: i64,
    /// Its result.
    pub last: &'a [TargetCluster],
    /// Name of the affinity group in use; empty if there is none.
    pub observed_affinity: &'a str,
    /// The request in its own annotations.
    pub own: &'a Request,
    /// The placement.
    pub placement: &'a Placement,
    /// The placement as JSON.
    pub placement_text: &'a str,
    /// The annotation `policy.karmada.io/applied-placement`.
    pub applied_placement: Option<&'a str>,
    /// Relation between the replicas of a result and those of the binding.
    pub sum: Sum,
    /// The policy's request that is in force.
    pub policy: &'a Request,
    /// The request that the last decision answered.
    pub applied: Option<&'a AppliedPolicy>,
    /// True if a reschedule was requested that no decision has answered.
    pub is_reschedule_pending: bool,
    /// True if a cluster changed, and the profile moves satisfied bindings for that reason.
    pub is_moved_by_clusters: bool,
    /// True if a cluster may have more room than when the result was decided.
    pub has_room_grown: bool,
    /// The current time, in milliseconds since 1970; `None` if it is not known, in which case no result has expired.
    pub time: Option<i64>,
    /// True if the binding is on its way to a result that adds up, by a valid mark.
    pub is_moving: bool,
}

impl Sum {
    /// The sum of a binding's results, by its placement alone.
    pub fn from_placement(placement: &Placement) -> Self {
        match &placement.replica_scheduling {
            None => Self::Unknown,
            Some(strategy) if strategy.replica_scheduling_type == Some(ReplicaSchedulingType::Duplicated.into()) => {
                Self::Duplicated
            }
            Some(_) => Self::Divided,
        }
    }

    /// The sum of a binding's results under a profile. A strategy that an annotation names, the binding's before the
    /// policy's, overrides the placement.
    pub fn under(profile: &Profile, placement: &Placement, own: &Request, policy: &Request) -> Self {
        let named = own.strategy.as_deref().or(policy.strategy.as_deref()).map(str::trim);
        match named.and_then(|name| profile.strategy(name).ok()) {
            Some(strategy) if strategy.duplicates() => Self::Duplicated,
            Some(_) => Self::Divided,
            None => Self::from_placement(placement),
        }
    }
}

/// The rule by which a binding is decided; `None` if it is satisfied. `is_deleting` is true for the name of a cluster that is
/// being deleted.
pub fn reason_to_decide(standing: &Standing<'_>, is_deleting: impl Fn(&str) -> bool) -> Option<Reason> {
    if placement_changed(standing) {
        return Some(Reason::PlacementChanged);
    }
    if policy_changed(standing) {
        return Some(Reason::PolicyChanged);
    }
    let partial_of = partial_of(standing);
    let is_partial = partial_of == Some(standing.replicas);
    // A part of another number is decided even if it adds up by now, because its condition says that replicas are missing.
    let adds_up = standing.is_moving || !replicas_changed(standing);
    if !is_partial && (partial_of.is_some() || !adds_up) {
        return Some(Reason::ReplicasChanged);
    }
    if standing.is_reschedule_pending {
        return Some(Reason::RescheduleRequested);
    }
    if is_partial && standing.has_room_grown {
        return Some(Reason::RoomGrew);
    }
    if goes_everywhere(standing.replicas, standing.sum) {
        return Some(Reason::GoesEverywhere);
    }
    let deleting = standing.last.iter().any(|target| is_deleting(&target.name));
    if deleting {
        return Some(Reason::ClusterDeleting);
    }
    if standing.is_moved_by_clusters {
        return Some(Reason::ClustersChanged);
    }
    has_expired(standing).then_some(Reason::ResultExpired)
}

/// True if the time until which the result holds has passed.
fn has_expired(standing: &Standing<'_>) -> bool {
    let valid_until = standing.applied.and_then(|applied| applied.valid_until);
    standing
        .time
        .zip(valid_until)
        .is_some_and(|(time, until)| time >= until)
}

/// True if the applied placement differs (`placementChanged`, `pkg/scheduler/helper.go:36`).
///
/// If there are several affinity groups, only the observed one is compared, and `workloadAffinity` is not compared; but
/// without an observed group any difference counts. An annotation that cannot be read counts as unchanged.
fn placement_changed(standing: &Standing<'_>) -> bool {
    let Some(applied) = standing.applied_placement.filter(|text| !text.is_empty()) else {
        return true;
    };
    // Nearly always, the text is unchanged.
    if applied == standing.placement_text {
        return false;
    }
    // serde would read a struct from a list too.
    let is_object = applied.trim_start().starts_with('{');
    let Some(applied) = is_object.then(|| Placement::from_json(applied).ok()).flatten() else {
        return false;
    };
    let current = standing.placement;
    if applied == *current {
        return false;
    }
    if applied.cluster_affinity != current.cluster_affinity
        || applied.cluster_tolerations != current.cluster_tolerations
        || applied.spread_constraints != current.spread_constraints
        || applied.replica_scheduling != current.replica_scheduling
        || applied.cluster_priority != current.cluster_priority
    {
        return true;
    }
    let observed = standing.observed_affinity;
    if observed.is_empty() {
        return true;
    }
    let group = |placement: &Placement| {
        let mut groups = placement.cluster_affinities.iter();
        groups.find(|group| group.affinity_name == observed).cloned()
    };
    match (group(&applied), group(current)) {
        (Some(applied), Some(current)) => applied != current,
        _ => true,
    }
}

/// True if the request of the policy or the binding differs from the applied one. Without a record of it, only a request
/// that asks for something differs.
fn policy_changed(standing: &Standing<'_>) -> bool {
    match standing.applied {
        Some(applied) => applied.policy != *standing.policy || applied.binding != *standing.own,
        None => *standing.policy != Request::default() || *standing.own != Request::default(),
    }
}

/// Replicas that were requested when the result was decided, if it has fewer.
fn partial_of(standing: &Standing<'_>) -> Option<i64> {
    let of = standing.applied.and_then(|applied| applied.partial_of);
    of.filter(|_| standing.sum == Sum::Divided)
}

/// True if the replicas of the result do not add up (`IsBindingReplicasChanged`, `pkg/util/binding.go:38`).
fn replicas_changed(standing: &Standing<'_>) -> bool {
    let mut targets = standing.last.iter().map(|target| i64::from(target.replicas));
    match standing.sum {
        Sum::Divided => targets.sum::<i64>() != standing.replicas,
        Sum::Duplicated => targets.any(|own| own != standing.replicas),
        Sum::Unknown => false,
    }
}

/// True if the resource is not a workload, or is duplicated: such a binding is decided whenever it is woken. A placement
/// without `replicaScheduling` duplicates (`ReplicaSchedulingType`, `pkg/apis/policy/v1alpha1`).
pub fn goes_everywhere(replicas: i64, sum: Sum) -> bool {
    replicas == 0 || sum != Sum::Divided
}

#[cfg(test)]
mod tests;
