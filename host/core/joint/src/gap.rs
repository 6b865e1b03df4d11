//! Prices of room, the bound that they give, and where a plan is dearer than it.

use crate::bound::{Bound, cheapest};
use crate::classes::Classes;
use crate::fleet::{Fleet, Malformed, amount};
use crate::plan::Plan;

/// What a unit of each resource is worth in each cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// By cluster and resource, at least 0.
    pub by_cluster: Vec<Vec<f64>>,
}

/// How much a plan costs above the bound of some prices, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// By demand, what it pays for its clusters, its moves, the room that it uses and what is left out of it, above the least that it could.
    pub demands: Vec<f64>,
    /// By cluster, the price of the room that is not used.
    pub idle: Vec<f64>,
}

impl Gap {
    /// All of it.
    pub fn sum(&self) -> f64 {
        self.demands.iter().sum::<f64>() + self.idle.iter().sum::<f64>()
    }
}

impl Prices {
    /// Prices by unit from those of the whole room of each cluster and resource.
    pub(crate) fn of_whole(classes: &Classes, whole: &[f64]) -> Self {
        let by_unit = whole.iter().zip(&classes.room).map(|(price, room)| match room {
            0 => 0.0,
            room => price / *room as f64,
        });
        let by_unit: Vec<f64> = by_unit.collect();
        let by_cluster = match classes.resources {
            0 => vec![Vec::new(); classes.clusters],
            resources => by_unit.chunks(resources).map(<[f64]>::to_vec).collect(),
        };
        Self { by_cluster }
    }

    /// By cluster and then resource, the price of the whole room.
    pub(crate) fn whole(&self, fleet: &Fleet) -> Result<Vec<f64>, Malformed> {
        if self.by_cluster.len() != fleet.room.len() {
            return Err(Malformed::Prices {
                expected: fleet.room.len(),
                actual: self.by_cluster.len(),
            });
        }
        let mut whole = Vec::new();
        for (number, (prices, room)) in self.by_cluster.iter().zip(&fleet.room).enumerate() {
            if prices.len() != room.len() {
                return Err(Malformed::Resources {
                    of: format!("the list of prices of cluster {number}"),
                    expected: room.len(),
                    actual: prices.len(),
                });
            }
            for (price, room) in prices.iter().zip(room) {
                amount(*price, false, || format!("a price of cluster {number}"))?;
                whole.push(price * *room as f64);
            }
        }
        Ok(whole)
    }

    /// What no plan of a fleet costs less than, by these prices alone. It holds for any prices; those of a solved relaxation of a similar
    /// fleet make it a high one.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the fleet is none, or the prices are not those of its clusters.
    pub fn bound(&self, fleet: &Fleet) -> Result<Bound, Malformed> {
        fleet.check()?;
        let whole = self.whole(fleet)?;
        Ok(bound_at(&Classes::of(fleet), &whole))
    }

    /// Where a plan of a fleet costs more than the bound of these prices.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the fleet is none, or the prices are not those of its clusters.
    pub fn gap(&self, fleet: &Fleet, plan: &Plan) -> Result<Gap, Malformed> {
        fleet.check()?;
        let whole = self.whole(fleet)?;
        let classes = Classes::apart(fleet, |_, _| true);
        let mut used = vec![0.0; whole.len()];
        let mut demands = Vec::with_capacity(fleet.demands.len());
        for (number, class) in classes.list.iter().enumerate() {
            let reduced = reduced(&classes, number, &whole);
            let mut paid = classes.unplaced_cost(class) * plan.unplaced[number] as f64;
            for (cluster, replicas) in &plan.placed[number] {
                let clusters = &classes.cluster[class.edges.clone()];
                if let Ok(position) = clusters.binary_search(cluster) {
                    let edge = class.edges.start + position;
                    let beyond = replicas.saturating_sub(classes.home[edge]);
                    paid += reduced[position] * *replicas as f64 + classes.move_price * beyond as f64;
                    classes.uses(edge, *replicas as f64, &mut used);
                }
            }
            demands.push((paid - cheapest(&classes, number, &reduced, |_, _| {})).max(0.0));
        }
        let idle: Vec<f64> = used
            .iter()
            .zip(&whole)
            .map(|(used, price)| (price * (1.0 - used)).max(0.0))
            .collect();
        let idle = match classes.resources {
            0 => vec![0.0; classes.clusters],
            resources => idle.chunks(resources).map(|idle| idle.iter().sum()).collect(),
        };
        Ok(Gap { demands, idle })
    }
}

/// The bound of these prices of whole rooms.
pub(crate) fn bound_at(classes: &Classes, whole: &[f64]) -> Bound {
    let least = |number: usize| cheapest(classes, number, &reduced(classes, number, whole), |_, _| {});
    let least: f64 = (0..classes.list.len()).map(least).sum();
    let bound = least - whole.iter().sum::<f64>();
    Bound::new(bound - classes.surplus(), least)
}

/// What a replica of a class costs on each of its edges, the price of its room included.
fn reduced(classes: &Classes, number: usize, whole: &[f64]) -> Vec<f64> {
    let edges = classes.list[number].edges.clone();
    edges
        .map(|edge| classes.cost[edge] + classes.price(edge, whole))
        .collect()
}
