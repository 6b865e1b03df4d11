//! Cordons: clusters that take no further replicas of the binding and keep those of the last result, because a filter says so.
//!
//! Filter, Estimate and Score see such a cluster as any other. Then its capacity is what it has. Strategies that respect
//! capacity need nothing else; from any other one, a count beyond the last replicas is cut, and the strategy divides the rest
//! among the other candidates. See docs/decisions/0018-cordons.md.

use super::assign::{Division, Share};
use super::columns::Candidates;
use super::error::CycleError;
use super::run::Cycle;
use super::sink::TextsMark;

/// The cordoned clusters of a cycle, in memory that is reused.
#[derive(Debug, Default)]
pub(super) struct Cordons {
    /// Per cluster of the snapshot: 1 if a filter cordoned it. Empty while none did.
    by_row: Vec<u32>,
    /// The column of the filter that is called.
    buffer: Vec<u32>,
    /// Cordoned clusters, by index among the feasible ones, with the replicas that would fit; while room is exchanged, with 0.
    fits_now: Vec<(usize, i64)>,
}

impl Cordons {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.by_row.clear();
        self.fits_now.clear();
    }

    /// True if no cluster is cordoned.
    pub(super) fn is_empty(&self) -> bool {
        self.by_row.is_empty()
    }

    /// The column for the call of a filter that may cordon clusters.
    pub(super) fn column(&mut self, clusters: usize) -> &mut [u32] {
        self.buffer.clear();
        self.buffer.resize(clusters, 0);
        &mut self.buffer
    }

    /// Takes what the filter wrote into its column.
    pub(super) fn take(&mut self) {
        if self.buffer.iter().all(|cordoned| *cordoned == 0) {
            return;
        }
        self.by_row.resize(self.buffer.len(), 0);
        for (cordoned, written) in self.by_row.iter_mut().zip(&self.buffer) {
            *cordoned |= u32::from(*written != 0);
        }
    }

    /// True if the cluster in a row is cordoned.
    pub(super) fn contains(&self, row: u32) -> bool {
        self.by_row.get(row as usize).is_some_and(|cordoned| *cordoned != 0)
    }
}

impl Cycle {
    /// Leaves the cordoned clusters no room beyond their last replicas.
    pub(super) fn close_cordoned(&mut self) {
        let Self { cordons, feasible, .. } = self;
        if cordons.is_empty() {
            return;
        }
        for (index, &row) in feasible.rows.iter().enumerate() {
            if cordons.contains(row) {
                cordons.fits_now.push((index, 0));
            }
        }
        self.exchange_cordoned_room();
    }

    /// True if Select left out a cordoned cluster that has replicas. It may have done so for its lack of room.
    pub(super) fn leaves_out_cordoned(&self, selected: &[u32]) -> bool {
        if selected.len() == self.feasible.rows.len() {
            return false;
        }
        let has_replicas = |index: &usize| self.feasible.last.get(*index).is_some_and(|last| *last > 0);
        let cordoned = self.cordons.fits_now.iter().map(|(index, _)| *index);
        cordoned
            .filter(has_replicas)
            .any(|index| !selected.contains(&(index as u32)))
    }

    /// Exchanges the room of the cordoned clusters: from none to what would fit without the cordon, and back.
    pub(super) fn exchange_cordoned_room(&mut self) {
        let Self { cordons, feasible, .. } = self;
        for (index, other) in &mut cordons.fits_now {
            if let (Some(fits_now), Some(capacity), Some(&last)) = (
                feasible.fits_now.get_mut(*index),
                feasible.capacity.get_mut(*index),
                feasible.last.get(*index),
            ) {
                std::mem::swap(fits_now, other);
                *capacity = fits_now.saturating_add(last);
            }
        }
    }

    /// Cuts what cordoned candidates got beyond their last replicas, and has the strategy divide it among the others. Each
    /// round holds at least one more cluster at its last replicas. `mark` is the point in the texts before the division.
    pub(super) fn hold_cordoned(
        &mut self,
        division: &Division<'_>,
        share: Share,
        all_rows: &[u32],
        candidates: &mut Candidates,
        mark: Option<TextsMark>,
    ) -> Result<(), CycleError> {
        let grows = |cordons: &Cordons, candidates: &Candidates, index: usize| {
            let row = candidates.rows.get(index).is_some_and(|row| cordons.contains(*row));
            row && candidates.result.get(index) > candidates.last.get(index)
        };
        if division.strategy.duplicates() {
            // Each cluster has its own count, so nothing is left for the others.
            for index in 0..candidates.rows.len() {
                if grows(&self.cordons, candidates, index) {
                    candidates.result[index] = candidates.last[index];
                }
            }
            return Ok(());
        }
        let mut open: Vec<usize> = (0..candidates.rows.len()).collect();
        let mut remaining = share.replicas;
        let mut others = Candidates::default();
        loop {
            let before = open.len();
            open.retain(|&index| {
                let is_held = grows(&self.cordons, candidates, index);
                if is_held {
                    candidates.result[index] = candidates.last[index];
                    remaining -= candidates.last[index];
                }
                !is_held
            });
            if open.len() == before {
                return Ok(());
            }
            if open.is_empty() {
                return Err(self.no_further(division, share.replicas, remaining, candidates));
            }
            division.views.forget_since(mark);
            others.take_from(candidates, &open);
            let rest = Share {
                replicas: remaining,
                ..share
            };
            self.divide_once(division, rest, Some(all_rows), &mut others)
                .map_err(|error| self.not_without(division, error, (share.replicas, remaining), candidates))?;
            for (&index, &replicas) in open.iter().zip(&others.result) {
                candidates.result[index] = replicas;
            }
        }
    }

    /// The error if only cordoned clusters could take what remains.
    fn no_further(
        &self,
        division: &Division<'_>,
        replicas: i64,
        remaining: i64,
        candidates: &Candidates,
    ) -> CycleError {
        let available = replicas.saturating_sub(remaining);
        CycleError::Unschedulable {
            plugin: String::new(),
            message: format!(
                "{replicas} replicas requested, {available} fit in the candidate clusters; {}",
                self.cordoned_names(division, candidates)
            ),
            figures: Some((replicas, available)),
        }
    }

    /// The error of a strategy that cannot divide the rest among the other candidates. It knows of the rest alone, so what it says of its
    /// preferences or of the binding's replicas would blame a policy that is valid without the cordon.
    fn not_without(
        &self,
        division: &Division<'_>,
        error: CycleError,
        (replicas, remaining): (i64, i64),
        candidates: &Candidates,
    ) -> CycleError {
        let names = self.cordoned_names(division, candidates);
        let (plugin, message, figures) = match error {
            CycleError::InvalidPreferences { plugin, message, .. } => (plugin, message, None),
            CycleError::Unschedulable {
                plugin,
                message,
                figures,
            } => (plugin, message, figures),
            mut other => {
                other.add(&names);
                return other;
            }
        };
        CycleError::Unschedulable {
            plugin,
            message: format!(
                "{names}; {remaining} of the {replicas} replicas are left for the other candidates, which cannot take them: {message}"
            ),
            // Of all replicas, those that the cordoned clusters keep fit as well.
            figures: figures.map(|(rest, available)| (replicas, available.saturating_add(replicas - rest))),
        }
    }

    /// `cluster(s) take no further replicas: a, b`.
    fn cordoned_names(&self, division: &Division<'_>, candidates: &Candidates) -> String {
        const NAMED: usize = 5;
        let cordoned: Vec<&str> = candidates
            .rows
            .iter()
            .filter(|row| self.cordons.contains(**row))
            .map(|&row| division.input.fleet.name(row))
            .collect();
        let named = cordoned.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        match cordoned.len().saturating_sub(NAMED) {
            0 => format!("cluster(s) take no further replicas: {named}"),
            more => format!("cluster(s) take no further replicas: {named} and {more} more"),
        }
    }
}
