//! The parts of a binding in the store: Karmada's types with shared texts and without fields that are nearly always empty.
//!
//! Each part is made from the parsed type and names every field, so that a new field does not compile until it is kept or left out. A
//! decision borrows from the parts. Only results, components and conditions have a way back: they are compared with what is written, or are
//! written themselves.

use std::sync::Arc;

use divvy_karmada::api::{
    BindingSuspension, Component, Condition, GracefulEvictionTask, ObjectReference, ReplicaRequirements, StringMap,
    TargetCluster, TargetComponent, Timestamp, TypeMeta, WorkloadAffinityGroups,
};

use super::Shared;
use divvy_scheduler::decide::{APPLIED_POLICY, PLUGIN_FAILURE};
use divvy_scheduler::moves::failback::FAILBACK_ANNOTATION;
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;
use divvy_scheduler::moves::planned::PLANNED_ANNOTATION;
use divvy_scheduler::plan::TextMap;

/// Labels and annotations with a different value in each binding, which are not shared.
const OWN_VALUES: [&str; 7] = [
    "resourcebinding.karmada.io/permanent-id",
    "clusterresourcebinding.karmada.io/permanent-id",
    APPLIED_POLICY,
    PLUGIN_FAILURE,
    MOVE_ANNOTATION,
    FAILBACK_ANNOTATION,
    PLANNED_ANNOTATION,
];

/// A result. Copies share the clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters(Arc<[Target]>);

/// A cluster of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    name: Arc<str>,
    replicas: i32,
    /// Components, for a resource with several pod templates under Karmada's feature gate for them.
    components: Option<Box<TargetComponents>>,
}

/// The components that a cluster runs; not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TargetComponents(Box<[TargetComponent]>);

/// Labels or annotations, sorted by key.
#[derive(Debug, Clone)]
pub(super) struct Texts(Box<[(Arc<str>, Arc<str>)]>);

/// The resource that a binding propagates.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    kind: Arc<TypeMeta>,
    namespace: Arc<str>,
    name: Box<str>,
    uid: Box<str>,
    version: Version,
}

/// A resource version. API servers write numbers, which take no memory of their own.
#[derive(Debug, Clone)]
pub(super) enum Version {
    /// The number that the text is.
    Number(u64),
    /// Any other text.
    Text(Box<str>),
}

/// A condition.
#[derive(Debug, Clone)]
pub(crate) struct KeptCondition {
    words: Arc<ConditionWords>,
    observed_generation: i64,
    last_transition_time: Option<Timestamp>,
}

/// A condition without its generation and time.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ConditionWords {
    kind: Arc<str>,
    status: Arc<str>,
    reason: Arc<str>,
    message: Arc<str>,
}

/// Fields that few bindings have.
#[derive(Debug, Clone, Default)]
pub(super) struct Rare {
    pub(super) components: Box<[KeptComponent]>,
    pub(super) graceful_eviction_tasks: Box<[GracefulEvictionTask]>,
    pub(super) suspension: Option<BindingSuspension>,
    pub(super) workload_affinity_groups: Option<WorkloadAffinityGroups>,
    pub(super) annotation: Option<String>,
}

/// One component of a resource with several pod templates.
#[derive(Debug, Clone)]
pub(super) struct KeptComponent {
    pub(super) name: Arc<str>,
    pub(super) replicas: i32,
    pub(super) requirements: Option<Arc<ReplicaRequirements>>,
}

impl Clusters {
    pub(super) fn new(targets: Vec<TargetCluster>, shared: &mut Shared) -> Self {
        let target = |target: TargetCluster| {
            let TargetCluster {
                name,
                replicas,
                components,
            } = target;
            Target {
                name: shared.text(&name),
                replicas,
                components: (!components.is_empty()).then(|| Box::new(TargetComponents(components.as_slice().into()))),
            }
        };
        Self(targets.into_iter().map(target).collect())
    }

    /// True if a cluster is in the result.
    pub(crate) fn contains(&self, cluster: &str) -> bool {
        self.names().any(|name| name == cluster)
    }

    /// Replicas in all clusters.
    pub(crate) fn sum(&self) -> i64 {
        self.0.iter().map(|target| i64::from(target.replicas)).sum()
    }

    /// Names of the clusters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|target| &*target.name)
    }

    /// True if these are the clusters, in this order.
    pub fn are(&self, targets: &[TargetCluster]) -> bool {
        let is_same = |(own, other): (&Target, &TargetCluster)| {
            *own.name == *other.name && own.replicas == other.replicas && own.components() == other.components
        };
        self.0.len() == targets.len() && self.0.iter().zip(targets).all(is_same)
    }

    /// The clusters in Karmada's type.
    pub(crate) fn targets(&self) -> Vec<TargetCluster> {
        let target = |target: &Target| TargetCluster {
            name: (*target.name).to_owned(),
            replicas: target.replicas,
            components: target.components().to_vec(),
        };
        self.0.iter().map(target).collect()
    }
}

impl Target {
    fn components(&self) -> &[TargetComponent] {
        self.components.as_ref().map_or(&[], |components| &components.0)
    }
}

impl Texts {
    pub(super) fn new(texts: StringMap, shared: &mut Shared) -> Self {
        let pair = |(key, value): (String, String)| {
            let value = match OWN_VALUES.contains(&key.as_str()) {
                true => value.into(),
                false => shared.text(&value),
            };
            (shared.text(&key), value)
        };
        Self(texts.into_iter().map(pair).collect())
    }

    /// The texts, as a decision reads them.
    pub(super) fn view(&self) -> TextMap<'_> {
        TextMap::Shared(&self.0)
    }
}

impl Resource {
    pub(super) fn new(resource: ObjectReference, shared: &mut Shared) -> Self {
        let ObjectReference {
            api_version,
            kind,
            namespace,
            name,
            uid,
            resource_version,
        } = resource;
        Self {
            kind: shared.kinds.share(TypeMeta { api_version, kind }),
            namespace: shared.text(&namespace),
            name: name.into(),
            uid: uid.into(),
            version: Version::new(resource_version),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn kind(&self) -> &TypeMeta {
        &self.kind
    }

    pub(super) fn version(&self) -> String {
        self.version.text()
    }

    /// API version, kind, namespace, name and UID.
    pub(super) fn words(&self) -> [&str; 5] {
        let TypeMeta { api_version, kind } = &*self.kind;
        [api_version, kind, &self.namespace, &self.name, &self.uid]
    }

    pub(super) fn reference(&self) -> ObjectReference {
        let TypeMeta { api_version, kind } = TypeMeta::clone(&self.kind);
        ObjectReference {
            api_version,
            kind,
            namespace: (*self.namespace).to_owned(),
            name: self.name.clone().into(),
            uid: self.uid.clone().into(),
            resource_version: self.version.text(),
        }
    }
}

impl Version {
    pub(super) fn new(text: String) -> Self {
        // Only a number without a sign and leading zeros is written back unchanged.
        let is_plain = text == "0" || !text.starts_with(['0', '+']);
        match text.parse() {
            Ok(number) if is_plain => Self::Number(number),
            _ => Self::Text(text.into()),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => (**text).to_owned(),
        }
    }
}

impl KeptCondition {
    pub(super) fn new(condition: Condition, shared: &mut Shared) -> Self {
        let Condition {
            kind,
            status,
            reason,
            message,
            observed_generation,
            last_transition_time,
        } = condition;
        let words = ConditionWords {
            kind: shared.text(&kind),
            status: shared.text(&status),
            reason: shared.text(&reason),
            message: message.into(),
        };
        Self {
            words: shared.conditions.share(words),
            observed_generation,
            last_transition_time,
        }
    }

    /// Its type.
    pub(super) fn kind(&self) -> &str {
        &self.words.kind
    }

    /// `True`, `False` or `Unknown`.
    pub(crate) fn status(&self) -> &str {
        &self.words.status
    }

    /// The reason, as a word for programs.
    pub(crate) fn reason(&self) -> &str {
        &self.words.reason
    }

    /// The reason, as a sentence for people.
    pub(crate) fn message(&self) -> &str {
        &self.words.message
    }

    /// Generation of the binding that it describes.
    pub(crate) fn observed_generation(&self) -> i64 {
        self.observed_generation
    }

    pub(super) fn condition(&self) -> Condition {
        let ConditionWords {
            kind,
            status,
            reason,
            message,
        } = &*self.words;
        Condition {
            kind: (**kind).to_owned(),
            status: (**status).to_owned(),
            reason: (**reason).to_owned(),
            message: (**message).to_owned(),
            observed_generation: self.observed_generation,
            last_transition_time: self.last_transition_time,
        }
    }
}

impl KeptComponent {
    pub(super) fn new(component: Component, shared: &mut Shared) -> Self {
        let Component {
            name,
            replicas,
            replica_requirements,
        } = component;
        Self {
            name: shared.text(&name),
            replicas,
            requirements: replica_requirements.map(|requirements| shared.requirements.share(requirements)),
        }
    }

    pub(super) fn component(&self) -> Component {
        Component {
            name: (*self.name).to_owned(),
            replicas: self.replicas,
            replica_requirements: self.requirements.as_deref().cloned(),
        }
    }
}

impl Rare {
    /// True if no field is set.
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            components,
            graceful_eviction_tasks,
            suspension,
            workload_affinity_groups,
            annotation,
        } = self;
        components.is_empty()
            && graceful_eviction_tasks.is_empty()
            && suspension.is_none()
            && workload_affinity_groups.is_none()
            && annotation.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn a_version_keeps_its_text() {
        for text in [
            "",
            "0",
            "1",
            "00",
            "007",
            "+1",
            "-1",
            "18446744073709551615",
            "18446744073709551616",
            "x",
        ] {
            assert_eq!(Version::new(text.to_owned()).text(), text);
        }
        assert_eq!(size_of::<Version>(), size_of::<Box<str>>());
    }
}
