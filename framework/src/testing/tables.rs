//! Tables of a scenario, resolved like those of a profile.

use std::sync::Arc;

use divvy_framework_calls::snapshot::Snapshot;
use divvy_framework_calls::tables::{Cell, PluginTables, TableContents, TableKey};

use super::Scenario;
use crate::plugin::{Failure, Needs};
use crate::table::ColumnType;

/// A table of a [`Scenario`], with rows for clusters by name. A cluster that a column does not list has no
/// cell in it.
#[derive(Debug, Clone)]
pub struct TableBuilder {
    name: String,
    columns: Vec<ColumnBuilder>,
}

#[derive(Debug, Clone)]
struct ColumnBuilder {
    name: String,
    column_type: ColumnType,
    cells: Vec<(String, CellBuilder)>,
}

#[derive(Debug, Clone)]
enum CellBuilder {
    Number(i64),
    Text(String),
    Boolean(bool),
}

impl TableBuilder {
    /// A table without columns.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            columns: Vec::new(),
        }
    }

    /// Adds a column of integers: names of clusters and their cells.
    #[must_use]
    pub fn integers(self, name: &str, cells: &[(&str, i64)]) -> Self {
        self.with(name, ColumnType::Integer, cells, |cell| CellBuilder::Number(*cell))
    }

    /// Adds a column of decimals with `scale` digits after the decimal point. The cells are multiplied by ten to the
    /// power of `scale`: with scale 4, 1200 is 0.12.
    #[must_use]
    pub fn decimals(self, name: &str, scale: u32, cells: &[(&str, i64)]) -> Self {
        self.with(name, ColumnType::Decimal { scale }, cells, |cell| {
            CellBuilder::Number(*cell)
        })
    }

    /// Adds a column of texts.
    #[must_use]
    pub fn texts(self, name: &str, cells: &[(&str, &str)]) -> Self {
        self.with(name, ColumnType::Text, cells, |cell| {
            CellBuilder::Text((*cell).to_owned())
        })
    }

    /// Adds a column of booleans.
    #[must_use]
    pub fn booleans(self, name: &str, cells: &[(&str, bool)]) -> Self {
        self.with(name, ColumnType::Boolean, cells, |cell| CellBuilder::Boolean(*cell))
    }

    fn with<T>(
        mut self,
        name: &str,
        column_type: ColumnType,
        cells: &[(&str, T)],
        cell: impl Fn(&T) -> CellBuilder,
    ) -> Self {
        self.columns.push(ColumnBuilder {
            name: name.to_owned(),
            column_type,
            cells: cells
                .iter()
                .map(|(cluster, given)| ((*cluster).to_owned(), cell(given)))
                .collect(),
        });
        self
    }

    fn contents(&self, snapshot: &Snapshot) -> Result<TableContents, Failure> {
        let columns = self
            .columns
            .iter()
            .map(|column| (column.name.as_str(), column.column_type));
        let mut contents = TableContents::new(TableKey::Cluster, columns);
        for (number, column) in self.columns.iter().enumerate() {
            for (cluster, cell) in &column.cells {
                if snapshot.clusters().row(cluster).is_none() {
                    let message = format!(
                        "the table `{}` has a cell for `{cluster}`, which is not a cluster of the scenario",
                        self.name
                    );
                    return Err(Failure::internal(message));
                }
                let row = contents.row(cluster);
                let cell = match cell {
                    CellBuilder::Number(number) => Cell::Number(*number),
                    CellBuilder::Text(text) => Cell::Text(text),
                    CellBuilder::Boolean(value) => Cell::Boolean(*value),
                };
                contents.set(row, number, cell);
            }
        }
        Ok(contents)
    }
}

impl Scenario {
    /// Adds a table, replacing one with the same name. A plugin sees the columns that it declares. As in a profile, a
    /// column that is missing or has another type is an error.
    #[must_use]
    pub fn table(mut self, table: TableBuilder) -> Self {
        self.tables.retain(|known| known.name != table.name);
        self.tables.push(table);
        self
    }

    /// The columns that a plugin with these needs declares.
    pub(super) fn declared_tables(&self, needs: Needs, snapshot: &Snapshot) -> Result<PluginTables, Failure> {
        let mut tables = PluginTables::default();
        for declared in needs.declared_tables() {
            let name = declared.name();
            let Some(table) = self.tables.iter().find(|table| table.name == name) else {
                return Err(Failure::internal(format!("the scenario has no table `{name}`")));
            };
            let contents = Arc::new(table.contents(snapshot)?);
            for column in declared.columns() {
                let (wanted, expected) = (column.name(), column.column_type());
                let mut known = contents.columns().enumerate();
                let Some((number, (_, actual))) = known.find(|(_, (known, _))| *known == wanted) else {
                    let message = format!("the table `{name}` of the scenario has no column `{wanted}`");
                    return Err(Failure::internal(message));
                };
                if actual != expected {
                    let message = format!(
                        "column `{wanted}` of the table `{name}` of the scenario is {actual}, but the plugin declares {expected}"
                    );
                    return Err(Failure::internal(message));
                }
                tables.push(name, &contents, number);
            }
        }
        Ok(tables)
    }
}
