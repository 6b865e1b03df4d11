//! Assign: divides the replicas over the candidates.

use divvy_framework_abi::arena::NO_ROW;

use crate::binding::Rule;
use crate::cycle::CallContext;
use crate::division::{self, ties};
use crate::plugin::{Failure, Needs, Plugin, Promises, RuleList};
use crate::reuse::with_scratch;

/// A plugin that divides a binding's replicas over the candidates: a strategy.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Gives everything to the candidate with most room.
/// struct Roomiest;
///
/// impl Plugin for Roomiest {
///     const NAME: &'static str = "roomiest";
///     const DESCRIPTION: &'static str = "gives everything to the candidate with most room";
///     type Configuration = NoConfiguration;
///     type Preferences = NoPreferences;
///     type Prepared = ();
///
///     fn new(_: NoConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
///         Ok(Self)
///     }
///
///     fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
///         Ok(())
///     }
/// }
///
/// impl AssignPlugin for Roomiest {
///     const STRATEGIES: &'static [&'static str] = &["Roomiest"];
///     const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent();
///
///     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
///         let roomiest = (0..context.len()).max_by_key(|&place| (context.capacity(place), context.tie_key(place)));
///         match roomiest {
///             Some(place) if context.capacity(place) >= context.replicas() => {
///                 result.set(place, context.replicas());
///                 context.explain(place, || "has most room".to_owned());
///                 Ok(())
///             }
///             Some(place) => Err(Failure::too_small(context.replicas(), context.capacity(place))),
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
pub trait AssignPlugin: Plugin {
    /// Names of the strategies that the plugin serves, in `UpperCamelCase`, as policies spell them. No two plugins of a
    /// profile may serve the same strategy.
    const STRATEGIES: &'static [&'static str];

    /// The promises about the plugin's results.
    const PROMISES: Promises;

    /// The services that the plugin needs from the host.
    const NEEDS: Needs = Needs::NONE;

    /// Policy lists that this strategy reads.
    const RULE_LISTS: &'static [RuleList] = &[];

    /// Divides the replicas. If the policy has tiers, the method is called once per tier, with the tier's candidates
    /// and its share of the replicas. The host checks the counts against [`Self::PROMISES`] and drops candidates with 0
    /// replicas; a violation aborts the cycle with an error that names the plugin.
    ///
    /// # Errors
    ///
    /// Return [`Failure::Unschedulable`] if the candidates have too little room, [`Failure::Preferences`] if the
    /// policy's preferences are invalid, and [`Failure::Internal`] if the plugin is at fault. Each aborts this cycle
    /// and leaves the binding's last result in place, even if earlier tiers succeeded.
    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure>;
}

/// The input of [`AssignPlugin::assign`]: the candidates, by index. It dereferences to [`CallContext`].
///
/// All counts are replicas. Each is between 0 and `i32::MAX`, but their sums can be larger.
pub struct AssignContext<'a, P: Plugin> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) replicas: i64,
    pub(crate) scores: &'a [i64],
    pub(crate) last: &'a [i64],
    pub(crate) fits_now: &'a [i64],
    pub(crate) tiers: &'a [u32],
    pub(crate) places: &'a [u32],
    pub(crate) tier: u32,
    pub(crate) tier_count: u32,
    pub(crate) all_rows: &'a [u32],
}

impl<'a, P: Plugin> AssignContext<'a, P> {
    /// Replicas to divide in this call: those of the binding, or the tier's share.
    pub fn replicas(&self) -> i64 {
        self.replicas
    }

    /// True if the division starts from scratch, without regard to the last result.
    pub fn is_fresh(&self) -> bool {
        self.cycle.binding().is_fresh()
    }

    /// Score per candidate, weighted and added up over all plugins.
    pub fn scores(&self) -> &'a [i64] {
        self.scores
    }

    /// Replicas per candidate in the last result; 0 if it does not list the cluster.
    pub fn last(&self) -> &'a [i64] {
        self.last
    }

    /// Replicas per candidate that fit now, beyond those that it already has.
    pub fn fits_now(&self) -> &'a [i64] {
        self.fits_now
    }

    /// The capacity of the candidate at index `place`: the replicas that fit now plus those of the last result.
    #[inline]
    pub fn capacity(&self, place: usize) -> i64 {
        let fits_now = self.fits_now.get(place).copied().unwrap_or(0);
        fits_now.saturating_add(self.last.get(place).copied().unwrap_or(0))
    }

    /// Tier per candidate, 0 being the best; empty if the policy has no tiers.
    pub fn tiers(&self) -> &'a [u32] {
        self.tiers
    }

    /// The tier that this call divides over, and the number of tiers. `(0, 1)` without tiers, or if the strategy walks
    /// them itself.
    pub fn tier(&self) -> (u32, u32) {
        (self.tier, self.tier_count)
    }

    /// Rows of the candidates of all tiers, for decisions that span the tiers.
    pub fn all_rows(&self) -> &'a [u32] {
        self.all_rows
    }

    /// The candidate's index in the cluster names of the placement's affinity; `None` if it is not listed.
    #[inline]
    pub fn place_in_policy(&self, place: usize) -> Option<usize> {
        self.places
            .get(place)
            .filter(|&&listed| listed != NO_ROW)
            .map(|&listed| listed as usize)
    }

    /// The tie-breaking key of the candidate at index `place`: the smaller key is served first. It is derived from the
    /// profile's seed, the binding's UID and the cluster's name. So it does not depend on the order of the candidates,
    /// and over many bindings every subset of them is equally likely to come first.
    #[inline]
    pub fn tie_key(&self, place: usize) -> u64 {
        self.ties()(place)
    }

    /// [`Self::tie_key`] as a closure that looks its columns up only once, for the functions of [`crate::division`].
    pub fn ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let hashes = self.cycle.clusters().name_hashes();
        let rows = self.rows;
        let seed = self.cycle.seed();
        move |place| {
            let hash = rows
                .get(place)
                .and_then(|&row| hashes.get(row as usize))
                .copied()
                .unwrap_or(0);
            ties::tie_key(seed, hash)
        }
    }

    /// The columns of this call in the form that the functions of [`crate::division`] take.
    pub fn division_request(&self) -> division::Request<'a> {
        division::Request {
            replicas: self.replicas,
            fits_now: self.fits_now,
            last: self.last,
            cycle: if self.is_fresh() {
                division::Cycle::Fresh
            } else {
                division::Cycle::Steady
            },
        }
    }

    /// Writes to `places` each candidate's index in the last result, in the order of `spec.clusters`: `u32::MAX` for a
    /// candidate that the last result does not list.
    pub fn places_in_last(&self, places: &mut Vec<u32>) {
        with_scratch(|PlaceByRow(by_row): &mut PlaceByRow| {
            by_row.clear();
            by_row.resize(self.cycle.clusters().len(), NO_ROW);
            for (place, target) in (0..).zip(self.cycle.binding().last()) {
                let slot = target.row.and_then(|row| by_row.get_mut(row));
                // If a cluster is listed twice, its first entry counts.
                if let Some(slot) = slot.filter(|slot| **slot == NO_ROW) {
                    *slot = place;
                }
            }
            places.clear();
            places.extend(
                self.rows
                    .iter()
                    .map(|&row| by_row.get(row as usize).copied().unwrap_or(NO_ROW)),
            );
        });
    }

    /// Karmada's tie order, as a closure like [`Self::ties`]: by name, ascending or descending depending on one bit of
    /// the resource's UID. Unlike Divvy's order, it always starts at one end of the list of names.
    pub fn karmada_ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let descends = ties::karmada_descends(self.cycle.binding().resource_uid());
        let rows = self.rows;
        // Rows are sorted by name.
        move |place| ties::karmada_tie_key(descends, rows.get(place).copied().unwrap_or(NO_ROW).into())
    }

    /// The candidates' order according to the policy, as a closure: by index in the cluster names of the placement's
    /// affinity, then, for unlisted candidates, by name. Ranks are distinct; the smaller comes first.
    pub fn policy_order(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let (rows, places) = (self.rows, self.places);
        let listed = places.iter().filter(|&&listed| listed != NO_ROW);
        let unlisted_from = listed.max().map_or(0, |&last| u64::from(last) + 1);
        move |place| match places.get(place) {
            Some(&listed) if listed != NO_ROW => listed.into(),
            // Rows are sorted by name. Small ranks pack with counts into one word, which makes comparing them fast.
            _ => unlisted_from + u64::from(rows.get(place).copied().unwrap_or(NO_ROW)),
        }
    }

    /// The entries of the policy's lists for this strategy, each for a group of clusters.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a, P> {
        self.cycle.binding().rules()
    }

    /// Writes to `values`, for each candidate, the largest value of `field` among the rules that match it; `absent` if
    /// no rule does.
    pub fn largest_rule_value(&self, field: &str, absent: i64, values: &mut Vec<i64>) {
        self.largest_rule_value_of(self.rows, field, absent, values);
    }

    /// [`Self::largest_rule_value`] for rows other than the candidates of this call, such as [`Self::all_rows`].
    pub fn largest_rule_value_of(&self, rows: &[u32], field: &str, absent: i64, values: &mut Vec<i64>) {
        values.clear();
        let rules = self.cycle.binding().rules();
        if rules.len() == 0 {
            values.resize(rows.len(), absent);
            return;
        }
        with_scratch(|largest: &mut LargestByRow| {
            // Collect the values by row first: a rule's rows ascend, so this walks memory in order, whatever the order
            // of the candidates.
            let LargestByRow(by_row) = largest;
            by_row.clear();
            by_row.resize(self.cycle.clusters().len(), NO_VALUE);
            for rule in rules {
                let Some(value) = rule.value(field) else {
                    continue;
                };
                for &row in rule.rows() {
                    if let Some(known) = by_row.get_mut(row as usize) {
                        *known = (*known).max(value);
                    }
                }
            }
            let value_of = |&row: &u32| match by_row.get(row as usize) {
                Some(&value) if value != NO_VALUE => value,
                _ => absent,
            };
            values.extend(rows.iter().map(value_of));
        });
    }
}

/// Scratch of [`AssignContext::places_in_last`]: one entry per cluster of the snapshot.
#[derive(Default)]
struct PlaceByRow(Vec<u32>);

/// Scratch of [`AssignContext::largest_rule_value_of`]: one entry per cluster of the snapshot, [`NO_VALUE`] where no
/// rule matches. An `Option` would take twice the memory, and the column of a large fleet would outgrow the fastest
/// cache.
#[derive(Default)]
struct LargestByRow(Vec<i64>);

/// Marks the absence of a value. A rule that states this number counts as stating none.
const NO_VALUE: i64 = i64::MIN;

impl<'a, P: Plugin> std::ops::Deref for AssignContext<'a, P> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}

/// The output of [`AssignPlugin::assign`]: one count per candidate. A candidate without a count gets 0.
///
/// The type rules out clusters that are not candidates, and candidates that are named twice.
pub struct AssignResult<'a> {
    pub(crate) replicas: &'a mut [i64],
}

impl AssignResult<'_> {
    /// Sets the replicas of the candidate at index `place`. An index past the end is ignored.
    #[inline]
    pub fn set(&mut self, place: usize, replicas: i64) {
        if let Some(slot) = self.replicas.get_mut(place) {
            *slot = replicas;
        }
    }

    /// The counts, one per candidate: the `out` of the functions of [`crate::division`].
    pub fn replicas(&mut self) -> &mut [i64] {
        self.replicas
    }
}
