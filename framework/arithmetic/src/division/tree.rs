//! Amounts in preferences for a tree of clusters: a number of replicas, or a percentage of what the parent gets.
//!
//! The tree itself and the division over it are in the plugin `tree`.

use std::fmt;

/// Parts of a [`Percent`] that are one hundred percent.
const WHOLE: i128 = 100_000_000;

/// A percentage from 0 to 100 with up to six decimal places, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Percent(u32);

impl Percent {
    /// A whole number of percent; `None` above 100.
    #[must_use]
    pub const fn new(percent: u32) -> Option<Self> {
        match percent {
            0..=100 => Some(Self(percent * 1_000_000)),
            _ => None,
        }
    }

    /// Reads a number from 0 to 100 with up to six decimal places, such as `12.5`; `None` for any other text.
    ///
    /// ```
    /// use divvy_framework::division::tree::Percent;
    ///
    /// assert_eq!(Percent::parse("12.5").unwrap().to_string(), "12.5%");
    /// assert_eq!(Percent::parse("100.1"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (text, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || fraction.len() > 6 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let millionths: u32 = format!("{fraction:0<6}").parse().ok()?;
        let whole: u32 = whole.parse().ok()?;
        let parts = whole.checked_mul(1_000_000)?.checked_add(millionths)?;
        (i128::from(parts) <= WHOLE).then_some(Self(parts))
    }

    /// The sum; `None` if it exceeds 100 percent.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let parts = self.0.checked_add(other.0)?;
        (i128::from(parts) <= WHOLE).then_some(Self(parts))
    }

    /// This share of a count, rounded down.
    #[must_use]
    pub fn floor_of(self, count: i64) -> i64 {
        // At most the count itself, so it fits.
        (i128::from(count.max(0)) * self.parts() / WHOLE) as i64
    }

    /// This share of a count, rounded up.
    #[must_use]
    pub fn ceil_of(self, count: i64) -> i64 {
        ((i128::from(count.max(0)) * self.parts() + WHOLE - 1) / WHOLE) as i64
    }

    /// The percentage in parts of [`WHOLE`].
    fn parts(self) -> i128 {
        self.0.into()
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, millionths) = (self.0 / 1_000_000, self.0 % 1_000_000);
        match millionths {
            0 => write!(formatter, "{whole}%"),
            _ => write!(
                formatter,
                "{whole}.{}%",
                format!("{millionths:06}").trim_end_matches('0')
            ),
        }
    }
}

/// A bound: a number of replicas, or a share of what the parent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Replicas, 0 or more.
    Count(i64),
    /// A share of the parent's count. A lower bound is rounded down, an upper bound up.
    Percent(Percent),
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(formatter),
            Self::Percent(percent) => percent.fmt(formatter),
        }
    }
}

/// An amount as it is written in preferences.
#[cfg(feature = "preferences")]
mod written {
    use std::borrow::Cow;
    use std::fmt;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};

    use super::{Amount, Percent};

    const EXPECTED: &str = "a number of replicas, or a percentage such as \"30%\"";

    /// Reads `200`, or `"30%"`.
    impl<'de> Deserialize<'de> for Amount {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(AmountVisitor)
        }
    }

    struct AmountVisitor;

    impl Visitor<'_> for AmountVisitor {
        type Value = Amount;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(EXPECTED)
        }

        fn visit_i64<E: de::Error>(self, count: i64) -> Result<Amount, E> {
            match count {
                0.. => Ok(Amount::Count(count)),
                _ => Err(E::invalid_value(Unexpected::Signed(count), &self)),
            }
        }

        fn visit_u64<E: de::Error>(self, count: u64) -> Result<Amount, E> {
            let count = i64::try_from(count).map_err(|_| E::invalid_value(Unexpected::Unsigned(count), &self))?;
            Ok(Amount::Count(count))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
            let percent = text
                .strip_suffix('%')
                .and_then(|number| Percent::parse(number.trim_end()));
            match percent {
                Some(percent) => Ok(Amount::Percent(percent)),
                None if text.ends_with('%') => Err(E::custom(format_args!(
                    "expected a percentage from 0% to 100% with up to six decimal places, got {text:?}"
                ))),
                None => Err(E::invalid_value(Unexpected::Str(text), &self)),
            }
        }
    }

    impl JsonSchema for Amount {
        fn schema_name() -> Cow<'static, str> {
            "Amount".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "description": "Replicas, or a percentage of what the parent gets.",
                "oneOf": [
                    { "type": "integer", "minimum": 0 },
                    { "type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,6})?\\s*%$" },
                ]
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Percent;

    #[test]
    fn percentages_are_exact() {
        let of = |text: &str| Percent::parse(text).map(|percent| (percent.floor_of(1_000), percent.ceil_of(1_000)));
        assert_eq!(of("33.3"), Some((333, 333)));
        assert_eq!(of("0.05"), Some((0, 1)));
        assert_eq!(of("99.999999"), Some((999, 1_000)));
        assert_eq!(of("100"), Some((1_000, 1_000)));
        for text in [
            "",
            ".5",
            "5.",
            "-1",
            "+1",
            "1e1",
            "100.000001",
            "0.0000001",
            "1 ",
            "4294967296",
        ] {
            assert_eq!(of(text), None, "{text:?}");
        }
        assert_eq!(
            Percent::parse("7.50").map(|percent| percent.to_string()).as_deref(),
            Some("7.5%")
        );
        let whole = Percent::new(100).expect("it is a percentage");
        assert_eq!(whole.floor_of(i64::MAX), i64::MAX);
        assert_eq!(whole.ceil_of(i64::MAX), i64::MAX);
        assert_eq!(
            Percent::new(60).and_then(|most| most.checked_add(Percent::new(41)?)),
            None
        );
    }
}
