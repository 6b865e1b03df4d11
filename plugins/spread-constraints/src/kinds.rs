//! Kinds of clusters: a kind consists of the clusters with the same values in every property of the constraints.
//!
//! Constraints do not distinguish the clusters of a kind, and a fleet has few kinds. A kind is found by walking a tree,
//! with one branch per group, property by property. Clusters without a value for some property have no kind.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use divvy_framework::clusters::Symbol;

use crate::grouping::{Groups, NO_GROUP, Numbering};

/// Kinds of the feasible clusters. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    numbering: Numbering,
    /// Parent of each node of the tree, and the group of the branch to it; the root is its own parent.
    nodes: Vec<(u32, u32)>,
    branches: HashMap<(u32, u32), u32, BuildHasherDefault<BranchHasher>>,
    /// Node of each entry of the order, replaced by its kind in [`Kinds::finish`].
    by_cluster: Vec<u32>,
    kind_of_node: Vec<u32>,
    /// Node of each kind.
    leaves: Vec<u32>,
    /// First group number of each property. Groups of different properties have different numbers.
    first_groups: Vec<u32>,
    group_count: u32,
    groups: Groups,
    values: Vec<Symbol>,
}

impl Kinds {
    /// Starts with `clusters` clusters at the root of an empty tree.
    pub(crate) fn begin(&mut self, clusters: usize) {
        self.nodes.clear();
        self.nodes.push((0, NO_GROUP));
        self.branches.clear();
        self.by_cluster.clear();
        self.by_cluster.resize(clusters, 0);
        self.first_groups.clear();
        self.group_count = 0;
    }

    /// Distinguishes the clusters by one more property. `values` appends the values of the cluster with an index;
    /// `symbols` is the number of symbols in the snapshot.
    pub(crate) fn refine(&mut self, order: &[u32], symbols: usize, values: impl Fn(u32, &mut Vec<Symbol>)) {
        self.numbering.reset(symbols);
        let first = self.group_count;
        self.first_groups.push(first);
        for (&index, node) in order.iter().zip(&mut self.by_cluster) {
            if *node == NO_GROUP {
                continue;
            }
            self.values.clear();
            values(index, &mut self.values);
            // The order and the repetition of a cluster's zones do not matter.
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

    /// Numbers the kinds by their first appearance in the order. Call this after the last property.
    pub(crate) fn finish(&mut self, order: &[u32]) {
        self.kind_of_node.clear();
        self.kind_of_node.resize(self.nodes.len(), NO_GROUP);
        self.leaves.clear();
        for entry in &mut self.by_cluster {
            let Some(kind) = self.kind_of_node.get_mut(*entry as usize) else {
                continue;
            };
            if *kind == NO_GROUP {
                *kind = self.leaves.len() as u32;
                self.leaves.push(*entry);
            }
            *entry = *kind;
        }
        self.groups.fill(self.leaves.len(), order, &self.by_cluster);
    }

    /// Number of kinds.
    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Kind of each entry of the order; [`NO_GROUP`] for clusters without a kind.
    pub(crate) fn by_cluster(&self) -> &[u32] {
        &self.by_cluster
    }

    /// Clusters of each kind.
    pub(crate) fn clusters(&self) -> &Groups {
        &self.groups
    }

    /// Number of groups of all properties together.
    pub(crate) fn group_count(&self) -> usize {
        self.group_count as usize
    }

    /// Group numbers of one property.
    pub(crate) fn groups_of_property(&self, property: usize) -> std::ops::Range<u32> {
        let first = |property: usize| self.first_groups.get(property).copied();
        first(property).unwrap_or(self.group_count)..first(property + 1).unwrap_or(self.group_count)
    }

    /// Groups of a kind, in all properties.
    pub(crate) fn groups(&self, kind: usize) -> impl Iterator<Item = usize> + '_ {
        let mut node = self.leaves[kind];
        std::iter::from_fn(move || {
            let (parent, group) = self.nodes[node as usize];
            node = parent;
            (group != NO_GROUP).then_some(group as usize)
        })
    }
}

/// Hashes the two small numbers of a branch. They are assigned densely here, so input cannot force collisions.
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
        // An odd constant with well distributed bits: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(29) ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
