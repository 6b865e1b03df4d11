//! Output of a call of Score.

use divvy_framework_view::MAXIMUM_SCORE;

use crate::cycle::Candidate;

/// The output of [`ScorePlugin::score`](super::ScorePlugin::score): one score per feasible cluster.
pub struct ScoreResult<'a> {
    scores: &'a mut [i64],
    /// Number of scores for clusters that the call does not have.
    pub(crate) dropped: u64,
}

impl<'a> ScoreResult<'a> {
    pub(crate) fn new(scores: &'a mut [i64]) -> Self {
        Self { scores, dropped: 0 }
    }

    /// Sets the score of a cluster. The host ignores and counts clusters that the call does not have; the test kit
    /// reports them as an error.
    #[inline]
    pub fn set(&mut self, candidate: Candidate, score: i64) {
        match self.scores.get_mut(candidate.index()) {
            Some(slot) => *slot = score,
            None => self.dropped += 1,
        }
    }

    /// The scores, one per feasible cluster, for arithmetic over all of them.
    pub fn scores(&mut self) -> &mut [i64] {
        self.scores
    }

    /// Scales the scores so that the largest becomes 100. Negative scores become 0; if no score is positive, all
    /// become 0.
    pub fn scale_to_maximum(&mut self) {
        let largest = self.scores.iter().copied().max().unwrap_or(0).max(0);
        for score in self.scores.iter_mut() {
            *score = if largest == 0 {
                0
            } else {
                let scaled = i128::from((*score).max(0)) * i128::from(MAXIMUM_SCORE) / i128::from(largest);
                i64::try_from(scaled).unwrap_or(MAXIMUM_SCORE)
            };
        }
    }

    /// Reverses the scores within 0..=100: each becomes 100 minus itself, so the best becomes the worst.
    pub fn reverse(&mut self) {
        for score in self.scores.iter_mut() {
            *score = MAXIMUM_SCORE.saturating_sub(*score);
        }
    }
}
