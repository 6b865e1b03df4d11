//! The naive versions of the rules, one replica per step. The fast versions must give equal results.

use std::cmp::{Ordering, Reverse};

/// Seats one at a time to the best candidate, then fewest seats, then tie. `order` compares two candidates, given the
/// seats so far.
fn seats(
    replicas: i64,
    candidates: usize,
    ties: impl Fn(usize) -> u64,
    order: impl Fn(&[i64], usize, usize) -> Ordering,
) -> Vec<i64> {
    let mut seats = vec![0_i64; candidates];
    for _ in 0..replicas {
        let rank = |&left: &usize, &right: &usize| {
            let fewest = (seats[left], ties(left)).cmp(&(seats[right], ties(right)));
            order(&seats, left, right).then(fewest)
        };
        let winner = (0..candidates).min_by(rank).unwrap();
        seats[winner] += 1;
    }
    seats
}

/// Seats by the highest exact quotient.
pub(super) fn webster(replicas: i64, weights: &[i64], ties: impl Fn(usize) -> u64) -> Vec<i64> {
    seats(replicas, weights.len(), ties, |seats, left, right| {
        let cross = |weight: usize, other: usize| i128::from(weights[weight]) * i128::from(2 * seats[other] + 1);
        cross(right, left).cmp(&cross(left, right))
    })
}

/// The same, with quotients computed like Karmada's.
pub(super) fn webster_in_doubles(replicas: i64, weights: &[i64], ties: impl Fn(usize) -> u64) -> Vec<i64> {
    seats(replicas, weights.len(), ties, |seats, left, right| {
        let quotient = |index: usize| weights[index] as f64 / (2 * seats[index] + 1) as f64;
        quotient(right).total_cmp(&quotient(left))
    })
}

/// Floors, then the remainder by a full sort.
pub(super) fn floor_and_rank(replicas: i64, weights: &[i64], last: &[i64], ties: impl Fn(usize) -> u64) -> Vec<i64> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&index| (Reverse(weights[index]), Reverse(last[index]), ties(index)));
    hand_out_remainder(replicas, weights, &order)
}

/// Floors, then the remainder by fractional part, by a full sort.
pub(super) fn largest_remainder(replicas: i64, weights: &[i64], last: &[i64], ties: impl Fn(usize) -> u64) -> Vec<i64> {
    let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
    let fraction = |index: usize| i128::from(replicas) * i128::from(weights[index]) % sum;
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&index| (Reverse(fraction(index)), Reverse(last[index]), ties(index)));
    hand_out_remainder(replicas, weights, &order)
}

fn hand_out_remainder(replicas: i64, weights: &[i64], order: &[usize]) -> Vec<i64> {
    let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
    let mut shares: Vec<i64> = weights
        .iter()
        .map(|&weight| (i128::from(replicas) * i128::from(weight) / sum) as i64)
        .collect();
    let left = replicas - shares.iter().sum::<i64>();
    for &index in &order[..left as usize] {
        shares[index] += 1;
    }
    shares
}

/// `proposals/average-replicas.md`, "Assign", step by step, the remainder pending from the start.
pub(super) fn fill_evenly(
    replicas: i64,
    capacities: &[i64],
    scores: &[i64],
    last: &[i64],
    ties: impl Fn(usize) -> u64,
) -> Vec<i64> {
    let clusters = capacities.len() as i64;
    let average = replicas / clusters;
    let mut pending = replicas % clusters;
    let mut available = capacities.to_vec();
    let mut assigned = vec![0; capacities.len()];
    let mut not_full = Vec::new();
    for index in 0..capacities.len() {
        if available[index] > average {
            assigned[index] = average;
            not_full.push(index);
        } else {
            assigned[index] = available[index];
            pending += average - available[index];
        }
        available[index] -= assigned[index];
    }
    not_full.sort_by_key(|&index| (Reverse(scores[index]), Reverse(last[index]), ties(index)));
    while pending > 0 {
        for &index in &not_full {
            if pending > 0 {
                assigned[index] += 1;
                available[index] -= 1;
                pending -= 1;
            }
        }
        not_full.retain(|&index| available[index] > 0);
    }
    assigned
}

/// Specified's change, one replica at a time: the cluster that has changed least so far is next, then the order of the
/// remainder decides.
pub(super) fn change_evenly(replicas: i64, last: &[i64], ties: impl Fn(usize) -> u64) -> Vec<i64> {
    let mut counts = last.to_vec();
    let present: i64 = last.iter().sum();
    for _ in present..replicas {
        let next = (0..last.len())
            .min_by_key(|&index| (counts[index] - last[index], last[index], ties(index)))
            .unwrap();
        counts[next] += 1;
    }
    for _ in replicas..present {
        let next = (0..last.len())
            .filter(|&index| counts[index] > 0)
            .min_by_key(|&index| (last[index] - counts[index], Reverse(last[index]), ties(index)))
            .unwrap();
        counts[next] -= 1;
    }
    counts
}

/// The shortest prefix of a full sort whose capacities reach `needed`.
pub(super) fn prefix<Key: Ord>(needed: i64, capacities: &[i64], key: impl Fn(usize) -> Key) -> Vec<usize> {
    let mut order: Vec<usize> = (0..capacities.len()).collect();
    order.sort_by_key(|&index| key(index));
    let mut held = 0;
    let mut length = 0;
    while held < needed {
        held += capacities[order[length]];
        length += 1;
    }
    order.truncate(length);
    order
}
