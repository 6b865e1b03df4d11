//! Locations of what is wrong with a binding: the annotation at fault, the policy, and the binding or its workload.

use divvy_command::errors::location;
use divvy_karmada::detector::Binding;
use divvy_manifests::Source;
use divvy_scheduler::cycle::CycleError;

/// Locations of the fault of an invalid binding; `None` if the error is not the binding's fault.
///
/// `in web.yaml:4; policy PropagationPolicy shop/web; binding in web.yaml:9` if the line of the annotation at fault is known, and otherwise
/// `in web.yaml:9; policy PropagationPolicy shop/web in web.yaml:1`.
pub(crate) fn fault(binding: &Binding, error: &CycleError) -> Option<String> {
    let (CycleError::InvalidBinding { .. } | CycleError::InvalidPreferences { .. }) = error else {
        return None;
    };
    let own = binding.source.as_ref().map(location);
    let annotation = annotation(binding, &error.to_string());
    let policy = binding.policy.as_ref().map(|policy| {
        let name = policy.object_name();
        match &policy.location.0 {
            Some(known) if annotation.is_none() => format!("policy {name} in {}", location(&known.source)),
            _ => format!("policy {name}"),
        }
    });
    let parts: Vec<String> = match annotation {
        Some(annotation) => {
            let first = format!("in {}", location(&annotation));
            let own = own.map(|own| format!("binding in {own}"));
            [Some(first), policy, own].into_iter().flatten().collect()
        }
        None => own.map(|own| format!("in {own}")).into_iter().chain(policy).collect(),
    };
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Location of the policy's annotation that a message names; `None` if there is none, or if the binding has that annotation itself, which
/// takes precedence.
pub(super) fn annotation(binding: &Binding, message: &str) -> Option<Source> {
    let known = binding.policy.as_ref()?.location.0.as_ref()?;
    let own = &binding.object.metadata.annotations;
    let mut named = known
        .annotation_lines
        .keys()
        .filter(|name| message.contains(&format!("`{name}`")));
    known.annotation(named.find(|name| own.get(name.as_str()).is_none())?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use divvy_karmada::api::StringMap;
    use divvy_karmada::detector::{Location, PolicyFacts, PolicyLocation};

    use super::*;

    fn at(file: &str, line: usize) -> Source {
        Source {
            file: Arc::from(Path::new(file)),
            document: 1,
            line,
        }
    }

    /// A binding from line 9 of a file, and its policy in line 1 of another, with two annotations.
    fn binding() -> Binding {
        let lines = [("divvy.io/preferences", 4), ("divvy.io/preferences.windows", 5)];
        let location = Location {
            source: at("policy.yaml", 1),
            annotation_lines: lines.into_iter().map(|(name, line)| (name.to_owned(), line)).collect(),
        };
        Binding {
            source: Some(at("web.yaml", 9)),
            policy: Some(Arc::new(PolicyFacts {
                kind: "PropagationPolicy".to_owned(),
                namespace: "shop".to_owned(),
                name: "web".to_owned(),
                location: PolicyLocation(Some(location)),
                ..PolicyFacts::default()
            })),
            ..Binding::default()
        }
    }

    fn refused(origin: &str) -> CycleError {
        CycleError::InvalidPreferences {
            plugin: "windows".to_owned(),
            origin: origin.to_owned(),
            message: "unknown key `zone`".to_owned(),
            hint: None,
        }
    }

    #[test]
    fn the_line_of_the_annotation_at_fault_comes_first() {
        let of = |origin: &str| fault(&binding(), &refused(origin)).expect("it is a fault");
        assert_eq!(
            of("PropagationPolicy shop/web's `divvy.io/preferences.windows`"),
            "in policy.yaml:5; policy PropagationPolicy shop/web; binding in web.yaml:9"
        );
        assert_eq!(
            of("PropagationPolicy shop/web's `divvy.io/preferences`"),
            "in policy.yaml:4; policy PropagationPolicy shop/web; binding in web.yaml:9"
        );
        assert_eq!(
            of("spec.placement"),
            "in web.yaml:9; policy PropagationPolicy shop/web in policy.yaml:1"
        );
    }

    #[test]
    fn an_annotation_of_the_binding_itself_is_in_the_binding() {
        let mut binding = binding();
        binding.object.metadata.annotations = StringMap::from([("divvy.io/preferences".to_owned(), "{}".to_owned())]);
        assert_eq!(
            fault(&binding, &refused("the binding's `divvy.io/preferences`")).as_deref(),
            Some("in web.yaml:9; policy PropagationPolicy shop/web in policy.yaml:1")
        );
    }

    #[test]
    fn an_outcome_of_scheduling_has_no_location() {
        let outcome = CycleError::NoClusterFit {
            clusters: 0,
            reasons: Vec::new(),
        };
        assert_eq!(fault(&binding(), &outcome), None);
    }
}
