//! Reasons for a plugin's decision about a cluster, as data and as a line of text.
//!
//! Plugins fill in a [`Reason`]; hosts and the test kit print it. Both use the text from `text.rs`, so the author of a
//! plugin sees in tests what an operator will read.

mod text;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::reason::{self as abi, bound, cause, decider, remainder};

/// Declares an enumeration with the codes of the boundary and the words of documents.
macro_rules! coded {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $code:expr, $word:literal; )+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
        }

        impl $name {
            /// Every variant.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code that crosses the boundary.
            pub const fn code(self) -> u32 {
                match self {
                    $( Self::$variant => $code, )+
                }
            }

            /// The variant with a code; `None` for a code that this version does not know.
            pub fn from_code(code: u32) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.code() == code)
            }

            /// The word in documents.
            pub const fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }
        }
    };
}

coded! {
    /// The rule that led to a share, to a score, or to leaving a cluster out.
    ///
    /// The line of text is made from the figures named here. Without them, it is the plugin's own text; without that, a
    /// few words for the rule. "Room" means `keeps` and `fitsNow`, or else the first figure.
    Cause {
        /// Any other rule; the text states it.
        Other = cause::OTHER, "other";
        /// Every candidate gets the full count. Figures: `replicas`.
        FullCount = cause::FULL_COUNT, "fullCount";
        /// A share in proportion to the first figure. Figures: `sum`, `replicas`, `share`. Where the share is over some of the
        /// clusters: room, `clusters`, and `share`, or `change` beside `keeps`.
        Proportion = cause::PROPORTION, "proportion";
        /// The same, rounded by highest averages. Figures: as for `Proportion`.
        HighestAverages = cause::HIGHEST_AVERAGES, "highestAverages";
        /// As even as the bounds allow. Figures: `capacity`, `each`.
        Even = cause::EVEN, "even";
        /// Clusters are filled one after another. Figures: room, `clusters`, and `share`, or `change` beside `keeps`.
        Packed = cause::PACKED, "packed";
        /// A share of the count that a rule gives to a group. The text names the rule. Figures: `count`, `members`, `last`,
        /// `change`.
        Count = cause::COUNT, "count";
        /// As many as fit.
        Filled = cause::FILLED, "filled";
        /// The last result stays.
        Unchanged = cause::UNCHANGED, "unchanged";
        /// Other clusters are enough. Figures: room, `clusters`, `candidates`.
        NotNeeded = cause::NOT_NEEDED, "notNeeded";
        /// The cluster's replicas go elsewhere.
        Drained = cause::DRAINED, "drained";
        /// No rule gives the cluster a share.
        NoShare = cause::NO_SHARE, "noShare";
        /// The last result lists the cluster.
        Listed = cause::LISTED, "listed";
        /// Left out: others come first. Figures: `maximum`.
        BeyondMaximum = cause::BEYOND_MAXIMUM, "beyondMaximum";
        /// Left out: its group of clusters is not chosen. The text names the group.
        GroupNotChosen = cause::GROUP_NOT_CHOSEN, "groupNotChosen";
    }
}

coded! {
    /// The limit that keeps a share from being larger, or a cluster from being chosen.
    Bound {
        /// The cluster's capacity.
        Capacity = bound::CAPACITY, "capacity";
        /// A limit of the plugin or of its configuration.
        Cap = bound::CAP, "cap";
        /// The share of the cluster's tier.
        Tier = bound::TIER, "tier";
        /// A rule of the policy.
        Rule = bound::RULE, "rule";
    }
}

coded! {
    /// A criterion that decides between otherwise equal clusters.
    Decider {
        /// The larger weight.
        Weight = decider::WEIGHT, "weight";
        /// More replicas in the last result.
        Last = decider::LAST, "last";
        /// The better score.
        Score = decider::SCORE, "score";
        /// Fewest replicas in the last result.
        FewestLast = decider::FEWEST_LAST, "fewestLast";
        /// Most replicas in the last result.
        MostLast = decider::MOST_LAST, "mostLast";
        /// The order in the policy.
        PolicyOrder = decider::POLICY_ORDER, "policyOrder";
        /// The name.
        Name = decider::NAME, "name";
        /// The random order for ties.
        Tie = decider::TIE, "tie";
    }
}

/// A plugin's reason for its decision about a cluster. `Display` gives the line of text.
///
/// ```
/// use divvy_framework_view::reason::{Bound, Cause, Decider, Reason};
///
/// let reason = Reason::of(Cause::Even).figure("capacity", 9).figure("each", 2).remainder(true, Decider::Tie);
/// assert_eq!(reason.to_string(), "capacity 9: 2 each, +1 of the remainder (tie)");
/// assert_eq!(Reason::new("is the cheapest").figure("price", 3).to_string(), "is the cheapest");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    cause: Cause,
    bound: Option<Bound>,
    remainder: Option<(bool, Decider)>,
    figures: Vec<(Cow<'static, str>, i64)>,
    text: String,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::of(Cause::Other)
        }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Cause> for Reason {
    fn from(cause: Cause) -> Self {
        Self::of(cause)
    }
}

impl Reason {
    /// A reason that begins with the plugin's own words, or with a rule.
    ///
    /// ```
    /// use divvy_framework_view::reason::{Cause, Reason};
    ///
    /// assert_eq!(Reason::new("is the cheapest"), Reason::from("is the cheapest"));
    /// assert_eq!(Reason::new(Cause::Filled), Reason::of(Cause::Filled));
    /// ```
    pub fn new(words_or_rule: impl Into<Self>) -> Self {
        words_or_rule.into()
    }

    /// A reason with this rule, without figures and text.
    pub const fn of(cause: Cause) -> Self {
        Self {
            cause,
            bound: None,
            remainder: None,
            figures: Vec::new(),
            text: String::new(),
        }
    }

    /// Adds a figure. Its name is in `camelCase`, of ASCII letters and digits; the host drops a figure with another name,
    /// and the test kit reports it as an error.
    #[must_use]
    pub fn figure(mut self, name: &'static str, value: i64) -> Self {
        self.figures.push((Cow::Borrowed(name), value));
        self
    }

    /// Sets the bound that keeps the share from being larger, or the cluster from being chosen.
    #[must_use]
    pub fn bound(mut self, bound: Bound) -> Self {
        self.bound = Some(bound);
        self
    }

    /// Records whether the cluster got one of the replicas that rounding leaves over, and what decided it.
    #[must_use]
    pub fn remainder(mut self, is_served: bool, decided_by: Decider) -> Self {
        self.remainder = Some((is_served, decided_by));
        self
    }

    /// Adds words of the plugin's own: one line, lower case, without a final period.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// The rule.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// The bound that keeps the share from being larger, or the cluster from being chosen.
    pub fn bound_by(&self) -> Option<Bound> {
        self.bound
    }

    /// True if the cluster got one of the replicas that rounding leaves over, with what decided it; `None` if there are
    /// none, or if they do not matter.
    pub fn remainder_by(&self) -> Option<(bool, Decider)> {
        self.remainder
    }

    /// Figures by name.
    pub fn figures(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        self.figures.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// The plugin's own words; empty if there are none.
    pub fn own_text(&self) -> &str {
        &self.text
    }

    /// The figure with this name.
    pub fn value(&self, name: &str) -> Option<i64> {
        self.figures().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The first figure whose name the host drops.
    pub fn invalid_figure(&self) -> Option<&str> {
        self.figures().map(|(name, _)| name).find(|name| !is_name(name))
    }

    /// Reads the reason that a plugin passes. Parts that this version does not know are left out.
    pub fn read(handed: &abi::Reason<'_>) -> Self {
        let figures = handed
            .figures
            .as_slice()
            .iter()
            .map(|figure| (figure.name.read(), figure.value));
        let named = figures.filter(|(name, _)| is_name(name));
        let is_served = match handed.remainder {
            remainder::SERVED => Some(true),
            remainder::PASSED_OVER => Some(false),
            _ => None,
        };
        Self {
            cause: Cause::from_code(handed.cause).unwrap_or(Cause::Other),
            bound: Bound::from_code(handed.bound),
            remainder: is_served.zip(Decider::from_code(handed.decided_by)),
            figures: named.map(|(name, value)| (figure_name(name), value)).collect(),
            text: handed.text.read().into_owned(),
        }
    }

    /// Calls `take` with the reason in the form that crosses the boundary, for the cluster in a row.
    pub fn hand_over(&self, row: u32, take: impl FnOnce(&abi::Reason<'_>)) {
        let figures: Vec<abi::FigureRow<'_>> = self.figures().map(figure_row).collect();
        let (remainder, decided_by) = match self.remainder {
            None => (remainder::NONE, decider::NONE),
            Some((true, decider)) => (remainder::SERVED, decider.code()),
            Some((false, decider)) => (remainder::PASSED_OVER, decider.code()),
        };
        take(&abi::Reason {
            row,
            cause: self.cause.code(),
            bound: self.bound.map_or(bound::NONE, Bound::code),
            remainder,
            decided_by,
            figures: divvy_framework_abi::Slice::new(&figures),
            text: PluginText::new(&self.text),
            ..abi::Reason::DEFAULT
        });
    }
}

/// Names of the figures of all [`Cause`]s, and of a weight.
const FIGURE_NAMES: [&str; 11] = [
    "capacity", "change", "count", "each", "last", "maximum", "members", "replicas", "share", "sum", "weight",
];

/// The name of a figure. Known ones are not copied: an explanation has several for every cluster.
fn figure_name(name: Cow<'_, str>) -> Cow<'static, str> {
    match FIGURE_NAMES.iter().find(|known| **known == name) {
        Some(known) => Cow::Borrowed(*known),
        None => Cow::Owned(name.into_owned()),
    }
}

fn figure_row((name, value): (&str, i64)) -> abi::FigureRow<'_> {
    abi::FigureRow {
        name: PluginText::new(name),
        value,
    }
}

/// True for a name in `camelCase`.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
