//! A value is made anew only if a column that the plugin declared for it has changed.

use divvy_karmada::api::Cluster;
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::fleet::Fleet;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::artifacts::fixture;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, detected, told};

/// A host with a filter and strategy that keeps the labels and the location of all clusters. The filter compares them with those of
/// the clusters that it sees.
fn host(more: &str) -> Host {
    Host::extending(&format!(
        "filters = ['sparing']\nassign = ['sparing']\n[profile.plugin.sparing]\npath = '{}'\n{more}",
        fixture("sparing").display()
    ))
}

/// Decides on one binding, again and again.
struct Decider {
    scheduler: Scheduler,
    binding: divvy_karmada::detector::Binding,
    fleet: Fleet,
}

impl Decider {
    fn new(host: &Host) -> Self {
        let (_, mut found) = detected(&list([binding("web", 3).strategy("Sparing").into()]));
        Self {
            scheduler: host.scheduler(),
            binding: found.bindings.remove(0),
            fleet: Fleet::new(false),
        }
    }

    fn upsert(&mut self, object: Value) {
        let cluster: Cluster = serde_json::from_value(object).expect("a cluster");
        self.fleet.upsert(&cluster);
    }

    fn decide(&mut self) -> String {
        told(&self.scheduler.schedule(&self.binding, &self.fleet.snapshot()))
    }

    /// Number of values that the plugin made so far.
    #[track_caller]
    fn values(&mut self) -> u32 {
        let answer = self.decide();
        let number = answer.strip_prefix("Unschedulable: value ");
        let number = number.and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("no number of a value: {answer}"))
    }
}

/// A cluster, and what may change in it.
#[derive(Debug, Clone, Default)]
struct Contents {
    labels: u8,
    region: u8,
    zone: u8,
    taint: u8,
    fits: u8,
    condition: u8,
    annotation: u8,
    api: u8,
    deleting: bool,
}

impl Contents {
    fn object(&self, name: &str) -> Value {
        let mut object = Value::from(cluster(name, i64::from(self.fits) + 1));
        let metadata = &mut object["metadata"];
        // Some labels share their texts with other columns.
        metadata["labels"] =
            json!({ "tier": format!("text-{}", self.labels / 2), "kind": format!("kind-{}", self.labels) });
        metadata["annotations"] = json!({ "note": format!("text-{}", self.annotation) });
        if self.deleting {
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        object["spec"]["region"] = format!("text-{}", self.region).into();
        object["spec"]["zones"] = json!([format!("text-{}", self.zone)]);
        object["spec"]["taints"] = json!([{ "key": format!("text-{}", self.taint), "effect": "PreferNoSchedule" }]);
        object["status"]["conditions"] = json!([
            { "type": "Ready", "status": "True", "reason": format!("text-{}", self.condition) }
        ]);
        object["status"]["apiEnablements"] = json!([
            { "groupVersion": "apps/v1", "resources": [{ "name": "deployments", "kind": "Deployment" }] },
            { "groupVersion": format!("text-{}", self.api), "resources": [{ "name": "things", "kind": "Thing" }] },
        ]);
        object
    }
}

fn name(number: u8) -> String {
    format!("cluster-{number}")
}

#[test]
fn only_a_change_of_declared_columns_makes_another_value() {
    let mut decider = Decider::new(&host(""));
    let first = Contents::default();
    for number in 0..3 {
        decider.upsert(first.object(&name(number)));
    }
    assert_eq!(decider.values(), 1);
    let changes: [(&str, Contents, u32); 9] = [
        (
            "free capacity",
            Contents {
                fits: 7,
                ..first.clone()
            },
            1,
        ),
        (
            "taint",
            Contents {
                taint: 7,
                ..first.clone()
            },
            1,
        ),
        (
            "condition",
            Contents {
                condition: 7,
                ..first.clone()
            },
            1,
        ),
        (
            "annotation",
            Contents {
                annotation: 7,
                ..first.clone()
            },
            1,
        ),
        (
            "API",
            Contents {
                api: 7,
                ..first.clone()
            },
            1,
        ),
        (
            "deletion",
            Contents {
                deleting: true,
                ..first.clone()
            },
            1,
        ),
        (
            "label",
            Contents {
                labels: 7,
                ..first.clone()
            },
            2,
        ),
        (
            "region",
            Contents {
                labels: 7,
                region: 7,
                ..first.clone()
            },
            3,
        ),
        (
            "zone",
            Contents {
                labels: 7,
                region: 7,
                zone: 7,
                ..first.clone()
            },
            4,
        ),
    ];
    for (what, contents, expected) in changes {
        decider.upsert(contents.object("cluster-1"));
        assert_eq!(decider.values(), expected, "{what}");
    }
    // What changed before a value was kept once more does not count again.
    decider.upsert(
        Contents {
            fits: 3,
            ..first.clone()
        }
        .object("cluster-2"),
    );
    assert_eq!(decider.values(), 4);
    // Rows have other numbers.
    decider.upsert(first.object("cluster-3"));
    assert_eq!(decider.values(), 5);
    decider.fleet.remove("cluster-0");
    assert_eq!(decider.values(), 6);
}

#[test]
fn reading_an_undeclared_column_is_an_error_of_the_plugin() {
    for (reads, expected) in [
        ("taints", "taints"),
        ("resources", "resources"),
        ("conditions", "conditions"),
    ] {
        let mut decider = Decider::new(&host(&format!("configuration = {{ reads = '{reads}' }}\n")));
        decider.upsert(Contents::default().object("cluster-0"));
        let expected = format!(
            "Error: plugin `sparing` failed: reads columns for its snapshot value that `READS` does not declare: `{expected}`"
        );
        for _ in 0..4 {
            assert_eq!(decider.decide(), expected, "never quarantined: it is no panic");
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Change(u8, Contents),
    Remove(u8),
    /// A heartbeat: only the free capacity changes.
    Heartbeat(u8, u8),
    Decide,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let small = 0..4_u8;
    let contents = (prop::array::uniform8(small), prop::bool::weighted(0.1)).prop_map(
        |([labels, region, zone, taint, fits, condition, annotation, api], deleting)| Contents {
            labels,
            region,
            zone,
            taint,
            fits,
            condition,
            annotation,
            api,
            deleting,
        },
    );
    let step = prop_oneof![
        3 => (0..6_u8, contents).prop_map(|(number, contents)| Step::Change(number, contents)),
        1 => (0..6_u8).prop_map(Step::Remove),
        4 => (0..6_u8, 0..9_u8).prop_map(|(number, fits)| Step::Heartbeat(number, fits)),
        6 => Just(Step::Decide),
    ];
    prop::collection::vec(step, 1..60)
}

/// The filter fails if the kept value differs from a new one.
#[test]
fn a_value_that_is_kept_over_random_changes_is_what_a_new_one_would_be() {
    let host = host("");
    let kept = std::cell::Cell::new(0_u32);
    let mut runner = proptest::test_runner::TestRunner::new(Config::with_cases(60));
    let result = runner.run(&steps(), |steps| {
        let mut decider = Decider::new(&host);
        let mut known: std::collections::BTreeMap<u8, Contents> = [(9, Contents::default())].into();
        decider.upsert(known[&9].object(&name(9)));
        let mut values = decider.decide();
        for step in steps {
            match step {
                Step::Change(number, contents) => {
                    decider.upsert(contents.object(&name(number)));
                    known.insert(number, contents);
                }
                Step::Remove(number) => {
                    decider.fleet.remove(&name(number));
                    known.remove(&number);
                }
                Step::Heartbeat(number, fits) => {
                    if let Some(contents) = known.get_mut(&number) {
                        contents.fits = fits;
                        decider.upsert(contents.object(&name(number)));
                    }
                }
                Step::Decide => {
                    let answer = decider.decide();
                    prop_assert!(answer.starts_with("Unschedulable: value "), "{}", answer);
                    kept.set(kept.get() + u32::from(answer == values));
                    values = answer;
                }
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(kept.get() > 100, "values were kept {} times", kept.get());
}
