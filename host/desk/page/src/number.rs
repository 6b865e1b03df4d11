//! Numbers as people read them: `12,345`, `+12`, `−3`.

/// A number with thousands separators, and a minus as typographers write it.
pub(crate) fn plain(number: i64) -> String {
    let sign = if number < 0 { "\u{2212}" } else { "" };
    format!("{sign}{}", separated(&number.unsigned_abs().to_string()))
}

fn separated(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A sentence whose numbers have thousands separators, as the figures beside it: `10317 replicas` becomes `10,317 replicas`.
///
/// Digits in names, versions, dates and locations stay as they are.
pub(crate) fn grouped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|character: char| !character.is_ascii_digit());
        let (digits, after) = from.split_at(end.unwrap_or(from.len()));
        shown.push_str(before);
        match begins_number(before) && ends_number(after) && !digits.starts_with('0') {
            true => shown.push_str(&separated(digits)),
            false => shown.push_str(digits),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// True if a number can follow this text. It is not empty unless the whole text begins with digits.
fn begins_number(before: &str) -> bool {
    before.is_empty() || before.ends_with([' ', '(', '+', '\u{2212}'])
}

/// True if the digits before this text, with the decimals in it, are a word of their own.
fn ends_number(after: &str) -> bool {
    let rest = match after.strip_prefix('.') {
        Some(decimals) => decimals.trim_start_matches(|character: char| character.is_ascii_digit()),
        None => after,
    };
    !rest.starts_with(|character: char| character.is_alphanumeric() || ".-_/`:".contains(character))
}

/// A change, always with its sign.
pub(crate) fn signed(change: i64) -> String {
    match change {
        1.. => format!("+{}", plain(change)),
        _ => plain(change),
    }
}

/// `1 replica`, `1,200 replicas`.
pub(crate) fn counted(count: i64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", plain(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_sentences_have_separators_and_names_stay() {
        for (text, expected) in [
            (
                "10317 replicas lost (1047 as before).",
                "10,317 replicas lost (1,047 as before).",
            ),
            ("999 of 1000", "999 of 1,000"),
            (
                "\u{2212}8123.4500 for 1234567 replicas",
                "\u{2212}8,123.4500 for 1,234,567 replicas",
            ),
            (
                "on c1047, c-1047, `1047` and 1047-a",
                "on c1047, c-1047, `1047` and 1047-a",
            ),
            (
                "2026-11-29 in web.yaml:1047, version 2026.1.2, 1500m, 0017",
                "2026-11-29 in web.yaml:1047, version 2026.1.2, 1500m, 0017",
            ),
            ("108% of 12,345 and 1.2345", "108% of 12,345 and 1.2345"),
            ("", ""),
        ] {
            assert_eq!(grouped(text), expected);
            assert_eq!(grouped(expected), expected, "it is grouped already");
        }
    }

    #[test]
    fn numbers_have_separators_and_signs() {
        let cases = [
            (0, "0", "0"),
            (7, "7", "+7"),
            (999, "999", "+999"),
            (1_000, "1,000", "+1,000"),
            (-1_234_567, "−1,234,567", "−1,234,567"),
            (i64::MIN, "−9,223,372,036,854,775,808", "−9,223,372,036,854,775,808"),
        ];
        for (number, expected, with_sign) in cases {
            assert_eq!(plain(number), expected);
            assert_eq!(signed(number), with_sign);
        }
        assert_eq!(counted(1, "replica"), "1 replica");
        assert_eq!(counted(-2, "replica"), "−2 replicas");
    }
}
