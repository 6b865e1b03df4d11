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
