//! Fewer replicas than requested: the largest count from the quorum up that the strategy divides.
//!
//! The strategy is asked again with fewer replicas, as it would be for a binding that requests them. It need not be monotonic, so the
//! claim is only that the count found was accepted and that the next one was refused.

use std::fmt;

use divvy_framework_view::clusters::Clusters;

use super::groups::{Attempt, Circumstances, planless, run_group};
use crate::cycle::{Cycle, CycleError, Detail, Explanation, Target};
use crate::plan::{Decidable, Plan, PlanInput};
use crate::search::{Try, largest_within};

/// A result with fewer replicas than requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// Replicas of the result.
    pub replicas: i64,
    /// Replicas requested.
    pub requested: i64,
    /// Reason for which one replica more was refused.
    pub refusal: String,
}

impl Partial {
    /// Replicas that are missing.
    pub fn missing(&self) -> i64 {
        self.requested - self.replicas
    }
}

impl fmt::Display for Partial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            replicas,
            requested,
            refusal,
        } = self;
        let (missing, next) = (self.missing(), replicas + 1);
        write!(
            formatter,
            "{replicas} of {requested} replicas, {missing} missing; {next} were refused: {refusal}"
        )
    }
}

/// Replicas that run already and that a result with more must not take away: those of a last result that has fewer than requested, on
/// clusters that the filters let the binding keep. Empty if the replicas are divided from scratch.
#[derive(Default)]
pub(super) struct Running {
    /// Sorted by row.
    targets: Vec<Target>,
    replicas: i64,
}

impl Running {
    /// The running replicas of a binding, by the clusters that were feasible in the last cycle.
    pub(super) fn of(binding: &dyn Decidable, plan: &Plan, circumstances: &Circumstances<'_>, cycle: &Cycle) -> Self {
        if circumstances.fresh {
            return Self::default();
        }
        let clusters: Clusters<'_> = circumstances.fleet.snapshot().clusters();
        let last = binding.input().last.iter().filter_map(|target| {
            let row = u32::try_from(clusters.row(&target.name)?.index()).ok()?;
            let replicas = i64::from(target.replicas);
            (replicas > 0 && cycle.is_feasible(row)).then_some(Target { row, replicas })
        });
        let mut targets: Vec<Target> = last.collect();
        // If a cluster is listed twice, the first entry counts.
        targets.sort_by_key(|target| target.row);
        targets.dedup_by_key(|target| target.row);
        let replicas = targets.iter().map(|target| target.replicas).sum();
        match replicas < plan.replicas {
            true => Self { targets, replicas },
            false => Self::default(),
        }
    }

    /// Refuses a result for `replicas` that takes away any of these.
    pub(super) fn check(
        &self,
        replicas: i64,
        result: &[Target],
        circumstances: &Circumstances<'_>,
    ) -> Result<(), CycleError> {
        let after = |row: u32| {
            let found = result.binary_search_by_key(&row, |target| target.row);
            found.map_or(0, |index| result[index].replicas)
        };
        let Some(before) = self.targets.iter().find(|before| after(before.row) < before.replicas) else {
            return Ok(());
        };
        let cluster = circumstances.fleet.name(before.row);
        let (last, left) = (before.replicas, after(before.row));
        Err(CycleError::Unschedulable {
            plugin: String::new(),
            message: format!(
                "{replicas} replicas would leave {left} of {last} on cluster `{cluster}`; only a reschedule takes replicas away"
            ),
            figures: None,
        })
    }
}

/// One search after all groups have failed for all replicas.
pub(super) struct Fewer<'a, 'c> {
    pub(super) cycle: &'c mut Cycle,
    pub(super) binding: &'c dyn Decidable,
    pub(super) plan: &'a Plan,
    /// Index of the first group that was tried.
    pub(super) first: usize,
    /// Replicas from which fewer than requested are divided.
    pub(super) quorum: i64,
    pub(super) running: &'c Running,
    pub(super) circumstances: &'c Circumstances<'c>,
    pub(super) targets: &'c mut Vec<Target>,
    pub(super) attempt: &'c mut Attempt<'a>,
}

/// Outcome of the search in one group.
enum Searched {
    /// The count found, and the reason for which the next one was refused.
    Found(i32, String),
    /// Nothing; the reason for which the first count was refused.
    Nothing(String),
    /// A plugin or Divvy is at fault.
    Fault(CycleError),
}

impl Fewer<'_, '_> {
    /// Divides fewer replicas in the first group that takes the quorum, or keeps the running replicas if they are enough. Otherwise, the
    /// errors of the groups say that the quorum does not fit.
    pub(super) fn divide(mut self) {
        let mut kept = None;
        for index in 0..self.attempt.failed.len() {
            if !self.attempt.failed[index].error.lacks_room() {
                continue;
            }
            match self.search(index) {
                Searched::Found(count, refusal) => match self.decide(index, count, self.circumstances.detail) {
                    Ok(explanation) => return self.accept(index, i64::from(count), refusal, explanation),
                    Err(error) => self.attempt.failed[index].error = error,
                },
                Searched::Nothing(refusal) if index == 0 && self.is_enough() => kept = Some(refusal),
                // More replicas than run were refused, not the quorum.
                Searched::Nothing(_) if self.is_enough() => {}
                Searched::Nothing(_) => {
                    let note = format!("the quorum of {} does not fit either", self.quorum);
                    self.attempt.failed[index].error.add(&note);
                }
                Searched::Fault(error) => self.attempt.failed[index].error = error,
            }
        }
        self.targets.clear();
        if let Some(refusal) = kept {
            self.keep(refusal);
        }
    }

    /// True if the running replicas are a quorum, so that more are only a top-up.
    fn is_enough(&self) -> bool {
        self.running.replicas >= self.quorum
    }

    /// Searches for the largest count in a group, above the running replicas.
    fn search(&mut self, index: usize) -> Searched {
        let narrow = |count: i64| i32::try_from(count).unwrap_or(i32::MAX);
        let least = narrow(self.quorum.max(self.running.replicas + 1));
        let all = narrow(self.plan.replicas);
        let error = &self.attempt.failed[index].error;
        let suggestion = error.suggested_count(self.plan.replicas);
        let start = suggestion.map_or(least, narrow);
        let mut refusals = vec![(all, error.to_string())];
        let mut fault = None;
        let found = largest_within(least..all, start, suggestion, &mut |count| {
            let refused = Try {
                is_accepted: false,
                suggestion: None,
            };
            if fault.is_some() {
                return refused;
            }
            match self.decide(index, count, None) {
                Ok(_) => Try {
                    is_accepted: true,
                    suggestion: None,
                },
                Err(error) if error.is_refusal() => {
                    refusals.push((count, error.to_string()));
                    Try {
                        suggestion: error.suggested_count(i64::from(count)),
                        ..refused
                    }
                }
                Err(error) => {
                    fault = Some(error);
                    refused
                }
            }
        });
        if let Some(error) = fault {
            return Searched::Fault(error);
        }
        let mut refusal_of = |count: i32| {
            let index = refusals.iter().position(|(refused, _)| *refused == count.min(all));
            index.map_or_else(String::new, |index| refusals.swap_remove(index).1)
        };
        match found {
            Some(count) => Searched::Found(count, refusal_of(count + 1)),
            None => Searched::Nothing(refusal_of(least)),
        }
    }

    /// Decides the binding in one group as if it requested `count` replicas.
    fn decide(&mut self, index: usize, count: i32, detail: Option<Detail>) -> Result<Option<Explanation>, CycleError> {
        let profile = self.circumstances.profile;
        let input = PlanInput {
            replicas: i64::from(count),
            ..self.binding.input()
        };
        let plan = Plan::under(profile, &input).map_err(|error| planless(&error, profile))?;
        let circumstances = Circumstances {
            detail,
            ..*self.circumstances
        };
        let group = &plan.groups[self.first + index];
        let (result, explanation) = run_group(self.cycle, &plan, group, &circumstances, self.attempt, self.targets);
        result?;
        self.running.check(plan.replicas, self.targets, &circumstances)?;
        Ok(explanation)
    }

    /// Keeps the running replicas, because every count above them that was tried is refused.
    fn keep(mut self, refusal: String) {
        let replicas = self.running.replicas;
        let count = i32::try_from(replicas).unwrap_or(i32::MAX);
        // Only the figures and the explanation are read from this decision, which usually leaves everything as it is.
        let explanation = self.decide(0, count, self.circumstances.detail).ok().flatten();
        let is_feasible = |target: &Target| self.cycle.is_feasible(target.row);
        if !self.running.targets.iter().all(is_feasible) {
            // A filter depends on the count. The running replicas are on clusters that are feasible for all replicas.
            let group = &self.plan.groups[self.first];
            _ = run_group(
                self.cycle,
                self.plan,
                group,
                self.circumstances,
                self.attempt,
                self.targets,
            );
        }
        self.targets.clear();
        self.targets.extend_from_slice(&self.running.targets);
        self.accept(0, replicas, refusal, explanation);
    }

    fn accept(self, index: usize, replicas: i64, refusal: String, explanation: Option<Explanation>) {
        let partial = Partial {
            replicas,
            requested: self.plan.replicas,
            refusal,
        };
        self.attempt.explanation = explanation;
        let accepted = self.attempt.failed.remove(index);
        self.attempt.fitting = Some(accepted.group);
        self.attempt.partial = Some(partial);
    }
}
