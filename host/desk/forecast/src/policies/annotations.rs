//! Annotations of policies that no profile can read. A binding under such a policy is not scheduled, or not moved.

use divvy_karmada::api::PropagationPolicy;
use divvy_profile::{MOVES_ANNOTATION, WrittenAllowances};
use divvy_scheduler::strategy::unreadable_annotations;

use super::document::{Code, Finding};

/// The findings on a policy, whose name is `object`. `location` finds that of an annotation.
pub(super) fn review(
    policy: &PropagationPolicy,
    object: &str,
    location: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let annotations = &policy.metadata.annotations;
    let moves = annotations.get(MOVES_ANNOTATION);
    let moves = moves.and_then(|text| WrittenAllowances::parse(text).err());
    let moves = moves.map(|error| (MOVES_ANNOTATION, format!("`{MOVES_ANNOTATION}`: {error}")));
    let requests = unreadable_annotations(annotations).map(|(name, error)| (name, error.to_string()));
    let finding = |(name, message): (&str, String)| Finding {
        severity: Code::InvalidAnnotation.severity(),
        code: Code::InvalidAnnotation,
        object: object.to_owned(),
        source: location(name),
        message,
        names: Vec::new(),
        hint: None,
    };
    requests.chain(moves).map(finding).collect()
}
