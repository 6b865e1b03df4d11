//! The cost of pods by the hour: what they request, times a price per CPU, GiB of memory and GPU.
//!
//! A cost is a whole number of parts of which [`Cost::PARTS`] are one unit of the prices' currency. A price has six digits
//! after the decimal point, a CPU has a thousand parts and a GiB has 2³⁰ bytes: with the least common multiple of these as
//! the denominator, products and sums are exact, and a cost is rounded only when it is printed. A decimal type with a fixed
//! number of digits would round a price per byte, and a floating-point number every sum.
//!
//! The unit is any that the prices are written in: a currency, or grams of carbon dioxide. A missing price is an error, never
//! zero: [`CostError::Missing`].

mod text;

pub use text::InvalidCost;

/// Digits after the decimal point of a price.
pub const PRICE_SCALE: u32 = 6;

/// Bytes of a GiB, which memory is priced by.
const BYTES_PER_GIB: i128 = 1 << 30;

/// The least common multiple of a thousand and of [`BYTES_PER_GIB`].
const PARTS_PER_PRICE: i128 = 125 * BYTES_PER_GIB;

/// A resource with a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Priced {
    /// CPUs, in thousandths.
    Cpu,
    /// Memory, in bytes.
    Memory,
    /// GPUs.
    Gpu,
}

impl Priced {
    /// All of them, in the order in which costs are added up.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Memory, Self::Gpu];

    /// The amount that a price is for: `CPU`, `GiB` or `GPU`.
    pub const fn amount(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Memory => "GiB",
            Self::Gpu => "GPU",
        }
    }

    /// Parts of a cost for a thousandth of a CPU, a byte or a GPU with a price of 0.000001.
    const fn parts(self) -> i128 {
        match self {
            Self::Cpu => PARTS_PER_PRICE / 1000,
            Self::Memory => PARTS_PER_PRICE / BYTES_PER_GIB,
            Self::Gpu => PARTS_PER_PRICE,
        }
    }
}

/// Amounts of the priced resources, such as the requests of a replica.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    cpu: i128,
    memory: i128,
    gpu: i128,
}

impl Amounts {
    /// Adds a request by the name of its resource, in the units of a snapshot: thousandths of a CPU, bytes of memory, GPUs.
    /// `gpu` is the name of the resource that counts GPUs. Resources without a price and quantities below 1 are ignored.
    #[must_use]
    pub fn with(self, resource: &str, quantity: i64, gpu: &str) -> Self {
        let quantity = i128::from(quantity);
        let nothing = Self::default();
        self.plus(match resource {
            "cpu" => Self {
                cpu: quantity,
                ..nothing
            },
            "memory" => Self {
                memory: quantity,
                ..nothing
            },
            other if other == gpu => Self {
                gpu: quantity,
                ..nothing
            },
            _ => nothing,
        })
    }

    /// Adds amounts so many times, as for the replicas of a component. A count below 1 adds nothing.
    #[must_use]
    pub fn with_each(self, each: Self, count: i64) -> Self {
        let times = |amount: i128| amount.saturating_mul(i128::from(count));
        self.plus(Self {
            cpu: times(each.cpu),
            memory: times(each.memory),
            gpu: times(each.gpu),
        })
    }

    /// An amount that does not fit costs more than [`Cost::MAX`] with any price but zero, so no cost is wrong.
    fn plus(self, other: Self) -> Self {
        let sum = |amount: i128, added: i128| amount.saturating_add(added.max(0));
        Self {
            cpu: sum(self.cpu, other.cpu),
            memory: sum(self.memory, other.memory),
            gpu: sum(self.gpu, other.gpu),
        }
    }

    /// True if no priced resource is requested, so that the cost is zero with any prices.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// True if some of a resource is requested.
    pub fn has(self, priced: Priced) -> bool {
        self.of(priced) > 0
    }

    fn of(self, priced: Priced) -> i128 {
        match priced {
            Priced::Cpu => self.cpu,
            Priced::Memory => self.memory,
            Priced::Gpu => self.gpu,
        }
    }
}

/// Prices for an hour, with [`PRICE_SCALE`] digits after the decimal point: 30,000 is 0.03. `None` if a price is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prices {
    /// Price of a CPU.
    pub cpu: Option<i64>,
    /// Price of a GiB of memory.
    pub memory: Option<i64>,
    /// Price of a GPU.
    pub gpu: Option<i64>,
}

impl Prices {
    /// The cost of these amounts for an hour. Only prices of resources with an amount are needed.
    ///
    /// # Errors
    ///
    /// [`CostError::Missing`] or [`CostError::Negative`] for the first such price, [`CostError::TooLarge`] beyond [`Cost::MAX`].
    pub fn cost(self, amounts: Amounts) -> Result<Cost, CostError> {
        Priced::ALL.into_iter().try_fold(Cost::ZERO, |cost, priced| {
            let part = self.cost_of(priced, amounts)?;
            cost.plus(part).ok_or(CostError::TooLarge)
        })
    }

    /// The part of the cost for one resource, which is zero if none of it is requested.
    ///
    /// # Errors
    ///
    /// As [`Self::cost`], for this resource.
    pub fn cost_of(self, priced: Priced, amounts: Amounts) -> Result<Cost, CostError> {
        if !amounts.has(priced) {
            return Ok(Cost::ZERO);
        }
        let price = match priced {
            Priced::Cpu => self.cpu,
            Priced::Memory => self.memory,
            Priced::Gpu => self.gpu,
        };
        let price = price.ok_or(CostError::Missing { priced })?;
        if price < 0 {
            return Err(CostError::Negative { priced, price });
        }
        let product = i128::from(price).checked_mul(amounts.of(priced));
        product
            .and_then(|product| product.checked_mul(priced.parts()))
            .and_then(Cost::bounded)
            .ok_or(CostError::TooLarge)
    }
}

/// Reason why a cost is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// A resource is requested whose price is missing.
    #[error("no price per {} hour", .priced.amount())]
    Missing {
        /// The resource.
        priced: Priced,
    },
    /// A price is negative.
    #[error("the price per {} hour is {}, expected at least 0", .priced.amount(), Cost::from_price(*.price))]
    Negative {
        /// The resource.
        priced: Priced,
        /// Its price, with [`PRICE_SCALE`] digits after the decimal point.
        price: i64,
    },
    /// The cost is larger than [`Cost::MAX`].
    #[error("a cost is more than {}", Cost::MAX)]
    TooLarge,
}

/// An exact cost, or a difference of two.
///
/// It is printed with four digits after the decimal point, more if it is below 0.001, or as many as the format asks for, at most nine. The last one is
/// rounded half away from zero, as a price list does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(i128);

impl Cost {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The largest cost, about ten billion billion units. The smallest is its opposite.
    pub const MAX: Self = Self(i128::MAX / 128);

    /// Parts of one unit.
    pub const PARTS: i128 = 10_i128.pow(PRICE_SCALE) * PARTS_PER_PRICE;

    fn bounded(parts: i128) -> Option<Self> {
        (-Self::MAX.0..=Self::MAX.0).contains(&parts).then_some(Self(parts))
    }

    /// A price with [`PRICE_SCALE`] digits after the decimal point, as a cost.
    pub const fn from_price(price: i64) -> Self {
        Self(price as i128 * PARTS_PER_PRICE)
    }

    /// The sum; `None` beyond [`Self::MAX`].
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0 + other.0)
    }

    /// The difference; `None` beyond [`Self::MAX`].
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        Self::bounded(self.0 - other.0)
    }

    /// The cost of so many; `None` beyond [`Self::MAX`].
    #[must_use]
    pub fn times(self, count: i64) -> Option<Self> {
        self.0.checked_mul(i128::from(count)).and_then(Self::bounded)
    }

    /// This cost in percent of another one, rounded down: from 0 to 100, if neither is negative and the other is not smaller.
    /// Two costs of zero are equal, so one is 100 percent of the other.
    pub fn percent_of(self, other: Self) -> i64 {
        match other.0 {
            0 => 100,
            // At most a hundred times the largest cost, which 128 bits hold.
            parts => i64::try_from(self.0 * 100 / parts).unwrap_or(i64::MAX),
        }
    }
}

#[cfg(test)]
mod tests;
