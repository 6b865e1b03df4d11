//! Names in messages: lists of names, and suggestions for a wrong one.
//!
//! Suggestions ignore the case of ASCII letters, because wrong case is a common mistake; the names themselves are
//! case-sensitive. The tables for all of Unicode would be several kilobytes in every plugin.

use std::fmt::Display;

/// The known name that is most similar to a wrong one; `None` if none is similar enough.
///
/// ```
/// use divvy_spanned::names::nearest;
/// assert_eq!(nearest("wieght", ["weight", "seed"]), Some("weight"));
/// assert_eq!(nearest("average", ["Average", "Aggregated"]), Some("Average"));
/// assert_eq!(nearest("zzz", ["weight", "seed"]), None);
/// ```
pub fn nearest<'known>(wrong: &str, known: impl IntoIterator<Item = &'known str>) -> Option<&'known str> {
    let folded = wrong.to_ascii_lowercase();
    known
        .into_iter()
        // Jaro-Winkler favours a common prefix, so that half a name finds the whole one.
        .map(|name| (strsim::jaro_winkler(&folded, &name.to_ascii_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|left, right| left.0.total_cmp(&right.0).then_with(|| right.1.cmp(left.1)))
        .map(|(_, name)| name)
}

/// The known names, most similar to `name` first; ties are in alphabetical order. Duplicates are removed.
pub fn nearest_first(name: &str, known: &[String]) -> Vec<String> {
    let folded = name.to_ascii_lowercase();
    let mut names = known.to_vec();
    names.sort();
    names.dedup();
    names.sort_by_cached_key(|known| strsim::damerau_levenshtein(&folded, &known.to_ascii_lowercase()));
    names
}

/// The hint for a wrong name: the most similar known name, otherwise all of them. `None` if no names are known.
pub fn hint(wrong: &str, known: &[String]) -> Option<String> {
    match nearest(wrong, known.iter().map(String::as_str)) {
        Some(nearest) => Some(format!("did you mean `{nearest}`?")),
        None if known.is_empty() => None,
        None => Some(format!("known: {}", quoted_list(known))),
    }
}

/// The names on one line, each in backticks; `none` if the list is empty.
///
/// ```
/// use divvy_spanned::names::quoted_list;
/// assert_eq!(quoted_list(["a", "b"]), "`a`, `b`");
/// ```
pub fn quoted_list<Name: Display>(names: impl IntoIterator<Item = Name>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() {
        return "none".to_owned();
    }
    quoted.join(", ")
}
