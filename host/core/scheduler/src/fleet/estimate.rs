//! Karmada's general estimate: the number of replicas that fit in each cluster now.
//!
//! Source: Karmada v1.19-rc, `pkg/estimator/client/general.go` and `pkg/scheduler/core/estimation.go`. A cluster
//! without a resource summary has no room. Free pods bound every estimate, and a requested resource that is not
//! allocatable reduces it to 0. If a cluster reports its nodes by resource model, the models replace the summed
//! resources.
//!
//! The outer loops run over resources and the inner ones over clusters, so that columns are read from start to end.

use divvy_framework_view::clusters::{Cluster, Clusters, Column, Model, RemainingColumns, Row};

use super::Ledger;

/// Resource that each replica takes one unit of.
pub const PODS: &str = "pods";

/// Estimate that Karmada returns if nothing bounds a cluster.
pub const UNBOUNDED: i64 = i32::MAX as i64;

/// Maximum pods per node in Karmada's simulation of resource models.
const PODS_PER_NODE: i64 = 110;

/// Demand of a binding, for which room is estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// No demand: neither replicas nor components.
    Nothing,
    /// Replicas with unknown requests; each takes one pod.
    Pods,
    /// Requests of one replica: resource and quantity, in the units of the snapshot.
    Requests(Vec<(String, i64)>),
    /// Complete sets of components, each component with its replicas and requests.
    Sets(Vec<ComponentDemand>),
}

/// One component of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentDemand {
    /// Replicas of this component per set.
    pub replicas: i64,
    /// Requests of one replica: resource and quantity, in the units of the snapshot.
    pub requests: Vec<(String, i64)>,
}

/// Fills `fits` with the replicas (or sets) that fit now, one count per entry of `rows`.
///
/// If nothing bounds a cluster, the count is `replicas`; for [`Demand::Nothing`] it is [`UNBOUNDED`]. If `ledger` is
/// given, capacity that it has booked does not count as free.
pub fn estimate(
    clusters: &Clusters<'_>,
    rows: &[u32],
    demand: &Demand,
    replicas: i64,
    ledger: Option<&Ledger>,
    fits: &mut [i64],
) {
    fits.fill(UNBOUNDED);
    let requests: &[(String, i64)] = match demand {
        Demand::Nothing => return,
        Demand::Pods => &[],
        Demand::Requests(requests) => requests,
        Demand::Sets(components) => {
            estimate_sets(clusters, rows, components, replicas, ledger, fits);
            return;
        }
    };
    let remaining = clusters.all_remaining();
    bound_by_pods(&remaining, rows, ledger, fits);
    if matches!(demand, Demand::Requests(_)) {
        // Clusters with models are skipped in the loop over resources and bounded by their nodes afterwards.
        let by_models = ModelBounds::new(clusters, requests);
        for (resource, quantity) in requests.iter().filter(|(_, quantity)| *quantity > 0) {
            bound_by_resource(&remaining, rows, (resource, *quantity), ledger, &by_models, fits);
        }
        by_models.apply(clusters, rows, requests, ledger, fits);
    }
    for fit in fits.iter_mut() {
        if *fit >= UNBOUNDED {
            *fit = replicas;
        }
    }
}

/// Bounds each count by the cluster's free pods, which are 0 if the summary does not list them.
fn bound_by_pods(remaining: &RemainingColumns<'_>, rows: &[u32], ledger: Option<&Ledger>, fits: &mut [i64]) {
    match remaining.of(PODS) {
        Some(pods) => {
            let taken = taken(ledger, PODS);
            for (fit, &row) in fits.iter_mut().zip(rows) {
                *fit = free(pods, row, taken).clamp(0, UNBOUNDED);
            }
        }
        None => fits.fill(0),
    }
}

/// The ledger's bookings of a resource by row.
fn taken<'a>(ledger: Option<&'a Ledger>, resource: &str) -> &'a [i64] {
    ledger.map_or(&[], |ledger| ledger.column(resource))
}

/// Free quantity of a resource after the bookings in `taken`. Nothing is free if it is not positive.
#[inline]
fn free(remaining: Column<'_, Row, i64>, row: u32, taken: &[i64]) -> i64 {
    let row = row as usize;
    let remaining = remaining.get(Row::from_index(row)).unwrap_or(0);
    remaining.saturating_sub(taken.get(row).copied().unwrap_or(0))
}

fn bound_by_resource(
    remaining: &RemainingColumns<'_>,
    rows: &[u32],
    (resource, quantity): (&str, i64),
    ledger: Option<&Ledger>,
    by_models: &ModelBounds,
    fits: &mut [i64],
) {
    let Some(remaining) = remaining.of(resource) else {
        for (fit, _) in fits.iter_mut().zip(rows).filter(|(_, row)| !by_models.counts(**row)) {
            *fit = 0;
        }
        return;
    };
    let taken = taken(ledger, resource);
    let quantity = Divisor::new(quantity);
    for (fit, &row) in fits.iter_mut().zip(rows) {
        if by_models.counts(row) {
            continue;
        }
        *fit = (*fit).min(quantity.quotient(free(remaining, row, taken).max(0)));
    }
}

/// A divisor that is the same for all clusters. Multiplying by its reciprocal takes a third of the time of a division.
#[derive(Debug, Clone, Copy)]
struct Divisor {
    divisor: i64,
    /// 2⁶⁴ divided by it, at most 1 too small.
    reciprocal: u64,
}

impl Divisor {
    /// `divisor` must be positive.
    fn new(divisor: i64) -> Self {
        Self {
            divisor,
            reciprocal: u64::MAX / divisor.unsigned_abs(),
        }
    }

    /// The quotient of a dividend that is not negative, rounded down.
    #[inline]
    fn quotient(self, dividend: i64) -> i64 {
        let product = u128::from(dividend.unsigned_abs()) * u128::from(self.reciprocal);
        // The dividend is below 2⁶³, so the error of the reciprocal makes the quotient at most 1 too small.
        let quotient = (product >> 64) as i64;
        let rest = dividend - quotient * self.divisor;
        quotient + i64::from(rest >= self.divisor)
    }
}

/// Clusters that are estimated by their resource models.
struct ModelBounds {
    /// One entry per cluster of the snapshot, true if its models count; empty if no cluster has any.
    counts: Vec<bool>,
}

impl ModelBounds {
    fn new(clusters: &Clusters<'_>, requests: &[(String, i64)]) -> Self {
        let mut counts = Vec::new();
        if !requests.is_empty() && clusters.any_modelings() {
            counts.extend(clusters.iter().map(|cluster| counts_by_models(&cluster)));
        }
        Self { counts }
    }

    fn counts(&self, row: u32) -> bool {
        self.counts.get(row as usize).copied().unwrap_or(false)
    }

    /// Bounds the clusters whose models count by the capacity of their nodes.
    fn apply(
        &self,
        clusters: &Clusters<'_>,
        rows: &[u32],
        requests: &[(String, i64)],
        ledger: Option<&Ledger>,
        fits: &mut [i64],
    ) {
        if self.counts.is_empty() {
            return;
        }
        let mut sets = NodeCapacities::default();
        for (fit, &row) in fits.iter_mut().zip(rows) {
            if !self.counts(row) {
                continue;
            }
            let cluster = clusters.get(Row::from_index(row as usize));
            let held: i128 = sets
                .of(&cluster, requests)
                .iter()
                .map(|&(grade, capacity)| i128::from(nodes_of_grade(&cluster, grade)) * i128::from(capacity))
                .sum();
            let held = i64::try_from(held).unwrap_or(UNBOUNDED);
            *fit = (*fit).min((held - replicas_taken(requests, row, ledger)).max(0));
        }
    }
}

/// Grades and replicas per node for each set of models. Clusters share sets, so each is computed only once.
#[derive(Default)]
struct NodeCapacities {
    sets: Vec<Option<Vec<(i64, i64)>>>,
}

impl NodeCapacities {
    fn of(&mut self, cluster: &Cluster<'_>, requests: &[(String, i64)]) -> &[(i64, i64)] {
        let set = cluster.model_set() as usize;
        if self.sets.len() <= set {
            self.sets.resize(set + 1, None);
        }
        self.sets[set].get_or_insert_with(|| {
            let capacity = |model: &Model<'_>| (model.grade, replicas_per_node(model, requests));
            cluster.models().iter().map(capacity).collect()
        })
    }
}

/// True if a cluster is estimated by its models: its specification has models, its status reports nodes by model, and
/// no count is negative.
fn counts_by_models(cluster: &Cluster<'_>) -> bool {
    cluster.model_set() != 0 && cluster.modelings().next().is_some() && cluster.modelings().all(|(_, nodes)| nodes >= 0)
}

/// Number of nodes that a cluster reports for a grade. A grade that is reported twice counts twice.
fn nodes_of_grade(cluster: &Cluster<'_>, grade: i64) -> i64 {
    cluster
        .modelings()
        .filter(|(reported, _)| *reported == grade)
        .map(|(_, nodes)| nodes)
        .fold(0, i64::saturating_add)
}

/// A cluster's models with their node counts, the lowest grade first; `None` if the models do not count.
fn usable_models<'a>(cluster: &Cluster<'a>) -> Option<Vec<Model<'a>>> {
    if !counts_by_models(cluster) {
        return None;
    }
    let mut models = cluster.models();
    for model in &mut models {
        model.nodes = nodes_of_grade(cluster, model.grade);
    }
    models.sort_by_key(|model| model.grade);
    Some(models)
}

/// Replicas that fit on a node with the minimum of every range of its model.
fn replicas_per_node(model: &Model<'_>, requests: &[(String, i64)]) -> i64 {
    requests
        .iter()
        .filter(|(resource, quantity)| *quantity > 0 && is_known_to_models(resource))
        .map(|(resource, quantity)| on_node(model, resource) / quantity)
        .fold(PODS_PER_NODE, i64::min)
}

fn on_node(model: &Model<'_>, resource: &str) -> i64 {
    if resource == PODS {
        return PODS_PER_NODE;
    }
    model
        .ranges
        .iter()
        .find(|(name, _, _)| *name == resource)
        .map_or(0, |&(_, minimum, _)| minimum.max(0))
}

/// True if Karmada's simulation knows a resource: the standard ones, and scalar resources by the form of their names.
fn is_known_to_models(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory" | "ephemeral-storage" | PODS)
        || resource.contains('/')
        || resource.starts_with("hugepages-")
        || resource.starts_with("attachable-volumes-")
}

/// The ledger's bookings as a number of replicas with these requests. Models do not show which node a booking is on, so
/// it cannot be subtracted from a node.
fn replicas_taken(requests: &[(String, i64)], row: u32, ledger: Option<&Ledger>) -> i64 {
    let Some(ledger) = ledger.map(Ledger::by_models) else {
        return 0;
    };
    requests
        .iter()
        .filter(|(_, quantity)| *quantity > 0)
        .map(|(resource, quantity)| {
            let taken = ledger.taken(resource, row as usize);
            taken / quantity + i64::from(taken % quantity != 0)
        })
        .max()
        .unwrap_or(0)
}

/// Fills `fits` with the complete sets of components that fit.
fn estimate_sets(
    clusters: &Clusters<'_>,
    rows: &[u32],
    components: &[ComponentDemand],
    replicas: i64,
    ledger: Option<&Ledger>,
    fits: &mut [i64],
) {
    let pods_a_set: i64 = components
        .iter()
        .map(|component| component.replicas.max(0))
        .fold(0, i64::saturating_add);
    let remaining = clusters.all_remaining();
    bound_by_pods(&remaining, rows, ledger, fits);
    if pods_a_set == 0 {
        return;
    }
    let needs: Vec<_> = needs_of_a_set(components)
        .into_iter()
        .map(|(resource, need)| (need, remaining.of(resource), taken(ledger, resource)))
        .collect();
    for (fit, &row) in fits.iter_mut().zip(rows) {
        *fit /= pods_a_set;
        for (need, remaining, taken) in &needs {
            let left = remaining.map_or(0, |remaining| free(remaining, row, taken));
            let sets = i128::from(left.max(0)) / need;
            *fit = (*fit).min(i64::try_from(sets).unwrap_or(i64::MAX));
        }
        // The summed resources give an upper bound. Simulating the nodes is slower and can only lower it.
        if *fit > 0
            && let Some(models) = usable_models(&clusters.get(Row::from_index(row as usize)))
        {
            *fit = sets_on_nodes(&models, components, *fit);
        }
        if *fit >= UNBOUNDED {
            *fit = replicas;
        }
    }
}

/// Total quantity of each resource that one set needs.
fn needs_of_a_set(components: &[ComponentDemand]) -> Vec<(&str, i128)> {
    let mut needs: Vec<(&str, i128)> = Vec::new();
    for component in components {
        for (resource, quantity) in &component.requests {
            let need = i128::from(*quantity) * i128::from(component.replicas);
            match needs.iter_mut().find(|(known, _)| known == resource) {
                Some((_, sum)) => *sum += need,
                None => needs.push((resource, need)),
            }
        }
    }
    needs.retain(|(_, need)| *need > 0);
    needs
}

/// Number of sets that fit on the nodes, at most `limit`.
///
/// Sets are placed one after another, and in each set the components in turn, first fit on the nodes in grade order.
/// The first set that does not fit ends the count.
///
/// Equal nodes are kept as one run, so the work grows with the number of sets and grades, not of nodes.
fn sets_on_nodes(models: &[Model<'_>], components: &[ComponentDemand], limit: i64) -> i64 {
    let requests = components.iter().flat_map(|component| &component.requests);
    let requests = requests.filter(|(resource, quantity)| *quantity > 0 && is_known_to_models(resource));
    let mut resources: Vec<&str> = requests.map(|(resource, _)| resource.as_str()).collect();
    resources.sort_unstable();
    resources.dedup();
    let mut nodes: Vec<NodeRun> = models
        .iter()
        .filter(|model| model.nodes > 0)
        .map(|model| NodeRun {
            nodes: model.nodes,
            pods: PODS_PER_NODE,
            left: resources.iter().map(|resource| on_node(model, resource)).collect(),
        })
        .collect();
    let mut placed = 0;
    while placed < limit {
        for component in components {
            let requested = |resource: &&str| {
                let mut requests = component.requests.iter();
                requests
                    .find(|(name, _)| name == resource)
                    .map_or(0, |(_, quantity)| *quantity)
            };
            let requests: Vec<i64> = resources.iter().map(requested).collect();
            if !place(&mut nodes, &requests, component.replicas) {
                return placed;
            }
        }
        placed += 1;
    }
    placed
}

/// A run of nodes with the same free resources.
#[derive(Debug, Clone)]
struct NodeRun {
    nodes: i64,
    pods: i64,
    left: Vec<i64>,
}

impl NodeRun {
    fn room(&self, requests: &[i64]) -> i64 {
        self.left
            .iter()
            .zip(requests)
            .filter(|(_, request)| **request > 0)
            .map(|(left, request)| left / request)
            .fold(self.pods, i64::min)
    }

    fn take(&mut self, requests: &[i64], replicas: i64) {
        self.pods -= replicas;
        for (left, request) in self.left.iter_mut().zip(requests) {
            *left -= request * replicas;
        }
    }
}

/// Places a component's replicas first fit. Returns true if all of them fit.
fn place(nodes: &mut Vec<NodeRun>, requests: &[i64], replicas: i64) -> bool {
    let mut left = replicas;
    let mut position = 0;
    while left > 0 && position < nodes.len() {
        let room = nodes[position].room(requests);
        if room <= 0 {
            position += 1;
            continue;
        }
        // Fill up as many nodes as possible; the last replicas fit on one node.
        let (taken, each) = match (left / room).min(nodes[position].nodes) {
            0 => (1, left),
            full => (full, room),
        };
        // These nodes no longer equal the rest of their run.
        let mut rest = nodes[position].clone();
        rest.nodes -= taken;
        nodes[position].nodes = taken;
        nodes[position].take(requests, each);
        if rest.nodes > 0 {
            nodes.insert(position + 1, rest);
        }
        left -= taken * each;
        position += 1;
    }
    left == 0
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    /// Numbers around powers of two and of three, where rounding goes wrong first.
    fn numbers() -> impl Iterator<Item = i64> {
        let powers = (0..62).map(|power| 1_i64 << power);
        let others = (0..39).map(|power| 3_i64.pow(power));
        let around = |number: i64| (number - 2..=number + 2).chain([number / 7, i64::MAX - number]);
        powers.chain(others).flat_map(around).chain([i64::MAX])
    }

    #[test]
    fn a_quotient_by_multiplication_is_that_of_a_division() {
        for divisor in numbers().filter(|number| *number > 0) {
            let by = Divisor::new(divisor);
            for dividend in numbers().filter(|number| *number >= 0) {
                assert_eq!(by.quotient(dividend), dividend / divisor, "{dividend} / {divisor}");
            }
        }
    }
}
