//! A forecast in the form in which it is written as JSON. The schema is in `schema/diff.json`.
//!
//! Fields are only ever added; a change of meaning would raise `format`.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use divvy_scheduler::cycle::CycleError;
use serde::Serialize;

use crate::cost::Costs;
use crate::movement::Movement;
use crate::planned::Rebalanced;

/// Version of the documents' form.
pub const FORMAT: u32 = 1;

/// Both futures of every binding, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Version of this form: 1.
    pub format: u32,
    /// The left side: decided without the changes. Absent if there are no changes; `totals` then counts from the assigned
    /// clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<SideDocument>,
    /// The right side.
    pub after: SideDocument,
    /// True if each result takes its new replicas from the capacity that later ones see.
    pub assumes: bool,
    /// Bindings whose clusters are not the same in all states, or that cannot be scheduled.
    pub bindings: Vec<BindingRow>,
    /// Every cluster, including ones that bindings list but that do not exist.
    pub clusters: Vec<ClusterRow>,
    /// Effect of the changes: from base to after.
    pub totals: Totals,
    /// Moves that are pending without the changes: from the assigned clusters to base. Absent without a base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Totals>,
    /// The changes by namespace or policy. Absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sums: Option<Sums>,
    /// Costs of all clusters. Absent unless the profile of the right side has `[profile.cost]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Costs>,
    /// The objects of overlays, and those that are deleted. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlay: Vec<OverlayRow>,
    /// Satisfied bindings that would be placed differently if they were rescheduled.
    pub latent: Latent,
    /// Replicas on clusters whose filters would refuse a newcomer today.
    pub violations: Violations,
    /// What moves of others would place of what waits after the changes. Absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_pending: Option<Rebalanced>,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// One side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SideDocument {
    /// Name of the profile.
    pub profile: String,
    /// Strategy that divides every binding, regardless of its policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// The changes, as on the command line, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// One object of an overlay, or one that is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OverlayRow {
    /// Kind, namespace and name, such as `PropagationPolicy shop/web`.
    pub object: String,
    /// Location in the overlay, as `FILE:LINE`; absent if the object is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `added`, `changed`, `same` or `deleted`.
    pub change: String,
    /// For a policy, the bindings that it governs afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governs: Option<usize>,
    /// For a policy, the bindings that it governs afterwards and did not govern before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gains: Option<usize>,
    /// For a policy, the bindings that it governed before and does not govern afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loses: Option<usize>,
    /// Reasons why it has no effect, and mistakes in it, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// One binding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BindingRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Strategy on the right side; empty if the binding is invalid.
    pub strategy: String,
    /// Requested replicas on the right side.
    pub replicas: i64,
    /// Replicas of the result on the right side; only if they are fewer than requested, as `divvy.io/quorum` allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<i64>,
    /// Result on the right side: `Scheduled`, `Satisfied`, `Skipped`, `NoClusterFit`, `Unschedulable`, `Error`, or `Deleted` if the
    /// binding does not exist there.
    pub result: String,
    /// Reason why it is not scheduled, or has fewer replicas than requested; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The same as counts, if no cluster fits. Tables shorten it.
    #[serde(skip)]
    pub rejections: Option<Rejections>,
    /// Location of what is wrong with an invalid binding, as `FILE:LINE`, if the caller knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// All locations of it. Tables print them.
    #[serde(skip)]
    pub locations: Option<String>,
    /// Replicas that it asks for and that run nowhere on the right side.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: i64,
    /// Missing replicas that are not missing on the left side.
    #[serde(skip_serializing_if = "is_zero")]
    pub newly_missing: i64,
    /// True if it cannot be scheduled on the right side, but can on the left.
    pub newly_unschedulable: bool,
    /// True if it can be scheduled on the right side, but not on the left.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub newly_schedulable: bool,
    /// Its clusters in any state, by name.
    pub clusters: Vec<ClusterCounts>,
    /// Effect of the changes: from base to after.
    pub movement: Movement,
    /// Moves that are pending without the changes: from the assigned clusters to base. Absent without a base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<Movement>,
}

/// Clusters that were rejected, of all clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejections {
    /// Number of clusters.
    pub clusters: usize,
    /// Rejected clusters per reason, the most frequent reason first.
    pub reasons: Vec<(usize, String)>,
}

impl Rejections {
    /// Those of an error; `None` if it is another one.
    pub fn of(error: &CycleError) -> Option<Self> {
        match error {
            CycleError::NoClusterFit { clusters, reasons } => Some(Self {
                clusters: *clusters,
                reasons: reasons.clone(),
            }),
            _ => None,
        }
    }
}

/// Replicas of one binding on one cluster. A count is absent in a state in which the binding does not have the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterCounts {
    /// Name of the cluster.
    pub name: String,
    /// Replicas assigned now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Without the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<i64>,
    /// With the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
}

/// One cluster: all replicas of all bindings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterRow {
    /// Name.
    pub name: String,
    /// Region; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub region: String,
    /// False if the cluster does not exist on the right side.
    pub exists: bool,
    /// Replicas assigned.
    pub before: i64,
    /// Replicas without the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<i64>,
    /// Replicas with the changes.
    pub after: i64,
    /// Replicas that the cluster gains although they do not fit: the fewest that would have to be removed again.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_capacity: i64,
    /// Costs of all replicas. Absent unless the profile has `[profile.cost]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Costs>,
    /// Use of each resource that the cluster reports, in thousandths for `cpu` and in whole units for others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, ResourceRow>,
}

fn is_zero(count: &i64) -> bool {
    *count == 0
}

/// Use of one resource of one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResourceRow {
    /// Quantity for pods.
    pub allocatable: i64,
    /// Requested by pods, as the cluster reports it.
    pub before: i64,
    /// With the replicas of the base state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<i64>,
    /// With the replicas of the state after the changes.
    pub after: i64,
}

/// The changes by namespace or policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Sums {
    /// `namespace` or `policy`.
    pub by: String,
    /// The sums, those that lose the most first.
    pub rows: Vec<SumRow>,
}

/// The changes of one namespace or policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SumRow {
    /// The namespace, or kind, namespace and name of the policy; empty for bindings without one.
    pub name: String,
    /// Bindings whose clusters or replicas change.
    pub changed: usize,
    /// Replicas that move, come or go.
    #[serde(flatten)]
    pub movement: Movement,
    /// Replicas that are missing, and not without the changes.
    pub newly_missing: i64,
    /// Bindings that cannot be scheduled any more.
    pub newly_unschedulable: usize,
    /// Bindings that can be scheduled now.
    pub newly_schedulable: usize,
    /// Bindings that are invalid, or whose decision a plugin failed.
    pub errors: usize,
}

/// Sums over all bindings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Bindings whose clusters or replicas change.
    pub changed: usize,
    /// Replicas in the earlier state.
    pub replicas: i64,
    /// Replicas that move, come or go.
    #[serde(flatten)]
    pub movement: Movement,
    /// Replicas that bindings ask for and that run nowhere in the later state: below the full count of a quorum, of bindings that wait,
    /// lost, stranded or down, and in copies of duplicated bindings that their clusters had.
    pub missing: i64,
    /// Missing replicas that are not missing in the earlier state.
    pub newly_missing: i64,
    /// Newly missing replicas in copies of duplicated bindings that run on other clusters.
    pub missing_copies: i64,
    /// Bindings that cannot be scheduled in the later state.
    pub unschedulable: usize,
    /// Unschedulable bindings that can be scheduled in the earlier state.
    pub newly_unschedulable: usize,
    /// Bindings that can be scheduled in the later state, and not in the earlier one.
    pub newly_schedulable: usize,
    /// Bindings that are invalid, or whose decision a plugin failed.
    pub errors: usize,
    /// Bindings in error that are not in error in the earlier state.
    pub newly_in_error: usize,
    /// Replicas that clusters gain although they do not fit: the fewest that would have to be removed again.
    pub beyond_capacity: i64,
    /// Clusters that use more of a resource than they have in the later state.
    pub full: usize,
    /// Full clusters that are not full in the earlier state.
    pub newly_full: usize,
    /// Replicas that stay on clusters that failed, where nothing runs.
    pub down: i64,
    /// Bindings that have a policy in the input and none after overlays and deletions: they keep their placement, and no change of a policy
    /// reaches them any more.
    pub left_without_policy: usize,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`. Absent in `pending`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.changed += other.changed;
        self.replicas += other.replicas;
        self.movement += other.movement;
        self.missing += other.missing;
        self.newly_missing += other.newly_missing;
        self.missing_copies += other.missing_copies;
        self.unschedulable += other.unschedulable;
        self.newly_unschedulable += other.newly_unschedulable;
        self.newly_schedulable += other.newly_schedulable;
        self.errors += other.errors;
        self.newly_in_error += other.newly_in_error;
        self.beyond_capacity += other.beyond_capacity;
        self.full += other.full;
        self.newly_full += other.newly_full;
        self.down += other.down;
        self.left_without_policy += other.left_without_policy;
    }
}

/// Satisfied bindings that would be placed differently if they were rescheduled, each on its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Latent {
    /// Number of bindings.
    pub count: usize,
    /// Replicas that would move, come or go.
    #[serde(flatten)]
    pub movement: Movement,
    /// The bindings, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<LatentRow>>,
}

/// A binding that a reschedule would move.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LatentRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// The clusters: `before` with the replicas that it keeps, `after` with those that it would get.
    pub clusters: Vec<ClusterCounts>,
    /// Reason why it could not be scheduled; empty if it could.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Replicas on clusters whose filters would refuse a newcomer today.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Violations {
    /// Number of pairs of a binding and a cluster.
    pub count: usize,
    /// Replicas on the cluster.
    pub replicas: i64,
    /// The pairs, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<ViolationRow>>,
}

/// A binding on a cluster that would be refused today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ViolationRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Replicas on the cluster; 0 for a resource without replicas.
    pub replicas: i64,
}

/// The loss of each cluster, region, zone or provider, one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FailuresDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The side that decides.
    pub after: SideDocument,
    /// True if each result takes its new replicas from the capacity that later ones see.
    pub assumes: bool,
    /// `cluster`, `region`, `zone` or `provider`.
    pub each: String,
    /// The losses, worst first.
    pub failures: Vec<FailureRow>,
    /// Sums over all losses.
    pub totals: FailureTotals,
    /// Bindings that are invalid, or whose decision a plugin fails, without any loss.
    pub errors: usize,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}

/// Sums over all losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FailureTotals {
    /// Losses.
    pub losses: usize,
    /// Losses by which no replica is lost or missing and no binding fails, within the capacity of other clusters. Copies of duplicated
    /// bindings that run on other clusters may be missing.
    pub absorbed: usize,
    /// The same, but beyond the capacity of other clusters.
    pub absorbed_beyond_capacity: usize,
    /// Losses of both kinds after which copies of duplicated bindings are missing.
    pub missing_copies: usize,
    /// Losses that fill a cluster beyond what `--max-full` allows.
    pub too_full: usize,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`.
    pub left_out: usize,
}

impl FailureTotals {
    /// The sums of these losses. `left_out` objects of the input are left out.
    pub fn of(rows: &[FailureRow], left_out: usize) -> Self {
        let is_harmless = |row: &&FailureRow| row.is_absorbed();
        let beyond = rows
            .iter()
            .filter(is_harmless)
            .filter(|row| row.beyond_capacity > 0)
            .count();
        Self {
            losses: rows.len(),
            absorbed: rows.iter().filter(is_harmless).count() - beyond,
            absorbed_beyond_capacity: beyond,
            missing_copies: rows.iter().filter(is_harmless).filter(|row| row.missing > 0).count(),
            too_full: rows.iter().filter(|row| row.too_full).count(),
            left_out,
        }
    }
}

/// One loss.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FailureRow {
    /// Name of the cluster, region, zone or provider.
    pub name: String,
    /// Clusters that are lost.
    pub clusters: usize,
    /// Displaced replicas: those that run there without the loss.
    pub displaced: i64,
    /// Displaced replicas that other clusters take over.
    pub rehomed: i64,
    /// Displaced replicas that a decision gives up, such as those of a workload that runs on all clusters alike. They may be missing.
    pub removed: i64,
    /// Displaced replicas that no cluster takes over, and all others that are lost.
    pub lost: i64,
    /// Lost replicas that ran on other clusters. Without them, displaced replicas are rehomed, removed or lost.
    pub lost_elsewhere: i64,
    /// Replicas that are missing, and not without the loss: those that are lost, that wait, that a quorum does without, and those in
    /// copies of duplicated bindings.
    pub missing: i64,
    /// Missing replicas in copies of duplicated bindings that run on other clusters.
    pub missing_copies: i64,
    /// Bindings that cannot be scheduled any more.
    pub newly_unschedulable: usize,
    /// Bindings that the loss makes invalid, or whose decision a plugin fails because of it.
    pub newly_in_error: usize,
    /// Replicas that other clusters gain although they do not fit: the fewest that would have to be removed again.
    pub beyond_capacity: i64,
    /// Clusters that use more of a resource than they have, but not without the loss.
    pub newly_full: usize,
    /// True if a cluster gains and is then fuller than `--max-full` allows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub too_full: bool,
    /// The fullest cluster afterwards; absent if no cluster reports resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tightest: Option<Tightest>,
}

impl FailureRow {
    /// True if nothing is lost or missing, except for copies of duplicated bindings that run on other clusters, and no binding fails.
    pub fn is_absorbed(&self) -> bool {
        self.lost == 0
            && self.missing == self.missing_copies
            && self.newly_unschedulable == 0
            && self.newly_in_error == 0
    }

    /// Displaced replicas that are lost. Displaced replicas are rehomed, removed or lost.
    pub fn lost_here(&self) -> i64 {
        self.lost - self.lost_elsewhere
    }
}

/// The fullest resource of the fullest cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tightest {
    /// Name of the cluster.
    pub cluster: String,
    /// The resource.
    pub resource: String,
    /// Use in percent of the allocatable quantity, rounded down.
    pub percent: i64,
}
