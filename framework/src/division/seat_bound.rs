//! The bound on a seat's value, near which Webster's last seats lie.
//!
//! Works on the inverse, (2t + 1) / weight for seat t, in fixed point: how many seats of a candidate lie below a bound is
//! one multiplication and a shift, exactly. Where the bound is placed is estimated in doubles, which decides how many
//! seats remain to be compared and never which of them win.

use super::columns::ColumnSummary;

pub(super) fn bits_of(value: u128) -> u32 {
    u128::BITS - value.leading_zeros()
}

/// Bounds on the inverse of the value, in units of 2^-fraction_bits.
///
/// Seat t of a candidate lies below the bound y if (2t + 1) / weight <= y, that is 2t + 1 <= floor(weight × y).
pub(super) struct FixedPoint {
    fraction_bits: u32,
    /// Left shift that makes the largest weight use all 64 bits, so that the upper half of a product suffices.
    weight_shift: u32,
}

impl FixedPoint {
    /// A scale on which the sought bound has about 62 bits.
    pub(super) fn fitting(total: u64, candidates: usize, summary: ColumnSummary) -> Self {
        let odds = bits_of(2 * u128::from(total) + candidates as u128);
        Self {
            fraction_bits: (62 + bits_of(summary.sum)).saturating_sub(odds),
            weight_shift: summary.bits.leading_zeros(),
        }
    }

    /// `numerator` / `denominator` on this scale, to the precision of a double.
    fn place(&self, numerator: u128, denominator: u128) -> u64 {
        let unit = f64::from_bits(u64::from(1023 + self.fraction_bits) << 52);
        (numerator as f64 / denominator as f64 * unit) as u64
    }

    /// Number of seats of a candidate of this weight that lie below the bound.
    pub(super) fn seats(&self, weight: u64, bound: u64) -> u64 {
        let shift = self.fraction_bits + self.weight_shift;
        let odds = if shift >= u64::BITS {
            let product = u128::from(weight << self.weight_shift) * u128::from(bound);
            ((product >> 64) as u64).checked_shr(shift - u64::BITS).unwrap_or(0)
        } else {
            let product = u128::from(weight) * u128::from(bound);
            u64::try_from(product >> self.fraction_bits).unwrap_or(u64::MAX)
        };
        odds / 2 + odds % 2
    }

    fn all_seats(&self, weights: &[i64], bound: u64) -> u128 {
        let mut sum = 0_u128;
        for &weight in weights {
            sum += u128::from(self.seats(weight.cast_unsigned(), bound));
        }
        sum
    }
}

/// Two bounds between which the total's last seat lies.
pub(super) struct Bracket {
    pub(super) low: u64,
    pub(super) high: u64,
    /// At most the total.
    pub(super) seats_at_low: u128,
    /// At least the total.
    seats_at_high: u128,
}

impl Bracket {
    /// A bracket that holds about two seats a candidate: rounding moves each by half a seat either way.
    pub(super) fn around(total: u64, weights: &[i64], summary: ColumnSummary, scale: &FixedPoint) -> Self {
        let (twice, candidates) = (2 * u128::from(total), weights.len() as u128);
        let total = u128::from(total);
        // Half a seat either way is what rounding moves a candidate; a double is good for 2^-53 of the bound.
        let highest = scale.place(twice + candidates, summary.sum);
        let mut high = highest.saturating_add((highest >> 50) + 1);
        let mut seats_at_high = scale.all_seats(weights, high);
        while seats_at_high < total && high < u64::MAX {
            high = high.saturating_mul(2);
            seats_at_high = scale.all_seats(weights, high);
        }
        let lowest = scale.place(twice.saturating_sub(candidates), summary.sum);
        let mut low = lowest.saturating_sub((lowest >> 50) + 1);
        let mut seats_at_low = scale.all_seats(weights, low);
        while seats_at_low > total {
            low /= 2;
            seats_at_low = scale.all_seats(weights, low);
        }
        Self {
            low,
            high,
            seats_at_low,
            seats_at_high,
        }
    }

    /// Moves the bounds closer while that pays: a pass costs less than comparing an eighth of the candidates' seats.
    ///
    /// Interpolation settles it in a few passes unless many quotients are equal. Where totals are so large that doubles
    /// cannot resolve a seat, halving takes over until about two seats a candidate are inside.
    pub(super) fn narrow(&mut self, total: u64, weights: &[i64], scale: &FixedPoint) {
        const INTERPOLATIONS_MAX: usize = 8;
        let total = u128::from(total);
        let few = (weights.len() / 8).max(8) as u128;
        let enough = 2 * weights.len() as u128;
        // Each halving at least halves a range of 64 bits, and a range of one holds at most two seats a candidate.
        for pass in 0..INTERPOLATIONS_MAX + u64::BITS as usize {
            let inside = self.seats_at_high - self.seats_at_low;
            let interpolates = pass < INTERPOLATIONS_MAX;
            if inside <= (if interpolates { few } else { enough }) || self.high - self.low <= 1 {
                return;
            }
            let bound = if interpolates {
                self.interpolated(total, inside)
            } else {
                self.low + (self.high - self.low) / 2
            };
            let seats = scale.all_seats(weights, bound);
            if seats <= total {
                (self.low, self.seats_at_low) = (bound, seats);
            } else {
                (self.high, self.seats_at_high) = (bound, seats);
            }
        }
    }

    /// A bound strictly inside, near where the total should lie.
    fn interpolated(&self, total: u128, inside: u128) -> u64 {
        // Aim a little past the total, so that the bound that is farther away moves.
        let below = total - self.seats_at_low;
        let margin = inside / 16 + 1;
        let aim = if below > inside / 2 {
            below.saturating_sub(margin)
        } else {
            below + margin
        };
        let step = (self.high - self.low) as f64 * (aim as f64 / inside as f64);
        self.low.saturating_add(step as u64).clamp(self.low + 1, self.high - 1)
    }

    /// Takes in every seat whose quotient rounds to the same double as one inside.
    pub(super) fn widen_by_rounding(&mut self, weights: &[i64], scale: &FixedPoint) {
        // Two roundings of 2^-53 on either side; 2^-48 is far outside.
        self.low = self.low.saturating_sub((self.low >> 48) + 1);
        self.high = self.high.saturating_add((self.high >> 48) + 1);
        self.seats_at_low = scale.all_seats(weights, self.low);
        self.seats_at_high = scale.all_seats(weights, self.high);
    }
}
