//! Output of a call of Select.

use super::SelectContext;
use crate::cycle::Candidate;
use crate::plugin::Plugin;
use crate::reuse::with_scratch;

/// The output of [`SelectPlugin::select`](super::SelectPlugin::select): the candidates, in order of preference.
pub struct SelectResult<'a> {
    candidates: &'a mut [u32],
    count: usize,
    overflow: u64,
}

impl<'a> SelectResult<'a> {
    pub(crate) fn new(candidates: &'a mut [u32]) -> Self {
        Self {
            candidates,
            count: 0,
            overflow: 0,
        }
    }

    /// The number of candidates, including those that did not fit the column.
    pub(crate) fn written(&self) -> u64 {
        (self.count as u64).saturating_add(self.overflow)
    }

    /// Makes a feasible cluster the next candidate. A cluster that the call does not have makes the whole result an
    /// error.
    #[inline]
    pub fn choose(&mut self, candidate: Candidate) {
        match self.candidates.get_mut(self.count) {
            Some(slot) => {
                *slot = candidate.number();
                self.count += 1;
            }
            // More candidates than feasible clusters: counted, so that the host can report the violation.
            None => self.overflow += 1,
        }
    }

    /// Chooses the first clusters in the order of a key, at most `count`: the smaller key first, and among equal keys the smaller
    /// [`tie_key`](crate::cycle::CallContext::tie_key). [`std::cmp::Reverse`] turns the order round.
    ///
    /// ```
    /// use divvy_framework::prelude::*;
    /// use std::cmp::Reverse;
    ///
    /// /// Keeps the three clusters with the most room.
    /// #[derive(Default)]
    /// struct ThreeRoomiest;
    ///
    /// impl Plugin for ThreeRoomiest {
    ///     const NAME: &'static str = "three-roomiest";
    ///     const DESCRIPTION: &'static str = "keeps the three clusters with the most room";
    /// }
    ///
    /// impl SelectPlugin for ThreeRoomiest {
    ///     fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
    ///         result.choose_first(context, 3, |cluster| Reverse(context.capacity()[cluster]));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario};
    /// let room = [("a", 5), ("b", 1), ("c", 9), ("d", 7)];
    /// let clusters = room.map(|(name, room)| ClusterBuilder::new(name).fits_now(room));
    /// assert_eq!(Scenario::new().clusters(clusters).candidates(&ThreeRoomiest).unwrap(), ["c", "d", "a"]);
    /// ```
    pub fn choose_first<P: Plugin, Accepted, K: Ord>(
        &mut self,
        context: &SelectContext<'_, P, Accepted>,
        count: usize,
        key: impl Fn(Candidate) -> K,
    ) {
        with_scratch(|order: &mut Vec<Candidate>| {
            order.clear();
            order.extend(context.candidates());
            order.sort_unstable_by_key(|&candidate| (key(candidate), context.tie_key(candidate)));
            for &candidate in order.iter().take(count) {
                self.choose(candidate);
            }
        });
    }

    /// Clusters of the call that are not candidates so far, for [explanations](crate::cycle::CallContext::explain). Allocates.
    pub fn left_out(&self) -> impl Iterator<Item = Candidate> + use<> {
        let mut is_chosen = vec![false; self.candidates.len()];
        for &chosen in self.candidates.iter().take(self.count) {
            if let Some(mark) = is_chosen.get_mut(chosen as usize) {
                *mark = true;
            }
        }
        let marks = is_chosen.into_iter().enumerate();
        marks
            .filter(|(_, chosen)| !chosen)
            .map(|(index, _)| Candidate::from_index(index))
    }

    /// Makes every cluster of the call a candidate, in the order of the call.
    pub fn choose_all(&mut self) {
        for (index, slot) in (0..).zip(self.candidates.iter_mut()) {
            *slot = index;
        }
        self.count = self.candidates.len();
    }
}
