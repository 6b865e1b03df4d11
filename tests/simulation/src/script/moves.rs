//! Profiles under which results are written in steps.

use divvy_judge::steps::Allowances;

/// One replica more than the total, and no budget.
const ONE: Allowances = Allowances {
    surge: 1,
    ..Allowances::NONE
};

/// The profiles. Each differs from the others by what it lets bind a move.
pub(crate) const MOVES: [Allowances; 6] = [
    Allowances {
        surge: 3,
        failback: Some(20),
        ..ONE
    },
    Allowances {
        surge: 2,
        bindings: Some(3),
        ..ONE
    },
    Allowances {
        surge: 2,
        unavailable: 1,
        is_scaled: true,
        replicas: Some(6),
        failback: Some(30),
        ..ONE
    },
    Allowances {
        surge: 0,
        unavailable: 2,
        bindings_per_cluster: Some(3),
        ..ONE
    },
    Allowances {
        surge: 4,
        unavailable: 1,
        bindings: Some(4),
        replicas: Some(8),
        failback: Some(20),
        ..ONE
    },
    Allowances {
        surge: 3,
        replicas_per_cluster: Some(4),
        ..ONE
    },
];
