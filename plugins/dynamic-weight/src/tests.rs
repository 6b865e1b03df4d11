//! Named cases, and properties.

mod wiring;

use crate::dynamic_weight::{Method, divide};
use divvy_framework::division::{Cycle, DivisionError, Request, Scratch};
use proptest::prelude::*;

fn divided(request: &Request<'_>, method: Method) -> Result<Vec<i64>, DivisionError> {
    let mut out = vec![-1; request.fits_now.len()];
    divide(request, method, |index| index as u64, &mut out, &mut Scratch::default()).map(|()| out)
}

#[test]
fn named_cases() {
    use Cycle::{Fresh, Steady};
    use Method::{EvenRemainder, Webster};
    for (name, method, replicas, fits_now, last, cycle, expected) in [
        (
            "first scheduling",
            EvenRemainder,
            12,
            [6, 12, 18],
            [0; 3],
            Steady,
            [2, 4, 6],
        ),
        (
            "remainder to the largest",
            EvenRemainder,
            4,
            [6, 12, 18],
            [0; 3],
            Steady,
            [0, 1, 3],
        ),
        ("webster rounds", Webster, 4, [6, 12, 18], [0; 3], Steady, [1, 1, 2]),
        (
            "growth is added to last",
            EvenRemainder,
            12,
            [12, 6, 0],
            [1, 1, 1],
            Steady,
            [7, 4, 1],
        ),
        (
            "growth, webster from zero seats",
            Webster,
            9,
            [10, 10, 0],
            [5, 0, 0],
            Steady,
            [7, 2, 0],
        ),
        (
            "shrinking looks at last alone",
            EvenRemainder,
            6,
            [0, 99, 0],
            [6, 0, 6],
            Steady,
            [3, 0, 3],
        ),
        (
            "shrinking keeps the larger",
            EvenRemainder,
            4,
            [0; 3],
            [1, 2, 4],
            Steady,
            [0, 1, 3],
        ),
        (
            "equal totals change nothing",
            EvenRemainder,
            7,
            [99, 0, 0],
            [1, 2, 4],
            Steady,
            [1, 2, 4],
        ),
        (
            "fresh goes by capacity",
            EvenRemainder,
            8,
            [14, 2, 0],
            [0, 0, 8],
            Fresh,
            [5, 0, 3],
        ),
        ("to zero", EvenRemainder, 0, [5; 3], [1, 2, 4], Steady, [0; 3]),
        ("fully used", EvenRemainder, 22, [5; 3], [1, 2, 4], Steady, [6, 7, 9]),
    ] {
        let request = Request::new(replicas, &fits_now, &last, cycle);
        assert_eq!(divided(&request, method), Ok(expected.to_vec()), "{name}");
    }
}

#[test]
fn too_small() {
    let request = Request::new(23, &[5; 3], &[1, 2, 4], Cycle::Steady);
    let expected = Err(DivisionError::Unschedulable {
        requested: 23,
        available: 22,
    });
    assert_eq!(divided(&request, Method::EvenRemainder), expected);
    let request = Request::new(1, &[], &[], Cycle::Fresh);
    let expected = Err(DivisionError::Unschedulable {
        requested: 1,
        available: 0,
    });
    assert_eq!(divided(&request, Method::Webster), expected);
}

proptest! {
    #[test]
    fn extra_replicas_stay_within_what_fits_now_and_nothing_moves(
        rows in prop::collection::vec((0_i64..=i64::from(i32::MAX), 0_i64..1000), 1..12),
        part in 0.0..=1.0,
        webster in any::<bool>(),
        fresh in any::<bool>(),
    ) {
        let (fits_now, last): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
        let present: i64 = last.iter().sum();
        let replicas = ((fits_now.iter().sum::<i64>() + present) as f64 * part) as i64;
        let cycle = if fresh { Cycle::Fresh } else { Cycle::Steady };
        let request = Request::new(replicas, &fits_now, &last, cycle);
        let method = if webster { Method::Webster } else { Method::EvenRemainder };
        let shares = divided(&request, method).unwrap();
        prop_assert_eq!(shares.iter().sum::<i64>(), replicas);
        for (&share, &(fits, last)) in shares.iter().zip(&rows) {
            prop_assert!((0..=fits + last).contains(&share));
            prop_assert!(fresh || replicas < present || share >= last);
            prop_assert!(fresh || replicas > present || share <= last);
        }
    }
}
