//! Warnings about what a detector found.

use std::collections::BTreeSet;

use super::{Binding, Entry, resource_name};
use crate::api::TypeMeta;
use crate::workloads::{WorkloadKinds, WorkloadResource};
use divvy_spanned::{ObjectName, Source, Warning};

/// Collects warnings, only one per kind of workload.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    /// The warnings; those about a kind with the kind.
    found: Vec<(Option<TypeMeta>, Warning)>,
    kinds: BTreeSet<TypeMeta>,
}

impl Warnings {
    /// The warnings, in the order in which they were added.
    pub(super) fn found(self) -> Vec<Warning> {
        self.found.into_iter().map(|(_, warning)| warning).collect()
    }

    /// Adds the warnings about later objects, except those about kinds that have one already.
    pub(super) fn take_in(&mut self, later: Self) {
        for (kind, warning) in later.found {
            let is_new = kind.as_ref().is_none_or(|kind| self.kinds.insert(kind.clone()));
            if is_new {
                self.found.push((kind, warning));
            }
        }
    }

    /// Warns about a kind with `spec.replicas` that is missing from the table of workload kinds.
    pub(super) fn warn_of_kind(&mut self, entry: &Entry<WorkloadResource>, known: &WorkloadKinds, consequence: &str) {
        let WorkloadResource { resource, demand } = &*entry.object;
        let type_meta = &resource.type_meta;
        let is_unknown = demand.is_none() && resource.has_replicas && !known.contains(type_meta);
        if !is_unknown || !self.kinds.insert(type_meta.clone()) {
            return;
        }
        let TypeMeta { api_version, kind } = type_meta;
        let message = format!(
            "the kind `{kind}` of `{api_version}` has `spec.replicas`, but no `[[workload]]` table names it; {consequence}"
        );
        let hint = format!(
            "add `[[workload]]` with `api-version = \"{api_version}\"`, `kind = \"{kind}\"`, `replicas = \"spec.replicas\"` and, if it has one, `template = \"spec.template\"` to the profile"
        );
        let warning = new(entry.source.as_ref(), resource_name(resource), message, Some(hint));
        self.found.push((Some(type_meta.clone()), warning));
    }

    /// Warns about priority classes that policies name and the input lacks.
    pub(super) fn warn_of_classes<'a>(&mut self, missing: impl Iterator<Item = &'a str>) {
        for name in missing {
            let message = format!("a policy names the priority class `{name}`, which is not in the input");
            let hint = "add the PriorityClass to the input; without it, Karmada makes no binding, and here the binding has no priority";
            let name = ObjectName::new("PriorityClass", "", name);
            self.found.push((None, new(None, name, message, Some(hint.to_owned()))));
        }
    }

    /// Warns about a binding without a placement.
    pub(super) fn warn_of_placement(&mut self, binding: &Binding) {
        let object = &binding.object;
        if object.spec.placement.is_some() || binding.skip_reason().is_some() {
            return;
        }
        let metadata = &object.metadata;
        let name = ObjectName::new(&object.kind, &metadata.namespace, &metadata.name);
        let message = "the binding has no placement and no policy in the input; duplicating to every cluster";
        let warning = new(binding.source.as_ref(), name, message.to_owned(), None);
        self.found.push((None, warning));
    }

    /// Warns about a second binding of the same name.
    pub(super) fn warn_of_second(&mut self, binding: &Binding) {
        let resource = &binding.object.spec.resource;
        let object = ObjectName::new(&resource.kind, &resource.namespace, &resource.name);
        let message = format!(
            "the binding `{}` is already in the input; not creating a second one",
            binding.key()
        );
        let warning = new(binding.source.as_ref(), object, message, None);
        self.found.push((None, warning));
    }
}

fn new(source: Option<&Source>, object: ObjectName, message: String, hint: Option<String>) -> Warning {
    Warning {
        source_of: source.cloned(),
        object: Some(object),
        annotation: None,
        message,
        hint,
    }
}
