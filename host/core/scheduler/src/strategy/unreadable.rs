//! Annotations that no profile can read, whatever plugins it has.

use divvy_karmada::api::StringMap;

use super::annotations::are_tiers;
use super::error::InvalidBinding;
use super::resolve::object;
use super::{AFFINITY_GROUPS_ANNOTATION, PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION, QUORUM_ANNOTATION, quorum};

/// Names of annotations whose values make a binding invalid under every profile, each with its error.
///
/// Plugins decide about the rest: which strategies there are, the keys of preferences, and whether a strategy permits a quorum.
pub fn unreadable_annotations(annotations: &StringMap) -> impl Iterator<Item = (&str, InvalidBinding)> {
    annotations.iter().filter_map(|(name, text)| {
        let error = check(name, text).err()?;
        Some((name.as_str(), error))
    })
}

fn check(name: &str, text: &str) -> Result<(), InvalidBinding> {
    let origin = format!("`{name}`");
    match name {
        QUORUM_ANNOTATION => quorum::check(text.trim(), origin),
        AFFINITY_GROUPS_ANNOTATION => are_tiers(text.trim(), origin).map(drop),
        PREFERENCES_ANNOTATION => object(text, &origin).map(drop),
        name if name.starts_with(PLUGIN_PREFERENCES_PREFIX) => object(text, &origin).map(drop),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_every_profile_refuses_are_found_and_others_are_not() {
        for (name, text, expected) in [
            (
                "divvy.io/quorum",
                " 101% ",
                Some(
                    "`divvy.io/quorum`: expected a count of at least 1, or a percentage from `1%` to `100%`, got `101%`",
                ),
            ),
            ("divvy.io/quorum", " 100% ", None),
            ("divvy.io/quorum", "7", None),
            (
                "divvy.io/affinity-groups",
                "tier",
                Some("`divvy.io/affinity-groups`: expected `tiers` or `fallback`, got `tier`"),
            ),
            ("divvy.io/affinity-groups", "tiers", None),
            (
                "divvy.io/preferences",
                "[]",
                Some("`divvy.io/preferences`: expected an object, got a list"),
            ),
            ("divvy.io/preferences", "{}", None),
            (
                "divvy.io/preferences.windows",
                "7",
                Some("`divvy.io/preferences.windows`: expected an object, got 7"),
            ),
            // A plugin may serve any strategy, and other annotations are not Divvy's.
            ("divvy.io/strategy", "Avrage", None),
            ("example.com/quorum", "101%", None),
        ] {
            let annotations = StringMap::from([(name.to_owned(), text.to_owned())]);
            let found: Vec<String> = unreadable_annotations(&annotations)
                .map(|(found, error)| {
                    assert_eq!(found, name);
                    error.to_string()
                })
                .collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{name}: {text}");
        }
    }
}
