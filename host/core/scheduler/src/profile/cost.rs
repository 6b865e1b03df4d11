//! The prices with which reports count costs: `[profile.cost]`, read from a table of the profile. No decision depends on them.

use std::iter::Sum;

use divvy_framework_arithmetic::cost::{Amounts, Cost, CostError, PRICE_SCALE, Priced, Prices};
use divvy_framework_view::tables::{ColumnType, RowsPerKey};
use divvy_karmada::api::Cluster;
use divvy_profile::table::{LoadedTable, TableError, TableProblem, row_key};
use divvy_profile::{CostConfiguration, ProfileConfiguration};
use divvy_spanned::names;

use super::RegistryError;
use crate::fleet::Footprint;

/// Resource that counts GPUs, unless a profile names another.
const GPU: &str = "nvidia.com/gpu";

/// Type of a column with prices.
const COLUMN: ColumnType = ColumnType::Decimal { scale: PRICE_SCALE };

/// Prices by the hour for the clusters of a fleet.
#[derive(Debug, Clone)]
pub struct Pricing {
    unit: String,
    gpu: String,
    table: LoadedTable,
    /// Column of each priced resource; `None` for one that is not counted.
    columns: [Option<usize>; 3],
}

/// A cost, as far as its prices are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownCost {
    /// Cost of the resources with a price.
    pub known: Cost,
    /// Reasons why the rest is not known, each once.
    pub errors: Vec<CostError>,
}

impl Pricing {
    /// Prices from a table of the profile; `None` if the profile has no `[profile.cost]`, or an unusable one, which is reported.
    /// Without `tables`, they are not read.
    pub(super) fn new(
        configuration: &ProfileConfiguration,
        tables: Option<&[LoadedTable]>,
        errors: &mut Vec<RegistryError>,
    ) -> Option<Self> {
        let cost = configuration.cost.as_ref()?;
        let count = errors.len();
        let columns = columns(cost, configuration, errors);
        let (Some(table), Some(unit)) = (&cost.table, &cost.unit) else {
            return None;
        };
        let loaded = tables?.iter().find(|loaded| loaded.name() == table)?;
        for (column, name) in columns.into_iter().zip(keys(cost).map(|(_, name)| name)) {
            if let (Some(column), Some(name)) = (column, name) {
                check_prices(loaded, column, name, errors);
            }
        }
        (errors.len() == count).then(|| Self {
            unit: unit.clone(),
            gpu: cost.gpu_resource.clone().unwrap_or_else(|| GPU.to_owned()),
            table: loaded.clone(),
            columns,
        })
    }

    /// Unit of the prices.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Name of the resource that counts GPUs.
    pub fn gpu(&self) -> &str {
        &self.gpu
    }

    /// The table.
    pub fn table(&self) -> &LoadedTable {
        &self.table
    }

    /// The cost of these amounts on a cluster for an hour. A cluster that does not exist has no prices.
    pub fn cost(&self, cluster: Option<&Cluster>, amounts: Amounts) -> KnownCost {
        let prices = cluster.map(|cluster| self.prices(cluster)).unwrap_or_default();
        let mut cost = KnownCost::default();
        for (priced, column) in Priced::ALL.into_iter().zip(self.columns) {
            if column.is_none() || !amounts.has(priced) {
                continue;
            }
            match prices.cost_of(priced, amounts) {
                Ok(part) => cost.add(part),
                Err(error) => cost.refuse(error),
            }
        }
        cost
    }

    /// The cost of a result with these replicas on a cluster for an hour.
    pub fn cost_of_replicas(&self, cluster: Option<&Cluster>, footprint: &Footprint, replicas: i64) -> KnownCost {
        self.cost(cluster, footprint.amounts(replicas, &self.gpu))
    }

    fn prices(&self, cluster: &Cluster) -> Prices {
        let contents = self.table.contents();
        let key = row_key(contents.key(), cluster);
        let cell = |column: Option<usize>| contents.number(key?, column?);
        let [cpu, memory, gpu] = self.columns.map(cell);
        Prices { cpu, memory, gpu }
    }
}

impl KnownCost {
    fn add(&mut self, part: Cost) {
        match self.known.plus(part) {
            Some(sum) => self.known = sum,
            None => self.refuse(CostError::TooLarge),
        }
    }

    fn refuse(&mut self, error: CostError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }
}

impl Sum for KnownCost {
    /// The cost of all of them, with each reason once.
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |mut sum, cost| {
            sum.add(cost.known);
            cost.errors.into_iter().for_each(|error| sum.refuse(error));
            sum
        })
    }
}

/// The keys of a configuration that name columns, in the order of [`Priced::ALL`].
fn keys(cost: &CostConfiguration) -> [(&'static str, Option<&str>); 3] {
    [
        ("cpu-hour", cost.cpu_hour.as_deref()),
        ("gib-hour", cost.gib_hour.as_deref()),
        ("gpu-hour", cost.gpu_hour.as_deref()),
    ]
}

/// The columns that a configuration names. What is missing or of another type is reported.
fn columns(
    cost: &CostConfiguration,
    configuration: &ProfileConfiguration,
    errors: &mut Vec<RegistryError>,
) -> [Option<usize>; 3] {
    let keys = keys(cost);
    let has_column = keys.iter().any(|(_, column)| column.is_some());
    for (key, is_set) in [
        ("table", cost.table.is_some()),
        ("unit", cost.unit.as_ref().is_some_and(|unit| !unit.trim().is_empty())),
        ("cpu-hour", has_column),
    ] {
        if !is_set {
            errors.push(RegistryError::CostIncomplete { key });
        }
    }
    if cost.gpu_resource.as_ref().is_some_and(String::is_empty) {
        errors.push(RegistryError::CostIncomplete { key: "gpu-resource" });
    }
    let Some(table) = &cost.table else {
        return [None; 3];
    };
    let Some(declared) = configuration.table.get(table) else {
        errors.push(RegistryError::CostTableNotProvided {
            table: table.clone(),
            known: configuration.table.keys().cloned().collect(),
        });
        return [None; 3];
    };
    if declared.rows_per_key() == RowsPerKey::Several {
        errors.push(RegistryError::CostTableRows { table: table.clone() });
    }
    keys.map(|(key, column)| {
        let column = column?;
        let known = declared.columns.iter().enumerate();
        let found = known
            .clone()
            .find(|(_, (name, _))| *name == column)
            .map(|(index, (_, declared))| (index, declared.column_type));
        match found {
            Some((index, COLUMN)) => return Some(index),
            Some((_, actual)) => errors.push(RegistryError::CostColumnType {
                table: table.clone(),
                column: column.to_owned(),
                key,
                expected: COLUMN,
                actual,
            }),
            None => errors.push(RegistryError::CostColumnNotProvided {
                table: table.clone(),
                column: column.to_owned(),
                key,
                column_type: COLUMN,
                nearest: names::nearest(column, declared.columns.keys().map(String::as_str)).map(str::to_owned),
            }),
        }
        None
    })
}

/// Reports the negative prices of a column.
fn check_prices(table: &LoadedTable, column: usize, name: &str, errors: &mut Vec<RegistryError>) {
    for (key, line, price) in table.numbers(column).filter(|(_, _, price)| *price < 0) {
        errors.push(RegistryError::Table {
            table: table.name().to_owned(),
            error: Box::new(TableError {
                file: table.source().file.clone(),
                line: Some(line),
                problem: TableProblem::NegativePrice {
                    key: key.to_owned(),
                    column: name.to_owned(),
                    price: format!("{:.6}", Cost::from_price(price)),
                },
            }),
        });
    }
}
