//! Numbers of cells, read exactly: no cell passes through a floating-point number.

/// Reason why a text is not the number that a column expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberFault {
    /// It is not a number, or is written with an exponent.
    NotANumber,
    /// It does not fit into 64 bits.
    OutOfRange,
    /// It has this number of digits after the decimal point, more than the scale.
    TooManyDecimals(usize),
}

/// Reads an integer.
pub(super) fn integer(text: &str) -> Result<i64, NumberFault> {
    decimal(text, 0).map_err(|fault| match fault {
        // An integer has no decimal point at all, so `1.5` is not one with too many digits.
        NumberFault::TooManyDecimals(_) => NumberFault::NotANumber,
        other => other,
    })
}

/// Reads a decimal, multiplied by ten to the power of `scale`. Zeros at the end do not count as digits, because they do not
/// change the number.
pub(super) fn decimal(text: &str, scale: u32) -> Result<i64, NumberFault> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() && scale > 0 => (whole, fraction),
        Some(_) => return Err(NumberFault::NotANumber),
        None => (unsigned, ""),
    };
    let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return Err(NumberFault::NotANumber);
    }
    let fraction = fraction.trim_end_matches('0');
    let scale = scale as usize;
    if fraction.len() > scale {
        return Err(NumberFault::TooManyDecimals(fraction.len()));
    }
    let zeros = std::iter::repeat_n(b'0', scale - fraction.len());
    // Accumulated with the sign, because the smallest integer has no positive counterpart.
    let mut number: i64 = 0;
    for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
        let digit = i64::from(digit - b'0');
        let next = number.checked_mul(10).and_then(|number| match is_negative {
            true => number.checked_sub(digit),
            false => number.checked_add(digit),
        });
        number = next.ok_or(NumberFault::OutOfRange)?;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::NumberFault::{NotANumber, OutOfRange, TooManyDecimals};
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, scale, expected) in [
            ("0.12", 4, Ok(1200)),
            ("-0.12", 4, Ok(-1200)),
            ("12", 2, Ok(1200)),
            ("+1.5", 1, Ok(15)),
            ("007.50", 1, Ok(75)),
            ("0.1200", 2, Ok(12)),
            ("0.125", 2, Err(TooManyDecimals(3))),
            ("-9223372036854775.808", 3, Ok(i64::MIN)),
            ("9223372036854775.807", 3, Ok(i64::MAX)),
            ("9223372036854775.808", 3, Err(OutOfRange)),
            ("0.100000000000000005", 18, Ok(100_000_000_000_000_005)),
            ("1.", 2, Err(NotANumber)),
            (".5", 2, Err(NotANumber)),
            ("1e3", 2, Err(NotANumber)),
            ("1.5e3", 4, Err(NotANumber)),
            ("", 2, Err(NotANumber)),
            ("-", 2, Err(NotANumber)),
            ("--1", 2, Err(NotANumber)),
            ("1_000", 2, Err(NotANumber)),
            ("1,5", 2, Err(NotANumber)),
            ("٣", 2, Err(NotANumber)),
            ("nan", 2, Err(NotANumber)),
        ] {
            assert_eq!(decimal(text, scale), expected, "{text} with scale {scale}");
        }
    }

    #[test]
    fn integers_have_no_decimal_point() {
        for (text, expected) in [
            ("-9223372036854775808", Ok(i64::MIN)),
            ("9223372036854775807", Ok(i64::MAX)),
            ("9223372036854775808", Err(OutOfRange)),
            ("99999999999999999999999999999999999999", Err(OutOfRange)),
            ("0", Ok(0)),
            ("1.0", Err(NotANumber)),
            ("0x10", Err(NotANumber)),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }
}
