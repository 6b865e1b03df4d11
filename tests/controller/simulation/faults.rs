//! A scheduler that is killed, writes that meet another version or whose answers are lost, and what is kept and published of all that.

use std::sync::Arc;

use divvy_controller::engine::{ActiveProfile, Engine, Task};
use divvy_controller::lease::Term;
use divvy_controller::objects::{Kind, ObjectKey};
use divvy_controller::watch::Change;
use divvy_controller::write::{WriteJob, WriteOutcome, Written};

use super::{Simulation, fetched};

impl Simulation {
    /// Kills the scheduler, and starts another one, which knows nothing but what is stored.
    pub(in super::super) fn kill(&mut self, active: &ActiveProfile) {
        self.engine = Engine::new(active.clone(), Arc::clone(&self.panel));
        if let Some(held) = &mut self.held {
            held.clear();
        }
        for kind in Kind::ALL {
            self.relist(kind);
        }
        let moment = self.moment();
        self.engine.lead(Some(Term(1)), &moment);
        self.run();
    }

    /// Lets the scheduler lead in a term, and takes the first write that it asks for.
    pub(in super::super) fn lead_to_the_first_task(&mut self, term: u64) -> WriteJob {
        let moment = self.moment();
        self.engine.lead(Some(Term(term)), &moment);
        match self.engine.next(&moment) {
            Some(Task::Write(job)) => *job,
            other => panic!("{other:?}"),
        }
    }

    /// Carries a write out that was held back, unless the binding has another version by now.
    pub(in super::super) fn deliver(&mut self, job: &WriteJob) {
        let stored = self.binding(&job.key.name);
        if stored["metadata"]["resourceVersion"] != job.decided().resource_version() {
            let written = Written {
                latest: Some(fetched(stored)),
                outcome: WriteOutcome::Superseded,
                ..Written::default()
            };
            let moment = self.moment();
            self.engine.complete(&job.key, written, &moment);
        } else {
            self.carry_out(job);
        }
        self.run();
    }

    /// Carries a write out without telling the scheduler.
    pub(in super::super) fn deliver_silently(&mut self, job: &WriteJob) {
        let stored = self.binding(&job.key.name);
        if stored["metadata"]["resourceVersion"] == job.decided().resource_version() {
            let _written = self.write(job);
        }
    }

    /// Carries out the writes that were held back. The scheduler learns of them by its watch alone.
    pub(in super::super) fn lose_answers(&mut self) {
        for job in self.held.take().into_iter().flatten() {
            let mut written = self.write(&job);
            written = Written {
                outcome: WriteOutcome::Failed(format!("the answer is lost: {:?}", written.outcome)),
                ..Written::default()
            };
            let moment = self.moment();
            self.engine.complete(&job.key, written, &moment);
        }
        self.run();
    }

    /// From now on, the watch repeats a write after its answer, when [`Self::catch_up`] is called.
    pub(in super::super) fn watch_late(&mut self) {
        self.late = Some(Vec::new());
    }

    /// The watch shows everything that it has not repeated yet.
    pub(in super::super) fn catch_up(&mut self) {
        for object in self.late.take().into_iter().flatten() {
            self.observe(Change::Applied(Kind::Binding, object));
        }
    }

    /// True if the scheduler keeps anything of a binding that it wrote once.
    pub(in super::super) fn is_kept(&self, name: &str) -> bool {
        self.keys[name].strong_count() > 0
    }

    /// The quota of the namespace changes.
    pub(in super::super) fn quota_changes(&mut self) {
        let key = ObjectKey {
            namespace: "default".to_owned(),
            name: "quota".to_owned(),
        };
        self.observe(Change::Deleted(Kind::Quota, key));
    }

    /// Publishes the figures of the scheduler.
    pub(in super::super) fn publish(&self) {
        self.engine.publish(self.now());
    }

    /// Forgets the events so far.
    pub(in super::super) fn forget_announcements(&mut self) {
        self.announcements = Vec::new();
    }

    /// The lines of a scrape that begin with a name.
    pub(in super::super) fn scraped(&self, name: &str) -> Vec<String> {
        let text = self.metrics.render();
        text.lines()
            .filter(|line| line.starts_with(name))
            .map(str::to_owned)
            .collect()
    }
}
