//! The annotation of a binding on which a plugin's worker died.

use divvy_karmada::api::Timestamp;
use serde_json::{Value, json};

/// A binding on which a plugin's worker died, as kept in `divvy.io/plugin-failure`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFailure {
    /// Name of the plugin.
    pub plugin: String,
    /// Failures in a row.
    pub failures: u32,
    /// Time at which the binding is tried again.
    pub until: Timestamp,
    /// Hash of everything whose change may let the next try succeed.
    pub situation: String,
}

impl PluginFailure {
    /// Reads the annotation; `None` if it is anything else.
    pub fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Self {
            plugin: text("plugin")?.to_owned(),
            failures: u32::try_from(value.get("failures")?.as_u64()?).ok()?,
            until: text("until")?.parse().ok()?,
            situation: text("situation")?.to_owned(),
        })
    }

    /// Text of the annotation.
    pub fn write(&self) -> String {
        json!({
            "plugin": self.plugin,
            "failures": self.failures,
            "until": self.until.to_string(),
            "situation": self.situation,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let failure = PluginFailure {
            plugin: "hostile".to_owned(),
            failures: 3,
            until: Timestamp::from_seconds(1_800_000_000),
            situation: "a-b".to_owned(),
        };
        let text = failure.write();
        assert_eq!(
            text,
            r#"{"failures":3,"plugin":"hostile","situation":"a-b","until":"2027-01-15T08:00:00Z"}"#
        );
        assert_eq!(PluginFailure::read(&text), Some(failure));
        let wrong = [
            "soon",
            "{}",
            "null",
            r#"{"failures":-1,"plugin":"x","situation":"y","until":"2027-01-15T08:00:00Z"}"#,
            r#"{"failures":1,"plugin":"x","situation":"y","until":"tomorrow"}"#,
        ];
        for text in wrong {
            assert_eq!(PluginFailure::read(text), None, "{text}");
        }
    }
}
