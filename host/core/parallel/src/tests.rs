//! Order, bounds, errors and panics, on any number of threads.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn count(threads: usize) -> NonZeroUsize {
    NonZeroUsize::new(threads).expect("the number is not zero")
}

#[test]
fn results_come_in_the_order_of_the_items() {
    for length in [0, 1, 2, AHEAD, BLOCK, BLOCK + 1, 1_000] {
        let items: Vec<usize> = (0..length).collect();
        let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
        for threads in (1..5).map(count) {
            let double = || |item: usize| item * 2;
            assert_eq!(collect(items.iter().copied(), threads, double), expected);
            assert_eq!(collect(std::iter::from_fn(counted(length)), threads, double), expected);
            let double = || |item: &usize| item * 2;
            assert_eq!(map(&items, threads, double), expected);
            let mut taken = Vec::new();
            let done = each(&items, threads, double, |result| {
                taken.push(result);
                Ok::<(), ()>(())
            });
            assert_eq!((done, taken), (Ok(()), expected.clone()));
        }
    }
}

/// The numbers up to `length`, as an iterator whose length is unknown.
fn counted(length: usize) -> impl FnMut() -> Option<usize> {
    let mut numbers = 0..length;
    move || numbers.next()
}

#[test]
fn many_items_are_handed_over_in_large_blocks() {
    for (length, expected) in [(MANY - 1, BLOCK), (MANY, LARGE_BLOCK)] {
        let items = vec![(); length];
        let mut longest = 0;
        let done = in_blocks(
            &items,
            count(4),
            || |block: &[()]| block.len(),
            |length| {
                longest = longest.max(length);
                Ok::<(), ()>(())
            },
        );
        assert_eq!((done, longest), (Ok(()), expected));
    }
}

#[test]
fn an_error_ends_the_work() {
    for threads in (1..5).map(count) {
        let (made, mut taken) = (AtomicUsize::new(0), 0);
        let items = (0..).inspect(|_| _ = made.fetch_add(1, Ordering::Relaxed));
        let done = in_order(
            items,
            threads,
            || |item: usize| item,
            |result| {
                taken += 1;
                if result == 40 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((done, taken), (Err("enough"), 41));
        assert!(made.into_inner() <= 41 + AHEAD * threads.get());
    }
}

/// Neither items nor results pile up while the caller is slow.
#[test]
fn few_items_are_under_way() {
    let threads = count(4);
    let (begun, mut taken) = (AtomicUsize::new(0), 0);
    let worker = || {
        |item: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            item
        }
    };
    let done = in_order(0..1_000, threads, worker, |_| {
        taken += 1;
        let ahead = begun.load(Ordering::SeqCst) + 1 - taken;
        if ahead > AHEAD * threads.get() {
            Err(ahead)
        } else {
            Ok(())
        }
    });
    assert_eq!(done, Ok(()));
}

#[test]
fn a_thread_has_one_worker() {
    let workers = AtomicUsize::new(0);
    let used = Mutex::new(BTreeSet::new());
    let worker = || {
        let number = workers.fetch_add(1, Ordering::Relaxed);
        let used = &used;
        move |_: usize| _ = used.lock().expect("no thread panics").insert(number)
    };
    collect(0..1_000, count(3), worker);
    assert_eq!(workers.load(Ordering::Relaxed), 3);
    assert_eq!(used.lock().expect("no thread panics").len(), 3);
}

#[test]
fn no_more_threads_are_started_than_there_are_items() {
    for (length, expected) in [(1, 1), (2, 2), (3, 3), (9, 4)] {
        let workers = AtomicUsize::new(0);
        let worker = || {
            workers.fetch_add(1, Ordering::Relaxed);
            |item: usize| item
        };
        collect(0..length, count(4), worker);
        assert_eq!(workers.into_inner(), expected, "{length} items");
    }
}

#[test]
fn a_single_item_is_worked_on_by_the_caller() {
    let here = std::thread::current().id();
    let ids = collect([0], count(4), || |_| std::thread::current().id());
    assert_eq!(ids, [here]);
    let ids = collect(0..9, NonZeroUsize::MIN, || |_| std::thread::current().id());
    assert!(ids.iter().all(|id| *id == here));
}

#[test]
fn the_caller_works_on_the_first_of_few_items() {
    let here = std::thread::current().id();
    let ids = collect(0..4, count(4), || |_| std::thread::current().id());
    assert_eq!((ids.len(), ids[0]), (4, here));
    assert!(ids[1..].iter().all(|id| *id != here));
    let taken = Mutex::new(Vec::new());
    let done = in_order(
        0..4,
        count(4),
        || |item: usize| item,
        |item| {
            taken.lock().expect("no thread panics").push(item);
            if item == 1 { Err("enough") } else { Ok(()) }
        },
    );
    assert_eq!(
        (done, taken.into_inner().expect("no thread panics")),
        (Err("enough"), vec![0, 1])
    );
}

#[test]
#[should_panic(expected = "item 2")]
fn a_panic_in_one_of_few_threads_reaches_the_caller() {
    let work = |item: usize| if item == 2 { panic!("item {item}") } else { item };
    collect(0..3, count(4), || work);
}

#[test]
#[should_panic(expected = "item 500")]
fn a_panic_in_a_thread_reaches_the_caller() {
    let work = |item: usize| if item == 500 { panic!("item {item}") } else { item };
    collect(0..100_000, count(4), || work);
}

#[test]
#[should_panic(expected = "enough")]
fn a_panic_of_the_caller_ends_the_threads() {
    let _done: Result<(), ()> = in_order(
        0..,
        count(4),
        || |item: usize| item,
        |item| match item {
            100 => panic!("enough"),
            _ => Ok(()),
        },
    );
}
