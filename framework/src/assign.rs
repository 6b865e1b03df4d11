//! Assign: divides the replicas over the candidates.

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::call::AssignCall;

use crate::binding::Rule;
use crate::clusters::Row;
use crate::configuration::{NoPreferences, Preferences};
use crate::cycle::{CallContext, Candidate};
use crate::division;
use crate::export::Given;
use crate::plugin::{Failure, Needs, Plugin, Promises, RuleList};
use crate::reuse::with_scratch;

/// A plugin that divides a binding's replicas over the candidates: a strategy.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Gives everything to the candidate with the most room.
/// #[derive(Default)]
/// struct Roomiest;
///
/// impl Plugin for Roomiest {
///     const NAME: &'static str = "roomiest";
///     const DESCRIPTION: &'static str = "gives everything to the candidate with most room";
/// }
///
/// impl AssignPlugin for Roomiest {
///     const STRATEGIES: &'static [&'static str] = &["Roomiest"];
///     const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent();
///
///     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
///         let capacity = context.capacity();
///         match context.candidates().max_by_key(|&candidate| (capacity[candidate], context.tie_key(candidate))) {
///             Some(roomiest) if capacity[roomiest] >= context.replicas() => {
///                 result.set(roomiest, context.replicas());
///                 context.explain(roomiest, || "has most room".to_owned());
///                 Ok(())
///             }
///             Some(roomiest) => Err(Failure::too_small(context.replicas(), capacity[roomiest])),
///             None => Err(Failure::too_small(context.replicas(), 0)),
///         }
///     }
/// }
///
/// use divvy_framework::testing::{ClusterBuilder, Scenario};
/// let scenario = Scenario::new()
///     .replicas(6)
///     .cluster(ClusterBuilder::new("a").fits_now(4))
///     .cluster(ClusterBuilder::new("b").fits_now(7).last(1));
/// assert_eq!(scenario.assign(&Roomiest).unwrap(), [0, 6]);
/// ```
///
/// A policy can carry free-form preferences for a strategy that names their type in the trait, `impl
/// AssignPlugin<RoomiestPreferences> for Roomiest`, and derives `Preferences` for it; the method then gets an
/// `AssignContext<'_, Self, RoomiestPreferences>`. Any other strategy refuses all preferences. They are in the
/// annotation `divvy.io/preferences`, or, as for any other plugin, in `divvy.io/preferences.<name of the plugin>`.
pub trait AssignPlugin<Accepted: Preferences + 'static = NoPreferences>: Plugin {
    /// Names of the strategies that the plugin serves, in `UpperCamelCase`, as policies spell them. No two plugins of a
    /// profile may serve the same strategy.
    const STRATEGIES: &'static [&'static str];

    /// The promises about the plugin's results.
    const PROMISES: Promises;

    /// The services that the plugin needs from the host.
    const NEEDS: Needs = Needs::NONE;

    /// Policy lists that this strategy reads.
    const RULE_LISTS: &'static [RuleList] = &[];

    /// The promises about this result that [`Self::PROMISES`] cannot express, because they depend on the policy or on the
    /// configuration: a number of clusters. It is called before [`Self::assign`], with the same input and without the result, so
    /// compute it from the preferences rather than from the division: a mistake in the division is found by what does
    /// not depend on it.
    ///
    /// The host checks each result against them. A broken promise aborts the cycle with an error that names the
    /// plugin, the promise, and the cluster or the group that breaks it, and leaves the binding's last result in place. A host of
    /// ABI 1.0 does not call the method.
    ///
    /// ```
    /// use divvy_framework::prelude::*;
    ///
    /// #[derive(Default, Preferences)]
    /// #[serde(default)]
    /// struct FewPreferences {
    ///     /// Clusters to use. Absent: no limit.
    ///     most_clusters: Option<u32>,
    /// }
    ///
    /// #[derive(Default)]
    /// struct Few;
    ///
    /// impl Plugin for Few {
    ///     const NAME: &'static str = "few";
    ///     const DESCRIPTION: &'static str = "divides over the first clusters by name";
    /// }
    ///
    /// impl AssignPlugin<FewPreferences> for Few {
    ///     const STRATEGIES: &'static [&'static str] = &["Few"];
    ///     const PROMISES: Promises = Promises::NONE;
    ///
    ///     fn stated_promises(&self, context: &AssignContext<'_, Self, FewPreferences>) -> Result<StatedPromises, Failure> {
    ///         let most = context.preferences().and_then(|preferences| preferences.most_clusters);
    ///         Ok(most.map_or(StatedPromises::NONE, |most| StatedPromises::NONE.most_clusters(most)))
    ///     }
    ///
    ///     fn assign(
    ///         &self,
    ///         context: &AssignContext<'_, Self, FewPreferences>,
    ///         result: &mut AssignResult<'_>,
    ///     ) -> Result<(), Failure> {
    ///         // The limit is forgotten.
    ///         for candidate in context.candidates() {
    ///             result.set(candidate, context.replicas() / context.len() as i64);
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario, json};
    /// let scenario = Scenario::new().replicas(6).cluster(ClusterBuilder::new("a")).cluster(ClusterBuilder::new("b"));
    /// assert_eq!(scenario.check_promises(&Few), Ok(()));
    /// let broken = scenario.preferences(&json!({ "mostClusters": 1 })).check_promises(&Few).unwrap_err();
    /// assert!(broken.starts_with("plugin `few` promises to use at most 1 of the clusters but used 2: `b` is one too many"));
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Self::assign`]; nothing is divided then.
    fn stated_promises(&self, context: &AssignContext<'_, Self, Accepted>) -> Result<StatedPromises, Failure> {
        let _ = context;
        Ok(StatedPromises::NONE)
    }

    /// Divides the replicas. If the policy has tiers, the host calls the method once per tier, with the tier's
    /// candidates and its share of the replicas. It checks the counts: their signs, their sum, and [`Self::PROMISES`].
    /// A violation aborts the cycle with an error that names the plugin, and leaves the binding's last result in place.
    /// Candidates with 0 replicas are dropped from the result.
    ///
    /// # Errors
    ///
    /// Return [`Failure::Unschedulable`] if the candidates have too little room, [`Failure::Preferences`] if the
    /// policy's preferences are invalid, and [`Failure::Internal`] if the plugin is at fault. Each aborts this cycle
    /// and leaves the binding's last result in place, even if earlier tiers succeeded.
    fn assign(&self, context: &AssignContext<'_, Self, Accepted>, result: &mut AssignResult<'_>)
    -> Result<(), Failure>;
}

/// Promises about one result, as [`AssignPlugin::stated_promises`] returns them: numbers of clusters with replicas. A promise that is made
/// twice has the later number.
///
/// They hold for the result of the call. If the policy has tiers, the host makes a call per tier, each with its own promises; if
/// a filter cordons clusters, it divides what they cannot take once more, among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedPromises {
    least_clusters: u32,
    most_clusters: u32,
    most_per_provider: u32,
    most_per_region: u32,
    most_per_zone: u32,
}

impl StatedPromises {
    /// Promises nothing.
    pub const NONE: Self = Self::from_call(&AssignCall::DEFAULT);

    /// At least this many clusters get replicas, or as many as there are replicas, if these are fewer.
    #[must_use]
    pub const fn least_clusters(self, count: u32) -> Self {
        Self {
            least_clusters: count,
            ..self
        }
    }

    /// At most this many clusters get replicas.
    #[must_use]
    pub const fn most_clusters(self, count: u32) -> Self {
        Self {
            most_clusters: count,
            ..self
        }
    }

    /// At most this many clusters of each provider get replicas. Clusters without a provider are not counted.
    #[must_use]
    pub const fn most_per_provider(self, count: u32) -> Self {
        Self {
            most_per_provider: count,
            ..self
        }
    }

    /// At most this many clusters of each region get replicas. Clusters without a region are not counted.
    #[must_use]
    pub const fn most_per_region(self, count: u32) -> Self {
        Self {
            most_per_region: count,
            ..self
        }
    }

    /// At most this many clusters of each zone get replicas. A cluster with several zones counts in each of them.
    #[must_use]
    pub const fn most_per_zone(self, count: u32) -> Self {
        Self {
            most_per_zone: count,
            ..self
        }
    }

    const fn from_call(call: &AssignCall<'_>) -> Self {
        Self {
            least_clusters: call.least_clusters,
            most_clusters: call.most_clusters,
            most_per_provider: call.most_per_provider,
            most_per_region: call.most_per_region,
            most_per_zone: call.most_per_zone,
        }
    }

    /// The numbers, in the order of the fields of the call.
    pub(crate) const fn numbers(self) -> [u32; 5] {
        [
            self.least_clusters,
            self.most_clusters,
            self.most_per_provider,
            self.most_per_region,
            self.most_per_zone,
        ]
    }

    /// The call as a host sees it once the promises are written to it.
    #[cfg(feature = "testing")]
    pub(crate) fn answered(self) -> AssignCall<'static> {
        AssignCall {
            least_clusters: self.least_clusters,
            most_clusters: self.most_clusters,
            most_per_provider: self.most_per_provider,
            most_per_region: self.most_per_region,
            most_per_zone: self.most_per_zone,
            ..AssignCall::DEFAULT
        }
    }
}

impl Default for StatedPromises {
    fn default() -> Self {
        Self::NONE
    }
}

/// The input of [`AssignPlugin::assign`]: the candidates. It dereferences to [`CallContext`].
pub struct AssignContext<'a, P, Accepted = NoPreferences> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) preferences: &'a Given<'a, Accepted>,
    /// The call; the methods below read the fields that only Assign has.
    pub(crate) assign: AssignCall<'a>,
}

impl<'a, P: Plugin, Accepted> AssignContext<'a, P, Accepted> {
    /// The preferences that the policy carries for the strategy; `None` if it carries none.
    pub fn preferences(&self) -> Option<&'a Accepted> {
        self.preferences.get()
    }

    /// Replicas to divide in this call: those of the binding, or the tier's share.
    pub fn replicas(&self) -> i64 {
        self.assign.replicas
    }

    /// True if the division starts from scratch, without regard to the last result.
    pub fn is_fresh(&self) -> bool {
        self.cycle.binding().is_fresh()
    }

    /// The tier that this call divides over, and the number of tiers. `(0, 1)` without tiers, or if the strategy walks
    /// them itself.
    pub fn tier(&self) -> (u32, u32) {
        (self.assign.tier, self.assign.tier_count)
    }

    /// Rows of the candidates of all tiers, for decisions that span the tiers.
    pub fn all_rows(&self) -> &'a [Row] {
        Row::cast(self.assign.all_rows.as_slice())
    }

    /// The candidate's index in the cluster names of the placement's affinity; `None` if it is not listed.
    #[inline]
    pub fn policy_index(&self, candidate: Candidate) -> Option<usize> {
        self.assign
            .policy_index
            .as_slice()
            .get(candidate.index())
            .filter(|&&listed| listed != NO_ROW)
            .map(|&listed| listed as usize)
    }

    /// The columns of this call in the form that the functions of [`crate::division`] take.
    pub fn division_request(&self) -> division::Request<'a> {
        let cycle = if self.is_fresh() {
            division::Cycle::Fresh
        } else {
            division::Cycle::Steady
        };
        division::Request::new(self.replicas(), self.fits_now, self.last, cycle)
    }

    /// The candidates' order according to the policy, as a closure for the functions of [`crate::division`]: by index in the cluster names of the placement's
    /// affinity, then, for unlisted candidates, by name. Ranks are distinct; the smaller comes first.
    pub fn policy_order(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P, Accepted> {
        let (rows, indices) = (self.rows, self.assign.policy_index.as_slice());
        let listed = indices.iter().filter(|&&listed| listed != NO_ROW);
        let unlisted_from = listed.max().map_or(0, |&last| u64::from(last) + 1);
        move |index| match indices.get(index) {
            Some(&listed) if listed != NO_ROW => listed.into(),
            // Rows are sorted by name. Small ranks pack with counts into one word, which makes comparing them fast.
            _ => unlisted_from + u64::from(rows.get(index).map_or(NO_ROW, |row| row.number())),
        }
    }

    /// The entries of the policy's lists for this strategy, each for a group of clusters.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a, P, Accepted> {
        self.cycle.policy().rules()
    }

    /// Writes to `values`, for each candidate, the largest value of `field` among the rules that match it; `absent` if
    /// no rule does.
    pub fn largest_rule_value(&self, field: &str, absent: i64, values: &mut Vec<i64>) {
        self.largest_rule_value_of(self.rows, field, absent, values);
    }

    /// [`Self::largest_rule_value`] for rows other than the candidates of this call, such as [`Self::all_rows`].
    pub fn largest_rule_value_of(&self, rows: &[Row], field: &str, absent: i64, values: &mut Vec<i64>) {
        values.clear();
        let rules = self.cycle.policy().rules();
        if rules.len() == 0 {
            values.resize(rows.len(), absent);
            return;
        }
        with_scratch(|largest: &mut LargestByRow| {
            // Collect the values by row first: a rule's rows ascend, so this walks memory in order, regardless of the
            // order of the candidates.
            let LargestByRow(by_row) = largest;
            by_row.clear();
            by_row.resize(self.cycle.clusters().len(), NO_VALUE);
            for rule in rules {
                let Some(value) = rule.value(field) else {
                    continue;
                };
                for row in rule.rows() {
                    if let Some(known) = by_row.get_mut(row.index()) {
                        *known = (*known).max(value);
                    }
                }
            }
            let value_of = |row: &Row| match by_row.get(row.index()) {
                Some(&value) if value != NO_VALUE => value,
                _ => absent,
            };
            values.extend(rows.iter().map(value_of));
        });
    }
}

/// Scratch of [`AssignContext::largest_rule_value_of`]: one entry per cluster of the snapshot, [`NO_VALUE`] where no
/// rule matches. An `Option` would take twice the memory, and the column of a large fleet would outgrow the fastest
/// cache.
#[derive(Default)]
struct LargestByRow(Vec<i64>);

/// Marks the absence of a value. A rule with this number counts as one without a number.
const NO_VALUE: i64 = i64::MIN;

impl<'a, P, Accepted> std::ops::Deref for AssignContext<'a, P, Accepted> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}

/// The output of [`AssignPlugin::assign`]: one count per candidate, initially 0.
///
/// The type rules out clusters that are not candidates, and duplicate candidates.
pub struct AssignResult<'a> {
    replicas: &'a mut [i64],
    /// Number of counts for candidates that the call does not have.
    pub(crate) dropped: u64,
}

impl<'a> AssignResult<'a> {
    pub(crate) fn new(replicas: &'a mut [i64]) -> Self {
        Self { replicas, dropped: 0 }
    }

    /// Sets the replicas of a candidate. The host ignores and counts candidates that the call does not have; the test
    /// kit reports them as an error.
    #[inline]
    pub fn set(&mut self, candidate: Candidate, replicas: i64) {
        match self.replicas.get_mut(candidate.index()) {
            Some(slot) => *slot = replicas,
            None => self.dropped += 1,
        }
    }

    /// The counts, one per candidate: the `out` of the functions of [`crate::division`].
    pub fn replicas(&mut self) -> &mut [i64] {
        self.replicas
    }
}
