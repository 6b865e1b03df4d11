//! The workloads of a detector, by group, kind, namespace and name.
//!
//! The table finds them by the texts of the objects themselves: a dump has hundreds of thousands, and copies of their names would
//! take as much memory as the objects.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table;

use super::Entry;
use crate::api::{BindingScope, Resource, ResourceBinding, TypeMeta};
use crate::workloads::WorkloadResource;

/// The identity of a resource across its versions: group, kind, namespace and name.
type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Workloads, each with its location and its rank.
#[derive(Debug, Default)]
pub(super) struct Workloads {
    entries: HashTable<Known>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Known {
    entry: Entry<WorkloadResource>,
    /// Hash of its identity.
    hash: u64,
    /// True if a binding names it.
    is_bound: bool,
}

impl Known {
    fn is(&self, identity: Identity<'_>, hash: u64) -> bool {
        // The table compares a few bits of the hash, and the object itself is rarely in a cache.
        self.hash == hash && resource_identity(&self.entry.object.resource) == identity
    }
}

impl Workloads {
    /// Reserves memory for more workloads.
    pub(super) fn reserve(&mut self, count: usize) {
        self.entries.reserve(count, |known| known.hash);
    }

    /// Adds a workload, replacing an older version.
    pub(super) fn insert(&mut self, entry: Entry<WorkloadResource>) {
        let identity = resource_identity(&entry.object.resource);
        let hash = self.hasher.hash_one(identity);
        let slot = self
            .entries
            .entry(hash, |known| known.is(identity, hash), |known| known.hash);
        let known = Known {
            entry,
            hash,
            is_bound: false,
        };
        match slot {
            hash_table::Entry::Occupied(mut older) => *older.get_mut() = known,
            hash_table::Entry::Vacant(slot) => {
                slot.insert(known);
            }
        }
    }

    /// All workloads, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &WorkloadResource> {
        self.entries.iter().map(|known| &*known.entry.object)
    }

    /// The workload that a binding names.
    pub(super) fn bound_to(&self, binding: &ResourceBinding) -> Option<&Entry<WorkloadResource>> {
        let identity = bound_identity(binding);
        let hash = self.hasher.hash_one(identity);
        self.entries
            .find(hash, |known| known.is(identity, hash))
            .map(|known| &known.entry)
    }

    /// Marks the workload that a binding names, and returns it.
    pub(super) fn bind(&mut self, binding: &ResourceBinding) -> Option<&Entry<WorkloadResource>> {
        let identity = bound_identity(binding);
        let hash = self.hasher.hash_one(identity);
        let known = self.entries.find_mut(hash, |known| known.is(identity, hash))?;
        known.is_bound = true;
        Some(&known.entry)
    }

    /// The workloads that no marked binding names, in the order of arrival.
    pub(super) fn into_unbound(self) -> Vec<Entry<WorkloadResource>> {
        let unbound = self.entries.into_iter().filter(|known| !known.is_bound);
        let mut entries: Vec<_> = unbound.map(|known| known.entry).collect();
        entries.sort_unstable_by_key(|entry| entry.arrival);
        entries
    }
}

fn resource_identity(resource: &Resource) -> Identity<'_> {
    let (type_meta, metadata) = (&resource.type_meta, &resource.metadata);
    (type_meta.group(), &type_meta.kind, &metadata.namespace, &metadata.name)
}

/// The identity of the resource that a binding names.
fn bound_identity(binding: &ResourceBinding) -> Identity<'_> {
    let reference = &binding.spec.resource;
    let namespace = match binding.scope() {
        BindingScope::Namespaced if reference.namespace.is_empty() => &binding.metadata.namespace,
        _ => &reference.namespace,
    };
    let group = TypeMeta::group_of(&reference.api_version);
    (group, &reference.kind, namespace, &reference.name)
}
