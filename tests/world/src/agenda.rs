//! The agenda: the next events and their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Milliseconds of virtual time since the beginning of a life.
pub type Millis = u64;

/// Events in the order of their time, and of their entry among those of one time.
#[derive(Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    entries: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Millis,
    number: u64,
    event: E,
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            entries: 0,
        }
    }
}

impl<E> Agenda<E> {
    /// Enters an event.
    pub fn enter(&mut self, at: Millis, event: E) {
        self.entries += 1;
        self.heap.push(Reverse(Entry {
            at,
            number: self.entries,
            event,
        }));
    }

    /// Time of the next event.
    pub fn next_at(&self) -> Option<Millis> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes out the next event if its time has come.
    pub fn take(&mut self, now: Millis) -> Option<E> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.event)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;

    #[test]
    fn events_come_by_time_and_then_in_the_order_of_entry() {
        let mut agenda = Agenda::default();
        for (at, event) in [(5, "c"), (2, "a"), (5, "d"), (3, "b")] {
            agenda.enter(at, event);
        }
        assert_eq!(agenda.take(1), None);
        let mut taken = Vec::new();
        while let Some(event) = agenda.take(5) {
            taken.push(event);
        }
        assert_eq!(taken, ["a", "b", "c", "d"]);
    }
}
