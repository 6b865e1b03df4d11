//! Names of strategies, and which of them a wrong name is nearest to.

/// The known names, those nearest to `name` first, equally near ones in alphabetical order.
///
/// Nearness ignores case, because the wrong case is the usual slip, although names are case-sensitive.
pub fn nearest_first(name: &str, known: &[String]) -> Vec<String> {
    let wanted = name.to_lowercase();
    let mut names = known.to_vec();
    names.sort();
    names.dedup();
    names.sort_by_cached_key(|known| strsim::damerau_levenshtein(&wanted, &known.to_lowercase()));
    names
}

/// Names for a message.
pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
