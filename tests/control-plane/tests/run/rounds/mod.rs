//! Rounds of a running Karmada, replayed beside the scheduler in shadow mode.
//!
//! `tests/control-plane/rounds` has, for each round, every object before karmada-scheduler saw a change, and the bindings as it
//! left them. The objects are restored into etcd, so that they keep everything that decisions depend on: the UIDs that break
//! ties, generations, times, and clusters that are being deleted. Several schedulers in shadow mode decide; then a stand-in
//! repeats the writes of karmada-scheduler.
//!
//! A round has two passes. The first is the burst as it was recorded. Clusters have reported none of its pods, so a scheduler
//! that holds capacity may decide differently, and must name that as the cause. Then the members report, and the bindings that
//! were decided differently arrive once more, each after the reports on the one before: now nothing differs.

mod recorded;
mod shadow;
mod stand_in;

use std::collections::BTreeSet;

use divvy_control_plane_tests::backup::Backup;
use divvy_control_plane_tests::objects::{NAMESPACE, Objects};
use divvy_control_plane_tests::scenario::{condition, result};
use divvy_control_plane_tests::users::OBSERVER;
use divvy_control_plane_tests::{Error, Scenario};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::recorded::{Outcome, Round, Transition};
use self::shadow::Shadow;
use self::stand_in::StandIn;
use crate::folder;

/// The one cluster that has never reported anything. What is held there stays held, and no estimate reads it.
const SILENT_CLUSTER: &str = "m29-gcp-eu-west";

/// Figures of a round.
struct Figures {
    /// Bindings that karmada-scheduler decided, which are compared.
    decided: usize,
    /// Bindings that fail as before, so that nothing shows their decisions.
    failing: usize,
    /// True if the burst takes so much that holding it makes a difference.
    is_tight: bool,
}

/// A round with its schedulers.
struct Replay {
    name: &'static str,
    round: Round,
    backup: Backup,
    /// Decides as karmada-scheduler.
    karmada: Shadow,
    /// The same, but holds capacity.
    holding: Shadow,
    /// The default profile, which also holds capacity, and divides by other rules.
    default: Shadow,
    /// The default profile without holding.
    unheld_default: Shadow,
    scenario: Scenario,
    _folder: TempDir,
}

#[tokio::test]
async fn weights_and_tolerations_are_edited() -> Result<(), Error> {
    let figures = Figures {
        decided: 174,
        failing: 16,
        is_tight: true,
    };
    replay("weights", &figures).await
}

#[tokio::test]
async fn clusters_change() -> Result<(), Error> {
    let figures = Figures {
        decided: 93,
        failing: 0,
        is_tight: false,
    };
    replay("clusters", &figures).await
}

#[tokio::test]
async fn everything_is_rebalanced() -> Result<(), Error> {
    let figures = Figures {
        decided: 114,
        failing: 16,
        is_tight: true,
    };
    replay("rebalance", &figures).await
}

#[tokio::test]
async fn scheduling_is_resumed() -> Result<(), Error> {
    let figures = Figures {
        decided: 123,
        failing: 1,
        is_tight: true,
    };
    replay("unsuspend", &figures).await
}

#[tokio::test]
async fn bindings_are_edited_at_random() -> Result<(), Error> {
    let figures = Figures {
        decided: 117,
        failing: 0,
        is_tight: true,
    };
    replay("fuzz", &figures).await
}

/// Replays a round, in both passes.
async fn replay(name: &'static str, figures: &Figures) -> Result<(), Error> {
    let replay = Replay::start(name).await?;
    replay.burst(figures).await?;
    let differing = replay.check_burst(figures).await?;
    replay.report_burst().await?;
    replay.repeat(&differing, figures).await?;
    let writes = replay.scenario.control_plane.audit_log().writes_by(OBSERVER)?;
    assert!(writes.is_empty(), "a scheduler in shadow mode has written: {writes:?}");
    let by_holding = |shadow: &Shadow| shadow.differences(true).len();
    eprintln!(
        "{name}: {} compared; differences that holding explains: {} under `holding`, {} under `default`, which has {} by other rules; \
         {} bindings repeated",
        figures.decided,
        by_holding(&replay.holding),
        by_holding(&replay.default),
        replay.default.differences(false).len(),
        differing.len()
    );
    Ok(())
}

impl Replay {
    /// Restores the state before a round, has Karmada's controllers do their part, and starts the schedulers.
    async fn start(name: &'static str) -> Result<Self, Error> {
        let round = Round::read(name);
        let folder = folder()?;
        let scenario = Scenario::new(folder.path(), &[]).await?;
        let backup = Backup::new(&scenario.control_plane)?;
        let namespaces = round.before().map(|(_, object)| &object["metadata"]["namespace"]);
        let namespaces: BTreeSet<&str> = namespaces.filter_map(Value::as_str).collect();
        for namespace in namespaces {
            let namespace = json!({"metadata": {"name": namespace}});
            scenario.objects().create(NAMESPACE, &namespace).await?;
        }
        for (kind, object) in round.before() {
            backup.restore(kind, object).await?;
        }
        check_restored(scenario.objects(), &round).await?;
        let stand_in = StandIn::new(&scenario);
        for binding in &round.bindings {
            stand_in.prepare(binding).await?;
        }
        let start = |profile, folder_name: &str| Shadow::start(&scenario, &folder.path().join(folder_name), profile);
        Ok(Self {
            name,
            karmada: start("karmada", "karmada")?,
            holding: start("tests/control-plane/holding.toml#holding", "holding")?,
            default: start("default", "default")?,
            unheld_default: start("tests/control-plane/holding.toml#default-without-holding", "unheld")?,
            round,
            backup,
            scenario,
            _folder: folder,
        })
    }

    fn shadows(&self) -> [&Shadow; 4] {
        [&self.karmada, &self.holding, &self.default, &self.unheld_default]
    }

    /// The first pass: every scheduler decides the whole burst before the stand-in writes anything.
    async fn burst(&self, figures: &Figures) -> Result<(), Error> {
        let stand_in = StandIn::new(&self.scenario);
        let decided: Vec<&Transition> = self.round.bindings_with(Outcome::Decided).collect();
        let failing: Vec<&Transition> = self.round.bindings_with(Outcome::FailsStill).collect();
        assert_eq!((decided.len(), failing.len()), (figures.decided, figures.failing));
        for shadow in self.shadows() {
            for binding in decided.iter().chain(&failing) {
                shadow.until_decided(binding).await;
            }
        }
        self.check_unseen(&failing);
        for binding in self.round.bindings.iter().filter(|binding| binding.is_written()) {
            stand_in.schedule(binding).await?;
        }
        for binding in &self.round.bindings {
            stand_in.follow(binding).await?;
        }
        for shadow in self.shadows() {
            shadow.until_compared(figures.decided).await;
        }
        Ok(())
    }

    /// Checks the decisions that nothing karmada-scheduler wrote can be compared with.
    fn check_unseen(&self, failing: &[&Transition]) {
        for binding in failing {
            let decision = self.karmada.decision(binding).unwrap_or_default();
            let expected = &condition(&binding.after, "Scheduled")["reason"];
            assert_eq!(
                &decision["outcome"]["reason"],
                expected,
                "{}: {decision:#}",
                binding.key()
            );
        }
        // A scheduler looks at every binding when it starts, so it decides some that karmada-scheduler, which was running, had no cause to
        // look at. They must stay where they are.
        for binding in self.round.bindings_with(Outcome::LeftAlone) {
            let Some(decision) = self.karmada.decision(binding) else {
                continue;
            };
            let decided = json!({"spec": {"clusters": decision["outcome"]["clusters"]}});
            assert_eq!(
                result(&decided),
                result(&binding.after),
                "{}: {decision:#}",
                binding.key()
            );
        }
    }

    /// Checks the comparisons of the first pass. Returns the keys of the bindings that were decided otherwise because capacity was held.
    async fn check_burst(&self, figures: &Figures) -> Result<BTreeSet<String>, Error> {
        self.check_karmada(figures.decided);
        let holding = self.holding.comparisons();
        assert_eq!(holding.differed, holding.by_holding, "{:#}", self.holding.page());
        assert_eq!(holding.by_holding > 0, figures.is_tight, "{:#}", self.holding.page());
        self.check_default();
        for binding in &self.round.bindings {
            let (namespace, name) = (binding.namespace(), binding.name());
            let written = self.scenario.objects().get(binding.kind, namespace, name).await?;
            assert_eq!(comparable(&written), comparable(&binding.after), "{}", binding.key());
        }
        let mut differing = self.holding.differences(true);
        differing.extend(self.default.differences(true));
        Ok(differing)
    }

    fn check_karmada(&self, compared: usize) {
        let comparisons = self.karmada.comparisons();
        let page = self.karmada.page();
        assert_eq!(
            (comparisons.agreed, comparisons.differed),
            (compared as u64, 0),
            "{page:#}"
        );
        let counted = |agreement: &str| self.karmada.sum("divvy_shadow_decisions_total", agreement);
        assert_eq!(counted("agreement=\"same\""), compared as f64);
        assert_eq!(counted(""), compared as f64);
    }

    /// What differs under the default profile and is not named as holding, differs without holding, too.
    fn check_default(&self) {
        let other_rules = self.unheld_default.differences(false);
        let unexplained = self.default.differences(false);
        assert!(
            unexplained.is_subset(&other_rules),
            "{unexplained:?} is not in {other_rules:?}"
        );
        assert_eq!(self.unheld_default.comparisons().by_holding, 0);
    }

    /// Has the members report what the burst took. Then nothing is held any more.
    async fn report_burst(&self) -> Result<(), Error> {
        let is_held = |shadow: &Shadow| shadow.held_outside(SILENT_CLUSTER) > 0.0;
        self.holding.until("holds what the burst took", is_held).await;
        let stand_in = StandIn::new(&self.scenario);
        stand_in.report(self.round.bindings.iter()).await?;
        self.holding
            .until("holds nothing after the reports", |shadow| !is_held(shadow))
            .await;
        Ok(())
    }

    /// The second pass: bindings arrive once more, each when the members have reported the one before.
    async fn repeat(&self, keys: &BTreeSet<String>, figures: &Figures) -> Result<(), Error> {
        let stand_in = StandIn::new(&self.scenario);
        let before = (self.holding.comparisons(), self.default.comparisons());
        let repeated = self
            .round
            .bindings
            .iter()
            .filter(|binding| keys.contains(&binding.key()));
        let mut compared = figures.decided;
        for binding in repeated {
            self.backup.remove(binding.kind, &binding.before).await?;
            for shadow in self.shadows() {
                shadow
                    .until("forgets the binding", |shadow| shadow.decision(binding).is_none())
                    .await;
            }
            self.backup.restore(binding.kind, &binding.before).await?;
            stand_in.prepare(binding).await?;
            for shadow in self.shadows() {
                shadow.until_decided(binding).await;
            }
            stand_in.schedule(binding).await?;
            stand_in.follow(binding).await?;
            compared += 1;
            for shadow in self.shadows() {
                shadow.until_compared(compared).await;
            }
            stand_in.report(std::iter::once(binding)).await?;
            self.holding
                .until("holds nothing after the reports", |shadow| {
                    shadow.held_outside(SILENT_CLUSTER) == 0.0
                })
                .await;
        }
        assert_eq!(compared, figures.decided + keys.len());
        self.check_karmada(compared);
        let after = self.holding.comparisons();
        assert_eq!(
            after.differed,
            before.0.differed,
            "{}: {:#}",
            self.name,
            self.holding.page()
        );
        assert_eq!(after.agreed, before.0.agreed + keys.len() as u64);
        let after = self.default.comparisons();
        assert_eq!(
            after.by_holding,
            before.1.by_holding,
            "{}: {:#}",
            self.name,
            self.default.page()
        );
        self.check_default();
        Ok(())
    }
}

/// Checks that the API server serves exactly what was recorded: it drops no field and adds none.
async fn check_restored(objects: &Objects, round: &Round) -> Result<(), Error> {
    for (kind, object) in round.before() {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let mut served = objects.get(kind, text("namespace"), text("name")).await?;
        served["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
        assert_eq!(&served, object);
    }
    Ok(())
}

/// A binding without generations and versions: Karmada wrote some bindings in more steps than the stand-in.
fn comparable(binding: &Value) -> Value {
    let mut binding = binding.clone();
    for (part, fields) in [
        ("metadata", &["resourceVersion", "generation", "managedFields"][..]),
        ("status", &["schedulerObservedGeneration"]),
    ] {
        if let Some(part) = binding[part].as_object_mut() {
            part.retain(|field, _| !fields.contains(&field.as_str()));
        }
    }
    binding
}
