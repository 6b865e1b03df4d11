//! Names of plugins: `spare-capacity`, `spare_capacity`, `SpareCapacity`.

use std::str::FromStr;

/// Maximum length of a name. The host reserves 64 bytes for it, and the lines of the templates are laid out for this
/// length.
const LENGTH_MAXIMUM: usize = 40;

/// Names of types that the templates use: a plugin called `result` could not name the type `Result` any more.
const TAKEN: [&str; 38] = [
    "AssignContext",
    "AssignPlugin",
    "AssignResult",
    "Box",
    "Candidate",
    "ClusterBuilder",
    "Column",
    "Configuration",
    "ConfiguredPlugin",
    "Err",
    "Failure",
    "FilterContext",
    "FilterPlugin",
    "FilterResult",
    "Move",
    "MovingCluster",
    "None",
    "Ok",
    "Option",
    "PaceContext",
    "PacePlugin",
    "PaceResult",
    "Plugin",
    "Promises",
    "Result",
    "Row",
    "Scenario",
    "ScoreContext",
    "ScorePlugin",
    "ScoreResult",
    "SelectContext",
    "SelectPlugin",
    "SelectResult",
    "Self",
    "Settings",
    "Situation",
    "Step",
    "Wait",
];

/// Names of types of Rust's prelude that the templates use, in addition.
const TAKEN_BY_RUST: [&str; 4] = ["Default", "Some", "String", "Vec"];

/// The name of a plugin: lower-case words joined by hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginName(String);

/// Reason why a text is not the name of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// It is not made of lower-case words joined by hyphens.
    #[error(
        "`{name}` is not a name of a plugin: expected lower-case words joined by hyphens, such as `spare-capacity`"
    )]
    Form {
        /// The text.
        name: String,
        /// A similar name that is valid.
        nearest: Option<String>,
    },
    /// It is too long.
    #[error("`{name}` has {} characters: expected at most {LENGTH_MAXIMUM}", name.len())]
    TooLong {
        /// The text.
        name: String,
    },
    /// Its type would hide one that the plugin uses.
    #[error("a plugin `{name}` would hide the type `{kind}` of Rust or of the SDK: expected another name")]
    Taken {
        /// The text.
        name: String,
        /// The type.
        kind: String,
    },
}

impl InvalidName {
    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Form { nearest, .. } => nearest.as_ref().map(|nearest| format!("`{nearest}` is valid")),
            Self::TooLong { .. } => None,
            Self::Taken { name, .. } => Some(format!("add a word: `my-{name}`")),
        }
    }
}

impl FromStr for PluginName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        if !is_well_formed(text) {
            let nearest = nearest(text);
            let nearest = (nearest != text && is_well_formed(&nearest)).then_some(nearest);
            let name = text.to_owned();
            return Err(InvalidName::Form { name, nearest });
        }
        let name = Self(text.to_owned());
        if text.len() > LENGTH_MAXIMUM {
            return Err(InvalidName::TooLong { name: name.0 });
        }
        let kind = name.type_name();
        if TAKEN.iter().chain(&TAKEN_BY_RUST).any(|taken| *taken == kind) {
            return Err(InvalidName::Taken { name: name.0, kind });
        }
        Ok(name)
    }
}

/// The nearest text of the right form: `SpareCapacity` and `spare_capacity` are written `spare-capacity`.
fn nearest(text: &str) -> String {
    let mut nearest = String::new();
    for character in text.chars() {
        match character {
            'A'..='Z' => {
                if nearest.ends_with(|last: char| last.is_ascii_lowercase() || last.is_ascii_digit()) {
                    nearest.push('-');
                }
                nearest.push(character.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' => nearest.push(character),
            _ if !nearest.is_empty() && !nearest.ends_with('-') => nearest.push('-'),
            _ => {}
        }
    }
    nearest.trim_end_matches('-').to_owned()
}

/// True for lower-case words joined by hyphens. The first begins with a letter, as an identifier has to.
fn is_well_formed(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit());
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.split('-').all(is_word)
}

impl PluginName {
    /// The name in profiles: `spare-capacity`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in file names: `spare_capacity`.
    pub fn snake_case(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The name of the type and of the strategy: `SpareCapacity`.
    pub fn type_name(&self) -> String {
        let mut name = String::new();
        for word in self.0.split('-') {
            let mut letters = word.chars();
            name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_three_forms() {
        let name: PluginName = "fill-2-zones".parse().unwrap();
        assert_eq!(
            (name.as_str(), name.snake_case().as_str(), name.type_name().as_str()),
            ("fill-2-zones", "fill_2_zones", "Fill2Zones")
        );
    }

    #[test]
    fn other_forms_are_refused_with_the_nearest_name() {
        for (text, nearest) in [
            ("SpareCapacity", Some("spare-capacity")),
            ("spare_capacity", Some("spare-capacity")),
            ("spare--capacity-", Some("spare-capacity")),
            ("Spare Capacity!", Some("spare-capacity")),
            ("2-zones", None),
            ("../etc", Some("etc")),
            ("", None),
            ("äöü", None),
        ] {
            let error = text.parse::<PluginName>().unwrap_err();
            let expected = InvalidName::Form {
                name: text.to_owned(),
                nearest: nearest.map(str::to_owned),
            };
            assert_eq!(error, expected);
        }
        let long = "a".repeat(LENGTH_MAXIMUM + 1);
        assert!(matches!(long.parse::<PluginName>(), Err(InvalidName::TooLong { .. })));
    }

    #[test]
    fn a_name_whose_type_the_plugin_needs_is_refused() {
        for name in ["self", "plugin", "result", "settings", "filter-context", "string"] {
            assert!(
                matches!(name.parse::<PluginName>(), Err(InvalidName::Taken { .. })),
                "{name}"
            );
        }
        // Keywords of Rust and C never become the name of an item: `match` becomes `Match`.
        for name in ["match", "int", "crate"] {
            assert!(name.parse::<PluginName>().is_ok(), "{name}");
        }
    }
}
