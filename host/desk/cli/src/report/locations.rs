//! Locations of what is wrong with a binding: the annotation at fault, the policy, and the binding or its workload.

use divvy_command::errors::location;
use divvy_karmada::detector::Binding;
use divvy_manifests::Source;
use divvy_scheduler::cycle::CycleError;

/// Where the fault of an invalid binding is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FaultLocation {
    /// Location of the annotation at fault, or else of the binding or its workload: `web.yaml:4`.
    pub(crate) first: Option<String>,
    /// All locations: `in web.yaml:4; policy PropagationPolicy shop/web; binding in web.yaml:9` if the line of the annotation at fault is
    /// known, and otherwise `in web.yaml:9; policy PropagationPolicy shop/web in web.yaml:1`.
    pub(crate) all: String,
}

/// Locations of the fault of an invalid binding; `None` if the error is not the binding's fault.
pub(crate) fn fault(binding: &Binding, error: &CycleError) -> Option<FaultLocation> {
    let (CycleError::InvalidBinding { annotation, .. } | CycleError::InvalidPreferences { annotation, .. }) = error
    else {
        return None;
    };
    let own = binding.source.as_ref().map(location);
    let annotation = annotation.as_deref().and_then(|name| policys(binding, name));
    let annotation = annotation.as_ref().map(location);
    let policy = binding.policy.as_ref().map(|policy| {
        let name = policy.object_name();
        match &policy.location.0 {
            Some(known) if annotation.is_none() => format!("policy {name} in {}", location(&known.source)),
            _ => format!("policy {name}"),
        }
    });
    let parts: Vec<String> = match &annotation {
        Some(annotation) => {
            let first = format!("in {annotation}");
            let own = own.as_ref().map(|own| format!("binding in {own}"));
            [Some(first), policy, own].into_iter().flatten().collect()
        }
        None => own.iter().map(|own| format!("in {own}")).chain(policy).collect(),
    };
    (!parts.is_empty()).then(|| FaultLocation {
        first: annotation.or(own),
        all: parts.join("; "),
    })
}

/// Location of an annotation of the binding's policy; `None` if it is not known, or if the binding has that annotation itself, which takes
/// precedence.
pub(super) fn policys(binding: &Binding, annotation: &str) -> Option<Source> {
    let known = binding.policy.as_ref()?.location.0.as_ref()?;
    let is_own = binding.object.metadata.annotations.get(annotation).is_some();
    known.annotation(annotation).filter(|_| !is_own)
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

    /// An error whose text names another annotation than the one at fault.
    fn refused(annotation: Option<&str>) -> CycleError {
        CycleError::InvalidPreferences {
            plugin: "windows".to_owned(),
            origin: Box::default(),
            annotation: annotation.map(Into::into),
            message: "unknown key `divvy.io/preferences`".to_owned(),
            hint: None,
        }
    }

    #[test]
    fn the_line_of_the_annotation_at_fault_comes_first() {
        for (annotation, first, all) in [
            (
                Some("divvy.io/preferences.windows"),
                "policy.yaml:5",
                "in policy.yaml:5; policy PropagationPolicy shop/web; binding in web.yaml:9",
            ),
            (
                Some("divvy.io/preferences"),
                "policy.yaml:4",
                "in policy.yaml:4; policy PropagationPolicy shop/web; binding in web.yaml:9",
            ),
            (
                Some("metadata.annotation"),
                "web.yaml:9",
                "in web.yaml:9; policy PropagationPolicy shop/web in policy.yaml:1",
            ),
            (
                None,
                "web.yaml:9",
                "in web.yaml:9; policy PropagationPolicy shop/web in policy.yaml:1",
            ),
        ] {
            let found = fault(&binding(), &refused(annotation)).expect("it is a fault");
            assert_eq!(
                (found.first.as_deref(), found.all.as_str()),
                (Some(first), all),
                "{annotation:?}"
            );
        }
    }

    #[test]
    fn an_annotation_of_the_binding_itself_is_in_the_binding() {
        let mut binding = binding();
        binding.object.metadata.annotations = StringMap::from([("divvy.io/preferences".to_owned(), "{}".to_owned())]);
        let found = fault(&binding, &refused(Some("divvy.io/preferences"))).expect("it is a fault");
        assert_eq!(found.first.as_deref(), Some("web.yaml:9"));
        assert_eq!(
            found.all,
            "in web.yaml:9; policy PropagationPolicy shop/web in policy.yaml:1"
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
