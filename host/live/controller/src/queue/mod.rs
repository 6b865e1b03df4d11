//! The queue of bindings that wait for a decision, modelled on kube-scheduler's.
//!
//! A binding is in one of three parts. *Active* bindings are decided next, the highest priority first, then in the order of
//! their arrival. Bindings *back off* if their last attempt failed for a reason that may pass with time; the wait doubles
//! from one second to ten. *Parked* bindings fail until something else changes; an event wakes those whose cause it may have
//! removed, and after five minutes each is tried again.
//!
//! The queue reads no clock: every method that depends on time takes it. It knows only the keys of bindings and the causes
//! of failures, whose type the caller chooses.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Wait after the first failure.
pub(crate) const BACKOFF_MIN: Duration = Duration::from_secs(1);
/// Maximum wait after a failure.
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// Time after which a parked binding is tried again without an event.
pub(crate) const PARKED_MAX: Duration = Duration::from_secs(300);

/// The wait after a number of failures in a row: `first`, doubled with each further one, and `longest` at most.
pub(crate) fn doubled(first: Duration, failures: u32, longest: Duration) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    first.saturating_mul(1 << doublings).min(longest)
}

/// Bindings that wait for a decision.
#[derive(Debug)]
pub(crate) struct Queue<K, Cause> {
    entries: HashMap<K, Entry<Cause>>,
    active: BTreeSet<(Reverse<i32>, u64, K)>,
    /// Due times of the bindings that back off.
    backoff: BTreeSet<(Instant, u64, K)>,
    /// Times at which the parked bindings are flushed.
    parked: BTreeSet<(Instant, u64, K)>,
    arrivals: u64,
}

#[derive(Debug)]
struct Entry<Cause> {
    state: State<Cause>,
    priority: i32,
    arrival: u64,
    /// Time of arrival in the active part.
    since: Instant,
    /// Consecutive failed attempts.
    attempts: u32,
    /// End of the wait after the last failure.
    ready: Instant,
}

impl<Cause: Copy> Entry<Cause> {
    fn cause(&self) -> Option<Cause> {
        match self.state {
            State::Parked(_, cause) => Some(cause),
            State::Active | State::Backoff(_) | State::Taken => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State<Cause> {
    Active,
    Backoff(Instant),
    Parked(Instant, Cause),
    /// Taken out for a decision that has not ended.
    Taken,
}

/// A binding that was taken out for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken<K> {
    /// Key of the binding.
    pub(crate) key: K,
    /// Time since it became active.
    pub(crate) waited: Duration,
    /// Failed attempts before this one.
    pub(crate) attempts: u32,
}

/// Number of bindings in each part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// Bindings that are decided next.
    pub active: usize,
    /// Bindings that wait after a failure.
    pub backoff: usize,
    /// Bindings that wait for an event.
    pub parked: usize,
}

impl<K, Cause> Default for Queue<K, Cause> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            active: BTreeSet::new(),
            backoff: BTreeSet::new(),
            parked: BTreeSet::new(),
            arrivals: 0,
        }
    }
}

impl<K: Clone + Ord + Hash, Cause: Copy> Queue<K, Cause> {
    /// Makes a binding active at once and forgets its failures, because the binding itself changed.
    ///
    /// A binding that is active already keeps its turn within its priority. One that is [taken](Self::take) is
    /// active again after this call; the caller must not call it while a decision is under way.
    pub(crate) fn add(&mut self, key: &K, priority: i32, now: Instant) {
        self.detach(key);
        let arrival = match self.entries.get(key) {
            Some(entry) if matches!(entry.state, State::Active) => entry.arrival,
            _ => self.next_arrival(),
        };
        let since = match self.entries.get(key) {
            Some(entry) if matches!(entry.state, State::Active) => entry.since,
            _ => now,
        };
        let entry = Entry {
            state: State::Active,
            priority,
            arrival,
            since,
            attempts: 0,
            ready: now,
        };
        self.active.insert((Reverse(priority), arrival, key.clone()));
        self.entries.insert(key.clone(), entry);
    }

    /// Wakes a binding because something around it changed. Its failures are kept: if it is still backing off, it stays so,
    /// and a parked one waits for the rest of its backoff.
    pub(crate) fn wake(&mut self, key: &K, priority: i32, now: Instant) {
        match self.entries.get(key).map(|entry| (entry.state, entry.ready)) {
            Some((State::Active | State::Backoff(_) | State::Taken, _)) => {}
            Some((State::Parked(..), ready)) => self.unpark(key, ready, now),
            None => self.add(key, priority, now),
        }
    }

    /// Wakes one binding as [`Self::wake`] does, but only if it is parked.
    pub(crate) fn wake_if_parked(&mut self, key: &K, now: Instant) {
        let parked = self.entries.get(key).filter(|entry| entry.cause().is_some());
        if let Some(ready) = parked.map(|entry| entry.ready) {
            self.unpark(key, ready, now);
        }
    }

    /// The parked bindings with their causes, in the order in which they are flushed.
    pub(crate) fn parked(&self) -> impl Iterator<Item = (&K, Cause)> {
        let parked = self.parked.iter();
        parked.filter_map(|(_, _, key)| Some((key, self.cause(key)?)))
    }

    /// The cause for which a binding is parked; `None` if it is not.
    pub(crate) fn cause(&self, key: &K) -> Option<Cause> {
        self.entries.get(key)?.cause()
    }

    /// Takes out the next active binding. Bindings whose wait has ended become active first.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Taken<K>> {
        self.advance(now);
        let (_, _, key) = self.active.pop_first()?;
        let entry = self.entries.get_mut(&key)?;
        entry.state = State::Taken;
        let taken = Taken {
            waited: now.saturating_duration_since(entry.since),
            attempts: entry.attempts,
            key,
        };
        Some(taken)
    }

    /// Ends a decision for good: the binding leaves the queue.
    pub(crate) fn done(&mut self, key: &K) {
        self.detach(key);
        self.entries.remove(key);
    }

    /// Ends a decision that failed for a reason that may pass with time: the binding backs off. Returns the wait.
    pub(crate) fn retry(&mut self, key: &K, priority: i32, now: Instant) -> Duration {
        let wait = self.fail(key, priority, now);
        let due = now + wait;
        self.put_into_backoff(key, due);
        wait
    }

    /// Puts off a decision for a short while, which does not count as a failure.
    pub(crate) fn postpone(&mut self, key: &K, wait: Duration, now: Instant) {
        self.detach(key);
        self.put_into_backoff(key, now + wait);
    }

    /// Ends a decision that failed until an event removes the cause: the binding is parked with that cause.
    pub(crate) fn park(&mut self, key: &K, priority: i32, cause: Cause, now: Instant) {
        self.fail(key, priority, now);
        let flush = now + PARKED_MAX;
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::Parked(flush, cause);
            self.parked.insert((flush, entry.arrival, key.clone()));
        }
    }

    /// Ends a decision that is made again after a wait, or after an event that removes the cause. It does not count as a failure.
    pub(crate) fn pause(&mut self, key: &K, cause: Cause, wait: Duration, now: Instant) {
        self.detach(key);
        let due = now + wait;
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::Parked(due, cause);
            entry.ready = now;
            self.parked.insert((due, entry.arrival, key.clone()));
        }
    }

    /// Time at which a waiting binding becomes active; `None` if none waits.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let first = |set: &BTreeSet<(Instant, u64, K)>| set.first().map(|(due, _, _)| *due);
        first(&self.backoff).into_iter().chain(first(&self.parked)).min()
    }

    /// The bindings in the queue and those that were taken and not returned, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.keys()
    }

    /// True if a binding is in the queue, or has been taken and not returned.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// True if a binding has been taken and not returned.
    pub(crate) fn is_taken(&self, key: &K) -> bool {
        self.entries
            .get(key)
            .is_some_and(|entry| matches!(entry.state, State::Taken))
    }

    /// True if a binding is ready to be decided.
    pub(crate) fn has_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// Number of bindings in each part.
    pub(crate) fn depth(&self) -> Depth {
        Depth {
            active: self.active.len(),
            backoff: self.backoff.len(),
            parked: self.parked.len(),
        }
    }

    /// Time for which the next active binding has waited; zero if there is none.
    pub(crate) fn head_age(&self, now: Instant) -> Duration {
        let head = self.active.first().and_then(|(_, _, key)| self.entries.get(key));
        head.map_or(Duration::ZERO, |entry| now.saturating_duration_since(entry.since))
    }

    /// Makes every binding active whose wait has ended.
    fn advance(&mut self, now: Instant) {
        while let Some((due, _, _)) = self.backoff.first()
            && *due <= now
            && let Some((_, _, key)) = self.backoff.pop_first()
        {
            self.activate(&key, now);
        }
        while let Some((due, _, _)) = self.parked.first()
            && *due <= now
            && let Some((_, _, key)) = self.parked.pop_first()
        {
            self.activate(&key, now);
        }
    }

    fn activate(&mut self, key: &K, now: Instant) {
        let arrival = self.next_arrival();
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::Active;
            entry.since = now;
            entry.arrival = arrival;
            self.active.insert((Reverse(entry.priority), arrival, key.clone()));
        }
    }

    fn unpark(&mut self, key: &K, ready: Instant, now: Instant) {
        self.detach(key);
        if ready <= now {
            self.activate(key, now);
        } else {
            self.put_into_backoff(key, ready);
        }
    }

    fn put_into_backoff(&mut self, key: &K, due: Instant) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::Backoff(due);
            self.backoff.insert((due, entry.arrival, key.clone()));
        }
    }

    /// Counts a failure and returns the wait that follows it.
    fn fail(&mut self, key: &K, priority: i32, now: Instant) -> Duration {
        self.detach(key);
        let arrival = self.next_arrival();
        let entry = self.entries.entry(key.clone()).or_insert(Entry {
            state: State::Taken,
            priority,
            arrival,
            since: now,
            attempts: 0,
            ready: now,
        });
        entry.priority = priority;
        entry.attempts = entry.attempts.saturating_add(1);
        let wait = doubled(BACKOFF_MIN, entry.attempts, BACKOFF_MAX);
        entry.ready = now + wait;
        wait
    }

    /// Removes a binding from its part, but not its entry.
    fn detach(&mut self, key: &K) {
        let Some(entry) = self.entries.get(key) else { return };
        match entry.state {
            State::Active => {
                _ = self
                    .active
                    .remove(&(Reverse(entry.priority), entry.arrival, key.clone()))
            }
            State::Backoff(due) => _ = self.backoff.remove(&(due, entry.arrival, key.clone())),
            State::Parked(due, _) => _ = self.parked.remove(&(due, entry.arrival, key.clone())),
            State::Taken => {}
        }
    }

    fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }
}
