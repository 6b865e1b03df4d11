//! Rounds

mod recorded;
mod shadow;
mod stand_in;

use std::collections::BTreeSet;

use divvy_control_plane_tests::backup::Backup;
use divvy_control_plane_tests::objects::NAMESPACE;
use divvy_control_plane_tests::{Error, Scenario};
use serde_json::{Value, json};

use self::recorded::{Outcome, Round, Transition};
use self::shadow::Shadow;
use self::stand_in::StandIn;
use crate::folder;

async fn explore(name: &str) -> Result<(), Error> {
    let begin = std::time::Instant::now();
    let round = Round::read(name);
    let folder = folder()?;
    let scenario = Scenario::new(folder.path(), &[]).await?;
    let backup = Backup::new(&scenario.control_plane)?;
    let namespaces: BTreeSet<&str> = round.before().filter_map(|(_, object)| object["metadata"]["namespace"].as_str()).collect();
    for namespace in namespaces {
        scenario.objects().create(NAMESPACE, &json!({"metadata": {"name": namespace}})).await?;
    }
    for (kind, object) in round.before() {
        backup.restore(kind, object).await?;
    }
    for (kind, object) in round.before() {
        let ns = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let mut served = scenario.objects().get(kind, ns, object["metadata"]["name"].as_str().unwrap()).await?;
        served["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
        if served != *object {
            eprintln!("SERVED DIFFERS {ns} {} \n{served}\n{object}", object["metadata"]["name"]);
            break;
        }
    }
    eprintln!("{name} restored {:?}", begin.elapsed());
    let shadows: Vec<Shadow> = ["karmada", "default", "tests/control-plane/holding.toml#holding"].into_iter().map(|profile| {
        let folder = folder.path().join(profile.replace('/', "-"));
        std::fs::create_dir_all(&folder).unwrap();
        Shadow::start(&scenario, &folder, profile)
    }).collect::<Result<_, _>>()?;
    let stand_in = StandIn::new(&scenario);
    for binding in &round.bindings { stand_in.prepare(binding).await?; }
    let decided: Vec<&Transition> = round.bindings_with(Outcome::Decided).collect();
    let failing: Vec<&Transition> = round.bindings_with(Outcome::FailsStill).collect();
    for shadow in &shadows {
        shadow.until("ready", |shadow| shadow.page() != Value::Null).await;
    }
    for shadow in &shadows {
        let start = std::time::Instant::now();
        loop {
            let missing: Vec<&str> = decided.iter().chain(&failing).filter(|b| shadow.decision(b).is_none()).map(|b| b.name()).collect();
            if missing.is_empty() { break; }
            if start.elapsed().as_secs() > 60 { eprintln!("MISSING {missing:?}"); break; }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        let other: Vec<&str> = round.bindings_with(Outcome::LeftAlone).filter_map(|b| { let d = shadow.decision(b)?; let c = |l: &Value| divvy_control_plane_tests::scenario::result(&json!({"spec": {"clusters": l}})); if c(&d["outcome"]["clusters"]) != c(&b.after["spec"]["clusters"]) { eprintln!("   WOULD MOVE {} {d}", b.name()); } eprintln!("   {} {}", b.name(), d["because"]); Some(b.name()) }).collect();
        eprintln!("{name} DECIDED THOUGH LEFT ALONE {}: {other:?}", other.len());
        for b in &failing {
            let d = shadow.decision(b).unwrap();
            let c = divvy_control_plane_tests::scenario::condition(&b.after, "Scheduled");
            if d["outcome"]["reason"] != c["reason"] { eprintln!("FAILS OTHERWISE {} {} {}", b.name(), d["outcome"], c); }
        }
    }
    eprintln!("{name} decided {:?}", begin.elapsed());
    for binding in &round.bindings {
        if binding.before != binding.after {
        stand_in.schedule(binding).await?; }
    }
    for binding in &round.bindings { stand_in.follow(binding).await?; }
    eprintln!("{name} written {:?}", begin.elapsed());
    for shadow in &shadows {
        let start = std::time::Instant::now();
        loop {
            let c = shadow.comparisons();
            if c.agreed + c.differed == decided.len() as u64 || start.elapsed().as_secs() > 20 { break; }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        eprintln!("{name} expected {} failing {}: {:?} waiting {}", decided.len(), failing.len(), shadow.comparisons(), shadow.page()["waiting"]);
        for d in shadow.differences() {
            eprintln!("   {} {} {} | {} | {} | {}", d["binding"], d["strategy"], d["cause"], d["before"], d["divvy"]["outcome"], d["other"]);
        }
    }
    stand_in.report(round.bindings.iter()).await?;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    for shadow in &shadows {
        eprintln!("{name} held {}", shadow.sum("divvy_held_capacity", ""));
    }
    eprintln!("{name} done {:?}", begin.elapsed());
    Ok(())
}

#[tokio::test]
async fn explore_clusters() -> Result<(), Error> { explore("clusters").await }
#[tokio::test]
async fn explore_fuzz() -> Result<(), Error> { explore("fuzz").await }
#[tokio::test]
async fn explore_rebalance() -> Result<(), Error> { explore("rebalance").await }
#[tokio::test]
async fn explore_unsuspend() -> Result<(), Error> { explore("unsuspend").await }
#[tokio::test]
async fn explore_weights() -> Result<(), Error> { explore("weights").await }
