//! Names and counts as they are in real fleets: rules that look at names meet suffixes such as `-prod`, and arithmetic meets the counts at
//! which it tends to go wrong.

use divvy_framework_arithmetic::random::Generator;

/// Names of clusters. All are valid: labels of DNS of at most 48 characters.
const CLUSTERS: [&str; 36] = [
    "prod",
    "staging",
    "dev",
    "eu-west-1-prod",
    "eu-west-1-staging",
    "eu-central-1-prod",
    "us-east-1-prod",
    "us-east-1-dev",
    "us-west-2-prod-blue",
    "us-west-2-prod-green",
    "ap-southeast-2-prod",
    "sa-east-1-canary",
    "gke-acme-europe-west4-prod",
    "gke-acme-us-central1-a-staging",
    "eks-payments-eu-west-1",
    "aks-westeurope-shared-001",
    "aks-westeurope-shared-002",
    "k8s-fra-01",
    "k8s-fra-02",
    "k8s-fra-10",
    "rke2-edge-berlin-7",
    "k3s-store-0042",
    "kind-local",
    "minikube",
    "in-cluster",
    "default",
    "member1",
    "member-10",
    "prod-eu",
    "prod-us",
    "test-prod",
    "c-m-7xk2q9zd",
    "3f2b6c1e-8a4d-4c7e-9b1f-0d5e6a7c8b90",
    "0",
    "a",
    "a-cluster-whose-name-has-all-the-length-it-may-a",
];

/// Regions, as clouds call them.
const REGIONS: [&str; 6] = ["eu-west-1", "us-east-1", "europe-west4", "westeurope", "fra", "us"];
/// Zones, as clouds call them.
const ZONES: [&str; 4] = ["eu-west-1a", "us-east-1b", "europe-west4-c", "1"];
/// Providers.
const PROVIDERS: [&str; 5] = ["aws", "gcp", "azure", "openstack", "own"];

/// Names of workloads and their bindings.
pub(crate) const WORKLOADS: [&str; 10] = [
    "checkout-prod",
    "payments-api-prod",
    "web-deployment",
    "nginx",
    "kube-dns-autoscaler",
    "recommender-v2-canary",
    "cart.v1.shop",
    "db-0",
    "b7e0a3f4-52c1-4b8e-8f7d-1c9a6e2d3b40",
    "a-workload-whose-name-is-longer-than-most-labels-may-be-but-not-than-names-may",
];
/// Names of namespaces.
pub(crate) const NAMESPACES: [&str; 5] = ["default", "shop-prod", "team-payments", "observability", "staging"];

/// Counts around which arithmetic goes wrong, each also one less and one more.
const BOUNDARIES: [i64; 24] = [
    10,
    16,
    32,
    50,
    64,
    100,
    128,
    200,
    250,
    256,
    500,
    512,
    1_000,
    1_024,
    2_048,
    4_096,
    5_000,
    10_000,
    32_768,
    65_536,
    100_000,
    1_000_000,
    1 << 24,
    1 << 30,
];

/// All counts at boundaries, in order.
fn boundaries() -> impl Iterator<Item = i64> {
    BOUNDARIES
        .into_iter()
        .flat_map(|boundary| [boundary - 1, boundary, boundary + 1])
}

/// A count at a boundary.
pub(crate) fn boundary(random: &mut Generator) -> i64 {
    let number = random.below(3 * BOUNDARIES.len() as u64) as usize;
    boundaries().nth(number).unwrap_or_default()
}

/// Words for clusters.
pub(crate) struct Words {
    pub(crate) regions: &'static [&'static str],
    pub(crate) zones: &'static [&'static str],
    pub(crate) providers: &'static [&'static str],
    /// Names of clusters and workloads are those of real fleets.
    pub(crate) is_real: bool,
}

/// A few short words, of which smallest cases are easy to read.
pub(crate) const PLAIN: Words = Words {
    regions: &["eu", "us", "ap"],
    zones: &["z1", "z2", "z3"],
    providers: &["aws", "gcp", "own"],
    is_real: false,
};

/// The words of real fleets.
pub(crate) const FLEET: Words = Words {
    regions: &REGIONS,
    zones: &ZONES,
    providers: &PROVIDERS,
    is_real: true,
};

impl Words {
    /// Different names for this number of clusters, in any order.
    pub(crate) fn names(&self, random: &mut Generator, count: u64) -> Vec<String> {
        let number_of = |index: u64| format!("member{index}");
        if !self.is_real {
            let mut names: Vec<String> = (0..count).map(number_of).collect();
            random.shuffle(&mut names);
            return names;
        }
        let mut known: Vec<String> = CLUSTERS.map(str::to_owned).to_vec();
        random.shuffle(&mut known);
        // Numbers from 100 on are those of no known name.
        known
            .into_iter()
            .chain((100..).map(number_of))
            .take(usize::try_from(count).unwrap_or(usize::MAX))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_differ() {
        let mut names = CLUSTERS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CLUSTERS.len());
        let is_valid = |name: &&str| {
            let plain = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
            (1..=48).contains(&name.len())
                && name.chars().all(|character| plain(character) || character == '-')
                && name.starts_with(plain)
                && name.ends_with(plain)
        };
        assert!(CLUSTERS.iter().all(is_valid));
        assert!(CLUSTERS.iter().any(|name| name.len() == 48));
    }

    #[test]
    fn every_boundary_is_reached() {
        let mut random = Generator::new(1, "test");
        let mut drawn: Vec<i64> = (0..2_000).map(|_| boundary(&mut random)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, boundaries().collect::<Vec<_>>());
    }
}
