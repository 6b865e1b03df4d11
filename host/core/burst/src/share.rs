//! What each binding of a burst could have had, and what it gets.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};

use divvy_scheduler::fleet::Ledger;
use divvy_scheduler::fleet::estimate::estimate;

use crate::Burst;
use crate::member::{Member, Placeable, sum};
use crate::planning::release;

/// A binding's share of the room that a burst competes for. As a text: `room for 40, given 12: the rest is kept for 3 bindings of higher
/// priority`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Replicas for which its clusters have room before any binding of the burst is placed.
    pub room: i64,
    /// Replicas that it gets beyond those that run and stay.
    pub given: i64,
    /// Replicas that it needs beyond those that run and stay.
    pub wanted: i64,
    /// Other bindings of the burst that get replicas in the same clusters and have a higher priority.
    pub higher: usize,
    /// The same, with the same priority.
    pub equal: usize,
    /// The same, with a lower priority.
    pub lower: usize,
}

impl Share {
    /// True if some of its replicas are not placed.
    pub fn waits(&self) -> bool {
        self.given < self.wanted
    }
}

impl Display for Share {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "room for {}, given {}", self.room, self.given)?;
        let counts = [(self.higher, "higher"), (self.equal, "equal"), (self.lower, "lower")];
        let some: Vec<(usize, &str)> = counts.into_iter().filter(|(count, _)| *count > 0).collect();
        let all: usize = some.iter().map(|(count, _)| count).sum();
        let bindings = if all == 1 { "binding" } else { "bindings" };
        match some.as_slice() {
            _ if self.room <= self.given => Ok(()),
            [] => Ok(()),
            [(count, which)] => write!(
                formatter,
                ": the rest is kept for {count} {bindings} of {which} priority"
            ),
            several => {
                let texts: Vec<String> = several
                    .iter()
                    .map(|(count, which)| format!("{count} of {which}"))
                    .collect();
                let texts = texts.join(", ");
                write!(
                    formatter,
                    ": the rest is kept for {all} other {bindings}, {texts} priority"
                )
            }
        }
    }
}

/// The share of each member; `None` if no plan may place it. `growth` has what each placeable member gets.
pub(crate) fn shares(
    burst: &Burst<'_>,
    members: &[Member<'_>],
    placeable: &[Placeable],
    growth: &[&Vec<(u32, u64)>],
) -> Vec<Option<Share>> {
    let mut before = burst.ledger.clone();
    placeable.iter().for_each(|one| release(&mut before, one));
    let rooms = divvy_parallel::map(placeable, burst.threads, || {
        let mut fits = Vec::new();
        let before = &before;
        move |one: &Placeable| room(burst, &members[one.number], one, before, &mut fits)
    });
    let mut shares = vec![None; members.len()];
    let mut lists: HashMap<*const divvy_joint::Choice, BTreeMap<i32, usize>> = HashMap::new();
    for ((one, room), rows) in placeable.iter().zip(rooms).zip(growth) {
        let counts = lists
            .entry(one.choices.as_ptr())
            .or_insert_with(|| users(burst, one, placeable, growth));
        let own = usize::from(!rows.is_empty());
        let count = |ordering: Ordering| -> usize {
            let others = counts
                .iter()
                .filter(|(priority, _)| (*priority).cmp(&one.priority) == ordering);
            others.map(|(_, count)| count).sum()
        };
        let given = i64::try_from(sum(rows)).unwrap_or(i64::MAX);
        shares[one.number] = Some(Share {
            room: room.max(given),
            given,
            wanted: i64::try_from(one.wanted).unwrap_or(i64::MAX),
            higher: count(Ordering::Greater),
            equal: count(Ordering::Equal).saturating_sub(own),
            lower: count(Ordering::Less),
        });
    }
    shares
}

/// How many replicas of a member fit if nothing of the burst is placed.
fn room(burst: &Burst<'_>, member: &Member<'_>, one: &Placeable, before: &Ledger, fits: &mut Vec<i64>) -> i64 {
    let Ok(plan) = member.plan.as_ref() else { return 0 };
    let rows: Vec<u32> = one.choices.iter().map(|choice| choice.cluster).collect();
    fits.clear();
    fits.resize(rows.len(), 0);
    let clusters = burst.fleet.snapshot().clusters();
    estimate(&clusters, &rows, &plan.demand, plan.replicas, Some(before), fits);
    fits.iter().fold(0, |all, fits| all.saturating_add(*fits))
}

/// By priority, the members that get replicas in clusters that one of them may use.
fn users(
    burst: &Burst<'_>,
    one: &Placeable,
    placeable: &[Placeable],
    growth: &[&Vec<(u32, u64)>],
) -> BTreeMap<i32, usize> {
    let mut is_choice = vec![false; burst.fleet.len()];
    one.choices
        .iter()
        .for_each(|choice| is_choice[choice.cluster as usize] = true);
    let mut counts = BTreeMap::new();
    for (other, rows) in placeable.iter().zip(growth) {
        if rows.iter().any(|(row, _)| is_choice[*row as usize]) {
            *counts.entry(other.priority).or_insert(0) += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_says_what_the_rest_is_for() {
        let text = |room, given, higher, equal, lower| {
            let share = Share {
                room,
                given,
                wanted: 12,
                higher,
                equal,
                lower,
            };
            share.to_string()
        };
        assert_eq!(
            text(40, 12, 3, 0, 0),
            "room for 40, given 12: the rest is kept for 3 bindings of higher priority"
        );
        assert_eq!(
            text(40, 0, 0, 1, 0),
            "room for 40, given 0: the rest is kept for 1 binding of equal priority"
        );
        assert_eq!(
            text(40, 12, 2, 3, 1),
            "room for 40, given 12: the rest is kept for 6 other bindings, 2 of higher, 3 of equal, 1 of lower priority"
        );
        assert_eq!(text(12, 12, 1, 0, 0), "room for 12, given 12");
        assert_eq!(text(40, 12, 0, 0, 0), "room for 40, given 12");
    }
}
