//! Output of a call of Assign.

use crate::cycle::Candidate;

/// The output of [`AssignPlugin::assign`](super::AssignPlugin::assign): one count per candidate, initially 0.
///
/// The type rules out clusters that are not candidates, and duplicate candidates.
pub struct AssignResult<'a> {
    replicas: &'a mut [i64],
    /// Number of counts for candidates that the call does not have.
    pub(crate) dropped: u64,
}

impl<'a> AssignResult<'a> {
    pub(crate) fn new(replicas: &'a mut [i64]) -> Self {
        Self { replicas, dropped: 0 }
    }

    /// Sets the replicas of a candidate. The host ignores and counts candidates that the call does not have; the test
    /// kit reports them as an error.
    #[inline]
    pub fn set(&mut self, candidate: Candidate, replicas: i64) {
        match self.replicas.get_mut(candidate.index()) {
            Some(slot) => *slot = replicas,
            None => self.dropped += 1,
        }
    }

    /// The counts, one per candidate: the `out` of the functions of [`crate::division`].
    pub fn replicas(&mut self) -> &mut [i64] {
        self.replicas
    }
}
