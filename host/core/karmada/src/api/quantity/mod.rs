//! Kubernetes' `resource.Quantity`, without loss of precision.
//!
//! A quantity is a 128-bit count of billionths, so that every suffix from `n` to `Ei` is a whole number and comparing
//! or subtracting never rounds. The rules are those of `k8s.io/apimachinery/pkg/api/resource`: anything finer than a
//! billionth is rounded away from zero, and a binary quantity (`Ki` … `Ei`) is capped at 2^63-1.
//!
//! There are two differences from Kubernetes. It keeps decimals of any size, whereas anything beyond ±1.7 × 10^29 is
//! an error here. Converting a quantity beyond 64 bits to `int64` is undefined there; here it saturates.

mod display;
mod parse;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use parse::{QuantityError, QuantityErrorKind};

/// Billionths in one.
const NANO: i128 = 1_000_000_000;
/// Billionths in a thousandth.
const NANO_PER_MILLI: i128 = 1_000_000;

/// Notation in which a quantity was written, and is printed again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Format {
    /// `500m`, `2`, `3G`.
    #[default]
    DecimalSuffix,
    /// `1Gi`.
    BinarySuffix,
    /// `12e6`.
    DecimalExponent,
}

/// An exact amount of a resource.
///
/// Two quantities are equal if their amounts are equal, in any notation: `1`, `1000m` and `1e0`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quantity {
    nano: i128,
    format: Format,
}

impl Quantity {
    /// Zero.
    pub const ZERO: Self = Self {
        nano: 0,
        format: Format::DecimalSuffix,
    };

    /// A quantity of whole units.
    pub fn from_units(units: i64) -> Self {
        Self {
            nano: i128::from(units) * NANO,
            format: Format::DecimalSuffix,
        }
    }

    /// The exact amount in billionths.
    pub fn as_nano(self) -> i128 {
        self.nano
    }

    /// Whole units, rounded away from zero. Saturates at the limits of 64 bits.
    ///
    /// Equivalent to Kubernetes' `Quantity.Value()`, which counts memory, pods and extended resources.
    pub fn value(self) -> i64 {
        scaled(self.nano, NANO)
    }

    /// Thousandths, rounded away from zero. Saturates at the limits of 64 bits.
    ///
    /// Equivalent to Kubernetes' `Quantity.MilliValue()`, which counts CPU.
    pub fn milli_value(self) -> i64 {
        scaled(self.nano, NANO_PER_MILLI)
    }

    /// True if the amount is zero.
    pub fn is_zero(self) -> bool {
        self.nano == 0
    }

    /// True if the amount is below zero.
    pub fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// True if both are the same amount and are printed the same.
    pub fn is_written_as(self, other: Self) -> bool {
        self.nano == other.nano && self.format == other.format
    }

    /// The sum; `None` if it overflows. Keeps the notation of `self`, unless `self` is zero.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let format = if self.is_zero() { other.format } else { self.format };
        self.nano.checked_add(other.nano).map(|nano| Self { nano, format })
    }

    /// The difference, which may be negative; `None` if it overflows. Keeps the notation of `self`, unless `self` is
    /// zero.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let format = if self.is_zero() { other.format } else { self.format };
        self.nano.checked_sub(other.nano).map(|nano| Self { nano, format })
    }
}

/// Divides, rounding away from zero and saturating.
fn scaled(nano: i128, unit: i128) -> i64 {
    let quotient = nano / unit;
    let rounded = quotient + if nano % unit == 0 { 0 } else { nano.signum() };
    i64::try_from(rounded).unwrap_or(if nano < 0 { i64::MIN } else { i64::MAX })
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nano.hash(state);
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

/// Reads strings and, like Kubernetes, plain numbers.
struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a quantity like `500m` or `2Gi`")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, units: i64) -> Result<Quantity, E> {
        Ok(Quantity::from_units(units))
    }

    fn visit_u64<E: serde::de::Error>(self, units: u64) -> Result<Quantity, E> {
        Ok(Quantity {
            nano: i128::from(units) * NANO,
            format: Format::DecimalSuffix,
        })
    }

    fn visit_f64<E: serde::de::Error>(self, units: f64) -> Result<Quantity, E> {
        // Rust prints the shortest decimal that reads back as the same number. For up to 15 digits, that is the
        // number as written.
        units.to_string().parse().map_err(E::custom)
    }
}
