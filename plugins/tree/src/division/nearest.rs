//! The nearest possible counts, where not every count is possible.
//!
//! Several nodes share a total, and some of them have gaps between the counts that they can have. Without the gaps, the
//! nearest counts follow from a sort. With gaps, the counts are first divided as if there were none. If that puts a
//! node into a gap, its count must be either below the gap or above it, and both are tried. A branch that cannot beat
//! the best result is left out.

use std::cmp::Ordering;

use super::search::{Search, Searched};

/// A node that takes part, or an amount that may have any value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variable {
    /// The node, which can have only some counts; `None` for any count.
    pub(super) node: Option<usize>,
    /// Lower bound.
    pub(super) low: i64,
    /// Upper bound.
    pub(super) high: i64,
    /// The desired count; `None` if any will do.
    pub(super) target: Option<i64>,
    /// Present count.
    pub(super) last: i64,
    /// Tie key: the smaller one is served first.
    pub(super) tie: u64,
}

/// Cost of a division: replicas away from the targets, then replicas moved.
type Cost = (i128, i128);

/// Part of a variable's range in which each replica costs the same.
struct Segment {
    cost: (i8, i8),
    index: usize,
    length: i64,
}

/// The best result so far, and its cost.
struct Best {
    cost: Cost,
    counts: Vec<i64>,
}

/// Finds counts for the variables that add up to `total`, such that the fewest replicas are away from the targets, then
/// the fewest are moved, then variables with more last replicas get more, then by tie. `None` if no counts are
/// possible.
///
/// # Errors
///
/// `TooIntricate` if the budget of the search is used up.
pub(super) fn nearest(search: &mut Search<'_>, variables: &[Variable], total: i128) -> Searched<Option<Vec<i64>>> {
    let mut order: Vec<usize> = (0..variables.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(variables[index].last), variables[index].tie));
    let mut nearest = Nearest {
        variables,
        order,
        total,
        best: None,
    };
    let (low, high) = variables.iter().map(|one| (one.low, one.high)).unzip();
    nearest.branch(search, low, high)?;
    Ok(nearest.best.map(|best| best.counts))
}

struct Nearest<'a> {
    variables: &'a [Variable],
    /// The variables in the order in which they are served.
    order: Vec<usize>,
    total: i128,
    best: Option<Best>,
}

impl Nearest<'_> {
    fn branch(&mut self, search: &mut Search<'_>, low: Vec<i64>, high: Vec<i64>) -> Searched<()> {
        search.step()?;
        let Some(counts) = self.divide(&low, &high) else {
            return Ok(());
        };
        let cost = self.cost(&counts);
        if self
            .best
            .as_ref()
            .is_some_and(|best| !self.is_better(cost, &counts, best))
        {
            return Ok(());
        }
        for (index, variable) in self.variables.iter().enumerate() {
            let Some(node) = variable.node.filter(|&node| search.may_have_gaps(node)) else {
                continue;
            };
            let count = counts[index];
            if search.contains(node, count)? {
                continue;
            }
            let below = search.previous(node, count)?.filter(|&below| below >= low[index]);
            let above = search.next(node, count)?.filter(|&above| above <= high[index]);
            let mut branches = [
                below.map(|below| (count.abs_diff(below), low.clone(), with(&high, index, below))),
                above.map(|above| (count.abs_diff(above), with(&low, index, above), high.clone())),
            ];
            // The nearer one first: a good result excludes more of the later branches.
            branches.sort_by_key(|branch| branch.as_ref().map(|(distance, ..)| *distance));
            for (_, low, high) in branches.into_iter().flatten() {
                self.branch(search, low, high)?;
            }
            return Ok(());
        }
        self.best = Some(Best { cost, counts });
        Ok(())
    }

    /// The best counts within these bounds, as if there were no gaps. Costs are convex, so replicas can be given out
    /// one after another, the cheapest first.
    fn divide(&self, low: &[i64], high: &[i64]) -> Option<Vec<i64>> {
        if low.iter().zip(high).any(|(low, high)| low > high) {
            return None;
        }
        let mut counts = low.to_vec();
        let mut left = self.total - low.iter().map(|&low| i128::from(low)).sum::<i128>();
        let mut segments = Vec::with_capacity(3 * low.len());
        for &index in &self.order {
            let variable = &self.variables[index];
            let within = |count: i64| count.clamp(low[index], high[index]);
            let target = variable.target.map(within);
            let mut ends = [within(variable.last), target.unwrap_or(high[index]), high[index]];
            ends.sort_unstable();
            let mut start = low[index];
            for end in ends {
                if end > start {
                    let side = |point: i64| if start < point { -1 } else { 1 };
                    let cost = match variable.target {
                        Some(target) => (side(target), side(variable.last)),
                        None => (0, 0),
                    };
                    segments.push(Segment {
                        cost,
                        index,
                        length: end - start,
                    });
                }
                start = end;
            }
        }
        segments.sort_by_key(|segment| segment.cost);
        for segment in segments {
            let given = left.clamp(0, segment.length.into());
            counts[segment.index] += given as i64;
            left -= given;
        }
        (left == 0).then_some(counts)
    }

    fn cost(&self, counts: &[i64]) -> Cost {
        let far = |from: i64, to: i64| i128::from(from.abs_diff(to));
        let counted = self.variables.iter().zip(counts);
        counted.fold((0, 0), |(away, moved), (variable, &count)| match variable.target {
            Some(target) => (away + far(target, count), moved + far(variable.last, count)),
            None => (away, moved),
        })
    }

    fn is_better(&self, cost: Cost, counts: &[i64], best: &Best) -> bool {
        // A count without a target is not worth a search.
        let served = || (self.order.iter()).filter(|&&index| self.variables[index].target.is_some());
        let in_order = |counts: &[i64]| served().map(|&index| counts[index]).collect::<Vec<i64>>();
        match cost.cmp(&best.cost) {
            Ordering::Equal => in_order(counts) > in_order(&best.counts),
            order => order.is_lt(),
        }
    }
}

fn with(bounds: &[i64], index: usize, bound: i64) -> Vec<i64> {
    let mut bounds = bounds.to_vec();
    bounds[index] = bound;
    bounds
}
