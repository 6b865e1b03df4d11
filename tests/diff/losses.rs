//! Losses of clusters where most bindings are duplicated: a forecast need not decide these again to give the same result.

use divvy_forecast::future::Options;
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::profile::ConfiguredProfile;
use serde_json::{Value, json};

use crate::artifacts::fixture;
use crate::manifests::list;
use crate::scheduling::{Host, detected, filters_with};

use super::equality::check_losses;
use super::fleets::FleetManifests;
use super::{side, situation, threads};

const FLEETS: u64 = 60;

fn side_with(lines: &str) -> ConfiguredProfile {
    ConfiguredProfile {
        profile: Host::extending(lines).shared(),
        ..side()
    }
}

/// A filter whose verdict on a cluster depends on the others, and which does not promise otherwise.
fn quorum() -> String {
    let filters = filters_with(&["quorum"]);
    format!("{filters}plugin.quorum.path = {:?}\n", fixture("company"))
}

/// Number of bindings that a forecast of losses need not decide again, and of all.
fn kept(fleet: &FleetManifests, side: &ConfiguredProfile) -> (usize, usize) {
    let situation = situation(&fleet.objects());
    let mut scheduler = Scheduler::new(side.profile.clone());
    let keeps = situation.bindings.iter().filter(|binding| {
        let recurring = scheduler.recurring(binding);
        scheduler.keeps_the_rest(binding, &recurring)
    });
    (keeps.count(), situation.bindings.len())
}

#[test]
fn duplicated_bindings_lose_only_the_lost_clusters() {
    let (mut keeping, mut all) = (0, 0);
    let (mut displaced, mut rehomed, mut lost) = (0, 0, 0);
    for number in 0..FLEETS {
        let fleet = FleetManifests::duplicated(number);
        let assumes = number % 4 != 0;
        for row in check_losses(&fleet, &side(), Options { assumes, ..threads(1) }) {
            displaced += row.displaced;
            rehomed += row.rehomed;
            lost += row.lost;
        }
        let (some, of) = kept(&fleet, &side());
        keeping += some;
        all += of;
    }
    // The fleets are of use only if many bindings are of either kind, and losses do all of it.
    assert!(keeping * 4 > all && keeping * 4 < all * 3, "{keeping} of {all}");
    assert!(
        displaced > 2000 && rehomed > 500 && lost > 500,
        "{displaced} {rehomed} {lost}"
    );
}

#[test]
fn peers_of_duplicated_bindings_see_a_loss() {
    let side = side_with(&filters_with(&["workload-affinity", "workload-anti-affinity"]));
    let mut keeping = 0;
    for number in 0..FLEETS / 3 {
        let fleet = FleetManifests::duplicated(number);
        check_losses(&fleet, &side, threads(1));
        keeping += kept(&fleet, &side).0;
    }
    assert!(keeping > 50, "{keeping}");
}

/// A cluster that is the last of its region leaves every binding, although it is not lost itself.
#[test]
fn a_filter_that_compares_clusters_is_asked_again_after_each_loss() {
    let side = side_with(&quorum());
    for number in 0..FLEETS / 3 {
        let fleet = FleetManifests::duplicated(number);
        check_losses(&fleet, &side, threads(1));
        assert_eq!(kept(&fleet, &side).0, 0, "fleet {number}");
    }
}

/// A binding with this placement, and these fields beside it.
fn binding(placement: Value, fields: Value) -> Value {
    let mut binding = json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": "w", "namespace": "default", "uid": "u"},
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "w"},
            "replicas": 2,
            "placement": placement,
        },
    });
    for (key, value) in fields.as_object().expect("fields are an object") {
        match key.as_str() {
            "annotations" => binding["metadata"][key] = value.clone(),
            _ => binding["spec"][key] = value.clone(),
        }
    }
    binding
}

#[test]
fn only_what_each_plugin_promises_is_relied_on() {
    let affinity = filters_with(&["workload-affinity", "workload-anti-affinity"]);
    let company = |filter: &str| filters_with(&[filter]) + "select = ['company']\n";
    let duplicated = || json!({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}});
    let divided =
        json!({"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}});
    let spread = json!({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]});
    let group = |name: &str| json!({"affinityName": name, "clusterNames": [name]});
    let groups = json!({"clusterAffinities": [group("a"), group("b")]});
    let one_group = json!({"clusterAffinities": [group("a")]});
    let overflowing = json!({"clusterAffinities": [{"affinityName": "a", "clusterNames": ["a"], "overflowAffinities": [group("b")]}]});
    let nothing = || json!({});
    let tiers = json!({"annotations": {"divvy.io/affinity-groups": "tiers"}});
    let member = || json!({"workloadAffinityGroups": {"affinityGroup": "app=a"}});
    let cases = [
        ("duplicated", "", duplicated(), nothing(), true),
        ("without a placement", "", json!({}), nothing(), true),
        ("one group", "", one_group, nothing(), true),
        ("divided", "", divided, nothing(), false),
        ("spread constraints", "", spread, nothing(), false),
        ("several groups", "", groups.clone(), nothing(), false),
        ("groups that are tiers", "", groups, tiers, false),
        ("a group that overflows", "", overflowing, nothing(), false),
        ("a member, no filter reads peers", "", duplicated(), member(), true),
        ("a member", affinity.as_str(), duplicated(), member(), false),
        ("not a member", affinity.as_str(), duplicated(), nothing(), true),
        ("a filter promises", &company("company"), duplicated(), nothing(), true),
        ("a filter does not promise", &quorum(), duplicated(), nothing(), false),
        (
            "a score does not promise",
            "scores = [{ plugin = 'neighbours' }]\n",
            duplicated(),
            nothing(),
            false,
        ),
        (
            "a selector does not promise",
            "select = ['few-per-provider', 'spread-constraints']\n",
            duplicated(),
            nothing(),
            false,
        ),
        (
            "a strategy does not promise",
            "assign = ['false-duplicate']\n",
            json!({}),
            json!({"annotations": {"divvy.io/strategy": "FalseDuplicate"}}),
            false,
        ),
    ];
    for (name, lines, placement, fields, expected) in cases {
        let (_, detected) = detected(&list([binding(placement, fields)]));
        let [binding] = detected.bindings.as_slice() else {
            panic!("{name}: {:?}", detected.bindings);
        };
        let mut scheduler = Scheduler::new(side_with(lines).profile);
        let recurring = scheduler.recurring(binding);
        assert_eq!(scheduler.keeps_the_rest(binding, &recurring), expected, "{name}");
    }
}
