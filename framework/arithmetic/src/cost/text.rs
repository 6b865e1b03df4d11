//! Costs as decimal numbers: written with rounding, read exactly.

use std::fmt;
use std::str::FromStr;

use super::Cost;

/// Digits after the decimal point that a cost holds exactly: [`Cost::PARTS`] is a multiple of ten to this power.
const DIGITS_MAX: u32 = 9;

/// Digits after the decimal point unless a format asks for others, or the cost is so small that they would not show it.
const DIGITS: u32 = 4;

impl Cost {
    /// Digits after the decimal point that show a cost: `least`, or as many more as two significant digits take, at most nine. A cost of
    /// zero needs no more.
    pub fn digits_from(self, least: u32) -> u32 {
        let (parts, unit) = (self.0.unsigned_abs(), Self::PARTS.unsigned_abs());
        let is_shown = |digits: u32| parts >= unit / 10_u128.pow(digits - 1);
        let more = (least.max(1)..DIGITS_MAX).find(|&digits| parts == 0 || is_shown(digits));
        more.unwrap_or(DIGITS_MAX).max(least)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = formatter.precision().and_then(|digits| u32::try_from(digits).ok());
        let digits = digits.unwrap_or_else(|| self.digits_from(DIGITS)).min(DIGITS_MAX);
        let power = 10_u128.pow(digits);
        let (parts, unit) = (self.0.unsigned_abs(), Self::PARTS.unsigned_abs());
        // The whole part is taken off first, so that the product stays within 128 bits.
        let rounded = (parts % unit * power + unit / 2) / unit;
        let whole = parts / unit + rounded / power;
        let fraction = rounded % power;
        let text = match digits {
            0 => whole.to_string(),
            _ => format!("{whole}.{fraction:0width$}", width = digits as usize),
        };
        // Nothing is written `-0.0000`.
        let is_positive = self.0 >= 0 || (whole == 0 && fraction == 0);
        // `pad_integral` would read the precision as well.
        let sign = match (is_positive, formatter.sign_plus() && self.0 > 0) {
            (false, _) => "-",
            (true, true) if whole > 0 || fraction > 0 => "+",
            (true, _) => "",
        };
        let text = format!("{sign}{text}");
        match (formatter.width(), formatter.align()) {
            (Some(width), Some(fmt::Alignment::Left)) => write!(formatter, "{text:<width$}"),
            (Some(width), _) => write!(formatter, "{text:>width$}"),
            (None, _) => formatter.write_str(&text),
        }
    }
}

/// A text is not a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCost {
    /// It is not a decimal number, or is written with an exponent or a sign.
    #[error("expected a decimal number of at least 0")]
    NotANumber,
    /// It has more digits after the decimal point than a cost holds exactly.
    #[error("expected at most {DIGITS_MAX} digits after the decimal point")]
    TooManyDigits,
    /// It is larger than [`Cost::MAX`].
    #[error("expected at most {}", Cost::MAX)]
    TooLarge,
}

impl FromStr for Cost {
    type Err = InvalidCost;

    /// Reads a decimal number without a sign and without an exponent, exactly.
    fn from_str(text: &str) -> Result<Self, InvalidCost> {
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(InvalidCost::NotANumber),
            None => (text, ""),
        };
        let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
            return Err(InvalidCost::NotANumber);
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        if digits > DIGITS_MAX {
            return Err(InvalidCost::TooManyDigits);
        }
        let number: i128 = format!("{whole}{fraction}")
            .parse()
            .map_err(|_| InvalidCost::TooLarge)?;
        let parts = number.checked_mul(Self::PARTS / 10_i128.pow(digits));
        parts.and_then(Self::bounded).ok_or(InvalidCost::TooLarge)
    }
}
