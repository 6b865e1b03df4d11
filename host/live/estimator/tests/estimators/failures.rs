//! Estimators that are slow, dead, back, old, or answer nonsense.

use std::time::{Duration, Instant};

use divvy_estimator::{BreakerState, Estimate, EstimatorOptions, Estimators, NoServices, Request};
use divvy_karmada::api;
use serde_json::json;
use tokio::net::TcpListener;

use super::server::{Behaviour, Estimator, Services};
use super::{DEADLINE, options, replicas, targets, word, words};

/// Longer than the breaker's pause.
const PAUSE: Duration = Duration::from_millis(250);

/// Lets time pass for the estimators without waiting. Time is paused only in here: the tests' servers are real, and while time is
/// paused, a deadline passes as soon as every task waits.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// A port on which nothing listens.
async fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    listener.local_addr().expect("an address").port()
}

#[tokio::test]
async fn a_slow_estimator_costs_its_cluster_the_estimate_and_no_other() {
    let fast = Estimator::start(Behaviour::Count(7)).await;
    let slow = Estimator::start(Behaviour::Slow(Duration::from_secs(60), 9)).await;
    let dead = free_port().await;
    let services = Services::new([("fast", fast.port), ("slow", slow.port), ("dead", dead)]);
    let estimators = Estimators::new(options(), services);

    let began = Instant::now();
    let found = words(&estimators, ["slow", "fast", "dead"], &replicas("1")).await;
    assert_eq!(found, ["failed", "7", "failed"]);
    let took = began.elapsed();
    assert!(took >= DEADLINE && took < DEADLINE * 4, "took {took:?}");
}

#[tokio::test]
async fn a_failed_call_falls_back_on_the_last_answer_to_the_same_request() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let options = EstimatorOptions {
        last_known_age_max: Duration::from_millis(300),
        ..options()
    };
    let estimators = Estimators::new(options, Services::new([("m1", server.port)]));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["7"]);

    server.behave(Behaviour::Refuse(tonic::Code::Unavailable));
    let estimates = estimators.estimate(&targets(["m1"]), &replicas("1")).await;
    assert_eq!(word(&estimates[0]), "7, failed");
    assert!(estimates[0].age() > Some(Duration::ZERO), "an old answer has an age");
    assert_eq!(words(&estimators, ["m1"], &replicas("2")).await, ["failed"]);
    // The second failure opened the breaker.
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["7, open"]);
    pass(Duration::from_millis(350)).await;
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["failed"]);
}

#[tokio::test]
async fn an_age_of_zero_uses_no_old_answer() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let options = EstimatorOptions {
        last_known_age_max: Duration::ZERO,
        ..options()
    };
    let estimators = Estimators::new(options, Services::new([("m1", server.port)]));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["7"]);
    server.behave(Behaviour::Refuse(tonic::Code::Internal));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["failed"]);
}

#[tokio::test]
async fn a_dead_estimator_is_left_alone_and_asked_again_when_it_is_back() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let port = server.port;
    let estimators = Estimators::new(options(), Services::new([("m1", port)]));
    let one = replicas("1");
    assert_eq!(words(&estimators, ["m1"], &one).await, ["7"]);

    server.stop().await;
    for expected in ["7, failed", "7, failed", "7, open", "7, open"] {
        assert_eq!(words(&estimators, ["m1"], &one).await, [expected]);
    }
    let state = &estimators.states()[0];
    assert_eq!((state.breaker, state.answers), (BreakerState::Open, 1));
    assert!(state.error.is_some() && state.last_answer_age.is_some(), "{state:?}");

    // A trial that fails keeps the breaker open.
    pass(PAUSE).await;
    assert_eq!(words(&estimators, ["m1"], &one).await, ["7, failed"]);
    assert_eq!(words(&estimators, ["m1"], &one).await, ["7, open"]);

    let server = Estimator::start_at(port, Behaviour::Count(5), None).await;
    assert_eq!(words(&estimators, ["m1"], &one).await, ["7, open"]);
    pass(PAUSE).await;
    assert_eq!(words(&estimators, ["m1"], &one).await, ["5"]);
    let state = &estimators.states()[0];
    assert_eq!(state.breaker, BreakerState::Closed);
    assert!(state.error.is_none(), "{state:?}");
    assert_eq!(server.calls().len(), 1);
}

#[tokio::test]
async fn an_estimator_that_moved_is_found_at_its_new_address() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let services = Services::new([("m1", server.port)]);
    let estimators = Estimators::new(options(), services.clone());
    let one = replicas("1");
    assert_eq!(words(&estimators, ["m1"], &one).await, ["7"]);

    server.stop().await;
    let moved = Estimator::start(Behaviour::Count(8)).await;
    services.set("m1", moved.port);
    for expected in ["7, failed", "7, failed", "7, open"] {
        assert_eq!(words(&estimators, ["m1"], &one).await, [expected]);
    }
    pass(PAUSE).await;
    assert_eq!(words(&estimators, ["m1"], &one).await, ["8"]);
}

#[tokio::test]
async fn only_one_call_tries_an_estimator_that_was_dead() {
    let server = Estimator::start(Behaviour::Refuse(tonic::Code::Unavailable)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
    let one = replicas("1");
    for _ in 0..2 {
        words(&estimators, ["m1"], &one).await;
    }
    let before = server.calls().len();
    pass(PAUSE).await;
    server.behave(Behaviour::Slow(Duration::from_millis(50), 4));
    let (first, second) = tokio::join!(words(&estimators, ["m1"], &one), words(&estimators, ["m1"], &one));
    assert_eq!([first, second].concat(), ["4", "open"]);
    assert_eq!(server.calls().len(), before + 1);
}

#[tokio::test]
async fn a_call_that_was_dropped_does_not_block_the_next_trial() {
    let server = Estimator::start(Behaviour::Refuse(tonic::Code::Unavailable)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
    let one = replicas("1");
    for _ in 0..2 {
        words(&estimators, ["m1"], &one).await;
    }
    pass(PAUSE).await;
    server.behave(Behaviour::Slow(Duration::from_secs(60), 4));
    let dropped = tokio::time::timeout(Duration::from_millis(50), words(&estimators, ["m1"], &one)).await;
    assert!(dropped.is_err(), "the trial was under way");
    server.behave(Behaviour::Count(4));
    assert_eq!(words(&estimators, ["m1"], &one).await, ["4"]);
}

#[tokio::test]
async fn nonsense_is_a_failure_with_a_reason() {
    for (behaviour, expected) in [
        (
            Behaviour::Count(-2),
            "the estimator answered -2, expected a count or -1",
        ),
        (Behaviour::Garble, "the estimator failed with Internal"),
        (
            Behaviour::Refuse(tonic::Code::Unknown),
            "the estimator failed with Unknown: not today",
        ),
    ] {
        let server = Estimator::start(behaviour).await;
        let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
        assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["failed"]);
        let error = estimators.states()[0].error.clone().expect("an error").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_an_estimator_costs_only_the_estimate() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let noise = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let estimators = Estimators::new(options(), Services::new([("m1", port)]));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["failed"]);
    noise.abort();
}

#[tokio::test]
async fn a_method_that_an_old_estimator_lacks_does_not_open_the_breaker() {
    let server = Estimator::start(Behaviour::Old(7)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
    let components: Vec<api::Component> =
        serde_json::from_value(json!([{"name": "worker", "replicas": 3}])).expect("components");
    let sets = Request::component_sets("", &components).expect("a request");
    for _ in 0..5 {
        assert_eq!(words(&estimators, ["m1"], &sets).await, ["failed"]);
    }
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["7"]);
}

#[tokio::test]
async fn an_estimator_that_cannot_be_reached_names_every_address() {
    let options = EstimatorOptions {
        deadline: Duration::from_secs(5),
        ..options()
    };
    let estimators = Estimators::new(options, std::sync::Arc::new(NoServices));
    let estimates = estimators.estimate(&targets(["m1"]), &replicas("1")).await;
    let Estimate::Absent(divvy_estimator::Unanswered::Failed(error)) = &estimates[0] else {
        panic!("{:?}", estimates[0])
    };
    let error = error.to_string();
    for address in [
        "`karmada-scheduler-estimator-m1.karmada-system.svc.cluster.local:10352`: ",
        "`karmada-scheduler-estimator-m1.karmada-system.svc:10352`: ",
    ] {
        assert!(error.contains(address), "{error}");
    }
}
