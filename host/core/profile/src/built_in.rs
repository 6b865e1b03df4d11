//! The profiles that are part of the scheduler.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::{ProfileConfiguration, ProfileError, ProfileSource};

/// Name of the profile that is used if none is named.
pub const DEFAULT_NAME: &str = "default";

/// A profile that is part of the scheduler.
#[derive(Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The name.
    pub name: &'static str,
    /// The version of Karmada whose decisions it reproduces, with the feature gates that differ from Karmada's defaults; `None` for a
    /// profile that divides differently.
    pub matches: Option<&'static str>,
    /// Summary in one sentence, without a period.
    pub summary: &'static str,
    /// The profile as TOML.
    pub text: &'static str,
}

/// The built-in profiles, the default first.
pub const BUILT_IN: [BuiltIn; 3] = [
    BuiltIn {
        name: DEFAULT_NAME,
        matches: None,
        summary: "Karmada's filters and scores, and division that is steady and spreads by any field",
        text: include_str!("default.toml"),
    },
    BuiltIn {
        name: "karmada",
        matches: Some("Karmada v1.19-rc"),
        summary: "decides as Karmada's own scheduler does",
        text: include_str!("karmada.toml"),
    },
    BuiltIn {
        name: "karmada-alpha",
        matches: Some("Karmada v1.19-rc, alpha feature gates"),
        summary: "`karmada`, complete sets of components on one cluster, and workload affinity",
        text: include_str!("karmada-alpha.toml"),
    },
];

impl BuiltIn {
    /// The built-in profile with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|built_in| built_in.name == name)
    }
}

/// True if a built-in profile lists a plugin with this name.
pub fn is_bundled(plugin: &str) -> bool {
    static BUNDLED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let profiles = BUILT_IN.iter().filter_map(|built_in| {
            let source = ProfileSource::from_built_in(built_in);
            source.profile(None).ok()
        });
        profiles
            .flat_map(|profile| profile.plugin_names().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    });
    BUNDLED.contains(plugin)
}

/// The profile that is used if none is named.
///
/// # Errors
///
/// Only if the built-in text is damaged. A test reads it.
pub fn built_in_profile() -> Result<ProfileConfiguration, ProfileError> {
    ProfileSource::built_in().profile(None)
}
