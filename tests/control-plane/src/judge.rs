//! Rules that must hold whatever fails, checked by the audit log.
//!
//! - A binding is moved at most once for each change that another writer made to it.
//! - No cluster is ever given more than it has.
//! - No scheduler writes a binding without holding the lease.

use std::collections::BTreeMap;

use divvy_judge::{CapacityRule, LeaseRule, MoveRule};
use divvy_karmada::api::{Quantity, ResourceList, Timestamp};
use serde_json::Value;

use crate::audit::Write;
use crate::objects::{BINDING, LEASE};
use crate::scenario::result;
use crate::users::SCHEDULERS_USERS;

/// Facts that the judge needs beside the log.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Allocatable CPU of every cluster.
    pub cpu: BTreeMap<String, Quantity>,
    /// Name of the lease that allows writes; `None` if the schedulers hold none.
    pub lease: Option<String>,
}

/// The rules, as they are shared with the simulation, after each write of the log.
struct World {
    moves: MoveRule,
    capacity: CapacityRule,
    lease: LeaseRule,
}

/// Every breach of the rules in a log, as sentences.
pub fn violations(log: &[Write], rules: &Rules) -> Vec<String> {
    let limits = rules.cpu.iter().map(|(cluster, cpu)| (cluster.clone(), cpu.as_nano()));
    let mut world = World {
        moves: MoveRule::default(),
        capacity: CapacityRule::new(limits.collect()),
        lease: LeaseRule::default(),
    };
    let mut found = Vec::new();
    for write in log.iter().filter(|write| write.succeeded()) {
        let resource = write.object_ref.resource.as_str();
        if resource == LEASE.plural && Some(write.name()) == rules.lease.as_deref() {
            let holder = write.response_object["spec"]["holderIdentity"].as_str();
            world
                .lease
                .note(holder.unwrap_or_default(), millis(write.stage_timestamp));
        } else if resource == BINDING.plural {
            let is_scheduler = SCHEDULERS_USERS.contains(&write.user.username.as_str());
            if is_scheduler && rules.lease.is_some() {
                // The user agent ends with the identity in the lease.
                let at = millis(write.request_received_timestamp);
                found.extend(world.lease.judge(&write.user_agent, write.name(), at));
            }
            if write.object_ref.subresource.is_empty() {
                found.extend(world.note_binding(write, is_scheduler));
            }
        }
    }
    found
}

impl World {
    fn note_binding(&mut self, write: &Write, is_scheduler: bool) -> Vec<String> {
        let object = &write.response_object;
        let name = format!("{}/{}", write.object_ref.namespace, write.name());
        let (after, cpu) = if write.verb == "delete" {
            (BTreeMap::new(), 0)
        } else {
            (result(object), cpu_request(object))
        };
        let mut found = Vec::new();
        match is_scheduler {
            true => found.extend(self.moves.judge(&name, &self.capacity.result(&name), &after)),
            false => {
                let generation = object["metadata"]["generation"].as_i64();
                self.moves.ask(&name, generation.unwrap_or_default());
            }
        }
        let over = self.capacity.note(&name, after, cpu);
        for (cluster, taken, limit) in over.into_iter().filter(|_| is_scheduler) {
            let (taken, limit) = (taken / 1_000_000, limit / 1_000_000);
            found.push(format!("{name} brought {cluster} to {taken}m of {limit}m CPU"));
        }
        found
    }
}

/// A time in milliseconds, to the second.
fn millis(at: Timestamp) -> i64 {
    at.seconds() * 1000
}

/// CPU that one replica of a binding requests, in billionths.
fn cpu_request(binding: &Value) -> i128 {
    let requests = binding["spec"]["replicaRequirements"]["resourceRequest"].clone();
    let requests: ResourceList = serde_json::from_value(requests).unwrap_or_default();
    requests.get("cpu").map_or(0, |quantity| quantity.as_nano())
}

#[cfg(test)]
mod tests;
