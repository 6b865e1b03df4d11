//! Tables that the plugins of a profile read, checked against the profile before any file is read.

use std::collections::BTreeMap;

use divvy_framework_calls::tables::PluginTables;
use divvy_framework_view::tables::ColumnType;
use divvy_loader::DeclaredTable;
use divvy_profile::table::{LoadedTable, TableError, TableSource, TableVersions};
use divvy_profile::{ProfileConfiguration, TableConfiguration};
use divvy_spanned::names;

use super::RegistryError;
use super::provided::ProvidedTables;
use crate::plugin::PluginInstance;

/// The tables that a profile declares and what its plugins read of them.
#[derive(Debug, Clone, Default)]
pub(super) struct TableUses {
    /// The tables that some plugin reads, by name.
    tables: BTreeMap<String, TableConfiguration>,
    plugins: Vec<PluginUse>,
}

/// Tables that one plugin reads.
#[derive(Debug, Clone)]
struct PluginUse {
    /// Number of the instance.
    number: u64,
    columns: Vec<ColumnUse>,
}

/// A column that a plugin reads.
#[derive(Debug, Clone)]
struct ColumnUse {
    /// Name of the table, as the plugin declares it.
    declared: String,
    /// Name of the table in the profile.
    table: String,
    /// Index of the column among those of the table.
    column: usize,
}

impl TableUses {
    /// Checks what plugins declare against what the profile provides.
    pub(super) fn new<'a>(
        plugins: impl Iterator<Item = &'a PluginInstance>,
        configuration: &ProfileConfiguration,
        errors: &mut Vec<RegistryError>,
    ) -> Self {
        let mut uses = Self::default();
        for plugin in plugins {
            let declared = plugin.library().tables();
            let own = configuration.plugin.get(plugin.name());
            let renamed = own.map(|table| &table.tables);
            for name in renamed.into_iter().flat_map(BTreeMap::keys) {
                if !declared.iter().any(|table| table.name == *name) {
                    errors.push(RegistryError::UnknownTableOfPlugin {
                        plugin: plugin.name().to_owned(),
                        table: name.clone(),
                        known: declared.iter().map(|table| table.name.clone()).collect(),
                    });
                }
            }
            if declared.is_empty() {
                continue;
            }
            let mut columns = Vec::new();
            for table in declared {
                let name = renamed
                    .and_then(|renamed| renamed.get(&table.name))
                    .unwrap_or(&table.name);
                match configuration.table.get(name) {
                    Some(provided) => {
                        let context = (plugin.name(), name.as_str());
                        if provided.rows_per_key() != table.rows {
                            errors.push(RegistryError::TableRows {
                                plugin: plugin.name().to_owned(),
                                table: name.clone(),
                                expected: table.rows,
                            });
                        }
                        columns.extend(columns_of(context, table, provided, errors));
                        uses.tables.insert(name.clone(), provided.clone());
                    }
                    None => errors.push(RegistryError::TableNotProvided {
                        plugin: plugin.name().to_owned(),
                        table: name.clone(),
                        columns: table
                            .columns
                            .iter()
                            .map(|column| line(&column.name, column.column_type))
                            .collect(),
                        rows: table.rows,
                        known: configuration.table.keys().cloned().collect(),
                    }),
                }
            }
            uses.plugins.push(PluginUse {
                number: plugin.number(),
                columns,
            });
        }
        uses
    }

    /// True if no plugin reads a table.
    pub(super) fn is_empty(&self) -> bool {
        self.plugins.is_empty()
    }

    /// Names of the tables that a plugin reads, as it declares them.
    pub(super) fn declared_names(&self, plugin: u64) -> impl Iterator<Item = &str> {
        let columns = self.columns_of(plugin);
        let repeats = |index: usize| index > 0 && columns[index - 1].declared == columns[index].declared;
        let first = (0..columns.len()).filter(move |&index| !repeats(index));
        first.map(|index| columns[index].declared.as_str())
    }

    /// Name in the profile of a table that a plugin declares.
    pub(super) fn table_name(&self, plugin: u64, declared: &str) -> Option<&str> {
        let mut columns = self.columns_of(plugin).iter();
        let column = columns.find(|column| column.declared == declared)?;
        Some(&column.table)
    }

    fn columns_of(&self, plugin: u64) -> &[ColumnUse] {
        let found = self.plugins.iter().find(|known| known.number == plugin);
        found.map_or(&[], |plugin| &plugin.columns)
    }

    /// Provides the plugins with tables. `loaded` must have all tables that are read.
    pub(super) fn provide(&self, loaded: Vec<LoadedTable>) -> ProvidedTables {
        let read: Vec<LoadedTable> = loaded
            .into_iter()
            .filter(|table| self.tables.contains_key(table.name()))
            .collect();
        let plugins = self.plugins.iter().map(|plugin| {
            let mut tables = PluginTables::default();
            for column in &plugin.columns {
                if let Some(table) = read.iter().find(|table| table.name() == column.table) {
                    tables.push(&column.declared, table.contents(), column.column);
                }
            }
            (plugin.number, tables)
        });
        let plugins = plugins.collect();
        ProvidedTables::new(read, plugins)
    }

    /// Provides the plugins with these versions of the tables, from among `sources` by their version.
    ///
    /// # Errors
    ///
    /// An [`UnusableTables`] if a version of a table that is read is missing, or cannot be read as the profile declares it.
    pub(super) fn provide_versions(
        &self,
        versions: &TableVersions,
        sources: &BTreeMap<String, TableSource>,
    ) -> Result<ProvidedTables, UnusableTables> {
        let mut loaded = Vec::new();
        for (name, configuration) in &self.tables {
            let source = versions.get(name).and_then(|version| sources.get(version));
            let source = source.ok_or_else(|| UnusableTables::Unknown { table: name.clone() })?;
            let table = LoadedTable::new(name, source.clone(), configuration);
            loaded.push(table.map_err(|errors| UnusableTables::Invalid { errors })?);
        }
        Ok(self.provide(loaded))
    }
}

/// Reason why recorded tables cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableTables {
    /// A table that a plugin reads was not recorded.
    #[error("a plugin reads the table `{table}`, which was not recorded")]
    Unknown {
        /// Name of the table in the profile.
        table: String,
    },
    /// A recorded table is not what the profile declares.
    #[error("{}", .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid {
        /// Every problem.
        errors: Vec<TableError>,
    },
}

/// The columns of a declared table in the one that is provided. Those that are missing or of another type are reported.
fn columns_of(
    (plugin, table): (&str, &str),
    declared: &DeclaredTable,
    provided: &TableConfiguration,
    errors: &mut Vec<RegistryError>,
) -> Vec<ColumnUse> {
    let mut columns = Vec::new();
    for wanted in &declared.columns {
        let found = provided
            .columns
            .iter()
            .enumerate()
            .find(|(_, (name, _))| **name == wanted.name);
        match found {
            Some((column, (_, known))) if known.column_type == wanted.column_type => columns.push(ColumnUse {
                declared: declared.name.clone(),
                table: table.to_owned(),
                column,
            }),
            Some((_, (_, known))) => errors.push(RegistryError::TableColumnType {
                plugin: plugin.to_owned(),
                table: table.to_owned(),
                column: wanted.name.clone(),
                expected: wanted.column_type,
                actual: known.column_type,
            }),
            None => errors.push(RegistryError::TableColumnNotProvided {
                plugin: plugin.to_owned(),
                table: table.to_owned(),
                column: wanted.name.clone(),
                column_type: wanted.column_type,
                nearest: names::nearest(&wanted.name, provided.columns.keys().map(String::as_str)).map(str::to_owned),
            }),
        }
    }
    columns
}

/// A column as a profile declares it: `price = { type = "decimal", scale = 4 }`.
pub(super) fn line(name: &str, column_type: ColumnType) -> String {
    match column_type {
        ColumnType::Decimal { scale } => format!("{name} = {{ type = \"decimal\", scale = {scale} }}"),
        other => format!("{name} = \"{other}\""),
    }
}
