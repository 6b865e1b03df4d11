//! The reasons for which nothing is written, in words.

use std::fmt;

use divvy_framework_arithmetic::pace::Wait;

use super::step::Reason;

impl Reason {
    /// The reasons in a word each, as [`word`](Self::word) returns them.
    pub const WORDS: [&'static str; 14] = [
        "readiness",
        "removal",
        "room",
        "clusters",
        "allowance",
        "pace",
        "budget",
        "admission",
        "hours",
        "dispatching",
        "quota",
        "autoscaler",
        "reports",
        "missing-clusters",
    ];

    /// The reason in a word, for counts.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pace(Wait::Readiness) => "readiness",
            Self::Pace(Wait::Removal) => "removal",
            Self::Pace(Wait::Room) => "room",
            Self::Pace(Wait::Clusters) => "clusters",
            Self::Pace(Wait::Allowance) => "allowance",
            Self::Pace(Wait::Other) => "pace",
            Self::Budget(_) => "budget",
            Self::Admission => "admission",
            Self::Hours => "hours",
            Self::Dispatching => "dispatching",
            Self::Quota => "quota",
            Self::Autoscaler => "autoscaler",
            Self::Reports => "reports",
            Self::MissingClusters => "missing-clusters",
        }
    }

    /// True if a move that waits for it releases its claim on budgets: its own replicas cannot end the wait.
    pub fn releases(&self) -> bool {
        matches!(self, Self::Pace(Wait::Room) | Self::Quota | Self::Autoscaler)
    }
}

impl fmt::Display for Reason {
    /// The reason, after "waits for".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pace(wait) => wait.word(),
            Self::Budget(scope) => return scope.fmt(formatter),
            Self::Admission => "its turn in the budgets",
            Self::Hours => "the hours of `[profile.moves]`",
            Self::Dispatching => "dispatching, which is suspended",
            Self::Quota => "a quota that permits a surge, because nothing may be unavailable",
            Self::Autoscaler => {
                "an allowance: nothing may be unavailable, and a FederatedHPA would take a surge of a tenth for less need; `\"federatedHPA\": false` in `divvy.io/moves` of its policy says that none scales it"
            }
            Self::Reports => "clusters to report their replicas",
            Self::MissingClusters => "clusters that vanished to be back, or confirmed to be gone",
        })
    }
}
