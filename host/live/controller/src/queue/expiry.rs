//! Times until which results hold, after which their bindings are decided again.
//!
//! They are kept apart from the queue: a binding that waits, is woken or is tried again for another reason keeps its time
//! until a later decision sets another one.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Minimum time for which a result holds, so that a plugin that names a time in the past does not keep the scheduler busy.
pub(crate) const EXPIRY_MIN: Duration = Duration::from_secs(1);
/// Maximum time until the next check. A result that holds longer is then found to hold still.
pub(crate) const EXPIRY_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Times until which results hold.
#[derive(Debug)]
pub(crate) struct Expiries<K> {
    due: HashMap<K, Instant>,
    order: BTreeSet<(Instant, K)>,
}

impl<K> Default for Expiries<K> {
    fn default() -> Self {
        Self {
            due: HashMap::new(),
            order: BTreeSet::new(),
        }
    }
}

impl<K: Clone + Ord + Hash> Expiries<K> {
    /// Sets the time until which the result of a binding holds, in place of an earlier one: `milliseconds` from now.
    /// Without one, the passing of time does not change the result.
    pub(crate) fn set(&mut self, key: &K, milliseconds: Option<i64>, now: Instant) {
        self.forget(key);
        let Some(milliseconds) = milliseconds else { return };
        let wait = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
        let due = now + wait.clamp(EXPIRY_MIN, EXPIRY_MAX);
        self.due.insert(key.clone(), due);
        self.order.insert((due, key.clone()));
    }

    /// Forgets a binding that is gone, or whose result does not depend on time.
    pub(crate) fn forget(&mut self, key: &K) {
        if let Some(due) = self.due.remove(key) {
            self.order.remove(&(due, key.clone()));
        }
    }

    /// Takes out a binding whose time has passed, the earliest first.
    pub(crate) fn take(&mut self, now: Instant) -> Option<K> {
        self.order.first().filter(|(due, _)| *due <= now)?;
        let (_, key) = self.order.pop_first()?;
        self.due.remove(&key);
        Some(key)
    }

    /// The earliest time.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.order.first().map(|(due, _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_pass_in_order_and_the_last_one_set_counts() {
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let mut expiries = Expiries::default();
        expiries.set(&"a", Some(5_000), now);
        expiries.set(&"b", Some(3_000), now);
        expiries.set(&"c", Some(4_000), now);
        expiries.set(&"a", Some(2_000), now);
        expiries.set(&"c", None, now);
        assert_eq!(expiries.next_due(), Some(at(2)));
        assert_eq!(expiries.take(at(1)), None);
        assert_eq!(expiries.take(at(4)), Some("a"));
        assert_eq!(expiries.take(at(4)), Some("b"));
        assert_eq!(expiries.take(at(9)), None);
        assert_eq!(expiries.next_due(), None);
    }

    #[test]
    fn waits_are_bounded() {
        let now = Instant::now();
        let mut expiries = Expiries::default();
        for (milliseconds, expected) in [(i64::MIN, EXPIRY_MIN), (0, EXPIRY_MIN), (i64::MAX, EXPIRY_MAX)] {
            expiries.set(&"a", Some(milliseconds), now);
            assert_eq!(expiries.next_due(), Some(now + expected), "{milliseconds}");
        }
        expiries.forget(&"a");
        assert_eq!(expiries.next_due(), None);
    }
}
