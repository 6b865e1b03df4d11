//! One cluster with its texts interned, and the writer that interns them.

use divvy_framework_abi::arena::{ABSENT, flag, group};
use divvy_framework_view::clusters::{Condition, Resource, Taint};
use divvy_framework_view::words::ConditionStatus;

use super::symbols::Symbols;

/// A cluster as numbers.
#[derive(Debug, Default, Clone)]
pub(super) struct Row {
    pub(super) name: u32,
    pub(super) uid: u32,
    pub(super) flags: u32,
    pub(super) region: u32,
    pub(super) provider: u32,
    pub(super) zone: u32,
    pub(super) zones: Vec<u32>,
    pub(super) labels: Vec<(u32, u32)>,
    pub(super) annotations: Vec<(u32, u32)>,
    pub(super) taints: Vec<TaintRow>,
    pub(super) conditions: Vec<(u32, u32, u32)>,
    pub(super) api_set: u32,
    pub(super) model_set: u32,
    pub(super) modelings: Vec<(i64, i64)>,
    /// Symbol of the resource, then allocatable, allocated, allocating and remaining.
    pub(super) resources: Vec<(u32, [i64; 4])>,
    /// UTF-8.
    pub(super) raw: Box<[u8]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaintRow {
    pub(super) key: u32,
    pub(super) value: u32,
    pub(super) effect: u32,
    pub(super) time_added: i64,
}

/// A resource model with its texts interned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ModelRow {
    pub(super) grade: i64,
    pub(super) ranges: Box<[(u32, i64, i64)]>,
}

impl Row {
    pub(super) fn is_deleting(&self) -> bool {
        self.flags & flag::DELETING != 0
    }

    /// Groups of columns, as bits of [`group`], in which the row differs from another row with the same name.
    pub(super) fn differences(&self, other: &Self) -> u64 {
        // Destructured, so that no field is forgotten.
        let Self {
            name: _,
            uid,
            flags,
            region,
            provider,
            zone,
            zones,
            labels,
            annotations,
            taints,
            conditions,
            api_set,
            model_set,
            modelings,
            resources,
            raw,
        } = self;
        let location = (region, provider, zone, zones) == (&other.region, &other.provider, &other.zone, &other.zones);
        let models = (model_set, modelings) == (&other.model_set, &other.modelings);
        [
            (group::UID, *uid == other.uid),
            (group::FLAGS, *flags == other.flags),
            (group::LOCATION, location),
            (group::LABELS, *labels == other.labels),
            (group::ANNOTATIONS, *annotations == other.annotations),
            (group::TAINTS, *taints == other.taints),
            (group::APIS, *api_set == other.api_set),
            (group::CONDITIONS, *conditions == other.conditions),
            (group::RESOURCES, *resources == other.resources),
            (group::MODELS, models),
            (group::RAW, *raw == other.raw),
        ]
        .into_iter()
        .fold(
            0,
            |groups, (group, is_equal)| if is_equal { groups } else { groups | group },
        )
    }

    /// Visits every symbol of the row itself, but not those of the sets that it shares with other rows.
    pub(super) fn visit_symbols(&mut self, mut visit: impl FnMut(&mut u32)) {
        for symbol in [
            &mut self.name,
            &mut self.uid,
            &mut self.region,
            &mut self.provider,
            &mut self.zone,
        ] {
            visit(symbol);
        }
        self.zones.iter_mut().for_each(&mut visit);
        for (key, value) in self.labels.iter_mut().chain(&mut self.annotations) {
            visit(key);
            visit(value);
        }
        for taint in &mut self.taints {
            visit(&mut taint.key);
            visit(&mut taint.value);
        }
        for (kind, _, reason) in &mut self.conditions {
            visit(kind);
            visit(reason);
        }
        for (resource, _) in &mut self.resources {
            visit(resource);
        }
    }
}

/// A cluster while it is being written. Its allocations are reused for the next cluster.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) row: Row,
    pub(super) apis: Vec<(u32, u32)>,
    pub(super) models: Vec<ModelRow>,
}

impl Draft {
    pub(super) fn clear(&mut self) {
        // Destructured, so that the lists can be emptied and put back with their memory; every other field is reset.
        let Row {
            mut zones,
            mut labels,
            mut annotations,
            mut taints,
            mut conditions,
            mut modelings,
            mut resources,
            ..
        } = std::mem::take(&mut self.row);
        zones.clear();
        labels.clear();
        annotations.clear();
        taints.clear();
        conditions.clear();
        modelings.clear();
        resources.clear();
        self.row = Row {
            zones,
            labels,
            annotations,
            taints,
            conditions,
            modelings,
            resources,
            ..Row::default()
        };
        self.apis.clear();
        self.models.clear();
    }
}

/// Writes one cluster into a [`SnapshotStore`](super::SnapshotStore). Texts are interned as they arrive, without an
/// intermediate copy.
///
/// Fields that are not written stay empty. Quantities of `cpu` are in thousandths of a core, all others in the
/// resource's own unit (bytes, pieces); both are rounded up, as Kubernetes' `MilliValue` and `Value` do.
#[derive(Debug)]
pub struct ClusterWriter<'a> {
    pub(super) symbols: &'a mut Symbols,
    pub(super) draft: &'a mut Draft,
}

impl ClusterWriter<'_> {
    /// `metadata.uid`.
    pub fn uid(&mut self, uid: &str) -> &mut Self {
        self.draft.row.uid = self.symbols.intern(uid);
        self
    }

    /// Adds to `metadata.labels`. The caller must write each key only once.
    pub fn label(&mut self, key: &str, value: &str) -> &mut Self {
        let pair = (self.symbols.intern(key), self.symbols.intern(value));
        self.draft.row.labels.push(pair);
        self
    }

    /// Adds to `metadata.annotations`. The caller must write each key only once.
    pub fn annotation(&mut self, key: &str, value: &str) -> &mut Self {
        let pair = (self.symbols.intern(key), self.symbols.intern(value));
        self.draft.row.annotations.push(pair);
        self
    }

    /// Marks a cluster whose `metadata.deletionTimestamp` is set.
    pub fn deleting(&mut self) -> &mut Self {
        self.set_flag(flag::DELETING)
    }

    /// `spec.region`.
    pub fn region(&mut self, region: &str) -> &mut Self {
        self.draft.row.region = self.symbols.intern(region);
        self
    }

    /// `spec.provider`.
    pub fn provider(&mut self, provider: &str) -> &mut Self {
        self.draft.row.provider = self.symbols.intern(provider);
        self
    }

    /// The deprecated `spec.zone`.
    pub fn deprecated_zone(&mut self, zone: &str) -> &mut Self {
        self.draft.row.zone = self.symbols.intern(zone);
        self
    }

    /// Adds to `spec.zones`.
    pub fn zone(&mut self, zone: &str) -> &mut Self {
        let zone = self.symbols.intern(zone);
        self.draft.row.zones.push(zone);
        self
    }

    /// Adds to `spec.taints`.
    pub fn taint(&mut self, taint: Taint<'_>) -> &mut Self {
        let taint = TaintRow {
            key: self.symbols.intern(taint.key),
            value: self.symbols.intern(taint.value),
            effect: taint.effect.code(),
            time_added: taint.time_added.unwrap_or(ABSENT),
        };
        self.draft.row.taints.push(taint);
        self
    }

    /// Adds to `spec.resourceModels`: a grade, and the minimum and maximum of each resource.
    pub fn model<'r>(&mut self, grade: i64, ranges: impl IntoIterator<Item = (&'r str, i64, i64)>) -> &mut Self {
        let ranges = ranges
            .into_iter()
            .map(|(resource, minimum, maximum)| (self.symbols.intern(resource), minimum, maximum))
            .collect();
        self.draft.models.push(ModelRow { grade, ranges });
        self
    }

    /// Adds the kinds of a group version to `status.apiEnablements`.
    pub fn apis<'k>(&mut self, group_version: &str, kinds: impl IntoIterator<Item = &'k str>) -> &mut Self {
        let group_version = self.symbols.intern(group_version);
        for kind in kinds {
            let kind = self.symbols.intern(kind);
            self.draft.apis.push((group_version, kind));
        }
        self
    }

    /// Adds to `status.conditions`. `Ready` and `CompleteAPIEnablements` also set flags, for quick access.
    pub fn condition(&mut self, condition: Condition<'_>) -> &mut Self {
        let row = (
            self.symbols.intern(condition.kind),
            condition.status.code(),
            self.symbols.intern(condition.reason),
        );
        self.draft.row.conditions.push(row);
        match condition.kind {
            "Ready" if condition.status == ConditionStatus::True => self.set_flag(flag::READY),
            "CompleteAPIEnablements" if condition.status == ConditionStatus::True => {
                self.set_flag(flag::COMPLETE_API_ENABLEMENTS)
            }
            _ => self,
        }
    }

    /// Marks a cluster whose status has a resource summary, even an empty one.
    pub fn resource_summary(&mut self) -> &mut Self {
        self.set_flag(flag::RESOURCE_SUMMARY)
    }

    /// Adds a resource to the summary, replacing an earlier one with that name. The caller computes `remaining` exactly
    /// and rounds it up once; `None` if no allocatable amount is stated.
    pub fn resource(&mut self, resource: Resource<'_>) -> &mut Self {
        let name = self.symbols.intern(resource.name);
        let quantities = [
            resource.allocatable,
            resource.allocated,
            resource.allocating,
            resource.remaining,
        ];
        let resources = &mut self.draft.row.resources;
        resources.retain(|(known, _)| *known != name);
        resources.push((name, quantities.map(|quantity| quantity.unwrap_or(ABSENT))));
        self.resource_summary()
    }

    /// Adds to `status.resourceSummary.allocatableModelings`: a grade and its number of nodes.
    pub fn modeling(&mut self, grade: i64, nodes: i64) -> &mut Self {
        self.draft.row.modelings.push((grade, nodes));
        self.resource_summary()
    }

    /// Keeps the whole object as JSON. Needed only if a plugin declares `Needs::raw_cluster`.
    pub fn raw_json(&mut self, json: impl Into<Box<str>>) -> &mut Self {
        self.draft.row.raw = json.into().into_boxed_bytes();
        self
    }

    fn set_flag(&mut self, bit: u32) -> &mut Self {
        self.draft.row.flags |= bit;
        self
    }
}
