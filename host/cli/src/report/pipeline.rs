//! Independent work on all cores whose results are used in order, without all of them being in memory at once.
//!
//! Each thread takes every n-th block of the items and hands its results over a channel that holds few blocks, so that threads
//! wait for the caller where it is slower than they are.

use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;

/// Items that one thread works on before it hands over. Handing over should cost nothing; but few results should wait, because
/// a single one may take a megabyte.
const BLOCK: usize = 8;
/// The same if there are so many items that their results must be small.
const LARGE_BLOCK: usize = 256;
/// Items from which blocks are large.
const MANY: usize = 50_000;
/// Finished blocks that wait for the caller, per thread.
const WAITING: usize = 2;

pub(crate) use divvy_forecast::threads;

/// Maps every item on up to `threads` threads, and passes the results to `take` in the order of the items. Each thread makes one
/// worker and calls it for its items, so the results do not depend on the number of threads if a call depends on its item
/// alone.
///
/// # Errors
///
/// The first error of `take`. No result is passed to it after that.
pub(crate) fn in_order<T: Sync, R: Send, W: FnMut(&T) -> R, E>(
    items: &[T],
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let worker = || {
        let mut work = worker();
        move |block: &[T]| -> Vec<R> { block.iter().map(&mut work).collect() }
    };
    in_blocks(items, threads, worker, |results| {
        results.into_iter().try_for_each(&mut take)
    })
}

/// As [`in_order`], for workers that make one result of consecutive items.
///
/// # Errors
///
/// The first error of `take`. No result is passed to it after that.
pub(crate) fn in_blocks<T: Sync, R: Send, W: FnMut(&[T]) -> R, E>(
    items: &[T],
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let block_length = if items.len() < MANY { BLOCK } else { LARGE_BLOCK };
    let threads = threads.get().min(items.len().div_ceil(block_length));
    if threads <= 1 {
        return items.chunks(block_length).map(worker()).try_for_each(take);
    }
    std::thread::scope(|scope| {
        let (mut receivers, mut started) = (Vec::new(), Vec::new());
        for number in 0..threads {
            let (sender, receiver) = sync_channel::<R>(WAITING);
            let worker = &worker;
            receivers.push(receiver);
            started.push(scope.spawn(move || {
                let mut work = worker();
                for block in items.chunks(block_length).skip(number).step_by(threads) {
                    // The caller takes nothing more after an error.
                    if sender.send(work(block)).is_err() {
                        return;
                    }
                }
            }));
        }
        let blocks = items.len().div_ceil(block_length);
        let mut taken = Ok(());
        for block in 0..blocks {
            // A thread that panicked sends nothing more.
            let Ok(result) = receivers[block % threads].recv() else {
                break;
            };
            taken = take(result);
            if taken.is_err() {
                break;
            }
        }
        // Threads that wait for the caller end.
        drop(receivers);
        for thread in started {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        taken
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four() -> NonZeroUsize {
        NonZeroUsize::new(4).expect("four is not zero")
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [0, 1, BLOCK, BLOCK + 1, 1_000] {
            let items: Vec<usize> = (0..count).collect();
            let mut taken = Vec::new();
            let done = in_order(
                &items,
                four(),
                || |item: &usize| item * 2,
                |result| {
                    taken.push(result);
                    Ok::<(), ()>(())
                },
            );
            assert_eq!(done, Ok(()));
            assert_eq!(taken, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let items: Vec<usize> = (0..100_000).collect();
        let mut taken = 0;
        let done = in_order(
            &items,
            four(),
            || |item: &usize| *item,
            |result| {
                taken += 1;
                if result == 40 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((done, taken), (Err("enough"), 41));
    }

    #[test]
    #[should_panic(expected = "item 500")]
    fn a_panic_in_a_thread_reaches_the_caller() {
        let items: Vec<usize> = (0..100_000).collect();
        let work = |item: &usize| if *item == 500 { panic!("item {item}") } else { *item };
        let _done = in_order(&items, four(), || work, |_| Ok::<(), ()>(()));
    }
}
