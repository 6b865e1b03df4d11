//! Everything that a plan reads from a binding, borrowed and hashed as a whole.
//!
//! A plan can be cached as long as its input stays the same. Because a plan is made from this type alone, the hash
//! cannot miss anything that the plan reads. Freshness and the observed affinity group are not included, because they
//! affect only the cycle.
//!
//! A binding need not be in Karmada's type to be decided: a parsed [`Binding`] and the record of a live store are both [`Decidable`].

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use divvy_karmada::api::{Placement, ResourceList, StringMap, TargetCluster, WorkloadAffinityGroups};
use divvy_karmada::detector::{Binding, PolicyFacts, WorkloadFacts};

/// Annotation that records the placement by which a binding was scheduled. Karmada's taint manager and descheduler refuse
/// bindings without it.
pub const APPLIED_PLACEMENT: &str = "policy.karmada.io/applied-placement";

/// Annotation that records the request that Divvy's last decision answered: see
/// [`AppliedPolicy`](crate::decide::policy::AppliedPolicy).
pub const APPLIED_POLICY: &str = "divvy.io/applied-policy";

/// Annotation of a binding on which a plugin's worker died: when it is tried again.
pub const PLUGIN_FAILURE: &str = "divvy.io/plugin-failure";

/// Annotation of a binding that is on its way to another result: see [`Mark`](crate::moves::mark::Mark).
pub const MOVE_ANNOTATION: &str = "divvy.io/move";

/// Annotation with what left clusters against the policy's wish: see [`Left`](crate::moves::failback::Left).
pub const FAILBACK_ANNOTATION: &str = "divvy.io/failback";

/// Annotation with the target that a plan has for a binding: see [`PlannedTarget`](crate::moves::planned::PlannedTarget).
pub const PLANNED_ANNOTATION: &str = "divvy.io/planned-target";

/// The annotations of a binding that decisions and moves write. A planned target is not among them: whoever carries out the plan writes it.
pub const WRITTEN_ANNOTATIONS: [&str; 5] = [
    APPLIED_PLACEMENT,
    APPLIED_POLICY,
    PLUGIN_FAILURE,
    MOVE_ANNOTATION,
    FAILBACK_ANNOTATION,
];

/// The parts of a binding that its plan depends on.
#[derive(Debug, Clone, Hash)]
pub struct PlanInput<'a> {
    /// Kind of the binding.
    pub kind: &'static str,
    /// Namespace of the binding; empty for a `ClusterResourceBinding`.
    pub namespace: &'a str,
    /// Name of the binding.
    pub name: &'a str,
    /// UID of the binding; empty outside a control plane.
    pub uid: &'a str,
    /// Labels of the binding.
    pub labels: TextMap<'a>,
    /// Annotations of the binding.
    pub annotations: Annotations<'a>,
    /// The singular `metadata.annotation` of `specified-replicas.md`, solution three.
    pub annotation: Option<&'a str>,
    /// API version, kind, namespace, name and UID of the resource.
    pub resource: [&'a str; 5],
    /// Replicas that the resource requests.
    pub replicas: i64,
    /// True if the resource has replicas.
    pub is_workload: bool,
    /// Requests of one replica; `None` if they are unknown.
    pub requests: Option<&'a ResourceList>,
    /// Name, replicas and requests of each pod template, for a resource with several.
    pub components: Vec<(&'a str, i64, Option<&'a ResourceList>)>,
    /// Last result, in the order of the binding.
    pub last: &'a [TargetCluster],
    /// Clusters that the resource is being evicted from, in the order of the eviction tasks.
    pub evicted_from: Vec<&'a str>,
    /// The placement as written. `None` means every cluster, duplicated.
    pub placement: Option<&'a Placement>,
    /// Workload affinity groups of the binding. Only a warning depends on them.
    pub affinity_groups: Option<&'a WorkloadAffinityGroups>,
    /// Facts from the policy beyond its placement.
    pub policy: Option<&'a PolicyFacts>,
    /// Labels and annotations of the workload, if they are known.
    pub workload: Option<&'a WorkloadFacts>,
    /// Priority in the scheduling queue.
    pub priority: i32,
}

/// A binding that can be decided, in whatever form it is kept.
pub trait Decidable {
    /// The input of its plan.
    fn input(&self) -> PlanInput<'_>;

    /// Name of the last affinity group used; empty if there was none.
    fn observed_affinity(&self) -> &str;
}

impl Decidable for Binding {
    fn input(&self) -> PlanInput<'_> {
        PlanInput::new(self)
    }

    fn observed_affinity(&self) -> &str {
        Self::observed_affinity(self)
    }
}

/// Labels or annotations, sorted by key. Both forms of the same texts have the same hash.
#[derive(Debug, Clone, Copy)]
pub enum TextMap<'a> {
    /// In Karmada's type.
    Own(&'a StringMap),
    /// With texts that many objects share.
    Shared(&'a [(Arc<str>, Arc<str>)]),
}

impl<'a> TextMap<'a> {
    /// Every key with its text.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let (own, shared) = match self {
            Self::Own(own) => (Some(own), &[][..]),
            Self::Shared(shared) => (None, shared),
        };
        let own = own.into_iter().flatten();
        let own = own.map(|(key, text)| (key.as_str(), text.as_str()));
        own.chain(shared.iter().map(|(key, text)| (&**key, &**text)))
    }

    /// The text of a key.
    pub fn get(self, key: &str) -> Option<&'a str> {
        match self {
            Self::Own(own) => own.get(key).map(String::as_str),
            Self::Shared(shared) => {
                let index = shared.binary_search_by(|(own, _)| (**own).cmp(key)).ok()?;
                Some(&*shared[index].1)
            }
        }
    }

    fn len(self) -> usize {
        match self {
            Self::Own(own) => own.len(),
            Self::Shared(shared) => shared.len(),
        }
    }
}

impl<'a> From<&'a StringMap> for TextMap<'a> {
    fn from(texts: &'a StringMap) -> Self {
        Self::Own(texts)
    }
}

impl Hash for TextMap<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The count separates the texts from the next field.
        state.write_usize(self.len());
        for text in self.iter() {
            text.hash(state);
        }
    }
}

/// The annotations of a binding, without those that decisions write, so that deciding again gives the same result.
#[derive(Debug, Clone, Copy)]
pub struct Annotations<'a>(TextMap<'a>);

impl<'a> Annotations<'a> {
    /// The annotations of an object, of which those that decisions write are left out.
    pub fn new(all: impl Into<TextMap<'a>>) -> Self {
        Self(all.into())
    }

    /// Every annotation, sorted by key.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0
            .iter()
            .filter(|(key, _)| !WRITTEN_ANNOTATIONS.contains(key) && *key != PLANNED_ANNOTATION)
    }

    /// All annotations of an object, including those that decisions write, for lookups.
    pub(crate) fn all(self) -> TextMap<'a> {
        self.0
    }
}

impl Hash for Annotations<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for annotation in self.iter() {
            annotation.hash(state);
        }
        // The count separates the annotations from the next field.
        state.write_usize(self.iter().count());
    }
}

impl<'a> PlanInput<'a> {
    /// Collects the input for a binding's plan.
    pub fn new(binding: &'a Binding) -> Self {
        let Binding {
            object,
            policy,
            workload,
            ..
        } = binding;
        let spec = &object.spec;
        let resource = &spec.resource;
        Self {
            kind: object.scope().kind(),
            namespace: &object.metadata.namespace,
            name: &object.metadata.name,
            uid: &object.metadata.uid,
            labels: TextMap::from(&object.metadata.labels),
            annotations: Annotations::new(&object.metadata.annotations),
            annotation: object.metadata.annotation.as_deref(),
            resource: [
                &resource.api_version,
                &resource.kind,
                &resource.namespace,
                &resource.name,
                &resource.uid,
            ],
            replicas: binding.replicas(),
            is_workload: binding.is_workload(),
            requests: spec.replica_requirements.as_ref().map(|needs| &needs.resource_request),
            components: spec
                .components
                .iter()
                .map(|component| {
                    let needs = component.replica_requirements.as_ref();
                    let requests = needs.map(|needs| &needs.resource_request);
                    (component.name.as_str(), i64::from(component.replicas), requests)
                })
                .collect(),
            last: &spec.clusters,
            evicted_from: spec
                .graceful_eviction_tasks
                .iter()
                .map(|task| task.from_cluster.as_str())
                .collect(),
            placement: spec.placement.as_deref(),
            affinity_groups: spec.workload_affinity_groups.as_ref(),
            policy: policy.as_deref(),
            workload: workload.as_ref(),
            priority: binding.priority(),
        }
    }

    /// Hash of the whole input. Equal inputs have equal hashes in every run of the same build.
    pub fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// `<namespace>/<name>`, or only the name if there is no namespace.
    pub fn full_name(&self) -> String {
        match self.namespace {
            "" => self.name.to_owned(),
            namespace => [namespace, "/", self.name].concat(),
        }
    }

    /// Text that breaks ties, together with a seed: the UID if there is one, otherwise kind, namespace and name.
    pub fn identity(&self) -> String {
        if self.uid.is_empty() {
            [self.kind, "/", self.namespace, "/", self.name].concat()
        } else {
            self.uid.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A plan is made again if anything changes that a plugin can see.
    #[test]
    fn the_key_covers_everything_that_plugins_see() {
        let facts = || (PolicyFacts::default(), WorkloadFacts::default());
        let binding = |policy: PolicyFacts, workload: WorkloadFacts| Binding {
            policy: Some(Arc::new(policy)),
            workload: Some(workload),
            ..Binding::default()
        };
        let pair = || StringMap::from([("key".to_owned(), "value".to_owned())]);
        let mut keys = std::collections::BTreeSet::new();
        let mut add = |binding: &Binding| assert!(keys.insert(PlanInput::new(binding).key()), "{binding:?}");
        let (policy, workload) = facts();
        add(&binding(policy.clone(), workload.clone()));
        for change in 0..4 {
            let (mut policy, mut workload) = facts();
            let fields = [
                &mut policy.labels,
                &mut policy.annotations,
                &mut workload.labels,
                &mut workload.annotations,
            ];
            *fields.into_iter().nth(change).unwrap() = pair();
            add(&binding(policy, workload));
        }
        add(&Binding {
            workload: None,
            ..binding(policy.clone(), workload.clone())
        });
        let mut urgent = binding(policy, workload);
        urgent.object.spec.schedule_priority = Some(serde_json::from_str(r#"{"priority": 7}"#).unwrap());
        add(&urgent);
        urgent.object.metadata.annotations = pair();
        add(&urgent);
    }

    /// A live store shares texts, and a plan by its records must be the one of the object.
    #[test]
    fn shared_texts_are_the_same_texts() {
        let own: StringMap = ["b", "a", "c"].map(|key| (key.to_owned(), key.to_uppercase())).into();
        let shared: Vec<(Arc<str>, Arc<str>)> = own
            .iter()
            .map(|(key, text)| (key.as_str().into(), text.as_str().into()))
            .collect();
        let forms = [TextMap::from(&own), TextMap::Shared(&shared)];
        let hash = |texts: TextMap<'_>| {
            let mut hasher = DefaultHasher::new();
            texts.hash(&mut hasher);
            hasher.finish()
        };
        for texts in forms {
            assert_eq!(texts.iter().collect::<Vec<_>>(), [("a", "A"), ("b", "B"), ("c", "C")]);
            assert_eq!(["a", "c", "d"].map(|key| texts.get(key)), [Some("A"), Some("C"), None]);
            assert_eq!(hash(texts), hash(forms[0]));
        }
        assert_ne!(hash(TextMap::Shared(&shared[1..])), hash(forms[0]));
    }

    /// A binding is decided alike before and after its decision is written to it.
    #[test]
    fn what_a_decision_leaves_is_not_a_part_of_the_input() {
        let mut binding = Binding::default();
        let annotations = |keys: &[&str]| {
            let pairs = keys.iter().map(|key| ((*key).to_owned(), "{}".to_owned()));
            pairs.collect::<StringMap>()
        };
        binding.object.metadata.annotations = annotations(&["a", "z"]);
        let before = PlanInput::new(&binding).key();
        let mut decided = binding.clone();
        decided.object.metadata.annotations = annotations(&["a", "z", APPLIED_PLACEMENT, APPLIED_POLICY]);
        let input = PlanInput::new(&decided);
        assert_eq!(input.key(), before);
        assert_eq!(
            input.annotations.iter().map(|(key, _)| key).collect::<Vec<_>>(),
            ["a", "z"]
        );
    }
}
