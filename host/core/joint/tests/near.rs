//! Plans of fleets in which earlier searches came far above the least cost, beside what an exact solver knows of it.

use std::num::NonZeroUsize;

use divvy_families::{Case, Goal};
use divvy_joint::{Settings, plan};

/// Cases of `tests/exact` with a cost that no plan is below, from there.
const CASES: [(u64, f64); 11] = [
    // One large workload decides.
    (102, 236.50),
    // Few workloads, which are spread.
    (190, 981.22),
    (264, 1_924.93),
    (780, 177.55),
    // More is asked for than there is.
    (41, 3_659.63),
    (133, 1_984.65),
    (207, 2_003.72),
    (663, 741.80),
    // A move is dear, or a few clusters have GPUs.
    (215, 6_847.40),
    (734, 6_023.24),
    (777, 3_221.52),
];

#[test]
fn plans_of_puzzles_are_near_the_least_cost() {
    for (seed, least) in CASES {
        let case = Case::new(seed);
        assert_eq!(case.goal, Goal::Cost, "case {seed}");
        let (plan, _) = plan(&case.fleet, &Settings::new(NonZeroUsize::MIN)).unwrap();
        assert!(
            plan.cost >= least && plan.cost <= 1.03 * least,
            "case {seed} ({}): {} is not near {least}",
            case.description,
            plan.cost
        );
    }
}
