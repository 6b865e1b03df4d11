//! Shares within bounds, whole shares and nearest counts, by exhaustive search.

use std::cmp::Reverse;

/// Keeps the counts whose positions are nearest to their targets, then those that move the fewest replicas there, then the first by last
/// replicas and tie.
pub(super) fn take_nearest(all: &mut Vec<Vec<i64>>, positions: &[usize], targets: &[i64], last: &[i64], ties: &[u64]) {
    let mut order = positions.to_vec();
    order.sort_by_key(|&index| (Reverse(last[index]), ties[index]));
    let key = |counts: &Vec<i64>| {
        let away: i64 = positions
            .iter()
            .zip(targets)
            .map(|(&index, target)| (counts[index] - target).abs())
            .sum();
        let moved: i64 = positions.iter().map(|&index| (counts[index] - last[index]).abs()).sum();
        let first: Vec<Reverse<i64>> = order.iter().map(|&index| Reverse(counts[index])).collect();
        (away, moved, first)
    };
    let best = all.iter().map(key).min().unwrap();
    all.retain(|counts| key(counts) == best);
}

/// All subsets of a size, those with earlier members first.
pub(super) fn subsets(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    match (size, of) {
        (0, _) => vec![vec![]],
        (_, []) => vec![],
        (_, [first, others @ ..]) => {
            let with = subsets(others, size - 1)
                .into_iter()
                .map(|others| [&[*first], &others[..]].concat());
            with.chain(subsets(others, size)).collect()
        }
    }
}

/// Shares within bounds before rounding, as numerators of one denominator: one factor for all weights, found by trying
/// all combinations of shares at their bounds.
pub(super) fn shares(total: i64, weights: &[i64], bounds: &[(i64, i64)]) -> (Vec<i128>, i128) {
    let wide = |number: i64| i128::from(number);
    for combination in 0..3_usize.pow(weights.len() as u32) {
        let side = |index: usize| combination / 3_usize.pow(index as u32) % 3;
        let (mut left, mut weight) = (wide(total), 0);
        for (index, &(low, high)) in bounds.iter().enumerate() {
            match side(index) {
                0 => weight += wide(weights[index]),
                1 => left -= wide(low),
                _ => left -= wide(high),
            }
        }
        // Without a share between its bounds, the factor is any between those at which the others are held.
        let free = (0..weights.len()).filter(|&index| side(index) == 0);
        let (numerator, denominator) = match weight {
            0 if left != 0 || free.count() > 0 => continue,
            0 => {
                let at_high = (0..weights.len()).filter(|&index| side(index) == 2 && weights[index] > 0);
                let factors = at_high.map(|index| (wide(bounds[index].1), wide(weights[index])));
                factors
                    .max_by(|one, other| (one.0 * other.1).cmp(&(other.0 * one.1)))
                    .unwrap_or((0, 1))
            }
            _ => (left, weight),
        };
        let holds = |index: usize| {
            let (low, high) = bounds[index];
            let share = numerator * wide(weights[index]);
            match side(index) {
                0 => wide(low) * denominator <= share && share <= wide(high) * denominator,
                1 => share <= wide(low) * denominator,
                _ => share >= wide(high) * denominator,
            }
        };
        if (0..weights.len()).all(holds) {
            let share = |index: usize| match side(index) {
                0 => numerator * wide(weights[index]),
                1 => wide(bounds[index].0) * denominator,
                _ => wide(bounds[index].1) * denominator,
            };
            return ((0..weights.len()).map(share).collect(), denominator);
        }
    }
    panic!("no factor for {total} by {weights:?} within {bounds:?}");
}

/// Whole shares nearest to those before rounding; among equally near ones those that move the fewest replicas, then by last replicas
/// and tie.
pub(super) fn rounded(
    total: i64,
    weights: &[i64],
    bounds: &[(i64, i64)],
    last: &[i64],
    ties: impl Fn(usize) -> u64,
) -> Vec<i64> {
    let (shares, of) = shares(total, weights, bounds);
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&index| (Reverse(last[index]), ties(index)));
    let mut all = vec![vec![]];
    for &(low, high) in bounds {
        let longer = |counts: Vec<i64>| {
            let left = total - counts.iter().sum::<i64>();
            (low..=high.min(left)).map(move |count| [&counts[..], &[count]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    let complete = all.into_iter().filter(|counts| counts.iter().sum::<i64>() == total);
    let key = |counts: &Vec<i64>| {
        let away = counts
            .iter()
            .zip(&shares)
            .map(|(&count, share)| i128::from(count) * of - share);
        let moved: i64 = counts.iter().zip(last).map(|(count, last)| (count - last).abs()).sum();
        let first: Vec<Reverse<i64>> = order.iter().map(|&index| Reverse(counts[index])).collect();
        (away.map(|away| away * away).sum::<i128>(), moved, first)
    };
    complete.min_by_key(key).unwrap()
}

/// Floors, then the remainder by weight, last replicas and tie, by a full sort: the SDK's default rounding.
pub(super) fn floor_and_rank(replicas: i64, weights: &[i64], last: &[i64], ties: impl Fn(usize) -> u64) -> Vec<i64> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&index| (Reverse(weights[index]), Reverse(last[index]), ties(index)));
    let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
    let floor = |weight: &i64| (i128::from(replicas) * i128::from(*weight) / sum) as i64;
    let mut shares: Vec<i64> = weights.iter().map(floor).collect();
    let left = replicas - shares.iter().sum::<i64>();
    for &index in &order[..left as usize] {
        shares[index] += 1;
    }
    shares
}
