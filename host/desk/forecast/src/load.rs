//! Replicas and resources of each cluster, before and after.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;
use divvy_scheduler::cost::{Amounts, KnownCost, Pricing};
use divvy_scheduler::fleet::{Footprint, requests, units};

use crate::cost::{CostParts, Costs, GoneCosts, HourlyCost};
use crate::document::{ClusterRow, ResourceRow, Tightest};
use crate::situation::{Assignment, Situation};

/// The resource that each replica takes one unit of.
const PODS: &str = "pods";

/// One state of all bindings, summed per cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct Load {
    clusters: HashMap<String, ClusterLoad>,
    /// Prices, if costs are counted.
    pricing: Option<Arc<Pricing>>,
}

/// The sums of one cluster.
#[derive(Debug, Clone, Default)]
struct ClusterLoad {
    replicas: i64,
    /// By resource. There are so few that searching in order is the fastest.
    requested: Vec<(String, i128)>,
    /// Resources with a price. Unlike `requested`, they include those of components.
    priced: Amounts,
}

impl ClusterLoad {
    fn request(&mut self, resource: &str, more: i128) {
        match self.requested.iter_mut().find(|(name, _)| name == resource) {
            Some((_, sum)) => *sum += more,
            None => self.requested.push((resource.to_owned(), more)),
        }
    }
}

impl Load {
    /// An empty state. Costs are counted if there are prices.
    pub(crate) fn new(pricing: Option<&Arc<Pricing>>) -> Self {
        Self {
            clusters: HashMap::new(),
            pricing: pricing.cloned(),
        }
    }

    /// Adds a binding on its clusters.
    pub(crate) fn add(&mut self, binding: &Binding, targets: &Assignment) {
        let requests: Vec<(&str, i64)> = requested(binding).collect();
        let priced = self.pricing.as_deref();
        let priced = priced.map(|pricing| (Footprint::new(&binding.object.spec), pricing.gpu()));
        for (cluster, &replicas) in targets {
            // Nearly all entries exist: their names are copied only for the first binding of a cluster.
            if !self.clusters.contains_key(cluster) {
                self.clusters.insert(cluster.clone(), ClusterLoad::default());
            }
            let Some(load) = self.clusters.get_mut(cluster) else {
                continue;
            };
            load.replicas += replicas;
            if let Some((footprint, gpu)) = &priced {
                load.priced = load.priced.with_each(footprint.amounts(replicas, gpu), 1);
            }
            if replicas == 0 {
                continue;
            }
            for (name, quantity) in &requests {
                load.request(name, i128::from(*quantity) * i128::from(replicas));
            }
        }
    }

    /// Adds another load.
    pub(crate) fn merge(&mut self, other: Self) {
        for (cluster, load) in other.clusters {
            let sum = self.clusters.entry(cluster).or_default();
            sum.replicas += load.replicas;
            sum.priced = sum.priced.with_each(load.priced, 1);
            for (name, more) in load.requested {
                sum.request(&name, more);
            }
        }
    }

    fn replicas(&self, cluster: &str) -> i64 {
        self.clusters.get(cluster).map_or(0, |load| load.replicas)
    }

    /// The cost of a cluster; `None` if costs are not counted.
    fn cost(&self, name: &str, cluster: Option<&Cluster>) -> Option<HourlyCost> {
        let pricing = self.pricing.as_deref()?;
        let amounts = self.clusters.get(name).map(|load| load.priced).unwrap_or_default();
        Some(pricing.cost(cluster, amounts).into())
    }

    /// The cost of all clusters; `None` if costs are not counted.
    pub(crate) fn total_cost<'a>(&self, cluster: &impl Fn(&str) -> Option<&'a Cluster>) -> Option<KnownCost> {
        let pricing = self.pricing.as_deref()?;
        let costs = self.clusters.iter();
        Some(costs.map(|(name, load)| pricing.cost(cluster(name), load.priced)).sum())
    }

    fn requested(&self, cluster: &str, resource: &str) -> i128 {
        let mut requested = self.clusters.get(cluster).into_iter().flat_map(|load| &load.requested);
        requested.find(|(name, _)| name == resource).map_or(0, |(_, sum)| *sum)
    }
}

/// Each resource that a replica of a binding takes, with the quantity.
pub(crate) fn requested(binding: &Binding) -> impl Iterator<Item = (&str, i64)> {
    let needs = binding.object.spec.replica_requirements.as_ref();
    requests(needs.map(|needs| &needs.resource_request))
        .filter(|(name, quantity)| *name != PODS && *quantity > 0)
        .chain([(PODS, 1)])
}

/// The load of every cluster that exists or that a binding lists.
pub(crate) fn rows(
    original: &Situation,
    after_situation: &Situation,
    before: &Load,
    base: Option<&Load>,
    after: &Load,
) -> Vec<ClusterRow> {
    let states = [Some(before), base, Some(after)];
    let listed = states.into_iter().flatten().flat_map(|load| load.clusters.keys());
    let existing = original.clusters.keys().chain(after_situation.clusters.keys());
    let names: std::collections::BTreeSet<&String> = listed.chain(existing).collect();
    names
        .into_iter()
        .map(|name| {
            let found = after_situation.clusters.get(name);
            let cluster = known(original, after_situation, name);
            ClusterRow {
                name: name.clone(),
                region: cluster.map(|cluster| cluster.spec.region.clone()).unwrap_or_default(),
                exists: found.is_some(),
                before: before.replicas(name),
                base: base.map(|base| base.replicas(name)),
                after: after.replicas(name),
                beyond_capacity: 0,
                cost: costs(name, cluster, before, base, after),
                resources: cluster
                    .map(|cluster| resources(cluster, before, base, after))
                    .unwrap_or_default(),
            }
        })
        .collect()
}

/// A cluster of the later situation, or else of the original one.
pub(crate) fn known<'a>(original: &'a Situation, after: &'a Situation, name: &str) -> Option<&'a Cluster> {
    let found = after.clusters.get(name).or(original.clusters.get(name));
    found.map(|entry| &entry.object)
}

/// The costs of a cluster in each state; `None` if costs are not counted.
fn costs(name: &str, cluster: Option<&Cluster>, before: &Load, base: Option<&Load>, after: &Load) -> Option<Costs> {
    let cost = |load: &Load| load.cost(name, cluster);
    let pricing = before.pricing.as_deref()?;
    Some(Costs::new(pricing, cost(before)?, base.and_then(cost), cost(after)?))
}

/// The costs of all clusters; `None` if there are no prices. `gone` is what replicas cost that run nowhere afterwards.
pub fn total_costs(rows: &[ClusterRow], gone: Option<&GoneCosts>, pricing: Option<&Arc<Pricing>>) -> Option<Costs> {
    let pricing = pricing?;
    let sum = |read: fn(&Costs) -> &HourlyCost| {
        let costs = rows.iter().filter_map(|row| row.cost.as_ref());
        let sum: KnownCost = costs.map(|costs| KnownCost::from(read(costs))).sum();
        HourlyCost::from(sum)
    };
    let mut costs = rows.iter().filter_map(|row| row.cost.as_ref());
    let has_base = costs.any(|costs| costs.base.is_some());
    let base = has_base.then(|| sum(Costs::from));
    let mut costs = Costs::new(pricing, sum(|costs| &costs.before), base, sum(|costs| &costs.after));
    if let Some(gone) = gone {
        costs.parts = costs.change.and_then(|change| CostParts::new(change, gone));
        costs.movement = gone.movement;
    }
    Some(costs)
}

/// Use of each resource that a cluster reports: the reported use, with the difference that each state makes.
fn resources(cluster: &Cluster, before: &Load, base: Option<&Load>, after: &Load) -> BTreeMap<String, ResourceRow> {
    let Some(summary) = &cluster.status.resource_summary else {
        return BTreeMap::new();
    };
    let name = &cluster.metadata.name;
    let rows = summary.allocatable.iter().map(|(resource, quantity)| {
        let of = |list: &divvy_karmada::api::ResourceList| {
            list.get(resource).map_or(0, |quantity| units(resource, *quantity))
        };
        let used = of(&summary.allocated).saturating_add(of(&summary.allocating));
        let with = |load: &Load| {
            let change = load.requested(name, resource) - before.requested(name, resource);
            let used = i128::from(used) + change;
            i64::try_from(used).unwrap_or(if used < 0 { i64::MIN } else { i64::MAX })
        };
        let row = ResourceRow {
            allocatable: units(resource, *quantity),
            before: used,
            base: base.map(with),
            after: with(after),
        };
        (resource.clone(), row)
    });
    rows.collect()
}

/// The fullest resource of the clusters that exist; `None` if none of them reports any.
pub fn tightest(rows: &[ClusterRow]) -> Option<Tightest> {
    let resources = rows.iter().filter(|row| row.exists).flat_map(|row| {
        let resources = row.resources.iter();
        resources.filter_map(move |(resource, use_of)| {
            let percent = (i128::from(use_of.after) * 100).checked_div(i128::from(use_of.allocatable))?;
            Some((percent, row, resource))
        })
    });
    let fullest = resources.max_by(|left, right| {
        let by_name = (&right.1.name, right.2).cmp(&(&left.1.name, left.2));
        left.0.cmp(&right.0).then(by_name)
    })?;
    let (percent, row, resource) = fullest;
    Some(Tightest {
        cluster: row.name.clone(),
        resource: resource.clone(),
        percent: i64::try_from(percent).unwrap_or(i64::MAX),
    })
}
