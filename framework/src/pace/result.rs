//! Output of a call of Pace.

use divvy_framework_abi::call::wait;

use super::{Situation, Wait, step};
use crate::cycle::Candidate;

/// The output of [`PacePlugin::pace`](super::PacePlugin::pace): one count per cluster, initially that of the present result, or a reason for waiting.
pub struct PaceResult<'a> {
    next: &'a mut [i64],
    wait: u32,
    /// Number of counts for clusters that the call does not have.
    pub(crate) dropped: u64,
}

impl<'a> PaceResult<'a> {
    pub(crate) fn new(next: &'a mut [i64]) -> Self {
        Self {
            next,
            wait: wait::NONE,
            dropped: 0,
        }
    }

    /// The reason as the host receives it.
    pub(crate) fn wait(&self) -> u32 {
        self.wait
    }

    /// Sets the replicas of a cluster in the next result. The host ignores and counts clusters that the call does not
    /// have; the test kit reports them as an error.
    #[inline]
    pub fn set(&mut self, candidate: Candidate, replicas: i64) {
        match self.next.get_mut(candidate.index()) {
            Some(slot) => *slot = replicas,
            None => self.dropped += 1,
        }
    }

    /// Takes no step, for this reason. The last call counts. The host shows the reason where the binding is explained, and asks
    /// again when something changes. A step and a reason together are an error.
    pub fn wait_for(&mut self, reason: Wait) {
        self.wait = reason.number();
    }

    /// The next result, one count per cluster.
    pub fn replicas(&mut self) -> &mut [i64] {
        self.next
    }

    /// Takes the largest step of a situation, or waits for what hinders it: [`step`]. `ties` as [`PaceContext::ties`](super::PaceContext::ties) returns it.
    pub fn largest_step(&mut self, situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy) {
        crate::reuse::with_scratch(|next: &mut Vec<i64>| match step(situation, ties, next) {
            Ok(()) => {
                for (slot, replicas) in self.next.iter_mut().zip(next.iter()) {
                    *slot = *replicas;
                }
            }
            Err(reason) => self.wait_for(reason),
        });
    }
}
