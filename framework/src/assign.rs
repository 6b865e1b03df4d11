//! Assign: how many replicas each candidate gets.

use divvy_framework_abi::arena::NO_ROW;

use crate::binding::Rule;
use crate::cycle::CallContext;
use crate::division::{self, ties};
use crate::plugin::{Failure, Needs, Plugin, Promises, RuleList};
use crate::reuse::with_scratch;

/// A plugin that divides the replicas of a binding over the candidates: a strategy.
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
    /// The strategies it serves: the names by which policies pick it, `UpperCamelCase`. No two plugins of a profile may
    /// serve one strategy.
    const STRATEGIES: &'static [&'static str];

    /// What it promises of its results.
    const PROMISES: Promises;

    /// What it needs the host to do.
    const NEEDS: Needs = Needs::NONE;

    /// The lists of a policy by which it is told what each group of clusters is to get.
    const RULE_LISTS: &'static [RuleList] = &[];

    /// Divides the replicas. Where the policy has tiers it is called once a tier, with the tier's candidates and its
    /// share of the replicas.
    ///
    /// # Errors
    ///
    /// [`Failure::Unschedulable`] if the candidates cannot take what is asked; [`Failure::Preferences`] if what the
    /// policy says makes no sense; [`Failure::Internal`] if the plugin is at fault.
    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure>;
}

/// What [`AssignPlugin::assign`] is given: the candidates, by place. It dereferences to [`CallContext`].
///
/// All counts are replicas, from 0 to `i32::MAX` for a single cluster; sums of them can be larger.
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
    /// Replicas to divide in this call: those of the binding, or of the tier.
    pub fn replicas(&self) -> i64 {
        self.replicas
    }

    /// Whether the division starts from scratch.
    pub fn is_fresh(&self) -> bool {
        self.cycle.binding().is_fresh()
    }

    /// Per candidate: its score, weighted and added up over all plugins.
    pub fn scores(&self) -> &'a [i64] {
        self.scores
    }

    /// Per candidate: replicas of the last result; 0 if it does not list the cluster.
    pub fn last(&self) -> &'a [i64] {
        self.last
    }

    /// Per candidate: replicas that fit now, beyond those that it has.
    pub fn fits_now(&self) -> &'a [i64] {
        self.fits_now
    }

    /// The capacity of the candidate at a place: fits now plus last.
    #[inline]
    pub fn capacity(&self, place: usize) -> i64 {
        let fits_now = self.fits_now.get(place).copied().unwrap_or(0);
        fits_now.saturating_add(self.last.get(place).copied().unwrap_or(0))
    }

    /// Per candidate: its tier, the best being 0; empty if the policy has no tiers.
    pub fn tiers(&self) -> &'a [u32] {
        self.tiers
    }

    /// Which tier this call divides over, and of how many. `(0, 1)` without tiers, or if the strategy walks them itself.
    pub fn tier(&self) -> (u32, u32) {
        (self.tier, self.tier_count)
    }

    /// Rows of the candidates of all tiers, for what must be decided over all of them.
    pub fn all_rows(&self) -> &'a [u32] {
        self.all_rows
    }

    /// The candidate's place in the list of names of the placement's affinity; `None` if it is not listed.
    #[inline]
    pub fn place_in_policy(&self, place: usize) -> Option<usize> {
        self.places
            .get(place)
            .filter(|&&listed| listed != NO_ROW)
            .map(|&listed| listed as usize)
    }

    /// The key by which the candidate at a place stands in the order of ties: smaller first. Drawn from the profile's
    /// seed, the binding's UID and the cluster's name, so it does not depend on the order of the candidates, and every
    /// subset of them is equally likely to come first.
    #[inline]
    pub fn tie_key(&self, place: usize) -> u64 {
        self.ties()(place)
    }

    /// [`Self::tie_key`] as a closure with its columns looked up once, for the functions of [`crate::division`].
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

    /// The columns of this call as the functions of [`crate::division`] take them.
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

    /// Per candidate its place in the last result as `spec.clusters` lists it, written to `places`: `u32::MAX` for a
    /// candidate that is not in it.
    pub fn places_in_last(&self, places: &mut Vec<u32>) {
        with_scratch(|PlaceByRow(by_row): &mut PlaceByRow| {
            by_row.clear();
            by_row.resize(self.cycle.clusters().len(), NO_ROW);
            for (place, target) in (0..).zip(self.cycle.binding().last()) {
                let slot = target.row.and_then(|row| by_row.get_mut(row));
                // Of a cluster that is listed twice the first entry counts.
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

    /// The order of ties that Karmada has, as a closure like [`Self::ties`]: by name, ascending or descending by one bit of
    /// the UID of the resource. Unlike Divvy's own it always serves the first or the last by name first.
    pub fn karmada_ties(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let descends = ties::karmada_descends(self.cycle.binding().resource_uid());
        let rows = self.rows;
        // Rows are sorted by name.
        move |place| ties::karmada_tie_key(descends, rows.get(place).copied().unwrap_or(NO_ROW).into())
    }

    /// The candidates' order by the policy, as a closure: by place in the list of names of the placement's affinity, those
    /// not listed last, then by name. Distinct, smaller first.
    pub fn policy_order(&self) -> impl Fn(usize) -> u64 + Copy + use<'a, P> {
        let (rows, places) = (self.rows, self.places);
        let listed = places.iter().filter(|&&listed| listed != NO_ROW);
        let unlisted_from = listed.max().map_or(0, |&last| u64::from(last) + 1);
        move |place| match places.get(place) {
            Some(&listed) if listed != NO_ROW => listed.into(),
            // Rows are sorted by name. Ranks stay small, so that they can be compared together with counts in one word.
            _ => unlisted_from + u64::from(rows.get(place).copied().unwrap_or(NO_ROW)),
        }
    }

    /// What the policy says of groups of clusters, in the list that belongs to the strategy.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a, P> {
        self.cycle.binding().rules()
    }

    /// Per candidate the largest value of `field` among the rules that match it, written to `values`: `absent` where none
    /// does.
    pub fn largest_rule_value(&self, field: &str, absent: i64, values: &mut Vec<i64>) {
        self.largest_rule_value_of(self.rows, field, absent, values);
    }

    /// [`Self::largest_rule_value`] for other rows than the candidates' of this call, such as [`Self::all_rows`].
    pub fn largest_rule_value_of(&self, rows: &[u32], field: &str, absent: i64, values: &mut Vec<i64>) {
        values.clear();
        let rules = self.cycle.binding().rules();
        if rules.len() == 0 {
            values.resize(rows.len(), absent);
            return;
        }
        with_scratch(|largest: &mut LargestByRow| {
            // By row first: a rule's rows ascend, so that memory is walked in order however the candidates are ordered.
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

/// Scratch of [`AssignContext::places_in_last`]: one entry a cluster of the snapshot.
#[derive(Default)]
struct PlaceByRow(Vec<u32>);

/// Scratch of [`AssignContext::largest_rule_value_of`]: one entry a cluster of the snapshot, [`NO_VALUE`] where no rule
/// matches. An `Option` would take twice the memory, more than the fastest cache holds for a large fleet.
#[derive(Default)]
struct LargestByRow(Vec<i64>);

/// The least value there is stands for none: a rule that says so says nothing.
const NO_VALUE: i64 = i64::MIN;

impl<'a, P: Plugin> std::ops::Deref for AssignContext<'a, P> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}

/// What [`AssignPlugin::assign`] gives back: a count a candidate. A candidate that is not set gets 0.
///
/// The type rules out clusters that are no candidates, and candidates named twice.
pub struct AssignResult<'a> {
    pub(crate) replicas: &'a mut [i64],
}

impl AssignResult<'_> {
    /// Gives the candidate at a place its replicas. A place past the end is ignored.
    #[inline]
    pub fn set(&mut self, place: usize, replicas: i64) {
        if let Some(slot) = self.replicas.get_mut(place) {
            *slot = replicas;
        }
    }

    /// The counts, one a candidate: the `out` of the functions of [`crate::division`].
    pub fn replicas(&mut self) -> &mut [i64] {
        self.replicas
    }
}
