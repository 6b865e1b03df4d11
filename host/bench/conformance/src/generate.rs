//! Random cases. Each depends only on a seed and its number, so any case can be made again.
//!
//! The generator's stream is part of Divvy's contract (`divvy_framework_arithmetic::random`), so a seed gives the same cases in every
//! build of one version.

use std::collections::BTreeSet;
use std::iter;

use divvy_framework_arithmetic::random::Generator;
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::chance::{one_in, pick};
use crate::names::{self, FLEET, PLAIN, Words};
use crate::preferences::{self, AskedStrategy};
use crate::subject::Subject;

/// Features that the cases for a plugin should have.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Strategies to request, with the lists that a policy can give them.
    pub(crate) strategies: Vec<AskedStrategy>,
    /// Preferences for the plugin outside of a strategy.
    pub(crate) own: Option<preferences::Own>,
    /// True if bindings may have spread constraints.
    pub(crate) has_constraints: bool,
    /// True if bindings may be in workload affinity groups.
    pub(crate) has_groups: bool,
    /// Texts in the plugin's configuration, which clusters must contain for the plugin to do anything: a region, the key of a label.
    pub(crate) texts: Vec<String>,
}

impl Shape {
    /// The shape of the cases for a plugin: its own strategies, or those of the profile if it serves none.
    pub fn of(subject: &Subject) -> Self {
        let own = subject.strategies();
        let profile = subject.profile();
        let names = match own.is_empty() {
            true => profile.strategy_names(),
            false => own.clone(),
        };
        let declared = profile.declarations().strategies.iter();
        let mut lists = declared.flat_map(|declared| &declared.lists);
        let priorities = lists.find(|list| list.priorities).cloned();
        let asked = |name: String| {
            let is_own = own.contains(&name);
            let declared = profile.declarations().get(&name);
            let schema = is_own.then(|| subject.with_instance(preferences::schema)).flatten();
            AskedStrategy {
                lists: declared
                    .map(|declared| preferences::lists(&declared.lists))
                    .unwrap_or_default(),
                priorities: declared
                    .filter(|declared| !declared.refuses_priorities)
                    .and_then(|_| priorities.clone()),
                schema: schema.unwrap_or(Value::Null),
                name,
            }
        };
        Self {
            strategies: names.into_iter().map(asked).collect(),
            own: own.is_empty().then(|| preferences::Own::of(subject)).flatten(),
            has_constraints: profile.enforces_spread(),
            has_groups: profile.needs_placements(),
            texts: configured_texts(subject),
        }
    }
}

/// Noon of an ordinary day, in milliseconds since 1970.
pub(crate) const NOON: i64 = 1_800_000_000_000;

/// The case with this number.
pub fn case(shape: &Shape, seed: u64, number: u64) -> Case {
    let mut random = Generator::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15), "conformance");
    let random = &mut random;
    // Mostly a few clusters, in which a rule is easy to break; sometimes one, none or a few dozen.
    let clusters = match random.below(20) {
        0 => 0,
        1 => 1,
        2 => 10 + random.below(40),
        _ => 2 + random.below(7),
    };
    let size = Size::of(random);
    let words = if one_in(random, 3) { &FLEET } else { &PLAIN };
    let names = words.names(random, clusters);
    let clusters: Vec<Value> = names
        .iter()
        .map(|name| cluster(random, shape, name, size.scale, words))
        .collect();
    let mut binding = binding(random, shape, &names, size, words);
    // Groups mean nothing to a profile in which no plugin reads them.
    let (objects, key) = if shape.has_groups && !one_in(random, 3) {
        let peers = join_groups(random, &mut binding, &names, size.scale);
        let key = ["namespace", "name"].map(|field| binding["metadata"][field].as_str().unwrap_or_default().to_owned());
        (iter::once(binding).chain(peers).collect(), Some(key.join("/")))
    } else if one_in(random, 6) {
        (under_policy(random, binding), None)
    } else {
        (vec![binding], None)
    };
    Case {
        clusters,
        objects,
        binding: key,
        time: NOON + random.below(172_800_000) as i64,
    }
}

/// A case with so many clusters and replicas, and with ten times the room that these need.
pub(crate) fn wide_case(shape: &Shape, clusters: u64, replicas: i64, number: u64) -> Case {
    let random = &mut Generator::new(clusters.rotate_left(32) ^ number, "conformance: wide");
    let names = PLAIN.names(random, clusters);
    let size = Size {
        scale: replicas / i64::try_from(clusters).unwrap_or(i64::MAX).max(1) + 1,
        replicas: Some(replicas),
    };
    let objects = names
        .iter()
        .map(|name| cluster(random, shape, name, size.scale, &PLAIN));
    let clusters = objects.collect();
    let binding = binding(random, shape, &names, size, &PLAIN);
    Case {
        clusters,
        objects: vec![binding],
        binding: None,
        time: NOON,
    }
}

/// The order of magnitude of a case.
#[derive(Clone, Copy)]
struct Size {
    /// Factor of all counts.
    scale: i64,
    /// The replicas, if they are at a boundary.
    replicas: Option<i64>,
}

impl Size {
    /// Counts in the tens, near the end of 32 bits, or around a boundary, for which there is often enough room.
    fn of(random: &mut Generator) -> Self {
        match random.below(24) {
            0..=2 => Self {
                scale: 9_999_991,
                replicas: None,
            },
            3..=6 => {
                let replicas = names::boundary(random);
                Self {
                    scale: replicas / 20 + 1,
                    replicas: Some(replicas),
                }
            }
            _ => Self {
                scale: 1,
                replicas: None,
            },
        }
    }
}

fn text(random: &mut Generator, items: &[&str]) -> String {
    pick(random, items).unwrap_or_default().to_owned()
}

/// The texts of the plugin's configuration, and those that its schema has as defaults, if they are valid as keys and values of labels.
fn configured_texts(subject: &Subject) -> Vec<String> {
    fn collect(value: &Value, texts: &mut BTreeSet<String>) {
        match value {
            Value::String(text) => _ = texts.insert(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(keys) => keys.values().for_each(|value| collect(value, texts)),
            _ => {}
        }
    }
    let mut texts = BTreeSet::new();
    collect(&subject.configuration().configuration_of(subject.plugin()), &mut texts);
    let schema = subject.with_instance(|instance| instance.library().configuration_schema());
    let schema: Value = serde_json::from_str(&schema.unwrap_or_default()).unwrap_or_default();
    for key in schema["properties"].as_object().into_iter().flat_map(Map::values) {
        collect(&key["default"], &mut texts);
    }
    texts.retain(|text| {
        let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
        !text.is_empty() && text.len() <= 63 && text.chars().all(is_allowed)
    });
    texts.into_iter().collect()
}

/// A cluster with most of what a plugin can read.
pub(crate) fn cluster(random: &mut Generator, shape: &Shape, name: &str, scale: i64, words: &Words) -> Value {
    let fits = random.below(21) as i64 * scale;
    let mut object = json!({
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": { "name": name, "labels": { "tier": text(random, &["gold", "silver", "bronze"]) } },
        "spec": { "syncMode": "Push" },
        "status": {
            "apiEnablements": [{
                "groupVersion": "apps/v1",
                "resources": [{ "kind": "Deployment", "name": "deployments" }],
            }],
            "conditions": [{ "type": "Ready", "status": "True" }],
            "resourceSummary": { "allocatable": { "pods": fits.to_string() } },
        },
    });
    for (field, values) in [("region", words.regions), ("provider", words.providers)] {
        if !one_in(random, 6) {
            object["spec"][field] = text(random, values).into();
        }
    }
    if !one_in(random, 4) {
        let zones = words.zones.iter().copied().filter(|_| one_in(random, 2));
        object["spec"]["zones"] = zones.collect();
    }
    if one_in(random, 3) {
        object["status"]["resourceSummary"]["allocatable"]["cpu"] = random.below(40).to_string().into();
    }
    if one_in(random, 4) {
        object["metadata"]["annotations"] = json!({ "example.com/note": text(random, &["", "a", "7", "🦀"]) });
    }
    if one_in(random, 12) {
        let effect = text(random, &["NoSchedule", "NoExecute", "PreferNoSchedule"]);
        object["spec"]["taints"] = json!([{ "key": "maintenance", "value": "yes", "effect": effect }]);
    }
    if one_in(random, 24) {
        object["status"]["apiEnablements"] = json!([]);
    }
    if one_in(random, 24) {
        object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    }
    if one_in(random, 24) {
        object["status"] = json!({});
    }
    use_texts(random, &mut object, &shape.texts);
    add_usual_labels(&mut object, name);
    object
}

/// Labels that clusters of real fleets have, and values of them.
const USUAL_LABELS: [(&str, &[&str]); 8] = [
    ("env", &["prod", "staging", "dev"]),
    ("environment", &["production", "staging"]),
    ("region", &["eu", "us"]),
    ("zone", &["a", "b"]),
    ("provider", &["aws", "gcp", "on-premises"]),
    ("gpu", &["true", "false"]),
    ("maintenance", &["true", "false"]),
    ("dedicated", &["true", "batch"]),
];

/// Adds usual labels: a plugin may read one that neither its configuration nor its declaration names. By the name of the cluster, whose
/// labels are then the same in every case.
fn add_usual_labels(object: &mut Value, name: &str) {
    let random = &mut Generator::new(divvy_framework_abi::hash::hash_text(name), "conformance: labels");
    for (key, values) in USUAL_LABELS {
        if one_in(random, 2) && object["metadata"]["labels"][key].is_null() {
            object["metadata"]["labels"][key] = text(random, values).into();
        }
    }
}

/// Puts texts of the plugin's configuration into a cluster, each wherever a plugin may look for it.
fn use_texts(random: &mut Generator, cluster: &mut Value, texts: &[String]) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    if texts.is_empty() {
        return;
    }
    for field in ["region", "provider"] {
        if one_in(random, 2) {
            cluster["spec"][field] = text(random, &texts).into();
        }
    }
    if one_in(random, 2) {
        cluster["spec"]["zones"] = json!([text(random, &texts)]);
    }
    for key in &texts {
        for list in ["labels", "annotations"] {
            if one_in(random, 2) {
                let value = match one_in(random, 2) {
                    true => text(random, &texts),
                    false => (random.below(100) as f64 / 10.0).to_string(),
                };
                cluster["metadata"][list][*key] = value.into();
            }
        }
    }
}

/// A binding of a Deployment, with all fields that Karmada's API allows together.
fn binding(random: &mut Generator, shape: &Shape, names: &[String], size: Size, words: &Words) -> Value {
    let scale = size.scale;
    let replicas = match (size.replicas, random.below(12)) {
        (Some(replicas), _) => replicas,
        (None, 0) => 0,
        (None, 1) => i64::from(i32::MAX),
        // Not a multiple of the scale, so that there is something to round.
        (None, _) => ((1 + random.below(60) as i64) * scale + i64::from(scale > 1)).min(i64::from(i32::MAX)),
    };
    let number = random.below(1 << 32);
    let mut object = match words.is_real {
        true => deployment_binding_in(
            &text(random, &names::NAMESPACES),
            &text(random, &names::WORKLOADS),
            replicas,
        ),
        false => deployment_binding(&format!("web-{number:x}"), replicas),
    };
    if replicas == 0 || one_in(random, 3) {
        let requests = json!({ "resourceRequest": { "cpu": "500m" } });
        object["spec"]["replicaRequirements"] = if one_in(random, 4) { Value::Null } else { requests };
    }
    let mut last: Vec<Value> = Vec::new();
    if one_in(random, 2) {
        for name in names.iter().map(String::as_str).chain(["gone"]) {
            if one_in(random, 2) {
                last.push(json!({ "name": name, "replicas": random.below(21) as i64 * scale }));
            }
        }
        random.shuffle(&mut last);
    }
    object["spec"]["clusters"] = last.into();
    if one_in(random, 3) {
        object["spec"]["rescheduleTriggeredAt"] = "2026-01-02T00:00:00Z".into();
        object["status"] = json!({ "lastScheduledTime": "2026-01-01T00:00:00Z" });
    }
    if one_in(random, 8) {
        object["spec"]["schedulePriority"] = json!({ "priority": random.below(1000) });
    }
    if one_in(random, 10)
        && let Some(name) = names.first()
    {
        object["spec"]["gracefulEvictionTasks"] =
            json!([{ "fromCluster": name, "reason": "TaintUntolerated", "producer": "TaintManager" }]);
    }
    object["spec"]["placement"] = placement(random, shape, names, words);
    let annotations = annotations(random, shape, names, replicas);
    object["metadata"]["annotations"] = annotations.into();
    object
}

/// A binding with this name, which is its UID as well.
pub(crate) fn deployment_binding(name: &str, replicas: i64) -> Value {
    deployment_binding_in("default", name, replicas)
}

/// A binding with this namespace and this name, which is its UID as well.
pub(crate) fn deployment_binding_in(namespace: &str, name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": { "name": name, "namespace": namespace, "uid": name },
        "spec": {
            "resource": { "apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace, "name": name },
            "replicas": replicas,
            "placement": {},
        },
    })
}

fn placement(random: &mut Generator, shape: &Shape, names: &[String], words: &Words) -> Value {
    let mut placement = json!({});
    match random.below(10) {
        0 => placement["clusterAffinity"] = affinity(random, names, words),
        1 => {
            let group = |name: &str, affinity: Value| {
                let mut group = affinity;
                group["affinityName"] = name.into();
                group
            };
            let first = affinity(random, names, words);
            let second = affinity(random, names, words);
            placement["clusterAffinities"] = json!([group("first", first), group("second", second)]);
        }
        _ => {}
    }
    if one_in(random, 3) {
        placement["clusterTolerations"] = json!([{ "key": "maintenance", "operator": "Exists" }]);
    }
    if shape.has_constraints && one_in(random, 3) {
        placement["spreadConstraints"] = constraints(random);
    }
    placement
}

fn affinity(random: &mut Generator, names: &[String], words: &Words) -> Value {
    match random.below(3) {
        0 => json!({ "labelSelector": { "matchLabels": { "tier": text(random, &["gold", "silver"]) } } }),
        1 => json!({ "fieldSelector": { "matchExpressions": [
            { "key": "region", "operator": "In", "values": [text(random, words.regions)] },
        ] } }),
        _ => {
            let some: Vec<&String> = names.iter().filter(|_| !one_in(random, 3)).collect();
            json!({ "clusterNames": some })
        }
    }
}

/// One or two constraints. Karmada requires one by cluster if there are others.
fn constraints(random: &mut Generator) -> Value {
    let mut limits = |mut constraint: Value| {
        let minimum = 1 + random.below(3);
        constraint["minGroups"] = minimum.into();
        constraint["maxGroups"] = (minimum + random.below(3)).into();
        constraint
    };
    let by_cluster = limits(json!({ "spreadByField": "cluster" }));
    let other = ["cluster", "region", "provider", "zone"]
        .get(random.below(5) as usize)
        .copied();
    let other = match other {
        Some("cluster") => return json!([by_cluster]),
        Some(field) => json!({ "spreadByField": field }),
        None => json!({ "spreadByLabel": "tier" }),
    };
    let mut limited = other;
    let minimum = 1 + random.below(2);
    limited["minGroups"] = minimum.into();
    limited["maxGroups"] = (minimum + random.below(2)).into();
    match one_in(random, 2) {
        true => json!([limited]),
        false => json!([limited, { "spreadByField": "cluster", "minGroups": minimum, "maxGroups": minimum + 3 }]),
    }
}

fn annotations(random: &mut Generator, shape: &Shape, names: &[String], replicas: i64) -> Map<String, Value> {
    let mut annotations = Map::new();
    let all: Vec<&AskedStrategy> = shape.strategies.iter().collect();
    if let Some(strategy) = pick(random, &all) {
        annotations.insert("divvy.io/strategy".to_owned(), strategy.name.clone().into());
        let given = preferences::for_strategy(random, strategy, names, replicas);
        if let Some(given) = given {
            annotations.insert("divvy.io/preferences".to_owned(), given.to_string().into());
        }
    }
    if let Some(own) = &shape.own
        && one_in(random, 2)
    {
        annotations.insert(own.annotation.clone(), own.instance(random, names).to_string().into());
    }
    if one_in(random, 6) {
        annotations.insert("example.com/note".to_owned(), text(random, &["", "x"]).into());
    }
    annotations
}

/// Puts a binding into workload affinity groups. Returns other bindings of its namespace, most of them in the same groups.
///
/// A peer is on most of the clusters, so that several peers often have one in common, and sometimes on none or on one that is gone.
fn join_groups(random: &mut Generator, binding: &mut Value, names: &[String], scale: i64) -> Vec<Value> {
    let groups = match random.below(3) {
        0 => json!({ "affinityGroup": "app=shop" }),
        1 => json!({ "antiAffinityGroup": "app=shop" }),
        _ => json!({ "affinityGroup": "app=shop", "antiAffinityGroup": "tier=web" }),
    };
    let namespace = binding["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let mut peers = Vec::new();
    for number in 0..=random.below(3) {
        let mut peer = deployment_binding_in(&namespace, &format!("peer-{number}"), random.below(20) as i64 * scale);
        peer["spec"]["workloadAffinityGroups"] = match random.below(6) {
            0 => json!({ "affinityGroup": "app=other" }),
            1 => json!({ "antiAffinityGroup": "app=shop" }),
            _ => groups.clone(),
        };
        let mut clusters: Vec<Value> = Vec::new();
        if !one_in(random, 6) {
            for name in names {
                if !one_in(random, 3) {
                    clusters.push(json!({ "name": name, "replicas": 1 + random.below(9) as i64 * scale }));
                }
            }
        }
        if one_in(random, 12) {
            clusters.push(json!({ "name": "gone", "replicas": 1 }));
        }
        random.shuffle(&mut clusters);
        peer["spec"]["clusters"] = clusters.into();
        peers.push(peer);
    }
    binding["spec"]["workloadAffinityGroups"] = groups;
    peers
}

/// A policy and a workload in place of the binding.
fn under_policy(random: &mut Generator, binding: Value) -> Vec<Value> {
    let name = binding["spec"]["resource"]["name"].clone();
    let namespace = binding["metadata"]["namespace"].clone();
    let labels = json!({ "home": text(random, &["eu", "us", ""]) });
    let policy = json!({
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {
            "name": "policy",
            "namespace": namespace,
            "labels": labels,
            "annotations": binding["metadata"]["annotations"],
        },
        "spec": {
            "resourceSelectors": [{ "apiVersion": "apps/v1", "kind": "Deployment", "name": name }],
            "placement": binding["spec"]["placement"],
        },
    });
    let workload = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name, "namespace": namespace, "uid": name, "labels": labels },
        "spec": { "replicas": binding["spec"]["replicas"] },
    });
    vec![policy, workload]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(has_groups: bool, texts: &[&str]) -> Vec<Case> {
        let shape = Shape {
            strategies: Vec::new(),
            own: None,
            has_constraints: false,
            has_groups,
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
        };
        (0..60).map(|number| case(&shape, 1, number)).collect()
    }

    #[test]
    fn texts_of_the_configuration_are_in_clusters() {
        let clusters = |texts: &[&str]| -> Vec<Value> {
            let cases = cases(false, texts);
            cases.into_iter().flat_map(|case| case.clusters).collect()
        };
        let is_in_europe = |cluster: &Value| cluster["spec"]["region"] == "europe";
        assert!(!clusters(&[]).iter().any(is_in_europe));
        let known = clusters(&["europe", "example.com/tier"]);
        assert!(known.iter().any(is_in_europe));
        assert!(!known.iter().all(is_in_europe));
        for list in ["labels", "annotations"] {
            let with = known
                .iter()
                .filter_map(|cluster| cluster["metadata"][list]["example.com/tier"].as_str());
            let (named, numbers): (Vec<&str>, Vec<&str>) = with.partition(|value| value.parse::<f64>().is_err());
            assert!(
                !named.is_empty() && !numbers.is_empty(),
                "{list}: {named:?} {numbers:?}"
            );
        }
    }

    #[test]
    fn bindings_have_peers_where_a_plugin_reads_them() {
        let has_peers = |case: &Case| {
            let bindings = || case.objects.iter().filter(|object| object["kind"] == "ResourceBinding");
            let groups = |binding: &Value| binding["spec"]["workloadAffinityGroups"]["affinityGroup"] == "app=shop";
            let is_placed = |binding: &Value| {
                binding["spec"]["clusters"]
                    .as_array()
                    .is_some_and(|list| !list.is_empty())
            };
            let own = bindings().next().is_some_and(groups);
            own && bindings().skip(1).any(|peer| groups(peer) && is_placed(peer))
        };
        assert!(!cases(false, &[]).iter().any(has_peers));
        let cases = cases(true, &[]);
        assert!(cases.iter().filter(|case| has_peers(case)).count() > 10);
        // The binding that is decided is named, because others are read with it.
        for case in cases.iter().filter(|case| has_peers(case)) {
            let metadata = &case.objects[0]["metadata"];
            let [namespace, name] = ["namespace", "name"].map(|key| metadata[key].as_str().unwrap_or_default());
            assert_eq!(case.binding, Some(format!("{namespace}/{name}")));
        }
    }
}
