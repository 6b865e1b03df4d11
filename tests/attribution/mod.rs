//! A plugin in the scheduler's process that crashes, ends or hangs it is named, with the call and the binding.
//!
//! The command is run as users run it, and ends in its own way each time. [`crashes`]: signals. [`exits`]: `exit` and `quick_exit`.
//! [`hangs`]: calls that do not return. A runtime
//! that handles signals itself, that of Go, is in `tests/programs`.

mod crashes;
mod ended;
mod exits;
mod hangs;

use std::path::Path;

use serde_json::json;

use crate::c_interface::hostile::{HOSTILE, opened};
use crate::manifests::{binding, priorities};
pub(crate) use ended::Ended;
use ended::{divvy, run};

/// Points at which it does harm, and the words for their calls.
const POINTS: [(&str, &str); 5] = [
    ("prepare", "Prepare"),
    ("filter", "Filter"),
    ("score", "Score"),
    ("select", "Select"),
    ("assign", "Assign"),
];

/// A profile that uses the plugin in a library, with a fault in its constructor.
fn profile(library: &Path, fault: &str) -> String {
    format!(
        "[[profile]]\nname = 'hostile'\nextends = 'default'\nfilters = ['cluster-affinity', 'hostile']\nscores = ['hostile']\n\
         select = ['hostile']\nassign = ['hostile', 'average', 'priority-aggregated']\n[profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\n\
         configuration = {{ fault = '{fault}' }}\n",
        library.display()
    )
}

/// Schedules a binding with a fault at a point, `web` in the namespace `default`.
pub(crate) fn harm(point: &str, fault: &str, more: &[&str]) -> Ended {
    // A state is prepared for all tiers of clusters together.
    let tiers = json!({ "clusterPriority": priorities([("a", 2), ("b", 1)]) });
    let binding = binding("web", 3)
        .preferences(&if point == "prepare" { tiers } else { json!({}) })
        .strategy("Hostile")
        .annotation("hostile.example/fault", fault)
        .annotation("hostile.example/point", point);
    run(&[&["schedule"], more].concat(), &profile(&HOSTILE, "none"), binding)
}

/// Checks a profile whose plugin does harm in its constructor.
pub(crate) fn construct(fault: &str, more: &[&str]) -> Ended {
    let command = [&["profile", "check"], more].concat();
    run(&command, &profile(&HOSTILE, fault), binding("web", 3))
}

/// Checks a profile whose library does harm when it is opened.
pub(crate) fn open(library: &Path, more: &[&str]) -> Ended {
    let command = [&["profile", "check"], more].concat();
    run(&command, &profile(library, "none"), binding("web", 3))
}

#[test]
fn a_plugin_that_does_no_harm_is_not_named() {
    let ended = harm("assign", "none", &[]);
    ended.check("none", Ok(0), &[]);
    assert!(ended.output.contains("Scheduled"), "{}", ended.output);
}
