//! Independent work on all cores, with results in the order of the input.

use std::num::NonZeroUsize;

/// Maps every item, on up to `threads` threads. Each thread makes one worker with `worker` and calls it for a contiguous
/// part of the items, so the results do not depend on the number of threads if a call depends on its item alone.
pub(crate) fn map<T: Sync, R: Send, W: FnMut(&T) -> R>(
    items: &[T],
    threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(threads.get()).max(1);
    if threads.get() == 1 || items.len() <= 1 {
        return items.iter().map(worker()).collect();
    }
    std::thread::scope(|scope| {
        let parts = items.chunks(share);
        let started: Vec<_> = parts
            .map(|part| {
                let worker = &worker;
                scope.spawn(move || part.iter().map(worker()).collect::<Vec<R>>())
            })
            .collect();
        let joined = started.into_iter().map(|thread| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}
