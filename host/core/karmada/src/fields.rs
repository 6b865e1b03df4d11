//! Every field of Karmada's resources, and of Kubernetes' workloads, by which misspelt ones are recognised.
//!
//! The types of [`crate::api`] list only what a scheduler reads, so they cannot distinguish a misspelt field from one that
//! other controllers read. `schemas/` has all of them, as Karmada v1.19-rc defines them.

mod workloads;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::api::TypeMeta;

/// The lists of fields. Each resource begins with a line `## KIND GROUP/VERSION …`; `As KIND, …` repeats another one's fields.
const TEXTS: [&str; 3] = [
    include_str!("../schemas/karmada.txt"),
    include_str!("../schemas/cluster.txt"),
    include_str!("../schemas/overrides.txt"),
];

/// Fields that Divvy reads and Karmada's API server prunes, so that they occur in files only: the end of the kind, the path,
/// the reason.
pub const EXTENSIONS: [(&str, &str, &str); 6] = [
    (
        "Binding",
        "spec.components[].replicaRequirements.namespace",
        "one type serves replicas with and without components",
    ),
    ("Binding", "spec.placement.clusterPriority", PRIORITIES),
    ("PropagationPolicy", "spec.placement.clusterPriority", PRIORITIES),
    ("Binding", EXTENDED_PREFERENCE, STRATEGY),
    ("PropagationPolicy", EXTENDED_PREFERENCE, STRATEGY),
    (
        "PropagationPolicy",
        "spec.replicas",
        "a proposal for a policy's own total",
    ),
];
const PRIORITIES: &str = "a proposal for priorities of clusters beside any strategy";
const EXTENDED_PREFERENCE: &str = "spec.placement.replicaScheduling.extendReplicaDivisionPreference";
const STRATEGY: &str = "a proposal for the name of any strategy";

/// Path at which a policy may have objects of its own choosing: the lists of strategies.
const PREFERENCES: &str = "spec.placement.replicaScheduling";

/// Fields of Kubernetes' `ObjectMeta`, and the `annotation` of `specified-replicas.md`, solution three.
const METADATA: [&str; 16] = [
    "annotation",
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The kinds in Karmada's groups (v1.19-rc). A kind with `List` at its end is a list of them.
pub const KINDS: [&str; 20] = [
    "Cluster",
    "ClusterOverridePolicy",
    "ClusterPropagationPolicy",
    "ClusterResourceBinding",
    "ClusterTaintPolicy",
    "CronFederatedHPA",
    "FederatedHPA",
    "FederatedResourceQuota",
    "Karmada",
    "MultiClusterIngress",
    "MultiClusterService",
    "OverridePolicy",
    "PropagationPolicy",
    "Remedy",
    "ResourceBinding",
    "ResourceInterpreterCustomization",
    "ResourceInterpreterWebhookConfiguration",
    "ResourceRegistry",
    "Work",
    "WorkloadRebalancer",
];

/// The fields below one field of a resource.
#[derive(Debug, Default)]
pub struct FieldTree {
    fields: BTreeMap<&'static str, Self>,
    /// The items of a list, or the values of a map.
    each: Option<Box<Self>>,
    accepts_objects: bool,
    /// The words that the API server takes; empty for any.
    allowed: Vec<&'static str>,
    /// The fewest items that the API server takes in a list.
    items_min: usize,
    /// The fewest and the most characters that the API server takes in a text.
    lengths: (usize, Option<usize>),
    /// The least number that the API server takes.
    minimum: Option<i64>,
    /// True if the API server refuses an object without the field.
    is_required: bool,
}

impl FieldTree {
    /// The fields of a kind; `None` if the kind is not listed.
    pub fn of(kind: &str) -> Option<&'static Self> {
        static KINDS: LazyLock<BTreeMap<&str, FieldTree>> = LazyLock::new(read);
        KINDS.get(kind)
    }

    /// The fields of one of Kubernetes' own workloads; `None` for any other kind.
    pub fn of_workload(type_meta: &TypeMeta) -> Option<&'static Self> {
        static KINDS: LazyLock<BTreeMap<&str, FieldTree>> = LazyLock::new(workloads::read);
        KINDS.get(format!("{} {}", type_meta.api_version, type_meta.kind).as_str())
    }

    /// A list of such items.
    fn list_of(item: Self) -> Self {
        Self {
            each: Some(Box::new(item)),
            ..Self::default()
        }
    }

    /// The fields of this object; `None` for any other value, and for an object whose fields are not listed.
    pub fn fields(&self) -> Option<&BTreeMap<&'static str, Self>> {
        (!self.fields.is_empty()).then_some(&self.fields)
    }

    /// The items of a list, or the values of a map.
    pub fn each(&self) -> Option<&Self> {
        self.each.as_deref()
    }

    /// True if a policy may add objects here, as strategies read lists of their own from `replicaScheduling`.
    pub fn accepts_objects(&self) -> bool {
        self.accepts_objects
    }

    /// The words that Karmada's API server takes for this field; empty for any.
    pub fn allowed(&self) -> &[&'static str] {
        &self.allowed
    }

    /// The fewest items that Karmada's API server takes in this list.
    pub fn items_min(&self) -> usize {
        self.items_min
    }

    /// The fewest and the most characters that Karmada's API server takes in this text; `None` for any number.
    pub fn lengths(&self) -> (usize, Option<usize>) {
        self.lengths
    }

    /// The least number that Karmada's API server takes for this field; `None` for any.
    pub fn minimum(&self) -> Option<i64> {
        self.minimum
    }

    /// True if Karmada's API server refuses an object without this field.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// The field at a path, added if it is new.
    fn at(&mut self, path: &'static str) -> &mut Self {
        path.split('.').fold(self, |tree, segment| {
            let name = segment.trim_end_matches(['[', ']', '{', '}']);
            let levels = (segment.len() - name.len()) / 2;
            let field = tree.fields.entry(name).or_default();
            (0..levels).fold(field, |field, _| field.each.get_or_insert_default())
        })
    }
}

fn read() -> BTreeMap<&'static str, FieldTree> {
    let mut kinds = BTreeMap::new();
    for text in TEXTS {
        for section in text.split("\n## ").skip(1) {
            let kind = section.split_once(' ').map_or(section, |(kind, _)| kind);
            kinds.insert(kind, tree(kind, paths(text, section)));
        }
    }
    kinds
}

/// The paths in a section, or in the one that it refers to, each with its description.
fn paths(text: &'static str, section: &'static str) -> Vec<(&'static str, &'static str)> {
    let referred = section
        .lines()
        .find_map(|line| line.strip_prefix("As ")?.split(',').next());
    let section = match referred {
        Some(kind) => text
            .split("\n## ")
            .find(|section| section.starts_with(&format!("{kind} "))),
        None => Some(section),
    };
    let lines = section.into_iter().flat_map(str::lines).skip(1);
    lines.filter_map(|line| line.split_once(": ")).collect()
}

/// The words in a description such as `string enum=['Always', 'Never'] default=Never`.
fn allowed(description: &'static str) -> Vec<&'static str> {
    let words = description
        .split_once("enum=[")
        .and_then(|(_, words)| words.split_once(']'));
    let words = words.map_or("", |(words, _)| words).split(", ");
    words
        .filter_map(|word| word.strip_prefix('\'')?.strip_suffix('\''))
        .collect()
}

/// The number of a limit in a description such as `array required minItems=1`.
fn limit<Number: FromStr>(description: &str, name: &str) -> Option<Number> {
    let mut words = description.split(' ').filter_map(|word| word.split_once('='));
    words.find(|(word, _)| *word == name)?.1.parse().ok()
}

fn tree(kind: &str, paths: Vec<(&'static str, &'static str)>) -> FieldTree {
    let mut tree = FieldTree::default();
    for (path, description) in paths {
        let field = tree.at(path);
        field.allowed = allowed(description);
        field.is_required = description.split(' ').any(|word| word == "required");
        field.items_min = limit(description, "minItems").unwrap_or(0);
        field.lengths = (
            limit(description, "minLength").unwrap_or(0),
            limit(description, "maxLength"),
        );
        field.minimum = limit(description, "minimum");
    }
    for name in METADATA {
        tree.at("metadata").at(name);
    }
    for (ending, path, _) in EXTENSIONS {
        if kind.ends_with(ending) {
            tree.at(path);
        }
    }
    if kind.ends_with("PropagationPolicy") || kind.ends_with("Binding") {
        tree.at(PREFERENCES).accepts_objects = true;
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_path_is_in_the_tree() {
        for kind in [
            "ResourceBinding",
            "ClusterResourceBinding",
            "PropagationPolicy",
            "ClusterPropagationPolicy",
            "OverridePolicy",
            "ClusterOverridePolicy",
            "FederatedResourceQuota",
            "Cluster",
        ] {
            let tree = FieldTree::of(kind).unwrap_or_else(|| panic!("{kind} is listed"));
            assert!(tree.fields.contains_key("spec"), "{kind}");
            assert_eq!(tree.fields["metadata"].fields.len(), METADATA.len());
        }
        assert!(FieldTree::of("Deployment").is_none());
    }

    #[test]
    fn words_that_the_api_server_takes_are_known() {
        let policy = FieldTree::of("ClusterPropagationPolicy").expect("it is listed");
        let spec = &policy.fields["spec"];
        assert_eq!(spec.fields["preemption"].allowed(), ["Always", "Never"]);
        assert_eq!(spec.fields["activationPreference"].allowed(), ["Lazy"]);
        assert!(spec.fields["schedulerName"].allowed().is_empty());
        let selectors = &spec.fields["resourceSelectors"];
        assert_eq!((selectors.items_min(), selectors.is_required()), (1, true));
        assert_eq!((spec.items_min(), spec.fields["placement"].is_required()), (0, false));
        let placement = &spec.fields["placement"];
        let group = placement.fields["clusterAffinities"].each().expect("it is a list");
        assert_eq!(group.fields["affinityName"].lengths(), (1, Some(32)));
        assert_eq!(group.fields["clusterNames"].lengths(), (0, None));
        let weights = &placement.fields["replicaScheduling"].fields["weightPreference"];
        let lists = weights.fields.values().filter_map(FieldTree::each);
        let weight = lists.into_iter().next().expect("it has one list");
        assert_eq!(weight.fields["weight"].minimum(), Some(1));
        assert_eq!(spec.fields["priority"].minimum(), None);
    }

    #[test]
    fn lists_maps_and_open_objects_are_distinguished() {
        let binding = FieldTree::of("ResourceBinding").expect("it is listed");
        let spec = &binding.fields["spec"];
        let target = spec.fields["clusters"].each().expect("it is a list");
        assert!(target.fields.contains_key("replicas"));
        let requirements = &spec.fields["replicaRequirements"];
        assert!(requirements.fields["resourceRequest"].fields().is_none());
        assert!(requirements.fields["resourceRequest"].each().is_some());
        assert!(spec.fields["placement"].fields["replicaScheduling"].accepts_objects());
        assert!(spec.fields["placement"].fields["clusterPriority"].fields().is_none());
    }
}
