//! Named cases, then properties.

mod wiring;

use crate::aggregated::divide;
use divvy_framework::division::aggregate::Fill;
use divvy_framework::division::{Cycle, DivisionError, Request, Rounding, Scratch};
use proptest::prelude::*;

fn divided(request: &Request<'_>, fill: Fill) -> Result<Vec<i64>, DivisionError> {
    let mut out = vec![-1; request.fits_now.len()];
    let position = |index: usize| index as u64;
    divide(request, fill, position, position, &mut out, &mut Scratch::default()).map(|()| out)
}

const PROPORTIONAL: Fill = Fill::Proportional(Rounding::FloorThenRank);
const KARMADA: Fill = Fill::Proportional(Rounding::Karmada);

#[test]
fn named_cases() {
    use Cycle::{Fresh, Steady};
    use Fill::Pack;
    for (name, fill, replicas, fits_now, last, cycle, expected) in [
        (
            "one is enough",
            PROPORTIONAL,
            8,
            [10, 10, 12],
            [0; 3],
            Steady,
            [0, 0, 8],
        ),
        ("equals by index", PROPORTIONAL, 8, [10; 3], [0; 3], Steady, [8, 0, 0]),
        (
            "two, proportional",
            PROPORTIONAL,
            16,
            [10; 3],
            [0; 3],
            Steady,
            [8, 8, 0],
        ),
        ("two, packed", Pack, 16, [10; 3], [0; 3], Steady, [10, 6, 0]),
        (
            "clusters with replicas first",
            PROPORTIONAL,
            5,
            [20, 4, 20],
            [0, 1, 0],
            Steady,
            [0, 5, 0],
        ),
        (
            "then the largest capacity",
            Pack,
            9,
            [20, 4, 30],
            [0, 1, 0],
            Steady,
            [0, 5, 4],
        ),
        (
            "proportional to what fits now",
            PROPORTIONAL,
            18,
            [16, 4, 30],
            [0, 1, 0],
            Steady,
            [0, 3, 15],
        ),
        (
            "as karmada rounds",
            KARMADA,
            18,
            [16, 4, 30],
            [0, 1, 0],
            Steady,
            [0, 3, 15],
        ),
        (
            "shrinking drains the smallest",
            PROPORTIONAL,
            6,
            [0; 3],
            [4, 3, 2],
            Steady,
            [4, 2, 0],
        ),
        ("shrinking, packed", Pack, 6, [0; 3], [4, 3, 2], Steady, [4, 2, 0]),
        (
            "equal totals change nothing",
            PROPORTIONAL,
            9,
            [99; 3],
            [4, 3, 2],
            Steady,
            [4, 3, 2],
        ),
        (
            "fresh goes by capacity",
            PROPORTIONAL,
            9,
            [9, 0, 99],
            [4, 3, 2],
            Fresh,
            [0, 0, 9],
        ),
        ("to zero", Pack, 0, [9; 3], [4, 3, 2], Steady, [0; 3]),
        ("all capacity used", Pack, 36, [9; 3], [4, 3, 2], Steady, [13, 12, 11]),
    ] {
        let request = Request::new(replicas, &fits_now, &last, cycle);
        assert_eq!(divided(&request, fill), Ok(expected.to_vec()), "{name}");
    }
}

#[test]
fn too_small() {
    for fill in [Fill::Pack, PROPORTIONAL, KARMADA] {
        let request = Request::new(37, &[9; 3], &[4, 3, 2], Cycle::Steady);
        let expected = Err(DivisionError::Unschedulable {
            requested: 37,
            available: 36,
        });
        assert_eq!(divided(&request, fill), expected);
    }
}

proptest! {
    /// No cluster is used needlessly: no choice with one cluster fewer could hold the replicas.
    #[test]
    fn no_smaller_number_of_clusters_would_do(
        fits_now in prop::collection::vec(0_i64..50, 1..12), part in 0.0..=1.0, pack in any::<bool>(),
    ) {
        let replicas = (fits_now.iter().sum::<i64>() as f64 * part) as i64;
        let last = vec![0; fits_now.len()];
        let request = Request::new(replicas, &fits_now, &last, Cycle::Steady);
        let shares = divided(&request, if pack { Fill::Pack } else { PROPORTIONAL }).unwrap();
        prop_assert_eq!(shares.iter().sum::<i64>(), replicas);
        prop_assert!(shares.iter().zip(&fits_now).all(|(share, fits)| (0..=*fits).contains(share)));
        let used = shares.iter().filter(|&&share| share > 0).count();
        let mut roomiest = fits_now.clone();
        roomiest.sort_unstable_by(|left, right| right.cmp(left));
        prop_assert!(used == 0 || roomiest[..used - 1].iter().sum::<i64>() < replicas);
    }

    #[test]
    fn steady_cycles_move_nothing(
        rows in prop::collection::vec((0_i64..50, 0_i64..9), 1..12), part in 0.0..=1.0, pack in any::<bool>(),
    ) {
        let (fits_now, last): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
        let present: i64 = last.iter().sum();
        let replicas = ((fits_now.iter().sum::<i64>() + present) as f64 * part) as i64;
        let request = Request::new(replicas, &fits_now, &last, Cycle::Steady);
        let shares = divided(&request, if pack { Fill::Pack } else { KARMADA }).unwrap();
        for (&share, &(_, last)) in shares.iter().zip(&rows) {
            prop_assert!(replicas < present || share >= last);
            prop_assert!(replicas > present || share <= last);
        }
    }
}
