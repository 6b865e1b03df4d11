//! Growth of a binding: the largest number of replicas that still schedules, and the obstacle to the next one.
//!
//! Bindings are measured one at a time, after everything else has been decided and has taken its room: all others keep
//! their results. The answer is always backed by decisions: the reported count schedules, and the next one does not
//! ([`search`](divvy_scheduler::search)). A strategy that ignores capacity schedules any count; for it, the largest count that also fits is
//! searched for in the same way.

mod costs;
pub mod document;
pub mod hypothetical;
mod stop;

pub use costs::add_costs;

use std::sync::Arc;

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::{Decision, Outcome, Scheduler};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::profile::ConfiguredProfile;
use divvy_scheduler::search::{Found, REPLICAS_MAX, Try, largest};
use divvy_scheduler::strategy::QUORUM_ANNOTATION;

use crate::change::{has_replicas, set_replicas};
use crate::future::{Entry, Fate, Future, Options};
use crate::situation::Assignment;
use document::{HeadroomRow, HeadroomStop, TargetCount};

/// A binding to measure.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The binding, with the replicas from which the search starts.
    pub binding: Arc<Binding>,
    /// Its entry in the future; `None` for a binding that is not in the situation.
    pub entry: Option<&'a Entry>,
}

impl<'a> Subject<'a> {
    /// A binding of the situation.
    pub fn existing(entry: &'a Entry) -> Self {
        Self {
            binding: Arc::clone(&entry.binding),
            entry: Some(entry),
        }
    }

    /// A binding that is not in the situation.
    pub fn hypothetical(binding: Binding) -> Self {
        Self {
            binding: Arc::new(binding),
            entry: None,
        }
    }
}

/// True if a binding has a number of replicas that can change, that is, those of one pod template.
pub fn is_measurable(binding: &Binding) -> bool {
    has_replicas(binding)
}

/// Measures each subject against the room that a future leaves, by the rules of `side`. The errors of decisions are
/// returned beside the rows, for the exit code.
pub fn headroom(
    subjects: &[Subject<'_>],
    future: &Future,
    side: &ConfiguredProfile,
    options: Options,
) -> Vec<(HeadroomRow, Option<CycleError>)> {
    divvy_parallel::map(subjects, options.threads, || {
        |subject: &Subject<'_>| Measurement::new(subject, future, side, options.time).row()
    })
}

/// The tries for one binding.
struct Measurement<'a> {
    binding: &'a Binding,
    fleet: &'a FleetSnapshot,
    scheduler: Scheduler,
    decisions: usize,
    /// The binding's entry in the future; `None` for a hypothetical one, which has no replicas yet.
    entry: Option<&'a Entry>,
    /// True if the future was decided with the binding's own strategy, and another one is measured.
    is_overridden: bool,
}

impl<'a> Measurement<'a> {
    fn new(subject: &'a Subject<'a>, future: &'a Future, side: &ConfiguredProfile, time: Option<i64>) -> Self {
        let scheduler = Scheduler::new(Arc::clone(&side.profile));
        let mut scheduler = scheduler
            .continuing(future.ledger.clone())
            .deciding_at(time)
            .knowing(future.placements.clone());
        // The binding can use the room that its own result has taken.
        if let Some(entry) = subject.entry
            && let Fate::Decided(_, decision) = &entry.fate
            && let Outcome::Scheduled(targets) = &decision.outcome
        {
            let targets = targets.iter().map(|(cluster, replicas)| (cluster.as_str(), *replicas));
            scheduler.give_back(&entry.binding, targets, &future.fleet);
        }
        let is_overridden = side.profile.plan_options().strategy_override.is_some();
        Self {
            binding: &subject.binding,
            fleet: &future.fleet,
            scheduler,
            decisions: 0,
            entry: subject.entry,
            is_overridden,
        }
    }

    /// Decides the binding with a number of replicas, all of which have to fit.
    fn decide(&mut self, replicas: i32, explains: bool) -> Decision {
        let mut binding = self.binding.clone();
        set_replicas(&mut binding, replicas);
        binding.object.metadata.annotations.remove(QUORUM_ANNOTATION);
        if let Some(policy) = binding.policy.as_mut()
            && policy.annotations.contains_key(QUORUM_ANNOTATION)
        {
            Arc::make_mut(policy).annotations.remove(QUORUM_ANNOTATION);
        }
        self.decisions += 1;
        self.scheduler.tried(&binding, self.fleet, explains)
    }

    /// Decides the binding with a number of replicas, or with a quorum of them.
    fn decide_in_part(&mut self, replicas: i32) -> Decision {
        let mut binding = self.binding.clone();
        set_replicas(&mut binding, replicas);
        self.decisions += 1;
        self.scheduler.tried(&binding, self.fleet, true)
    }

    fn row(mut self) -> (HeadroomRow, Option<CycleError>) {
        let replicas = self.binding.object.spec.replicas.unwrap_or(0);
        let first = self.decide_in_part(replicas);
        let kept = self.kept_result();
        let mut row = HeadroomRow {
            binding: self.binding.key(),
            kind: self.binding.object.scope().kind().to_owned(),
            strategy: first.strategy().to_owned(),
            replicas: self.entry.map_or(0, |_| i64::from(replicas)),
            partial: first
                .partial
                .as_ref()
                .filter(|_| kept.is_none())
                .map(|partial| partial.replicas),
            result: kept.unwrap_or(first.outcome.word()).to_owned(),
            ..HeadroomRow::default()
        };
        let error = match &first.outcome {
            Outcome::Skipped(reason) => {
                row.message.clone_from(reason);
                return (row, None);
            }
            // No other count makes an invalid binding valid, or a plugin work.
            Outcome::Failed(error) if error.kind() == "Error" => {
                row.message = error.to_string();
                return (row, Some(error.clone()));
            }
            Outcome::Failed(error) if kept.is_none() => Some(error.clone()),
            Outcome::Failed(_) | Outcome::Scheduled(_) => None,
        };
        row.message = match kept {
            Some(_) => String::new(),
            None => first.message(),
        };
        let found = largest(replicas, |count| match kept {
            Some(_) if count == replicas => Try {
                is_accepted: true,
                suggestion: None,
            },
            _ => tried(&self.decide(count, false)),
        });
        self.report(found, &mut row);
        row.decisions = self.decisions;
        (row, error)
    }

    /// The result of the present replicas, if the future keeps them. They are then not tried: if other bindings use more than
    /// fits, a new decision might not find the room that this binding already has.
    fn kept_result(&self) -> Option<&'static str> {
        let entry = self.entry.filter(|_| !self.is_overridden)?;
        match &entry.fate {
            Fate::Satisfied => Some("Satisfied"),
            Fate::Decided(_, decision) if entry.error().is_none() && entry.partial().is_none() => {
                Some(decision.outcome.word())
            }
            Fate::Decided(..) | Fate::Skipped(_) => None,
        }
    }

    /// Fills in the findings of the search, from decisions that are explained.
    fn report(&mut self, found: Found, row: &mut HeadroomRow) {
        let Some(most) = found.most else {
            row.stop = Some(self.stop(1, &[]));
            return;
        };
        row.is_unbounded = most == REPLICAS_MAX;
        row.beyond = found.beyond.map(i64::from);
        if !row.is_unbounded {
            row.most = Some(i64::from(most));
            row.headroom = Some(i64::from(most) - row.replicas);
            row.clusters = match (self.kept_result(), self.entry) {
                (Some(_), Some(entry)) if i64::from(most) == row.replicas => counts(&entry.targets),
                _ => targets(&self.decide(most, false)),
            };
            row.stop = Some(self.stop(most.saturating_add(1), &row.clusters));
            return;
        }
        let binding = self.binding;
        let fitting = largest(row.replicas.try_into().unwrap_or(1), |count| Try {
            is_accepted: fits(binding, &self.decide(count, false)),
            suggestion: None,
        });
        match fitting.most {
            Some(REPLICAS_MAX) => {}
            Some(most) => {
                row.fits = Some(i64::from(most));
                row.clusters = targets(&self.decide(most, false));
                row.stop = Some(self.stop(most.saturating_add(1), &row.clusters));
            }
            None => {
                row.fits = Some(0);
                row.stop = Some(self.stop(1, &[]));
            }
        }
    }

    /// The reason for which a count was refused.
    fn stop(&mut self, count: i32, accepted: &[TargetCount]) -> HeadroomStop {
        let decision = self.decide(count, true);
        stop::read(
            count,
            &decision,
            accepted,
            self.binding,
            self.fleet,
            self.scheduler.ledger(),
        )
    }
}

/// The outcome of a decision for the search. A refusal that counts what is missing suggests the count without it.
fn tried(decision: &Decision) -> Try {
    let suggestion = match &decision.outcome {
        Outcome::Failed(error) => error.suggested_count(decision.replicas),
        Outcome::Scheduled(_) | Outcome::Skipped(_) => None,
    };
    Try {
        is_accepted: matches!(decision.outcome, Outcome::Scheduled(_)),
        suggestion,
    }
}

/// True if a decision gives no cluster more than fits there.
fn fits(binding: &Binding, decision: &Decision) -> bool {
    let Outcome::Scheduled(targets) = &decision.outcome else {
        return false;
    };
    let mut figures = targets.iter().zip(&decision.figures);
    figures.all(|((cluster, replicas), figures)| {
        let growth = replicas - last(binding, cluster);
        figures.fits_now.is_none_or(|fits_now| growth <= fits_now.max(0))
    })
}

/// Replicas that a binding already has on a cluster.
fn last(binding: &Binding, cluster: &str) -> i64 {
    let mut targets = binding.last();
    targets
        .find(|(name, _)| *name == cluster)
        .map_or(0, |(_, replicas)| replicas)
}

fn targets(decision: &Decision) -> Vec<TargetCount> {
    let Outcome::Scheduled(targets) = &decision.outcome else {
        return Vec::new();
    };
    counts(&targets.iter().cloned().collect())
}

fn counts(assignment: &Assignment) -> Vec<TargetCount> {
    let counts = assignment.iter().map(|(name, replicas)| TargetCount {
        name: name.clone(),
        replicas: *replicas,
    });
    counts.collect()
}
