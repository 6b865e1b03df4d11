//! The clusters of a result in a few bytes each.
//!
//! A duplicated workload on thousands of clusters has as many targets, each with a name, a count and figures. Thousands of such
//! results would take gigabytes as the scheduler returns them. Here a target is the row of its cluster in the snapshot, and its
//! differences from the target before it.

use divvy_scheduler::decision::{Decision, Outcome, TargetFigures};
use divvy_scheduler::fleet::FleetSnapshot;

use super::names::Names;

/// A cluster of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// Name of the cluster.
    pub(crate) cluster: &'a str,
    /// Row of the cluster in the snapshot; `None` if it is not known.
    pub(crate) row: Option<u32>,
    /// Replicas in the result.
    pub(crate) replicas: i64,
    /// Score and capacity from the cycle.
    pub(crate) figures: TargetFigures,
}

/// The clusters of a result, taken out of its decision.
#[derive(Debug, Clone)]
pub(crate) enum Targets {
    /// By their rows in the snapshot.
    Packed(Box<[u8]>),
    /// As in the decision, if a cluster is not in the snapshot.
    Named(Vec<(String, i64)>, Vec<TargetFigures>),
}

impl Default for Targets {
    fn default() -> Self {
        Self::Packed(Box::default())
    }
}

/// The replicas equal those of the target before.
const SAME_REPLICAS: u8 = 1;
/// The score equals that of the target before.
const SAME_SCORE: u8 = 2;
/// The cluster is in the row after that of the target before.
const NEXT_ROW: u8 = 4;
/// A capacity follows.
const HAS_CAPACITY: u8 = 8;

/// A target before packing.
#[derive(Debug, Clone, Copy, Default)]
struct Unpacked {
    row: u32,
    replicas: i64,
    score: i64,
}

impl Targets {
    /// Takes the clusters out of a decision, which then has none. A binding that was not scheduled has no clusters.
    pub(crate) fn take(decision: &mut Decision, fleet: &FleetSnapshot) -> Self {
        let figures = std::mem::take(&mut decision.figures);
        let Outcome::Scheduled(named) = &mut decision.outcome else {
            return Self::Packed(Box::default());
        };
        let named = std::mem::take(named);
        match packed(&named, &figures, fleet) {
            Some(targets) => targets,
            None => Self::Named(named, figures),
        }
    }

    /// The clusters, sorted by name, with their names from the snapshot that they were decided against.
    pub(crate) fn iter<'a>(&'a self, names: &'a Names<'_>) -> impl Iterator<Item = Target<'a>> {
        let (bytes, named) = match self {
            Self::Packed(bytes) => (&bytes[..], None),
            Self::Named(named, figures) => (&[][..], Some((named, figures))),
        };
        let packed = Unpacker {
            bytes,
            before: Unpacked::default(),
            names,
        };
        let named = named.into_iter().flat_map(|(named, figures)| {
            named.iter().enumerate().map(|(index, (cluster, replicas))| Target {
                cluster,
                row: None,
                replicas: *replicas,
                figures: figures[index],
            })
        });
        packed.chain(named)
    }
}

/// `None` if a cluster is not in the snapshot. Each cluster must have figures.
fn packed(named: &[(String, i64)], figures: &[TargetFigures], fleet: &FleetSnapshot) -> Option<Targets> {
    let clusters = fleet.snapshot().clusters();
    let mut packer = Packer::default();
    for (index, (cluster, replicas)) in named.iter().enumerate() {
        let figures = figures[index];
        // The clusters of most results are consecutive, which saves a search.
        let next = packer.before.row + 1;
        let is_next = (next as usize) < fleet.len() && fleet.name(next) == cluster;
        let row = match is_next {
            true => next,
            false => u32::try_from(clusters.row(cluster)?.index()).ok()?,
        };
        packer.add(row, *replicas, figures);
    }
    Some(packer.finish())
}

/// Packs the clusters of a result, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
    before: Unpacked,
}

impl Packer {
    /// Adds a cluster, by its row in the snapshot. Clusters must be added in the order of their names.
    pub(crate) fn add(&mut self, row: u32, replicas: i64, figures: TargetFigures) {
        let TargetFigures { score, fits_now } = figures;
        let before = self.before;
        let is_next = row == before.row.wrapping_add(1);
        let flags = [
            (replicas == before.replicas, SAME_REPLICAS),
            (score == before.score, SAME_SCORE),
            (is_next, NEXT_ROW),
            (fits_now.is_some(), HAS_CAPACITY),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag);
        let flags = flags.fold(0, |all, flag| all | flag);
        let bytes = &mut self.bytes;
        bytes.push(flags);
        if !is_next {
            write(bytes, i64::from(row));
        }
        if flags & SAME_REPLICAS == 0 {
            write(bytes, replicas);
        }
        if flags & SAME_SCORE == 0 {
            write(bytes, score);
        }
        if let Some(fits) = fits_now {
            write(bytes, fits);
        }
        self.before = Unpacked { row, replicas, score };
    }

    /// The clusters that were added. The packer can be used for the next result.
    pub(crate) fn finish(&mut self) -> Targets {
        // The copy has no spare capacity, and the buffer keeps its own for the next result.
        let targets = Targets::Packed(self.bytes.as_slice().into());
        self.bytes.clear();
        self.before = Unpacked::default();
        targets
    }
}

/// Writes a number in as many bytes as it needs, seven bits each; the sign is the lowest bit.
fn write(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while rest >= 0x80 {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

struct Unpacker<'a> {
    bytes: &'a [u8],
    before: Unpacked,
    names: &'a Names<'a>,
}

impl Unpacker<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    fn number(&mut self) -> i64 {
        let (mut folded, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte();
            folded |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift >= u64::BITS {
                break;
            }
        }
        (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed()
    }
}

impl<'a> Iterator for Unpacker<'a> {
    type Item = Target<'a>;

    fn next(&mut self) -> Option<Target<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let flags = self.byte();
        let Unpacked {
            mut row,
            mut replicas,
            mut score,
        } = self.before;
        row = match flags & NEXT_ROW {
            // Rows are packed from 32 bits.
            0 => self.number() as u32,
            _ => row + 1,
        };
        if flags & SAME_REPLICAS == 0 {
            replicas = self.number();
        }
        if flags & SAME_SCORE == 0 {
            score = self.number();
        }
        let fits_now = (flags & HAS_CAPACITY != 0).then(|| self.number());
        self.before = Unpacked { row, replicas, score };
        Some(Target {
            cluster: self.names.name(row),
            row: Some(row),
            replicas,
            figures: TargetFigures { score, fits_now },
        })
    }
}

#[cfg(test)]
mod tests {
    //! Packing loses nothing.

    use divvy_karmada::api::Cluster;
    use divvy_scheduler::fleet::Fleet;

    use super::*;

    fn fleet(count: usize) -> FleetSnapshot {
        let mut fleet = Fleet::new(false);
        for number in 0..count {
            let mut cluster = Cluster::default();
            cluster.metadata.name = format!("m{number:03}");
            fleet.upsert(&cluster);
        }
        fleet.snapshot()
    }

    #[test]
    fn packing_and_unpacking_changes_nothing() {
        let fleet = fleet(200);
        let extremes = [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN, 1 << 40];
        let named: Vec<(String, i64)> = (0..200)
            .filter(|number| number % 7 != 3)
            .map(|number| (format!("m{number:03}"), extremes[number / 20]))
            .collect();
        let figures: Vec<TargetFigures> = (0..named.len())
            .map(|index| TargetFigures {
                score: extremes[index % extremes.len()],
                fits_now: (index % 3 != 0).then(|| extremes[(index + 3) % extremes.len()]),
            })
            .collect();
        let targets = packed(&named, &figures, &fleet).expect("every cluster is in the snapshot");
        let plain = Targets::Named(named, figures);
        let known = Names::of(&fleet);
        let rows = targets.iter(&known).map(|target| target.row.map(|row| fleet.name(row)));
        let names = targets.iter(&known).map(|target| Some(target.cluster));
        assert!(rows.eq(names));
        let unpacked: Vec<Target<'_>> = targets
            .iter(&known)
            .map(|target| Target { row: None, ..target })
            .collect();
        assert_eq!(unpacked, plain.iter(&known).collect::<Vec<_>>());
        assert_eq!(unpacked.len(), 171);
    }

    #[test]
    fn a_duplicated_target_takes_a_few_bytes() {
        let fleet = fleet(200);
        let named: Vec<(String, i64)> = (0..200).map(|number| (format!("m{number:03}"), 20)).collect();
        let figures = vec![
            TargetFigures {
                score: 100,
                fits_now: Some(5_000),
            };
            200
        ];
        let Some(Targets::Packed(bytes)) = packed(&named, &figures, &fleet) else {
            panic!("every cluster is in the snapshot");
        };
        assert!(bytes.len() <= 200 * 4, "{} bytes", bytes.len());
    }

    #[test]
    fn a_cluster_that_the_snapshot_lacks_keeps_its_name() {
        assert!(packed(&[("elsewhere".to_owned(), 1)], &[TargetFigures::default()], &fleet(3)).is_none());
    }
}
