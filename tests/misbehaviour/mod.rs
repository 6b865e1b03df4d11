//! What a faulty plugin does to the host: nothing. Each misbehaviour is an error of that binding, which names the plugin,
//! the rule and the figures, and the next binding is scheduled.
//!
//! What the types of a result rule out needs no case, as no plugin can say it:
//! - Filter: accepting a cluster that another filter rejected, rejecting one that is not in the snapshot.
//! - Score: a fraction, NaN or infinity, a score for a cluster that is not feasible, or two scores for one.
//! - Select: candidates under another name than their place.
//! - Assign: a cluster that is no candidate, a candidate named twice or left out, a fraction of a replica.
//!
//! Out of reach in process: a fault that no Rust plugin without `unsafe` has (a wild pointer, `exit`), a stack that overflows,
//! a loop that does not end.

mod panics;
mod results;

use serde_json::Value;

use crate::manifests::{Binding, binding, cluster};
use crate::scheduling::Host;

/// A profile in which the faulty plugin stands at every extension point, beside bundled ones.
fn host() -> Host {
    Host::extending(
        "filters = ['cluster-affinity', 'faulty']\n\
         scores = [{ plugin = 'cluster-locality' }, { plugin = 'faulty' }]\n\
         select = 'faulty'\n\
         assign = ['faulty', 'average']\n",
    )
}

/// Three clusters: room for 10, 2 and 10.
fn clusters() -> Vec<Value> {
    [("a", 10), ("b", 2), ("c", 10)]
        .map(|(name, fits)| cluster(name, fits).into())
        .to_vec()
}

/// The decision on a binding of 6 replicas for which the plugin misbehaves like this.
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

/// That the plugin, and one beside it, still decide.
#[track_caller]
fn check_next_binding(host: &Host) {
    assert_eq!(told(host, binding("next", 6).strategy("Faulty")), "a=6");
    assert_eq!(told(host, binding("other", 6).strategy("Average")), "a=2 b=2 c=2");
}
