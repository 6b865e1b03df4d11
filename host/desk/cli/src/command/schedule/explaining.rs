//! The pass that explains decisions before they are printed.
//!
//! The explanations of thousands of decisions do not fit into memory. The decisions are made without them, and here made again with
//! them: some at a time, which are printed before the next ones.

use std::io;
use std::sync::{Mutex, PoisonError};

use divvy_scheduler::decision::{Decision, Scheduler};

use crate::report::entry::{Entry, Print, Report};

/// Maximum pairs of a binding and a cluster that are explained at once: some tens of megabytes.
const PAIRS_MAX: usize = 65_536;

/// Makes decisions again, with explanations. Each must be independent of the others.
pub(super) struct Explaining {
    scheduler: Mutex<Scheduler>,
}

impl Explaining {
    /// Explains as this scheduler does.
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler: Mutex::new(scheduler),
        }
    }

    /// Explains the entries of a report and passes them on to be printed. Their clusters are those of the first decision.
    pub(super) fn pass(&self, report: &Report<'_>, print: Print<'_>) -> io::Result<()> {
        let (fleet, threads) = (report.names.fleet(), divvy_parallel::threads());
        let at_once = (PAIRS_MAX / fleet.len().max(1)).max(threads.get());
        for entries in report.entries.chunks(at_once) {
            let decisions: Vec<Decision> = divvy_parallel::map(entries, threads, || {
                // No thread panics while it holds the lock.
                let mut scheduler = self.scheduler.lock().unwrap_or_else(PoisonError::into_inner).another();
                move |entry: &Entry<'_>| scheduler.schedule_like(entry.decision, entry.binding, fleet)
            });
            let explained = entries.iter().zip(&decisions);
            let explained: Vec<Entry<'_>> = explained
                .map(|(entry, decision)| Entry { decision, ..*entry })
                .collect();
            print(&explained)?;
        }
        Ok(())
    }
}
