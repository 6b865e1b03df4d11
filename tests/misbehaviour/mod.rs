//! Faulty plugins do not affect the host. Each misbehaviour is an error of one binding, which names the plugin, the
//! rule and the figures, and the next binding is scheduled.
//!
//! The types of a result rule out some faults, which therefore have no test:
//! - Filter: accepting a cluster that another filter rejected, or rejecting one that is not in the snapshot.
//! - Score: a fraction, NaN or infinity, a score for a cluster that is not feasible, or two scores for one cluster.
//! - Select: candidates that are named rather than indexed.
//! - Assign: a cluster that is not a candidate, a candidate named twice or left out, a fraction of a replica.
//!
//! The host cannot contain some faults within its process: those that require `unsafe` code (a wild pointer) or `exit`,
//! a stack overflow, and an infinite loop.

mod excess;
mod panics;
mod results;

use serde_json::Value;

use crate::manifests::{Binding, binding, cluster};
use crate::scheduling::Host;

/// A host whose profile has the faulty plugin at every extension point, together with bundled plugins.
fn host() -> Host {
    Host::extending(
        "filters = ['cluster-affinity', 'faulty']\n\
         scores = [{ plugin = 'cluster-locality' }, { plugin = 'faulty' }]\n\
         select = 'faulty'\n\
         assign = ['faulty', 'average']\n",
    )
}

/// Three clusters with room for 10, 2 and 10 replicas.
fn clusters() -> Vec<Value> {
    [("a", 10), ("b", 2), ("c", 10)]
        .map(|(name, fits)| {
            let mut cluster: Value = cluster(name, fits).provider("aws").region("eu").into();
            cluster["spec"]["zones"] = ["eu-1"].into_iter().collect();
            cluster
        })
        .to_vec()
}

/// The decision on a binding with 6 replicas that triggers this fault.
#[track_caller]
fn told_with_fault(host: &Host, fault: &str) -> String {
    told(
        host,
        binding("struck", 6)
            .strategy("Faulty")
            .annotation("faulty.example/fault", fault),
    )
}

#[track_caller]
fn told(host: &Host, binding: Binding) -> String {
    let mut objects = clusters();
    objects.push(binding.into());
    host.told(objects)
}

/// Asserts that the faulty plugin and a bundled one still decide.
#[track_caller]
fn check_next_binding(host: &Host) {
    assert_eq!(told(host, binding("next", 6).strategy("Faulty")), "a=6");
    assert_eq!(told(host, binding("other", 6).strategy("Average")), "a=2 b=2 c=2");
}
