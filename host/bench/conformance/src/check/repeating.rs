//! The same decision again: at the next call, from another instance, explained, with kept values, on other threads, at a later time.

use std::sync::Arc;

use divvy_framework_abi::sized::kind;
use divvy_karmada::api::Cluster;
use divvy_scheduler::decision::{Decision, Outcome};
use divvy_scheduler::fleet::Fleet;

use super::tally::Tally;
use super::{Broken, Check, Method};
use crate::case::{Case, Situation};
use crate::subject::{Shown, Subject, described, differ, explanation_of, shown};

/// Threads that decide at the same time.
const THREADS: usize = 8;

/// The checks that decide more than once.
pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::per_case(
            "determinism",
            "the same input gives the same decision, also from another instance with a different history",
            |_| true,
            determinism,
        ),
        Check::per_case(
            "explanations",
            "an explanation does not change the decision, and is the same each time",
            |_| true,
            explanations,
        ),
        Check::per_case(
            "kept-values",
            "a kept value that is updated by changed rows gives the same decision as a new one",
            |subject| {
                let keeps = subject.with_instance(|instance| {
                    let library = instance.library();
                    library.serves(kind::SNAPSHOT_VALUE) || library.serves(kind::BINDING_VALUE)
                });
                keeps.unwrap_or(false)
            },
            kept_values,
        ),
        Check::per_case(
            "valid-until",
            "a decision stays the same until the time that the plugin names",
            Subject::needs_time,
            valid_until,
        ),
        Check {
            name: "threads",
            contract: "8 threads decide at the same time as one does alone",
            takes_the_process: false,
            applies: |_| true,
            method: Method::Together(threads),
        },
    ]
}

fn changed(what: &str, first: &str, second: &str) -> String {
    format!("{what}: `{first}`, then `{second}`")
}

fn determinism(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let (decision, shown) = subject.decide_shown(&situation);
    let first = described(&decision);
    let second = described(&subject.decide_situation(&situation));
    if differ(&first, &second) {
        return Err(changed("the same binding is decided differently", &first, &second));
    }
    // The twin is called once per case and has another history, which reveals state that is carried from one case to
    // the next.
    let twin = subject.twin()?;
    let mut scheduler = situation.scheduler(twin);
    let third = described(&scheduler.schedule(&situation.binding, &situation.fleet));
    match differ(&first, &third) {
        false => Ok(shown),
        true => Err(changed("another instance decides differently", &first, &third)),
    }
}

fn explanations(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let explained = || {
        let mut scheduler = situation.scheduler(subject.profile()).explaining(true);
        scheduler.schedule(&situation.binding, &situation.fleet)
    };
    let (decision, shown) = subject.decide_shown(&situation);
    let plain = described(&decision);
    let (first, second) = (explained(), explained());
    if differ(&plain, &described(&first)) {
        return Err(changed(
            "an explanation changes the decision",
            &plain,
            &described(&first),
        ));
    }
    match explanation_of(&first) == explanation_of(&second) {
        true => Ok(shown),
        false => Err("the same decision is explained differently the second time".to_owned()),
    }
}

/// Maximum number of clusters for which each change is decided on its own.
const STEPS: usize = 60;

fn kept_values(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let mut scheduler = situation.scheduler(subject.profile());
    let mut fleet = Fleet::new(subject.profile().needs_raw_clusters());
    // An earlier state in which every cluster was different and there was one more.
    for cluster in &situation.clusters {
        fleet.upsert(&altered(cluster));
    }
    if let Some(cluster) = situation.clusters.first() {
        let mut further = altered(cluster);
        further.metadata.name = "zz-gone".to_owned();
        fleet.upsert(&further);
    }
    let mut decide = |fleet: &mut Fleet| described(&scheduler.schedule(&situation.binding, &fleet.snapshot()));
    decide(&mut fleet);
    fleet.remove("zz-gone");
    decide(&mut fleet);
    let decides_each = situation.clusters.len() <= STEPS;
    for cluster in &situation.clusters {
        fleet.upsert(cluster);
        if decides_each {
            decide(&mut fleet);
        }
    }
    let kept = decide(&mut fleet);
    let (decision, shown) = subject.decide_shown(&Situation {
        fleet: crate::case::fleet_of(&situation.clusters, &subject.profile()),
        binding: situation.binding.clone(),
        clusters: Vec::new(),
        time: situation.time,
        peers: situation.peers.clone(),
        placements: Arc::clone(&situation.placements),
    });
    let afresh = described(&decision);
    match differ(&kept, &afresh) {
        false => Ok(shown),
        true => Err(changed(
            "after changes of single clusters, the decision differs from that on the same clusters read at once",
            &kept,
            &afresh,
        )),
    }
}

/// A cluster that differs in what a plugin could keep.
fn altered(cluster: &Cluster) -> Cluster {
    let mut altered = cluster.clone();
    altered.metadata.labels.clear();
    altered.metadata.annotations.clear();
    altered.spec.region = "formerly".to_owned();
    altered.spec.provider = "formerly".to_owned();
    altered.spec.zones = vec!["formerly".to_owned()];
    altered.spec.taints.clear();
    altered.metadata.deletion_timestamp = None;
    altered
}

fn valid_until(subject: &Subject, case: &Case) -> Result<Shown, String> {
    const MINUTE: i64 = 60_000;
    const DAY: i64 = 1_440 * MINUTE;
    const YEAR: i64 = 365 * DAY;
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let at = |time: i64| {
        let mut scheduler = situation.scheduler(subject.profile()).deciding_at(Some(time));
        scheduler.schedule(&situation.binding, &situation.fleet)
    };
    let outcome = |decision: &Decision| match &decision.outcome {
        Outcome::Scheduled(targets) => format!("{targets:?}"),
        Outcome::Skipped(reason) => reason.clone(),
        Outcome::Failed(error) => error.to_string(),
    };
    let now = situation.time;
    let first = at(now);
    let last = match first.valid_until {
        None => now.saturating_add(YEAR),
        Some(until) => until.saturating_sub(1),
    };
    // No step is a multiple of another, so that an answer that repeats every hour or day is found as well.
    let steps = [1, MINUTE, 61 * MINUTE, DAY + 121 * MINUTE, 8 * DAY + 1];
    let later = steps.iter().map(|step| now.saturating_add(*step));
    for later in later.chain([now / 2 + last / 2, last]) {
        if !(now..=last).contains(&later) {
            continue;
        }
        let second = at(later);
        if outcome(&first) != outcome(&second) {
            let until = match first.valid_until {
                None => "without an end".to_owned(),
                Some(until) => format!("until {until}"),
            };
            return Err(format!(
                "the decision at {now} holds {until}, but at {later} it is different: `{}`, then `{}`",
                described(&first),
                described(&second)
            ));
        }
    }
    Ok(shown(&first))
}

fn threads(subject: &Subject, cases: &[Case], tally: &mut Tally) -> Result<(), Broken> {
    let situations: Vec<(&Case, Situation)> = cases
        .iter()
        .filter_map(|case| Some((case, subject.read(case).ok()?)))
        .collect();
    let alone: Vec<String> = situations
        .iter()
        .map(|(_, situation)| {
            let (decision, shown) = subject.decide_shown(situation);
            tally.add(shown);
            described(&decision)
        })
        .collect();
    let profile = subject.profile();
    // Each thread begins at a different case, so that calls for different cases overlap.
    let decide_all = |thread: usize| {
        let count = situations.len();
        (0..count)
            .map(|step| (step + thread * count / THREADS) % count.max(1))
            .find_map(|number| {
                let (case, situation) = situations.get(number)?;
                let mut scheduler = situation.scheduler(Arc::clone(&profile));
                let here = described(&scheduler.schedule(&situation.binding, &situation.fleet));
                let there = alone.get(number)?;
                differ(there, &here).then(|| Broken {
                    message: changed("on one of 8 threads, the decision differs", there, &here),
                    case: Some((*case).clone()),
                })
            })
    };
    let broken = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS)
            .map(|thread| {
                let decide_all = &decide_all;
                scope.spawn(move || decide_all(thread))
            })
            .collect();
        // A thread of the host does not panic, because a plugin's panic is caught in its library.
        let results: Vec<Option<Broken>> = handles.into_iter().filter_map(|handle| handle.join().ok()).collect();
        results.into_iter().flatten().next()
    });
    broken.map_or(Ok(()), Err)
}
