//! The tasks that wait for the network: writes, and questions to estimators.

use std::sync::Arc;

use divvy_estimator::Estimators;
use tokio::sync::{Semaphore, mpsc};
use tracing::Instrument;

use super::Message;
use crate::engine::Task;
use crate::estimates::{Answers, ask};
use crate::observe::{CYCLE, Metrics};
use crate::write::execute::Writer;

/// Carries out the engine's tasks.
#[derive(Clone)]
pub(super) struct Worker {
    pub(super) writer: Writer,
    pub(super) estimators: Option<Arc<Estimators>>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) to_engine: mpsc::Sender<Message>,
}

impl Worker {
    async fn carry_out(self, task: Task) {
        let message = match task {
            Task::Write(job) => {
                let span = tracing::info_span!(target: CYCLE, parent: &job.span, "write");
                let written = self.writer.write(&job).instrument(span).await;
                Message::Written(job.key, Box::new(written))
            }
            Task::Estimate(job) => {
                let key = Arc::clone(&job.key);
                let span = tracing::info_span!(target: CYCLE, parent: &job.span, "estimate");
                let answers = match &self.estimators {
                    Some(estimators) => ask(estimators, job, &self.metrics).instrument(span).await,
                    None => Answers::none(job.request),
                };
                Message::Estimated(key, answers)
            }
        };
        // The engine is gone only if the process ends.
        let _gone = self.to_engine.send(message).await;
    }
}

/// Carries out tasks in parallel, at most `concurrency` at a time of each kind: estimators that are slow must not hold up
/// writes.
pub(super) fn start_workers(worker: Worker, concurrency: usize, mut tasks: mpsc::UnboundedReceiver<Task>) {
    let permits = || Arc::new(Semaphore::new(concurrency.max(1)));
    let (writes, questions) = (permits(), permits());
    tokio::spawn(async move {
        while let Some(task) = tasks.recv().await {
            let permits = match &task {
                Task::Write(_) => Arc::clone(&writes),
                Task::Estimate(_) => Arc::clone(&questions),
            };
            let worker = worker.clone();
            tokio::spawn(async move {
                let Ok(_permit) = permits.acquire_owned().await else {
                    return;
                };
                worker.carry_out(task).await;
            });
        }
    });
}
