//! A snapshot of a store that was changed step by step reads like one of a store that was filled at once.

use std::collections::BTreeMap;
use std::fmt::Debug;

use divvy_framework_view::clusters::{Column, Condition, Resource, Row, Symbol, Taint};
use divvy_framework_view::words::{ConditionStatus, TaintEffect};
use proptest::prelude::*;

use crate::snapshot::{ClusterWriter, Snapshot, SnapshotStore};

/// A cluster whose texts are given as small numbers, so that clusters share some texts and differ in others.
#[derive(Debug, Clone, Default)]
pub(super) struct Cluster {
    texts: [u16; 4],
    labels: Vec<u16>,
    annotations: Vec<u16>,
    zones: Vec<u16>,
    taints: Vec<u16>,
    conditions: Vec<u16>,
    apis: Vec<u16>,
    models: Vec<u16>,
    modelings: Vec<u16>,
    resources: Vec<u16>,
    deleting: bool,
    raw: String,
}

fn text(number: u16) -> String {
    match number {
        0 => String::new(),
        number => format!("text-{number}"),
    }
}

impl Cluster {
    pub(super) fn write(&self, writer: &mut ClusterWriter<'_>) {
        let [uid, region, provider, zone] = self.texts.map(text);
        writer.uid(&uid).region(&region);
        writer.provider(&provider).deprecated_zone(&zone);
        for (number, &value) in self.labels.iter().enumerate() {
            writer.label(&format!("label-{number}"), &text(value));
        }
        for &key in &self.annotations {
            writer.annotation(&text(key), "value");
        }
        for &zone in &self.zones {
            writer.zone(&text(zone));
        }
        for &taint in &self.taints {
            let (key, value) = (text(taint), text(taint / 2));
            let mut view = Taint::new(&key, &value, TaintEffect::from_code(u32::from(taint % 4)));
            view.time_added = (taint % 3 > 0).then_some(i64::from(taint));
            writer.taint(view);
        }
        for &condition in &self.conditions {
            let kind = ["Ready", "CompleteAPIEnablements", "Other"][condition as usize % 3];
            let status = ConditionStatus::from_code(u32::from(condition) % 3);
            writer.condition(Condition::new(kind, status, &text(condition)));
        }
        for &api in &self.apis {
            writer.apis(&text(api / 4), [text(api % 4).as_str()]);
        }
        for &model in &self.models {
            writer.model(i64::from(model), [(text(model % 3).as_str(), 1, i64::from(model))]);
        }
        for &modeling in &self.modelings {
            writer.modeling(i64::from(modeling), 2);
        }
        for &resource in &self.resources {
            let name = text(resource);
            let mut view = Resource::new(&name);
            view.allocatable = Some(i64::from(resource));
            view.allocated = (resource % 2 > 0).then_some(1);
            view.remaining = Some(i64::from(resource) - 1);
            writer.resource(view);
        }
        if self.deleting {
            writer.deleting();
        }
        writer.raw_json(self.raw.as_str());
    }
}

fn clusters() -> impl Strategy<Value = Cluster> {
    let few = || prop::collection::vec(0..40_u16, 0..6);
    let rare = || prop_oneof![4 => Just(Vec::new()), 1 => few()];
    (
        prop::array::uniform4(0..60_u16),
        (prop::collection::vec(0..500_u16, 0..9), rare(), few(), rare(), few()),
        (few(), rare(), rare(), few()),
        prop::bool::weighted(0.1),
        prop_oneof![3 => Just(String::new()), 1 => "[a-z]{0,40}"],
    )
        .prop_map(|(texts, first, second, deleting, raw)| {
            let (labels, annotations, zones, taints, conditions) = first;
            let (apis, models, modelings, resources) = second;
            Cluster {
                texts,
                labels,
                annotations,
                zones,
                taints,
                conditions,
                apis,
                models,
                modelings,
                resources,
                deleting,
                raw,
            }
        })
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Upsert(u8, Box<Cluster>),
    Remove(u8),
    /// Take a snapshot and hold it.
    Hold,
    /// Release a held snapshot.
    Release(usize),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0..9_u8, clusters()).prop_map(|(name, cluster)| Step::Upsert(name, Box::new(cluster))),
        1 => (0..9_u8).prop_map(Step::Remove),
        6 => Just(Step::Hold),
        5 => any::<usize>().prop_map(Step::Release),
    ];
    prop::collection::vec(step, 0..150)
}

pub(super) fn name(number: u8) -> String {
    format!("cluster-{number}")
}

fn listed(items: impl Iterator<Item: Debug>) -> String {
    format!("{:?}", items.collect::<Vec<_>>())
}

/// Everything that the views report about a snapshot, in an order that does not depend on symbols, sets or slots.
fn read(snapshot: &Snapshot) -> Vec<String> {
    let clusters = snapshot.clusters();
    let sorted = |mut entries: Vec<String>| {
        entries.sort();
        entries
    };
    let texts = |symbols: Column<'_, Row, Symbol>| {
        symbols
            .iter()
            .map(|(_, symbol)| clusters.text(symbol))
            .collect::<Vec<_>>()
    };
    let mut seen = vec![
        format!("{} {:?}", clusters.len(), snapshot.deleting()),
        format!("{} {}", clusters.any_tainted(), clusters.any_modelings()),
        format!("{:?} {:?}", texts(clusters.names()), clusters.name_hashes()),
        format!("{:?} {:?}", texts(clusters.regions()), texts(clusters.providers())),
        listed(clusters.tainted()),
        format!(
            "{:?}",
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|number| clusters.row(&name(number)))
        ),
    ];
    let resources = clusters.resource_names().map(|name| {
        let name = clusters.text(name);
        format!("{name} {:?}", clusters.resource(name))
    });
    seen.extend(sorted(resources.collect()));
    for cluster in clusters.iter() {
        let taints = clusters.taints();
        let keys = taints.of(cluster.row()).map(|taint| clusters.text(taint.key));
        let flags = [
            cluster.is_deleting(),
            cluster.is_ready(),
            cluster.has_complete_api_enablements(),
            cluster.has_resource_summary(),
            cluster.model_set() == 0,
        ];
        seen.extend([
            format!("{} {} {} {flags:?}", cluster.name(), cluster.uid(), cluster.zone()),
            listed(cluster.zones()),
            listed(cluster.labels()),
            listed(cluster.annotations()),
            listed(cluster.taints()),
            listed(keys),
            listed(cluster.conditions()),
            format!("{:?}", cluster.models()),
            listed(cluster.modelings()),
            format!("{:?}", cluster.raw_json()),
        ]);
        seen.extend(sorted(
            cluster.api_enablements().map(|api| format!("{api:?}")).collect(),
        ));
        seen.extend(sorted(
            cluster.resources().map(|resource| format!("{resource:?}")).collect(),
        ));
    }
    seen
}

/// The contents of a snapshot from a store that was filled at once.
fn fresh(clusters: &BTreeMap<String, Cluster>) -> Vec<String> {
    let mut store = SnapshotStore::new();
    for (name, cluster) in clusters {
        store.upsert(name, |writer| cluster.write(writer));
    }
    read(&store.snapshot())
}

proptest! {
    #[test]
    fn a_patched_snapshot_reads_as_a_fresh_one_and_a_held_one_never_changes(steps in steps()) {
        let mut store = SnapshotStore::new();
        let mut clusters: BTreeMap<String, Cluster> = BTreeMap::new();
        let mut held: Vec<(Snapshot, Vec<String>)> = Vec::new();
        for step in steps {
            match step {
                Step::Upsert(number, cluster) => {
                    store.upsert(&name(number), |writer| cluster.write(writer));
                    clusters.insert(name(number), *cluster);
                }
                Step::Remove(number) => {
                    prop_assert_eq!(store.remove(&name(number)), clusters.remove(&name(number)).is_some());
                }
                Step::Hold => {
                    let snapshot = store.snapshot();
                    let seen = read(&snapshot);
                    prop_assert_eq!(&seen, &fresh(&clusters));
                    held.push((snapshot, seen));
                }
                Step::Release(number) if !held.is_empty() => {
                    let (snapshot, seen) = held.swap_remove(number % held.len());
                    prop_assert_eq!(read(&snapshot), seen);
                }
                Step::Release(_) => {}
            }
        }
        for (snapshot, seen) in held {
            prop_assert_eq!(read(&snapshot), seen);
        }
        prop_assert_eq!(read(&store.snapshot()), fresh(&clusters));
    }
}

/// A change goes into the current arena, into the spare one, or into a new one, depending on which are held.
#[test]
fn an_arena_is_written_while_nobody_holds_it() {
    let mut store = SnapshotStore::new();
    let change = |store: &mut SnapshotStore, region: &str| {
        store.upsert("a", |cluster| _ = cluster.region(region));
        store.snapshot()
    };
    let address = |snapshot: &Snapshot| snapshot.words().as_ptr() as usize;
    let first = address(&change(&mut store, "eu"));
    let held = change(&mut store, "us");
    assert_eq!(address(&held), first, "no one held it");
    let second = address(&change(&mut store, "asia"));
    assert_ne!(second, first, "it is held");
    let also_held = change(&mut store, "africa");
    assert_eq!(address(&also_held), second);
    let third = change(&mut store, "oceania");
    assert!(![first, second].contains(&address(&third)), "both are held");
    assert_eq!(held.clusters().get(Row::from_index(0)).region(), "us");
    drop((held, also_held, third));
    let fourth = address(&change(&mut store, "eu"));
    let fifth = address(&change(&mut store, "us"));
    assert_eq!(fourth, fifth);
}
