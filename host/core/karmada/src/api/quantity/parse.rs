//! The grammar of quantities: `<sign><digits><suffix>`, where the digits may contain one decimal point.
//!
//! A suffix is one of `n u m k M G T P E` or `Ki Mi Gi Ti Pi Ei`, or a decimal exponent such as `e3` or `E-3`. `K`
//! alone is not a suffix, and a quantity must not contain white space.

use std::str::FromStr;

use super::display::{BINARY, DECIMAL};
use super::{Format, NANO, Quantity};

/// A text that is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a quantity: {kind}")]
pub struct QuantityError {
    /// The text, cut if it is long.
    pub text: String,
    /// Reason for which it was refused.
    pub kind: QuantityErrorKind,
}

/// The reason why a text is not a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityErrorKind {
    /// The text has no digits before the suffix.
    #[error("it has no digits")]
    NoDigits,
    /// The digits are followed by something other than a suffix.
    #[error(
        "unknown suffix, expected `n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, `E`, `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei` or an exponent like `e3`"
    )]
    Suffix,
    /// The amount is too large to be stored exactly.
    #[error("it is beyond 10^29")]
    OutOfRange,
}

/// Maximum length of the text that an error repeats, in characters.
const ERROR_TEXT_LENGTH_MAX: usize = 40;

/// The amount at which Kubernetes caps binary quantities, in billionths.
const BINARY_MAX: i128 = i64::MAX as i128 * NANO;

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text).map_err(|kind| QuantityError {
            text: text.chars().take(ERROR_TEXT_LENGTH_MAX).collect(),
            kind,
        })
    }
}

/// The factor of a suffix.
enum Scale {
    /// A power of ten, and the notation that the suffix belongs to.
    Decimal(i64, Format),
    /// A power of two.
    Binary(u32),
}

fn parse(text: &str) -> Result<Quantity, QuantityErrorKind> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, rest) = split_digits(unsigned);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(after) => split_digits(after),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(QuantityErrorKind::NoDigits);
    }
    let (magnitude, format) = match scale(suffix).ok_or(QuantityErrorKind::Suffix)? {
        Scale::Decimal(exponent, format) => (decimal(whole, fraction, exponent)?, format),
        Scale::Binary(shift) => {
            let nano = binary(whole, fraction, shift)?;
            // Kubernetes prints binary quantities below one as decimals.
            let format = if nano < NANO && nano != 0 {
                Format::DecimalSuffix
            } else {
                Format::BinarySuffix
            };
            (nano, format)
        }
    };
    Ok(Quantity {
        nano: if negative { -magnitude } else { magnitude },
        format,
    })
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

fn scale(suffix: &str) -> Option<Scale> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Some(Scale::Decimal((*exponent).into(), Format::DecimalSuffix));
    }
    match BINARY.iter().find(|(known, _)| *known == suffix) {
        Some((_, shift)) => Some(Scale::Binary(*shift)),
        None => Some(Scale::Decimal(exponent(suffix)?, Format::DecimalExponent)),
    }
}

/// The exponent of `e3`, `E+3` or `e-3`. An exponent beyond 64 bits saturates, which puts every amount other than zero
/// out of range.
fn exponent(suffix: &str) -> Option<i64> {
    let text = suffix.strip_prefix(['e', 'E'])?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let limit = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    Some(text.parse().unwrap_or(limit))
}

/// `whole.fraction × 10^exponent` in billionths, rounded up.
fn decimal(whole: &str, fraction: &str, exponent: i64) -> Result<i128, QuantityErrorKind> {
    // The digits form one integer; the decimal point and the exponent give the power of ten to scale it by.
    let point = i64::try_from(fraction.len()).map_err(|_| QuantityErrorKind::OutOfRange)?;
    let digits = || whole.bytes().chain(fraction.bytes());
    let count = i64::try_from(whole.len() + fraction.len()).map_err(|_| QuantityErrorKind::OutOfRange)?;
    let shift = exponent.saturating_sub(point).saturating_add(9);
    let kept = if shift < 0 {
        count.saturating_add(shift).max(0)
    } else {
        count
    };

    let mut nano = 0_i128;
    let mut rest_is_zero = true;
    for (index, byte) in (0_i64..).zip(digits()) {
        if index < kept {
            nano = times_ten_plus(nano, i128::from(byte - b'0'))?;
        } else if byte != b'0' {
            rest_is_zero = false;
            break;
        }
    }
    if nano != 0 {
        for _ in 0..shift.max(0) {
            nano = times_ten_plus(nano, 0)?;
        }
    }
    Ok(nano + i128::from(!rest_is_zero))
}

/// `whole.fraction × 2^shift` in billionths, rounded up and capped like in Kubernetes.
fn binary(whole: &str, fraction: &str, shift: u32) -> Result<i128, QuantityErrorKind> {
    let factor = 1_i128 << shift;
    let units = whole
        .bytes()
        .try_fold(0_i128, |sum, byte| times_ten_plus(sum, i128::from(byte - b'0')).ok());
    let whole_nano = units.and_then(|units| units.checked_mul(factor)?.checked_mul(NANO));
    let Some(whole_nano) = whole_nano.filter(|nano| *nano <= BINARY_MAX) else {
        return Ok(BINARY_MAX);
    };

    // The fraction is numerator / denominator. It is scaled in two steps, so that no product overflows 128 bits.
    let unit = factor * NANO;
    let significant = fraction.trim_end_matches('0');
    let mut numerator = 0_i128;
    let mut denominator = 1_i128;
    let mut beyond = false;
    for (index, byte) in significant.bytes().enumerate() {
        if index < FRACTION_DIGITS_MAX {
            numerator = numerator * 10 + i128::from(byte - b'0');
            denominator *= 10;
        } else {
            beyond = true;
            break;
        }
    }
    let quotient = unit / denominator * numerator;
    let remainder = (unit % denominator).checked_mul(numerator);
    let (more, inexact) = match remainder {
        Some(product) => (product / denominator, product % denominator != 0),
        None => return Err(QuantityErrorKind::OutOfRange),
    };
    let nano = whole_nano + quotient + more + i128::from(inexact || beyond);
    Ok(nano.min(BINARY_MAX))
}

/// Number of digits of a binary fraction that are used exactly: 10^19 × 10^19 still fits into 128 bits. Further digits
/// only round up, which is exact up to `Gi` and off by less than a unit for `Ei`.
const FRACTION_DIGITS_MAX: usize = 19;

fn times_ten_plus(sum: i128, digit: i128) -> Result<i128, QuantityErrorKind> {
    sum.checked_mul(10)
        .and_then(|product| product.checked_add(digit))
        .ok_or(QuantityErrorKind::OutOfRange)
}
