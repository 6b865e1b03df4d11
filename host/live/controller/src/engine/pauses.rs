//! Waits after failures of plugins: of a binding on which a worker died, of a result that a plugin had no part in, and of a plugin whose
//! worker keeps failing.
//!
//! A worker would die on the same binding again, so events around the binding do not cause another try. The wait is kept in an
//! annotation, so that a restart does not end it. It is void once the binding, its policy, the profile or a plugin's file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::Timestamp;
use divvy_scheduler::cycle::{CycleError, Skipped};
use divvy_scheduler::decide::PLUGIN_FAILURE;
use divvy_scheduler::decide::failure::PluginFailure;
use divvy_scheduler::decision::Decision;
use divvy_scheduler::plan::Decidable;
use divvy_scheduler::plugin::CallError;
use divvy_scheduler::profile::Profile;

use super::candidate::Candidate;
use super::effects::Effects;
use super::life::Life;
use super::lives::{Group, Lives};
use super::{Engine, Moment};
use crate::condition::Cause;
use crate::decision::LiveDecision;
use crate::objects::BindingKey;
use crate::queue::doubled;
use crate::write::SpecificationPatch;

/// Wait after the first failure. It doubles with each further one.
const PAUSE_MIN: Duration = Duration::from_secs(60);
/// Maximum wait.
const PAUSE_MAX: Duration = Duration::from_secs(3600);

/// The wait after this number of failures in a row.
fn pause(failures: u32) -> Duration {
    doubled(PAUSE_MIN, failures, PAUSE_MAX)
}

/// A result that plugins had no part in.
#[derive(Debug, Default)]
pub(super) struct Incomplete {
    /// Those that were not called because they are suspended. Others failed on this binding, and may do so again.
    suspended: BTreeSet<String>,
    /// Decisions without them in a row.
    decisions: u32,
    /// True if one of them answers again.
    is_due: bool,
}

/// A plugin whose worker kept failing.
#[derive(Debug, Clone, Copy)]
struct Suspension {
    /// Its number among those without an answer in between.
    number: u32,
    until: Instant,
}

/// Waits of plugins after their failures.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// The suspended plugins that results lack: nearly always none, so that a decision need not look at the results.
    awaited: BTreeSet<String>,
    suspensions: BTreeMap<&'static str, Suspension>,
}

impl Pauses {
    /// Forgets the plugins that results lack: another process may have decided them since.
    pub(super) fn clear(&mut self) {
        self.awaited.clear();
    }

    /// Takes in the plugins that a decision went on without. Returns the wait until it is made again.
    fn went_without(
        &mut self,
        incomplete: &mut Option<Box<Incomplete>>,
        skipped: &[Skipped],
        profile: &Profile,
    ) -> Option<Duration> {
        if skipped.is_empty() {
            *incomplete = None;
            return None;
        }
        let incomplete = incomplete.get_or_insert_default();
        let is_suspended = |name: &str| {
            profile
                .plugins()
                .any(|plugin| plugin.name() == name && plugin.is_suspended())
        };
        let suspended = skipped.iter().filter(|skipped| is_suspended(&skipped.plugin));
        incomplete.suspended = suspended.map(|skipped| skipped.plugin.clone()).collect();
        self.awaited.extend(incomplete.suspended.iter().cloned());
        incomplete.decisions = incomplete.decisions.saturating_add(1);
        incomplete.is_due = false;
        Some(pause(incomplete.decisions))
    }

    /// The bindings whose results lack a plugin that was suspended and answers again. Each is returned once.
    fn completable(&mut self, lives: &mut Lives, profile: &Profile) -> Vec<Arc<BindingKey>> {
        if self.awaited.is_empty() {
            return Vec::new();
        }
        let answers = |name: &str| {
            let mut named = profile.plugins().filter(|plugin| plugin.name() == name);
            named.any(|plugin| !plugin.is_suspended() && !plugin.is_failing())
        };
        let (back, awaited) = std::mem::take(&mut self.awaited)
            .into_iter()
            .partition(|name| answers(name));
        let back: BTreeSet<String> = back;
        self.awaited = awaited;
        if back.is_empty() {
            return Vec::new();
        }
        let lacks = |incomplete: &Incomplete| !incomplete.is_due && !incomplete.suspended.is_disjoint(&back);
        let lacking = lives.of(Group::Incomplete);
        let lacking = lacking.filter(|(_, life)| life.incomplete.as_deref().is_some_and(lacks));
        let due: Vec<Arc<BindingKey>> = lacking.map(|(key, _)| Arc::clone(key)).collect();
        for key in &due {
            lives.update(key, |life| {
                if let Some(incomplete) = &mut life.incomplete {
                    incomplete.is_due = true;
                }
            });
        }
        due
    }

    /// Lets suspended plugins be called again whose wait has ended. Returns true if there was one.
    fn resume(&mut self, profile: &Profile, now: Instant) -> bool {
        let mut has_resumed = false;
        for plugin in profile.plugins() {
            if !plugin.is_suspended() {
                self.suspensions.remove(plugin.name());
                continue;
            }
            let number = plugin.suspensions();
            match self.suspensions.get(plugin.name()) {
                Some(known) if known.number == number => {
                    if known.until <= now {
                        plugin.resume();
                        has_resumed = true;
                    }
                }
                _ => {
                    let until = now + pause(number);
                    self.suspensions.insert(plugin.name(), Suspension { number, until });
                }
            }
        }
        has_resumed
    }
}

/// Remaining wait after the failure of a plugin.
fn remaining(failure: &PluginFailure, now: Timestamp) -> Option<Duration> {
    let seconds = failure.until.seconds().saturating_sub(now.seconds());
    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    // The annotation may have been written by a clock that was wrong.
    Some(Duration::from_secs(seconds).min(PAUSE_MAX))
}

impl Life {
    /// Remaining wait of the binding, because a plugin's worker died on it.
    pub(super) fn pause(&self, now: Timestamp) -> Option<Duration> {
        remaining(self.plugin_failure.as_deref()?, now)
    }

    /// True if a plugin that had no part in its result answers again.
    pub(super) fn is_completable(&self) -> bool {
        self.incomplete.as_ref().is_some_and(|incomplete| incomplete.is_due)
    }
}

/// The plugin whose worker died on a binding; `None` if none did.
fn deadly(decision: &Decision) -> Option<&str> {
    decision.failures().find_map(|(_, error)| match error {
        CycleError::Plugin(CallError::Isolated { plugin, error, .. }) if error.ended_worker() => Some(plugin.as_str()),
        _ => None,
    })
}

impl Engine {
    /// Time for which a binding still waits because a plugin's worker died on it, unless something changed since.
    pub(super) fn paused_for(&mut self, candidate: &Candidate, moment: &Moment) -> Option<Duration> {
        let key = &candidate.key;
        let known = self.lives.get(key).and_then(|life| life.plugin_failure.as_deref());
        let failure = match known {
            Some(known) => known.clone(),
            None => {
                let kept = candidate.record().annotation(PLUGIN_FAILURE)?;
                // Anything else that somebody wrote there is replaced with the next write.
                PluginFailure::read(kept)?
            }
        };
        let wait = remaining(&failure, moment.wall);
        let failure = (failure.situation == self.situation(candidate)).then(|| Box::new(failure));
        let lasts = failure.is_some();
        self.lives.change(key, |life| life.plugin_failure = failure);
        wait.filter(|_| lasts)
    }

    /// Takes in which plugins failed in a decision, for the next try.
    pub(super) fn note_failures(
        &mut self,
        candidate: &Candidate,
        decision: &mut LiveDecision,
        moment: &Moment,
    ) -> Effects {
        let key = &candidate.key;
        let (pauses, without) = (&mut self.pauses, &decision.decision.without);
        let profile = &self.active.profile;
        let wait = self
            .lives
            .change(key, |life| pauses.went_without(&mut life.incomplete, without, profile));
        if let Some(wait) = wait {
            let milliseconds = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            let again = moment.milliseconds.saturating_add(milliseconds);
            let valid_until = &mut decision.decision.valid_until;
            *valid_until = Some(valid_until.map_or(again, |until| until.min(again)));
        }
        let effects = Effects::around(self.pauses.completable(&mut self.lives, &self.active.profile));
        let Some(plugin) = deadly(&decision.decision).map(str::to_owned) else {
            self.lives.update(key, |life| life.plugin_failure = None);
            return effects;
        };
        let situation = self.situation(candidate);
        let before = self.lives.get(key).and_then(|life| life.plugin_failure.as_deref());
        let before = before.filter(|before| before.situation == situation && before.plugin == plugin);
        let failures = before.map_or(1, |before| before.failures.saturating_add(1));
        let wait = i64::try_from(pause(failures).as_secs()).unwrap_or(i64::MAX);
        let until = Timestamp::from_seconds(moment.wall.seconds().saturating_add(wait));
        if let Err(failure) = &mut decision.result {
            failure.tried_again_at(until);
        }
        let failure = Box::new(PluginFailure {
            plugin,
            failures,
            until,
            situation,
        });
        self.lives.change(key, |life| life.plugin_failure = Some(failure));
        effects
    }

    /// The specification's patch with the annotation of the binding's wait: written, changed or removed.
    pub(super) fn with_pause(
        &self,
        candidate: &Candidate,
        specification: Option<SpecificationPatch>,
    ) -> Option<SpecificationPatch> {
        let life = self.lives.get(&candidate.key);
        let failure = life.and_then(|life| life.plugin_failure.as_deref());
        let wanted = failure.map(PluginFailure::write);
        if candidate.record().annotation(PLUGIN_FAILURE) == wanted.as_deref() {
            return specification;
        }
        Some(SpecificationPatch {
            plugin_failure: Some(wanted),
            ..specification.unwrap_or_default()
        })
    }

    /// Lets plugins be called again whose workers kept failing, once their wait has ended.
    pub(super) fn resume_plugins(&mut self, now: Instant) -> Effects {
        match self.pauses.resume(&self.active.profile, now) {
            true => self.wake_for(Cause::Suspended),
            false => Effects::default(),
        }
    }

    /// Everything about a binding, its policy, the profile and the plugins' files that may let a plugin succeed, as a hash.
    fn situation(&self, candidate: &Candidate) -> String {
        let key = candidate.binding.input().key();
        format!("{}-{key:016x}", self.active.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_a_minute_to_an_hour() {
        let minutes: Vec<u64> = (0..9).map(|failures| pause(failures).as_secs() / 60).collect();
        assert_eq!(minutes, [1, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause(u32::MAX), PAUSE_MAX);
    }

    #[test]
    fn a_wait_ends_at_its_time_and_lasts_an_hour_at_most() {
        let failure = |seconds| PluginFailure {
            plugin: "hostile".to_owned(),
            failures: 1,
            until: Timestamp::from_seconds(seconds),
            situation: String::new(),
        };
        let now = Timestamp::from_seconds(1000);
        for (until, remaining) in [(999, None), (1000, None), (1060, Some(60)), (9_000_000, Some(3600))] {
            assert_eq!(
                super::remaining(&failure(until), now),
                remaining.map(Duration::from_secs)
            );
        }
    }
}
