//! Independent work on all cores whose results are used in order.
//!
//! One function does it, [`in_order`]: threads take the items in turn, and the caller gets the results in the order of the items, a
//! few of them ahead. The others shape its items: [`in_blocks`] and [`each`] cut a slice into blocks, [`map`] into one share per
//! thread, and [`collect`] keeps the results.
//!
//! Threads are started for each call and end with it. A call does milliseconds of work at least, and a pool of the process, such as
//! rayon's, would neither bound the results that wait nor drop what a plugin keeps per thread. `docs/decisions/0012-parallel-map.md`
//! weighs the crates that do parts of this.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;

/// Items per thread that wait for it, are worked on or wait for the caller.
const AHEAD: usize = 3;

/// Items in a block. Handing over should cost nothing; but few results should wait, because a single one may take a megabyte.
const BLOCK: usize = 8;
/// The same if there are so many items that their results must be small.
const LARGE_BLOCK: usize = 256;
/// Items from which blocks are large.
const MANY: usize = 50_000;

/// Threads for independent work. Their number does not affect any result.
pub fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Works on items on up to `threads` threads, and passes the results to `take` in the order of the items. At most three items per
/// thread are under way, so that neither items nor results pile up: `items` is advanced by the caller's thread, while others work.
///
/// Each thread makes one worker and calls it for its items, so the results do not depend on the number of threads if a call depends
/// on its item alone. No thread is started for a single item or if `threads` is one. If there are no more items than threads, the
/// caller works on the first of them, with the memory that it has freed before. A panic of a worker continues in the caller.
///
/// # Errors
///
/// The first error of `take`. No result is passed to it after that, and no further item is taken.
pub fn in_order<T: Send, R: Send, W: FnMut(T) -> R, E>(
    items: impl IntoIterator<Item = T>,
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let mut items = items.into_iter().fuse();
    let Some(first) = items.next() else { return Ok(()) };
    let second = items.next();
    let count_max = items.size_hint().1.map_or(usize::MAX, |rest| rest.saturating_add(2));
    let threads = threads.get();
    let is_single = second.is_none();
    let items = [Some(first), second].into_iter().flatten().chain(items);
    if threads == 1 || is_single {
        return items.map(worker()).try_for_each(take);
    }
    if count_max <= threads {
        return at_once(items, worker, take);
    }
    std::thread::scope(|scope| {
        let (mut lanes, mut started) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (sender, waiting) = sync_channel::<T>(AHEAD);
            let (results, receiver) = sync_channel::<R>(AHEAD);
            let worker = &worker;
            lanes.push((sender, receiver));
            started.push(scope.spawn(move || {
                // The caller takes nothing more after an error.
                let _ended = waiting
                    .into_iter()
                    .map(worker())
                    .try_for_each(|result| results.send(result));
            }));
        }
        let done = distribute(items, &lanes, &mut take);
        // Threads that wait for the caller end.
        drop(lanes);
        for thread in started {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        done
    })
}

/// As [`in_order`], with a thread for every item but the first, which the caller works on.
fn at_once<T: Send, R: Send, W: FnMut(T) -> R, E>(
    mut items: impl Iterator<Item = T>,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let Some(first) = items.next() else { return Ok(()) };
    std::thread::scope(|scope| {
        let worker = &worker;
        let others: Vec<_> = items.map(|item| scope.spawn(move || worker()(item))).collect();
        let mut done = take(worker()(first));
        for other in others {
            match other.join() {
                Ok(result) if done.is_ok() => done = take(result),
                Ok(_) => {}
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// Ends of the channels to one thread and from it.
type Lane<T, R> = (std::sync::mpsc::SyncSender<T>, std::sync::mpsc::Receiver<R>);

/// Hands items to the threads in turn, and takes their results in the same order. Ends early if a thread does, which only a panic
/// makes it do.
fn distribute<T, R, E>(
    mut items: impl Iterator<Item = T>,
    lanes: &[Lane<T, R>],
    take: &mut impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let lane = |number: usize| &lanes[number % lanes.len()];
    let (mut sent, mut taken) = (0, 0);
    loop {
        let item = items.next();
        let is_last = item.is_none();
        if let Some(item) = item {
            if lane(sent).0.send(item).is_err() {
                return Ok(());
            }
            sent += 1;
        }
        while taken < sent && (is_last || sent - taken >= AHEAD * lanes.len()) {
            let Ok(result) = lane(taken).1.recv() else {
                return Ok(());
            };
            taken += 1;
            take(result)?;
        }
        if is_last {
            return Ok(());
        }
    }
}

/// As [`in_order`], for the consecutive items of a slice: a worker makes one result of each block.
///
/// # Errors
///
/// The first error of `take`. No result is passed to it after that.
pub fn in_blocks<'a, T: Sync, R: Send, W: FnMut(&'a [T]) -> R, E>(
    items: &'a [T],
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let length = if items.len() < MANY { BLOCK } else { LARGE_BLOCK };
    in_order(items.chunks(length), threads, worker, take)
}

/// As [`in_order`], for the items of a slice, which are handed over in blocks.
///
/// # Errors
///
/// The first error of `take`. No result is passed to it after that.
pub fn each<'a, T: Sync, R: Send, W: FnMut(&'a T) -> R, E>(
    items: &'a [T],
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let worker = || {
        let mut work = worker();
        move |block: &'a [T]| -> Vec<R> { block.iter().map(&mut work).collect() }
    };
    in_blocks(items, threads, worker, |results| {
        results.into_iter().try_for_each(&mut take)
    })
}

/// Maps every item of a slice. Each thread maps one contiguous share, which suits workers that know the neighbours of an item.
pub fn map<'a, T: Sync, R: Send, W: FnMut(&'a T) -> R>(
    items: &'a [T],
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(threads.get()).max(1);
    let worker = || {
        let mut work = worker();
        move |share: &'a [T]| -> Vec<R> { share.iter().map(&mut work).collect() }
    };
    let mut shares = collect(items.chunks(share), threads, worker);
    match shares.len() {
        // Of one share, the results are not moved.
        1 => shares.swap_remove(0),
        _ => shares.into_iter().flatten().collect(),
    }
}

/// As [`in_order`], with the results in memory.
pub fn collect<T: Send, R: Send, W: FnMut(T) -> R>(
    items: impl IntoIterator<Item = T>,
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
) -> Vec<R> {
    let mut results = Vec::new();
    let Ok(()) = in_order(items, threads, worker, |result| {
        results.push(result);
        Ok::<(), Infallible>(())
    });
    results
}

#[cfg(test)]
mod tests;
