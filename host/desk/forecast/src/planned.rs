//! Plans that move others, in the form in which documents have them.

use serde::Serialize;

use crate::cost::HourlyCost;

/// A plan, and what no plan can be below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rebalanced {
    /// Bindings of which some replicas are not placed, sorted by key.
    pub waiting: Vec<WaitingRow>,
    /// Bindings that move so that others find room, sorted by key.
    pub moves: Vec<MoveRow>,
    /// Bindings that the plan leaves as they are, whatever others need, by reason.
    pub stays: Vec<StayRow>,
    /// What no plan can be below.
    pub bound: Bound,
    /// Most replicas that may move. Absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
    /// Costs by the prices of the profile, without the plan and with it. Absent unless the profile has `[profile.cost]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<PlanCosts>,
    /// Moves against what they gain, in the order of moves. Absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Vec<CurveRow>>,
    /// Sums.
    pub totals: RebalanceTotals,
}

/// What everything costs for an hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanCosts {
    /// Unit of the prices, as the profile names it.
    pub unit: String,
    /// Without the plan.
    pub now: HourlyCost,
    /// With the plan.
    pub planned: HourlyCost,
    /// With `--within`: the share of the least cost that the plan may cost more, such as `2%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// With `--within`: the least cost of the plans that were found and place as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<HourlyCost>,
    /// With `--within`: what no plan costs less than that places the same, as a decimal number. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
}

/// A plan on the curve of moves against what they gain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CurveRow {
    /// Replicas that leave their cluster.
    pub moves: i64,
    /// Bindings that wait and are placed.
    pub placed: usize,
    /// Their replicas.
    pub replicas: i64,
    /// What everything costs for an hour. Absent unless the profile has `[profile.cost]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<HourlyCost>,
}

/// What moves of others would place of what waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CouldPlace {
    /// Bindings that wait for room.
    pub waiting: usize,
    /// Those that would be placed.
    pub placed: usize,
    /// Replicas of others that would move for it.
    pub moves: i64,
}

/// A binding that waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitingRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Generation of the binding of which the plan is made.
    pub generation: i64,
    /// Strategy; empty if the binding is invalid.
    pub strategy: String,
    /// Priority.
    pub priority: i32,
    /// Replicas requested.
    pub replicas: i64,
    /// Replicas that are not placed without the plan.
    pub missing: i64,
    /// True if the plan places all of them.
    #[serde(rename = "placed")]
    pub is_placed: bool,
    /// Clusters whose number of replicas the plan changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<MovedCluster>,
    /// Why the plan does not place it; empty if it does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A binding that moves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MoveRow {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Generation of the binding of which the plan is made.
    pub generation: i64,
    /// Strategy.
    pub strategy: String,
    /// Replicas requested.
    pub replicas: i64,
    /// Replicas that leave their cluster.
    pub moved: i64,
    /// Clusters whose number of replicas changes.
    pub clusters: Vec<MovedCluster>,
}

/// A cluster in which a binding gets another number of replicas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MovedCluster {
    /// Name of the cluster.
    pub name: String,
    /// Replicas without the plan.
    pub before: i64,
    /// Replicas under the plan.
    pub after: i64,
}

/// Bindings that stay for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StayRow {
    /// The reason.
    pub reason: String,
    /// Number of bindings.
    pub bindings: usize,
}

/// What no plan can be below: limits of spread constraints, plugins' own rules and whole replicas could only add to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    /// Of the bindings that wait and may be placed by a plan, how many must wait in any plan. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<usize>,
    /// The same for each priority, together with all that are higher: what is less urgent takes no room there. Absent if all that wait have
    /// one priority.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_priority: Vec<PriorityBound>,
    /// Replicas that any plan moves which places the same bindings. Absent if there is no plan, or if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<i64>,
    /// Bindings that would wait even if nothing else had to be placed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<MustWait>,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// How many of the bindings of a priority and of higher ones must wait.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PriorityBound {
    /// The priority.
    pub priority: i32,
    /// Bindings that wait and have it, or a higher one.
    pub waiting: usize,
    /// Those of them that wait in any plan, at least.
    pub must_wait: usize,
}

/// A binding that would wait even if all others that may move left their clusters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MustWait {
    /// `<namespace>/<name>`, or only the name.
    pub binding: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Priority.
    #[serde(skip)]
    pub priority: i32,
    /// Replicas that would fit.
    pub fits: i64,
    /// Replicas that are missing.
    pub replicas: i64,
    /// The resource that stops most clusters; absent if its filters leave it none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

impl MustWait {
    /// `shop/web (fits 0 of 4: nvidia.com/gpu)`.
    pub fn text(&self) -> String {
        let Self {
            binding,
            fits,
            replicas,
            resource,
            ..
        } = self;
        match resource {
            Some(resource) => format!("{binding} (fits {fits} of {replicas}: {resource})"),
            None => format!("{binding} (fits {fits} of {replicas}: its filters leave no other cluster)"),
        }
    }
}

/// Sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RebalanceTotals {
    /// Bindings that wait.
    pub waiting: usize,
    /// Those that the plan places.
    pub placed: usize,
    /// Replicas that are not placed without the plan.
    pub missing: i64,
    /// Replicas that leave their cluster.
    pub moved: i64,
    /// Bindings that they belong to.
    pub moved_bindings: usize,
    /// Objects of the input that cannot be read and are left out, with `--keep-going`.
    pub left_out: usize,
}
