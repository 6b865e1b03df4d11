//! Accurate estimators: right, slow, wrong or dead.

use std::collections::HashMap;

use divvy_controller::estimates::{Answer, EstimateJob};
use divvy_controller::objects::{Kind, ObjectKey};

use super::{ControlPlane, cluster_number, requests_of};
use crate::agenda::Millis;

/// Conduct of the estimators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimating {
    /// They answer at once and correctly.
    Well,
    /// They answer after this many milliseconds.
    Slowly(Millis),
    /// They answer with the count of a while ago.
    Late,
    /// They say that nothing fits.
    Nothing,
    /// They say that twice as much fits.
    Double,
    /// They do not answer.
    Dead,
}

impl ControlPlane {
    /// The answers to a question that is asked now.
    pub fn estimate(
        &mut self,
        job: &EstimateJob,
        conduct: Estimating,
        asked: std::time::Instant,
    ) -> HashMap<String, Answer> {
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
            let count = match conduct {
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
        fits
    }
}
