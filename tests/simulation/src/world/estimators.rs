//! Accurate estimators: right, slow, wrong or dead.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_controller::estimates::{Answer, Answers, EstimateJob};
use divvy_controller::objects::{Kind, ObjectKey};
use serde_json::Value;

use super::karmada::requests_of;
use super::{Event, World};
use crate::agenda::Millis;
use crate::script::Estimating;

/// Time after which an estimator counts as dead.
const DEADLINE: Millis = 3_000;

/// A question of a process that is being answered.
#[derive(Debug)]
pub(crate) struct Question {
    job: EstimateJob,
    answers: Answers,
}

impl World<'_> {
    /// A process asks estimators.
    pub(super) fn ask(&mut self, incarnation: u64, job: EstimateJob) {
        let asked = self.moment().instant;
        let key = ObjectKey {
            namespace: job.key.namespace.clone(),
            name: job.key.name.clone(),
        };
        let binding = self.server.get(Kind::Binding, &key).cloned();
        let requests = binding.as_deref().map(requests_of).unwrap_or_default();
        let mut fits = HashMap::new();
        for cluster in &job.clusters {
            let Some(number) = cluster_number(&cluster.name) else {
                continue;
            };
            let Some(member) = self.members.get(number) else {
                continue;
            };
            let room = requests
                .iter()
                .map(|wanted| member.room_for(wanted.requests) / wanted.pods.max(1))
                .min();
            let room = match requests.len() {
                1 => requests.first().map_or(0, |wanted| member.room_for(wanted.requests)),
                _ => room.unwrap_or(0),
            };
            let before = self.estimates.insert(number, room).unwrap_or(room);
            let count = match self.estimating {
                Estimating::Well | Estimating::Slowly(_) => room,
                Estimating::Late => before,
                Estimating::Nothing => 0,
                Estimating::Double => room * 2,
                Estimating::Dead => continue,
            };
            if !member.is_unreachable {
                fits.insert(cluster.name.clone(), Answer { count, asked });
            }
        }
        let delay = match self.estimating {
            Estimating::Slowly(millis) => millis,
            Estimating::Dead => DEADLINE,
            _ => self.network.between(2, 30),
        };
        let answers = Answers {
            request: job.request.clone(),
            fits,
        };
        self.enter(
            delay,
            Event::Estimated(incarnation, Box::new(Question { job, answers })),
        );
    }

    /// Answers reach a process.
    pub(super) fn estimated(&mut self, incarnation: u64, question: Question) {
        let now = self.now;
        let until = self.process(incarnation).map_or(0, |process| process.stalled_until);
        if until > now {
            self.enter(until - now, Event::Estimated(incarnation, Box::new(question)));
            return;
        }
        let moment = self.moment();
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let key = Arc::clone(&question.job.key);
        if let Some(task) = process.engine.estimated(&key, &question.answers, &moment) {
            self.hand_out(incarnation, task);
        }
        self.pump(incarnation);
    }
}

/// The number in a cluster's name.
pub(crate) fn cluster_number(cluster: &str) -> Option<usize> {
    cluster.strip_prefix('c')?.parse().ok()
}

/// Number of the cluster in a target.
pub(crate) fn target_number(target: &Value) -> Option<usize> {
    cluster_number(target["name"].as_str()?)
}
