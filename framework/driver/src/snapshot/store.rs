//! The store of clusters, and the snapshots it gives out.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_framework_abi::arena::{ABSENT, Arena, flag};

use divvy_framework_view::clusters::Clusters;
use divvy_framework_view::words::ConditionStatus;

use super::record::{ClusterRecord, ModelRecord};
use super::symbols::Symbols;

/// The clusters at one moment, immutable and cheap to share.
#[derive(Debug, Clone)]
pub struct Snapshot {
    words: Arc<[u64]>,
}

impl Snapshot {
    pub(super) fn new(words: Vec<u64>) -> Self {
        Self { words: words.into() }
    }

    /// The clusters.
    pub fn clusters(&self) -> Clusters<'_> {
        Clusters::new(self.arena())
    }

    /// The arena.
    pub fn arena(&self) -> Arena<'_> {
        Arena::new(&self.words)
    }

    /// The arena's words: what crosses the boundary.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// One cluster with its texts interned.
#[derive(Debug, Default, Clone)]
pub(super) struct Row {
    pub(super) name: u32,
    pub(super) uid: u32,
    pub(super) flags: u32,
    pub(super) region: u32,
    pub(super) provider: u32,
    pub(super) zone: u32,
    pub(super) zones: Box<[u32]>,
    pub(super) labels: Box<[(u32, u32)]>,
    pub(super) annotations: Box<[(u32, u32)]>,
    pub(super) taints: Box<[TaintRow]>,
    pub(super) conditions: Box<[(u32, u32, u32)]>,
    pub(super) api_set: u32,
    pub(super) model_set: u32,
    pub(super) modelings: Box<[(i64, i64)]>,
    pub(super) resources: Box<[ResourceRow]>,
    pub(super) raw: Option<Box<str>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TaintRow {
    pub(super) key: u32,
    pub(super) value: u32,
    pub(super) effect: u32,
    pub(super) time_added: i64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ResourceRow {
    /// Place in the store's list of resources.
    pub(super) resource: u32,
    pub(super) allocatable: i64,
    pub(super) allocated: i64,
    pub(super) allocating: i64,
    pub(super) remaining: i64,
}

/// A resource model with its texts interned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ModelRow {
    pub(super) grade: i64,
    pub(super) ranges: Box<[(u32, i64, i64)]>,
}

/// A list that many clusters share, kept once: sets of API enablements, sets of resource models.
#[derive(Debug)]
pub(super) struct Shared<T> {
    pub(super) lists: Vec<Arc<[T]>>,
    places: HashMap<Arc<[T]>, u32>,
}

impl<T: std::hash::Hash + Eq> Default for Shared<T> {
    fn default() -> Self {
        let mut shared = Self {
            lists: Vec::new(),
            places: HashMap::new(),
        };
        shared.place(Vec::new());
        shared
    }
}

impl<T: std::hash::Hash + Eq> Shared<T> {
    /// The place of `list`; the empty list is at 0.
    fn place(&mut self, list: Vec<T>) -> u32 {
        let list: Arc<[T]> = list.into();
        if let Some(&place) = self.places.get(&list) {
            return place;
        }
        let place = self.lists.len() as u32;
        self.lists.push(Arc::clone(&list));
        self.places.insert(list, place);
        place
    }
}

/// Clusters that come, change and go, and the snapshots of them.
#[derive(Debug, Default)]
pub struct SnapshotStore {
    pub(super) symbols: Symbols,
    pub(super) resources: Vec<u32>,
    pub(super) apis: Shared<(u32, u32)>,
    pub(super) models: Shared<ModelRow>,
    /// Sorted by name.
    pub(super) rows: Vec<Row>,
    current: Option<Snapshot>,
}

impl SnapshotStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no cluster.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes a cluster in, in place of an older one of that name.
    pub fn upsert(&mut self, record: &ClusterRecord) {
        let row = self.intern(record);
        match self.position(&record.name) {
            Ok(place) => self.rows[place] = row,
            Err(place) => self.rows.insert(place, row),
        }
        self.current = None;
    }

    /// Takes many clusters in; of several with one name the last stays.
    pub fn extend<'records>(&mut self, records: impl IntoIterator<Item = &'records ClusterRecord>) {
        let mut rows: Vec<Row> = records.into_iter().map(|record| self.intern(record)).collect();
        rows.reverse();
        rows.append(&mut self.rows);
        let symbols = &self.symbols;
        // Equal names have equal symbols; the sort is stable, so the newest stands first and stays.
        rows.sort_by(|left, right| symbols.bytes(left.name).cmp(symbols.bytes(right.name)));
        rows.dedup_by_key(|row| row.name);
        self.rows = rows;
        self.current = None;
    }

    /// Takes a cluster out; whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        match self.position(name) {
            Ok(place) => {
                self.rows.remove(place);
                self.current = None;
                true
            }
            Err(_) => false,
        }
    }

    /// The clusters as they are now. Asked again without a change in between, it is the same snapshot.
    pub fn snapshot(&mut self) -> Snapshot {
        if let Some(snapshot) = &self.current {
            return snapshot.clone();
        }
        let snapshot = self.assemble();
        self.current = Some(snapshot.clone());
        snapshot
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.rows
            .binary_search_by(|row| self.symbols.bytes(row.name).cmp(name.as_bytes()))
    }

    fn intern(&mut self, record: &ClusterRecord) -> Row {
        let symbols = &mut self.symbols;
        let mut apis: Vec<(u32, u32)> = record
            .api_enablements
            .iter()
            .map(|(group_version, kind)| (symbols.intern(group_version), symbols.intern(kind)))
            .collect();
        apis.sort_unstable();
        apis.dedup();
        let models = record.models.iter().map(|model| intern_model(symbols, model)).collect();
        let mut resources = Vec::new();
        let mut modelings = Vec::new();
        if let Some(summary) = &record.resource_summary {
            modelings.clone_from(&summary.modelings);
            for resource in &summary.resources {
                let name = symbols.intern(&resource.name);
                let place = self.resources.iter().position(|&known| known == name);
                let place = place.unwrap_or_else(|| {
                    self.resources.push(name);
                    self.resources.len() - 1
                });
                resources.push(ResourceRow {
                    resource: place as u32,
                    allocatable: resource.allocatable.unwrap_or(ABSENT),
                    allocated: resource.allocated.unwrap_or(ABSENT),
                    allocating: resource.allocating.unwrap_or(ABSENT),
                    remaining: resource.remaining.unwrap_or(ABSENT),
                });
            }
        }
        let mut pairs = |pairs: &[(String, String)]| {
            pairs
                .iter()
                .map(|(key, value)| (symbols.intern(key), symbols.intern(value)))
                .collect()
        };
        Row {
            labels: pairs(&record.labels),
            annotations: pairs(&record.annotations),
            name: symbols.intern(&record.name),
            uid: symbols.intern(&record.uid),
            flags: flags(record),
            region: symbols.intern(&record.region),
            provider: symbols.intern(&record.provider),
            zone: symbols.intern(&record.zone),
            zones: record.zones.iter().map(|zone| symbols.intern(zone)).collect(),
            taints: record
                .taints
                .iter()
                .map(|taint| TaintRow {
                    key: symbols.intern(&taint.key),
                    value: symbols.intern(&taint.value),
                    effect: taint.effect.code(),
                    time_added: taint.time_added.unwrap_or(ABSENT),
                })
                .collect(),
            conditions: record
                .conditions
                .iter()
                .map(|condition| {
                    (
                        symbols.intern(&condition.kind),
                        condition.status.code(),
                        symbols.intern(&condition.reason),
                    )
                })
                .collect(),
            api_set: self.apis.place(apis),
            model_set: self.models.place(models),
            modelings: modelings.into(),
            resources: resources.into(),
            raw: record.raw.as_deref().map(Into::into),
        }
    }
}

fn intern_model(symbols: &mut Symbols, model: &ModelRecord) -> ModelRow {
    ModelRow {
        grade: model.grade,
        ranges: model
            .ranges
            .iter()
            .map(|(resource, minimum, maximum)| (symbols.intern(resource), *minimum, *maximum))
            .collect(),
    }
}

fn flags(record: &ClusterRecord) -> u32 {
    let holds = |kind: &str| {
        record
            .conditions
            .iter()
            .any(|condition| condition.kind == kind && condition.status == ConditionStatus::True)
    };
    let mut flags = 0;
    for (bit, set) in [
        (flag::DELETING, record.deleting),
        (flag::READY, holds("Ready")),
        (flag::COMPLETE_API_ENABLEMENTS, holds("CompleteAPIEnablements")),
        (flag::RESOURCE_SUMMARY, record.resource_summary.is_some()),
    ] {
        if set {
            flags |= bit;
        }
    }
    flags
}
