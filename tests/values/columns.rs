//! A value is made anew only if a column that the plugin declared for it has changed.

use std::path::PathBuf;
use std::sync::LazyLock;

use divvy_karmada::api::Cluster;
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::fleet::Fleet;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::changed_sdk;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, detected, told};

/// A filter and strategy that keeps the labels and the location of all clusters. The filter compares them with those of the
/// clusters that it sees.
const SOURCE: &str = r#"#![forbid(unsafe_code)]
use std::sync::atomic::{AtomicU32, Ordering};

use divvy_framework::clusters::{Clusters, Row, Symbol};
use divvy_framework::prelude::*;

#[derive(Clone, Copy, Default, PartialEq, Eq, Configuration)]
enum Reads {
    #[default]
    Declared,
    Taints,
    Resources,
    Conditions,
}

#[derive(Clone, Copy, Default, Configuration)]
#[serde(default)]
struct SparingConfiguration {
    reads: Reads,
}

struct Sparing {
    reads: Reads,
    values: AtomicU32,
}

impl Plugin for Sparing {
    const NAME: &'static str = "sparing";
    const DESCRIPTION: &'static str = "keeps labels and locations";
}

impl ConfiguredPlugin for Sparing {
    type Configuration = SparingConfiguration;

    fn new(configuration: SparingConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { reads: configuration.reads, values: AtomicU32::new(0) })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    name: String,
    region: Symbol,
    zones: Vec<Symbol>,
    labels: Vec<(String, String)>,
}

fn kept(clusters: Clusters<'_>, row: Row) -> Kept {
    let cluster = clusters.get(row);
    Kept {
        name: cluster.name().to_owned(),
        region: clusters.regions()[row],
        zones: cluster.zone_symbols().to_vec(),
        labels: cluster.labels().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
    }
}

impl SnapshotValuePlugin for Sparing {
    type SnapshotValue = (u32, Vec<Kept>);
    const READS: ClusterColumns = ClusterColumns::NONE.labels().location();

    fn snapshot_value(
        &self,
        context: &SnapshotValueContext<'_>,
        previous: Option<&(u32, Vec<Kept>)>,
    ) -> Result<(u32, Vec<Kept>), Failure> {
        let number = self.values.fetch_add(1, Ordering::Relaxed) + 1;
        let clusters = context.clusters();
        match self.reads {
            Reads::Declared => {}
            Reads::Taints => _ = clusters.any_tainted(),
            Reads::Resources => _ = clusters.remaining("cpu").map(|remaining| remaining[Row::from_index(0)]),
            Reads::Conditions => _ = clusters.get(Row::from_index(0)).conditions().count(),
        }
        let (Some((_, previous)), Some(changed)) = (previous, context.changed_rows()) else {
            return Ok((number, clusters.rows().map(|row| kept(clusters, row)).collect()));
        };
        let mut rows = previous.clone();
        for &row in changed {
            rows[row.index()] = kept(clusters, row);
        }
        Ok((number, rows))
    }
}

impl FilterPlugin for Sparing {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        let clusters = context.clusters();
        let anew: Vec<Kept> = clusters.rows().map(|row| kept(clusters, row)).collect();
        match context.snapshot_value()?.1 == anew {
            true => Ok(()),
            false => Err(Failure::internal("the kept value is not what a new one would be")),
        }
    }
}

impl AssignPlugin for Sparing {
    const STRATEGIES: &'static [&'static str] = &["Sparing"];
    const PROMISES: Promises = Promises::NONE;

    fn assign(&self, context: &AssignContext<'_, Self>, _: &mut AssignResult<'_>) -> Result<(), Failure> {
        Err(Failure::unschedulable(format!("value {}", context.snapshot_value()?.0)))
    }
}

divvy_framework::export_plugin!(Sparing: Filter, Assign, SnapshotValue);
"#;

fn host(more: &str) -> Host {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| changed_sdk::plugin_of("sparing", SOURCE, &[]));
    Host::extending(&format!(
        "filters = ['sparing']\nassign = ['sparing']\n[profile.plugin.sparing]\npath = '{}'\n{more}",
        LIBRARY.display()
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
