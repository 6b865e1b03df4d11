//! The largest count that a predicate accepts, found by trying.
//!
//! The result was tried, not inferred: the count that is found was accepted, and the next one was refused. No claim is made
//! about larger counts, because a strategy need not be monotonic; [`largest`] tries a few, and reports one that is accepted.

use std::ops::Range;

/// The largest number of replicas that Kubernetes allows.
pub const REPLICAS_MAX: i32 = i32::MAX;

/// Counts below a refused start that are tried one by one if no other is accepted.
const SINGLE_STEPS: i32 = 64;

/// Outcome of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Try {
    /// True if the count is accepted.
    pub is_accepted: bool,
    /// A count that may be the largest, according to the refusal.
    pub suggestion: Option<i64>,
}

/// Outcome of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// The largest count that was found: accepted, with the next one refused or beyond what Kubernetes allows. `None` if
    /// every count that was tried is refused.
    pub most: Option<i32>,
    /// A larger count that is accepted although the one after `most` is not.
    pub beyond: Option<i32>,
}

/// Searches from 1 to [`REPLICAS_MAX`], starting at `start`.
pub fn largest(start: i32, mut attempt: impl FnMut(i32) -> Try) -> Found {
    let start = start.max(1);
    let top = attempt(REPLICAS_MAX);
    if top.is_accepted {
        return Found {
            most: Some(REPLICAS_MAX),
            beyond: None,
        };
    }
    let Some(most) = largest_within(1..REPLICAS_MAX, start, top.suggestion, &mut attempt) else {
        return Found::default();
    };
    Found {
        most: Some(most),
        beyond: beyond(most, &mut attempt),
    }
}

/// Searches `counts`, the first of which is at least 1 and the end of which is refused already; `suggestion` is that refusal's.
/// Starts at `start`, or at the nearest count that is searched. Returns a count that was accepted, while the next one was refused;
/// `None` if every count that was tried is refused, among them the first, or if there are none.
pub fn largest_within(
    counts: Range<i32>,
    start: i32,
    suggestion: Option<i64>,
    attempt: &mut impl FnMut(i32) -> Try,
) -> Option<i32> {
    if counts.is_empty() {
        return None;
    }
    let start = start.clamp(counts.start, counts.end - 1);
    let (low, high, suggestion) = first_accepted(counts, start, suggestion, attempt)?;
    Some(between(low, high, suggestion, attempt))
}

/// An accepted count, a larger one that is refused, and the suggestion of its refusal.
fn first_accepted(
    counts: Range<i32>,
    start: i32,
    suggestion: Option<i64>,
    attempt: &mut impl FnMut(i32) -> Try,
) -> Option<(i32, i32, Option<i64>)> {
    let at_start = attempt(start);
    if at_start.is_accepted {
        return Some((start, counts.end, suggestion));
    }
    let suggested = at_start.suggestion.or(suggestion);
    if let Some(count) = suggested.and_then(|count| i32::try_from(count).ok())
        && counts.contains(&count)
        && count != start
        && attempt(count).is_accepted
    {
        return Some(match count < start {
            true => (count, start, None),
            // The refusal at the end may suggest a still larger count.
            false => (
                count,
                counts.end,
                suggestion.filter(|&larger| larger > i64::from(count)),
            ),
        });
    }
    // Halves, from the start down to the first count: if smaller counts are easier, one of them is accepted.
    let below = counts.start - 1;
    let mut count = below + (start - below) / 2;
    while count > below {
        if attempt(count).is_accepted {
            return Some((count, start, None));
        }
        count = below + (count - below) / 2;
    }
    // If only a few counts are accepted, halves miss them.
    let least = start.saturating_sub(SINGLE_STEPS).max(counts.start);
    if let Some(single) = (least..start).rev().find(|&count| attempt(count).is_accepted) {
        return Some((single, single + 1, None));
    }
    // A lower bound of a policy refuses small counts. A refusal that states a smaller count is not of that kind.
    if suggested.is_some_and(|count| count < i64::from(start)) {
        return None;
    }
    let distances = || (0..31).map(|power| 1 << power);
    let upwards = distances().map_while(|distance| start.checked_add(distance).filter(|count| *count < counts.end));
    let downwards = distances().map_while(|distance| counts.end.checked_sub(distance).filter(|count| *count > start));
    let above = upwards.chain(downwards).find(|&count| attempt(count).is_accepted)?;
    Some((above, counts.end, suggestion))
}

/// The largest accepted count from `low`, which is accepted, to `high`, which is not: by suggestion or doubling, then by
/// halving the distance.
fn between(mut low: i32, mut high: i32, mut suggestion: Option<i64>, attempt: &mut impl FnMut(i32) -> Try) -> i32 {
    let mut step = low.max(1);
    // True if the suggestion is the count after an accepted one.
    let mut is_next = false;
    while high - low > 1 {
        let suggested = suggestion
            .take()
            .and_then(|count| i32::try_from(count).ok())
            // If the suggested count was accepted, only the next one is left to try.
            .map(|count| count.max(low + 1))
            .filter(|count| *count < high);
        let middle = low + (high - low) / 2;
        let count = match suggested {
            Some(count) => count,
            None => low.saturating_add(step).min(middle),
        };
        let tried = attempt(count);
        if tried.is_accepted {
            low = count;
            step = step.saturating_mul(2);
            // If the suggestion was right, trying the next count completes the search. Further steps of one would be slow.
            suggestion = suggested.filter(|_| !is_next).map(|count| i64::from(count) + 1);
            is_next = suggestion.is_some();
        } else {
            high = count;
            suggestion = tried.suggestion.filter(|_| suggested.is_none());
            is_next = false;
        }
    }
    low
}

/// An accepted count above the one after `most`, if one of the few that are tried is accepted.
fn beyond(most: i32, attempt: &mut impl FnMut(i32) -> Try) -> Option<i32> {
    let near = (2..=4).map(|more| most.saturating_add(more));
    let far = (2..16).map(|power| most.max(1).saturating_mul(1 << power));
    let counts = near.chain(far).filter(|count| *count < REPLICAS_MAX);
    counts.into_iter().find(|&count| attempt(count).is_accepted)
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::*;

    /// The search over a predicate, and the counts that were tried.
    fn search(start: i32, accepts: impl Fn(i32) -> bool, suggests: Option<i64>) -> (Found, Vec<i32>) {
        let mut tried = Vec::new();
        let found = largest(start, |count| {
            tried.push(count);
            let is_accepted = accepts(count);
            Try {
                is_accepted,
                suggestion: suggests.filter(|_| !is_accepted),
            }
        });
        (found, tried)
    }

    #[test]
    fn the_count_found_was_accepted_and_the_next_one_refused() {
        for limit in [1, 2, 3, 7, 60, 100, 1023, 1024, 1_000_000, i32::MAX - 1] {
            for start in [1, 2, 50, 60, 61, 1024, 5_000_000] {
                for suggests in [
                    None,
                    Some(i64::from(limit)),
                    Some(1),
                    Some(i64::from(limit) - 1),
                    Some(i64::MAX),
                ] {
                    let (found, tried) = search(start, |count| count <= limit, suggests);
                    assert_eq!(found.most, Some(limit), "from {start}, suggesting {suggests:?}");
                    assert_eq!(found.beyond, None);
                    assert!(
                        tried.contains(&limit) && tried.contains(&(limit + 1)),
                        "{limit}: {tried:?}"
                    );
                    assert!(tried.len() < 130, "{} tries", tried.len());
                }
            }
        }
    }

    #[test]
    fn a_true_suggestion_saves_the_search() {
        let (found, tried) = search(60, |count| count <= 291, Some(291));
        assert_eq!(found.most, Some(291));
        assert_eq!(tried[..4], [i32::MAX, 60, 291, 292]);
    }

    #[test]
    fn without_a_limit_the_largest_count_is_all_that_is_tried() {
        let (found, tried) = search(3, |_| true, None);
        assert_eq!((found.most, tried), (Some(REPLICAS_MAX), vec![REPLICAS_MAX]));
    }

    #[test]
    fn where_nothing_is_accepted_nothing_is_found() {
        for start in [1, 2, 10, 100] {
            assert_eq!(search(start, |_| false, None).0, Found::default());
            assert_eq!(search(start, |_| false, Some(5)).0, Found::default());
        }
    }

    #[test]
    fn a_range_is_searched_from_its_first_count() {
        for (least, limit, end) in [
            (60, 60, 100),
            (60, 99, 100),
            (60, 75, 100),
            (1, 1, 2),
            (7, 4_000, 1 << 30),
        ] {
            for suggests in [None, Some(limit), Some(1), Some(limit + 1), Some(i64::MAX)] {
                for start in [least, end - 1, 0] {
                    let mut tried = Vec::new();
                    let found = largest_within(least..end, start, suggests, &mut |count| {
                        tried.push(count);
                        Try {
                            is_accepted: i64::from(count) <= limit,
                            suggestion: suggests,
                        }
                    });
                    assert_eq!(
                        found.map(i64::from),
                        Some(limit),
                        "{least}..{end} from {start}, {suggests:?}"
                    );
                    let next = i32::try_from(limit + 1).unwrap();
                    assert!(next == end || tried.contains(&next), "{tried:?}");
                    assert!(tried.iter().all(|count| (least..end).contains(count)), "{tried:?}");
                }
            }
        }
    }

    #[test]
    fn a_range_in_which_nothing_is_accepted_is_given_up_after_its_first_count() {
        let mut tried = Vec::new();
        let mut refuse = |count| {
            tried.push(count);
            Try {
                is_accepted: false,
                suggestion: Some(3),
            }
        };
        assert_eq!(largest_within(60..100, 3, Some(3), &mut refuse), None);
        assert_eq!(largest_within(100..100, 100, None, &mut refuse), None);
        assert_eq!(tried, [60]);
    }

    #[test]
    fn a_range_whose_first_counts_are_too_small_is_searched_upwards() {
        let search = |accepted: RangeInclusive<i32>, start: i32, states: bool| {
            let refusal = |count: i32| {
                let nearest = count.clamp(*accepted.start(), *accepted.end());
                states.then_some(i64::from(nearest))
            };
            largest_within(10..100, start, refusal(100), &mut |count| Try {
                is_accepted: accepted.contains(&count),
                suggestion: refusal(count).filter(|_| !accepted.contains(&count)),
            })
        };
        for start in [10, 50, 99] {
            // Refusals that state the nearest count, as those of a tree do.
            for accepted in [20..=60, 11..=11, 99..=99, 57..=64, 20..=99] {
                assert_eq!(
                    search(accepted.clone(), start, true),
                    Some(*accepted.end()),
                    "{accepted:?} from {start}"
                );
            }
            // Refusals without figures.
            for accepted in [20..=60, 12..=99, 99..=99, 30..=90] {
                assert_eq!(
                    search(accepted.clone(), start, false),
                    Some(*accepted.end()),
                    "{accepted:?} from {start}"
                );
            }
        }
        // Between the distances that are tried, a narrow range is missed; with figures it was found above.
        assert_eq!(search(57..=64, 10, false), None);
        let found = largest(1, |count| Try {
            is_accepted: (20..=60).contains(&count),
            suggestion: Some(if count > 60 { 60 } else { 20 }),
        });
        assert_eq!((found.most, found.beyond), (Some(60), None));
    }

    #[test]
    fn counts_that_are_accepted_again_are_reported_and_single_ones_found() {
        // Even counts only, as of a strategy that must fill pairs.
        let (found, _) = search(4, |count| count % 2 == 0 && count <= 20, None);
        assert!(found.most.is_some_and(|most| most % 2 == 0), "{found:?}");
        let (found, _) = search(4, |count| count <= 5 || (200..5000).contains(&count), None);
        assert!(
            found.most == Some(5) && found.beyond.is_some() || found.most == Some(4999),
            "{found:?}"
        );
        // Exactly one count, as of a strategy whose policy counts the replicas.
        for start in [9, 10, 20, 70] {
            let (found, _) = search(start, |count| count == 9, None);
            assert_eq!((found.most, found.beyond), (Some(9), None), "from {start}");
        }
        assert_eq!(search(3, |count| count == 9, Some(9)).0.most, Some(9));
    }
}
