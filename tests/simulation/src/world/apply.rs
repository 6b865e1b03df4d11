//! Steps of the script, carried out.

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_world::plane::Estimating;
use serde_json::{Value, json};

use super::{Event, World};
use crate::oracle::{Targets, targets_of};
use crate::script::{Action, LABEL, Template};

/// Label by which a binding belongs to its policy.
const PERMANENT_ID: &str = "propagationpolicy.karmada.io/permanent-id";

/// Identity of a binding by its number.
fn binding_key(number: usize) -> ObjectKey {
    ObjectKey {
        namespace: format!("n{}", number % 2),
        name: format!("b{number}"),
    }
}

impl World<'_> {
    /// Carries out a step.
    pub(super) fn step(&mut self, number: usize) {
        let script = self.script;
        let action = &script.steps[number].action;
        self.note(|| format!("» {action}"));
        match action {
            Action::Create { binding, template } => self.create(*binding, template),
            Action::Scale { binding, replicas } => self.change_spec(*binding, |spec| {
                if spec["components"].is_null() {
                    spec["replicas"] = json!(replicas);
                }
            }),
            Action::Place { binding, placement } => {
                self.change_spec(*binding, |spec| spec["placement"] = placement.clone());
            }
            Action::Request { binding, cpu } => self.change_spec(*binding, |spec| {
                if spec["components"].is_null() {
                    spec["replicaRequirements"]["resourceRequest"]["cpu"] = json!(format!("{cpu}m"));
                }
            }),
            Action::Delete { binding } => self.delete(*binding),
            Action::Suspend { binding, is_suspended } => {
                self.change_spec(*binding, |spec| {
                    spec["suspension"] = json!({"scheduling": is_suspended})
                });
            }
            Action::HandOver { binding, scheduler } => {
                self.change_spec(*binding, |spec| spec["schedulerName"] = json!(scheduler));
            }
            Action::Rebalance { binding } => {
                let at = self.wall().to_string();
                self.change_spec(*binding, |spec| spec["rescheduleTriggeredAt"] = json!(at));
            }
            Action::Relabel { binding } => {
                let at = self.now;
                _ = self.plane.change_binding(&binding_key(*binding), |object| {
                    object["metadata"]["labels"]["revision"] = json!(at.to_string());
                });
            }
            Action::Deschedule { binding, cluster } => self.plane.deschedule(&binding_key(*binding), *cluster),
            Action::Crash {
                binding,
                cluster,
                millis,
            } => {
                let until = self.now + millis;
                self.plane.members[*cluster].crash(&binding_key(*binding), until);
            }
            Action::Confirm => self.confirm(),
            Action::Estimators(conduct) => self.estimating = *conduct,
            Action::Fault(fault) => self.faults.add(*fault),
            Action::WatchLag { process, kind, millis } => self.lag(*process, *kind, *millis),
            Action::WatchBreak { process, kind, resume } => self.break_watch(*process, *kind, *resume),
            Action::Kill { process, millis } => self.kill(*process, *millis),
            Action::Stall { process, millis } => self.stall(*process, *millis),
            Action::LeaseOutage { process, millis } => self.lose_lease_requests(*process, *millis),
            Action::Reload { profile } => self.reload(*profile),
            action => self.step_of_cluster(action),
        }
        self.take_happenings();
    }

    /// A cluster joins, unless it is there.
    pub(super) fn join(&mut self, number: usize) {
        let plan = &self.script.setup.clusters[number];
        self.plane.join(number, plan.region, &json!({LABEL: plan.label}));
        self.take_happenings();
    }

    fn step_of_cluster(&mut self, action: &Action) {
        match action {
            Action::Join { cluster } => self.join(*cluster),
            Action::Leave { cluster } => self.plane.leave(*cluster),
            Action::Vanish { cluster } => self.plane.vanish(*cluster),
            Action::Return { cluster } => self.plane.come_back(*cluster),
            Action::Label { cluster, value } => self.plane.label(*cluster, LABEL, value),
            Action::Taint { cluster, effect } => self.plane.taint(*cluster, *effect),
            Action::Flap { cluster, millis } => {
                self.plane.unreachable(*cluster);
                self.take_happenings();
                self.enter(*millis, Event::Reachable(*cluster));
            }
            Action::Unserve { cluster, is_served } => self.plane.serve(*cluster, *is_served),
            Action::AddNode { cluster, cpu } => self.plane.members[*cluster].add_node(*cpu),
            Action::RemoveNode { cluster } => _ = self.plane.members[*cluster].remove_node(self.now),
            Action::Foreign { cluster, pods } => match pods {
                0 => self.plane.members[*cluster].clear_foreign(),
                pods => self.plane.members[*cluster].add_foreign(*pods),
            },
            Action::Silent { cluster, millis } => self.plane.members[*cluster].silent_until = self.now + millis,
            Action::Blind { cluster, millis } => self.plane.members[*cluster].blind_until = self.now + millis,
            Action::Lag { cluster, millis } => self.plane.members[*cluster].lags_until = self.now + millis,
            Action::Plan { planning, lasts } => self.plan(*planning, *lasts),
            Action::GiveUp => self.give_up_plans(),
            Action::LateReports { cluster, millis } => self.plane.members[*cluster].report_delay = *millis,
            _ => {}
        }
        self.plane.look_at_all();
    }

    /// All troubles end.
    pub(super) fn heal(&mut self) {
        self.note(|| "all troubles end".to_owned());
        self.is_healed = true;
        self.faults.clear();
        self.silent.clear();
        self.estimating = Estimating::Well;
        for number in 0..self.plane.members.len() {
            if self.plane.members[number].is_unreachable {
                self.reachable(number);
            }
            self.plane.members[number].heal();
        }
        self.plane.all_come_back();
        self.take_happenings();
        self.end_lags();
        self.plane.look_at_all();
        for process in self.processes.iter_mut().flatten() {
            process.stalled_until = self.now;
            process.lease_fails_until = self.now;
        }
        for slot in 0..self.processes.len() {
            self.start(slot);
        }
    }

    fn change_spec(&mut self, number: usize, change: impl FnOnce(&mut Value)) {
        self.plane
            .change_binding(&binding_key(number), |object| change(&mut object["spec"]));
    }

    fn create(&mut self, number: usize, template: &Template) {
        let ObjectKey { namespace, name } = binding_key(number);
        let version = if template.kind == "Job" { "batch/v1" } else { "apps/v1" };
        let requests = json!({"cpu": format!("{}m", template.cpu), "memory": format!("{}Mi", template.memory)});
        let mut spec = json!({
            "schedulerName": "default-scheduler",
            "resource": {
                "apiVersion": version, "kind": template.kind, "namespace": namespace, "name": name,
                "uid": format!("workload-{name}"),
            },
            "placement": template.placement,
            "schedulePriority": {"priority": template.priority},
        });
        match template.has_components {
            true => {
                let component = |name: &str, replicas: i64| json!({"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": requests}});
                spec["components"] = json!([component("leader", 1), component("worker", 2)]);
            }
            false => {
                spec["replicas"] = json!(template.replicas);
                spec["replicaRequirements"] = json!({"resourceRequest": requests});
            }
        }
        let labels = json!({PERMANENT_ID: format!("policy-{name}")});
        let object = json!({
            "apiVersion": "work.karmada.io/v1alpha2",
            "kind": "ResourceBinding",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": spec,
        });
        let now = self.now;
        self.books.moves.ask(&binding_key(number).to_string(), 0);
        self.plane.server.create(now, Kind::Binding, object);
        self.publish_changes(Kind::Binding);
        match template.policy_delay {
            0 => self.create_policy(number),
            delay => self.enter(delay, Event::Policy(number)),
        }
    }

    /// The policy of a binding appears.
    pub(super) fn create_policy(&mut self, number: usize) {
        let ObjectKey { namespace, name } = binding_key(number);
        let labels = json!({PERMANENT_ID: format!("policy-{name}")});
        let policy = json!({
            "metadata": {"name": format!("policy-{name}"), "namespace": namespace, "labels": labels},
            "spec": {},
        });
        let now = self.now;
        self.plane.server.create(now, Kind::Policy, policy);
        self.publish_changes(Kind::Policy);
    }

    fn delete(&mut self, number: usize) {
        let now = self.now;
        let key = binding_key(number);
        if let Some(binding) = self.plane.server.delete(now, Kind::Binding, &key) {
            self.books.note_shrinking(&targets_of(&binding), &Targets::new(), now);
            self.publish_changes(Kind::Binding);
        }
    }
}
