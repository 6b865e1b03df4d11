//! Tables of the profile in a live scheduler: a changed one, and rows for clusters that come and go.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::simulation::Simulation;
use super::{cluster, clusters};
use crate::artifacts::fixture;

/// A folder with the tables of the plugin `cheap-power`.
struct Tables(tempfile::TempDir);

impl Tables {
    fn new(power: &str) -> Self {
        let tables = Self(tempfile::tempdir().expect("a folder"));
        tables.write("carbon.toml", "[a]\nintensity = 0\n[b]\nintensity = 0\n");
        tables.write("power.csv", power);
        tables
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).expect("the table can be written");
    }

    /// The lines of a profile with both tables.
    fn lines(&self) -> String {
        format!(
            "filters = ['cheap-power', 'cluster-affinity']\nscores = [{{ plugin = 'cheap-power' }}]\n\
             plugin.cheap-power.path = '{library}'\n\
             table.power.file = '{folder}/power.csv'\n\
             table.power.columns = {{ price = {{ type = 'decimal', scale = 2 }}, note = 'text', full = 'boolean' }}\n\
             table.carbon.file = '{folder}/carbon.toml'\ntable.carbon.columns = {{ intensity = 'integer' }}\n",
            library = fixture("cheap-power").display(),
            folder = self.0.path().display(),
        )
    }
}

#[test]
fn a_changed_table_is_tried_and_then_decides() {
    let tables = Tables::new("name,price,note,full\na,10,,\nb,20,,\n");
    let mut simulation = Simulation::with_profile(&tables.lines(), &[cluster("a", 10), cluster("b", 10)]);
    let one = json!({
        "replicas": 1,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {
            "replicaScheduling": {"replicaSchedulingType": "Duplicated"},
            "spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 1}],
        },
    });
    simulation.create("before", one.clone());
    assert_eq!(simulation.result("before"), clusters(&[("a", 1)]));
    let information = simulation.scraped("divvy_profile{");
    tables.write("power.csv", "name,price,note,full\na,30,,\nb,20,,\n");
    let trial = simulation.exchange(&tables.lines());
    assert_eq!((trial.decisions, trial.refusal), (1, None));
    // Its hash shows that the decisions come from another profile.
    assert_ne!(simulation.scraped("divvy_profile{"), information);
    simulation.create("after", one);
    assert_eq!(simulation.result("after"), clusters(&[("b", 1)]));
    // Satisfied bindings stay where they are, as with any other profile.
    assert_eq!(simulation.result("before"), clusters(&[("a", 1)]));
}

/// Records the warnings about rows of tables.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("recording does not panic"))
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().ends_with("stray_rows")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Row(String);
        impl Visit for Row {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if field.name() == "row" {
                    write!(self.0, "{value:?}").expect("writing to a string succeeds");
                }
            }
        }
        let mut row = Row(event.metadata().level().to_string());
        event.record(&mut row);
        self.0.lock().expect("recording does not panic").push(row.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn a_row_for_a_cluster_that_does_not_exist_is_a_warning() {
    let tables = Tables::new("name,price,note,full\na,10,,\nb,20,,\nz,5,,\n");
    let power = tables.0.path().join("power.csv").display().to_string();
    let about = |line: usize, name: &str| format!("WARN\"{power}:{line}: no cluster is named `{name}`\"");
    let duplicated = super::duplicated(json!({}));
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        let mut simulation = Simulation::with_profile(&tables.lines(), &[cluster("a", 10), cluster("b", 10)]);
        simulation.create("first", duplicated.clone());
        assert_eq!(simulation.result("first"), clusters(&[("a", 2), ("b", 2)]));
        assert_eq!(warnings.take(), [about(4, "z")]);
        simulation.create("second", duplicated.clone());
        assert_eq!(warnings.take(), Vec::<String>::new());
        // A cluster goes, another comes, and each row is reported once.
        simulation.remove_cluster("b");
        simulation.cluster(&cluster("z", 10));
        simulation.create("third", duplicated.clone());
        let carbon = tables.0.path().join("carbon.toml").display().to_string();
        let mut told = warnings.take();
        told.sort();
        let b = format!("WARN\"{carbon}:3: no cluster is named `b`\"");
        let mut expected = vec![b, about(3, "b")];
        expected.sort();
        assert_eq!(told, expected);
        assert_eq!(simulation.result("third"), clusters(&[("a", 2), ("z", 2)]));
    });
}
