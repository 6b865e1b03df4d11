//! Shares within bounds, and the candidates that keep the most.

use super::super::keeping::{Keeping, Wanted};
use super::super::ranking::RankingScratch;
use super::super::shares::Shares;
use super::super::{DivisionError, ties::mix64};
use super::ties;
use proptest::prelude::*;

/// The shares of rows: weight, lower bound, size of the range, last replicas.
fn divided(total: i64, rows: &[(i64, i64, i64, i64)], last: Option<&[i64]>) -> Result<Vec<i64>, DivisionError> {
    let mut shares = Shares::default();
    for (index, &(weight, low, range, before)) in rows.iter().enumerate() {
        let last = last.map_or(before, |last| last[index]);
        shares.push(weight, (low, low.saturating_add(range)), last);
    }
    let divided = shares.divide(total, ties, &mut RankingScratch::default());
    divided.map(<[i64]>::to_vec)
}

#[test]
fn shares_that_cannot_be_divided_are_refused() {
    let most = i64::MAX;
    let too_large = |column| Err(DivisionError::SumTooLarge { column });
    assert_eq!(
        divided(9, &[(most, 0, 9, 0), (most, 0, 9, 0)], None),
        too_large("weights")
    );
    assert_eq!(divided(9, &[(1, most, 0, 0), (1, most, 0, 0)], None), too_large("low"));
    let negative = |column| {
        let (index, value) = (0, -1);
        Err(DivisionError::Negative { column, index, value })
    };
    assert_eq!(divided(-1, &[], None), negative("replicas"));
    assert_eq!(divided(9, &[(-1, 0, 9, 0)], None), negative("weights"));
    assert_eq!(divided(9, &[(1, -1, 9, 0)], None), negative("low"));
}

#[test]
fn bounds_may_leave_no_choice() {
    let most = i64::MAX;
    assert_eq!(divided(9, &[(1, 2, 1, 0), (0, 1, most, 0)], None), Ok(vec![3, 1]));
    // An upper bound below the lower one.
    assert_eq!(divided(1, &[(1, 2, 1, 0), (1, 3, -2, 0)], None), Ok(vec![2, 3]));
    assert_eq!(divided(most, &[(most, 0, most, 0)], None), Ok(vec![most]));
}

/// The replicas that candidates keep together; `None` if they cannot have the count. A row has room and last replicas.
fn kept<'a>(wanted: Wanted, rows: impl Iterator<Item = &'a (i64, i64)> + Clone) -> Option<i64> {
    let Wanted { count, floor, .. } = wanted;
    let room: i64 = rows.clone().map(|(upper, _)| upper).sum();
    let is_possible =
        rows.clone().all(|(upper, _)| *upper >= floor) && room >= count && floor * rows.clone().count() as i64 <= count;
    let keeps = |&(upper, last): &(i64, i64)| last.min(upper);
    let lacks: i64 = rows.clone().map(|row| (floor - keeps(row)).max(0)).sum();
    is_possible.then(|| rows.map(keeps).sum::<i64>().min(count - lacks))
}

/// The most that any choice of candidates keeps, and how many candidates it has.
fn best(wanted: Wanted, rows: &[(i64, i64)]) -> Option<(i64, usize)> {
    let choices = (1..1_u32 << rows.len()).filter_map(|choice| {
        let is_chosen = move |index: usize| choice & (1 << index) != 0;
        let chosen = rows.iter().enumerate().filter(move |(index, _)| is_chosen(*index));
        let kept = kept(wanted, chosen.map(|(_, row)| row))?;
        Some((kept, choice.count_ones() as usize))
    });
    choices.max_by_key(|&(kept, number)| {
        let number = number as i64;
        (kept, if wanted.as_few { -number } else { number })
    })
}

proptest! {
    #[test]
    fn shares_keep_their_bounds_and_are_at_rest(
        rows in prop::collection::vec((0..9_i64, 0..6_i64, 0..30_i64, 0..30_i64), 1..9),
        total in 0..120_i64,
    ) {
        let shares = divided(total, &rows, None).unwrap();
        for (&share, &(weight, low, range, _)) in shares.iter().zip(&rows) {
            prop_assert!((low..=low + range).contains(&share), "{shares:?}");
            prop_assert!(weight > 0 || share == low, "{shares:?}");
        }
        let least: i64 = rows.iter().map(|row| row.1).sum();
        let most: i64 = rows.iter().map(|&(weight, low, range, _)| if weight > 0 { low + range } else { low }).sum();
        prop_assert_eq!(shares.iter().sum::<i64>(), total.clamp(least, most));
        prop_assert_eq!(divided(total, &rows, Some(&shares)), Ok(shares));
    }

    #[test]
    fn no_other_choice_keeps_more(
        rows in prop::collection::vec((0..9_i64, 0..9_i64), 1..8),
        count in 1..40_i64,
        floor in 1..4_i64,
        as_few in any::<bool>(),
    ) {
        let wanted = Wanted { count, floor, as_few };
        let (upper, last): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
        let (mut keeping, mut chosen) = (Keeping::default(), vec![9]);
        keeping.choose(wanted, &upper, &last, |index| mix64(index as u64), &mut chosen).unwrap();
        match best(wanted, &rows) {
            None => prop_assert!(chosen.is_empty(), "{chosen:?}"),
            Some((most, number)) => {
                let kept = kept(wanted, chosen.iter().map(|&index| &rows[index as usize]));
                prop_assert_eq!(kept, Some(most), "{:?}", chosen);
                prop_assert_eq!(chosen.len(), number, "{:?}", chosen);
            }
        }
    }
}
