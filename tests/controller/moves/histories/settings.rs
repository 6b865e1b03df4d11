//! The profiles of the histories.

/// The allowances of a profile, and its budgets.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) surge: i64,
    pub(super) unavailable: i64,
    /// True if an autoscaler may take a surge for less need.
    pub(super) is_scaled: bool,
    pub(super) bindings: Option<i64>,
    pub(super) bindings_per_cluster: Option<i64>,
    pub(super) replicas: Option<i64>,
    pub(super) replicas_per_cluster: Option<i64>,
    /// Seconds after which what was evicted goes back.
    pub(super) failback: Option<i64>,
}

pub(super) const SETTINGS: [Setting; 6] = [
    Setting {
        surge: 3,
        unavailable: 0,
        is_scaled: false,
        bindings: None,
        bindings_per_cluster: None,
        replicas: None,
        replicas_per_cluster: None,
        failback: Some(20),
    },
    Setting {
        surge: 1,
        unavailable: 0,
        is_scaled: false,
        bindings: Some(1),
        bindings_per_cluster: None,
        replicas: None,
        replicas_per_cluster: None,
        failback: None,
    },
    Setting {
        surge: 2,
        unavailable: 1,
        is_scaled: true,
        bindings: None,
        bindings_per_cluster: None,
        replicas: Some(4),
        replicas_per_cluster: None,
        failback: Some(30),
    },
    Setting {
        surge: 0,
        unavailable: 2,
        is_scaled: false,
        bindings: Some(2),
        bindings_per_cluster: None,
        replicas: None,
        replicas_per_cluster: None,
        failback: None,
    },
    Setting {
        surge: 4,
        unavailable: 1,
        is_scaled: false,
        bindings: Some(2),
        bindings_per_cluster: None,
        replicas: Some(3),
        replicas_per_cluster: None,
        failback: Some(20),
    },
    Setting {
        surge: 2,
        unavailable: 0,
        is_scaled: false,
        bindings: None,
        bindings_per_cluster: Some(1),
        replicas: None,
        replicas_per_cluster: Some(2),
        failback: None,
    },
];

impl Setting {
    pub(super) fn lines(&self) -> String {
        let mut lines = format!(
            "[profile.moves]\npace = 'surge'\nmax-surge = {}\nmax-unavailable = {}\nfederated-hpa = {}\n",
            self.surge, self.unavailable, self.is_scaled
        );
        if let Some(seconds) = self.failback {
            lines.push_str(&format!("failback = '{seconds}s'\n"));
        }
        lines.push_str("[profile.moves.budgets]\n");
        let budgets = [
            ("bindings", self.bindings),
            ("bindings-per-cluster", self.bindings_per_cluster),
            ("replicas", self.replicas),
            ("replicas-per-cluster", self.replicas_per_cluster),
        ];
        for (key, limit) in budgets.into_iter().filter_map(|(key, limit)| Some((key, limit?))) {
            lines.push_str(&format!("{key} = {limit}\n"));
        }
        lines
    }
}
