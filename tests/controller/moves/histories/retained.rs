//! A workload with the label `resourcetemplate.karmada.io/retain-replicas`: autoscalers of the members set its replicas there, and Karmada's
//! syncer copies their sum into the template (`deployment_replicas_syncer_controller.go`), which has the scheduler divide it anew.
//!
//! Members ignore the numbers of a result, so that only one without a cluster takes anything from them. Its policy has no steps.

use divvy_controller::write::patch::specification_patch;
use divvy_controller::write::{WriteJob, WriteOutcome};
use divvy_world::random::Random;
use serde_json::{Value, json};

use super::super::{binding, weighted};
use super::{NAMES, World, counts};

/// Name of the workload.
pub(super) const RETAINED: &str = "retained";
/// Fewest and most replicas that a member's autoscaler asks for. With the fewest in each, every cluster is in every result.
const FEWEST: i64 = 5;
const MOST: i64 = 12;

/// The workload in its members.
pub(super) struct Retained {
    random: Random,
    /// Replicas in each member.
    members: [i64; 4],
    /// Times that the syncer changed the template.
    pub(super) synced: usize,
}

impl Retained {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed, "retained"),
            members: [0; 4],
            synced: 0,
        }
    }

    /// Weights with which a result of the fewest replicas has all clusters.
    fn weights(&mut self) -> Vec<(&'static str, i64)> {
        NAMES.map(|name| (name, 1 + self.random.count(3))).to_vec()
    }
}

impl World {
    /// Creates the workload, and the policy that says that its results are written at once.
    pub(super) fn create_retained(&mut self) {
        let labels = json!({"propagationpolicy.karmada.io/permanent-id": RETAINED});
        let annotations = json!({"divvy.io/moves": r#"{"steps": false}"#});
        let metadata = json!({
            "name": RETAINED, "namespace": "default", "labels": labels, "annotations": annotations,
        });
        self.simulation.policy(&json!({"metadata": metadata}));
        let weights = self.retained.weights();
        self.simulation.create(RETAINED, binding(4 * FEWEST, &weights));
        self.simulation
            .patch(RETAINED, &json!({"metadata": {"labels": labels}}));
        self.pump();
        self.retained.members = self.result(RETAINED).map(|replicas| replicas.max(FEWEST));
    }

    /// What members, people and the syncer do within a second.
    pub(super) fn run_retained(&mut self) {
        if !self.is_calm {
            for cluster in 0..4 {
                if self.retained.random.chance(4) {
                    self.retained.members[cluster] = FEWEST + self.retained.random.count(MOST - FEWEST + 1);
                }
            }
            if self.retained.random.chance(2) {
                let weights = self.retained.weights();
                self.simulation
                    .patch(RETAINED, &json!({"spec": {"placement": weighted(&weights)}}));
                self.pump();
            }
        }
        let states = NAMES.iter().zip(self.retained.members).map(|(name, replicas)| {
            let status = json!({"replicas": replicas, "readyReplicas": replicas});
            json!({"clusterName": name, "applied": true, "status": status})
        });
        let states: Value = states.collect();
        if self.simulation.binding(RETAINED)["status"]["aggregatedStatus"] != states {
            self.simulation
                .patch(RETAINED, &json!({"status": {"aggregatedStatus": states}}));
            self.pump();
        }
        let sum: i64 = self.retained.members.iter().sum();
        if self.is_observed(RETAINED) && self.total(RETAINED) != sum {
            self.retained.synced += 1;
            self.simulation.patch(RETAINED, &json!({"spec": {"replicas": sum}}));
            self.pump();
        }
    }

    /// A result is written as a whole, and takes no member away.
    pub(super) fn check_retained(&self, job: &WriteJob) {
        let Some(patch) = &job.specification else { return };
        let Some(result) = patch.clusters.as_deref() else {
            return;
        };
        let (before, next) = (self.result(RETAINED), counts(result));
        let asked = job.decided().record().replicas();
        let mark = &specification_patch(job, patch, "")["metadata"]["annotations"]["divvy.io/move"];
        assert!(
            mark.is_null() && next.iter().sum::<i64>() == asked,
            "seed {}, second {}: a step of `{RETAINED}`: {before:?} -> {next:?} of {asked}, {mark}",
            self.seed,
            self.now
        );
        let falls = before.iter().zip(next).any(|(before, next)| *before > 0 && next == 0);
        assert!(
            !falls,
            "seed {}, second {}: {before:?} -> {next:?}",
            self.seed, self.now
        );
    }

    /// Carries out a write of the workload, unless it is lost.
    pub(super) fn carry_out_retained(&mut self, job: &WriteJob) {
        if !self.is_calm && self.retained.random.chance(10) {
            self.simulation.fail_next_write(WriteOutcome::Failed("lost".to_owned()));
        }
        self.simulation.deliver(job);
    }

    /// True if the template has what the members run, and the result has it, too.
    pub(super) fn is_synced(&self) -> bool {
        let sum: i64 = self.retained.members.iter().sum();
        self.total(RETAINED) == sum && self.result(RETAINED).iter().sum::<i64>() == sum
    }
}
