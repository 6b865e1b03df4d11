//! Tables of a scenario, resolved like those of a profile.

use std::collections::BTreeSet;
use std::sync::Arc;

use divvy_framework_calls::snapshot::Snapshot;
use divvy_framework_calls::tables::{Cell, PluginTables, TableContents, TableKey, TimeZone, WeeklyFault, WeeklyHours};

use super::Scenario;
use crate::plugin::{Failure, Needs};
use crate::table::{ColumnType, RowsPerKey};

/// A table of a [`Scenario`]: rows for clusters by name, or by another property. A cell that is not given is missing.
///
/// [`Self::integers`] and the like add a column with the cells of many clusters, [`Self::row`] a row with cells of many columns.
#[derive(Debug, Clone)]
pub struct TableBuilder {
    name: String,
    key: TableKey,
    rows_per_key: RowsPerKey,
    columns: Vec<(String, ColumnType)>,
    rows: Vec<(String, RowBuilder)>,
}

/// A row of a [`TableBuilder`].
#[derive(Debug, Clone, Default)]
pub struct RowBuilder {
    cells: Vec<(String, ColumnType, CellBuilder)>,
}

#[derive(Debug, Clone)]
enum CellBuilder {
    Number(i64),
    Text(String),
    Boolean(bool),
    Time(i64),
    Weekly(String),
}

impl RowBuilder {
    /// A row without cells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an integer.
    #[must_use]
    pub fn integer(self, column: &str, cell: i64) -> Self {
        self.with(column, ColumnType::Integer, CellBuilder::Number(cell))
    }

    /// Adds a decimal with `scale` digits after the decimal point, multiplied by ten to the power of `scale`.
    #[must_use]
    pub fn decimal(self, column: &str, scale: u32, cell: i64) -> Self {
        self.with(column, ColumnType::Decimal { scale }, CellBuilder::Number(cell))
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, column: &str, cell: &str) -> Self {
        self.with(column, ColumnType::Text, CellBuilder::Text(cell.to_owned()))
    }

    /// Adds a boolean.
    #[must_use]
    pub fn boolean(self, column: &str, cell: bool) -> Self {
        self.with(column, ColumnType::Boolean, CellBuilder::Boolean(cell))
    }

    /// Adds a point in time, in milliseconds since 1970.
    #[must_use]
    pub fn time(self, column: &str, cell: i64) -> Self {
        self.with(column, ColumnType::Time, CellBuilder::Time(cell))
    }

    /// Adds hours that recur on days of the week, as a table's file has them. The kit has no time zone database: the zone is
    /// `UTC`, or an offset such as `+02:00`.
    #[must_use]
    pub fn weekly(self, column: &str, cell: &str) -> Self {
        self.with(column, ColumnType::Weekly, CellBuilder::Weekly(cell.to_owned()))
    }

    fn with(mut self, column: &str, column_type: ColumnType, cell: CellBuilder) -> Self {
        self.cells.push((column.to_owned(), column_type, cell));
        self
    }
}

impl TableBuilder {
    /// A table without columns, with rows for clusters by name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            key: TableKey::Cluster,
            rows_per_key: RowsPerKey::One,
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// This table, with rows for clusters by region.
    #[must_use]
    pub fn by_region(self) -> Self {
        self.by(TableKey::Region)
    }

    /// This table, with rows for clusters by provider.
    #[must_use]
    pub fn by_provider(self) -> Self {
        self.by(TableKey::Provider)
    }

    /// This table, with rows for clusters by the value of the label with this key.
    #[must_use]
    pub fn by_label(self, key: &str) -> Self {
        self.by(TableKey::Label(key.into()))
    }

    fn by(self, key: TableKey) -> Self {
        Self { key, ..self }
    }

    /// This table, with any number of rows per key.
    #[must_use]
    pub fn with_several_rows(self) -> Self {
        Self {
            rows_per_key: RowsPerKey::Several,
            ..self
        }
    }

    /// Adds a row, and the columns of its cells that the table does not have yet.
    #[must_use]
    pub fn row(mut self, key: &str, row: RowBuilder) -> Self {
        for (column, column_type, _) in &row.cells {
            self.column(column, *column_type);
        }
        self.rows.push((key.to_owned(), row));
        self
    }

    /// Adds a column of integers: keys of rows, by default names of clusters, and their cells.
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

    /// Adds a column of points in time, in milliseconds since 1970.
    #[must_use]
    pub fn times(self, name: &str, cells: &[(&str, i64)]) -> Self {
        self.with(name, ColumnType::Time, cells, |cell| CellBuilder::Time(*cell))
    }

    /// Adds a column of hours that recur on days of the week: [`RowBuilder::weekly`].
    #[must_use]
    pub fn weekly(self, name: &str, cells: &[(&str, &str)]) -> Self {
        self.with(name, ColumnType::Weekly, cells, |cell| {
            CellBuilder::Weekly((*cell).to_owned())
        })
    }

    fn column(&mut self, name: &str, column_type: ColumnType) {
        if !self
            .columns
            .iter()
            .any(|(known, known_type)| known == name && *known_type == column_type)
        {
            self.columns.push((name.to_owned(), column_type));
        }
    }

    /// Adds a column, with cells in the first row of each key.
    fn with<T>(
        mut self,
        name: &str,
        column_type: ColumnType,
        cells: &[(&str, T)],
        cell: impl Fn(&T) -> CellBuilder,
    ) -> Self {
        self.column(name, column_type);
        for (key, given) in cells {
            let row = RowBuilder::new().with(name, column_type, cell(given));
            match self.rows.iter_mut().find(|(known, _)| known == key) {
                Some((_, known)) => known.cells.extend(row.cells),
                None => self.rows.push(((*key).to_owned(), row)),
            }
        }
        self
    }

    /// The table as a host would read it. Rows that are for no cluster of the snapshot are an error unless `has_strays`.
    fn contents(&self, snapshot: &Snapshot, has_strays: bool) -> Result<TableContents, Failure> {
        let name = &self.name;
        let columns = self
            .columns
            .iter()
            .map(|(name, column_type)| (name.as_str(), *column_type));
        let mut contents = TableContents::new(self.key.clone(), columns);
        if self.rows_per_key == RowsPerKey::Several {
            contents = contents.with_several_rows();
        }
        let keys: BTreeSet<&str> = snapshot
            .clusters()
            .iter()
            .filter_map(|cluster| self.key.row_key(&cluster))
            .collect();
        let mut seen = BTreeSet::new();
        for (key, row) in &self.rows {
            if !has_strays && !keys.contains(key.as_str()) {
                return Err(Failure::internal(match &self.key {
                    TableKey::Cluster => {
                        format!("the table `{name}` has a cell for `{key}`, which is not a cluster of the scenario")
                    }
                    other => format!(
                        "the table `{name}` has a row for the {other} `{key}`, which no cluster of the scenario has"
                    ),
                }));
            }
            if !seen.insert(key) && self.rows_per_key == RowsPerKey::One {
                let message = format!("the table `{name}` has two rows for `{key}`, but one row per key");
                return Err(Failure::internal(message));
            }
            let number = contents.add_row(key);
            for (column, column_type, cell) in &row.cells {
                let known = self
                    .columns
                    .iter()
                    .position(|known| known.0 == *column && known.1 == *column_type);
                let hours;
                let cell = match cell {
                    CellBuilder::Number(number) => Cell::Number(*number),
                    CellBuilder::Text(text) => Cell::Text(text),
                    CellBuilder::Boolean(value) => Cell::Boolean(*value),
                    CellBuilder::Time(time) => Cell::Time(*time),
                    CellBuilder::Weekly(text) => {
                        hours = WeeklyHours::parse(text, fixed_zone).map(Arc::new).map_err(|fault| {
                            let expected = match fault {
                                WeeklyFault::UnknownZone { .. } => {
                                    "the zone `UTC` or an offset such as `+02:00`".to_owned()
                                }
                                other => other.to_string(),
                            };
                            let message =
                                format!("column `{column}` of the table `{name}`: expected {expected}, got `{text}`");
                            Failure::internal(message)
                        })?;
                        Cell::Weekly(&hours)
                    }
                };
                contents.set(number, known.unwrap_or(usize::MAX), cell);
            }
        }
        Ok(contents)
    }
}

/// A zone whose clocks never change: `UTC`, or an offset such as `+02:00`.
fn fixed_zone(name: &str) -> Option<Arc<TimeZone>> {
    if name == "UTC" {
        return Some(Arc::new(TimeZone::fixed(name, 0)));
    }
    let (sign, rest) = match name.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, name.strip_prefix('-')?),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_valid = (0..24).contains(&hours) && (0..60).contains(&minutes);
    is_valid.then(|| Arc::new(TimeZone::fixed(name, sign * (hours * 3_600 + minutes * 60))))
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
            if table.rows_per_key != declared.rows_per_key() {
                let message = match declared.rows_per_key() {
                    RowsPerKey::One => format!("the plugin declares the table `{name}` with one row per key"),
                    RowsPerKey::Several => format!("the plugin declares the table `{name}` with several rows per key"),
                };
                return Err(Failure::internal(message));
            }
            let contents = Arc::new(table.contents(snapshot, self.has_stray_rows)?);
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
