//! Clusters of a kind: those with the same values in every property that constraints group by.
//!
//! For constraints all clusters of a kind are alike, and a fleet has few kinds. A kind is found by walking a tree: from
//! the root one branch a group, property after property. Clusters without a value in some property are of no kind.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use divvy_framework::clusters::Symbol;

use crate::grouping::{Groups, NO_GROUP, Numbering};

/// The kinds of the feasible clusters. Kept between calls for its memory alone.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    numbering: Numbering,
    /// Per node of the tree its parent and the group of the branch between; the root is its own parent.
    nodes: Vec<(u32, u32)>,
    branches: HashMap<(u32, u32), u32, BuildHasherDefault<BranchHasher>>,
    /// Per entry of the order: its node, then its kind.
    of: Vec<u32>,
    kind_of_node: Vec<u32>,
    /// Per kind: its node.
    leaves: Vec<u32>,
    /// Per property: the number of its first group. Groups of different properties have different numbers.
    first_groups: Vec<u32>,
    group_count: u32,
    groups: Groups,
    values: Vec<Symbol>,
}

impl Kinds {
    /// Makes the root the node of each of `clusters` clusters.
    pub(crate) fn begin(&mut self, clusters: usize) {
        self.nodes.clear();
        self.nodes.push((0, NO_GROUP));
        self.branches.clear();
        self.of.clear();
        self.of.resize(clusters, 0);
        self.first_groups.clear();
        self.group_count = 0;
    }

    /// Distinguishes the clusters by one more property. `values` appends the values of the cluster at a place, of a
    /// snapshot with so many symbols.
    pub(crate) fn refine(&mut self, order: &[u32], symbols: usize, values: impl Fn(u32, &mut Vec<Symbol>)) {
        self.numbering.reset(symbols);
        let first = self.group_count;
        self.first_groups.push(first);
        for (&place, node) in order.iter().zip(&mut self.of) {
            if *node == NO_GROUP {
                continue;
            }
            self.values.clear();
            values(place, &mut self.values);
            // In which order a cluster lists its zones, and how often, makes no difference.
            self.values.sort_unstable();
            self.values.dedup();
            if self.values.is_empty() {
                *node = NO_GROUP;
            }
            for &value in &self.values {
                let group = first.saturating_add(self.numbering.number(value));
                let nodes = &mut self.nodes;
                *node = *self.branches.entry((*node, group)).or_insert_with(|| {
                    nodes.push((*node, group));
                    nodes.len() as u32 - 1
                });
            }
        }
        self.group_count = first.saturating_add(self.numbering.values().len() as u32);
    }

    /// Numbers the kinds as they appear in the order, once all properties are in.
    pub(crate) fn finish(&mut self, order: &[u32]) {
        self.kind_of_node.clear();
        self.kind_of_node.resize(self.nodes.len(), NO_GROUP);
        self.leaves.clear();
        for entry in &mut self.of {
            let Some(kind) = self.kind_of_node.get_mut(*entry as usize) else {
                continue;
            };
            if *kind == NO_GROUP {
                *kind = self.leaves.len() as u32;
                self.leaves.push(*entry);
            }
            *entry = *kind;
        }
        self.groups.fill(self.leaves.len(), order, &self.of);
    }

    /// The number of kinds.
    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// The kind of each entry of the order; [`NO_GROUP`]: of none.
    pub(crate) fn of(&self) -> &[u32] {
        &self.of
    }

    /// The clusters of each kind.
    pub(crate) fn clusters(&self) -> &Groups {
        &self.groups
    }

    /// The number of groups of all properties.
    pub(crate) fn group_count(&self) -> usize {
        self.group_count as usize
    }

    /// The groups of one property.
    pub(crate) fn groups_of_property(&self, property: usize) -> std::ops::Range<u32> {
        let first = |property: usize| self.first_groups.get(property).copied();
        first(property).unwrap_or(self.group_count)..first(property + 1).unwrap_or(self.group_count)
    }

    /// The groups that the clusters of a kind are in, of all properties.
    pub(crate) fn groups(&self, kind: usize) -> impl Iterator<Item = usize> + '_ {
        let mut node = self.leaves[kind];
        std::iter::from_fn(move || {
            let (parent, group) = self.nodes[node as usize];
            node = parent;
            (group != NO_GROUP).then_some(group as usize)
        })
    }
}

/// Hashes the two small numbers of a branch. They are dense and our own, so nobody can make them collide on purpose.
#[derive(Debug, Default)]
struct BranchHasher(u64);

impl Hasher for BranchHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        // An odd constant with its bits well spread: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(29) ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
