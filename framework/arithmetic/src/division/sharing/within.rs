//! Divides the count of a group over its candidates.

use super::super::dynamic::divide_by_dynamic_weight;
use super::super::error::DivisionError;
use super::super::keeping::{Keeping, Wanted};
use super::super::level_fill::water_level;
use super::super::ranking::first_by_rank;
use super::super::request::{Cycle, Request};
use super::super::rounding::Rounding;
use super::super::scratch::Scratch;
use super::Rule;

/// Memory for dividing groups.
#[derive(Debug, Default)]
pub(super) struct Within {
    keeping: Keeping,
    chosen: Vec<u32>,
    /// Maximum replicas of each candidate.
    upper: Vec<i64>,
    /// Columns of the candidates that take part.
    fits: Vec<i64>,
    last: Vec<i64>,
    out: Vec<i64>,
}

impl Within {
    /// Divides a count that the candidates have room for. The cycle of `request` is steady; `out` is overwritten.
    pub(super) fn divide(
        &mut self,
        rule: Rule,
        request: &Request<'_>,
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        out: &mut [i64],
        scratch: &mut Scratch,
    ) -> Result<(), DivisionError> {
        if request.replicas == 0 {
            out.fill(0);
            return Ok(());
        }
        match rule {
            Rule::ByRoom => divide_by_dynamic_weight(request, rounding, ties, out, scratch),
            Rule::Evenly => {
                self.evenly(request, ties, out, scratch);
                Ok(())
            }
            Rule::Fewest => self.over_the_fewest(request, rounding, ties, out, scratch),
        }
    }

    fn add_up(&mut self, request: &Request<'_>) {
        self.upper.clear();
        self.upper
            .extend((0..request.last.len()).map(|index| request.capacity(index)));
    }

    /// As evenly as the room allows. The last, incomplete round goes to the candidates with more last replicas.
    fn evenly(&mut self, request: &Request<'_>, ties: impl Fn(usize) -> u64, out: &mut [i64], scratch: &mut Scratch) {
        self.add_up(request);
        let (level, left) = water_level(&self.upper, request.replicas, scratch);
        for (share, &upper) in out.iter_mut().zip(&self.upper) {
            *share = upper.min(level);
        }
        first_by_rank(
            left as usize,
            (0..self.upper.len()).filter(|&index| self.upper[index] > level),
            |index| [request.last[index].cast_unsigned(), 0, 0],
            ties,
            &mut scratch.ranking,
            |index| out[index] += 1,
        );
    }

    /// By room, over the candidates that keep the most replicas together, as few of them as possible.
    fn over_the_fewest(
        &mut self,
        request: &Request<'_>,
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        out: &mut [i64],
        scratch: &mut Scratch,
    ) -> Result<(), DivisionError> {
        self.add_up(request);
        let Self {
            keeping,
            chosen,
            upper,
            fits,
            last,
            out: counts,
        } = self;
        let wanted = Wanted {
            count: request.replicas,
            floor: 1,
            as_few: true,
        };
        keeping.choose(wanted, upper, request.last, &ties, chosen)?;
        for (to, from) in [(&mut *fits, request.fits_now), (&mut *last, request.last)] {
            to.clear();
            to.extend(chosen.iter().map(|&index| from[index as usize]));
        }
        counts.clear();
        counts.resize(chosen.len(), 0);
        let part = Request::new(request.replicas, fits, last, Cycle::Steady);
        let tie = |index: usize| ties(chosen[index] as usize);
        divide_by_dynamic_weight(&part, rounding, tie, counts, scratch)?;
        out.fill(0);
        for (&index, &count) in chosen.iter().zip(counts.iter()) {
            out[index as usize] = count;
        }
        Ok(())
    }
}
