//! Keys that profiles had once: what to write instead, which the nearest known key would not say.

use divvy_spanned::{Cause, Fault, PathSegment};

/// The fault, with the replacement of the key as its hint if profiles had the key once.
pub(crate) fn with_replacement(fault: Fault) -> Fault {
    match replacement(&fault) {
        Some(hint) => Fault {
            hint: Some(hint.to_owned()),
            ..fault
        },
        None => fault,
    }
}

fn replacement(fault: &Fault) -> Option<&'static str> {
    let Cause::UnknownKey { key, .. } = &fault.cause else {
        return None;
    };
    match (fault.path.segments(), key.as_str()) {
        ([_, _, PathSegment::Key(table), PathSegment::Key(_)], "artifact") if table == "plugin" => Some(
            "mount the plugin's image as a volume, name the library in it with `path`, and pin it with `sha256`: \
             docs/plugins/images.md",
        ),
        _ => None,
    }
}
