//! A binding is decided in the same way offline and live: result, group, messages, hints, warnings and explanation.

use std::path::Path;
use std::sync::Arc;

use divvy_controller::condition::Failure;
use divvy_controller::decision::LiveDecision;
use divvy_karmada::api::TargetCluster;
use divvy_karmada::detector::Binding;
use divvy_recordings::read_recording;
use divvy_scheduler::cycle::{Cycle, Detail};
use divvy_scheduler::decision::{Circumstances, Outcome, Scheduler};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot, Ledger};
use divvy_scheduler::plan::{Decidable, Plan};
use divvy_scheduler::profile::Profile;
use serde_json::json;

use super::stored::through_the_store;
use crate::artifacts::repository;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, read};

/// Decides a binding offline, and live as the store has it, and compares everything that both have. Returns true if it was scheduled.
#[track_caller]
fn compare(profile: &Arc<Profile>, binding: &Binding, fleet: &FleetSnapshot) -> bool {
    let mut offline = Scheduler::new(Arc::clone(profile)).explaining(true);
    let offline = offline.schedule(binding, fleet);
    let stored = through_the_store(&json!(binding.object), binding.policy.clone());
    let plan = Arc::new(Plan::under(profile, &stored.input()));
    // Live, nothing is held.
    let ledger = Ledger::default().keeping_models_apart();
    let circumstances = Circumstances {
        profile,
        fleet,
        ledger: Some(&ledger),
        estimates: None,
        fresh: binding.is_fresh(),
        time: None,
        peers: None,
        without: &[],
        detail: Some(Detail::Full),
    };
    let live = LiveDecision::make(&mut Cycle::new(), &stored, &plan, &circumstances);
    match (&offline.outcome, &live.result) {
        (Outcome::Scheduled(expected), Ok(targets)) => {
            let pair = |target: &TargetCluster| (target.name.clone(), i64::from(target.replicas));
            let targets: Vec<(String, i64)> = targets.iter().map(pair).collect();
            assert_eq!(targets, *expected);
            assert_eq!(live.affinity(), offline.affinity);
        }
        (Outcome::Failed(error), Err(failure)) => {
            let expected = Failure::from_cycle(error);
            assert_eq!((failure.reason, &failure.message), (expected.reason, &expected.message));
        }
        (expected, actual) => panic!("{expected:?} offline, {actual:?} live"),
    }
    let (made, expected) = (&live.decision, &offline);
    let failures = |decision: &divvy_scheduler::decision::Decision| -> Vec<(String, String)> {
        let failures = decision.failures();
        failures
            .map(|(group, error)| (group.to_owned(), format!("{error:?}")))
            .collect()
    };
    assert_eq!(failures(made), failures(expected));
    assert_eq!(made.explanation, expected.explanation);
    assert_eq!(made.valid_until, expected.valid_until);
    assert_eq!(made.strategy(), expected.strategy());
    assert_eq!(made.fits_nowhere(), expected.fits_nowhere());
    let warnings = expected.plan.as_ref().as_ref().map_or(0, |plan| plan.warnings.len());
    assert_eq!(live.warnings().len(), warnings);
    live.result.is_ok()
}

#[test]
fn recorded_cases_are_decided_alike_offline_and_live() {
    for (file, lines) in [
        ("karmada-parity-odd", ""),
        ("karmada-parity-components", "multiple-pod-templates = true"),
    ] {
        let path = repository().join(format!("tests/conformance/{file}.jsonl.gz"));
        let recording = read_recording(Path::new(&path)).expect("a recording");
        let profile = Host::extending(lines).shared();
        let (mut scheduled, mut failed) = (0, 0);
        for (name, recorded) in recording.fleets.iter().take(8) {
            let mut fleet = Fleet::new(false);
            recorded.clusters.iter().for_each(|cluster| fleet.upsert(cluster));
            let snapshot = fleet.snapshot();
            for case in recording.cases.iter().filter(|case| case.fleet == *name) {
                let binding = case.binding();
                if binding.skip_reason().is_some() {
                    continue;
                }
                match compare(&profile, &binding, &snapshot) {
                    true => scheduled += 1,
                    false => failed += 1,
                }
            }
        }
        assert!(
            scheduled > 50 && failed > 5,
            "{file}: {scheduled} scheduled, {failed} failed"
        );
    }
}

/// What a person has to correct comes with the hint that `divvy schedule` gives.
#[test]
fn an_invalid_binding_gets_the_same_hint_live() {
    let profile = Host::built_in().shared();
    for (strategy, preferences, hint) in [
        ("Averag", json!({}), "Average"),
        (
            "Specified",
            json!({"specifiedCluster": []}),
            "did you mean `specifiedClusters`?",
        ),
    ] {
        let written = binding("web", 6).strategy(strategy).preferences(&preferences);
        let (bindings, fleet) = read(&list([cluster("a", 10).into(), written.into()]));
        assert!(!compare(&profile, &bindings[0], &fleet));
        let mut scheduler = Host::built_in().scheduler();
        let decision = scheduler.schedule(&bindings[0], &fleet);
        let (_, error) = decision.failures().next().expect("it failed");
        let failure = Failure::from_cycle(error);
        assert!(failure.message.contains(hint), "{}", failure.message);
    }
}
