//! Moves: `[profile.moves]`, and the allowances that a policy states in the annotation `divvy.io/moves`.
//!
//! Both have the same amounts, which are resolved against the replicas of a binding as Kubernetes does for a Deployment: a surge is
//! rounded up, what may be unavailable down. Unlike Kubernetes, nothing is made up where both are 0, because the policy then permits no
//! move.

mod budgets;
mod hours;
mod words;

use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use divvy_spanned::{ValueError, read_value, unique_value};

pub use self::budgets::MoveBudgets;
pub use self::hours::{MoveDuration, MoveHours};
pub use self::words::{IncludedKind, OnExclusion};

/// Annotation of a policy with the allowances of its bindings, as JSON.
pub const MOVES_ANNOTATION: &str = "divvy.io/moves";

/// Description of the valid amounts.
const EXPECTED: &str = "a number of replicas, or a percentage of the total from \"0%\" to \"100%\"";

/// Moves: results that take replicas from one cluster and give them to another, written by `divvy run` in steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MovesConfiguration {
    /// Plugin that says the steps, such as `surge` or `swap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<String>,
    /// Replicas that a result may have beyond the total, for policies that do not say: a number, or a percentage of the total, which is
    /// rounded up. `"25%"` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<Amount>,
    /// Replicas by which the ready ones may fall below the total, for policies that do not say: a number, or a percentage of the total,
    /// which is rounded down. 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<Amount>,
    /// Largest surge of a policy; a larger one counts as this. Unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surge_limit: Option<Amount>,
    /// Largest number of replicas that a policy may make unavailable; a larger one counts as this. Unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_limit: Option<Amount>,
    /// Bindings that are moved in steps besides those of kinds that report `readyReplicas`, for policies that do not say. None if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<Vec<IncludedKind>>,
    /// Treatment of the replicas in a cluster that an edit excludes, for policies that do not say. `"steps"` if absent. A cluster that is
    /// being deleted is always left at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_exclusion: Option<OnExclusion>,
    /// Time that a cluster must have been Ready before it takes back what left it against its policy's wish, such as `"10m"`. If
    /// absent, nothing is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failback: Option<MoveDuration>,
    /// True if Karmada's `FederatedHPA`s may scale workloads, for policies that do not say: a surge then stays below a tenth of the total,
    /// because a larger one would have them ask for fewer replicas. `true` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub federated_hpa: Option<bool>,
    /// Hours of the week in which moves begin and take steps, such as `"Mon-Fri 22:00-06:00 Europe/Berlin"`. At any time if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Vec<MoveHours>>,
    /// Bounds of the moves that are under way at once: `bindings`, and `replicas` that were given and are not ready, each also
    /// `-per-cluster` and `-per-region`. Absent ones do not limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<MoveBudgets>,
}

impl MovesConfiguration {
    /// These settings, with missing ones taken from `base`.
    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            pace: self.pace.or(base.pace),
            max_surge: self.max_surge.or(base.max_surge),
            max_unavailable: self.max_unavailable.or(base.max_unavailable),
            surge_limit: self.surge_limit.or(base.surge_limit),
            unavailable_limit: self.unavailable_limit.or(base.unavailable_limit),
            include: self.include.or(base.include),
            on_exclusion: self.on_exclusion.or(base.on_exclusion),
            failback: self.failback.or(base.failback),
            federated_hpa: self.federated_hpa.or(base.federated_hpa),
            hours: self.hours.or(base.hours),
            budgets: match (self.budgets, base.budgets) {
                (Some(budgets), Some(base)) => Some(budgets.over(base)),
                (budgets, base) => budgets.or(base),
            },
        }
    }

    /// True if bindings of a kind that is moved in steps only on request are, under a policy with this annotation.
    pub fn includes(&self, policy: &WrittenAllowances, kind: IncludedKind) -> bool {
        let list = policy.include.as_ref().or(self.include.as_ref());
        list.is_some_and(|list| list.contains(&kind))
    }

    /// Treatment of the replicas in a cluster that an edit excludes, under a policy with this annotation.
    pub fn exclusion(&self, policy: &WrittenAllowances) -> OnExclusion {
        policy.on_exclusion.or(self.on_exclusion).unwrap_or_default()
    }

    /// True if a `FederatedHPA` may scale the workloads of a policy with this annotation.
    pub fn may_be_scaled(&self, policy: &WrittenAllowances) -> bool {
        policy.federated_hpa.or(self.federated_hpa).unwrap_or(true)
    }

    /// The key because of which a binding whose policy does not say could never move: a surge of 0 where no replica may be unavailable;
    /// `None` if something can move.
    pub fn obstacle(&self) -> Option<&'static str> {
        let is_zero = |amount: Option<Amount>| amount.is_some_and(Amount::is_zero);
        let keeps_ready = self.max_unavailable.is_none_or(Amount::is_zero) || is_zero(self.unavailable_limit);
        let surge = match is_zero(self.max_surge) {
            true => Some("max-surge"),
            false => is_zero(self.surge_limit).then_some("surge-limit"),
        };
        surge.filter(|_| keeps_ready)
    }

    /// True if moves may take steps at a time, in milliseconds since 1970.
    pub fn is_open(&self, milliseconds: i64) -> bool {
        let mut hours = self.hours.iter().flatten();
        self.hours.is_none() || hours.any(|hours| hours.contain(milliseconds))
    }

    /// The next time at which hours for moves begin, in milliseconds since 1970; `None` if there is none.
    pub fn opens_after(&self, milliseconds: i64) -> Option<i64> {
        let hours = self.hours.iter().flatten();
        hours.filter_map(|hours| hours.begin_after(milliseconds)).min()
    }

    /// The allowances of a binding whose policy states these, in replicas.
    ///
    /// # Errors
    ///
    /// [`NoAllowance`] if both are 0, so that nothing could ever move.
    pub fn allowances(&self, policy: &WrittenAllowances, total: i64) -> Result<Allowances, NoAllowance> {
        let amount =
            |written: Option<Amount>, default: Option<Amount>, otherwise| written.or(default).unwrap_or(otherwise);
        let surge = amount(policy.max_surge, self.max_surge, Amount::Percent(25));
        let unavailable = amount(policy.max_unavailable, self.max_unavailable, Amount::Replicas(0));
        let limit = |limit: Option<Amount>, rounded: fn(Amount, i64) -> i64| {
            limit.map_or(i64::MAX, |limit| rounded(limit, total))
        };
        let allowances = Allowances {
            max_surge: surge.rounded_up(total).min(limit(self.surge_limit, Amount::rounded_up)),
            max_unavailable: unavailable
                .rounded_down(total)
                .min(limit(self.unavailable_limit, Amount::rounded_down)),
        };
        match allowances.max_surge == 0 && allowances.max_unavailable == 0 {
            true => Err(NoAllowance {
                surge,
                unavailable,
                total,
            }),
            false => Ok(allowances),
        }
    }
}

/// Allowances of a binding's moves, in replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowances {
    /// Replicas that a result may have beyond the total.
    pub max_surge: i64,
    /// Replicas by which the ready ones may fall below the total.
    pub max_unavailable: i64,
}

/// Both allowances of a binding are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "maxSurge {surge} and maxUnavailable {unavailable} are both 0 of {total} replicas, expected at least one replica in one of them"
)]
pub struct NoAllowance {
    /// The surge as written.
    pub surge: Amount,
    /// What may be unavailable as written.
    pub unavailable: Amount,
    /// Replicas of the binding.
    pub total: i64,
}

/// The annotation of a policy: allowances, and what is moved in steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WrittenAllowances {
    /// Replicas that a result may have beyond the total.
    #[serde(default)]
    pub max_surge: Option<Amount>,
    /// Replicas by which the ready ones may fall below the total.
    #[serde(default)]
    pub max_unavailable: Option<Amount>,
    /// Bindings that are moved in steps besides those of kinds that report `readyReplicas`.
    #[serde(default)]
    pub include: Option<Vec<IncludedKind>>,
    /// Treatment of the replicas in a cluster that an edit excludes.
    #[serde(default)]
    pub on_exclusion: Option<OnExclusion>,
    /// True if a `FederatedHPA` may scale the workloads.
    #[serde(default, rename = "federatedHPA")]
    pub federated_hpa: Option<bool>,
    /// False if results are written at once.
    #[serde(default)]
    pub steps: Option<bool>,
}

impl WrittenAllowances {
    /// Reads the value of [`MOVES_ANNOTATION`].
    ///
    /// # Errors
    ///
    /// A [`ValueError`] with the key: the text is not a JSON object, a key is unknown or occurs twice, an amount is invalid, or both
    /// are 0.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let value = unique_value(text).map_err(|error| ValueError::not_json(&error))?;
        if !value.is_object() {
            return Err(ValueError::refused(
                "",
                "expected an object with `maxSurge`, `maxUnavailable`, `include`, `onExclusion`, `federatedHPA` or `steps`",
            ));
        }
        let written: Self = read_value(&value)?;
        let is_zero = |amount: Option<Amount>| amount.is_some_and(Amount::is_zero);
        if is_zero(written.max_surge) && is_zero(written.max_unavailable) {
            let error = ValueError::refused("maxUnavailable", "is 0, and so is `maxSurge`: nothing could ever move");
            return Err(error.with_hint("allow at least one replica in one of them"));
        }
        Ok(written)
    }
}

/// A number of replicas, or a percentage of the replicas that a binding asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Replicas, from 0 to `i32::MAX`.
    Replicas(u32),
    /// Percent of the total, from 0 to 100.
    Percent(u32),
}

impl Amount {
    /// True if it is nothing of any total.
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Replicas(0) | Self::Percent(0))
    }

    /// The replicas of a total, rounded up.
    pub fn rounded_up(self, total: i64) -> i64 {
        self.of(total, 99)
    }

    /// The replicas of a total, rounded down.
    pub fn rounded_down(self, total: i64) -> i64 {
        self.of(total, 0)
    }

    fn of(self, total: i64, added: i128) -> i64 {
        match self {
            Self::Replicas(replicas) => replicas.into(),
            Self::Percent(percent) => {
                let part = (i128::from(total.max(0)) * i128::from(percent) + added) / 100;
                i64::try_from(part).unwrap_or(i64::MAX)
            }
        }
    }

    fn replicas(count: u64) -> Option<Self> {
        let count = i32::try_from(count).ok()?;
        Some(Self::Replicas(count.unsigned_abs()))
    }

    fn percent(text: &str) -> Option<Self> {
        let digits = text.strip_suffix('%')?;
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let percent = digits.parse().ok().filter(|percent| is_plain && *percent <= 100);
        percent.map(Self::Percent)
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Replicas(replicas) => write!(formatter, "{replicas}"),
            Self::Percent(percent) => write!(formatter, "{percent}%"),
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Replicas(replicas) => serializer.serialize_u32(*replicas),
            Self::Percent(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrPercentage;

        impl Visitor<'_> for NumberOrPercentage {
            type Value = Amount;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(EXPECTED)
            }

            fn visit_u64<E: serde::de::Error>(self, count: u64) -> Result<Amount, E> {
                Amount::replicas(count).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(count), &self))
            }

            fn visit_i64<E: serde::de::Error>(self, count: i64) -> Result<Amount, E> {
                let known = u64::try_from(count).ok().and_then(Amount::replicas);
                known.ok_or_else(|| E::invalid_value(Unexpected::Signed(count), &self))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Amount, E> {
                Amount::percent(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer
            .deserialize_any(NumberOrPercentage)
            .map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Amount {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number of replicas, or a percentage of the replicas that a binding asks for.",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": i32::MAX },
                { "type": "string", "pattern": "^(100|[0-9]{1,2})%$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_policy_writes_numbers_and_percentages() {
        let parsed = WrittenAllowances::parse(r#"{"maxSurge": "25%", "maxUnavailable": 0}"#);
        let expected = WrittenAllowances {
            max_surge: Some(Amount::Percent(25)),
            max_unavailable: Some(Amount::Replicas(0)),
            ..WrittenAllowances::default()
        };
        assert_eq!(parsed, Ok(expected));
        let parsed =
            WrittenAllowances::parse(r#"{"include": ["StatefulSet", "WithoutReadiness"], "onExclusion": "now"}"#);
        let expected = WrittenAllowances {
            include: Some(vec![IncludedKind::StatefulSet, IncludedKind::WithoutReadiness]),
            on_exclusion: Some(OnExclusion::Now),
            ..WrittenAllowances::default()
        };
        assert_eq!(parsed, Ok(expected));
        assert_eq!(WrittenAllowances::parse("{}"), Ok(WrittenAllowances::default()));
    }

    #[test]
    fn an_invalid_annotation_names_the_key_and_what_was_expected() {
        let told = |text: &str| {
            let error = WrittenAllowances::parse(text).expect_err(text);
            (error.key_path(), error.to_string(), error.hint().unwrap_or_default())
        };
        for (text, key, message, hint) in [
            ("{", "", "EOF", ""),
            ("[]", "", "expected an object with `maxSurge`, `maxUnavailable`", ""),
            (
                r#"{"onexclusion": "now"}"#,
                "onexclusion",
                "unknown key `onexclusion`",
                "did you mean `onExclusion`?",
            ),
            (
                r#"{"onExclusion": "nwo"}"#,
                "onExclusion",
                "nwo",
                "known: `steps`, `now`",
            ),
            (
                r#"{"onExclusion": "step"}"#,
                "onExclusion",
                "step",
                "did you mean `steps`?",
            ),
            (r#"{"onExclusion": true}"#, "onExclusion", "", ""),
            (
                r#"{"include": ["StatefulSets"]}"#,
                "include[0]",
                "StatefulSets",
                "did you mean `StatefulSet`?",
            ),
            (r#"{"include": "StatefulSet"}"#, "include", "", ""),
            (r#"{"maxSurge": 1, "maxSurge": 2}"#, "", "a key is given twice", ""),
            (
                r#"{"maxsurge": 1}"#,
                "maxsurge",
                "unknown key `maxsurge`",
                "did you mean `maxSurge`?",
            ),
            (r#"{"maxSurge": -1}"#, "maxSurge", EXPECTED, ""),
            (r#"{"maxSurge": 2147483648}"#, "maxSurge", EXPECTED, ""),
            (r#"{"maxSurge": "101%"}"#, "maxSurge", EXPECTED, ""),
            (r#"{"maxUnavailable": "+5%"}"#, "maxUnavailable", EXPECTED, ""),
            (r#"{"maxUnavailable": "5"}"#, "maxUnavailable", EXPECTED, ""),
            (r#"{"maxUnavailable": 1.5}"#, "maxUnavailable", EXPECTED, ""),
            (
                r#"{"maxSurge": "0%", "maxUnavailable": 0}"#,
                "maxUnavailable",
                "nothing could ever move",
                "allow at least one replica in one of them",
            ),
        ] {
            let (at, error, suggested) = told(text);
            assert_eq!(at, key, "{text}: {error}");
            assert!(error.contains(message), "{text}: {error}");
            assert!(suggested.contains(hint), "{text}: {suggested}");
        }
    }

    #[test]
    fn a_surge_is_rounded_up_and_what_may_be_unavailable_down() {
        let profile = MovesConfiguration {
            max_unavailable: Some(Amount::Percent(25)),
            ..MovesConfiguration::default()
        };
        let resolved = |total| profile.allowances(&WrittenAllowances::default(), total);
        let expected = |max_surge, max_unavailable| {
            Ok(Allowances {
                max_surge,
                max_unavailable,
            })
        };
        assert_eq!(resolved(1), expected(1, 0));
        assert_eq!(resolved(10), expected(3, 2));
        assert_eq!(resolved(i64::from(i32::MAX)), expected(536_870_912, 536_870_911));
    }

    #[test]
    fn a_policy_overrides_the_words_of_the_profile() {
        let profile = MovesConfiguration {
            include: Some(vec![IncludedKind::WithoutReadiness]),
            on_exclusion: Some(OnExclusion::Now),
            ..MovesConfiguration::default()
        };
        let silent = WrittenAllowances::default();
        assert!(profile.includes(&silent, IncludedKind::WithoutReadiness));
        assert!(!profile.includes(&silent, IncludedKind::StatefulSet));
        assert_eq!(profile.exclusion(&silent), OnExclusion::Now);
        let written = WrittenAllowances::parse(r#"{"include": [], "onExclusion": "steps"}"#).expect("it is valid");
        assert!(!profile.includes(&written, IncludedKind::WithoutReadiness));
        assert_eq!(profile.exclusion(&written), OnExclusion::Steps);
        assert_eq!(MovesConfiguration::default().exclusion(&silent), OnExclusion::Steps);
    }

    #[test]
    fn a_profile_has_budgets_and_hours() {
        let read = |text: &str| serde_json::from_str::<MovesConfiguration>(text);
        let profile = read(
            r#"{"hours": ["Sat 00:00-24:00 UTC", "Sun 06:00-12:00 UTC"], "failback": "10m", "budgets": {"replicas-per-cluster": 5}}"#,
        )
        .expect("it is valid");
        // 1970 began on a Thursday.
        let hour = |hours: i64| hours * 3_600_000;
        assert!(!profile.is_open(hour(47)) && profile.is_open(hour(48)) && !profile.is_open(hour(77)));
        assert!(profile.is_open(hour(78)) && !profile.is_open(hour(84)));
        assert_eq!(profile.opens_after(0), Some(hour(48)));
        assert_eq!(profile.opens_after(hour(50)), Some(hour(78)));
        let always = MovesConfiguration::default();
        assert!(always.is_open(0) && always.opens_after(0).is_none());
        let base =
            read(r#"{"budgets": {"bindings": 2, "replicas-per-cluster": 9}, "failback": "1h"}"#).expect("it is valid");
        let merged = profile.over(base);
        assert_eq!(merged.failback.map(MoveDuration::milliseconds), Some(600_000));
        let budgets = merged.budgets.expect("both have some");
        let counts = (budgets.bindings, budgets.replicas_per_cluster);
        assert_eq!(counts, (NonZeroU32::new(2), NonZeroU32::new(5)));
        for wrong in [r#"{"budgets": {"binding": 1}}"#, r#"{"budgets": {"bindings": 0}}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_profile_under_which_nothing_could_move_names_the_key() {
        for (profile, expected) in [
            (r#"{}"#, None),
            (r#"{"max-surge": 0}"#, Some("max-surge")),
            (r#"{"max-surge": "0%", "max-unavailable": 0}"#, Some("max-surge")),
            (r#"{"max-surge": 0, "max-unavailable": "0%"}"#, Some("max-surge")),
            (r#"{"max-surge": 0, "max-unavailable": 1}"#, None),
            (
                r#"{"max-surge": 0, "max-unavailable": 1, "unavailable-limit": 0}"#,
                Some("max-surge"),
            ),
            (r#"{"surge-limit": 0}"#, Some("surge-limit")),
            (r#"{"surge-limit": 0, "max-unavailable": "10%"}"#, None),
        ] {
            let read: MovesConfiguration = serde_json::from_str(profile).expect(profile);
            assert_eq!(read.obstacle(), expected, "{profile}");
        }
    }

    #[test]
    fn limits_of_the_profile_bound_the_policy() {
        let profile = MovesConfiguration {
            surge_limit: Some(Amount::Percent(10)),
            unavailable_limit: Some(Amount::Replicas(0)),
            ..MovesConfiguration::default()
        };
        let asked = |text: &str, total| profile.allowances(&WrittenAllowances::parse(text).expect(text), total);
        let bounded = asked(r#"{"maxSurge": 40, "maxUnavailable": 5}"#, 20).expect("a surge is left");
        assert_eq!((bounded.max_surge, bounded.max_unavailable), (2, 0));
        let nothing = asked(r#"{"maxSurge": 0, "maxUnavailable": "40%"}"#, 20);
        assert_eq!(
            nothing.map_err(|error| error.to_string()),
            Err("maxSurge 0 and maxUnavailable 40% are both 0 of 20 replicas, expected at least one replica in one of them"
                .to_owned())
        );
    }
}
