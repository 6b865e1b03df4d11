//! Memory that outlives a call, so a plugin does not allocate for every binding.
//!
//! A cycle over thousands of clusters must not allocate a column in each of its steps. A plugin is shared between
//! threads and so cannot own such columns; [`with_scratch`] keeps them per thread. It keeps memory, not state: a call
//! must not rely on contents from an earlier call, and the first call on a thread starts with `S::default()`.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// One value per type. Each plugin library has its own copy of the SDK, so the list stays at one or two values.
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept(Vec::new())) };
}

/// The values of a thread, dropped when the thread ends.
struct Kept(Vec<Box<dyn Any>>);

impl Drop for Kept {
    fn drop(&mut self) {
        for value in self.0.drain(..) {
            // A panic while a thread ends would abort the process.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                // Dropping the payload may panic again.
                std::mem::forget(payload);
            }
        }
    }
}

/// Runs `work` with this thread's value of type `S`, and keeps the value for the next call.
///
/// A nested call for the same type gets a value of its own. If `work` panics, the value is dropped.
///
/// ```
/// use divvy_framework::reuse::with_scratch;
///
/// let doubled = |values: &[i64]| {
///     with_scratch(|column: &mut Vec<i64>| {
///         column.clear();
///         column.extend(values.iter().map(|value| 2 * value));
///         column.iter().sum::<i64>()
///     })
/// };
/// assert_eq!(doubled(&[1, 2]), 6);
/// assert_eq!(doubled(&[3]), 6); // allocates nothing
/// ```
pub fn with_scratch<S: Default + 'static, T>(work: impl FnOnce(&mut S) -> T) -> T {
    let mut scratch = borrow::<S>();
    let result = work(&mut scratch);
    give_back(scratch);
    result
}

/// This thread's value of type `S`, for a part of a call that is not always run. Give it back afterwards.
pub(crate) fn borrow<S: Default + 'static>() -> Box<S> {
    take::<S>().unwrap_or_default()
}

/// Keeps a value for the next call.
pub(crate) fn give_back<S: 'static>(scratch: Box<S>) {
    // A thread that is shutting down has no later call to keep the value for.
    let _ = KEPT.try_with(|kept| kept.borrow_mut().0.push(scratch));
}

fn take<S: 'static>() -> Option<Box<S>> {
    KEPT.try_with(|kept| {
        let kept = &mut kept.borrow_mut().0;
        let index = kept.iter().position(|value| value.is::<S>())?;
        kept.swap_remove(index).downcast().ok()
    })
    .ok()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::with_scratch;

    /// A value that panics when it is dropped.
    #[derive(Default)]
    struct Bomb(Option<Box<u8>>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("the memory panicked in its destructor");
        }
    }

    /// Without the guard, this aborts the process that runs the tests.
    #[test]
    fn a_panic_while_a_thread_ends_stays_in_the_thread() {
        let thread = std::thread::spawn(|| {
            with_scratch(|bomb: &mut Bomb| bomb.0 = Some(Box::new(1)));
            with_scratch(|column: &mut Vec<u8>| column.push(1));
        });
        assert!(thread.join().is_ok());
    }

    #[test]
    fn a_value_is_kept_and_a_nested_call_gets_its_own() {
        let address = || {
            with_scratch(|column: &mut Vec<u8>| {
                column.reserve(64);
                column.as_ptr() as usize
            })
        };
        let first = address();
        assert_eq!(address(), first);
        with_scratch(|outer: &mut Vec<u8>| {
            assert_ne!(address(), first);
            assert_eq!(outer.as_ptr() as usize, first);
        });
    }
}
