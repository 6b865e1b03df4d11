//! The bound on a seat's value, near which the last seats of Webster's method lie.
//!
//! It is computed on the inverse of the value, (2t + 1) / weight for seat t, in fixed point: the number of a
//! candidate's seats below a bound is exactly one multiplication and a shift. The bound itself is estimated in doubles,
//! which affects the number of seats that remain to be compared, but never which of them win.

use super::columns::ColumnSummary;

#[inline]
pub(super) fn bits_of(value: u128) -> u32 {
    u128::BITS - value.leading_zeros()
}

/// Bounds on the inverse of the value, in units of 2^-fraction_bits.
///
/// Seat t of a candidate is below the bound y if (2t + 1) / weight <= y, that is, if 2t + 1 <= floor(weight × y).
pub(super) struct FixedPoint {
    fraction_bits: u32,
    /// Left shift that makes the largest weight use all 64 bits, so that the upper half of a product suffices.
    weight_shift: u32,
    /// Sum of the weights.
    sum: u128,
}

impl FixedPoint {
    /// A scale on which the bound has about 62 bits, or only 30 if its products with a weight then fit into 64 bits and
    /// that resolution still separates the seats.
    #[inline]
    pub(super) fn fitting(total: u64, candidates: usize, summary: ColumnSummary) -> Self {
        let odds = bits_of(2 * u128::from(total) + candidates as u128);
        let weight_bits = u64::BITS - summary.bits.leading_zeros();
        let bound_bits = if weight_bits <= 31 && odds <= 34 { 30 } else { 62 };
        Self {
            fraction_bits: (bound_bits + bits_of(summary.sum)).saturating_sub(odds),
            weight_shift: summary.bits.leading_zeros(),
            sum: summary.sum,
        }
    }

    /// `numerator` / `denominator` on this scale, to the precision of a double.
    #[inline]
    fn scaled(&self, numerator: u128, denominator: u128) -> u64 {
        let unit = f64::from_bits(u64::from(1023 + self.fraction_bits) << 52);
        (numerator as f64 / denominator as f64 * unit) as u64
    }

    /// True if the products of any weight with this bound fit into 64 bits.
    #[inline]
    fn is_narrow(&self, bound: u64) -> bool {
        bound.leading_zeros() + self.weight_shift >= u64::BITS && self.fraction_bits < u64::BITS
    }

    /// A counter of the seats that a weight has below the bound. Its method is chosen once per bound, not per
    /// candidate.
    pub(super) fn counter(&self, bound: u64) -> SeatCounter {
        let shift = self.fraction_bits + self.weight_shift;
        if self.is_narrow(bound) {
            SeatCounter::Narrow {
                bound,
                shift: self.fraction_bits,
            }
        } else if shift >= u64::BITS {
            SeatCounter::UpperHalf {
                bound,
                weight_shift: self.weight_shift,
                shift: shift - u64::BITS,
            }
        } else {
            SeatCounter::Wide {
                bound,
                shift: self.fraction_bits,
            }
        }
    }

    #[inline]
    fn all_seats(&self, weights: &[i64], bound: u64) -> u128 {
        match self.counter(bound) {
            SeatCounter::Narrow { bound, shift } if (self.sum * u128::from(bound)) >> shift < 1 << 62 => {
                let seats = |weight: i64| (((weight.cast_unsigned() * bound) >> shift) + 1) >> 1;
                weights.iter().map(|&weight| seats(weight)).sum::<u64>().into()
            }
            counter => weights
                .iter()
                .map(|&weight| u128::from(counter.seats(weight.cast_unsigned())))
                .sum(),
        }
    }
}

/// Counts seats below one bound; exact in each variant.
#[derive(Debug, Clone, Copy)]
pub(super) enum SeatCounter {
    /// The product fits into 64 bits.
    Narrow {
        /// The bound.
        bound: u64,
        /// Bits after the point.
        shift: u32,
    },
    /// Only the upper half of a product of 128 bits matters.
    UpperHalf {
        /// The bound.
        bound: u64,
        /// Left shift of the weight.
        weight_shift: u32,
        /// Bits after the point in the upper half.
        shift: u32,
    },
    /// The product takes 128 bits.
    Wide {
        /// The bound.
        bound: u64,
        /// Bits after the point.
        shift: u32,
    },
}

impl SeatCounter {
    /// Number of seats of a candidate of this weight that lie below the bound.
    #[inline]
    pub(super) fn seats(self, weight: u64) -> u64 {
        let odds = match self {
            Self::Narrow { bound, shift } => (weight * bound) >> shift,
            Self::UpperHalf {
                bound,
                weight_shift,
                shift,
            } => {
                let product = u128::from(weight << weight_shift) * u128::from(bound);
                ((product >> 64) as u64).checked_shr(shift).unwrap_or(0)
            }
            Self::Wide { bound, shift } => {
                let product = u128::from(weight) * u128::from(bound);
                u64::try_from(product >> shift).unwrap_or(u64::MAX)
            }
        };
        odds / 2 + odds % 2
    }
}

/// Two bounds between which the total's last seat lies.
pub(super) struct Bracket {
    pub(super) low: u64,
    pub(super) high: u64,
    /// At most the total.
    seats_at_low: u128,
    /// At least the total.
    seats_at_high: u128,
}

impl Bracket {
    /// A bracket around the point where the total should lie.
    ///
    /// Rounding moves each candidate by up to half a seat either way, and most of these errors cancel out: at the bound
    /// that is proportional to the weights, the number of seats misses the total by about the square root of the number
    /// of candidates. So the second bound is placed just beyond the missing seats, and farther away only if that fails.
    pub(super) fn around(total: u64, weights: &[i64], summary: ColumnSummary, scale: &FixedPoint) -> Self {
        let wanted = u128::from(total);
        let mut near = scale.scaled(2 * wanted, summary.sum).max(1);
        let mut seats_near = scale.all_seats(weights, near);
        let margin = u128::from(weights.len().isqrt() as u64 / 2 + 2);
        let mut distance = seats_near.abs_diff(wanted) + margin;
        // Each step at least doubles the distance, so the end of the scale limits the number of steps.
        loop {
            let step = scale.scaled(2 * distance, summary.sum).max(1);
            let goes_up = seats_near < wanted;
            let far = if goes_up {
                near.saturating_add(step)
            } else {
                near.saturating_sub(step)
            };
            let seats_far = scale.all_seats(weights, far);
            let (low, high) = if goes_up {
                ((near, seats_near), (far, seats_far))
            } else {
                ((far, seats_far), (near, seats_near))
            };
            let is_at_end = if goes_up { far == u64::MAX } else { far == 0 };
            if (low.1 <= wanted && high.1 >= wanted) || is_at_end {
                return Self {
                    low: low.0,
                    high: high.0,
                    seats_at_low: low.1,
                    seats_at_high: high.1,
                };
            }
            (near, seats_near) = (far, seats_far);
            distance = distance.saturating_mul(4);
        }
    }

    /// Moves the bounds closer as long as that pays off: a pass costs less than comparing seats of a quarter of the
    /// candidates.
    ///
    /// Interpolation takes a few passes, unless many quotients are equal. If totals are so large that doubles cannot
    /// resolve a seat, bisection takes over until about two seats per candidate are inside.
    pub(super) fn narrow(&mut self, total: u64, weights: &[i64], scale: &FixedPoint) {
        const INTERPOLATIONS_MAX: usize = 4;
        let total = u128::from(total);
        let few = (weights.len() / 4).max(16) as u128;
        let enough = 2 * weights.len() as u128;
        // Bisection halves a range of 64 bits, and a range of one holds at most two seats per candidate.
        for pass in 0..INTERPOLATIONS_MAX + u64::BITS as usize {
            let inside = self.seats_at_high.saturating_sub(self.seats_at_low);
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

    /// A bound strictly inside the bracket, near the point where the total should lie.
    #[inline]
    fn interpolated(&self, total: u128, inside: u128) -> u64 {
        // Aim slightly past the total, so that the bound that is farther away moves.
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

    /// Widens the bracket to include every seat whose quotient rounds to the same double as one inside.
    #[inline]
    pub(super) fn widen_by_rounding(&mut self) {
        // Two roundings of 2^-53 on either side: 2^-48 is more than enough.
        self.low = self.low.saturating_sub((self.low >> 48) + 1);
        self.high = self.high.saturating_add((self.high >> 48) + 1);
    }
}
