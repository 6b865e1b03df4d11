//! Planted bugs of moves.

use super::{Bug, Edit};
use crate::rules::Rule;

const SCHEDULER_LOOK: &str = "core/scheduler/src/moves/look.rs";
const CLAIM: &str = "core/scheduler/src/moves/claim.rs";
const SURROUNDINGS: &str = "live/controller/src/engine/moves/surroundings.rs";
const STEP: &str = "core/scheduler/src/moves/step.rs";
const SHORTCUT: &str = "core/scheduler/src/moves/shortcut.rs";
const BUDGETS: &str = "core/scheduler/src/moves/budgets.rs";
const CARRY: &str = "live/controller/src/engine/moves/carry.rs";
const CLAIMS: &str = "live/controller/src/engine/moves/claims.rs";
const MOVES: &str = "live/controller/src/engine/moves/mod.rs";

/// A bug of one edit.
const fn bug(name: &'static str, (rule, is_real): (Rule, bool), text: &'static str, edits: &'static [Edit]) -> Bug {
    Bug {
        name,
        rule,
        is_real,
        text,
        edits,
    }
}

/// Bugs of moves.
pub(crate) const BUGS: &[Bug] = &[
    bug(
        "what-may-be-ready-is-taken",
        (Rule::G, true),
        "A step takes replicas that an old report shows as ready for ones that are not, although others are missing.",
        &[Edit {
            file: SHORTCUT,
            from: "shown.saturating_sub(cluster.ready).clamp(0, missing)",
            to: "shown.saturating_sub(cluster.ready).clamp(0, missing.min(0))",
        }],
    ),
    bug(
        "a-gain-believes-old-reports",
        (Rule::G, true),
        "A report of before a step counts for what the step gave.",
        &[Edit {
            file: STEP,
            from: "Some(Bound::raised(cluster.current, self.report(cluster.name), counting))",
            to: "counting",
        }],
    ),
    bug(
        "a-loss-believes-old-reports",
        (Rule::G, true),
        "A cluster that lost replicas and got some back counts as ready by a report of before.",
        &[Edit {
            file: STEP,
            from: "Some(Bound::lowered(next, report, counting))",
            to: "counting.filter(|_| report.is_some() || report.is_none())",
        }],
    ),
    bug(
        "any-report-answers-for-a-loss",
        (Rule::G, false),
        "In a cluster that lost replicas, a changed entry counts as newer than the step, whatever it shows.",
        &[Edit {
            file: "core/scheduler/src/moves/readiness.rs",
            from: "Some(_) if self.is_left_with(current) => self.is_answered(report),",
            to: "Some(entry) if self.is_left_with(current) => entry != fingerprint(report),",
        }],
    ),
    bug(
        "reports-take-a-second",
        (Rule::G, false),
        "A bound ends one second after its step.",
        &[Edit {
            file: SURROUNDINGS,
            from: "        milliseconds(REPORT_TIME)",
            to: "        milliseconds(REPORT_TIME) / 60",
        }],
    ),
    bug(
        "a-void-mark-bounds-nothing",
        (Rule::G, true),
        "After someone else's write, the reports of before the last step are believed.",
        &[Edit {
            file: SCHEDULER_LOOK,
            from: "let bounding = valid.or_else(|| seen.mark?.mark.as_ref().filter(|mark| mark.at <= seen.now));",
            to: "let bounding = valid;",
        }],
    ),
    bug(
        "unready-clusters-count",
        (Rule::G, false),
        "Replicas in a cluster that is not Ready count as ready.",
        &[Edit {
            file: SCHEDULER_LOOK,
            from: "let is_ready = exists && world.is_ready(name);",
            to: "let is_ready = exists;",
        }],
    ),
    bug(
        "ready-ones-are-shed",
        (Rule::G, false),
        "What is beyond the total goes, however few of the others are ready.",
        &[Edit {
            file: SHORTCUT,
            from: "let mut spare = known(clusters).saturating_sub(least).max(0);",
            to: "let mut spare = known(clusters);",
        }],
    ),
    bug(
        "one-more-is-unavailable",
        (Rule::G, false),
        "One more replica may be unavailable than the profile says.",
        &[Edit {
            file: SHORTCUT,
            from: "total.saturating_sub(unavailable).max(0)",
            to: "total.saturating_sub(unavailable).saturating_sub(1).max(0)",
        }],
    ),
    bug(
        "an-autoscaler-is-misled",
        (Rule::G, false),
        "A step surges by a tenth or more under a FederatedHPA.",
        &[Edit {
            file: STEP,
            from: "(surge.min(tolerated(total)), Some(Reason::Autoscaler))",
            to: "(surge, Some(Reason::Autoscaler))",
        }],
    ),
    bug(
        "what-fits-nowhere-is-cleared",
        (Rule::G, true),
        "The result of a binding that no cluster fits any more is removed, with all that runs.",
        &[Edit {
            file: "live/controller/src/engine/schedule.rs",
            from: "decision.clears(self.active.when_no_cluster_fits)",
            to: "decision.clears(divvy_profile::WhenNoClusterFits::Clear)",
        }],
    ),
    bug(
        "a-deleted-cluster-is-left-in-steps",
        (Rule::G, true),
        "What ran in a cluster that is being deleted is replaced step by step.",
        &[
            Edit {
                file: SCHEDULER_LOOK,
                from: "Wish::Decided(_) => world.is_deleting(name) || exclusion == OnExclusion::Now && world.is_excluded(name),",
                to: "Wish::Decided(_) => exclusion == OnExclusion::Now && world.is_excluded(name),",
            },
            Edit {
                file: SCHEDULER_LOOK,
                from: "Wish::Continue => world.is_deleting(name),",
                to: "Wish::Continue => false,",
            },
        ],
    ),
    bug(
        "a-new-leader-knows-no-moves",
        (Rule::G, true),
        "A new leader begins moves before it has looked for those under way.",
        &[Edit {
            file: MOVES,
            from: "            self.load_claim(&key, moment);\n            effects.look",
            to: "            effects.look",
        }],
    ),
    bug(
        "what-was-given-uses-nothing",
        (Rule::G, false),
        "Replicas that were given and are not ready use no budget.",
        &[Edit {
            file: BUDGETS,
            from: "ledger.add(cluster, 0, cluster.unready.max(0));",
            to: "ledger.add(cluster, 0, 0);",
        }],
    ),
    bug(
        "a-step-being-written-uses-nothing",
        (Rule::G, false),
        "What a step gives uses no budget until a report shows it.",
        &[Edit {
            file: CLAIM,
            from: "false => next.saturating_sub(cluster.ready).max(0),",
            to: "false => 0,",
        }],
    ),
    bug(
        "observed-with-less",
        (Rule::F, true),
        "A step is observed before the result has everything that was evicted.",
        &[
            Edit {
                file: STEP,
                from: "observes: self.seen.evicted.is_empty() || sum >= self.seen.total,",
                to: "observes: true,",
            },
            Edit {
                file: CARRY,
                from: "let observes = !evicts || sum >= candidate.replicas();",
                to: "let observes = true;",
            },
        ],
    ),
    bug(
        "a-mark-stays",
        (Rule::E, true),
        "A move that has reached its target keeps its mark for ever if its last step was bounded.",
        &[Edit {
            file: STEP,
            from: "if self.bounds.values().any(|(_, counts)| *counts) {",
            to: "if !self.bounds.is_empty() {",
        }],
    ),
    bug(
        "nothing-ends-a-bound",
        (Rule::E, false),
        "A move that waits for reports is not looked at once the time that they take has passed.",
        &[
            Edit {
                file: CARRY,
                from: "                    self.report_due(mark, moment),\n",
                to: "",
            },
            Edit {
                file: CARRY,
                from: "let due = text.is_some().then(|| milliseconds(REPORT_TIME));",
                to: "let due = None;",
            },
        ],
    ),
    bug(
        "reports-wake-no-move",
        (Rule::E, false),
        "A move goes on only when the time that reports take has passed.",
        &[Edit {
            file: "live/controller/src/engine/observe.rs",
            from: "let may_step = change.aggregated && self.move_follows(&key);",
            to: "let may_step = change.aggregated && self.move_follows(&key) && self.lives.next_due().is_none();",
        }],
    ),
    bug(
        "a-freed-budget-wakes-nobody",
        (Rule::D, true),
        "A move that ends lets no other begin.",
        &[
            Edit {
                file: CLAIMS,
                from: "let frees = before.is_some_and(|before| known.frees(before));",
                to: "let frees = before.is_some_and(|before| known.frees(before)) && self.lives.keys(Group::Moving).is_empty();",
            },
            Edit {
                file: MOVES,
                from: "self.lives.update(key, Life::end_move);\n        if was_moving {",
                to: "self.lives.update(key, Life::end_move);\n        if was_moving && self.lives.keys(Group::Moving).is_empty() {",
            },
        ],
    ),
    bug(
        "a-refused-surge-stays-refused",
        (Rule::E, true),
        "A quota that once refused a surge lets no step be made for ever.",
        &[Edit {
            file: MOVES,
            from: "self.lives.update(key, |life| life.is_surge_refused = false);",
            to: "let _refused = self.lives.get(key).is_some_and(|life| life.is_surge_refused);",
        }],
    ),
];
