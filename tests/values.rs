//! Values that plugins keep per snapshot and per binding, through a library and a host.

use std::sync::Arc;

use divvy_scheduler::fleet::Fleet;
use divvy_scheduler::scheduler::Scheduler;

use crate::changed_sdk;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, detected, told};

/// A filter and strategy whose only result is a report of the values that it got.
const SOURCE: &str = r#"#![forbid(unsafe_code)]
use std::sync::atomic::{AtomicU32, Ordering};

use divvy_framework::prelude::*;

static DROPPED: AtomicU32 = AtomicU32::new(0);

#[derive(Default)]
struct Keeper {
    snapshots: AtomicU32,
    bindings: AtomicU32,
}

/// Number of the value, number of the value that it was made from, clusters.
struct Kept(u32, u32, usize);

impl Drop for Kept {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Default, Preferences)]
#[serde(default)]
struct KeeperPreferences {
    refuse: bool,
    word: String,
}

impl Plugin for Keeper {
    const NAME: &'static str = "keeper";
    const DESCRIPTION: &'static str = "keeps values";
}

impl SnapshotValuePlugin for Keeper {
    type SnapshotValue = Kept;

    fn snapshot_value(&self, context: &SnapshotValueContext<'_>, previous: Option<&Kept>) -> Result<Kept, Failure> {
        let number = self.snapshots.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(context.changed_rows().is_none());
        Ok(Kept(number, previous.map_or(0, |previous| previous.0), context.clusters().len()))
    }
}

impl BindingValuePlugin for Keeper {
    type BindingValue = String;

    fn binding_value(&self, context: &BindingValueContext<'_, Self>) -> Result<String, Failure> {
        let preferences = context.preferences::<KeeperPreferences>()?;
        if preferences.is_some_and(|preferences| preferences.refuse) {
            return Err(Failure::preferences("refuse", "it was asked to refuse"));
        }
        let number = self.bindings.fetch_add(1, Ordering::Relaxed) + 1;
        let word = preferences.map_or("none", |preferences| preferences.word.as_str());
        let last = context.binding().last().filter(|last| last.row.is_some()).count();
        Ok(format!("{} {number} {word} {last}", context.binding().name()))
    }
}

impl FilterPlugin for Keeper {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        assert_eq!(context.snapshot_value()?.2, context.clusters().len());
        context.binding_value()?;
        Ok(())
    }
}

impl AssignPlugin<KeeperPreferences> for Keeper {
    const STRATEGIES: &'static [&'static str] = &["Keeper"];
    const PROMISES: Promises = Promises::NONE;

    fn assign(
        &self,
        context: &AssignContext<'_, Self, KeeperPreferences>,
        _: &mut AssignResult<'_>,
    ) -> Result<(), Failure> {
        let Kept(number, previous, clusters) = context.snapshot_value()?;
        Err(Failure::unschedulable(format!(
            "snapshot {number} after {previous}, {clusters} clusters, {} dropped; binding {}",
            DROPPED.load(Ordering::Relaxed),
            context.binding_value()?,
        )))
    }
}

divvy_framework::export_plugin!(Keeper: Filter, Assign, SnapshotValue, BindingValue);
"#;

#[test]
fn values_are_made_once_per_snapshot_and_once_per_plan() {
    let library = changed_sdk::plugin_of("values", SOURCE, &[]);
    let host = Host::extending(&format!(
        "filters = ['keeper']\nassign = ['keeper', 'average']\n[profile.plugin.keeper]\npath = '{}'\n",
        library.display()
    ));
    let preferences = serde_json::json!({ "word": "hello" });
    let refusing = serde_json::json!({ "refuse": true });
    let keeper = |name| binding(name, 3).strategy("Keeper");
    let (manifests, found) = detected(&list([
        cluster("a", 4).into(),
        cluster("b", 4).into(),
        keeper("first").preferences(&preferences).last([("a", 1)]).into(),
        keeper("second").into(),
        keeper("third").preferences(&refusing).into(),
        // The filter is called for it as well, but it is not its strategy.
        binding("fourth", 2).strategy("Average").into(),
    ]));
    let mut fleet = Fleet::new(false);
    fleet.extend(manifests.clusters.iter().map(|cluster| &cluster.object));
    let mut scheduler = Scheduler::new(host.shared());
    let mut decide = |fleet: &mut Fleet, name: &str| {
        let binding = found
            .bindings
            .iter()
            .find(|binding| binding.object.metadata.name == name);
        let binding = binding.unwrap_or_else(|| panic!("there is a binding `{name}`"));
        told(&scheduler.schedule(binding, &fleet.snapshot()))
    };
    let expected = |snapshot: &str, dropped: u32, binding: &str| {
        format!("Unschedulable: snapshot {snapshot}, {dropped} dropped; binding {binding}")
    };
    let first = "1 after 0, 2 clusters";
    for _ in 0..2 {
        assert_eq!(decide(&mut fleet, "first"), expected(first, 0, "first 1 hello 0"));
        assert_eq!(decide(&mut fleet, "second"), expected(first, 0, "second 2 none 0"));
        assert_eq!(
            decide(&mut fleet, "third"),
            "Error: the binding's `divvy.io/preferences`: plugin `keeper`: refuse: it was asked to refuse"
        );
        assert_eq!(decide(&mut fleet, "fourth"), "a=1 b=1");
    }
    // Another snapshot: the next value is made from the kept one, which is then dropped. Values of bindings stay.
    let (more, _) = detected(&list([cluster("c", 4).into()]));
    fleet.extend(more.clusters.iter().map(|cluster| &cluster.object));
    for _ in 0..2 {
        let second = "2 after 1, 3 clusters";
        assert_eq!(decide(&mut fleet, "first"), expected(second, 1, "first 1 hello 0"));
        assert_eq!(decide(&mut fleet, "second"), expected(second, 1, "second 2 none 0"));
    }
    // Another plan of the same binding.
    let mut changed = found.bindings[0].clone();
    changed.object.spec.replicas = Some(9);
    let decision = Scheduler::new(Arc::clone(&host.shared())).schedule(&changed, &fleet.snapshot());
    assert_eq!(told(&decision), expected("2 after 1, 3 clusters", 1, "first 4 hello 0"));
}
