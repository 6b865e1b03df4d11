//! The table of planted bugs.

use super::{Bug, Edit};
use crate::rules::Rule;

const COMPLETE: &str = "live/controller/src/engine/complete.rs";
const CONFIRMATIONS: &str = "live/controller/src/engine/confirmations.rs";
const OBSERVE: &str = "live/controller/src/engine/observe.rs";
const SCHEDULE: &str = "live/controller/src/engine/schedule.rs";
const OUTCOME: &str = "live/controller/src/engine/outcome.rs";
const EXECUTE: &str = "live/controller/src/write/execute.rs";
const HOLDINGS: &str = "live/controller/src/holdings/mod.rs";
const CONTAINED: &str = "live/controller/src/holdings/contained.rs";
const UNWRITTEN: &str = "live/controller/src/holdings/unwritten.rs";

/// Every planted bug.
pub(crate) const BUGS: &[Bug] = &[
    Bug {
        name: "fence-ignored",
        rule: Rule::A,
        is_real: false,
        text: "A writer does not ask the fence before its requests.",
        edits: &[Edit {
            file: EXECUTE,
            from: "if !self.fence.allows(job.term) {",
            to: "if self.fence.term() == Some(crate::lease::Term(u64::MAX)) {",
        }],
    },
    Bug {
        name: "deadline-too-long",
        rule: Rule::A,
        is_real: false,
        text: "A leader whose renewals fail goes on writing for longer than the lease lasts.",
        edits: &[Edit {
            file: "live/controller/src/lease/election.rs",
            from: "let until = sent.after(self.options.timing.renew_deadline);",
            to: "let until = sent.after(self.options.timing.renew_deadline * 3);",
        }],
    },
    Bug {
        name: "lease-taken-early",
        rule: Rule::A,
        is_real: false,
        text: "A contender takes the lease before it has expired.",
        edits: &[Edit {
            file: "live/controller/src/lease/election.rs",
            from: "now.since(observed.at) >= duration",
            to: "now.since(observed.at) >= duration / 4",
        }],
    },
    Bug {
        name: "counted-twice",
        rule: Rule::B,
        is_real: true,
        text: "Reports settle nothing: what a result takes is held for five minutes beside the report that shows it.",
        edits: &[
            Edit {
                file: HOLDINGS,
                from: "if account.takings.is_empty() {",
                to: "if account.takings.len() < usize::MAX {",
            },
            Edit {
                file: "live/controller/src/holdings/taking.rs",
                from: "passed(self.since, limits.limit) || self.applied.is_some_and(|applied| passed(applied, limits.unseen()))",
                to: "passed(self.since, limits.limit * 5)",
            },
            Edit {
                file: "live/controller/src/holdings/ending.rs",
                from: "account.settle_contained(limits.silence(), now)",
                to: "account.settle_contained(limits.limit * 5, now)",
            },
        ],
    },
    Bug {
        name: "held-by-a-status",
        rule: Rule::B,
        is_real: true,
        text: "A write of the status alone holds the whole result once more.",
        edits: &[Edit {
            file: OUTCOME,
            from: "            last: candidate.last().to_vec(),\n            partial: self\n",
            to: "            partial: self\n",
        }],
    },
    Bug {
        name: "held-again-after-a-lost-answer",
        rule: Rule::B,
        is_real: true,
        text: "A result whose answer was lost is held again although the watch and the report have shown it.",
        edits: &[
            Edit {
                file: COMPLETE,
                from: "written.wrote_specification || self.has_result(key, in_flight.placed.as_deref());",
                to: "written.wrote_specification;",
            },
            Edit {
                file: COMPLETE,
                from: "is_written || self.has_growth(key, in_flight.placed.as_deref(), &in_flight.last);",
                to: "is_written;",
            },
        ],
    },
    Bug {
        name: "what-is-left-is-held-again",
        rule: Rule::B,
        is_real: true,
        text: "What Karmada's evictions left of a result whose answer was lost is held again.",
        edits: &[Edit {
            file: COMPLETE,
            from: "is_written || self.has_growth(key, in_flight.placed.as_deref(), &in_flight.last);",
            to: "is_written;",
        }],
    },
    Bug {
        name: "held-again-by-the-answer",
        rule: Rule::B,
        is_real: true,
        text: "A result whose answer comes before the watch shows it is held twice.",
        edits: &[Edit {
            file: OBSERVE,
            from: "} else if source != Source::Answer {",
            to: "} else {",
        }],
    },
    Bug {
        name: "settled-by-what-is-not-written",
        rule: Rule::B,
        is_real: true,
        text: "A write that never arrives takes the growth in a report that shows the pods of another result.",
        // All three: which result a report settles first, that what an unwritten result claimed is passed on, and that a claim ends when the
        // pods of another result turn out to have been the growth.
        edits: &[
            Edit {
                file: CONTAINED,
                from: "takings.sort_by_key(|taking| !taking.is_written);",
                to: "takings.sort_by_key(|taking| taking.since);",
            },
            Edit {
                file: UNWRITTEN,
                from: "for claim in retracted.claims() {",
                to: "for claim in retracted.claims().into_iter().take(0) {",
            },
            Edit {
                file: CONTAINED,
                from: "if *number != newly.decision",
                to: "if *number == newly.decision",
            },
        ],
    },
    Bug {
        name: "nothing-held",
        rule: Rule::B,
        is_real: false,
        text: "Ledgers of estimates are empty: two decisions take the same room.",
        edits: &[
            Edit {
                file: SCHEDULE,
                from: "let current = answers.map(|answers| Current::new(answers, &self.capacity.takings));",
                to: "let current = answers.map(|answers| Current::new(answers, &self.capacity.takings));\n        let nothing_is_held = divvy_scheduler::fleet::Ledger::default();",
            },
            Edit {
                file: SCHEDULE,
                from: "ledger: Some(self.capacity.holdings.ledger(&snapshot, set)),",
                to: "ledger: Some(&nothing_is_held),",
            },
        ],
    },
    Bug {
        name: "settled-by-a-status",
        rule: Rule::B,
        is_real: false,
        text: "Pods that a status shows are no longer held, although no report has them yet.",
        edits: &[Edit {
            file: HOLDINGS,
            from: "entry.is_some_and(|entry| taking.has_ended(entry))",
            to: "entry.is_some() && taking.existed(Duration::ZERO, now) > 0",
        }],
    },
    Bug {
        name: "held-whole-after-a-start",
        rule: Rule::B,
        is_real: true,
        text: "After a start, results are held as a whole for five minutes, although the clusters report them.",
        edits: &[
            Edit {
                file: HOLDINGS,
                from: "if age >= self.limits.unseen() {",
                to: "if age >= self.limits.limit * 5 {",
            },
            Edit {
                file: HOLDINGS,
                from: ".filter_map(|target| shown(target, result))",
                to: ".filter_map(|target| shown(target, result))\n            .take(0)",
            },
            Edit {
                file: "live/controller/src/engine/held.rs",
                from: "since: moment.instant.checked_sub(age).unwrap_or(moment.instant),",
                to: "since: moment.instant,",
            },
        ],
    },
    Bug {
        name: "cleared-by-the-first-group",
        rule: Rule::C,
        is_real: true,
        text: "A result is removed because the first of two affinity groups matches nothing.",
        edits: &[Edit {
            file: "live/controller/src/decision.rs",
            from: "Outcome::Failed(error) => clears(rule, error, self.decision.fits_nowhere()),",
            to: "Outcome::Failed(error) => clears(rule, error, true),",
        }],
    },
    Bug {
        name: "taken-by-holding",
        rule: Rule::C,
        is_real: true,
        text: "Held capacity takes replicas away from what runs.",
        edits: &[Edit {
            file: SCHEDULE,
            from: "let waits = may_wait && unheld.as_ref().is_some_and(|unheld| must_wait(&decision, unheld, last));",
            to: "let waits = unheld.is_some() && last.is_empty() && decision.result.is_err();",
        }],
    },
    Bug {
        name: "guard-ignored",
        rule: Rule::C,
        is_real: false,
        text: "Replicas are taken away while clusters are missing.",
        edits: &[Edit {
            file: SCHEDULE,
            from: "if self.guard.is_on() && takes_away(last, result) {",
            to: "if self.guard.is_on() && takes_away(last, result) && last.is_empty() {",
        }],
    },
    Bug {
        name: "always-from-scratch",
        rule: Rule::C,
        is_real: false,
        text: "Every decision divides from scratch, as if a reschedule had been requested.",
        edits: &[Edit {
            file: SCHEDULE,
            from: "fresh: candidate.record().is_reschedule_pending,",
            to: "fresh: true,",
        }],
    },
    Bug {
        name: "stale-snapshot",
        rule: Rule::C,
        is_real: false,
        text: "A changed cluster does not replace the snapshot that decisions read.",
        edits: &[Edit {
            file: "live/controller/src/engine/fleet.rs",
            from: "        // The snapshot must be gone before the fleet changes, or the fleet would be copied.\n        self.snapshot = None;",
            to: "        if is_new {\n            self.snapshot = None;\n        }",
        }],
    },
    Bug {
        name: "answered-request-pending",
        rule: Rule::C,
        is_real: true,
        text: "A standby that takes over divides from scratch what the leader before it had rescheduled already.",
        edits: &[Edit {
            file: "live/controller/src/store/record.rs",
            from: "            && !is_answered\n",
            to: "            && (!is_answered || answered.is_some())\n",
        }],
    },
    Bug {
        name: "deletion-during-a-write",
        rule: Rule::D,
        is_real: true,
        text: "A result that is being written stays on a cluster whose deletion begins meanwhile.",
        edits: &[Edit {
            file: OBSERVE,
            from: "change.deletion_began && placed_there.contains(key);",
            to: "change.is_new && placed_there.contains(key);",
        }],
    },
    Bug {
        name: "generation-not-observed",
        rule: Rule::D,
        is_real: false,
        text: "A satisfied binding's new generation is not recorded as observed.",
        edits: &[Edit {
            file: OUTCOME,
            from: "            observes,\n            notes_generation: false,\n            scheduled_at: is_repair",
            to: "            observes: is_repair,\n            notes_generation: false,\n            scheduled_at: is_repair",
        }],
    },
    Bug {
        name: "half-written",
        rule: Rule::D,
        is_real: false,
        text: "A write that was cut off between its two patches is not repaired.",
        edits: &[Edit {
            file: OUTCOME,
            from: "let is_repair = !is_scheduled || record.answered.is_none() || is_unanswered;",
            to: "let is_repair = is_scheduled && record.answered.is_none();",
        }],
    },
    Bug {
        name: "failure-not-written",
        rule: Rule::D,
        is_real: false,
        text: "A failure leaves the condition of the last success.",
        edits: &[Edit {
            file: "live/controller/src/write/patch.rs",
            from: "known.status == status\n            && known.reason",
            to: "known.status != status\n            || known.reason",
        }],
    },
    Bug {
        name: "change-during-a-status",
        rule: Rule::E,
        is_real: true,
        text: "A change of the specification that arrives while the status is written is never decided.",
        edits: &[Edit {
            file: COMPLETE,
            from: "let generation = written.generation;",
            to: "let generation = written.latest.as_ref().map(|latest| latest.metadata.generation);",
        }],
    },
    Bug {
        name: "change-after-a-lost-answer",
        rule: Rule::E,
        is_real: true,
        text: "A change that follows a result whose answer was lost is taken for the answer, and never decided.",
        edits: &[Edit {
            file: EXECUTE,
            from: "if current.metadata.generation <= own {",
            to: "if current.metadata.generation <= i64::MAX {",
        }],
    },
    Bug {
        name: "divided-again",
        rule: Rule::E,
        is_real: true,
        text: "A reschedule whose status is refused divides from scratch again and again.",
        edits: &[Edit {
            file: COMPLETE,
            from: "        if is_written {\n            record.is_reschedule_pending",
            to: "        if is_written && matches!(outcome, WriteOutcome::Done) {\n            record.is_reschedule_pending",
        }],
    },
    Bug {
        name: "event-during-a-failure",
        rule: Rule::E,
        is_real: true,
        text: "An event that removes the cause of a failure is missed while the failure is written.",
        edits: &[Edit {
            file: OBSERVE,
            from: "(Some(Retry::After(cause)), Some(record)) => helps(record, cause),",
            to: "(Some(Retry::After(cause)), Some(record)) => helps(record, cause) && record.version == 0,",
        }],
    },
    Bug {
        name: "deleted-binding-comes-back",
        rule: Rule::E,
        is_real: true,
        text: "The answer to a write brings a deleted binding back into memory.",
        edits: &[Edit {
            file: COMPLETE,
            from: "if record.is_none_or(|record| *record.uid != latest.metadata.uid) {",
            to: "if record.is_some_and(|record| *record.uid != latest.metadata.uid) {",
        }],
    },
    Bug {
        name: "one-group-wakes",
        rule: Rule::E,
        is_real: true,
        text: "A binding whose affinity groups failed for different reasons is woken for one of them only.",
        edits: &[Edit {
            file: OBSERVE,
            from: "may_help && may_be_helped(record, &sides)",
            to: "may_help && is_concerned(record, &sides)",
        }],
    },
    Bug {
        name: "growth-wakes-nothing",
        rule: Rule::E,
        is_real: false,
        text: "A cluster with more room wakes no binding that waits for room.",
        edits: &[Edit {
            file: OBSERVE,
            from: "let has_room = has_settled || change.has_grown;",
            to: "let has_room = has_settled;",
        }],
    },
    Bug {
        name: "refused-once",
        rule: Rule::E,
        is_real: false,
        text: "A write that failed is not tried again.",
        edits: &[Edit {
            file: OUTCOME,
            from: "Some(Retry::Backoff) => Turn::Retry,",
            to: "Some(Retry::Backoff) => Turn::Park(crate::condition::Cause::Binding),",
        }],
    },
    Bug {
        name: "relist-keeps-what-is-gone",
        rule: Rule::E,
        is_real: false,
        text: "A list that no longer names a binding leaves it in memory.",
        edits: &[Edit {
            file: OBSERVE,
            from: "for key in gone.into_iter().flatten() {",
            to: "for key in gone.into_iter().flatten().take(0) {",
        }],
    },
    Bug {
        name: "failures-outlive-the-lease",
        rule: Rule::E,
        is_real: true,
        text: "A process that lost the lease goes on counting the bindings that it could not schedule.",
        edits: &[Edit {
            file: "live/controller/src/engine/life.rs",
            from: "            stage: std::mem::take(&mut self.stage),\n",
            to: "            stage: std::mem::take(&mut self.stage),\n            failure: self.failure,\n",
        }],
    },
    Bug {
        name: "a-lost-answer-is-counted-for-ever",
        rule: Rule::E,
        is_real: true,
        text: "A binding whose result was written, although the answer was lost, goes on being counted as not scheduled.",
        edits: &[
            Edit {
                file: OUTCOME,
                from: "            life.failure = None;\n",
                to: "",
            },
            Edit {
                file: OUTCOME,
                from: "            None => _ = self.lives.update(key, |life| life.failure = None),\n",
                to: "            None => {}\n",
            },
        ],
    },
    Bug {
        name: "the-last-answer-leaves-a-turn",
        rule: Rule::E,
        is_real: true,
        text: "A write that fails after the lease was lost leaves its binding in the queue.",
        edits: &[Edit {
            file: COMPLETE,
            from: "if !self.decides(key) {",
            to: "if self.bindings.get(key).is_none() {",
        }],
    },
    Bug {
        name: "observed-at-once",
        rule: Rule::F,
        is_real: true,
        text: "A result is observed as soon as it is written, so that reports of before it end an eviction.",
        edits: &[Edit {
            file: OUTCOME,
            from: "observes: chosen.observes && confirms,",
            to: "observes: chosen.observes || confirms,",
        }],
    },
    Bug {
        name: "as-old-as-the-result-before",
        rule: Rule::F,
        is_real: true,
        text: "A result whose status was not written is as old as the one before it, so that half of the grace period has passed.",
        edits: &[Edit {
            file: CONFIRMATIONS,
            from: "        moment.milliseconds\n    };\n    Replacement::unknown",
            to: "        scheduled\n    };\n    Replacement::unknown",
        }],
    },
    Bug {
        name: "shown-by-the-result-before",
        rule: Rule::F,
        is_real: false,
        text: "Reports are compared with the result before the one that replaces an eviction.",
        edits: &[Edit {
            file: CONFIRMATIONS,
            from: "if changes {\n            replacement.give(last, result, &reported);\n        }\n        let awaited = replacement.awaited(result, tasks, &reported);",
            to: "let awaited = replacement.awaited(last, tasks, &reported);",
        }],
    },
];
