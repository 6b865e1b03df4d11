//! Independent work on all cores whose results are used in order.
//!
//! The core is [`in_order`]: threads take the items in turn, working a few items ahead, and the caller gets the results in the order
//! of the items. The other functions shape its items: [`in_blocks`] and [`each`] cut a slice into blocks, [`map`] into one share per
//! thread, and [`collect`] keeps the results.
//!
//! Threads are started for each call and end with it. A call does at least milliseconds of work, and a pool of the process, such as
//! rayon's, would neither bound the number of waiting results nor drop what a plugin keeps per thread.
//! `docs/decisions/0012-parallel-map.md` weighs the crates that do parts of this.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;

/// Items per thread that wait for it, are being worked on, or wait for the caller.
const AHEAD: usize = 3;

/// Items per block. Larger blocks cost less to hand over; in smaller ones fewer results wait, and a single result may take a megabyte.
const BLOCK: usize = 8;
/// Items per block if there are so many items that their results must be small.
const LARGE_BLOCK: usize = 256;
/// Number of items from which blocks are large.
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
/// caller works on the first of them, so that it can reuse memory that it has freed. A panic of a worker continues in the caller.
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
                // Sending fails if the caller has stopped after an error.
                let _ended = waiting
                    .into_iter()
                    .map(worker())
                    .try_for_each(|result| results.send(result));
            }));
        }
        let done = distribute(items, &lanes, &mut take);
        // Ends the threads that wait for the caller.
        drop(lanes);
        for thread in started {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        done
    })
}

/// Like [`in_order`], with a thread for every item but the first, which the caller works on.
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

/// The caller's ends of the channels to and from one thread.
type Lane<T, R> = (std::sync::mpsc::SyncSender<T>, std::sync::mpsc::Receiver<R>);

/// Hands items to the threads in turn, and takes their results in the same order. Ends early if a thread panics.
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

/// Like [`in_order`], for blocks of consecutive items of a slice: a worker makes one result per block.
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

/// Like [`in_order`], for the items of a slice, which are handed over in blocks.
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
        // The results of a single share need not be moved.
        1 => shares.swap_remove(0),
        _ => shares.into_iter().flatten().collect(),
    }
}

/// Like [`in_order`], but returns the results as a list.
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
