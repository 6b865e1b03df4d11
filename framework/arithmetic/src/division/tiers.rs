//! The tier walk: divides the replicas over the tiers of candidates.
//!
//! Tiers are served best first (`proposals/priority-aggregated.md`, "Motivation"; README of the plugin
//! `priority-aggregated`):
//!
//! * steady growth: each tier keeps its replicas, and the extra ones go to the best tier up to what fits there now,
//!   then to the next;
//! * steady shrinkage: the worst tier is drained first;
//! * fresh, and Karmada's overflow tiers: each tier takes min(left, capacity), starting with the best.
//!
//! The strategy divides a tier's quota within the tier. A quota always fits its tier, except in the last one under
//! [`LastTier::TakesTheRest`].

use super::columns::check_length;
use super::error::DivisionError;
use super::request::{Change, Request};
use super::scratch::Scratch;

/// The treatment of replicas that exceed the capacity of all tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LastTier {
    /// No tier gets more than its capacity. Too little capacity overall is an error.
    #[default]
    WithinCapacity,
    /// The last tier that has candidates takes all remaining replicas. For strategies that ignore capacity, such as
    /// StaticWeight.
    TakesTheRest,
}

/// Writes to `quotas` the number of replicas per tier. The quotas add up to `request.replicas`.
///
/// * `tier_of`: the tier of each candidate, 0 being the best, below `quotas.len()`. Tiers may be empty.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together have room for fewer than
/// `request.replicas` (under [`LastTier::TakesTheRest`]: only without any candidate).
/// [`TierOutOfRange`](DivisionError::TierOutOfRange) if a candidate's tier has no quota. Other errors for columns of
/// different lengths, negative input and a sum of `last` that exceeds 64 bits.
///
/// ```
/// use divvy_framework::division::{tiers::{divide_among_tiers, LastTier}, Cycle, Request, Scratch};
///
/// let (mut quotas, mut scratch) = ([0; 2], Scratch::default());
/// let request = Request::new(28, &[10; 4], &[0; 4], Cycle::Steady);
/// divide_among_tiers(&request, &[0, 0, 1, 1], LastTier::WithinCapacity, &mut quotas, &mut scratch)?;
/// assert_eq!(quotas, [20, 8]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn divide_among_tiers(
    request: &Request<'_>,
    tier_of: &[u32],
    last_tier: LastTier,
    quotas: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let (change, available) = request.change_and_available()?;
    check_length("tier_of", tier_of.len(), request.fits_now.len())?;
    check_tiers(tier_of, quotas.len())?;
    let overflow_tier = tier_of
        .iter()
        .copied()
        .max()
        .filter(|_| last_tier == LastTier::TakesTheRest);
    if available < request.replicas && overflow_tier.is_none() {
        return Err(request.unschedulable(available));
    }

    // The quotas start as the replicas that each tier keeps.
    quotas.fill(0);
    if change != Change::Anew {
        for (&tier, &last) in tier_of.iter().zip(request.last) {
            // Cannot overflow: `change_and_available` has checked the sum of the last replicas.
            quotas[tier as usize] += last;
        }
    }
    let mut left = match change {
        Change::Nothing => 0,
        Change::Growth(extra) => extra,
        Change::Anew => request.replicas,
        Change::Shrinkage => {
            let mut left = request.replicas;
            // Keeping replicas from the best tier on equals draining from the worst.
            for quota in quotas.iter_mut() {
                *quota = left.min(*quota);
                left -= *quota;
            }
            0
        }
    };
    if left == 0 {
        return Ok(());
    }

    // Add up the room of each tier, then hand out the remaining replicas from the best tier on.
    let rooms = &mut scratch.gathered.weights;
    rooms.clear();
    rooms.resize(quotas.len(), 0);
    for (index, &tier) in tier_of.iter().enumerate() {
        let room = &mut rooms[tier as usize];
        *room = room.saturating_add(if change == Change::Anew {
            request.capacity(index)
        } else {
            request.fits_now[index]
        });
    }
    for (quota, &room) in quotas.iter_mut().zip(rooms.iter()) {
        let taken = left.min(room);
        *quota += taken;
        left -= taken;
    }
    if let Some(tier) = overflow_tier {
        quotas[tier as usize] += left;
    }
    Ok(())
}

#[inline]
pub(super) fn check_tiers(tier_of: &[u32], tiers: usize) -> Result<(), DivisionError> {
    match tier_of.iter().position(|&tier| tier as usize >= tiers) {
        None => Ok(()),
        Some(index) => Err(DivisionError::TierOutOfRange {
            index,
            tier: tier_of[index],
            tiers,
        }),
    }
}

/// The candidates of each tier, in the order of the input. Can be rebuilt for each binding without allocating.
#[derive(Debug, Default)]
pub struct TierMembers {
    distinct_priorities: Vec<i64>,
    tier_of: Vec<u32>,
    /// Start of each tier in `members`, then the end of the last one.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl TierMembers {
    /// Makes one tier per distinct priority, the largest first.
    ///
    /// ```
    /// use divvy_framework::division::tiers::TierMembers;
    ///
    /// let mut tiers = TierMembers::default();
    /// tiers.rebuild_from_priorities(&[1, 7, 1])?;
    /// assert_eq!(tiers.tier_of(), [1, 0, 1]);
    /// assert_eq!(tiers.members(1), [0, 2]);
    /// # Ok::<(), divvy_framework::division::DivisionError>(())
    /// ```
    ///
    /// # Errors
    /// [`TooManyCandidates`](DivisionError::TooManyCandidates) if a 32-bit index cannot address all candidates.
    pub fn rebuild_from_priorities(&mut self, priorities: &[i64]) -> Result<(), DivisionError> {
        check_length("priorities", priorities.len(), priorities.len())?;
        self.distinct_priorities.clear();
        self.distinct_priorities.extend_from_slice(priorities);
        // Usually there are few distinct values, which makes this sort nearly linear.
        self.distinct_priorities
            .sort_unstable_by_key(|&priority| std::cmp::Reverse(priority));
        self.distinct_priorities.dedup();
        self.tier_of.clear();
        self.tier_of.extend(priorities.iter().map(|&priority| {
            // Every priority is in the list, so the search always returns `Ok`.
            let found = self.distinct_priorities.binary_search_by(|other| priority.cmp(other));
            found.unwrap_or_else(|position| position) as u32
        }));
        let tiers = self.distinct_priorities.len();
        self.group(tiers);
        Ok(())
    }

    /// Groups the candidates by the given tiers; `tiers` is the number of tiers.
    ///
    /// # Errors
    /// [`TierOutOfRange`](DivisionError::TierOutOfRange) if a candidate's tier is not below `tiers`;
    /// [`TooManyCandidates`](DivisionError::TooManyCandidates) if a 32-bit index cannot address all candidates.
    #[inline]
    pub fn rebuild_from_tiers(&mut self, tier_of: &[u32], tiers: usize) -> Result<(), DivisionError> {
        check_length("tier_of", tier_of.len(), tier_of.len())?;
        check_tiers(tier_of, tiers)?;
        self.tier_of.clear();
        self.tier_of.extend_from_slice(tier_of);
        self.group(tiers);
        Ok(())
    }

    /// Number of tiers.
    #[must_use]
    #[inline]
    pub fn tiers(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The tier of each candidate.
    #[must_use]
    #[inline]
    pub fn tier_of(&self) -> &[u32] {
        &self.tier_of
    }

    /// Indices of the candidates of a tier; empty for a tier that does not exist.
    #[must_use]
    #[inline]
    pub fn members(&self, tier: usize) -> &[u32] {
        match self.starts.get(tier..=tier.saturating_add(1)) {
            Some(&[start, end]) => &self.members[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Groups the candidates by tier with a counting sort.
    fn group(&mut self, tiers: usize) {
        self.starts.clear();
        self.starts.resize(tiers + 1, 0);
        for &tier in &self.tier_of {
            self.starts[tier as usize + 1] += 1;
        }
        for tier in 0..tiers {
            self.starts[tier + 1] += self.starts[tier];
        }
        self.members.clear();
        self.members.resize(self.tier_of.len(), 0);
        // Writing its members moves each start to the end of its tier, which is the start of the next. One rotation
        // restores the starts.
        for (index, &tier) in self.tier_of.iter().enumerate() {
            let end = &mut self.starts[tier as usize];
            self.members[*end as usize] = index as u32;
            *end += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }
}
