//! The clusters that an explanation lists one by one. It only counts the others.

use std::collections::BTreeMap;

use divvy_framework_abi::arena::NO_ROW;

use super::account::{note, rejection};
use super::explanation::{Detail, Fate, Note, Unlisted};
use super::run::{Cycle, CycleInput};
use super::sink::{DELETING_CODE, Texts};

/// Clusters with the same outcome for the same reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Candidate,
    /// With the index of the selector's name.
    LeftOut(usize),
    /// Not reached by Select.
    Feasible,
    /// With the code of the reason.
    Rejected(u32),
}

/// The clusters of an explanation.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Rows of the clusters that are listed, ascending.
    pub(super) rows: Vec<u32>,
    /// Position of each row in [`Self::rows`]; [`NO_ROW`] if it is not listed.
    positions: Vec<u32>,
    /// Clusters that are not listed.
    pub(super) unlisted: Vec<Unlisted>,
}

impl Listing {
    /// Position of a row in [`Self::rows`]; `None` if it is not listed.
    pub(super) fn position(&self, row: u32) -> Option<usize> {
        let position = *self.positions.get(row as usize)?;
        (position != NO_ROW).then_some(position as usize)
    }
}

impl Cycle {
    /// The clusters that an explanation of the finished cycle lists.
    pub(super) fn listing(&self, input: &CycleInput<'_>, texts: &Texts, detail: Detail, scheduled: bool) -> Listing {
        let all = 0..u32::try_from(input.fleet.len()).unwrap_or(NO_ROW);
        let most = match detail {
            Detail::Full => {
                return Listing {
                    rows: all.clone().collect(),
                    positions: all.collect(),
                    unlisted: Vec::new(),
                };
            }
            Detail::Short(most) => Some(most),
            Detail::Assigned => None,
        };
        let mut listing = Listing {
            positions: vec![NO_ROW; input.fleet.len()],
            ..Listing::default()
        };
        // Marked by any position that is not `NO_ROW`, until the positions are known.
        let results = self.targets.iter().map(|target| target.row).filter(|_| scheduled);
        for row in results.chain(self.last_rows().iter().copied()) {
            if let Some(position) = listing.positions.get_mut(row as usize) {
                *position = 0;
            }
        }
        let Some(most) = most else {
            for (row, position) in all.zip(&mut listing.positions) {
                if *position != NO_ROW {
                    // There are no more positions than rows, which have 32 bits.
                    *position = listing.rows.len() as u32;
                    listing.rows.push(row);
                }
            }
            return listing;
        };
        let kinds = self.kinds(input.fleet.len());
        let mut counts: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
        for ((row, kind), position) in all.zip(kinds).zip(&mut listing.positions) {
            if *position == NO_ROW {
                let (listed, unlisted) = counts.entry(kind).or_default();
                if *listed == most {
                    *unlisted += 1;
                    continue;
                }
                *listed += 1;
            }
            // There are no more positions than rows, which have 32 bits.
            *position = listing.rows.len() as u32;
            listing.rows.push(row);
        }
        let unlisted = counts.into_iter().filter(|(_, (_, count))| *count > 0);
        listing.unlisted = unlisted
            .map(|(kind, (_, count))| unlisted_of(kind, count, input, texts))
            .collect();
        listing
    }

    /// The kind of each cluster, by row.
    fn kinds(&self, clusters: usize) -> Vec<Kind> {
        let code = |row: usize| self.codes.get(row).copied().unwrap_or(0);
        let mut kinds: Vec<Kind> = (0..clusters)
            .map(|row| match code(row) {
                0 => Kind::Feasible,
                code => Kind::Rejected(code),
            })
            .collect();
        let mut set = |row: u32, kind: Kind| {
            if let Some(entry) = kinds.get_mut(row as usize) {
                *entry = kind;
            }
        };
        for &(row, plugin) in &self.left_out {
            set(row, Kind::LeftOut(plugin));
        }
        for &index in &self.selected {
            if let Some(&row) = self.feasible.rows.get(index as usize) {
                set(row, Kind::Candidate);
            }
        }
        kinds
    }
}

fn unlisted_of(kind: Kind, count: usize, input: &CycleInput<'_>, texts: &Texts) -> Unlisted {
    let (fate, by) = match kind {
        Kind::Candidate => (Fate::Candidate, None),
        Kind::LeftOut(plugin) => (Fate::LeftOut, Some(note(input, (plugin, String::new())))),
        Kind::Feasible => (Fate::LeftOut, None),
        Kind::Rejected(DELETING_CODE) => (Fate::Rejected, Some(Note::deleting())),
        Kind::Rejected(code) => (Fate::Rejected, Some(rejection(input, texts, code))),
    };
    // No plugin is responsible for candidates without replicas, or for clusters that Select did not see.
    let by = by.unwrap_or_default();
    Unlisted {
        fate,
        plugin: by.plugin,
        text: by.text,
        count,
    }
}
