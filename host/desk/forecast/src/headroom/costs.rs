//! What each binding costs now, and with the largest number of replicas.

use divvy_scheduler::cost::{KnownCost, Pricing};
use divvy_scheduler::fleet::Footprint;

use super::Subject;
use super::document::{HeadroomCost, HeadroomRow};
use crate::cost::HourlyCost;
use crate::situation::{Assignment, Situation};

/// Adds the costs of each binding to its row: now, and with the largest number of replicas. `rows` are in the order of `subjects`.
pub fn add_costs<'a>(
    rows: impl Iterator<Item = &'a mut HeadroomRow>,
    subjects: &[Subject<'_>],
    situation: &Situation,
    pricing: &Pricing,
) {
    for (row, subject) in rows.zip(subjects) {
        let footprint = Footprint::new(&subject.binding.object.spec);
        let cost = |targets: &mut dyn Iterator<Item = (&str, i64)>| {
            let costs = targets.map(|(name, replicas)| {
                let cluster = situation.clusters.get(name).map(|entry| &entry.object);
                pricing.cost_of_replicas(cluster, &footprint, replicas)
            });
            HourlyCost::from(costs.sum::<KnownCost>())
        };
        let nothing = Assignment::new();
        let present = subject.entry.map_or(&nothing, |entry| &*entry.targets);
        let most = row.most.or(row.fits).is_some();
        row.cost = Some(HeadroomCost {
            unit: pricing.unit().to_owned(),
            now: cost(&mut present.iter().map(|(name, replicas)| (name.as_str(), *replicas))),
            most: most.then(|| {
                let targets = row.clusters.iter();
                cost(&mut targets.map(|target| (target.name.as_str(), target.replicas)))
            }),
        });
    }
}
