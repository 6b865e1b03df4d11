//! Offline decisions: those that `divvy schedule` makes of a state.
//!
//! It uses nothing of the controller's crate, so a bug that is planted there cannot affect it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use divvy_forecast::future::{Explains, Fate, Future, Options};
use divvy_forecast::planned::MovedCluster;
use divvy_forecast::rebalance::{Goal, Wish, rebalance};
use divvy_forecast::situation::{ClusterEntry, Situation};
use divvy_karmada::api::{Cluster, ReadJson, ResourceBinding};
use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::decision::{Outcome, Scheduler};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot, Ledger};
use divvy_scheduler::profile::ConfiguredProfile;
use serde_json::Value;

/// Clusters with their replicas, sorted by name.
pub(crate) type Targets = Vec<(String, i64)>;

/// Quantities that are held: cluster, resource, quantity.
pub(crate) type HeldList = Vec<(String, String, i64)>;

/// What an offline decision says of a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opinion {
    /// The binding is not scheduled at all.
    Skipped,
    /// There is no reason to decide it.
    Satisfied,
    /// It is decided for a reason, with this result.
    Decided(Reason, Result<Targets, Refusal>),
}

/// A decision that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Reason of the condition that Karmada expects.
    pub(crate) reason: &'static str,
    /// Message.
    pub(crate) message: String,
    /// True if the result is removed.
    pub(crate) clears: bool,
}

/// The clusters and the profile of offline decisions.
pub(crate) struct Oracle {
    side: ConfiguredProfile,
    clusters: Vec<Cluster>,
    time: i64,
}

impl Oracle {
    /// Offline decisions of a time, in milliseconds since 1970, on these clusters.
    pub(crate) fn new<'a>(side: ConfiguredProfile, clusters: impl IntoIterator<Item = &'a Value>, time: i64) -> Self {
        let clusters = clusters.into_iter();
        Self {
            side,
            clusters: clusters
                .filter_map(|object| Cluster::from_json(&object.to_string()).ok())
                .collect(),
            time,
        }
    }

    /// Opinions on bindings, each by itself.
    pub(crate) fn opinions<'a>(&self, bindings: impl IntoIterator<Item = &'a Value>) -> Vec<(String, Opinion)> {
        let future = Future::decide(&self.situation(bindings), &self.side, self.options(false));
        let opinions = future.entries.iter().map(|entry| {
            let opinion = match &entry.fate {
                Fate::Skipped(_) => Opinion::Skipped,
                Fate::Satisfied => Opinion::Satisfied,
                Fate::Decided(reason, decision) => {
                    let clears = entry.targets.is_empty();
                    Opinion::Decided(*reason, outcome(&decision.outcome, clears))
                }
            };
            (entry.binding.object.metadata.name.clone(), opinion)
        });
        opinions.collect()
    }

    /// The results that a plan wants which places what waits, one for each of these bindings; `None` for one that the plan leaves as it is.
    pub(crate) fn plan<'a>(&self, bindings: impl IntoIterator<Item = &'a Value>) -> Vec<Option<Targets>> {
        let bindings: Vec<&Value> = bindings.into_iter().collect();
        let situation = self.situation(bindings.iter().copied());
        let options = self.options(true);
        let future = Future::decide(&situation, &self.side, options);
        let wish = Wish {
            goal: Goal::Place,
            has_curve: false,
            situation: &situation,
        };
        let plan = rebalance(&future, &self.side, options, wish).unwrap_or_default();
        let waiting = plan.waiting.iter().map(|row| (&row.binding, &row.clusters));
        let rows = waiting.chain(plan.moves.iter().map(|row| (&row.binding, &row.clusters)));
        let rows: BTreeMap<&String, &Vec<MovedCluster>> = rows.filter(|(_, clusters)| !clusters.is_empty()).collect();
        let targets = bindings.into_iter().map(|binding| {
            let (namespace, name) = (&binding["metadata"]["namespace"], &binding["metadata"]["name"]);
            let key = format!("{}/{}", namespace.as_str()?, name.as_str()?);
            target(binding, rows.get(&key)?)
        });
        targets.collect()
    }

    /// The decision on a binding whether there is a reason or not, with these quantities held; `fresh` divides from scratch. Otherwise, a
    /// reschedule that was requested counts as answered.
    pub(crate) fn decision(&self, object: &Value, held: &HeldList, fresh: bool) -> Option<Result<Targets, Refusal>> {
        let mut binding = binding(object)?;
        if !fresh {
            binding.object.spec.reschedule_triggered_at = None;
        }
        let fleet = self.fleet();
        let mut scheduler = Scheduler::new(Arc::clone(&self.side.profile))
            .keeping_no_plans()
            .deciding_at(Some(self.time));
        if !held.is_empty() {
            scheduler = scheduler.continuing(Some(ledger(held, &fleet)));
        }
        let decision = match fresh {
            true => scheduler.rescheduled(&binding, &fleet),
            false => scheduler.schedule(&binding, &fleet),
        };
        Some(outcome(&decision.outcome, false))
    }

    fn situation<'a>(&self, bindings: impl IntoIterator<Item = &'a Value>) -> Situation {
        let clusters = self.clusters.iter().map(|cluster| ClusterEntry {
            object: cluster.clone(),
            json: None,
        });
        Situation::new(clusters, bindings.into_iter().filter_map(binding))
    }

    fn options(&self, assumes: bool) -> Options {
        Options {
            assumes,
            explains: Explains::Nothing,
            threads: NonZeroUsize::MIN,
            time: Some(self.time),
        }
    }

    fn fleet(&self) -> FleetSnapshot {
        let mut fleet = Fleet::new(false);
        fleet.extend(&self.clusters);
        fleet.snapshot()
    }
}

fn ledger(held: &HeldList, fleet: &FleetSnapshot) -> Ledger {
    let mut ledger = Ledger::default();
    for (cluster, resource, quantity) in held {
        let row = (0_u32..)
            .zip(0..fleet.len())
            .find(|(row, _)| fleet.name(*row) == cluster);
        if let Some((_, row)) = row {
            let resource = ledger.resource(resource);
            ledger.take(resource, row, *quantity);
        }
    }
    ledger
}

fn binding(object: &Value) -> Option<Binding> {
    let object = ResourceBinding::from_json(&object.to_string()).ok()?;
    Some(Binding {
        object: Box::new(object),
        ..Binding::default()
    })
}

fn outcome(outcome: &Outcome, clears: bool) -> Result<Targets, Refusal> {
    match outcome {
        Outcome::Scheduled(targets) => Ok(targets.clone()),
        Outcome::Skipped(message) => Err(Refusal {
            reason: "Skipped",
            message: message.clone(),
            clears: false,
        }),
        Outcome::Failed(error) => Err(Refusal {
            // Unmet spread constraints are an error in Karmada.
            reason: match error {
                CycleError::NoClusterFit { .. } => "NoClusterFit",
                CycleError::Unschedulable { .. } => "Unschedulable",
                _ => "SchedulerError",
            },
            message: error.to_string(),
            clears,
        }),
    }
}

/// The result that a plan wants of a binding; `None` if it is not of its present result.
fn target(binding: &Value, changes: &[MovedCluster]) -> Option<Targets> {
    let mut target: BTreeMap<String, i64> = targets_of(binding).into_iter().collect();
    for change in changes {
        if target.insert(change.name.clone(), change.after).unwrap_or(0) != change.before {
            return None;
        }
    }
    target.retain(|_, replicas| *replicas > 0);
    Some(target.into_iter().collect())
}

/// The result in a binding, sorted by name.
pub(crate) fn targets_of(binding: &Value) -> Targets {
    let targets = binding["spec"]["clusters"].as_array().into_iter().flatten();
    let mut targets: Targets = targets
        .map(|target| {
            let name = target["name"].as_str().unwrap_or_default().to_owned();
            (name, target["replicas"].as_i64().unwrap_or(0))
        })
        .collect();
    targets.sort();
    targets
}
