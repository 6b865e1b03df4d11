//! Requirements that workloads share: most workloads of a dump have the same as another one of their namespace.

use std::collections::HashSet;
use std::sync::Arc;

use divvy_karmada::api::ReplicaRequirements;
use foldhash::quality::RandomState;

/// Requirements of workloads that were read.
#[derive(Debug, Default)]
pub(super) struct SharedRequirements(HashSet<Arc<ReplicaRequirements>, RandomState>);

impl SharedRequirements {
    /// The same requirements as another workload has them, or these if no workload has.
    pub(super) fn shared(&mut self, requirements: Arc<ReplicaRequirements>) -> Arc<ReplicaRequirements> {
        match self.0.get(&requirements) {
            Some(known) if is_written_as(known, &requirements) => Arc::clone(known),
            // The set keeps the first notation.
            Some(_) => requirements,
            None => {
                self.0.insert(Arc::clone(&requirements));
                requirements
            }
        }
    }
}

/// True if equal requirements are printed the same: `1` and `1000m` are equal quantities.
fn is_written_as(one: &ReplicaRequirements, other: &ReplicaRequirements) -> bool {
    let (one, other) = (&one.resource_request, &other.resource_request);
    one.values()
        .zip(other.values())
        .all(|(one, other)| one.is_written_as(*other))
}

#[cfg(test)]
mod tests {
    use divvy_karmada::api::ResourceList;

    use super::*;

    fn requesting(cpu: &str) -> Arc<ReplicaRequirements> {
        let cpu = cpu.parse().expect("a quantity");
        Arc::new(ReplicaRequirements {
            resource_request: ResourceList::from([("cpu".to_owned(), cpu)]),
            ..ReplicaRequirements::default()
        })
    }

    #[test]
    fn requirements_are_shared_if_they_are_written_the_same() {
        let mut shared = SharedRequirements::default();
        let first = shared.shared(requesting("1"));
        assert!(Arc::ptr_eq(&shared.shared(requesting("1")), &first));
        let other = shared.shared(requesting("1000m"));
        assert_eq!(other, first);
        assert_eq!(
            other.resource_request.get("cpu").map(ToString::to_string).as_deref(),
            Some("1")
        );
        assert!(!Arc::ptr_eq(&shared.shared(requesting("2")), &first));
    }
}
