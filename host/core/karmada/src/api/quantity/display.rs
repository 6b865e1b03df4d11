//! The canonical form, as Kubernetes prints it: the largest suffix that leaves a whole number.

use std::fmt;

use super::{Format, NANO, Quantity};

/// Decimal suffixes with their exponents, largest first.
pub(super) const DECIMAL: [(&str, i32); 10] = [
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("", 0),
    ("m", -3),
    ("u", -6),
    ("n", -9),
];

/// Binary suffixes with their shifts, largest first.
pub(super) const BINARY: [(&str, u32); 6] = [("Ei", 60), ("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return formatter.write_str("0");
        }
        match self.format {
            Format::BinarySuffix if self.nano % NANO == 0 => {
                let units = self.nano / NANO;
                // Kubernetes prints amounts that are not a multiple of 1024 without a suffix.
                let (suffix, mantissa) = BINARY
                    .iter()
                    .map(|(suffix, shift)| (*suffix, 1_i128 << shift))
                    .find(|(_, factor)| units % factor == 0)
                    .map_or(("", units), |(suffix, factor)| (suffix, units / factor));
                write!(formatter, "{mantissa}{suffix}")
            }
            Format::DecimalExponent => {
                let (exponent, mantissa) = self.decimal(|(_, exponent)| exponent);
                if exponent == 0 {
                    write!(formatter, "{mantissa}")
                } else {
                    write!(formatter, "{mantissa}e{exponent}")
                }
            }
            Format::DecimalSuffix | Format::BinarySuffix => {
                let (suffix, mantissa) = self.decimal(|(suffix, _)| suffix);
                write!(formatter, "{mantissa}{suffix}")
            }
        }
    }
}

impl Quantity {
    /// The largest decimal suffix that leaves a whole number, and that number.
    fn decimal<Label>(&self, label: impl Fn((&'static str, i32)) -> Label) -> (Label, i128) {
        let mut nano_per_unit = 10_i128.pow(27);
        for entry in DECIMAL {
            if self.nano % nano_per_unit == 0 {
                return (label(entry), self.nano / nano_per_unit);
            }
            nano_per_unit /= 1_000;
        }
        // The last entry is a billionth, which divides every amount.
        (label(("n", -9)), self.nano)
    }
}
