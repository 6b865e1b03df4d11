//! Profiles under which results are written in steps.

use std::fmt::Write;

/// The allowances of a profile, and its budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MoveSetting {
    /// Replicas beyond the total.
    pub(crate) surge: i64,
    /// Ready replicas that may be missing.
    pub(crate) unavailable: i64,
    /// True if an autoscaler may take a surge of a tenth for less need.
    pub(crate) is_scaled: bool,
    /// Bindings that may be under way.
    pub(crate) bindings: Option<i64>,
    /// Bindings that may be under way in one cluster.
    pub(crate) bindings_per_cluster: Option<i64>,
    /// Replicas that may be given and not ready.
    pub(crate) replicas: Option<i64>,
    /// The same in one cluster.
    pub(crate) replicas_per_cluster: Option<i64>,
    /// Seconds after which what was evicted goes back.
    pub(crate) failback: Option<i64>,
}

/// One replica more than the total, and no budget.
const ONE: MoveSetting = MoveSetting {
    surge: 1,
    unavailable: 0,
    is_scaled: false,
    bindings: None,
    bindings_per_cluster: None,
    replicas: None,
    replicas_per_cluster: None,
    failback: None,
};

/// The profiles. Each differs from the others by what it lets bind a move.
pub(crate) const MOVES: [MoveSetting; 6] = [
    MoveSetting {
        surge: 3,
        failback: Some(20),
        ..ONE
    },
    MoveSetting {
        surge: 2,
        bindings: Some(3),
        ..ONE
    },
    MoveSetting {
        surge: 2,
        unavailable: 1,
        is_scaled: true,
        replicas: Some(6),
        failback: Some(30),
        ..ONE
    },
    MoveSetting {
        surge: 0,
        unavailable: 2,
        bindings_per_cluster: Some(3),
        ..ONE
    },
    MoveSetting {
        surge: 4,
        unavailable: 1,
        bindings: Some(4),
        replicas: Some(8),
        failback: Some(20),
        ..ONE
    },
    MoveSetting {
        surge: 3,
        replicas_per_cluster: Some(4),
        ..ONE
    },
];

impl MoveSetting {
    /// The lines of a profile.
    pub(crate) fn lines(&self) -> String {
        let mut lines = format!(
            "[profile.moves]\npace = 'surge'\nmax-surge = {}\nmax-unavailable = {}\nfederated-hpa = {}\n",
            self.surge, self.unavailable, self.is_scaled
        );
        // Writing to a text cannot fail.
        if let Some(seconds) = self.failback {
            let _infallible = writeln!(lines, "failback = '{seconds}s'");
        }
        lines.push_str("[profile.moves.budgets]\n");
        let budgets = [
            ("bindings", self.bindings),
            ("bindings-per-cluster", self.bindings_per_cluster),
            ("replicas", self.replicas),
            ("replicas-per-cluster", self.replicas_per_cluster),
        ];
        for (key, limit) in budgets.into_iter().filter_map(|(key, limit)| Some((key, limit?))) {
            let _infallible = writeln!(lines, "{key} = {limit}");
        }
        lines
    }

    /// Replicas beyond a total that a step may have. A FederatedHPA tolerates less than a tenth.
    pub(crate) fn surge_of(&self, total: i64) -> i64 {
        match self.is_scaled {
            true => self.surge.min((total - 1).max(0) / 10),
            false => self.surge,
        }
    }
}
