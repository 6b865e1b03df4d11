//! Results whose write is under way: they hold capacity like any other, but until the API server is known to have them, a report may
//! show other pods than theirs.
//!
//! The claims of such a result on a report are therefore remembered. If the result turns out not to be written, other takings that were
//! held at the time of the report get its claims.

use std::sync::Arc;

use super::taking::{Claim, Settled, Taking};
use super::{Account, DecisionNumber, Holdings, account_of, release};
use crate::objects::BindingKey;

impl Holdings {
    /// The result of a decision is written.
    pub(crate) fn confirm(&mut self, key: &BindingKey, number: DecisionNumber) {
        let clusters = self.clusters_of(key, number);
        for cluster in &clusters {
            if let Some(taking) = account_of(&mut self.clusters, cluster, number) {
                taking.is_written = true;
            }
        }
        self.drop_finished(&clusters);
    }

    /// Undoes [`Self::take`]: the result was not written. Returns true if anything is no longer held.
    pub(crate) fn retract(&mut self, key: &BindingKey, number: DecisionNumber) -> bool {
        let clusters = self.clusters_of(key, number);
        let mut has_ended = false;
        for cluster in &clusters {
            let Some(account) = self.clusters.get_mut(cluster) else {
                continue;
            };
            let Some(retracted) = account.takings.get(&number) else {
                continue;
            };
            for claim in retracted.claims() {
                let settled = account.pass_on(&claim, number);
                has_ended |= settled.by_all > 0 || settled.by_bound > 0;
                release(&mut self.ledger, self.rows.get(cluster), &settled);
            }
        }
        has_ended |= self.end(key, |_, decision, _| decision == number);
        if has_ended {
            self.drop_finished(&clusters);
        }
        has_ended
    }

    /// Clusters on which a decision holds anything.
    fn clusters_of(&self, key: &BindingKey, number: DecisionNumber) -> Vec<Arc<str>> {
        let decisions = self.bindings.get(key).into_iter().flatten();
        let decision = decisions.filter(|(known, _)| *known == number);
        decision.flat_map(|(_, clusters)| clusters).cloned().collect()
    }
}

impl Account {
    /// Gives a claim to the other takings that existed at the report, in their order. Returns the parts that end.
    fn pass_on(&mut self, claim: &Claim, from: DecisionNumber) -> Settled {
        let others = self.takings.iter_mut().filter(|(number, _)| **number != from);
        let mut others: Vec<&mut Taking> = others.map(|(_, taking)| taking).collect();
        others.sort_by_key(|taking| !taking.is_written);
        claim.settle(others.into_iter())
    }
}
