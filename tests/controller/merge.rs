//! Merge patches, as the API server applies them.

use serde_json::{Value, json};

/// Applies a merge patch (RFC 7386).
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in fields {
        match value {
            Value::Null => _ = target.as_object_mut().and_then(|target| target.remove(key)),
            value => merge(&mut target[key.as_str()], value),
        }
    }
}
