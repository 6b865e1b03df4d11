//! Where the profile `default` decides otherwise than `karmada`, as `examples/deploy/SWITCHING.md` says: one small binding for each cause
//! that needs no control plane. That `karmada` decides as Karmada's scheduler does, the recorded decisions show.

use divvy_loader::PluginDirectories;
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, weights};
use crate::scheduling::{Host, configuration, name_libraries};

/// The built-in profile `karmada`.
fn karmada() -> Host {
    let mut configuration = configuration("extends = 'karmada'\n");
    name_libraries(&mut configuration);
    Host::new(&configuration, &PluginDirectories::default())
        .unwrap_or_else(|errors| panic!("the profile cannot be built: {errors:?}"))
}

/// Two clusters in a region, and a smaller one in another.
fn told(host: &Host, binding: Binding) -> String {
    let clusters = [("a1", "east", 10), ("a2", "east", 10), ("b1", "west", 6)];
    let clusters = clusters.map(|(name, region, fits)| Value::from(cluster(name, fits).region(region)));
    host.told(clusters.into_iter().chain([binding.into()]))
}

/// Six replicas, divided by what fits, under spread constraints: a field, minGroups, and maxGroups unless it is absent.
fn spread(constraints: &[(&str, i64, Option<i64>)]) -> Binding {
    let constraints = constraints.iter().map(|(field, least, most)| {
        let mut constraint = json!({"spreadByField": field, "minGroups": least});
        if let Some(most) = most {
            constraint["maxGroups"] = json!(most);
        }
        constraint
    });
    binding("web", 6)
        .placement("spreadConstraints", constraints.collect())
        .placement(
            "replicaScheduling",
            json!({
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {"dynamicWeight": "AvailableReplicas"},
            }),
        )
}

fn weighted(name: &str, replicas: i64, list: &[(&str, i64)]) -> Binding {
    binding(name, replicas).placement(
        "replicaScheduling",
        json!({
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": weights(list.iter().copied()),
        }),
    )
}

/// Karmada's scheduler reads a `maxGroups` that is not there as 0; its API documents that there is then no limit.
#[test]
fn an_absent_maximum_of_a_spread_constraint_is_no_limit_under_default_and_zero_under_karmada() {
    let karmada = karmada();
    for (constraints, by_default, by_karmada) in [
        (
            &[("cluster", 2, None)][..],
            "a1=3 a2=2 b1=1",
            "Unschedulable: no enough resource when selecting 0 clusters",
        ),
        (
            &[("region", 2, None)],
            "a1=3 a2=2 b1=1",
            "Unschedulable: the number of clusters is less than the cluster spreadConstraint.MinGroups",
        ),
        // No constraint by cluster is one without a maximum, too: each region is then left with one cluster.
        (&[("region", 1, Some(1))], "a1=3 a2=3", "a1=6"),
        (&[("region", 2, Some(2))], "a1=3 a2=2 b1=1", "a1=4 b1=2"),
        (&[("region", 1, Some(1)), ("cluster", 1, None)], "a1=3 a2=3", "a1=6"),
        // With every maximum, nothing differs.
        (
            &[("region", 1, Some(1)), ("cluster", 1, Some(2))],
            "a1=3 a2=3",
            "a1=3 a2=3",
        ),
    ] {
        let actual = told(Host::built_in(), spread(constraints));
        assert_eq!(actual, by_default, "default, {constraints:?}");
        let actual = told(&karmada, spread(constraints));
        assert!(actual.starts_with(by_karmada), "karmada, {constraints:?}: {actual}");
    }
}

#[test]
fn rounding_differs_where_small_weights_have_less_than_a_replica_each() {
    let karmada = karmada();
    let list = [("a1", 8), ("a2", 1), ("b1", 1)];
    // Shares of 5.6, 0.7 and 0.7. Two replicas are left of whole ones: `default` gives them to the first two by weight.
    assert_eq!(told(Host::built_in(), weighted("web", 7, &list)), "a1=6 b1=1");
    assert_eq!(told(&karmada, weighted("web", 7, &list)), "a1=5 a2=1 b1=1");
}

#[test]
fn ties_differ_between_equal_clusters() {
    let karmada = karmada();
    let list = [("a1", 1), ("a2", 1), ("b1", 1)];
    let decided = |host: &Host, name: &str| {
        let clusters = ["a1", "a2", "b1"].map(|name| Value::from(cluster(name, 10)));
        host.told(clusters.into_iter().chain([weighted(name, 5, &list).into()]))
    };
    // Both give two clusters a second replica, and each chooses them by the UID in its own way.
    let names: Vec<String> = (0..20).map(|number| format!("web-{number}")).collect();
    let differs = |name: &&String| decided(Host::built_in(), name) != decided(&karmada, name);
    let differing = names.iter().filter(differs).count();
    assert!((1..20).contains(&differing), "{differing} of 20 differ");
}
