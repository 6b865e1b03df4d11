//! A new number of replicas: `12`, `+3`, `+10%` or `x1.5`.

use std::fmt;
use std::str::FromStr;

/// Decimal places that a factor may have.
const PLACES_MAX: usize = 6;

/// A number of replicas, absolute or in relation to the present one. Fractions are rounded up: a tenth more of three
/// replicas is one more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplicaCount {
    /// Exactly this many.
    Exactly(i32),
    /// This many more.
    More(i32),
    /// More by this share, in hundredths.
    Percent(u32),
    /// Multiplied by a decimal number, here a fraction with a power of ten below.
    Times {
        /// The digits of the factor without its point.
        numerator: u64,
        /// Ten to the number of its decimal places.
        denominator: u64,
    },
}

/// A text that is not a number of replicas.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a number of replicas: expected `12`, `+3`, `+10%` or `x1.5`")]
pub struct InvalidReplicaCount {
    /// The text, as it was given.
    pub text: String,
}

/// A number of replicas beyond what Kubernetes allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{replicas} replicas are more than Kubernetes allows (2147483647)")]
pub struct TooManyReplicas {
    /// The number.
    pub replicas: u128,
}

/// A number without a sign; `str::parse` would accept one.
fn digits<T: FromStr>(text: &str) -> Option<T> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn factor(text: &str) -> Option<ReplicaCount> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let has_point = text.contains('.');
    if places.len() > PLACES_MAX || has_point && places.is_empty() || whole.is_empty() {
        return None;
    }
    Some(ReplicaCount::Times {
        numerator: digits(&format!("{whole}{places}"))?,
        denominator: 10_u64.pow(u32::try_from(places.len()).ok()?),
    })
}

impl FromStr for ReplicaCount {
    type Err = InvalidReplicaCount;

    fn from_str(text: &str) -> Result<Self, InvalidReplicaCount> {
        let count = match (text.strip_prefix('+'), text.strip_prefix('x')) {
            (Some(more), _) => match more.strip_suffix('%') {
                Some(percent) => digits(percent).map(Self::Percent),
                None => digits(more).map(Self::More),
            },
            (None, Some(text)) => factor(text),
            (None, None) => digits(text).map(Self::Exactly),
        };
        count.ok_or_else(|| InvalidReplicaCount { text: text.to_owned() })
    }
}

impl fmt::Display for ReplicaCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(count) => write!(formatter, "{count}"),
            Self::More(count) => write!(formatter, "+{count}"),
            Self::Percent(percent) => write!(formatter, "+{percent}%"),
            Self::Times { numerator, denominator } => {
                let places = denominator.ilog10() as usize;
                let (whole, rest) = (numerator / denominator, numerator % denominator);
                match places {
                    0 => write!(formatter, "x{whole}"),
                    _ => write!(formatter, "x{whole}.{rest:0places$}"),
                }
            }
        }
    }
}

impl ReplicaCount {
    /// The new number of replicas of a workload that has `present`.
    ///
    /// # Errors
    ///
    /// [`TooManyReplicas`] above 2,147,483,647.
    pub fn apply(&self, present: i32) -> Result<i32, TooManyReplicas> {
        let present = u128::try_from(present).unwrap_or(0);
        let replicas = match self {
            Self::Exactly(count) => u128::try_from(*count).unwrap_or(0),
            Self::More(count) => present + u128::try_from(*count).unwrap_or(0),
            Self::Percent(percent) => present + (present * u128::from(*percent)).div_ceil(100),
            Self::Times { numerator, denominator } => {
                (present * u128::from(*numerator)).div_ceil(u128::from((*denominator).max(1)))
            }
        };
        i32::try_from(replicas).map_err(|_| TooManyReplicas { replicas })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_absolute_or_relative_and_rounded_up() {
        let cases = [
            ("12", 5, 12),
            ("0", 5, 0),
            ("+3", 5, 8),
            ("+0", 5, 5),
            ("+10%", 3, 4),
            ("+10%", 10, 11),
            ("+100%", 7, 14),
            ("+0%", 7, 7),
            ("x2", 7, 14),
            ("x1.5", 3, 5),
            ("x0.5", 3, 2),
            ("x0", 3, 0),
            ("x1.000001", 1_000_000, 1_000_001),
            ("x2.50", 2, 5),
        ];
        for (text, present, expected) in cases {
            let count: ReplicaCount = text.parse().unwrap();
            assert_eq!(count.apply(present), Ok(expected), "{text} of {present}");
            assert_eq!(count.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_count_is_refused() {
        let texts = [
            "",
            "-1",
            "+",
            "+-1",
            "++1",
            "1.5",
            "+1.5",
            "+%",
            "%",
            "10%",
            "x",
            "x-1",
            "x1.",
            "x.5",
            "x1.0000001",
            "1e3",
            "2147483648",
            "+99999999999",
            " 1",
            "1 ",
            "x1,5",
            "١",
        ];
        for text in texts {
            assert!(text.parse::<ReplicaCount>().is_err(), "{text}");
        }
    }

    #[test]
    fn more_replicas_than_kubernetes_allows_are_refused() {
        for text in ["+2147483647", "x3000000000", "+4294967295%"] {
            let count: ReplicaCount = text.parse().unwrap();
            assert!(count.apply(i32::MAX).is_err(), "{text}");
        }
        assert_eq!("x1".parse::<ReplicaCount>().unwrap().apply(i32::MAX), Ok(i32::MAX));
    }
}
