//! Divides a leaf's count over its candidates.
//!
//! All participants have the same lower bound, and each has an upper bound of its own; the count lies between the sums
//! of these bounds. If a floor or the rule leaves candidates out, [`choice`](super::choice) picks those that take part.

use divvy_framework::division::level_fill::water_level;
use divvy_framework::division::ranking::first_by_rank;
use divvy_framework::division::shares::Shares;
use divvy_framework::division::{DivisionError, Rounding};

use super::Buffers;
use super::choice::Choice;
use super::node::{Floor, Leaf, LeafRule};

/// Columns of candidates, one entry each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates<'a> {
    /// Maximum replicas of each.
    pub(super) upper: &'a [i64],
    /// Last replicas; 0 in a fresh cycle.
    pub(super) last: &'a [i64],
    /// Weights; empty unless the rule needs them.
    pub(super) weights: &'a [i64],
}

impl Candidates<'_> {
    /// Last replicas of a candidate that it may keep.
    #[inline]
    pub(super) fn kept(&self, index: usize) -> i64 {
        self.last[index].min(self.upper[index])
    }

    /// Weight of a candidate.
    #[inline]
    pub(super) fn weight(&self, index: usize) -> i64 {
        self.weights.get(index).copied().unwrap_or(0)
    }
}

/// A count to divide over candidates that all take part.
struct Part<'a, Ties> {
    count: i64,
    /// Minimum replicas of each.
    lower: i64,
    candidates: Candidates<'a>,
    rounding: Rounding,
    ties: Ties,
}

impl<Ties> Part<'_, Ties> {
    /// Replicas beyond the lower bounds: at least 0, at most the count.
    fn above_lower(&self) -> i64 {
        let lower = i128::from(self.lower) * self.candidates.upper.len() as i128;
        i64::try_from(i128::from(self.count) - lower).map_or(0, |above| above.max(0))
    }
}

/// Memory for dividing leaves.
#[derive(Debug, Default)]
pub(super) struct LeafScratch {
    pub(super) choice: Choice,
    shares: Shares,
    /// Columns of the candidates that take part.
    upper: Vec<i64>,
    last: Vec<i64>,
    part_weights: Vec<i64>,
    out: Vec<i64>,
    /// Weights for the division.
    weights: Vec<i64>,
}

impl LeafScratch {
    /// Divides a count that the leaf can have. `out` has one entry per candidate, and is overwritten.
    pub(super) fn divide(
        &mut self,
        (leaf, count): (&Leaf, i64),
        candidates: Candidates<'_>,
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        out: &mut [i64],
        buffers: &mut Buffers,
    ) -> Result<(), DivisionError> {
        if count == 0 {
            out.fill(0);
            return Ok(());
        }
        let (lower, chooses) = match leaf.floor {
            Floor::IfAny(floor @ 2..) => (floor, true),
            Floor::Always(least @ 1..) => (least, false),
            _ => (0, leaf.rule == LeafRule::Fewest),
        };
        if !chooses {
            let part = Part {
                count,
                lower,
                candidates,
                rounding,
                ties,
            };
            return self.share(leaf.rule, &part, out, buffers);
        }
        let mut choice = std::mem::take(&mut self.choice);
        let is_chosen = choice.choose(leaf.rule, count, lower, candidates, &ties);
        let chosen = choice.chosen();
        let gather = |to: &mut Vec<i64>, from: &[i64]| {
            to.clear();
            to.extend(chosen.iter().filter_map(|&index| from.get(index as usize)));
        };
        let mut columns = [&mut self.upper, &mut self.last, &mut self.part_weights, &mut self.out].map(std::mem::take);
        let [upper, last, weights, counts] = &mut columns;
        gather(upper, candidates.upper);
        gather(last, candidates.last);
        gather(weights, candidates.weights);
        counts.clear();
        counts.resize(chosen.len(), 0);
        let part = Part {
            count,
            lower,
            candidates: Candidates { upper, last, weights },
            rounding,
            ties: |index: usize| ties(chosen[index] as usize),
        };
        let divided = is_chosen.and_then(|()| self.share(leaf.rule, &part, counts, buffers));
        out.fill(0);
        for (&index, &count) in chosen.iter().zip(counts.iter()) {
            out[index as usize] = count;
        }
        [self.upper, self.last, self.part_weights, self.out] = columns;
        self.choice = choice;
        divided
    }

    fn share(
        &mut self,
        rule: LeafRule,
        part: &Part<'_, impl Fn(usize) -> u64>,
        out: &mut [i64],
        buffers: &mut Buffers,
    ) -> Result<(), DivisionError> {
        match rule {
            LeafRule::ByRoom | LeafRule::Fewest => self.by_room(part, out, buffers),
            LeafRule::Evenly => {
                self.evenly(part, out, buffers);
                Ok(())
            }
            LeafRule::ByWeight => self.by_weight(part, out, buffers),
        }
    }

    /// Keeps present replicas. Growth is divided in proportion to the room that is left; shrinkage, in proportion to the present replicas.
    fn by_room(
        &mut self,
        part: &Part<'_, impl Fn(usize) -> u64>,
        out: &mut [i64],
        buffers: &mut Buffers,
    ) -> Result<(), DivisionError> {
        let Candidates { upper, last, .. } = part.candidates;
        let kept = |index: usize| last[index].max(part.lower).min(upper[index]);
        let sum: i128 = (0..upper.len()).map(|index| i128::from(kept(index))).sum();
        let weights = &mut self.weights;
        weights.clear();
        // A sum beyond 64 bits exceeds the count.
        let growth = i64::try_from(i128::from(part.count) - sum).unwrap_or(-1);
        if growth >= 0 {
            weights.extend((0..upper.len()).map(|index| upper[index] - kept(index)));
            part.rounding
                .divide(growth, weights, last, &part.ties, out, &mut buffers.division)?;
            for (index, share) in out.iter_mut().enumerate() {
                *share += kept(index);
            }
            return Ok(());
        }
        weights.extend((0..upper.len()).map(|index| kept(index) - part.lower));
        part.rounding.divide(
            part.above_lower(),
            weights,
            last,
            &part.ties,
            out,
            &mut buffers.division,
        )?;
        for share in out {
            *share += part.lower;
        }
        Ok(())
    }

    /// As evenly as the upper bounds allow. The last, incomplete round goes to those that have that replica already, then to those
    /// with more.
    fn evenly(&mut self, part: &Part<'_, impl Fn(usize) -> u64>, out: &mut [i64], buffers: &mut Buffers) {
        let (Candidates { upper, last, .. }, lower) = (part.candidates, part.lower);
        let weights = &mut self.weights;
        weights.clear();
        weights.extend(upper.iter().map(|&upper| upper - lower));
        let (level, left) = water_level(weights, part.above_lower(), &mut buffers.division);
        for (share, &room) in out.iter_mut().zip(weights.iter()) {
            *share = lower + room.min(level);
        }
        let level = lower + level;
        first_by_rank(
            left as usize,
            (0..upper.len()).filter(|&index| upper[index] > level),
            |index| [u64::from(last[index] > level), last[index].cast_unsigned(), 0],
            &part.ties,
            &mut buffers.ranking,
            |index| out[index] += 1,
        );
    }

    /// In proportion to weights.
    fn by_weight(
        &mut self,
        part: &Part<'_, impl Fn(usize) -> u64>,
        out: &mut [i64],
        buffers: &mut Buffers,
    ) -> Result<(), DivisionError> {
        self.shares.clear();
        let columns = part.candidates.upper.iter().zip(part.candidates.last).enumerate();
        for (index, (&upper, &last)) in columns {
            self.shares
                .push(part.candidates.weight(index), (part.lower, upper), last);
        }
        let shares = self.shares.divide(part.count, &part.ties, &mut buffers.ranking)?;
        out.copy_from_slice(shares);
        Ok(())
    }
}
