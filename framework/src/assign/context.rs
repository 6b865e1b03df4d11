//! Input of a call of Assign.

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::call::AssignCall;

use crate::binding::Rule;
use crate::clusters::Row;
use crate::configuration::NoPreferences;
use crate::cycle::{CallContext, Candidate};
use crate::division;
use crate::export::Given;
use crate::plugin::Plugin;
use crate::reuse::with_scratch;

/// The input of [`AssignPlugin::assign`](super::AssignPlugin::assign): the candidates. It dereferences to [`CallContext`].
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
