//! The room that a result takes on a cluster: pods of each template, and the requests of one of them.
//!
//! A resource with one pod template has its replicas divided. One with several goes to each of its clusters as a whole, with
//! 0 replicas in the result, so its room follows from its components.

use divvy_framework_arithmetic::cost::Amounts;
use divvy_karmada::api::{ReplicaRequirements, ResourceBindingSpec, ResourceList, TargetCluster};

use super::ledger::quantities;
use super::{Ledger, requests};
use crate::input::PlanInput;

/// The pod templates of a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    templates: Vec<PodTemplate>,
    /// True if every cluster of the result gets all components.
    is_whole: bool,
}

/// One pod template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodTemplate {
    /// Name of the component; empty for a resource with a single template.
    pub name: String,
    /// Pods in each cluster of a resource that is not divided.
    pub pods: i64,
    /// Requests of one pod, in the units of the snapshot.
    pub requests: Vec<(String, i64)>,
}

impl Footprint {
    /// The footprint of a binding.
    pub fn new(specification: &ResourceBindingSpec) -> Self {
        let ResourceBindingSpec {
            replicas,
            replica_requirements,
            components,
            ..
        } = specification;
        let components = components.iter().map(|component| {
            let requests = component.replica_requirements.as_ref().map(resource_request);
            (component.name.as_str(), i64::from(component.replicas), requests)
        });
        let requests = replica_requirements.as_deref().map(resource_request);
        Self::from_templates(replicas.unwrap_or(0).into(), requests, components)
    }

    /// The footprint of a binding, from the input of its plan.
    pub fn from_input(input: &PlanInput<'_>) -> Self {
        Self::from_templates(input.replicas, input.requests, input.components.iter().copied())
    }

    /// The footprint of a resource that asks for these replicas with these requests, and has these components: name, replicas and requests
    /// of each.
    pub fn from_templates<'a>(
        replicas: i64,
        requests: Option<&ResourceList>,
        components: impl ExactSizeIterator<Item = (&'a str, i64, Option<&'a ResourceList>)>,
    ) -> Self {
        // As in the plan: only a single pod template can be divided.
        let has_replicas = replicas > 0 || requests.is_some();
        let count = components.len();
        let is_whole = count > 1 || count == 1 && !has_replicas;
        let templates = match is_whole {
            false => vec![PodTemplate {
                requests: owned(requests),
                ..PodTemplate::default()
            }],
            true => components
                .map(|(name, replicas, requests)| PodTemplate {
                    name: name.to_owned(),
                    pods: replicas.max(0),
                    requests: owned(requests),
                })
                .collect(),
        };
        Self { templates, is_whole }
    }

    /// True if every cluster of a result gets all components, so that the result has no replicas.
    pub fn is_component_set(&self) -> bool {
        self.is_whole
    }

    /// The pod templates; [`Self::pods`] has their order.
    pub fn templates(&self) -> &[PodTemplate] {
        &self.templates
    }

    /// Pods of each template that a target runs. A target that does not list its components runs those of the binding.
    pub fn pods(&self, target: &TargetCluster) -> Vec<i64> {
        let templates = self.templates.iter();
        templates.map(|template| self.pods_of(template, target)).collect()
    }

    fn pods_of(&self, template: &PodTemplate, target: &TargetCluster) -> i64 {
        if !self.is_whole {
            return i64::from(target.replicas.max(0));
        }
        if target.components.is_empty() {
            return template.pods;
        }
        let mut components = target.components.iter();
        let listed = components.find(|component| component.name == template.name);
        listed.map_or(0, |component| i64::from(component.replicas.max(0)))
    }

    /// Pods of each template that a result adds on a cluster to the last one. Negative numbers are pods that it removes.
    pub fn growth(&self, target: &TargetCluster, last: &[TargetCluster]) -> Vec<i64> {
        let last = last.iter().find(|last| last.name == target.name);
        let before = last.map_or_else(|| vec![0; self.templates.len()], |last| self.pods(last));
        let pods = self.pods(target).into_iter().zip(before);
        pods.map(|(after, before)| after - before).collect()
    }

    /// Books pods of each template on the cluster in `row`. Negative numbers are ignored.
    pub fn book(&self, ledger: &mut Ledger, row: usize, pods: &[i64]) {
        for (template, pods) in self.templates.iter().zip(pods) {
            ledger.book(row, *pods, template.requests());
        }
    }

    /// Each resource that a target takes in addition to the last one on its cluster, with the quantity. Pods that it removes
    /// are ignored.
    pub fn added<'a>(
        &'a self,
        target: &'a TargetCluster,
        last: Option<&'a TargetCluster>,
    ) -> impl Iterator<Item = (&'a str, i64)> {
        self.templates.iter().flat_map(move |template| {
            let before = last.map_or(0, |last| self.pods_of(template, last));
            let growth = self.pods_of(template, target) - before;
            let quantities = (growth > 0).then(|| quantities(growth, template.requests()));
            quantities.into_iter().flatten()
        })
    }

    /// The priced resources of a result with these replicas on a cluster, or of all components there. `gpu` is the name of the
    /// resource that counts GPUs.
    pub fn amounts(&self, replicas: i64, gpu: &str) -> Amounts {
        let amounts = self.templates.iter().map(|template| {
            let requests = template.requests();
            let each = requests.fold(Amounts::default(), |each, (name, quantity)| {
                each.with(name, quantity, gpu)
            });
            (each, if self.is_whole { template.pods } else { replicas })
        });
        amounts.fold(Amounts::default(), |sum, (each, pods)| sum.with_each(each, pods))
    }

    /// Returns the room that [`Self::book`] took.
    pub fn release(&self, ledger: &mut Ledger, row: usize, pods: &[i64]) {
        for (template, pods) in self.templates.iter().zip(pods) {
            ledger.release(row, *pods, template.requests());
        }
    }
}

impl PodTemplate {
    fn requests(&self) -> impl Iterator<Item = (&str, i64)> {
        let requests = self.requests.iter();
        requests.map(|(resource, quantity)| (resource.as_str(), *quantity))
    }
}

fn resource_request(requirements: &ReplicaRequirements) -> &ResourceList {
    &requirements.resource_request
}

fn owned(requested: Option<&ResourceList>) -> Vec<(String, i64)> {
    requests(requested)
        .map(|(resource, quantity)| (resource.to_owned(), quantity))
        .collect()
}
