//! Clusters that a filter cordons, under every strategy: they take no further replicas, and a cordon moves nothing.

use std::sync::LazyLock;

use divvy_scheduler::decision::{Decision, Outcome, decide};
use proptest::prelude::*;
use serde_json::Value;

use super::configuration;
use super::situation::{Situation, dividing, situations};
use crate::manifests::list;
use crate::scheduling::{Host, filters_with, read, scheduled};

/// A profile whose clusters with the label `maintenance=now` are in a window at any time of this century.
fn host() -> &'static Host {
    static HOST: LazyLock<(tempfile::TempDir, Host)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("windows.csv");
        let text = "value,announced,begins,ends,weekly,evict,announced-by\n\
                    now,,2000-01-01T00:00:00Z,2100-01-01T00:00:00Z,,,\n";
        std::fs::write(&file, text).expect("the table can be written");
        let host = Host::extending(&format!(
            "{}[profile.table.windows]\nfile = '{}'\nkey = 'label:maintenance'\nrows = 'several'\n\
             columns = {{ announced = 'time', begins = 'time', ends = 'time', weekly = 'weekly', evict = 'boolean', \
             announced-by = 'text' }}\n",
            filters_with(&["maintenance-windows"]),
            file.display()
        ));
        (folder, host)
    });
    &HOST.1
}

/// The decision of a strategy, with the clusters of `closed` (a bit each) in a window.
fn decided(situation: &Situation, strategy: &str, closed: u8) -> Decision {
    let mut objects: Vec<Value> = situation.objects(strategy);
    for (number, object) in objects.iter_mut().take(situation.places.len()).enumerate() {
        if closed >> number & 1 == 1 {
            object["metadata"]["labels"]["maintenance"] = "now".into();
        }
    }
    let (bindings, fleet) = read(&list(objects));
    let mut scheduler = host().scheduler().deciding_at(Some(1_800_000_000_000));
    let mut decisions = decide(&mut scheduler, &bindings, &fleet);
    assert_eq!(decisions.len(), 1);
    decisions.remove(0)
}

/// The counts of a result in the order of the situation's clusters; `None` if it is refused.
fn counts(situation: &Situation, decision: &Decision) -> Option<Vec<i64>> {
    match &decision.outcome {
        Outcome::Scheduled(_) => {
            let targets = scheduled(decision);
            let places = situation.places.iter();
            Some(
                places
                    .map(|place| targets.get(place.name).copied().unwrap_or(0))
                    .collect(),
            )
        }
        Outcome::Failed(error) => {
            assert!(["Unschedulable", "NoClusterFit"].contains(&error.kind()), "{error}");
            None
        }
        Outcome::Skipped(reason) => panic!("{reason}"),
    }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn a_cordoned_cluster_takes_no_further_replicas(situation in situations(), closed in any::<u8>()) {
        let strategies = dividing().map(|strategy| strategy.name).chain(["Duplicated"]);
        for strategy in strategies {
            let decision = decided(&situation, strategy, closed);
            let Some(counts) = counts(&situation, &decision) else { continue };
            for ((number, place), count) in situation.places.iter().enumerate().zip(&counts) {
                if closed >> number & 1 == 1 {
                    prop_assert!(*count <= place.last(), "{strategy}: {} has {count}, had {}", place.name, place.last());
                }
            }
            if strategy != "Duplicated" {
                prop_assert_eq!(counts.iter().sum::<i64>(), situation.replicas, "{}", strategy);
            }
        }
    }

    /// Purpose: a window that begins moves no replica of a binding at rest. A cordoned cluster without any is not a candidate, and static
    /// weights divide anew if the candidates change, so only clusters with replicas are cordoned here.
    #[test]
    fn a_binding_at_rest_keeps_everything(situation in situations(), closed in any::<u8>()) {
        let inert = dividing().filter(|strategy| strategy.is_inert).map(|strategy| strategy.name);
        for strategy in inert.chain(["Duplicated"]) {
            let Some(before) = counts(&situation, &decided(&situation, strategy, 0)) else { continue };
            let mut rest = situation.after(&before);
            rest.fresh = false;
            let with_replicas = (0..8).filter(|number| before.get(*number).is_some_and(|count| *count > 0));
            let of_them = with_replicas.fold(0, |all, number| all | (closed & 1 << number));
            let after = counts(&rest, &decided(&rest, strategy, of_them));
            prop_assert_eq!(after.as_ref(), Some(&before), "{}", strategy);
        }
    }
}
