//! Tables that an operator keeps beside the profile: prices, carbon intensities, contracts.
//!
//! A plugin declares the tables and columns that it reads, with their types, among its needs. The profile names the
//! file of each table, and the key of its rows: the cluster's name, region, provider, or the value of a label. At load
//! time, the host checks that the columns exist and have the right types. It resolves the rows for each snapshot, so a
//! plugin reads a cell by the row of a cluster. A cell may be missing, because the table has no row for the cluster or
//! no value in that column.
//!
//! A table can have [several rows](Table::with_several_rows) per key, [times](TableColumn::time) and
//! [hours of a week](TableColumn::weekly), whose zones the host resolves. What only the plugin can check it checks in its
//! [value for a snapshot](crate::value::SnapshotValuePlugin::snapshot_value), with [`TableView::refuse`]: the host then refuses the
//! profile, with the file and the line of the row.
//!
//! ```
//! use divvy_framework::prelude::*;
//!
//! const CARBON: Table = Table::new("carbon", &[TableColumn::integer("intensity")]);
//!
//! /// Prefers clusters with a low carbon intensity; those without a known one get nothing.
//! #[derive(Default)]
//! struct LowCarbon;
//!
//! impl Plugin for LowCarbon {
//!     const NAME: &'static str = "low-carbon";
//!     const DESCRIPTION: &'static str = "prefers clusters with a low carbon intensity";
//! }
//!
//! impl ScorePlugin for LowCarbon {
//!     const NEEDS: Needs = Needs::NONE.tables(&[CARBON]);
//!
//!     fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
//!         let (intensities, rows) = (context.table("carbon")?.integers("intensity")?, context.rows());
//!         let highest = rows.iter().filter_map(|(_, row)| intensities.get(row)).max().unwrap_or(0);
//!         for candidate in context.candidates() {
//!             if let Some(intensity) = intensities.get(rows[candidate]) {
//!                 result.set(candidate, highest - intensity);
//!             }
//!         }
//!         Ok(())
//!     }
//!
//!     fn normalize(&self, _: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
//!         result.scale_to_maximum();
//!         Ok(())
//!     }
//! }
//!
//! use divvy_framework::testing::{ClusterBuilder, Scenario, TableBuilder};
//! let scenario = Scenario::new()
//!     .cluster(ClusterBuilder::new("a"))
//!     .cluster(ClusterBuilder::new("b"))
//!     .cluster(ClusterBuilder::new("c"))
//!     .table(TableBuilder::new("carbon").integers("intensity", &[("a", 400), ("b", 50)]));
//! assert_eq!(scenario.scores(&LowCarbon).unwrap(), [0, 100, 0]);
//! ```
//!
//! The profile that provides its table:
//!
//! ```toml
//! [profile.table.carbon]
//! file = "carbon.csv"
//! key = "region"
//! columns = { intensity = "integer" }
//! ```

use divvy_framework_abi::arena::Arena;
use divvy_framework_abi::view::CycleView;
use divvy_framework_view::tables::column_of_rows;

use crate::clusters::{Clusters, Row};
use crate::plugin::{Failure, Needs};

pub use divvy_framework_view::tables::{CellValue, Cells, ColumnType, RowsPerKey, SCALE_MAX};
pub use divvy_framework_view::weekly::{Period, Weekly};

/// A table that a plugin reads, with the columns that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    name: &'static str,
    columns: &'static [TableColumn],
    rows_per_key: RowsPerKey,
}

/// A column of a [`Table`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableColumn {
    name: &'static str,
    column_type: ColumnType,
}

impl Table {
    /// The table that the profile provides under `name`, with columns that it must have.
    pub const fn new(name: &'static str, columns: &'static [TableColumn]) -> Self {
        Self {
            name,
            columns,
            rows_per_key: RowsPerKey::One,
        }
    }

    /// This table, with any number of rows per key: the profile provides it with `rows = "several"`. [`Cells::count`] and
    /// [`Cells::nth`] read the rows. All declarations of a table must agree.
    #[must_use]
    pub const fn with_several_rows(self) -> Self {
        Self {
            rows_per_key: RowsPerKey::Several,
            ..self
        }
    }

    /// The number of rows per key.
    pub const fn rows_per_key(self) -> RowsPerKey {
        self.rows_per_key
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The columns.
    pub const fn columns(self) -> &'static [TableColumn] {
        self.columns
    }
}

impl TableColumn {
    /// A column of integers of 64 bits.
    pub const fn integer(name: &'static str) -> Self {
        Self::new(name, ColumnType::Integer)
    }

    /// A column of decimals with `scale` digits after the decimal point, as integers: with scale 4, 0.12 is 1200.
    ///
    /// # Panics
    ///
    /// At compile time, if `scale` is more than [`SCALE_MAX`].
    pub const fn decimal(name: &'static str, scale: u32) -> Self {
        assert!(
            scale <= SCALE_MAX,
            "a decimal has at most 18 digits after the decimal point"
        );
        Self::new(name, ColumnType::Decimal { scale })
    }

    /// A column of texts.
    pub const fn text(name: &'static str) -> Self {
        Self::new(name, ColumnType::Text)
    }

    /// A column of booleans.
    pub const fn boolean(name: &'static str) -> Self {
        Self::new(name, ColumnType::Boolean)
    }

    /// A column of points in time, as milliseconds since 1970-01-01T00:00:00Z. A file states them with their offset from UTC
    /// (`2026-12-24T20:00:00+01:00`), or by the local time of a zone (`2026-12-24 20:00 Europe/Berlin`).
    pub const fn time(name: &'static str) -> Self {
        Self::new(name, ColumnType::Time)
    }

    /// A column of hours that recur on days of the week, by the local time of a zone: `Mon-Fri 22:00-06:00 Europe/Berlin`.
    pub const fn weekly(name: &'static str) -> Self {
        Self::new(name, ColumnType::Weekly)
    }

    const fn new(name: &'static str, column_type: ColumnType) -> Self {
        Self { name, column_type }
    }

    fn to_json(self) -> serde_json::Value {
        let mut object = serde_json::json!({ "name": self.name, "type": self.column_type.word() });
        if let (ColumnType::Decimal { scale }, Some(object)) = (self.column_type, object.as_object_mut()) {
            object.insert("scale".to_owned(), scale.into());
        }
        object
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The type of the cells.
    pub const fn column_type(self) -> ColumnType {
        self.column_type
    }
}

/// The tables that a plugin declares, as they cross the boundary: one JSON object per table, with the columns of all its
/// extension points.
pub(crate) fn documents(needs: Needs) -> Vec<String> {
    let mut tables: Vec<(&str, RowsPerKey, Vec<TableColumn>)> = Vec::new();
    for declared in needs.declared_tables() {
        let known = tables.iter().position(|(name, ..)| *name == declared.name);
        let index = known.unwrap_or(tables.len());
        if known.is_none() {
            tables.push((declared.name, declared.rows_per_key, Vec::new()));
        }
        let Some((.., columns)) = tables.get_mut(index) else {
            continue;
        };
        for column in declared.columns {
            if !columns.contains(column) {
                columns.push(*column);
            }
        }
    }
    let document = |(name, rows, columns): &(&str, RowsPerKey, Vec<TableColumn>)| {
        let columns: Vec<serde_json::Value> = columns.iter().map(|column| column.to_json()).collect();
        match rows {
            RowsPerKey::One => serde_json::json!({ "name": name, "columns": columns }),
            RowsPerKey::Several => serde_json::json!({ "name": name, "rows": "several", "columns": columns }),
        }
        .to_string()
    };
    tables.iter().map(document).collect()
}

/// A table of the profile, as the plugin that declares it reads it: [`Cycle::table`](crate::cycle::Cycle::table).
#[derive(Clone, Copy)]
pub struct TableView<'a> {
    view: &'a CycleView<'a>,
    needs: Needs,
    name: &'static str,
    rows_per_key: RowsPerKey,
}

impl<'a> TableView<'a> {
    /// The table with this name, if the plugin declares it.
    pub(crate) fn new(view: &'a CycleView<'a>, needs: Needs, name: &str) -> Result<Self, Failure> {
        let declared = needs.declared_tables().find(|table| table.name == name);
        let Some(table) = declared else {
            let message = format!("reads the table `{name}` without declaring it: `Needs::tables`");
            return Err(Failure::internal(message));
        };
        Ok(Self {
            view,
            needs,
            name: table.name,
            rows_per_key: table.rows_per_key,
        })
    }

    /// The cells of a column of integers.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares the column with this type.
    pub fn integers(&self, name: &str) -> Result<Cells<'a, i64>, Failure> {
        self.cells(name, "integers", |declared| declared == ColumnType::Integer)
    }

    /// The cells of a column of decimals, each multiplied by ten to the power of the declared scale.
    ///
    /// # Errors
    ///
    /// As [`Self::integers`].
    pub fn decimals(&self, name: &str) -> Result<Cells<'a, i64>, Failure> {
        self.cells(name, "decimals", |declared| {
            matches!(declared, ColumnType::Decimal { .. })
        })
    }

    /// The cells of a column of texts.
    ///
    /// # Errors
    ///
    /// As [`Self::integers`].
    pub fn texts(&self, name: &str) -> Result<Cells<'a, &'a str>, Failure> {
        self.cells(name, "texts", |declared| declared == ColumnType::Text)
    }

    /// The cells of a column of booleans.
    ///
    /// # Errors
    ///
    /// As [`Self::integers`].
    pub fn booleans(&self, name: &str) -> Result<Cells<'a, bool>, Failure> {
        self.cells(name, "booleans", |declared| declared == ColumnType::Boolean)
    }

    /// The cells of a column of points in time, in milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// # Errors
    ///
    /// As [`Self::integers`].
    pub fn times(&self, name: &str) -> Result<Cells<'a, i64>, Failure> {
        self.cells(name, "times", |declared| declared == ColumnType::Time)
    }

    /// The cells of a column of hours that recur on days of the week.
    ///
    /// # Errors
    ///
    /// As [`Self::integers`].
    pub fn weekly(&self, name: &str) -> Result<Cells<'a, Weekly<'a>>, Failure> {
        self.cells(name, "hours of a week", |declared| declared == ColumnType::Weekly)
    }

    /// A failure for a row of the table that the plugin cannot use: for the cluster in a row of the snapshot, the table's row
    /// with this number (0 unless it has several), and its column, if one is at fault.
    ///
    /// Check tables in [`snapshot_value`](crate::value::SnapshotValuePlugin::snapshot_value): the host makes a value for every
    /// row of a table when it loads the profile, so a row that the plugin refuses is an error of the profile, with the file and
    /// the line of the row.
    pub fn refuse(&self, row: Row, number: usize, column: Option<&str>, message: impl Into<String>) -> RefusedRow {
        let clusters = Clusters::new(Arena::new(self.view.snapshot.as_slice()));
        RefusedRow {
            table: self.name,
            cluster: clusters.get(row).name().to_owned(),
            number,
            column: column.unwrap_or_default().to_owned(),
            message: message.into(),
            hint: None,
        }
    }

    fn cells<T>(
        &self,
        name: &str,
        as_what: &str,
        is_read: impl Fn(ColumnType) -> bool,
    ) -> Result<Cells<'a, T>, Failure> {
        let table = self.name;
        let tables = self.needs.declared_tables().filter(|declared| declared.name == table);
        let mut columns = tables.flat_map(|declared| declared.columns);
        let Some(declared) = columns.find(|column| column.name == name) else {
            let message = format!("reads column `{name}` of the table `{table}` without declaring it: `Needs::tables`");
            return Err(Failure::internal(message));
        };
        let column_type = declared.column_type;
        if !is_read(column_type) {
            let message =
                format!("reads column `{name}` of the table `{table}` as {as_what}, but declares it as {column_type}");
            return Err(Failure::internal(message));
        }
        column_of_rows(self.view, self.rows_per_key, table, name, column_type)
            .ok_or_else(|| Failure::internal(format!("column `{name}` of the table `{table}` is not provided")))
    }
}

/// A row of a table that a plugin cannot use: [`TableView::refuse`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the table `{table}` for cluster `{cluster}`, row {number}{}: {message}", in_column(.column))]
pub struct RefusedRow {
    table: &'static str,
    /// A cluster that the row is for. The host knows the row's key.
    cluster: String,
    number: usize,
    column: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl RefusedRow {
    /// This row, with a suggested remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The row as it crosses the boundary.
    pub(crate) fn path(&self) -> String {
        let Self {
            table,
            cluster,
            number,
            column,
            ..
        } = self;
        format!("{table}\n{cluster}\n{number}\n{column}")
    }
}

impl From<RefusedRow> for Failure {
    fn from(row: RefusedRow) -> Self {
        Self::Table(Box::new(row))
    }
}

fn in_column(column: &str) -> String {
    match column {
        "" => String::new(),
        column => format!(", column `{column}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Table = Table::new("prices", &[TableColumn::decimal("day", 2), TableColumn::text("unit")]);
    const MORE: Table = Table::new("prices", &[TableColumn::text("unit"), TableColumn::decimal("night", 2)]);
    const SEATS: Table = Table::new("seats", &[TableColumn::integer("free")]);

    /// The host counts the columns in this order.
    #[test]
    fn tables_of_several_extension_points_are_put_together() {
        const POINTS: &[Needs] = &[
            Needs::NONE.time().tables(&[PRICES]),
            Needs::NONE,
            Needs::NONE.tables(&[SEATS, MORE]),
        ];
        let documents = documents(Needs::all(POINTS));
        let columns = |document: &str| -> Vec<String> {
            let document: serde_json::Value = serde_json::from_str(document).unwrap();
            let columns = document["columns"].as_array().unwrap().iter();
            columns
                .map(|column| column["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(documents.len(), 2);
        assert_eq!(columns(&documents[0]), ["day", "unit", "night"]);
        assert_eq!(
            documents[1],
            r#"{"columns":[{"name":"free","type":"integer"}],"name":"seats"}"#
        );
        assert!(Needs::all(POINTS).has(divvy_framework_abi::descriptor::feature::TABLES));
        assert!(
            !Needs::NONE
                .tables(&[])
                .has(divvy_framework_abi::descriptor::feature::TABLES)
        );
    }
}
