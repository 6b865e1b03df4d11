//! The syntax of labels, which `labels.NewRequirement` of Kubernetes demands of a selector: one with a key or a value that no label
//! can have is refused, and Karmada then takes it to match nothing, even if its operator is `NotIn`.

/// Maximum length of a label's value, and of its key's name.
const LENGTH_MAX: usize = 63;
/// Maximum length of the prefix of a label's key.
const PREFIX_LENGTH_MAX: usize = 253;

/// True if a label can have this value (`validation.IsValidLabelValue`).
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_label_name(value)
}

/// True if a label can have this key (`validation.IsQualifiedName`).
pub fn is_label_key(key: &str) -> bool {
    match key.split_once('/') {
        None => is_label_name(key),
        Some((prefix, name)) => {
            prefix.len() <= PREFIX_LENGTH_MAX && prefix.split('.').all(is_domain_label) && is_label_name(name)
        }
    }
}

/// Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_label_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    bytes.len() <= LENGTH_MAX
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// A part of a domain name between two dots, in lower case.
fn is_domain_label(label: &str) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = label.as_bytes();
    bytes.first().is_some_and(is_end)
        && bytes.last().is_some_and(is_end)
        && bytes.iter().all(|byte| is_end(byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_those_that_kubernetes_takes() {
        let long = "a".repeat(63);
        let too_long = "a".repeat(64);
        for (value, expected) in [
            ("", true),
            ("eu", true),
            ("North_Europe-1.b", true),
            (long.as_str(), true),
            (too_long.as_str(), false),
            ("North Europe", false),
            ("-a", false),
            ("a.", false),
            ("ä", false),
            ("a/b", false),
        ] {
            assert_eq!(is_label_value(value), expected, "{value}");
        }
        for (key, expected) in [
            ("app", true),
            ("app.kubernetes.io/Name", true),
            ("", false),
            ("-x", false),
            ("bad key", false),
            ("App.io/name", false),
            ("a..b/name", false),
            ("/name", false),
            ("a/", false),
            ("a/b/c", false),
        ] {
            assert_eq!(is_label_key(key), expected, "{key}");
        }
    }
}
