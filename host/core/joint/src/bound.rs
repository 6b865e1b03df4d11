//! What no plan can be below.

use crate::classes::Classes;

/// What no plan can be below.
///
/// It holds for every fleet and every prices of room, because a plan pays no price for room that it does not use beyond what there is: each
/// class alone, at these prices, is at its cheapest, and what it paid for the room is subtracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    cost: f64,
}

impl Bound {
    /// `counted` is the largest number of which the bound is a difference: its rounding is subtracted.
    pub(crate) fn new(cost: f64, counted: f64) -> Self {
        Self {
            cost: (cost - 1e-9 * counted.abs()).max(0.0),
        }
    }

    /// The cost that no plan is below: moves times their price, costs of clusters, and the worth of what is not placed.
    pub fn cost(self) -> f64 {
        self.cost
    }
}

/// What a class costs at least where a replica on each of its edges has the given cost, its price of room included. Passes what it places
/// to `place`: the edge and the replicas.
pub(crate) fn cheapest(classes: &Classes, number: usize, reduced: &[f64], mut place: impl FnMut(usize, f64)) -> f64 {
    let class = &classes.list[number];
    let move_price = classes.move_price;
    // By what a replica beyond its home costs, the cheapest edge that has no limit, or else not being placed.
    let (mut rest_cost, mut rest_edge) = (classes.unplaced_cost(class), None);
    let mut parts: Vec<(f64, usize, u64)> = Vec::new();
    for (edge, reduced) in class.edges.clone().zip(reduced) {
        let beyond = reduced + move_price;
        if classes.most[edge] >= class.replicas {
            if beyond < rest_cost {
                (rest_cost, rest_edge) = (beyond, Some(edge));
            }
        } else if beyond < rest_cost {
            parts.push((beyond, edge, classes.most[edge].saturating_sub(classes.home[edge])));
        }
        if classes.home[edge] > 0 {
            parts.push((*reduced, edge, classes.home[edge].min(classes.most[edge])));
        }
    }
    parts.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    let (mut left, mut cost) = (class.replicas, 0.0);
    for (part_cost, edge, replicas) in parts {
        if part_cost >= rest_cost || left == 0 {
            break;
        }
        let replicas = replicas.min(left);
        place(edge, replicas as f64);
        cost += part_cost * replicas as f64;
        left -= replicas;
    }
    if let (Some(edge), 1..) = (rest_edge, left) {
        place(edge, left as f64);
    }
    cost + rest_cost * left as f64
}

/// How many of these workloads are not whole at least, if so many replicas cannot be placed.
pub fn least_incomplete(replicas: impl IntoIterator<Item = u64>, unplaced: u64) -> usize {
    let mut replicas: Vec<u64> = replicas.into_iter().collect();
    replicas.sort_unstable_by(|left, right| right.cmp(left));
    let mut left = unplaced;
    replicas
        .into_iter()
        .take_while(|replicas| {
            let goes_on = left > 0;
            left = left.saturating_sub(*replicas);
            goes_on
        })
        .count()
}
