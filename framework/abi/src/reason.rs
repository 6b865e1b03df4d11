//! Reasons as data: why a cluster has its share or its score, or was left out. A plugin reports them only if an
//! explanation was requested.
//!
//! A reason has a code for the rule, what bound it, what decided a remainder, and figures by name. A reader treats a code
//! that it does not know as [`cause::OTHER`], and any other number that it does not know as 0.

#[cfg(feature = "certificate")]
use abi_stable::StableAbi;

use crate::arena::NO_ROW;
use crate::column::{PluginText, Slice};
use crate::definition::{numbers, structure};
use crate::sized::{kind, sized};

sized! {
    /// The reason for a plugin's decision about a cluster. Passed to [`crate::service::Services::explain`]; everything
    /// in it is borrowed for that call. A reader treats a cause that it does not know as [`cause::OTHER`], and any
    /// other number that it does not know as 0.
    Reason<'a>(ReasonRef, kind::REASON) {
        /// Row of the cluster.
        row: u32 = NO_ROW,
        /// A value of [`cause`].
        cause: u32 = cause::OTHER,
        /// A value of [`bound`].
        bound: u32 = bound::NONE,
        /// A value of [`remainder`].
        remainder: u32 = remainder::NONE,
        /// A value of [`decider`]: what decided about the remainder.
        decided_by: u32 = decider::NONE,
        /// Zero.
        reserved: u32 = 0,
        /// Figures, in the order in which a text mentions them.
        figures: Slice<'a, FigureRow<'a>> = Slice::EMPTY,
        /// The plugin's own words, one line; empty if the other fields suffice.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        text: PluginText<'a> = PluginText::EMPTY,
    }
}

structure! {
    /// A figure of a reason.
    #[repr(C)]
    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct FigureRow<'a> {
        /// Its name: ASCII letters and digits in `camelCase`. The host drops a figure with another name.
        pub name: PluginText<'a>,
        /// Its value.
        pub value: i64,
    }
}

numbers! {
    /// The rule that led to a share, to a score, or to leaving a cluster out.
    pub mod cause as "DIVVY_REASON_" {
        /// Any other rule; the text states it.
        pub const OTHER: u32 = 0;
        /// Every candidate gets the full count. Figures: `replicas`.
        pub const FULL_COUNT: u32 = 1;
        /// A share in proportion to the first figure. Figures: `sum`, `replicas`, `share`.
        pub const PROPORTION: u32 = 2;
        /// A share in proportion to the first figure, rounded by highest averages. Figures: `sum`, `replicas`, `share`.
        pub const HIGHEST_AVERAGES: u32 = 3;
        /// As even as the bounds allow. Figures: `capacity`, `each`.
        pub const EVEN: u32 = 4;
        /// Clusters are filled one after another.
        pub const PACKED: u32 = 5;
        /// A share of the count that a rule gives to a group of clusters. Figures: `count`, `members`, `last`, `change`.
        pub const COUNT: u32 = 6;
        /// As many as fit.
        pub const FILLED: u32 = 7;
        /// The last result stays.
        pub const UNCHANGED: u32 = 8;
        /// Other clusters are enough.
        pub const NOT_NEEDED: u32 = 9;
        /// The cluster's replicas go elsewhere.
        pub const DRAINED: u32 = 10;
        /// No rule gives the cluster a share.
        pub const NO_SHARE: u32 = 11;
        /// The last result lists the cluster.
        pub const LISTED: u32 = 12;
        /// Left out: others come first. Figures: `maximum`.
        pub const BEYOND_MAXIMUM: u32 = 13;
        /// Left out: its group of clusters is not chosen. The text names the group.
        pub const GROUP_NOT_CHOSEN: u32 = 14;
    }
}

numbers! {
    /// The limit that keeps a share from being larger, or a cluster from being chosen.
    pub mod bound as "DIVVY_BOUND_" {
        /// Nothing in particular.
        pub const NONE: u32 = 0;
        /// The cluster's capacity.
        pub const CAPACITY: u32 = 1;
        /// A limit of the plugin or of its configuration.
        pub const CAP: u32 = 2;
        /// The share of the cluster's tier.
        pub const TIER: u32 = 3;
        /// A rule of the policy.
        pub const RULE: u32 = 4;
    }
}

numbers! {
    /// One of the replicas that rounding leaves over.
    pub mod remainder as "DIVVY_REMAINDER_" {
        /// There is none, or it does not matter here.
        pub const NONE: u32 = 0;
        /// The cluster got one of them.
        pub const SERVED: u32 = 1;
        /// The cluster got none of them.
        pub const PASSED_OVER: u32 = 2;
    }
}

numbers! {
    /// Criteria that decide between clusters.
    pub mod decider as "DIVVY_DECIDER_" {
        /// Nothing.
        pub const NONE: u32 = 0;
        /// The larger weight.
        pub const WEIGHT: u32 = 1;
        /// More replicas in the last result.
        pub const LAST: u32 = 2;
        /// The better score.
        pub const SCORE: u32 = 3;
        /// Fewest replicas in the last result.
        pub const FEWEST_LAST: u32 = 4;
        /// Most replicas in the last result.
        pub const MOST_LAST: u32 = 5;
        /// The order in the policy.
        pub const POLICY_ORDER: u32 = 6;
        /// The name.
        pub const NAME: u32 = 7;
        /// The random order for ties.
        pub const TIE: u32 = 8;
    }
}
