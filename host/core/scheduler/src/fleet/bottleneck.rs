//! The resource that a cluster runs out of first.

use divvy_framework_view::clusters::Clusters;

use super::Ledger;
use super::estimate::{ComponentDemand, Demand, PODS, UNBOUNDED, estimate};

/// The resource that bounds each cluster's estimate, one entry per entry of `rows`; `None` if nothing bounds it.
///
/// Every resource is estimated on its own, by the rules of [`estimate`], and the smallest estimate wins; among equal ones
/// pods, then the first of the requests. If resource models bound several resources together, this is the scarcest of them.
pub fn bottlenecks<'demand>(
    clusters: &Clusters<'_>,
    rows: &[u32],
    demand: &'demand Demand,
    ledger: Option<&Ledger>,
) -> Vec<Option<&'demand str>> {
    let mut least: Vec<(i64, Option<&str>)> = vec![(UNBOUNDED, None); rows.len()];
    let mut fits = vec![0; rows.len()];
    for (resource, alone) in singles(demand) {
        estimate(clusters, rows, &alone, UNBOUNDED, ledger, &mut fits);
        for (least, fits) in least.iter_mut().zip(&fits) {
            if *fits < least.0 {
                *least = (*fits, Some(resource));
            }
        }
    }
    least.into_iter().map(|(_, resource)| resource).collect()
}

/// The demand for each of its resources alone. Every demand takes pods.
fn singles(demand: &Demand) -> Vec<(&str, Demand)> {
    match demand {
        Demand::Nothing => Vec::new(),
        Demand::Pods => vec![(PODS, Demand::Pods)],
        Demand::Requests(requests) => {
            let alone = requests
                .iter()
                .map(|(name, quantity)| (name.as_str(), Demand::Requests(vec![(name.clone(), *quantity)])));
            [(PODS, Demand::Pods)].into_iter().chain(alone).collect()
        }
        Demand::Sets(components) => {
            let mut names: Vec<&str> = components
                .iter()
                .flat_map(|component| &component.requests)
                .map(|(name, _)| name.as_str())
                .collect();
            names.sort_unstable();
            names.dedup();
            let pods = (PODS, Demand::Sets(only(components, None)));
            let others = names
                .into_iter()
                .map(|name| (name, Demand::Sets(only(components, Some(name)))));
            [pods].into_iter().chain(others).collect()
        }
    }
}

/// The components with the requests for one resource alone.
fn only(components: &[ComponentDemand], resource: Option<&str>) -> Vec<ComponentDemand> {
    let reduced = components.iter().map(|component| ComponentDemand {
        replicas: component.replicas,
        requests: component
            .requests
            .iter()
            .filter(|(name, _)| Some(name.as_str()) == resource)
            .cloned()
            .collect(),
    });
    reduced.collect()
}

#[cfg(test)]
mod tests {
    use divvy_karmada::api::Cluster;
    use serde_json::json;

    use super::super::Fleet;
    use super::*;

    fn fleet() -> Fleet {
        let cluster = |name: &str, allocatable: serde_json::Value| -> Cluster {
            let object =
                json!({"metadata": {"name": name}, "status": {"resourceSummary": {"allocatable": allocatable}}});
            serde_json::from_value(object).unwrap()
        };
        let mut fleet = Fleet::new(false);
        fleet.extend(&[
            cluster("a", json!({"cpu": "4", "memory": "100Gi", "pods": "100"})),
            cluster("b", json!({"cpu": "100", "memory": "4Gi", "pods": "100"})),
            cluster("c", json!({"cpu": "100", "memory": "100Gi", "pods": "3"})),
            cluster("d", json!({"cpu": "100", "pods": "100"})),
        ]);
        fleet
    }

    fn found(demand: &Demand, ledger: Option<&Ledger>) -> Vec<Option<String>> {
        let snapshot = fleet().snapshot();
        let clusters = snapshot.snapshot().clusters();
        let found = bottlenecks(&clusters, &[0, 1, 2, 3], demand, ledger);
        found.into_iter().map(|name| name.map(str::to_owned)).collect()
    }

    fn requests() -> Vec<(String, i64)> {
        vec![("cpu".to_owned(), 1000), ("memory".to_owned(), 1 << 30)]
    }

    fn named(names: [&str; 4]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn the_scarcest_resource_is_named_and_a_missing_one_is_scarcest() {
        let demand = Demand::Requests(requests());
        assert_eq!(found(&demand, None), named(["cpu", "memory", "pods", "memory"]));
        assert_eq!(found(&Demand::Pods, None), named(["pods"; 4]));
        assert_eq!(found(&Demand::Nothing, None), [const { None }; 4]);
    }

    #[test]
    fn sets_and_bookings_count() {
        let component = ComponentDemand {
            replicas: 2,
            requests: requests(),
        };
        let demand = Demand::Sets(vec![component]);
        assert_eq!(found(&demand, None), named(["cpu", "memory", "pods", "memory"]));
        let mut ledger = Ledger::default();
        ledger.book(0, 30, [("memory", 3 << 30)]);
        let demand = Demand::Requests(requests());
        // 10 GiB are left of 100, and 4 CPUs.
        assert_eq!(found(&demand, Some(&ledger))[0].as_deref(), Some("cpu"));
        ledger.book(0, 3, [("memory", 3 << 30)]);
        assert_eq!(found(&demand, Some(&ledger))[0].as_deref(), Some("memory"));
    }
}
