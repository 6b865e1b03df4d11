//! Planted bugs of plans that are carried out.

use super::{Bug, Edit};
use crate::rules::Rule;

const TARGET: &str = "core/scheduler/src/moves/planned.rs";
const FOLLOWING: &str = "live/controller/src/engine/moves/planned.rs";

/// A bug of one edit.
const fn bug(name: &'static str, rule: Rule, text: &'static str, edits: &'static [Edit]) -> Bug {
    Bug {
        name,
        rule,
        is_real: false,
        text,
        edits,
    }
}

/// Bugs of plans.
pub(crate) const BUGS: &[Bug] = &[
    bug(
        "a-plan-of-another-generation",
        Rule::H,
        "A target is taken for one of any generation of its binding.",
        &[Edit {
            file: TARGET,
            from: "if self.generation != binding.generation {",
            to: "if self.generation > binding.generation {",
        }],
    ),
    bug(
        "a-plan-of-another-result",
        Rule::H,
        "A target is taken for one of any result of its binding.",
        &[Edit {
            file: TARGET,
            from: "if binding.mark.is_none() && present != self.from {",
            to: "if binding.mark.is_none() && present != self.from && self.generation != binding.generation {",
        }],
    ),
    bug(
        "a-plan-has-no-end",
        Rule::H,
        "The time of a plan is not looked at.",
        &[Edit {
            file: TARGET,
            from: "if self.until < binding.now {",
            to: "if self.until < 0 {",
        }],
    ),
    bug(
        "what-arrives-stays-planned",
        Rule::E,
        "The annotation of a binding that has reached its target is not removed.",
        &[Edit {
            file: FOLLOWING,
            from: "ends_plan: true,",
            to: "ends_plan: left.is_some(),",
        }],
    ),
    bug(
        "what-waits-is-placed-elsewhere",
        Rule::H,
        "What waits for the room of its plan is placed as its plugins decide with all room.",
        &[
            Edit {
                file: FOLLOWING,
                from: "Ok(result) if counts(result) == planned.target.target => return Err(()),",
                to: "Ok(_) => return Err(()),",
            },
            Edit {
                file: FOLLOWING,
                from: "let given = self.given.get(cluster).copied().unwrap_or(0);",
                to: "let given = self.given.values().sum::<i64>().max(self.given.get(cluster).copied().unwrap_or(0));",
            },
        ],
    ),
    bug(
        "what-is-given-up-goes-on",
        Rule::H,
        "A move that is under way goes on to its target, although its plan was given up.",
        &[Edit {
            file: TARGET,
            from: "if destination.as_ref() == Some(&self.target) {",
            to: "if destination.is_some() {",
        }],
    ),
    bug(
        "a-plan-forgets-the-last-step",
        Rule::G,
        "A move that a plan turns round believes the reports of before its last step.",
        &[Edit {
            file: FOLLOWING,
            from: "let stepped = self.judge(candidate, mark, Wish::Decided(&target)",
            to: "let stepped = self.judge(candidate, mark.filter(|_| false), Wish::Decided(&target)",
        }],
    ),
];
