//! The client against real gRPC servers: up, slow, dead, back, and answering nonsense.

mod failures;
mod server;
mod tls;

use std::time::Duration;

use divvy_estimator::{
    AssumedWorkload, BreakerOptions, Estimate, EstimatorOptions, Estimators, Request, Target, Unanswered,
};
use divvy_karmada::api;
use serde_json::json;
use server::{Behaviour, Estimator, Services};

/// Short enough for a test, long enough for a busy machine.
const DEADLINE: Duration = Duration::from_millis(500);

fn options() -> EstimatorOptions {
    EstimatorOptions {
        deadline: DEADLINE,
        breaker: BreakerOptions {
            failures_max: 2,
            pause: Duration::from_millis(200),
            pause_max: Duration::from_millis(200),
        },
        ..EstimatorOptions::default()
    }
}

fn replicas(cpu: &str) -> Request {
    let requirements = serde_json::from_value(json!({"resourceRequest": {"cpu": cpu}})).expect("requirements");
    Request::replicas(&requirements).expect("a request")
}

fn targets<const N: usize>(clusters: [&str; N]) -> [Target<'_>; N] {
    clusters.map(Target::new)
}

/// The estimate in one word.
fn word(estimate: &Estimate) -> String {
    match estimate {
        Estimate::Answered(count) => count.to_string(),
        Estimate::LastKnown { count, cause, .. } => format!("{count}, {}", reason(cause)),
        Estimate::Absent(cause) => reason(cause).to_owned(),
    }
}

fn reason(cause: &Unanswered) -> &'static str {
    match cause {
        Unanswered::Excluded => "excluded",
        Unanswered::Declined => "declined",
        Unanswered::BreakerOpen => "open",
        Unanswered::Failed(_) => "failed",
    }
}

async fn words<const N: usize>(estimators: &Estimators, clusters: [&str; N], request: &Request) -> Vec<String> {
    let estimates = estimators.estimate(&targets(clusters), request).await;
    estimates.iter().map(word).collect()
}

#[tokio::test]
async fn every_cluster_is_asked_at_its_own_estimator() {
    let one = Estimator::start(Behaviour::Count(7)).await;
    let two = Estimator::start(Behaviour::Count(0)).await;
    let services = Services::new([("m1", one.port), ("m2", two.port)]);
    let estimators = Estimators::new(options(), services);

    assert_eq!(words(&estimators, ["m2", "m1"], &replicas("1")).await, ["0", "7"]);
    let method = "MaxAvailableReplicas".to_owned();
    assert_eq!(one.calls(), [("m1".to_owned(), method.clone())]);
    assert_eq!(two.calls(), [("m2".to_owned(), method)]);
}

#[tokio::test]
async fn sets_of_components_have_their_own_method() {
    let server = Estimator::start(Behaviour::Count(2)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
    let components: Vec<api::Component> =
        serde_json::from_value(json!([{"name": "worker", "replicas": 3}])).expect("components");
    let request = Request::component_sets("shop", &components).expect("a request");

    assert_eq!(words(&estimators, ["m1"], &request).await, ["2"]);
    assert_eq!(
        server.calls(),
        [("m1".to_owned(), "MaxAvailableComponentSets".to_owned())]
    );
}

#[tokio::test]
async fn the_smaller_estimate_counts_and_no_figure_bounds_nothing() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
    for (answer, general, expected) in [(7, 10, 7), (7, 3, 3), (-1, 10, 10), (i32::MAX, 10, 10)] {
        server.behave(Behaviour::Count(answer));
        let estimates = estimators.estimate(&targets(["m1"]), &replicas("1")).await;
        assert_eq!(
            estimates[0].bound(general),
            expected,
            "accurate {answer}, general {general}"
        );
    }
}

#[tokio::test]
async fn an_estimator_without_a_figure_does_not_fall_back_on_its_last_one() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", server.port)]));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["7"]);
    server.behave(Behaviour::Count(-1));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["declined"]);
    server.behave(Behaviour::Refuse(tonic::Code::Unavailable));
    assert_eq!(words(&estimators, ["m1"], &replicas("1")).await, ["failed"]);
}

#[tokio::test]
async fn pull_clusters_are_excluded_if_requested() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let services = Services::new([("m1", server.port)]);
    let pull = [Target {
        pull: true,
        ..Target::new("m1")
    }];
    for (exclude_pull_clusters, expected) in [(false, "7"), (true, "excluded")] {
        let options = EstimatorOptions {
            exclude_pull_clusters,
            ..options()
        };
        let estimators = Estimators::new(options, services.clone());
        let estimates = estimators.estimate(&pull, &replicas("1")).await;
        assert_eq!(word(&estimates[0]), expected);
    }
    assert_eq!(server.calls().len(), 1);
}

#[tokio::test]
async fn what_is_assumed_goes_to_its_own_cluster() {
    let one = Estimator::start(Behaviour::Count(7)).await;
    let two = Estimator::start(Behaviour::Count(7)).await;
    let estimators = Estimators::new(options(), Services::new([("m1", one.port), ("m2", two.port)]));
    let components: Vec<api::Component> =
        serde_json::from_value(json!([{"name": "worker", "replicas": 3}])).expect("components");
    let assumed = [AssumedWorkload::new("shop", &components).expect("a workload")];
    let first = Target {
        assumed: &assumed,
        ..Target::new("m1")
    };
    estimators.estimate(&[first, Target::new("m2")], &replicas("1")).await;
    let [workload] = <[_; 1]>::try_from(one.assumed()).expect("one workload");
    assert_eq!(workload.namespace, "shop");
    let named = workload
        .components
        .iter()
        .map(|component| (component.name.as_str(), component.replicas));
    assert_eq!(named.collect::<Vec<_>>(), [("worker", 3)]);
    assert_eq!(two.assumed(), []);
}

#[tokio::test]
async fn clusters_that_vanished_are_forgotten() {
    let server = Estimator::start(Behaviour::Count(7)).await;
    let services = Services::new([("m1", server.port), ("m2", server.port)]);
    let estimators = Estimators::new(options(), services);
    words(&estimators, ["m1", "m2"], &replicas("1")).await;
    let known = || {
        estimators
            .states()
            .into_iter()
            .map(|state| state.cluster)
            .collect::<Vec<_>>()
    };
    assert_eq!(known(), ["m1", "m2"]);
    estimators.retain(|cluster| cluster == "m2");
    assert_eq!(known(), ["m2"]);
}
