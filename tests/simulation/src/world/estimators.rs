//! Questions of processes to accurate estimators, and their answers.

use std::sync::Arc;

use divvy_controller::estimates::{Answers, EstimateJob};
use divvy_world::agenda::Millis;
use divvy_world::plane::Estimating;

use super::{Event, World};

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
        let fits = self.plane.estimate(&job, self.estimating, asked);
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
