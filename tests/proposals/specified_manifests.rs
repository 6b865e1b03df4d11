//! `specified-replicas.md`: every printed manifest, from its text to a decision, with warnings that suggest a better
//! form.

use super::{deployment, documents, printed};
use crate::manifests::{cluster, list};
use crate::renamed_strategies;
use crate::scheduling::Host;

/// A printed policy, the decision on 4 replicas, and the number of warnings about its form.
struct Printed {
    name: &'static str,
    told: &'static str,
    warnings: usize,
}

/// Both clusters are in the regions that the manifests name. A third cluster, in another region, must get nothing.
const EVEN: &str = "member1=2 member2=2";

const MANIFESTS: [Printed; 9] = [
    Printed {
        name: "specified-solution-one-clusters",
        told: EVEN,
        warnings: 2,
    },
    Printed {
        name: "specified-solution-one-regions",
        told: EVEN,
        warnings: 2,
    },
    Printed {
        name: "specified-solution-one-total",
        told: EVEN,
        warnings: 1,
    },
    Printed {
        name: "specified-solution-two-clusters",
        told: EVEN,
        warnings: 4,
    },
    Printed {
        name: "specified-solution-two-regions",
        told: EVEN,
        warnings: 5,
    },
    Printed {
        name: "specified-solution-two-total",
        told: EVEN,
        warnings: 1,
    },
    Printed {
        name: "specified-solution-three-clusters",
        told: EVEN,
        warnings: 1,
    },
    Printed {
        name: "specified-solution-three-regions",
        told: EVEN,
        warnings: 1,
    },
    Printed {
        name: "specified-solution-three-total",
        told: EVEN,
        warnings: 1,
    },
];

fn manifest(policy: &str, replicas: i64) -> String {
    let clusters = list([
        cluster("member1", 10).region("RegionA").into(),
        cluster("member2", 10).region("RegionB").into(),
        cluster("member3", 10).region("RegionC").into(),
    ]);
    documents(&[&clusters, &printed(policy), &deployment("default", "nginx", replicas)])
}

#[test]
fn every_printed_manifest_divides_as_specified() {
    for Printed { name, told, warnings } in MANIFESTS {
        let manifest = manifest(name, 4);
        assert_eq!(Host::built_in().told_text(&manifest), told, "{name}");
        let request = Host::built_in().plan(&manifest);
        assert_eq!(request.strategy, "Specified", "{name}");
        assert_eq!(request.warnings.len(), warnings, "{name}: {:#?}", request.warnings);
        for warning in &request.warnings {
            assert!(warning.hint.is_some(), "{name}: {warning} shows no clean form");
        }
    }
}

/// Manifests that mention only the strategy and its list have the same meaning under other names.
#[test]
fn printed_manifests_with_the_names_of_a_copy_divide_in_the_same_way() {
    let [bundled, copy] = renamed_strategies::specified();
    for name in ["specified-solution-one-clusters", "specified-solution-one-regions"] {
        let manifest = copy.named(&manifest(name, 4), &bundled);
        assert_eq!(copy.host.told_text(&manifest), EVEN, "{manifest}");
        assert_eq!(copy.host.plan(&manifest).strategy, copy.names.strategy);
    }
}

#[test]
fn no_printed_manifest_divides_another_number_of_replicas() {
    for Printed { name, .. } in MANIFESTS {
        let told = Host::built_in().told_text(&manifest(name, 5));
        assert!(told.starts_with("Unschedulable: "), "{name}: {told}");
        assert!(told.contains('4') && told.contains('5'), "{name}: {told}");
    }
}
