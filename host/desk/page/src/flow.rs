//! Moves from cluster to cluster.
//!
//! A decision has a number of replicas per cluster, but does not say which replica went where. So moves are *attributed*:
//! within one binding, losses are matched to gains in proportion. The attributed moves add up exactly to the replicas
//! that the binding moves, and exceed no cluster's loss or gain.

/// Attributes moves within one binding.
///
/// `changes` has one change of replicas per cluster, and `moved` is the number of replicas that move. Returns each pair
/// of indexes, from a cluster that loses to one that gains, with its replicas; no pair has 0. The sum is the smallest
/// of `moved`, all losses and all gains.
pub fn attribute(changes: &[i64], moved: i64) -> Vec<(usize, usize, i64)> {
    let of_sign = |sign: i64| -> (Vec<usize>, Vec<i64>) {
        let chosen = changes.iter().enumerate().filter(|(_, change)| change.signum() == sign);
        chosen.map(|(index, change)| (index, change.saturating_abs())).unzip()
    };
    let ((losers, losses), (gainers, gains)) = (of_sign(-1), of_sign(1));
    let total = i128::from(moved.max(0)).min(sum(&losses)).min(sum(&gains));
    let leaving = apportion(total, &losses);
    let mut arriving = apportion(total, &gains);
    let mut pairs = Vec::new();
    for (loser, leaving) in losers.into_iter().zip(leaving) {
        let shares = apportion(i128::from(leaving), &arriving);
        for ((gainer, share), room) in gainers.iter().zip(shares).zip(&mut arriving) {
            *room -= share;
            if share > 0 {
                pairs.push((loser, *gainer, share));
            }
        }
    }
    pairs
}

fn sum(counts: &[i64]) -> i128 {
    counts.iter().map(|&count| i128::from(count)).sum()
}

/// Divides a total in proportion to weights, by largest remainders, the first among equals. No share exceeds its weight, provided
/// that the total does not exceed the sum of the weights.
fn apportion(total: i128, weights: &[i64]) -> Vec<i64> {
    let all = sum(weights);
    if all == 0 {
        return vec![0; weights.len()];
    }
    let products = weights.iter().map(|&weight| i128::from(weight) * total);
    let parts: Vec<(i128, i128)> = products.map(|product| (product / all, product % all)).collect();
    let left = total - parts.iter().map(|(share, _)| share).sum::<i128>();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(parts.get(index).map_or(0, |(_, remainder)| *remainder)));
    let mut shares: Vec<i128> = parts.iter().map(|(share, _)| *share).collect();
    for index in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        if let Some(share) = shares.get_mut(index) {
            *share += 1;
        }
    }
    let count = |share: i128| i64::try_from(share).unwrap_or(i64::MAX);
    shares.into_iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_matched_to_gains_in_proportion() {
        assert_eq!(attribute(&[-6, 4, 2], 6), [(0, 1, 4), (0, 2, 2)]);
        assert_eq!(
            attribute(&[-4, -2, 3, 3], 6),
            [(0, 2, 2), (0, 3, 2), (1, 2, 1), (1, 3, 1)]
        );
        // A loss that no cluster gains is not a move: 4 of 6 move.
        assert_eq!(attribute(&[-4, -2, 4], 4), [(0, 2, 3), (1, 2, 1)]);
        assert_eq!(attribute(&[5, 0, -3], 0), []);
        assert_eq!(attribute(&[], 3), []);
    }

    /// Every set of small changes: sums hold, and no cluster sends or gets more than its change.
    #[test]
    fn attributions_add_up() {
        for number in 0..7_i64.pow(5) {
            let changes: Vec<i64> = (0..5).map(|digit| number / 7_i64.pow(digit) % 7 - 3).collect();
            let losses: i64 = changes.iter().filter(|change| **change < 0).map(|change| -change).sum();
            let gains: i64 = changes.iter().filter(|change| **change > 0).sum();
            let moved = losses.min(gains);
            let pairs = attribute(&changes, moved);
            assert_eq!(pairs.iter().map(|(.., count)| count).sum::<i64>(), moved, "{changes:?}");
            for (index, change) in changes.iter().enumerate() {
                let sent: i64 = pairs.iter().filter(|pair| pair.0 == index).map(|pair| pair.2).sum();
                let got: i64 = pairs.iter().filter(|pair| pair.1 == index).map(|pair| pair.2).sum();
                assert!(
                    sent <= (-change).max(0) && got <= (*change).max(0),
                    "{changes:?}: {pairs:?}"
                );
            }
        }
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let pairs = attribute(&[-i64::MAX, i64::MAX], i64::MAX);
        assert_eq!(pairs, [(0, 1, i64::MAX)]);
    }
}
