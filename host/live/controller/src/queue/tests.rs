//! Order, backoff and waking, as tables of steps with an injected clock.

use std::time::{Duration, Instant};

use super::{Depth, Queue};

/// One step on the queue.
enum Step {
    /// Adds a binding with a priority.
    Add(&'static str, i32),
    /// Wakes a binding.
    Wake(&'static str),
    /// Wakes parked bindings with this cause, and expects their number.
    WakeParked(u8, usize),
    /// Takes out a binding and expects this one, or none.
    Take(Option<&'static str>),
    /// Ends the decision.
    Done(&'static str),
    /// Fails, and expects this wait in seconds.
    Retry(&'static str, u64),
    /// Fails with this cause until an event.
    Park(&'static str, u8),
    /// Lets this many seconds pass.
    Pass(u64),
    /// Expects these numbers of active, waiting and parked bindings.
    Depth(usize, usize, usize),
}

use Step::{Add, Done, Park, Pass, Retry, Take, Wake, WakeParked};

#[track_caller]
fn check(steps: &[Step]) {
    let mut queue: Queue<&'static str, u8> = Queue::default();
    let mut now = Instant::now();
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Add(key, priority) => queue.add(&key, priority, now),
            Wake(key) => queue.wake(&key, 0, now),
            WakeParked(cause, expected) => {
                let parked = queue.parked().filter(|(_, own)| *own == cause);
                let woken: Vec<&str> = parked.map(|(key, _)| *key).collect();
                assert_eq!(woken.len(), expected, "step {number}");
                for key in &woken {
                    queue.wake_if_parked(key, now);
                }
            }
            Take(expected) => {
                let taken = queue.take(now).map(|taken| taken.key);
                assert_eq!(taken, expected, "step {number}");
            }
            Done(key) => queue.done(&key),
            Retry(key, expected) => {
                let wait = queue.retry(&key, 0, now);
                assert_eq!(wait, Duration::from_secs(expected), "step {number}");
            }
            Park(key, cause) => queue.park(&key, 0, cause, now),
            Pass(seconds) => now += Duration::from_secs(seconds),
            Step::Depth(active, backoff, parked) => {
                let expected = Depth {
                    active,
                    backoff,
                    parked,
                };
                assert_eq!(queue.depth(), expected, "step {number}");
            }
        }
    }
}

#[test]
fn the_highest_priority_goes_first_then_the_first_to_arrive() {
    check(&[
        Add("a", 0),
        Add("b", 5),
        Add("c", 0),
        Add("d", 5),
        Take(Some("b")),
        Take(Some("d")),
        Take(Some("a")),
        Take(Some("c")),
        Take(None),
    ]);
}

#[test]
fn a_binding_that_is_added_again_keeps_its_turn() {
    check(&[
        Add("a", 0),
        Add("b", 0),
        Add("a", 0),
        Take(Some("a")),
        Take(Some("b")),
        Take(None),
    ]);
    check(&[
        Add("a", 0),
        Add("b", 0),
        Add("b", 1),
        Take(Some("b")),
        Take(Some("a")),
        Take(None),
    ]);
}

#[test]
fn the_wait_doubles_from_one_second_to_ten() {
    check(&[
        Add("a", 0),
        Take(Some("a")),
        Retry("a", 1),
        Take(None),
        Pass(1),
        Take(Some("a")),
        Retry("a", 2),
        Pass(1),
        Take(None),
        Pass(1),
        Take(Some("a")),
        Retry("a", 4),
        Pass(4),
        Take(Some("a")),
        Retry("a", 8),
        Pass(8),
        Take(Some("a")),
        Retry("a", 10),
        Pass(10),
        Take(Some("a")),
        Retry("a", 10),
    ]);
}

#[test]
fn success_and_a_changed_binding_forget_the_failures() {
    check(&[
        Add("a", 0),
        Take(Some("a")),
        Retry("a", 1),
        Pass(1),
        Take(Some("a")),
        Done("a"),
        Add("a", 0),
        Take(Some("a")),
        Retry("a", 1),
        Add("a", 0),
        Take(Some("a")),
        Retry("a", 1),
    ]);
}

#[test]
fn an_event_wakes_only_what_it_can_help() {
    check(&[
        Add("a", 0),
        Add("b", 0),
        Take(Some("a")),
        Park("a", 1),
        Take(Some("b")),
        Park("b", 2),
        Step::Depth(0, 0, 2),
        Pass(2),
        WakeParked(2, 1),
        Take(Some("b")),
        Take(None),
        Step::Depth(0, 0, 1),
    ]);
}

#[test]
fn a_woken_binding_waits_for_the_rest_of_its_backoff() {
    check(&[
        Add("a", 0),
        Take(Some("a")),
        Park("a", 1),
        WakeParked(1, 1),
        Take(None),
        Step::Depth(0, 1, 0),
        Pass(1),
        Take(Some("a")),
    ]);
}

#[test]
fn parked_bindings_are_flushed_after_five_minutes() {
    check(&[
        Add("a", 0),
        Take(Some("a")),
        Park("a", 1),
        Pass(299),
        Take(None),
        Pass(1),
        Take(Some("a")),
    ]);
}

#[test]
fn waking_does_not_shorten_a_backoff() {
    check(&[
        Add("a", 0),
        Take(Some("a")),
        Retry("a", 1),
        Wake("a"),
        Take(None),
        Pass(1),
        Take(Some("a")),
        Done("a"),
        Wake("a"),
        Take(Some("a")),
    ]);
}

#[test]
fn the_next_due_time_is_the_earliest() {
    let now = Instant::now();
    let mut queue: Queue<&str, u8> = Queue::default();
    assert_eq!(queue.next_due(), None);
    queue.park(&"a", 0, 1, now);
    assert_eq!(queue.next_due(), Some(now + super::PARKED_MAX));
    queue.retry(&"b", 0, now);
    assert_eq!(queue.next_due(), Some(now + super::BACKOFF_MIN));
}
