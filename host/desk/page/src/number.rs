//! Numbers as people read them: `12,345`, `+12`, `−3`.

/// A number with thousands separators, and a minus as typographers write it.
pub(crate) fn plain(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 3);
    if number < 0 {
        text.push('\u{2212}');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
