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

/// What a count in a sentence of Divvy is followed by: the things that are counted, and what became of them.
const COUNTED: [&str; 45] = [
    "added",
    "as before",
    "beyond",
    "binding",
    "bindings",
    "cluster",
    "clusters",
    "copies",
    "dead",
    "error",
    "errors",
    "gained",
    "given up",
    "hang on one",
    "in copies",
    "in any plan",
    "in error",
    "infos",
    "loss",
    "losses",
    "lost",
    "missing",
    "more",
    "move",
    "moved",
    "moves",
    "newly",
    "objects",
    "of them",
    "overlapping",
    "placed",
    "policies",
    "policy",
    "removed",
    "replica",
    "replicas",
    "resource",
    "resources",
    "scheduled",
    "shadowed",
    "skipped",
    "stranded",
    "unschedulable",
    "waiting",
    "workloads",
];

/// A sentence whose counts have thousands separators, as the figures beside it: `10317 replicas` becomes `10,317 replicas`.
///
/// Only a number that is a word of its own is touched, and only before one of [`COUNTED`], or in `A of B` and `A for B` with such a number
/// on the right. Whatever else has digits stays as it is: names (`on 10317`), versions, dates, digests, locations, quantities.
pub(crate) fn grouped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        shown.push_str(before);
        let (digits, after) = split_digits(from);
        match begins_number(before) && is_counted(digits, after) {
            true => shown.push_str(&separated(digits)),
            false => shown.push_str(digits),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// The value of a figure with thousands separators if it is nothing but a number; otherwise as it is.
pub(crate) fn value(text: &str) -> String {
    let from = text
        .trim_start_matches("\u{2265} ")
        .trim_start_matches(['+', '\u{2212}']);
    let (digits, after) = split_digits(from);
    match is_fraction(after) && !digits.is_empty() && !digits.starts_with('0') {
        true => format!("{}{}{after}", &text[..text.len() - from.len()], separated(digits)),
        false => text.to_owned(),
    }
}

/// The digits at the beginning of a text, and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// True for `.4500`, and for nothing.
fn is_fraction(text: &str) -> bool {
    let decimals = |text: &str| text.chars().all(|character| character.is_ascii_digit());
    text.is_empty() || text.strip_prefix('.').is_some_and(decimals)
}

/// True if these digits, before this text, are a count.
fn is_counted(digits: &str, after: &str) -> bool {
    let Some(next) = following(digits, after) else {
        return false;
    };
    let other = ["of ", "for "].into_iter().find_map(|word| next.strip_prefix(word));
    begins_with_counted(next)
        || other.is_some_and(|other| {
            let (digits, after) = split_digits(other);
            following(digits, after).is_some_and(begins_with_counted)
        })
}

/// The words after a number with these digits; `None` if it is no number, or the last word.
fn following<'text>(digits: &str, after: &'text str) -> Option<&'text str> {
    let (fraction, next) = after.split_once(' ')?;
    let is_number = !digits.is_empty() && !digits.starts_with('0') && is_fraction(fraction);
    is_number.then_some(next)
}

fn begins_with_counted(text: &str) -> bool {
    let goes_on = |character: char| character.is_alphanumeric() || "-_/`".contains(character);
    let mut rests = COUNTED.iter().filter_map(|word| text.strip_prefix(word));
    rests.any(|rest| !rest.starts_with(goes_on))
}

/// True if a number can follow this text. It is not empty unless the whole text begins with digits.
fn begins_number(before: &str) -> bool {
    before.is_empty() || before.ends_with([' ', '(', '+', '\u{2212}'])
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
    fn counts_in_sentences_have_separators() {
        for (text, expected) in [
            (
                "10317 replicas lost (1047 as before).",
                "10,317 replicas lost (1,047 as before).",
            ),
            (
                "1200 bindings change: 1999 replicas moved, 1998 added",
                "1,200 bindings change: 1,999 replicas moved, 1,998 added",
            ),
            (
                "9990 of 10000 losses are absorbed",
                "9,990 of 10,000 losses are absorbed",
            ),
            (
                "\u{2212}8123.4500 for 1234567 replicas lost",
                "\u{2212}8,123.4500 for 1,234,567 replicas lost",
            ),
            (
                "12000 policies: 8000 of them dead",
                "12,000 policies: 8,000 of them dead",
            ),
            ("999 replicas", "999 replicas"),
            ("", ""),
        ] {
            assert_eq!(grouped(text), expected);
            assert_eq!(grouped(expected), expected, "it is grouped already");
        }
    }

    #[test]
    fn digits_of_names_versions_and_digests_stay() {
        for text in [
            "on c1047, c-1047, `1047` and 1047-a",
            "cpu on 10317",
            "cluster 10317 is drained; policy 2026 selects nothing",
            "2026-11-29 in web.yaml:1047, version 2026.1.2, 1500m, 0017",
            "version 2026, digest 12345678 of the input",
            "sha256 1234567890123456789012345678901234567890",
            "PropagationPolicy shop/2024 and 5000 of 2024",
            "2024-replicas, 2024 replicas-of-web, 2024 replicas/x",
            "v2024 replicas, 1.2024 replicas, web.2024 replicas",
            "108% of 12,345 and 1.2345",
        ] {
            assert_eq!(grouped(text), text);
        }
    }

    #[test]
    fn the_value_of_a_figure_is_a_number_or_stays() {
        for (text, expected) in [
            ("10317", "10,317"),
            ("+10317", "+10,317"),
            ("\u{2212}1047", "\u{2212}1,047"),
            ("10,317", "10,317"),
            ("c10317", "c10317"),
            ("10317 USD", "10317 USD"),
            ("\u{2265} 8123.4500", "\u{2265} 8,123.4500"),
            ("2026.1.2", "2026.1.2"),
            ("107%", "107%"),
            ("0017", "0017"),
            ("\u{2013}", "\u{2013}"),
            ("", ""),
        ] {
            assert_eq!(value(text), expected);
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
