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
    pub(super) bindings_per_region: Option<i64>,
    pub(super) replicas: Option<i64>,
    pub(super) replicas_per_cluster: Option<i64>,
    pub(super) replicas_per_region: Option<i64>,
    /// Seconds after which what was evicted goes back.
    pub(super) failback: Option<i64>,
    /// CPUs of each cluster, of which a replica needs one; `None` if there is room for everything.
    pub(super) room: Option<i64>,
}

/// No allowance, and no budget that limits.
const NONE: Setting = Setting {
    surge: 0,
    unavailable: 0,
    is_scaled: false,
    bindings: None,
    bindings_per_cluster: None,
    bindings_per_region: None,
    replicas: None,
    replicas_per_cluster: None,
    replicas_per_region: None,
    failback: None,
    room: None,
};

pub(super) const SETTINGS: [Setting; 10] = [
    Setting {
        surge: 3,
        failback: Some(20),
        ..NONE
    },
    Setting {
        surge: 1,
        bindings: Some(1),
        ..NONE
    },
    Setting {
        surge: 2,
        unavailable: 1,
        is_scaled: true,
        replicas: Some(4),
        failback: Some(30),
        ..NONE
    },
    Setting {
        unavailable: 2,
        bindings: Some(2),
        ..NONE
    },
    Setting {
        surge: 4,
        unavailable: 1,
        bindings: Some(2),
        replicas: Some(3),
        failback: Some(20),
        ..NONE
    },
    Setting {
        surge: 2,
        bindings_per_cluster: Some(1),
        replicas_per_cluster: Some(2),
        ..NONE
    },
    Setting {
        surge: 3,
        unavailable: 1,
        bindings_per_region: Some(2),
        replicas_per_region: Some(3),
        failback: Some(20),
        ..NONE
    },
    // A move that one budget lets begin, and another one lets give nothing.
    Setting {
        surge: 3,
        bindings: Some(2),
        bindings_per_region: Some(2),
        replicas: Some(5),
        replicas_per_cluster: Some(2),
        replicas_per_region: Some(3),
        ..NONE
    },
    Setting {
        surge: 3,
        failback: Some(20),
        room: Some(40),
        ..NONE
    },
    Setting {
        surge: 2,
        unavailable: 1,
        bindings: Some(2),
        replicas_per_cluster: Some(2),
        room: Some(40),
        ..NONE
    },
];

impl Setting {
    pub(super) fn lines(&self) -> String {
        // What clusters report is all that is known of their room.
        let mut lines = match self.room {
            Some(_) => "while-capacity-is-unreported = 'ignore'\n".to_owned(),
            None => String::new(),
        };
        lines.push_str(&format!(
            "[profile.moves]\npace = 'surge'\nmax-surge = {}\nmax-unavailable = {}\nfederated-hpa = {}\n",
            self.surge, self.unavailable, self.is_scaled
        ));
        if let Some(seconds) = self.failback {
            lines.push_str(&format!("failback = '{seconds}s'\n"));
        }
        lines.push_str("[profile.moves.budgets]\n");
        let budgets = [
            ("bindings", self.bindings),
            ("bindings-per-cluster", self.bindings_per_cluster),
            ("bindings-per-region", self.bindings_per_region),
            ("replicas", self.replicas),
            ("replicas-per-cluster", self.replicas_per_cluster),
            ("replicas-per-region", self.replicas_per_region),
        ];
        for (key, limit) in budgets.into_iter().filter_map(|(key, limit)| Some((key, limit?))) {
            lines.push_str(&format!("{key} = {limit}\n"));
        }
        lines
    }
}
