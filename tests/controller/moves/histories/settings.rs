//! The profiles of the histories.

use divvy_judge::steps::Allowances;

/// A profile: its allowances and budgets, and the clusters under it.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) allowances: Allowances,
    /// CPUs of each cluster, of which a replica needs one; `None` if there is room for everything.
    pub(super) room: Option<i64>,
}

const NONE: Allowances = Allowances::NONE;

pub(super) const SETTINGS: [Setting; 10] = [
    Setting {
        allowances: Allowances {
            surge: 3,
            failback: Some(20),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            surge: 1,
            bindings: Some(1),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            surge: 2,
            unavailable: 1,
            is_scaled: true,
            replicas: Some(4),
            failback: Some(30),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            unavailable: 2,
            bindings: Some(2),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            surge: 4,
            unavailable: 1,
            bindings: Some(2),
            replicas: Some(3),
            failback: Some(20),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            surge: 2,
            bindings_per_cluster: Some(1),
            replicas_per_cluster: Some(2),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            surge: 3,
            unavailable: 1,
            bindings_per_region: Some(2),
            replicas_per_region: Some(3),
            failback: Some(20),
            ..NONE
        },
        room: None,
    },
    // A move that one budget lets begin, and another one lets give nothing.
    Setting {
        allowances: Allowances {
            surge: 3,
            bindings: Some(2),
            bindings_per_region: Some(2),
            replicas: Some(5),
            replicas_per_cluster: Some(2),
            replicas_per_region: Some(3),
            ..NONE
        },
        room: None,
    },
    Setting {
        allowances: Allowances {
            surge: 3,
            failback: Some(20),
            ..NONE
        },
        room: Some(40),
    },
    Setting {
        allowances: Allowances {
            surge: 2,
            unavailable: 1,
            bindings: Some(2),
            replicas_per_cluster: Some(2),
            ..NONE
        },
        room: Some(40),
    },
];

impl Setting {
    pub(super) fn lines(&self) -> String {
        // What clusters report is all that is known of their room.
        let room = match self.room {
            Some(_) => "while-capacity-is-unreported = 'ignore'\n",
            None => "",
        };
        room.to_owned() + &self.allowances.lines()
    }
}
