//! Finds, without sorting, the point at which a running sum over sorted keys reaches a target.
//!
//! Three questions have this form: which candidates are the first `count` of a ranking, which clusters form the
//! shortest prefix that has room for the replicas, and how high does water rise? Each is answered by counting keys in
//! buckets of their leading bits, descending into the one bucket that contains the answer, and sorting only the few
//! remaining keys. A comparison sort of 5,000 keys costs ten times as much; a quickselect three times as much, and more
//! if few keys are distinct.

/// Maximum number of keys that are sorted rather than counted.
const FEW: usize = 48;

/// Memory that calls reuse.
#[derive(Debug, Default)]
pub(super) struct CutScratch {
    contenders: Vec<u64>,
    buckets: Vec<Bucket>,
}

/// Keys that share their leading bits.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    count: u64,
    sum: u64,
}

/// The smallest key that stops, with count and sum of the keys before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// `None` if no key stops; all keys are then before the cut.
    pub(super) key: Option<u64>,
    /// Number of keys before the cut.
    pub(super) count_before: u64,
    /// Sum of their values; saturates at `u64::MAX`.
    pub(super) sum_before: u64,
}

/// The cut at the `count`-th key.
///
/// Not generic, unlike [`find_cut`], so that each library that ranks contains it once.
pub(super) fn cut_at_count(keys: &[u64], count: u64, scratch: &mut CutScratch) -> Cut {
    find_cut(keys, |_| 1, |seen, _, _| seen >= count, scratch)
}

/// Finds the smallest of `keys` for which `stops(count, sum, key)` holds. `count` and `sum` are the number of keys up
/// to and including it and its equals, and the sum of their values.
///
/// `stops` must be monotonic: if it holds for some arguments, it holds for all larger ones.
pub(super) fn find_cut(
    keys: &[u64],
    value: impl Fn(u64) -> u64,
    stops: impl Fn(u64, u64, u64) -> bool,
    scratch: &mut CutScratch,
) -> Cut {
    let CutScratch { contenders, buckets } = scratch;
    let mut before = Cut {
        key: None,
        count_before: 0,
        sum_before: 0,
    };
    contenders.clear();
    let mut is_first = true;
    loop {
        let entries = if is_first { keys } else { contenders.as_slice() };
        let (mut any, mut all) = (0, u64::MAX);
        for &key in entries {
            any |= key;
            all &= key;
        }
        // Only the lowest `width` bits differ between keys; all keys share those above.
        let width = u64::BITS - (any ^ all).leading_zeros();
        let start = all & !low_bits(width);
        if width == 0 || entries.len() <= FEW {
            if is_first {
                contenders.extend_from_slice(keys);
            }
            return walk(contenders, value, stops, before);
        }
        // About two keys per bucket, so that clearing the buckets costs less than counting.
        let bucket_bits = entries.len().ilog2().saturating_sub(1).min(10).min(width);
        let shift = width - bucket_bits;
        buckets.clear();
        buckets.resize(1 << bucket_bits, Bucket::default());
        let number = |key: u64| ((key >> (shift & 63)) & low_bits(bucket_bits)) as usize;
        for &key in entries {
            let bucket = &mut buckets[number(key)];
            bucket.count += 1;
            bucket.sum = bucket.sum.saturating_add(value(key));
        }
        // Skip the buckets that lie entirely before the cut, adding them up, and stop at the one that contains it.
        let mut chosen = None;
        for (index, bucket) in buckets.iter().enumerate().filter(|(_, bucket)| bucket.count > 0) {
            let (count, sum) = (
                before.count_before + bucket.count,
                before.sum_before.saturating_add(bucket.sum),
            );
            let first = start | ((index as u64) << (shift & 63));
            if stops(count, sum, first | low_bits(shift)) {
                chosen = Some(index);
                break;
            }
            (before.count_before, before.sum_before) = (count, sum);
        }
        let Some(index) = chosen else {
            return before;
        };
        // Continue with the keys of that bucket alone; the next round counts by their next bits.
        if is_first {
            contenders.extend(keys.iter().copied().filter(|&key| number(key) == index));
            is_first = false;
        } else {
            contenders.retain(|&key| number(key) == index);
        }
    }
}

/// The cut among few keys, or among many equal ones.
fn walk(
    contenders: &mut [u64],
    value: impl Fn(u64) -> u64,
    stops: impl Fn(u64, u64, u64) -> bool,
    mut before: Cut,
) -> Cut {
    contenders.sort_unstable();
    for equals in contenders.chunk_by(|left, right| left == right) {
        let (key, count) = (equals[0], equals.len() as u64);
        let count = before.count_before + count;
        let sum = value(key).saturating_mul(equals.len() as u64);
        let sum = before.sum_before.saturating_add(sum);
        if stops(count, sum, key) {
            before.key = Some(key);
            return before;
        }
        (before.count_before, before.sum_before) = (count, sum);
    }
    before
}

/// The number whose lowest `bits` bits are set, up to 64.
#[inline]
pub(super) fn low_bits(bits: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - bits.min(u64::BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_where_a_full_sort_would_stop(
            keys in prop::collection::vec(prop_oneof![0..4_u64, 0..2_000_u64, any::<u64>()], 0..200),
            part in 0..=110_u64,
        ) {
            let needed = keys.len() as u64 * part / 100;
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let cut = find_cut(&keys, |_| 1, |count, _, _| count > needed, &mut CutScratch::default());
            prop_assert_eq!(cut.key, sorted.get(needed as usize).copied());
            let before = sorted.iter().filter(|&&key| cut.key.is_none_or(|cut| key < cut)).count();
            prop_assert_eq!(cut.count_before, before as u64);
        }
    }

    #[test]
    fn many_equal_keys() {
        let cut = find_cut(
            &[7; 500],
            |key| key,
            |_, sum, _| sum > 3_000,
            &mut CutScratch::default(),
        );
        assert_eq!((cut.key, cut.count_before, cut.sum_before), (Some(7), 0, 0));
    }
}
