//! Rules that hold whatever fails, judged by the audit log.
//!
//! - A binding is moved at most once for each change that another writer made to it.
//! - No cluster is ever given more than it has.
//! - No scheduler writes a binding without holding the lease.

use std::collections::BTreeMap;

use divvy_karmada::api::{Quantity, ResourceList, Timestamp};
use serde_json::Value;

use crate::audit::Write;
use crate::objects::{BINDING, LEASE};
use crate::scenario::result;
use crate::users::SCHEDULERS_USERS;

/// Seconds for which a lease is valid after it was renewed.
const LEASE_SECONDS: i64 = 15;

/// Facts that the judge needs beside the log.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Allocatable CPU of every cluster.
    pub cpu: BTreeMap<String, Quantity>,
    /// Name of the lease that allows writes; `None` if the schedulers hold none.
    pub lease: Option<String>,
}

/// The state of the world after each write of the log.
#[derive(Default)]
struct World {
    /// For every binding, the generation that another writer wrote last, and the moves since.
    asked: BTreeMap<String, (i64, usize)>,
    /// For every binding, its result and the CPU of one replica.
    results: BTreeMap<String, (BTreeMap<String, i64>, i128)>,
    /// For every cluster, the CPU that all results together take, in billionths.
    taken: BTreeMap<String, i128>,
    /// The holder of the lease, and when it renewed.
    lease: Option<(String, Timestamp)>,
}

/// Every breach of the rules in a log, as sentences.
pub fn violations(log: &[Write], rules: &Rules) -> Vec<String> {
    let mut world = World::default();
    let mut found = Vec::new();
    for write in log.iter().filter(|write| write.succeeded()) {
        let resource = write.object_ref.resource.as_str();
        if resource == LEASE.plural && Some(write.name()) == rules.lease.as_deref() {
            world.note_lease(write);
        } else if resource == BINDING.plural {
            let is_scheduler = SCHEDULERS_USERS.contains(&write.user.username.as_str());
            if is_scheduler && rules.lease.is_some() {
                found.extend(world.without_lease(write));
            }
            if write.object_ref.subresource.is_empty() {
                found.extend(world.note_binding(write, is_scheduler, rules));
            }
        }
    }
    found
}

impl World {
    fn note_lease(&mut self, write: &Write) {
        let holder = write.response_object["spec"]["holderIdentity"]
            .as_str()
            .unwrap_or_default();
        self.lease = (!holder.is_empty()).then(|| (holder.to_owned(), write.stage_timestamp));
    }

    /// A write must arrive while the writer holds the lease. The user agent ends with the identity in the lease.
    fn without_lease(&self, write: &Write) -> Option<String> {
        let at = write.request_received_timestamp;
        let writer = &write.user_agent;
        let what = format!("{writer} wrote {} at {at}", write.name());
        match &self.lease {
            None => Some(format!("{what}, when nobody held the lease")),
            Some((holder, _)) if !writer.ends_with(holder.as_str()) => {
                Some(format!("{what}, when {holder} held the lease"))
            }
            Some((_, renewed)) if at.seconds() - renewed.seconds() > LEASE_SECONDS => {
                Some(format!("{what}, with a lease that it renewed at {renewed}"))
            }
            Some(_) => None,
        }
    }

    fn note_binding(&mut self, write: &Write, is_scheduler: bool, rules: &Rules) -> Vec<String> {
        let mut found = Vec::new();
        let object = &write.response_object;
        let name = format!("{}/{}", write.object_ref.namespace, write.name());
        let (after, cpu) = if write.verb == "delete" {
            (BTreeMap::new(), 0)
        } else {
            (result(object), cpu_request(object))
        };
        let (before, cpu_before) = self
            .results
            .insert(name.clone(), (after.clone(), cpu))
            .unwrap_or_default();
        if is_scheduler && before != after {
            let (generation, moves) = self.asked.entry(name.clone()).or_default();
            *moves += 1;
            if *moves > 1 {
                found.push(format!(
                    "{name} was moved {moves} times for generation {generation}: {before:?}, {after:?}"
                ));
            }
        } else if !is_scheduler {
            let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
            self.asked.insert(name.clone(), (generation, 0));
        }
        for (cluster, replicas) in &before {
            *self.taken.entry(cluster.clone()).or_default() -= i128::from(*replicas) * cpu_before;
        }
        for (cluster, replicas) in &after {
            let taken = self.taken.entry(cluster.clone()).or_default();
            *taken += i128::from(*replicas) * cpu;
            let limit = rules.cpu.get(cluster).map_or(0, |limit| limit.as_nano());
            if is_scheduler && *taken > limit {
                let (taken, limit) = (*taken / 1_000_000, limit / 1_000_000);
                found.push(format!("{name} brought {cluster} to {taken}m of {limit}m CPU"));
            }
        }
        found
    }
}

/// CPU that one replica of a binding requests, in billionths.
fn cpu_request(binding: &Value) -> i128 {
    let requests = binding["spec"]["replicaRequirements"]["resourceRequest"].clone();
    let requests: ResourceList = serde_json::from_value(requests).unwrap_or_default();
    requests.get("cpu").map_or(0, |quantity| quantity.as_nano())
}

#[cfg(test)]
mod tests;
