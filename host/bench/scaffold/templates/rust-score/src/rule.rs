//! The rule: an ordinary function, which knows neither clusters nor Divvy.

/// The score of a cluster, from 0 to 100: 100 for the best value of the label, 50 for another one, 0 without the label.
pub(crate) fn score(value: Option<&str>, best: &str) -> i64 {
    match value {
        Some(value) if value == best => 100,
        Some(_) => 50,
        None => 0,
    }
}
