//! Work on all cores whose results are used in order, while its items are still being made.

use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;

/// Items per thread that wait for it, are worked on or wait for the caller.
const AHEAD: usize = 3;

/// Works on the items of `next` until there are no more, on up to `threads` threads, and passes the results to `take` in the
/// order of the items. Ends earlier if `take` returns false. No thread is started for a single item.
pub(super) fn in_order<T: Send, R: Send>(
    threads: NonZeroUsize,
    mut next: impl FnMut() -> Option<T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> bool,
) {
    let Some(first) = next() else { return };
    let second = next();
    if threads.get() == 1 || second.is_none() {
        let mut items = [Some(first), second].into_iter().flatten();
        while let Some(item) = items.next().or_else(&mut next) {
            if !take(work(item)) {
                return;
            }
        }
        return;
    }
    std::thread::scope(|scope| {
        let work = &work;
        let lanes: Vec<_> = (0..threads.get())
            .map(|_| {
                let (sender, items) = sync_channel::<T>(AHEAD);
                let (results, receiver) = sync_channel::<R>(AHEAD);
                // The caller takes nothing more after it was told to end.
                scope.spawn(move || items.into_iter().try_for_each(|item| results.send(work(item))));
                (sender, receiver)
            })
            .collect();
        let lane = |number: usize| &lanes[number % lanes.len()];
        let mut waiting = [Some(first), second].into_iter().flatten();
        let (mut sent, mut taken) = (0, 0);
        loop {
            let item = waiting.next().or_else(&mut next);
            let is_last = item.is_none();
            // A thread that panicked takes and sends nothing more; the scope panics, too.
            if let Some(item) = item {
                if lane(sent).0.send(item).is_err() {
                    return;
                }
                sent += 1;
            }
            while taken < sent && (is_last || sent - taken >= AHEAD * lanes.len()) {
                let Ok(result) = lane(taken).1.recv() else { return };
                taken += 1;
                if !take(result) {
                    return;
                }
            }
            if is_last {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("the count is not zero")
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [0, 1, 2, AHEAD, 1_000] {
            for number in 1..4 {
                let mut items = 0..count;
                let mut taken = Vec::new();
                in_order(
                    threads(number),
                    || items.next(),
                    |item| item * 2,
                    |result| {
                        taken.push(result);
                        true
                    },
                );
                assert_eq!(taken, (0..count).map(|item| item * 2).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_caller_ends_the_work() {
        for number in 1..4 {
            let mut taken = 0;
            let take = |result| {
                taken += 1;
                result != 40
            };
            in_order(threads(number), || Some(40), |item: usize| item, take);
            assert_eq!(taken, 1);
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_in_a_thread_reaches_the_caller() {
        let mut items = 0..1_000;
        let work = |item: usize| if item == 500 { panic!("item {item}") } else { item };
        in_order(threads(2), || items.next(), work, |_| true);
    }
}
