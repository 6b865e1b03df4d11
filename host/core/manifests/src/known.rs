//! The objects that were read, by group, kind, namespace and name.
//!
//! Only their locations in the lists are kept, because a copy of the names of a large dump takes as much memory as the objects.

use std::hash::{BuildHasher, RandomState};

use divvy_karmada::api::{
    Cluster, FederatedResourceQuota, ObjectMeta, OverridePolicy, PropagationPolicy, ResourceBinding, TypeMeta,
};
use divvy_karmada::workloads::WorkloadResource;
use divvy_spanned::{ObjectName, Source};
use hashbrown::HashTable;

use super::object::Object;
use super::{Located, Manifests};

/// Identity of an object: API group, then kind, namespace and name.
pub(super) type Key = (String, ObjectName);

/// Group, kind, namespace and name, borrowed.
pub(super) type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Locations of the objects so far in the lists of the manifests, which are an argument of each method.
#[derive(Default)]
pub(super) struct Known {
    entries: HashTable<Entry>,
    hasher: RandomState,
    /// Objects with problems, which are in no list.
    faulty: Vec<(Key, Source)>,
    /// Objects that were looked through to forget some, for tests of growth.
    pub(super) looked_through: usize,
}

/// Location of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) list: List,
    pub(super) index: usize,
    /// Digest of the parts of the object that its list does not keep.
    pub(super) digest: u64,
    /// Hash of its identity.
    hash: u64,
}

/// A list of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Clusters,
    Policies,
    Bindings,
    Resources,
    Overrides,
    Quotas,
    Faulty,
}

impl Known {
    /// Hash of an identity, for use with this table only.
    pub(super) fn hash(&self, identity: Identity<'_>) -> u64 {
        self.hasher.hash_one(identity)
    }

    /// The object with this identity and its hash, if it was read before, and its location.
    pub(super) fn find<'a>(
        &'a self,
        wanted: Identity<'_>,
        hash: u64,
        manifests: &'a Manifests,
    ) -> Option<(Entry, &'a Source)> {
        let identity = |entry: &Entry| entry_identity(*entry, manifests, &self.faulty);
        // The table compares a few bits of the hash, and the object itself is rarely in a cache.
        let is_wanted = |entry: &Entry| entry.hash == hash && identity(entry).is_some_and(|(found, _)| found == wanted);
        let entry = self.entries.find(hash, is_wanted)?;
        Some((*entry, identity(entry)?.1))
    }

    /// Adds the object at an index of a list. `hash` is the hash of its identity.
    pub(super) fn add(&mut self, (list, index): (List, usize), digest: u64, hash: u64) {
        let entry = Entry {
            list,
            index,
            digest,
            hash,
        };
        self.entries.insert_unique(hash, entry, |entry| entry.hash);
    }

    /// Adds an object with problems, so that another one of the same name is reported in the same run.
    pub(super) fn add_faulty(&mut self, key: Key, hash: u64, source: Source) {
        self.faulty.push((key, source));
        self.add((List::Faulty, self.faulty.len() - 1), 0, hash);
    }

    /// Number of objects with problems.
    pub(super) fn faulty(&self) -> usize {
        self.faulty.len()
    }

    /// Forgets the objects that are no longer in their lists, and those with problems except for the first `faulty`.
    pub(super) fn forget(&mut self, faulty: usize, manifests: &Manifests) {
        self.looked_through += self.entries.len();
        self.faulty.truncate(faulty);
        let faulty = &self.faulty;
        self.entries
            .retain(|entry| entry_identity(*entry, manifests, faulty).is_some());
    }
}

impl Entry {
    /// True if the object equals another one in everything that its list keeps.
    pub(super) fn equals<T: PartialEq>(&self, list: &[Located<T>], other: &Located<T>) -> bool {
        self.list != List::Faulty
            && list
                .get(self.index)
                .is_some_and(|first| first.object == other.object && first.json == other.json)
    }
}

/// Identity and location of an object that is in no list yet.
pub(super) fn object_identity(object: &Object) -> (Identity<'_>, &Source) {
    match object {
        Object::Cluster(located) => cluster_identity(located),
        Object::Policy(located) => policy_identity(located),
        Object::Binding(located) => binding_identity(located),
        Object::Resource(located) => resource_identity(located),
        Object::Override(located) => override_identity(located),
        Object::Quota(located) => quota_identity(located),
    }
}

fn cluster_identity(Located { object, source, .. }: &Located<Cluster>) -> (Identity<'_>, &Source) {
    (of(&object.api_version, &object.kind, &object.metadata), source)
}

fn policy_identity(Located { object, source, .. }: &Located<PropagationPolicy>) -> (Identity<'_>, &Source) {
    (of(&object.api_version, &object.kind, &object.metadata), source)
}

fn binding_identity(Located { object, source, .. }: &Located<Box<ResourceBinding>>) -> (Identity<'_>, &Source) {
    (of(&object.api_version, &object.kind, &object.metadata), source)
}

fn resource_identity(Located { object, source, .. }: &Located<Box<WorkloadResource>>) -> (Identity<'_>, &Source) {
    let TypeMeta { api_version, kind } = &object.resource.type_meta;
    (of(api_version, kind, &object.resource.metadata), source)
}

fn override_identity(Located { object, source, .. }: &Located<OverridePolicy>) -> (Identity<'_>, &Source) {
    (of(&object.api_version, &object.kind, &object.metadata), source)
}

fn quota_identity(Located { object, source, .. }: &Located<FederatedResourceQuota>) -> (Identity<'_>, &Source) {
    (of(&object.api_version, &object.kind, &object.metadata), source)
}

fn of<'a>(api_version: &'a str, kind: &'a str, metadata: &'a ObjectMeta) -> Identity<'a> {
    (
        TypeMeta::group_of(api_version),
        kind,
        &metadata.namespace,
        &metadata.name,
    )
}

pub(super) fn key_identity((group, name): &Key) -> Identity<'_> {
    (group, &name.kind, &name.namespace, &name.name)
}

/// Identity and location of an object; `None` if it is not in its list.
fn entry_identity<'a>(
    entry: Entry,
    manifests: &'a Manifests,
    faulty: &'a [(Key, Source)],
) -> Option<(Identity<'a>, &'a Source)> {
    let index = entry.index;
    match entry.list {
        List::Clusters => manifests.clusters.get(index).map(cluster_identity),
        List::Policies => manifests.policies.get(index).map(policy_identity),
        List::Bindings => manifests.bindings.get(index).map(binding_identity),
        List::Resources => manifests.resources.get(index).map(resource_identity),
        List::Overrides => manifests.overrides.get(index).map(override_identity),
        List::Quotas => manifests.quotas.get(index).map(quota_identity),
        List::Faulty => faulty.get(index).map(|(key, source)| (key_identity(key), source)),
    }
}
