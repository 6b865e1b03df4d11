//! Exchanging the profile between two decisions, after a trial on the last ones.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use divvy_scheduler::decision::{Circumstances, Estimates};
use divvy_scheduler::plan::{Decidable, Plan};
use divvy_scheduler::profile::Profile;

use super::effects::{Effects, Wake};
use super::{ActiveProfile, Engine};
use crate::condition::{Cause, Failure, Retry};
use crate::decision::LiveDecision;
use crate::estimates::Answers;
use crate::objects::Kind;
use crate::store::StoredBinding;
use crate::takings::Current;

/// Maximum number of decisions that are remembered for a trial.
const REMEMBERED_MAX: usize = 64;

/// Outcome of the last decisions with a new set of plugins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// Decisions that were repeated.
    pub decisions: usize,
    /// Those with another result than under the old set.
    pub differences: usize,
    /// Reason why the set is refused; `None` if it decides from now on.
    pub refusal: Option<String>,
}

/// The last bindings that were decided, as plugins saw them.
#[derive(Debug, Default)]
pub(super) struct Recent {
    decisions: VecDeque<(Arc<StoredBinding>, bool, i64)>,
}

impl Recent {
    /// Remembers a decision: the binding, true if it was divided from scratch, and its time in milliseconds since 1970.
    pub(super) fn push(&mut self, binding: Arc<StoredBinding>, fresh: bool, time: i64) {
        if self.decisions.len() >= REMEMBERED_MAX {
            self.decisions.pop_front();
        }
        self.decisions.push_back((binding, fresh, time));
    }
}

impl Engine {
    /// Begins to keep what the plugins of a new profile read and those of the present one do not. Returns the kinds that must
    /// be listed again for that; [`Self::is_prepared`] once they are.
    pub fn prepare(&mut self, new: &Profile) -> Vec<Kind> {
        if self.mismatch(new).is_some() {
            return Vec::new();
        }
        let mut kinds = Vec::new();
        if new.needs_raw_clusters() && !self.fleet.keeps_raw() {
            self.fleet.keep_raw(true);
            kinds.push(Kind::Cluster);
        }
        if new.needs_metadata() && !self.policies.keeps_metadata() {
            self.policies.keep_metadata(true);
            kinds.extend([Kind::Policy, Kind::ClusterPolicy]);
        }
        if new.needs_placements() && self.placements.is_none() {
            self.index_placements();
        }
        self.listing.again.extend(kinds.iter().map(|kind| (*kind, false)));
        kinds
    }

    /// True if everything that [`Self::prepare`] requested has been listed since.
    pub fn is_prepared(&self) -> bool {
        self.listing.again.is_empty()
    }

    /// Keeps nothing that the plugins of the present profile do not read.
    fn forget_unread(&mut self) {
        let profile = &self.active.profile;
        let (raw, metadata) = (profile.needs_raw_clusters(), profile.needs_metadata());
        if !profile.needs_placements() {
            self.placements = None;
        }
        // What is kept already goes with the next version of each object.
        self.fleet.keep_raw(raw);
        self.policies.keep_metadata(metadata);
        self.listing.again.clear();
    }

    /// Tries a new profile on the last decisions, against the clusters as they are now, and lets it decide from now on
    /// unless it fails where the old one does not. [`Self::prepare`] comes first.
    pub fn exchange(&mut self, new: ActiveProfile, now: Instant) -> Trial {
        let old = Arc::clone(&self.active.profile);
        let mut trial = Trial {
            refusal: self.mismatch(&new.profile).or_else(|| self.unlisted()),
            ..Trial::default()
        };
        let recent = std::mem::take(&mut self.recent);
        for (binding, fresh, time) in &recent.decisions {
            if trial.refusal.is_some() {
                break;
            }
            trial.decisions += 1;
            let before = self
                .try_out(binding, &old, None, *fresh, *time, self.active.holds())
                .result;
            let after = self
                .try_out(binding, &new.profile, None, *fresh, *time, new.holds())
                .result;
            trial.differences += usize::from(before.as_ref().ok() != after.as_ref().ok());
            let has_failed = |result: &Result<_, Failure>| result.as_ref().err().is_some_and(is_fault);
            if let (Err(failure), false) = (&after, has_failed(&before))
                && is_fault(failure)
            {
                trial.refusal = Some(format!("binding `{}`: {}", binding.key(), failure.message));
            }
        }
        self.recent = recent;
        if trial.refusal.is_none() {
            super::show_profile(&self.panel, &new);
            self.active = new;
            if !self.active.holds() {
                self.capacity.holdings.clear();
            }
            // Bindings that failed may succeed under the new profile.
            let parked = self.lives.queue.parked();
            let parked = parked.filter(|(_, cause)| *cause != Cause::MissingClusters);
            let mut effects = Effects::looks(parked.map(|(key, _)| Arc::clone(key)), Wake::Parked);
            effects.append(self.unsettle_all());
            effects.append(self.reset_moves());
            self.carry_out(effects, now);
        }
        self.forget_unread();
        trial
    }

    /// The need of the new profile that only a restart can meet.
    fn mismatch(&self, new: &Profile) -> Option<String> {
        let old = &self.active.profile;
        if new.scheduler_name() != old.scheduler_name() {
            return Some(format!(
                "its scheduler name is `{}` instead of `{}`, for which the scheduler must be restarted",
                new.scheduler_name(),
                old.scheduler_name()
            ));
        }
        None
    }

    /// The kinds that a new profile must see listed again first.
    fn unlisted(&self) -> Option<String> {
        let kinds: Vec<&str> = self.listing.again.keys().map(|kind| kind.kind()).collect();
        (!kinds.is_empty()).then(|| format!("{} objects are not listed again yet", kinds.join(" and ")))
    }

    /// Decides a binding among the present clusters, without an explanation and without any effect.
    pub(super) fn try_out(
        &mut self,
        binding: &StoredBinding,
        profile: &Profile,
        answers: Option<&Answers>,
        fresh: bool,
        time: i64,
        holds: bool,
    ) -> LiveDecision {
        let peers = self.peers(binding);
        let (snapshot, set) = self.fleet.snapshot();
        let current = answers.map(|answers| Current::new(answers, &self.capacity.takings));
        let circumstances = Circumstances {
            profile,
            fleet: &snapshot,
            ledger: holds.then(|| self.capacity.holdings.ledger(&snapshot, set)),
            estimates: current.as_ref().map(|current| current as &dyn Estimates),
            fresh,
            time: Some(time),
            peers: peers.as_ref(),
            without: &[],
            detail: None,
        };
        let plan = Arc::new(Plan::under(profile, &binding.input()));
        LiveDecision::make(&mut self.cycle, binding, &plan, &circumstances)
    }
}

/// True for failures of plugins and of requests that no plugin understands, rather than of clusters that do not fit.
fn is_fault(failure: &Failure) -> bool {
    matches!(
        failure.retry,
        Retry::Backoff | Retry::Pause | Retry::After(Cause::Binding | Cause::Suspended)
    )
}
