//! The largest step that a situation allows.
//!
//! A step takes `d` replicas and gives `g`. In the cluster that it takes them from, replicas that are not ready go first; what then
//! remains of `d` is ready, and limited by what may be unavailable. `g` is limited by room, by the surge, and by the number of
//! clusters. `d` is never larger than `g` plus the replicas beyond the total, so that nothing is taken before its successor has
//! somewhere to go. Both are as large as these bounds allow. A larger step now never makes a later one smaller, so a move whose steps
//! become ready one after the other takes as few of them as possible.
//!
//! If the number of clusters is limited, a step may have to empty clusters to open others. Those with the fewest ready
//! replicas are emptied first, and those that get the most are opened first. Clusters in which replicas are not ready get further ones
//! after all others, because they may be broken.

use super::{Situation, Wait, clusters, sum};

/// A cluster that is to give replicas.
struct Giver {
    index: usize,
    current: i64,
    /// Replicas to give that are not ready.
    unready: i64,
    /// Replicas to give that are ready.
    ready: i64,
    is_leaving: bool,
}

/// A cluster that is to get replicas.
struct Taker {
    index: usize,
    /// Replicas that it can get.
    gets: i64,
    is_new: bool,
    /// True if it has replicas that are not ready, and so may be one in which none becomes ready.
    is_behind: bool,
}

/// A step: the clusters to empty, and the replicas to take and to give in all.
#[derive(Clone, Copy)]
struct Choice {
    emptied: usize,
    opened: usize,
    taken: i128,
    given: i128,
}

/// Writes the largest next step of a move to `next`, which then has one count per cluster. `ties` returns the key of the cluster at an
/// index; of clusters that are alike otherwise, the one with the smaller key changes first.
///
/// # Errors
///
/// The reason if no step is possible. `next` then has the present result. A move that is at its target has no step either.
pub fn step(situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy, next: &mut Vec<i64>) -> Result<(), Wait> {
    next.clear();
    next.extend_from_slice(situation.current);
    if advance(situation, ties, next) {
        return Ok(());
    }
    Err(obstacle(situation, ties))
}

/// The reason why no step is possible: the first obstacle without which one would be.
#[cold]
fn obstacle(situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy) -> Wait {
    let room = vec![i64::MAX; situation.len()];
    let ready = Situation {
        ready: situation.current,
        ..*situation
    };
    let roomy = Situation {
        room: &room,
        ..*situation
    };
    let unlimited = Situation {
        max_clusters: None,
        ..*situation
    };
    let both = Situation { room: &room, ..ready };
    let moves = |relaxed: &Situation<'_>| advance(relaxed, ties, &mut situation.current.to_vec());
    let reasons = [
        (ready, Wait::Readiness),
        (roomy, Wait::Room),
        (unlimited, Wait::Clusters),
        (both, Wait::Room),
    ];
    let reason = reasons.into_iter().find(|(relaxed, _)| moves(relaxed));
    reason.map_or(Wait::Allowance, |(_, wait)| wait)
}

/// Makes the largest step in `next`, which is the present result. False if there is none.
fn advance(situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy, next: &mut [i64]) -> bool {
    let (givers, takers) = sides(situation, ties);
    let budget = situation.kept_ready(situation.current) - situation.least_ready();
    let choice = choose(situation, &givers, &takers, budget);
    let (emptied, others) = givers.split_at(choice.emptied);
    let (mut taken, mut budget) = (choice.taken, budget);
    for giver in emptied {
        taken -= change(next, giver.index, -giver.current, i128::MAX);
        budget -= i128::from(giver.ready);
    }
    for giver in others {
        taken -= change(next, giver.index, -giver.unready, taken);
    }
    for giver in others {
        let ready = change(next, giver.index, -giver.ready, taken.min(budget));
        taken -= ready;
        budget -= ready;
    }
    let mut given = choice.given;
    let in_result = |is_behind: bool| {
        takers
            .iter()
            .filter(move |taker| !taker.is_new && taker.is_behind == is_behind)
    };
    let open = takers.iter().filter(|taker| taker.is_new).take(choice.opened);
    for taker in in_result(false).chain(open).chain(in_result(true)) {
        given -= change(next, taker.index, taker.gets, given);
    }
    next != situation.current
}

/// Changes a count by an amount of which at most `most` replicas count, and returns their number.
fn change(next: &mut [i64], index: usize, amount: i64, most: i128) -> i128 {
    let size = i64::try_from(most.max(0))
        .unwrap_or(i64::MAX)
        .min(amount.saturating_abs());
    let Some(count) = next.get_mut(index) else { return 0 };
    *count = count.saturating_add(if amount < 0 { -size } else { size });
    i128::from(size)
}

/// The clusters on both sides of a move, in the order in which they change.
fn sides(situation: &Situation<'_>, ties: impl Fn(usize) -> u64 + Copy) -> (Vec<Giver>, Vec<Taker>) {
    let (mut givers, mut takers) = (Vec::new(), Vec::new());
    let columns = situation.current.iter().zip(situation.target);
    let columns = columns.zip(situation.ready.iter().zip(situation.room));
    for (index, ((&current, &target), (&ready, &room))) in columns.enumerate() {
        if target < current {
            let ready = ready.clamp(0, current);
            givers.push(Giver {
                index,
                current,
                unready: current.saturating_sub(ready.max(target)),
                ready: ready.saturating_sub(target).max(0),
                is_leaving: target <= 0,
            });
        } else if target > current && room > 0 {
            takers.push(Taker {
                index,
                gets: target.saturating_sub(current).min(room),
                is_new: current <= 0,
                is_behind: ready < current,
            });
        }
    }
    givers.sort_by_cached_key(|giver| (!giver.is_leaving, giver.ready, giver.current, ties(giver.index)));
    takers.sort_by_cached_key(|taker| (taker.is_new, std::cmp::Reverse(taker.gets), ties(taker.index)));
    (givers, takers)
}

/// The largest step, and of several the one that empties the fewest clusters.
fn choose(situation: &Situation<'_>, givers: &[Giver], takers: &[Taker], budget: i128) -> Choice {
    let total = |counts: &mut dyn Iterator<Item = i64>| -> i128 { counts.map(i128::from).sum() };
    let current = sum(situation.current);
    let wanted = i128::from(situation.total).min(sum(situation.target));
    let excess = (current - wanted).max(0);
    let unready = total(&mut givers.iter().map(|giver| giver.unready));
    let ready = total(&mut givers.iter().map(|giver| giver.ready));
    let most_taken = unready + ready.min(budget);
    let in_result = total(&mut takers.iter().filter(|taker| !taker.is_new).map(|taker| taker.gets));
    let news: Vec<i64> = takers
        .iter()
        .filter(|taker| taker.is_new)
        .map(|taker| taker.gets)
        .collect();
    let step = |emptied: usize, opened: usize, forced: i128| {
        let room = in_result + total(&mut news.iter().take(opened).copied());
        let taken = most_taken.min(room + excess);
        let given = room.min(situation.most_replicas() - current + taken);
        (taken >= forced).then_some(Choice {
            emptied,
            opened,
            taken,
            given,
        })
    };
    let none = Choice {
        emptied: 0,
        opened: 0,
        taken: 0,
        given: 0,
    };
    let Some(limit) = situation.most_clusters() else {
        return step(0, news.len(), 0).unwrap_or(none);
    };
    let occupied = clusters(situation.current);
    let (mut best, mut forced, mut forced_ready) = (none, 0, 0);
    for emptied in 0..=givers.len() {
        let opened = limit.saturating_sub(occupied.saturating_sub(emptied)).min(news.len());
        if let Some(choice) = step(emptied, opened, forced)
            && choice.taken + choice.given > best.taken + best.given
        {
            best = choice;
        }
        let Some(giver) = givers
            .get(emptied)
            .filter(|giver| giver.is_leaving && opened < news.len())
        else {
            break;
        };
        forced += i128::from(giver.current);
        forced_ready += i128::from(giver.ready);
        if forced_ready > budget {
            break;
        }
    }
    best
}
