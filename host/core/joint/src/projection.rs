//! The nearest way to hand out the replicas of one class.

/// A step of one class, to be made feasible: replicas by edge that should be there, and what limits them.
pub(crate) struct Step<'a> {
    /// By edge, what the step leads to.
    pub(crate) wanted: &'a [f64],
    /// What it leads to for replicas that are not placed.
    pub(crate) unplaced: f64,
    /// By edge, replicas that run there.
    pub(crate) home: &'a [u64],
    /// By edge, most replicas.
    pub(crate) most: &'a [u64],
    /// How far the price of a move holds back replicas beyond their home.
    pub(crate) hold: f64,
    /// Replicas of the class.
    pub(crate) replicas: f64,
}

impl Step<'_> {
    /// Writes the nearest feasible replicas by edge to `placed`, and returns those that are not placed. `shift` is where the search for
    /// the shift that all edges have in common begins, and gets its result.
    pub(crate) fn project(&self, placed: &mut [f64], shift: &mut f64) -> f64 {
        let highest = self.wanted.iter().copied().fold(self.unplaced, f64::max);
        // At the highest value nothing is left to hand out; at the other end all replicas are not placed, which always suffices.
        let (mut low, mut high) = (self.unplaced - self.replicas, highest);
        let mut at = shift.clamp(low, high);
        let tolerance = self.replicas * 1e-10;
        for _ in 0..64 {
            let (sum, pieces) = self.sum(at);
            let above = sum - self.replicas;
            if above.abs() <= tolerance {
                break;
            }
            if above > 0.0 {
                low = at
            } else {
                high = at
            }
            let newton = at + above / f64::from(pieces);
            // No piece, and so no slope, makes it infinite or no number at all.
            at = if newton > low && newton < high {
                newton
            } else {
                low.midpoint(high)
            };
        }
        *shift = at;
        for ((placed, wanted), (home, most)) in placed.iter_mut().zip(self.wanted).zip(self.home.iter().zip(self.most))
        {
            *placed = self.edge(wanted - at, *home as f64, *most as f64).0;
        }
        (self.unplaced - at).clamp(0.0, self.replicas)
    }

    /// Replicas that are handed out at a shift, and how many of the values still move with it.
    fn sum(&self, shift: f64) -> (f64, u32) {
        let unplaced = self.unplaced - shift;
        let mut sum = unplaced.clamp(0.0, self.replicas);
        let mut pieces = u32::from(unplaced > 0.0 && unplaced < self.replicas);
        for (wanted, (home, most)) in self.wanted.iter().zip(self.home.iter().zip(self.most)) {
            let (placed, moves) = self.edge(wanted - shift, *home as f64, *most as f64);
            sum += placed;
            pieces += u32::from(moves);
        }
        (sum, pieces)
    }

    /// Replicas of an edge at a value, and whether they change with it.
    fn edge(&self, value: f64, home: f64, most: f64) -> (f64, bool) {
        let beyond = value - self.hold - home;
        let placed = if beyond > 0.0 {
            home + beyond
        } else {
            value.clamp(0.0, home)
        };
        let moves = placed < most && (beyond > 0.0 || (value > 0.0 && value < home));
        (placed.min(most), moves)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// What the projection makes least: half of the squared distance, and the hold of what is beyond home.
    fn distance(step: &Step<'_>, placed: &[f64], unplaced: f64) -> f64 {
        let square = |difference: f64| difference * difference / 2.0;
        let edges = placed.iter().zip(step.wanted).zip(step.home);
        let edges = edges
            .map(|((placed, wanted), home)| square(placed - wanted) + step.hold * (placed - *home as f64).max(0.0));
        edges.sum::<f64>() + square(unplaced - step.unplaced)
    }

    #[test]
    fn no_exchange_of_two_edges_is_nearer() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..2_000 {
            let edges = random.random_range(1..6);
            let wanted: Vec<f64> = (0..edges).map(|_| random.random_range(-8.0..20.0)).collect();
            let home: Vec<u64> = (0..edges).map(|_| random.random_range(0..6)).collect();
            let most: Vec<u64> = (0..edges).map(|_| random.random_range(1..12)).collect();
            let step = Step {
                wanted: &wanted,
                unplaced: random.random_range(-8.0..20.0),
                home: &home,
                most: &most,
                hold: random.random_range(0.0..3.0),
                replicas: f64::from(random.random_range(1_u32..15)),
            };
            let mut placed = vec![0.0; edges];
            let unplaced = step.project(&mut placed, &mut random.random_range(-50.0..50.0));
            assert!(
                (placed.iter().sum::<f64>() + unplaced - step.replicas).abs() < 1e-6,
                "{placed:?} {unplaced}"
            );
            assert!(
                placed
                    .iter()
                    .zip(&most)
                    .all(|(placed, most)| (0.0..=*most as f64).contains(placed))
            );
            let least = distance(&step, &placed, unplaced);
            for from in 0..=edges {
                for to in 0..=edges {
                    let mut other: Vec<f64> = placed.iter().copied().chain([unplaced]).collect();
                    let limit = |edge: usize| {
                        if edge == edges {
                            step.replicas
                        } else {
                            most[edge] as f64
                        }
                    };
                    let moved = 0.01_f64.min(other[from]).min(limit(to) - other[to]).max(0.0);
                    other[from] -= moved;
                    other[to] += moved;
                    let (placed, unplaced) = (&other[..edges], other[edges]);
                    assert!(distance(&step, placed, unplaced) >= least - 1e-6, "{from} {to}");
                }
            }
        }
    }
}
