//! The proposal's table, scaling up and down, and properties.

mod wiring;

use crate::priority_aggregated::{PriorityAggregatedScratch, divide};
use divvy_framework::division::aggregate::{Fill, aggregate};
use divvy_framework::division::tiers::TierMembers;
use divvy_framework::division::{Cycle, DivisionError, Request, Rounding, Scratch};
use proptest::prelude::*;

const PROPORTIONAL: Fill = Fill::Proportional(Rounding::FloorThenRank);

fn position(index: usize) -> u64 {
    index as u64
}

fn divided(request: &Request<'_>, priorities: &[i64], fill: Fill) -> Result<Vec<i64>, DivisionError> {
    let mut out = vec![-1; request.fits_now.len()];
    let mut scratch = PriorityAggregatedScratch::default();
    let mut tiers = TierMembers::default();
    tiers.rebuild_from_priorities(priorities)?;
    divide(
        request,
        tiers.tier_of(),
        fill,
        position,
        position,
        &mut out,
        &mut scratch,
    )
    .map(|()| out)
}

#[test]
fn named_cases() {
    use Cycle::{Fresh, Steady};
    use Fill::Pack;
    let two_tiers = [2, 2, 1, 1];
    let roomy = [10; 4];
    for (name, fill, priorities, replicas, fits_now, last, cycle, expected) in [
        // proposals/priority-aggregated.md, "Use case and its behavior".
        (
            "table, 8",
            PROPORTIONAL,
            two_tiers,
            8,
            roomy,
            [0; 4],
            Steady,
            [8, 0, 0, 0],
        ),
        (
            "table, 16",
            PROPORTIONAL,
            two_tiers,
            16,
            roomy,
            [0; 4],
            Steady,
            [8, 8, 0, 0],
        ),
        (
            "table, 28",
            PROPORTIONAL,
            two_tiers,
            28,
            roomy,
            [0; 4],
            Steady,
            [10, 10, 8, 0],
        ),
        (
            "table, 36",
            PROPORTIONAL,
            two_tiers,
            36,
            roomy,
            [0; 4],
            Steady,
            [10, 10, 8, 8],
        ),
        (
            "table, 16, packed",
            Pack,
            two_tiers,
            16,
            roomy,
            [0; 4],
            Steady,
            [10, 6, 0, 0],
        ),
        (
            "table, 36, packed",
            Pack,
            two_tiers,
            36,
            roomy,
            [0; 4],
            Steady,
            [10, 10, 10, 6],
        ),
        // "Motivation": scaling up fills preferred clusters, and existing replicas stay.
        (
            "up, preferred clusters have room",
            PROPORTIONAL,
            two_tiers,
            12,
            [2, 10, 10, 10],
            [8, 0, 0, 0],
            Steady,
            [8, 4, 0, 0],
        ),
        (
            "up, packed",
            Pack,
            two_tiers,
            12,
            [2, 10, 10, 10],
            [8, 0, 0, 0],
            Steady,
            [10, 2, 0, 0],
        ),
        (
            "up, preferred clusters are full",
            PROPORTIONAL,
            two_tiers,
            28,
            [2, 2, 10, 10],
            [8, 8, 0, 0],
            Steady,
            [10, 10, 8, 0],
        ),
        (
            "up, others stay although preferred clusters have room again",
            PROPORTIONAL,
            two_tiers,
            21,
            [9, 9, 0, 0],
            [1, 1, 9, 9],
            Steady,
            [2, 1, 9, 9],
        ),
        // Scaling down drains the other clusters first.
        (
            "down, only the others shrink",
            PROPORTIONAL,
            two_tiers,
            25,
            [0; 4],
            [10, 10, 8, 0],
            Steady,
            [10, 10, 5, 0],
        ),
        (
            "down, the others are empty",
            PROPORTIONAL,
            two_tiers,
            12,
            [0; 4],
            [10, 10, 8, 0],
            Steady,
            [6, 6, 0, 0],
        ),
        (
            "down, one cluster is left",
            PROPORTIONAL,
            two_tiers,
            7,
            [0; 4],
            [10, 10, 8, 0],
            Steady,
            [7, 0, 0, 0],
        ),
        (
            "equal totals change nothing",
            PROPORTIONAL,
            two_tiers,
            3,
            roomy,
            [0, 0, 1, 2],
            Steady,
            [0, 0, 1, 2],
        ),
        (
            "fresh: back to the preferred clusters",
            PROPORTIONAL,
            two_tiers,
            3,
            roomy,
            [0, 0, 1, 2],
            Fresh,
            [3, 0, 0, 0],
        ),
        (
            "larger first, unlisted last",
            PROPORTIONAL,
            [0, 1, 9, 5],
            25,
            roomy,
            [0; 4],
            Steady,
            [0, 5, 10, 10],
        ),
        (
            "all equal is plain aggregated",
            PROPORTIONAL,
            [4; 4],
            12,
            [10, 10, 12, 4],
            [0; 4],
            Steady,
            [0, 0, 12, 0],
        ),
        ("to zero", PROPORTIONAL, two_tiers, 0, roomy, [1; 4], Steady, [0; 4]),
        (
            "all capacity used",
            PROPORTIONAL,
            two_tiers,
            40,
            roomy,
            [0; 4],
            Steady,
            [10; 4],
        ),
    ] {
        let request = Request::new(replicas, &fits_now, &last, cycle);
        assert_eq!(divided(&request, &priorities, fill), Ok(expected.to_vec()), "{name}");
    }
}

/// Select can leave out all clusters of a tier, so the numbers of the others have gaps.
#[test]
fn missing_tiers_change_nothing() {
    let request = Request::new(12, &[10; 3], &[0; 3], Cycle::Steady);
    let divided = |tiers: &[u32]| {
        let mut out = vec![-1; 3];
        let mut scratch = PriorityAggregatedScratch::default();
        let result = divide(
            &request,
            tiers,
            PROPORTIONAL,
            position,
            position,
            &mut out,
            &mut scratch,
        );
        result.map(|()| out)
    };
    assert_eq!(divided(&[0, 1, 1]), Ok(vec![10, 2, 0]));
    assert_eq!(divided(&[3, 7, 7]), Ok(vec![10, 2, 0]));
    assert_eq!(divided(&[u32::MAX, 4, 4]), Ok(vec![0, 6, 6]));
}

#[test]
fn errors() {
    let request = Request::new(42, &[10; 4], &[1, 0, 0, 0], Cycle::Steady);
    let too_small = DivisionError::Unschedulable {
        requested: 42,
        available: 41,
    };
    assert_eq!(divided(&request, &[2, 2, 1, 1], PROPORTIONAL), Err(too_small));
    let short = divided(&request, &[2, 2, 1], PROPORTIONAL);
    assert!(matches!(short, Err(DivisionError::LengthMismatch { .. })), "{short:?}");
    let no_candidates = Request::new(0, &[], &[], Cycle::Fresh);
    assert_eq!(divided(&no_candidates, &[], PROPORTIONAL), Ok(vec![]));
}

proptest! {
    #[test]
    fn better_priorities_are_served_first(
        rows in prop::collection::vec((0_i64..30, 0_i64..9, 0_i64..4), 1..12),
        part in 0.0..=1.0,
        fresh in any::<bool>(),
        pack in any::<bool>(),
    ) {
        let fits_now: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let last: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let priorities: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let present: i64 = last.iter().sum();
        let replicas = ((fits_now.iter().sum::<i64>() + present) as f64 * part) as i64;
        let cycle = if fresh { Cycle::Fresh } else { Cycle::Steady };
        let request = Request::new(replicas, &fits_now, &last, cycle);
        let fill = if pack { Fill::Pack } else { PROPORTIONAL };
        let shares = divided(&request, &priorities, fill).unwrap();
        prop_assert_eq!(shares.iter().sum::<i64>(), replicas);
        let gains = |index: usize| if fresh { shares[index] > 0 } else { shares[index] > last[index] };
        for better in 0..rows.len() {
            prop_assert!((0..=fits_now[better] + last[better]).contains(&shares[better]));
            prop_assert!(fresh || replicas < present || shares[better] >= last[better]);
            prop_assert!(fresh || replicas > present || shares[better] <= last[better]);
            for worse in (0..rows.len()).filter(|&worse| priorities[worse] < priorities[better]) {
                // A worse cluster gains only if the better one is full; a better one loses only if the worse is empty.
                prop_assert!(!gains(worse) || shares[better] == fits_now[better] + last[better]);
                prop_assert!(fresh || shares[better] >= last[better] || shares[worse] == 0);
            }
        }
    }

    #[test]
    fn equal_priorities_are_plain_aggregated(
        rows in prop::collection::vec((0_i64..30, 0_i64..9), 1..12), part in 0.0..=1.0, priority in any::<i64>(),
    ) {
        let (fits_now, last): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
        let replicas = ((fits_now.iter().sum::<i64>() + last.iter().sum::<i64>()) as f64 * part) as i64;
        let request = Request::new(replicas, &fits_now, &last, Cycle::Steady);
        let mut plain = vec![0; rows.len()];
        aggregate(&request, PROPORTIONAL, position, position, &mut plain, &mut Scratch::default()).unwrap();
        prop_assert_eq!(divided(&request, &vec![priority; rows.len()], PROPORTIONAL), Ok(plain));
    }
}
