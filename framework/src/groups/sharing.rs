//! Sharing replicas among groups of clusters, in one call: weights or exact counts, minimum and maximum, room, and last replicas.
//!
//! For strategies that know their groups. Groups within groups, percentages, floors and caps are what the strategy Tree reads from a
//! policy.

use std::fmt::Write as _;

use divvy_framework_arithmetic::division::sharing::{
    self, Constraint, Contradiction, Limit, Rule, Share, SharingError,
};

use crate::assign::{AssignContext, AssignResult};
use crate::clusters::Candidate;
use crate::division::ties::{identity_hash, tie_key};
use crate::division::{DivisionError, Rounding, Scratch};
use crate::plugin::{Failure, Plugin};
use crate::reuse::with_scratch;

/// A group of clusters that shares the replicas with others: [`AssignContext::share_among`].
///
/// ```
/// use divvy_framework::groups::Group;
///
/// let groups = [
///     Group::weighing("eu", 60).at_least(10),
///     Group::weighing("us", 40).at_most(200).evenly(),
///     Group::exactly("edge", 3),
///     Group::rest("elsewhere"),
/// ];
/// assert_eq!(groups[3].name(), "elsewhere");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    name: String,
    group: sharing::Group,
}

impl Group {
    /// A group that shares in proportion to a weight, rounded by largest remainder. A group of weight 0 gets its minimum. The name is for
    /// messages and for ties; those of one call should differ.
    pub fn weighing(name: impl Into<String>, weight: u32) -> Self {
        Self::new(name, Share::Weight(weight))
    }

    /// A group that gets exactly this many replicas, 0 or more.
    pub fn exactly(name: impl Into<String>, replicas: i64) -> Self {
        Self::new(name, Share::Keeps).at_least(replicas).at_most(replicas)
    }

    /// A group that keeps what it has, as far as the others leave it.
    pub fn keeping(name: impl Into<String>) -> Self {
        Self::new(name, Share::Keeps)
    }

    /// A group that gets only what no other can take. There is at most one; a second one [keeps](Self::keeping) what it has.
    pub fn rest(name: impl Into<String>) -> Self {
        Self::new(name, Share::Rest)
    }

    fn new(name: impl Into<String>, share: Share) -> Self {
        Self {
            name: name.into(),
            group: sharing::Group {
                share,
                ..sharing::Group::default()
            },
        }
    }

    /// This group with a minimum number of replicas.
    #[must_use]
    pub fn at_least(mut self, replicas: i64) -> Self {
        self.group.least = Some(replicas);
        self
    }

    /// This group with a maximum number of replicas.
    #[must_use]
    pub fn at_most(mut self, replicas: i64) -> Self {
        self.group.most = Some(replicas);
        self
    }

    /// This group, divided over its clusters as evenly as room allows, instead of by room.
    #[must_use]
    pub fn evenly(self) -> Self {
        self.divided_by(Rule::Evenly)
    }

    /// This group, divided over as few of its clusters as possible, instead of by room.
    #[must_use]
    pub fn over_the_fewest(self) -> Self {
        self.divided_by(Rule::Fewest)
    }

    fn divided_by(mut self, rule: Rule) -> Self {
        self.group.rule = rule;
        self
    }

    /// The group in the arithmetic, in which every weight is positive.
    fn group(&self) -> sharing::Group {
        match self.group.share {
            Share::Weight(0) => sharing::Group {
                share: Share::Keeps,
                most: Some(self.group.least.unwrap_or(0)),
                ..self.group
            },
            _ => self.group,
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The minimum and the maximum; `None` without a maximum.
    pub fn bounds(&self) -> (i64, Option<i64>) {
        let group = self.group();
        (group.least.unwrap_or(0), group.most)
    }

    #[cfg(all(test, feature = "testing"))]
    pub(super) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }
}

/// Buffers of a call.
#[derive(Default)]
struct Sharing {
    groups: Vec<sharing::Group>,
    group_of: Vec<u32>,
    division: Scratch,
}

impl<P: Plugin, Accepted> AssignContext<'_, P, Accepted> {
    /// Shares the replicas of this call among groups of candidates, and divides what each group gets over its clusters.
    ///
    /// `group_of` is the group of a candidate, as an index of `groups`; a candidate without one gets nothing. The result is exact, and
    /// depends on neither the order of groups nor that of candidates, if the names of the groups differ:
    ///
    /// 1. No cluster gets more than its capacity, and no group less than its minimum or more than its maximum.
    /// 2. The [rest](Group::rest) gets as little as possible. Groups without weights keep what they have as far as possible. Groups with
    ///    weights share by largest remainder within their bounds and their room; what one cannot take goes to the others.
    /// 3. Within a group, clusters keep what they have; growth is in proportion to the room that is left, and shrinkage to what is there.
    ///    [`Group::evenly`] and [`Group::over_the_fewest`] are other rules.
    ///
    /// In a fresh cycle, last replicas do not count. A strategy that returns the result as it is may promise
    /// [`respects_capacity`](crate::plugin::Promises::respects_capacity),
    /// [`order_independent`](crate::plugin::Promises::order_independent) and, unless a group is divided evenly or its weight depends on
    /// more than the policy, [`inert`](crate::plugin::Promises::inert).
    ///
    /// # Errors
    ///
    /// [`Failure::Unschedulable`] names the bounds and the room that contradict each other, none of which can be left out, and states the
    /// nearest count that can be shared. [`Failure::Internal`] if `group_of` returns an index beyond `groups`, or if a bound is negative.
    ///
    /// ```
    /// use divvy_framework::groups::Group;
    /// use divvy_framework::prelude::*;
    ///
    /// /// Two thirds on premises, one third in the cloud, and at most 100 there.
    /// #[derive(Default)]
    /// struct Hybrid;
    ///
    /// impl Plugin for Hybrid {
    ///     const NAME: &'static str = "hybrid";
    ///     const DESCRIPTION: &'static str = "two thirds on premises, one third in the cloud";
    /// }
    ///
    /// impl AssignPlugin for Hybrid {
    ///     const STRATEGIES: &'static [&'static str] = &["Hybrid"];
    ///     const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();
    ///
    ///     fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
    ///         let groups = [Group::weighing("on premises", 2), Group::weighing("cloud", 1).at_most(100)];
    ///         context.share_among(&groups, |candidate| Some(usize::from(!context.cluster(candidate).provider().is_empty())), result)
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario};
    /// let scenario = Scenario::new()
    ///     .cluster(ClusterBuilder::new("cellar").fits_now(30))
    ///     .cluster(ClusterBuilder::new("cloud-1").provider("x").fits_now(80))
    ///     .cluster(ClusterBuilder::new("cloud-2").provider("y").fits_now(40));
    /// assert_eq!(scenario.clone().replicas(30).assign_checked(&Hybrid).unwrap(), [20, 7, 3]);
    /// // The cellar is full, so the cloud takes more than a third.
    /// assert_eq!(scenario.clone().replicas(60).assign_checked(&Hybrid).unwrap(), [30, 20, 10]);
    /// let refused = scenario.replicas(131).assign_checked(&Hybrid).unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "131 replicas cannot be shared: on premises has room for 30; cloud gets at most 100"
    /// );
    /// ```
    pub fn share_among(
        &self,
        groups: &[Group],
        group_of: impl Fn(Candidate) -> Option<usize>,
        result: &mut AssignResult<'_>,
    ) -> Result<(), Failure> {
        let request = self.division_request();
        check_bounds(groups)?;
        with_scratch(|memory: &mut Sharing| {
            let Sharing {
                groups: shared,
                group_of: numbers,
                division,
            } = memory;
            shared.clear();
            shared.extend(groups.iter().map(|group| sharing::Group {
                tie: tie_key(self.seed(), identity_hash(&group.name)),
                ..group.group()
            }));
            numbers.clear();
            for candidate in self.candidates() {
                numbers.push(match group_of(candidate) {
                    None => groups.len() as u32,
                    Some(group) if group < groups.len() => group as u32,
                    Some(group) => {
                        let (cluster, groups) = (self.cluster(candidate).name(), groups.len());
                        return Err(Failure::internal(format!(
                            "`share_among`: cluster `{cluster}` is in group {group}, but there are {groups}"
                        )));
                    }
                });
            }
            if groups.is_empty() && request.replicas > 0 {
                return Err(Failure::too_small(request.replicas, 0));
            }
            let out = result.replicas();
            let divided = sharing::share(
                &request,
                shared,
                numbers,
                Rounding::default(),
                self.ties(),
                out,
                division,
            );
            divided.map_err(|error| match error {
                SharingError::Division(DivisionError::Unschedulable { .. }) | SharingError::Unsatisfiable { .. } => {
                    match sharing::contradiction(&request, shared, numbers) {
                        Ok(found) => refusal(request.replicas, groups, found),
                        Err(error) => error.into(),
                    }
                }
                SharingError::Division(error) => error.into(),
                error => Failure::unschedulable(error.to_string()),
            })
        })
    }
}

/// Refuses a negative bound: a plugin has computed it.
fn check_bounds(groups: &[Group]) -> Result<(), Failure> {
    for Group { name, group } in groups {
        for bound in [group.least, group.most] {
            if let Some(count @ ..0) = bound {
                let message = format!("`share_among`: a bound of the group `{name}` is {count}, expected 0 or more");
                return Err(Failure::internal(message));
            }
        }
    }
    Ok(())
}

/// The failure for bounds and room that contradict each other.
fn refusal(replicas: i64, groups: &[Group], Contradiction { constraints, instead }: Contradiction) -> Failure {
    let mut message = format!("{replicas} replicas cannot be shared");
    for (number, Constraint { group, limit }) in constraints.iter().enumerate() {
        let name = groups.get(*group).map_or("", Group::name);
        message.push_str(if number == 0 { ": " } else { "; " });
        // Writing to a string cannot fail.
        _ = match limit {
            Limit::Exactly(count) => write!(message, "{name} gets exactly {count}"),
            Limit::Least(count) => write!(message, "{name} gets at least {count}"),
            Limit::Most(count) => write!(message, "{name} gets at most {count}"),
            Limit::Room { candidates: 0, .. } => write!(message, "{name} has no candidate"),
            Limit::Room { available, .. } => write!(message, "{name} has room for {available}"),
        };
    }
    let failure = Failure::unschedulable(message);
    match instead {
        Some(count) => failure.with_figures(replicas, count),
        None => failure,
    }
}
