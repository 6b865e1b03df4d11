//! Parts of a binding that plugins act on: a plugin is not called for a binding without them, which makes no other difference.

use std::sync::{Arc, Mutex, PoisonError};

use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::plugin::{Call, CallError, CallObserver};
use divvy_scheduler::profile::Profile;
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, list};
use crate::scheduling::{Host, read, told};

/// Names of the plugins that filtered and scored.
#[derive(Default)]
struct Called(Mutex<Vec<&'static str>>);

impl Called {
    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallObserver for Called {
    fn begins(&self, plugin: &'static str, call: Call) {
        if matches!(call, Call::Filter | Call::Score) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(plugin);
        }
    }

    fn ends(&self, _: &'static str, _: Call, _: Option<&CallError>) {}
}

const ALL: [&str; 9] = [
    "api-enablement",
    "taint-toleration",
    "cluster-affinity",
    "spread-constraint-properties",
    "cluster-eviction",
    "tree",
    "workload-affinity",
    "workload-anti-affinity",
    "cluster-locality",
];

/// Observes the plugins of a host that no other test uses.
fn observed(host: &Host) -> Arc<Called> {
    let called = Arc::new(Called::default());
    let observer: Arc<dyn CallObserver> = called.clone();
    host.profile().observe(&observer);
    called
}

fn objects(binding: Binding) -> String {
    let clusters = [("a", 9), ("b", 7), ("c", 5)].map(|(name, fits)| Value::from(cluster(name, fits).region("eu")));
    list(clusters.into_iter().chain([binding.into()]))
}

/// Decides the only binding of a manifest with explanations; returns the decision and everything else that a user sees.
fn decided(profile: &Arc<Profile>, manifest: &str) -> (String, String) {
    let (bindings, fleet) = read(manifest);
    let placements = divvy_scheduler::placements::Placements::of(&bindings);
    let mut scheduler = Scheduler::new(Arc::clone(profile))
        .knowing(Some(Arc::new(placements)))
        .explaining(true);
    let decision = scheduler.schedule(&bindings[0], &fleet);
    (
        told(&decision),
        format!("{:?} {:?}", decision.figures, decision.explanation),
    )
}

fn plain() -> Binding {
    binding("web", 4).strategy("Average")
}

#[test]
fn a_plugin_is_called_for_bindings_with_a_part_that_it_acts_on() {
    let host = Host::with_filters(&["workload-affinity", "workload-anti-affinity"]);
    let called = observed(&host);
    let trusting = host.shared();
    let distrusting = ALL
        .into_iter()
        .fold(Profile::clone(&trusting), Profile::distrusting_parts_of);
    let distrusting = Arc::new(distrusting);
    let group = |kind: &str| plain().spec("workloadAffinityGroups", json!({ kind: "app=shop" }));
    let affinity = |affinity: Value| plain().placement("clusterAffinity", affinity);
    for (binding, expected, result) in [
        (plain(), vec![], "a="),
        (plain().last([("b", 4)]), vec!["cluster-locality"], "b=2"),
        // What counts is the part, not what it means for the clusters.
        (plain().last([("gone", 4)]), vec!["cluster-locality"], "a="),
        (plain().last([("b", 0)]), vec!["cluster-locality"], "b=2"),
        (
            plain().spec("gracefulEvictionTasks", json!([{ "fromCluster": "a" }])),
            vec!["cluster-eviction", "tree"],
            "b=2 c=2",
        ),
        (
            plain().placement(
                "spreadConstraints",
                json!([{ "spreadByField": "region", "minGroups": 1 }]),
            ),
            vec!["spread-constraint-properties"],
            "a=",
        ),
        (affinity(json!({})), vec!["cluster-affinity"], "a="),
        (
            affinity(json!({ "clusterNames": ["b"] })),
            vec!["cluster-affinity"],
            "b=4",
        ),
        (group("affinityGroup"), vec!["workload-affinity"], "a="),
        (group("antiAffinityGroup"), vec!["workload-anti-affinity"], "a="),
    ] {
        let manifest = objects(binding);
        called.take();
        let with_trust = decided(&trusting, &manifest);
        let always = ["api-enablement", "taint-toleration"];
        let expected: Vec<&str> = ALL
            .into_iter()
            .filter(|name| always.contains(name) || expected.contains(name))
            .collect();
        assert_eq!(called.take(), expected, "{manifest}");
        assert_eq!(with_trust, decided(&distrusting, &manifest), "{manifest}");
        assert_eq!(called.take(), ALL, "{manifest}");
        assert!(with_trust.0.contains(result), "{with_trust:?} {manifest}");
    }
}

/// Placements that are not known may have the binding in any group.
#[test]
fn unknown_placements_are_an_error_of_a_binding_in_a_group() {
    let host = Host::with_filters(&["workload-affinity"]);
    let (bindings, fleet) = read(&objects(
        plain().spec("workloadAffinityGroups", json!({ "affinityGroup": "app=shop" })),
    ));
    let decision = host.scheduler().schedule(&bindings[0], &fleet);
    assert!(told(&decision).contains("workload-affinity"), "{decision:?}");
    let (bindings, fleet) = read(&objects(plain()));
    let decision = host.scheduler().schedule(&bindings[0], &fleet);
    assert!(told(&decision).starts_with("a="), "{decision:?}");
}

/// Nearly every decision is one of the built-in profile, of which no plugin needs placements, so they are not known.
#[test]
fn unknown_placements_make_no_call_in_the_built_in_profile() {
    let host = Host::extending("");
    let called = observed(&host);
    let (bindings, fleet) = read(&objects(plain()));
    let decision = host.scheduler().schedule(&bindings[0], &fleet);
    assert!(told(&decision).starts_with("a="), "{decision:?}");
    assert_eq!(called.take(), ["api-enablement", "taint-toleration"]);
}

/// Otherwise, preferences that no plugin reads would be refused for some bindings and ignored for others.
#[test]
fn a_plugin_with_preferences_is_called_for_every_binding() {
    let (bindings, fleet) = read(&objects(
        plain().annotation("divvy.io/preferences.cluster-eviction", r#"{"patience": 3}"#),
    ));
    let decision = Host::built_in().scheduler().schedule(&bindings[0], &fleet);
    let told = told(&decision);
    let names_both = told.starts_with("Error: ") && told.contains("`cluster-eviction`") && told.contains("`patience`");
    assert!(names_both, "{told}");
}
