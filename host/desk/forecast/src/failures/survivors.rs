//! Bindings that a live scheduler decides with and without a loss, and from whose result a loss only removes clusters.
//!
//! Most are duplicated: each of their clusters has the full count, regardless of the others. Their result after a loss is that
//! of the base without the lost clusters, as long as one is left. They also take the same from the ledger, which is booked in
//! their turn, because later bindings see it.

use std::collections::BTreeMap;
use std::ops::Range;

use divvy_scheduler::fleet::Ledger;

use super::ground::Placed;
use super::numbers::Share;

/// The survivors, in the order of decisions.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    all: Vec<Survivor>,
    /// Per cluster, by number: positions of the survivors that have it.
    by_cluster: Vec<Vec<u32>>,
    /// Everything that they take from the ledger, in their order.
    bookings: Vec<Booking>,
    /// Index of each resource in bookings.
    resources: BTreeMap<String, u32>,
}

/// A binding from whose result a loss only removes clusters.
#[derive(Debug)]
pub(super) struct Survivor {
    /// Its index in the situation.
    pub(super) index: usize,
    /// Its position in the order of decisions.
    pub(super) rank: u32,
    pub(super) base: Placed,
    /// End of its bookings, which begin where those of the survivor before it end.
    end: usize,
}

/// A quantity of a resource that a result takes.
#[derive(Debug, Clone, Copy)]
struct Booking {
    /// Number of the cluster.
    cluster: u32,
    resource: u32,
    quantity: i64,
}

impl Survivors {
    /// No survivors yet, on this many clusters.
    pub(super) fn new(clusters: usize) -> Self {
        Self {
            by_cluster: vec![Vec::new(); clusters],
            ..Self::default()
        }
    }

    /// Adds a binding, which must come after those added before, with its clusters in the base.
    pub(super) fn add(&mut self, index: usize, rank: u32, shares: &[Share]) {
        let position = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        for share in shares {
            if let Some(listed) = self.by_cluster.get_mut(share.0 as usize) {
                listed.push(position);
            }
        }
        self.all.push(Survivor {
            index,
            rank,
            base: Placed {
                shares: shares.to_vec(),
                failure: None,
            },
            end: self.bookings.len(),
        });
    }

    /// Adds a quantity that the latest binding takes.
    pub(super) fn book(&mut self, cluster: u32, resource: &str, quantity: i64) {
        let resource = match self.resources.get(resource) {
            Some(&index) => index,
            None => {
                let index = u32::try_from(self.resources.len()).unwrap_or(u32::MAX);
                self.resources.insert(resource.to_owned(), index);
                index
            }
        };
        self.bookings.push(Booking {
            cluster,
            resource,
            quantity,
        });
        if let Some(latest) = self.all.last_mut() {
            latest.end = self.bookings.len();
        }
    }

    /// The bindings, in the order of decisions.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Survivor> {
        self.all.iter()
    }

    /// The binding at a position.
    pub(super) fn get(&self, position: u32) -> Option<&Survivor> {
        self.all.get(position as usize)
    }

    /// Positions of the survivors that have one of these clusters, in order.
    pub(super) fn on(&self, clusters: &[u32]) -> Vec<u32> {
        let listed = clusters
            .iter()
            .filter_map(|&number| self.by_cluster.get(number as usize));
        let mut positions: Vec<u32> = listed.flatten().copied().collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    fn bookings(&self, position: usize) -> Range<usize> {
        let start = position.checked_sub(1).map_or(0, |before| self.all[before].end);
        start..self.all[position].end
    }
}

/// Books the bookings of survivors up to the binding that is decided next.
#[derive(Debug)]
pub(super) struct Booker<'a> {
    survivors: &'a Survivors,
    /// Row of each cluster by its number; [`u32::MAX`] if it is lost.
    rows: Vec<u32>,
    /// Positions of the survivors that are decided, in order. Their decisions book for them.
    decided: &'a [u32],
    /// Position of the next survivor.
    next: usize,
    /// Index of each resource in the ledger; made at the first booking.
    resources: Vec<usize>,
}

impl<'a> Booker<'a> {
    /// A booker that has booked nothing. `numbers` are the numbers of the clusters by row.
    pub(super) fn new(survivors: &'a Survivors, numbers: &[u32], decided: &'a [u32]) -> Self {
        let mut rows = vec![u32::MAX; survivors.by_cluster.len()];
        for (&number, row) in numbers.iter().zip(0..) {
            if let Some(slot) = rows.get_mut(number as usize) {
                *slot = row;
            }
        }
        Self {
            survivors,
            rows,
            decided,
            next: 0,
            resources: Vec::new(),
        }
    }

    /// Books for all survivors before a position in the order of decisions; for all if it is `None`.
    pub(super) fn book_before(&mut self, rank: Option<u32>, ledger: Option<&mut Ledger>) {
        let Some(ledger) = ledger else { return };
        let all = &self.survivors.all;
        let end = rank.map_or(all.len(), |rank| {
            self.next + all[self.next..].partition_point(|survivor| survivor.rank < rank)
        });
        while self.next < end {
            // The bookings of the survivors up to the next decided one are consecutive.
            let decided = self.decided.first().map_or(end, |&position| end.min(position as usize));
            if decided > self.next {
                let bookings = self.survivors.bookings(self.next).start..self.survivors.bookings(decided - 1).end;
                self.book(bookings, ledger);
            }
            self.next = decided;
            if decided < end {
                self.next += 1;
                self.decided = &self.decided[1..];
            }
        }
    }

    fn book(&mut self, bookings: Range<usize>, ledger: &mut Ledger) {
        if self.resources.is_empty() {
            let mut names: Vec<(&String, &u32)> = self.survivors.resources.iter().collect();
            names.sort_unstable_by_key(|(_, index)| **index);
            self.resources = names.into_iter().map(|(name, _)| ledger.resource(name)).collect();
        }
        for booking in &self.survivors.bookings[bookings] {
            let row = self.rows[booking.cluster as usize];
            if row != u32::MAX {
                ledger.take(
                    self.resources[booking.resource as usize],
                    row as usize,
                    booking.quantity,
                );
            }
        }
    }
}
