//! The cost of a replica on a cluster, from a table of prices by the hour.
//!
//! The table has one row per cluster, region or provider, and the [`COLUMNS`] `cpu-hour`, `gib-hour` and `gpu-hour`:
//! the prices of a CPU, of a GiB of memory and of a GPU for an hour. The prices may be money, or grams of carbon
//! dioxide. A cell may be missing if no binding requests that resource there; [`Prices::cost`] reports the first one
//! that is needed and missing.
//!
//! All arithmetic is exact; a [`Cost`] is rounded only when it is printed.
//!
//! ```
//! use divvy_framework::cost::{self, PriceTable};
//! use divvy_framework::prelude::*;
//!
//! /// Rejects clusters on which a replica costs more than 1 for an hour.
//! #[derive(Default)]
//! struct NotDear;
//!
//! impl Plugin for NotDear {
//!     const NAME: &'static str = "not-dear";
//!     const DESCRIPTION: &'static str = "rejects clusters on which a replica costs more than 1 for an hour";
//! }
//!
//! impl FilterPlugin for NotDear {
//!     const NEEDS: Needs = Needs::NONE.tables(&[Table::new("prices", cost::COLUMNS)]);
//!
//!     fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
//!         let prices = PriceTable::read(context.table("prices")?)?;
//!         let requests = cost::requests(&context.binding(), "nvidia.com/gpu");
//!         let limit = "1".parse().map_err(|_| Failure::internal("1 is not a cost"))?;
//!         result.retain(
//!             |row| prices.prices(row).cost(requests).is_ok_and(|cost| cost <= limit),
//!             |row| match prices.prices(row).cost(requests) {
//!                 Ok(cost) => format!("cluster(s) were too expensive: {cost}"),
//!                 Err(error) => format!("cluster(s) had {error}"),
//!             },
//!         );
//!         Ok(())
//!     }
//! }
//!
//! use divvy_framework::testing::{ClusterBuilder, Scenario, TableBuilder};
//! let scenario = Scenario::new()
//!     .requests(&[("cpu", 2000)])
//!     .cluster(ClusterBuilder::new("a"))
//!     .cluster(ClusterBuilder::new("b"))
//!     .cluster(ClusterBuilder::new("c"))
//!     .table(
//!         // 0.4 and 0.6 per CPU; `c` has no price.
//!         TableBuilder::new("prices")
//!             .decimals("cpu-hour", 6, &[("a", 400_000), ("b", 600_000)])
//!             .decimals("gib-hour", 6, &[])
//!             .decimals("gpu-hour", 6, &[]),
//!     );
//! assert_eq!(scenario.feasible(&NotDear).unwrap(), ["a"]);
//! ```

use crate::binding::{Binding, Request};
use crate::clusters::Row;
use crate::plugin::Failure;
use crate::table::{Cells, TableColumn, TableView};

#[doc(inline)]
pub use divvy_framework_arithmetic::cost::{Amounts, Cost, CostError, InvalidCost, PRICE_SCALE, Priced, Prices};

/// The columns of a table of prices by the hour: decimals with [`PRICE_SCALE`] digits after the decimal point.
pub const COLUMNS: &[TableColumn] = &[
    TableColumn::decimal("cpu-hour", PRICE_SCALE),
    TableColumn::decimal("gib-hour", PRICE_SCALE),
    TableColumn::decimal("gpu-hour", PRICE_SCALE),
];

/// A table of prices by the hour.
#[derive(Clone, Copy)]
pub struct PriceTable<'a> {
    cpu: Cells<'a, i64>,
    memory: Cells<'a, i64>,
    gpu: Cells<'a, i64>,
}

impl<'a> PriceTable<'a> {
    /// Reads the columns of a table.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares the table with [`COLUMNS`].
    pub fn read(table: TableView<'a>) -> Result<Self, Failure> {
        Ok(Self {
            cpu: table.decimals("cpu-hour")?,
            memory: table.decimals("gib-hour")?,
            gpu: table.decimals("gpu-hour")?,
        })
    }

    /// The prices of the cluster in a row.
    #[inline]
    pub fn prices(&self, row: Row) -> Prices {
        Prices {
            cpu: self.cpu.get(row),
            memory: self.memory.get(row),
            gpu: self.gpu.get(row),
        }
    }
}

/// The priced resources that one replica requests. For a binding that is not divided because it has several components, or
/// no replicas beside them: those of a complete set. `gpu` is the name of the resource that counts GPUs, such as
/// `nvidia.com/gpu`.
pub fn requests(binding: &Binding<'_>, gpu: &str) -> Amounts {
    let with = |amounts: Amounts, request: Request<'_>| amounts.with(request.resource, request.quantity, gpu);
    let is_divided = binding.requests().next().is_some() && binding.components().nth(1).is_none();
    if is_divided {
        return binding.requests().fold(Amounts::default(), with);
    }
    binding.components().fold(Amounts::default(), |set, component| {
        let each = component.requests().fold(Amounts::default(), with);
        set.with_each(each, component.replicas())
    })
}

#[cfg(all(test, feature = "testing"))]
mod tests;
