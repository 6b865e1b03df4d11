//! Cases at the ends of every range: no replicas, no cluster, one cluster, thousands of clusters, the largest counts.

use divvy_framework_arithmetic::random::Generator;
use serde_json::{Value, json};

use crate::case::Case;
use crate::generate::{self, NOON, Shape};
use crate::names::{FLEET, PLAIN};

/// The edge cases for each of the shape's strategies. `largest` is the number of clusters in the largest of them.
pub fn cases(shape: &Shape, largest: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    let unnamed = [String::new()];
    let names: Vec<&String> = match shape.strategies.is_empty() {
        true => unnamed.iter().collect(),
        false => shape.strategies.iter().map(|strategy| &strategy.name).collect(),
    };
    let highest = i64::from(i32::MAX);
    for strategy in names {
        let rooms: [&[i64]; 5] = [&[], &[9], &[0], &[highest, highest], &[5, 0, 7]];
        for room in rooms {
            for replicas in [0, 1, 12, highest] {
                cases.push(case(clusters(shape, room), binding(strategy, replicas)));
            }
        }
        // With requests, 0 replicas are divided rather than propagated whole.
        let mut zero = binding(strategy, 0);
        zero["spec"]["replicaRequirements"] = json!({ "resourceRequest": { "cpu": "1" } });
        zero["spec"]["clusters"] = json!([{ "name": "member00000", "replicas": 3 }]);
        cases.push(case(clusters(shape, &[5, 9]), zero));
        // Names of real fleets, with room for everything.
        for replicas in [12, 100] {
            let binding = generate::deployment_binding_in("shop-prod", "checkout-prod", replicas);
            cases.push(case(fleet(shape), by_strategy(binding, strategy)));
        }
        // Only a last result: larger than the total, and partly on clusters that are gone.
        let mut last = binding(strategy, 2);
        last["spec"]["clusters"] = json!([
            { "name": "member00001", "replicas": highest },
            { "name": "gone", "replicas": highest },
            { "name": "member00000", "replicas": 0 },
        ]);
        cases.push(case(clusters(shape, &[0, 0, 1]), last));
    }
    cases.extend(largest_case(shape, largest));
    cases
}

/// Clusters of the wide cases, beside the largest: more than are looked at by eye, and more than fit a byte.
const WIDE: [u64; 4] = [20, 48, 300, 1_000];

/// Random cases with many clusters, and with few and many replicas for each of these: a rule that holds for a few of both may not hold for
/// many. The case of the largest number of clusters has the largest number of replicas.
pub fn wide_cases(shape: &Shape, largest: u64) -> Vec<Case> {
    let highest = i64::from(i32::MAX);
    let counts: [&[i64]; 4] = [
        &[5, 70_001, 1_000_003, highest],
        &[40, 70_001, highest],
        &[70_001, highest],
        &[1_000_003],
    ];
    let mut wide: Vec<(u64, i64)> = WIDE
        .into_iter()
        .zip(counts)
        .flat_map(|(clusters, counts)| counts.iter().map(move |replicas| (clusters, *replicas)))
        .filter(|(clusters, _)| *clusters < largest)
        .collect();
    wide.push((largest, highest));
    // Most of them with two bindings: whether one has a last result, preferences or constraints is left to chance.
    let bindings = |clusters: u64| if clusters < 1_000 { 0..2 } else { 0..1 };
    let numbered = wide.into_iter().flat_map(|(clusters, replicas)| {
        let case = move |number| generate::wide_case(shape, clusters, replicas, number);
        bindings(clusters).map(case)
    });
    numbered.collect()
}

/// The case with the most clusters, of the first strategy.
pub fn largest_case(shape: &Shape, largest: u64) -> Option<Case> {
    let mut random = Generator::new(largest, "conformance: many clusters");
    let clusters: Vec<Value> = (0..largest)
        .map(|number| generate::cluster(&mut random, shape, &name(number), 1, &PLAIN))
        .collect();
    let strategy = shape.strategies.first().map_or("", |strategy| strategy.name.as_str());
    let mut binding = binding(strategy, i64::try_from(largest).ok()?.saturating_mul(3));
    let last = (0..largest)
        .step_by(7)
        .map(|number| json!({ "name": name(number), "replicas": number % 5 }));
    binding["spec"]["clusters"] = last.collect();
    Some(case(clusters, binding))
}

fn name(number: u64) -> String {
    format!("member{number:05}")
}

fn clusters(shape: &Shape, room: &[i64]) -> Vec<Value> {
    let cluster = |(number, room): (u64, &i64)| {
        let mut cluster = generate::cluster(
            &mut Generator::new(number, "conformance: edges"),
            shape,
            &name(number),
            1,
            &PLAIN,
        );
        cluster["status"]["resourceSummary"] = json!({ "allocatable": { "pods": room.to_string() } });
        cluster
    };
    (0..).zip(room).map(cluster).collect()
}

/// Clusters with names of real fleets, each with some room.
fn fleet(shape: &Shape) -> Vec<Value> {
    let mut random = Generator::new(1, "conformance: fleet");
    let random = &mut random;
    let names = FLEET.names(random, 24);
    let cluster = |name: &String| {
        let mut cluster = generate::cluster(random, shape, name, 1, &FLEET);
        cluster["status"]["resourceSummary"] = json!({ "allocatable": { "pods": "20" } });
        cluster
    };
    names.iter().map(cluster).collect()
}

fn binding(strategy: &str, replicas: i64) -> Value {
    by_strategy(generate::deployment_binding("web", replicas), strategy)
}

/// A binding that asks for a strategy.
fn by_strategy(mut binding: Value, strategy: &str) -> Value {
    if !strategy.is_empty() {
        binding["metadata"]["annotations"] = json!({ "divvy.io/strategy": strategy });
    }
    binding
}

fn case(clusters: Vec<Value>, binding: Value) -> Case {
    Case {
        clusters,
        objects: vec![binding],
        binding: None,
        time: NOON,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_cases_have_few_and_many_replicas_for_each_number_of_clusters() {
        let shape = Shape::default();
        let sizes = |largest: u64| -> Vec<(usize, i64)> {
            let mut sizes: Vec<(usize, i64)> = wide_cases(&shape, largest)
                .iter()
                .map(|case| {
                    (
                        case.clusters.len(),
                        case.objects[0]["spec"]["replicas"].as_i64().unwrap_or(-1),
                    )
                })
                .collect();
            sizes.dedup();
            sizes
        };
        let highest = i64::from(i32::MAX);
        assert_eq!(sizes(1), [(1, highest)]);
        let small = [5, 70_001, 1_000_003, highest].map(|replicas| (20, replicas));
        assert_eq!(sizes(30), [&small[..], &[(30, highest)]].concat());
        let many = sizes(5_000);
        assert_eq!((many[0], many[many.len() - 1]), ((20, 5), (5_000, highest)));
        assert!(many.contains(&(1_000, 1_000_003)), "{many:?}");
    }
}
