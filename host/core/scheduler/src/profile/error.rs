//! Errors of a profile's plugins and tables, one variant per cause.

use std::path::PathBuf;

use divvy_framework_view::tables::{ColumnType, RowsPerKey};
use divvy_isolation::IsolationError;
use divvy_loader::{LoadError, missing};
use divvy_profile::table::TableError;
use divvy_spanned::names;

use super::tables;

/// Reason why a profile's plugins cannot be used, one variant per cause.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No directory holds a library for the plugin.
    #[error("plugin `{plugin}` not found; looked in {}", listed(.searched))]
    NotFound {
        /// Name of the plugin.
        plugin: String,
        /// Directories that were searched.
        searched: Vec<PathBuf>,
        /// Plugin in these directories with the most similar name.
        nearest: Option<String>,
    },
    /// No directory holds any plugin.
    #[error("no plugin found; looked in {}", listed(.searched))]
    NothingFound {
        /// Directories that were searched.
        searched: Vec<PathBuf>,
    },
    /// The plugin's worker cannot be started, or ended or hung while it opened or constructed the plugin.
    #[error("plugin `{plugin}` ({path}): {error}", path = .path.display())]
    Isolation {
        /// Name of the plugin.
        plugin: String,
        /// Path of its library.
        path: PathBuf,
        /// What happened.
        error: IsolationError,
    },
    /// A plugin in the scheduler's process has a key for workers.
    #[error("`{key}` is for plugins in a process of their own, and `{plugin}` runs in the scheduler's")]
    NotIsolated {
        /// Name of the plugin.
        plugin: String,
        /// The key of its table.
        key: &'static str,
    },
    /// `on-error = "skip"` for a plugin without which nothing may be decided.
    #[error("`{plugin}` cannot be skipped if it fails: {reason}")]
    NotSkippable {
        /// Name of the plugin.
        plugin: String,
        /// What it is needed for.
        reason: &'static str,
    },
    /// A list of the profile names a plugin twice.
    #[error("`{list}` lists plugin `{plugin}` twice")]
    ListedTwice {
        /// Key of the list.
        list: &'static str,
        /// Name of the plugin.
        plugin: String,
        /// Index of the second entry.
        index: usize,
    },
    /// A plugin cannot be loaded or constructed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The file of a plugin cannot be used, for a reason that is the file's: several plugins may name the same one.
    #[error("{error}")]
    File {
        /// Name of the plugin.
        plugin: Box<str>,
        /// What is wrong with the file.
        error: LoadError,
    },
    /// Two libraries hold plugins with the same name.
    #[error("two plugins are named `{plugin}`: `{first}` and `{second}`", first = .first.display(), second = .second.display())]
    DuplicateName {
        /// Name of both plugins.
        plugin: String,
        /// Path of the library that was loaded first.
        first: PathBuf,
        /// Path of the other library.
        second: PathBuf,
    },
    /// The profile uses a plugin at an extension point that it does not serve.
    #[error("plugin `{plugin}` does not serve {point}; it serves {}", .serves.join(", "))]
    WrongExtensionPoint {
        /// Name of the plugin.
        plugin: String,
        /// Name of the extension point.
        point: &'static str,
        /// Extension points that the plugin serves.
        serves: Vec<&'static str>,
    },
    /// Two plugins serve the same strategy, and the profile does not choose one.
    #[error("plugins `{first}` and `{second}` both serve strategy `{strategy}`")]
    TwoForStrategy {
        /// Name of the strategy.
        strategy: String,
        /// Name of one plugin.
        first: String,
        /// Name of the other plugin.
        second: String,
    },
    /// The profile assigns a strategy to a plugin that does not serve it.
    #[error("`strategies.{strategy}` names plugin `{plugin}`, which {}", serves_instead(.serves))]
    NotAStrategyOf {
        /// Name of the strategy.
        strategy: String,
        /// Name of the plugin.
        plugin: String,
        /// Strategies that the plugin serves; `None` if the profile's `assign` does not list it.
        serves: Option<Vec<&'static str>>,
    },
    /// A selector follows one that enforces spread constraints, and so could break them.
    #[error("`select` lists `{follower}` after `{enforcing}`, which enforces spread constraints")]
    AfterSpread {
        /// Name of the plugin that enforces spread constraints.
        enforcing: String,
        /// Name of the plugin after it.
        follower: String,
        /// Index of the plugin after it.
        index: usize,
    },
    /// `[profile.moves]` allows neither a surge nor an unavailable replica.
    #[error("`[profile.moves]` allows no surge and no unavailable replica: nothing could ever move")]
    NothingMoves {
        /// The key that is 0.
        key: &'static str,
    },
    /// A key that every profile needs is missing.
    #[error("profile `{profile}` has no `{key}`")]
    Missing {
        /// Name of the profile.
        profile: String,
        /// Name of the key.
        key: &'static str,
    },
    /// A plugin reads a table that the profile does not have.
    #[error("plugin `{plugin}` reads the table `{table}`, which the profile does not have")]
    TableNotProvided {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table.
        table: String,
        /// The columns that the plugin reads, as a profile declares them.
        columns: Vec<String>,
        /// Rows per key that the plugin expects.
        rows: RowsPerKey,
        /// Names of the profile's tables.
        known: Vec<String>,
    },
    /// A plugin reads a column that a table does not have.
    #[error("plugin `{plugin}` reads column `{column}` of the table `{table}`, which does not declare it")]
    TableColumnNotProvided {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table.
        table: String,
        /// Name of the column.
        column: String,
        /// Type that the plugin expects.
        column_type: ColumnType,
        /// The most similar name of a column.
        nearest: Option<String>,
    },
    /// A plugin reads a column as another type than the profile declares.
    #[error("plugin `{plugin}` reads column `{column}` of the table `{table}` as {expected}, but it is {actual}")]
    TableColumnType {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table.
        table: String,
        /// Name of the column.
        column: String,
        /// Type that the plugin expects.
        expected: ColumnType,
        /// Type in the profile.
        actual: ColumnType,
    },
    /// A plugin reads another number of rows per key than the profile declares.
    #[error("plugin `{plugin}` reads {} of the table `{table}`", per_key(*.expected))]
    TableRows {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table.
        table: String,
        /// Rows per key that the plugin expects.
        expected: RowsPerKey,
    },
    /// The profile maps a table that the plugin does not read.
    #[error("plugin `{plugin}` reads no table `{table}`")]
    UnknownTableOfPlugin {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table.
        table: String,
        /// Names of the tables that the plugin reads.
        known: Vec<String>,
    },
    /// A table of the profile lacks a setting.
    #[error("the table `{table}` has no `{key}`")]
    TableIncomplete {
        /// Name of the table.
        table: String,
        /// Name of the setting.
        key: &'static str,
        /// The columns that plugins read, as a profile declares them, if it is these that are missing.
        columns: Vec<String>,
    },
    /// The file of a table cannot be read, or is not what the profile declares.
    #[error("{error}")]
    Table {
        /// Name of the table.
        table: String,
        /// The problem.
        error: Box<TableError>,
    },
    /// `[profile.cost]` lacks a key, or has an empty one.
    #[error("`[profile.cost]` {}", cost_lacks(.key))]
    CostIncomplete {
        /// The key.
        key: &'static str,
    },
    /// `[profile.cost]` names a table that the profile does not have.
    #[error("`[profile.cost]` names the table `{table}`, which the profile does not have")]
    CostTableNotProvided {
        /// Name of the table.
        table: String,
        /// Names of the profile's tables.
        known: Vec<String>,
    },
    /// `[profile.cost]` names a column that its table does not declare.
    #[error("`[profile.cost]` reads column `{column}` of the table `{table}`, which does not declare it")]
    CostColumnNotProvided {
        /// Name of the table.
        table: String,
        /// Name of the column.
        column: String,
        /// Key that names it.
        key: &'static str,
        /// Type of a column with prices.
        column_type: ColumnType,
        /// The most similar column of the table.
        nearest: Option<String>,
    },
    /// `[profile.cost]` names a table with several rows per key, of which no one could say which price counts.
    #[error("`[profile.cost]` names the table `{table}`, which has several rows per key, expected one")]
    CostTableRows {
        /// Name of the table.
        table: String,
    },
    /// `[profile.cost]` names a column of another type.
    #[error("`[profile.cost]` reads column `{column}` of the table `{table}` as {expected}, but it is {actual}")]
    CostColumnType {
        /// Name of the table.
        table: String,
        /// Name of the column.
        column: String,
        /// Key that names it.
        key: &'static str,
        /// Type of a column with prices.
        expected: ColumnType,
        /// Type in the profile.
        actual: ColumnType,
    },
    /// The profile configures a plugin that it does not use.
    #[error("profile `{profile}` configures plugin `{plugin}`, which it does not use")]
    Unused {
        /// Name of the profile.
        profile: String,
        /// Name of the plugin.
        plugin: String,
    },
}

impl RegistryError {
    /// This error as one of loading this plugin.
    #[must_use]
    pub(super) fn of(self, plugin: &str) -> Self {
        match self {
            Self::Load(error) if error.plugin().is_none() => Self::File {
                plugin: plugin.into(),
                error,
            },
            other => other,
        }
    }

    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound {
                plugin,
                searched,
                nearest,
            } => Some(
                match (missing::hint(plugin, searched.iter().map(PathBuf::as_path)), nearest) {
                    (Some(hint), _) => hint,
                    (None, Some(nearest)) => format!("did you mean `{nearest}`?"),
                    (None, None) => {
                        "build the plugins, or name their folder in `plugin-directories` or DIVVY_PLUGIN_PATH"
                            .to_owned()
                    }
                },
            ),
            Self::NothingFound { .. } => Some(
                "build the plugins, or name their folder with `--plugin-directory` or DIVVY_PLUGIN_PATH".to_owned(),
            ),
            Self::ListedTwice { .. } => Some("leave one of them out".to_owned()),
            Self::Load(error) | Self::File { error, .. } => error.hint(),
            Self::Isolation { error, .. } => error.hint(),
            Self::NotIsolated { key, .. } => Some(format!("set `isolation = \"process\"`, or remove `{key}`")),
            Self::NotSkippable { .. } => {
                Some("only filters and scores that enforce nothing can have `on-error = \"skip\"`".to_owned())
            }
            Self::TwoForStrategy { strategy, first, .. } => {
                Some(format!("choose one: `[profile.strategies]` `{strategy} = \"{first}\"`"))
            }
            Self::AfterSpread {
                enforcing, follower, ..
            } => Some(format!("put `{follower}` before `{enforcing}`")),
            Self::TableNotProvided {
                table,
                columns,
                rows,
                known,
                ..
            } => Some(match names::nearest(table, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "add `[profile.table.{table}]` with `file`, `key`{} and `columns = {{ {} }}`",
                    match rows {
                        RowsPerKey::One => "",
                        RowsPerKey::Several => ", `rows = \"several\"`",
                    },
                    columns.join(", ")
                ),
            }),
            Self::TableColumnNotProvided {
                column,
                column_type,
                nearest,
                ..
            }
            | Self::CostColumnNotProvided {
                column,
                column_type,
                nearest,
                ..
            } => Some(match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("add `{}` to its `columns`", tables::line(column, *column_type)),
            }),
            Self::CostTableNotProvided { table, known } => match names::hint(table, known) {
                None => Some(format!(
                    "add `[profile.table.{table}]` with `file`, `key` and `columns`"
                )),
                hint => hint,
            },
            Self::TableColumnType { column, expected, .. } | Self::CostColumnType { column, expected, .. } => {
                Some(format!("declare it as `{}`", tables::line(column, *expected)))
            }
            Self::CostTableRows { .. } => Some("remove its `rows`, or name another table".to_owned()),
            Self::TableRows { expected, .. } => Some(match expected {
                RowsPerKey::One => "remove its `rows`".to_owned(),
                RowsPerKey::Several => "set its `rows = \"several\"`".to_owned(),
            }),
            Self::UnknownTableOfPlugin { table, known, .. } => names::hint(table, known),
            Self::Table { error, .. } => error.hint(),
            Self::NothingMoves { .. } => {
                Some("allow at least one replica in `max-surge` or in `max-unavailable`".to_owned())
            }
            Self::TableIncomplete { columns, .. } if !columns.is_empty() => {
                Some(format!("plugins read these: `columns = {{ {} }}`", columns.join(", ")))
            }
            Self::Missing { .. } => Some("`extends = \"default\"` takes it from the built-in profile".to_owned()),
            _ => None,
        }
    }

    /// Details of the cause in several lines.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Load(error) | Self::File { error, .. } => error.detail(),
            _ => None,
        }
    }

    /// Key at fault, relative to the profile's table.
    pub fn key(&self) -> Option<String> {
        match self {
            Self::Load(LoadError::Configuration { plugin, path, .. }) if path.is_empty() => {
                Some(format!("plugin.{plugin}.configuration"))
            }
            Self::Load(LoadError::Configuration { plugin, path, .. }) => {
                Some(format!("plugin.{plugin}.configuration.{path}"))
            }
            Self::Load(LoadError::ChecksumMismatch { .. }) => None,
            Self::NotAStrategyOf { strategy, .. } => Some(format!("strategies.{strategy}")),
            Self::Unused { plugin, .. } => Some(format!("plugin.{plugin}")),
            Self::NotIsolated { plugin, key } => Some(format!("plugin.{plugin}.{key}")),
            Self::NotSkippable { plugin, .. } => Some(format!("plugin.{plugin}.on-error")),
            Self::AfterSpread { index, .. } => Some(format!("select[{index}]")),
            Self::NothingMoves { key } => Some(format!("moves.{key}")),
            Self::TableColumnNotProvided { table, .. } => Some(format!("table.{table}.columns")),
            Self::TableColumnType { table, column, .. } => Some(format!("table.{table}.columns.{column}")),
            Self::TableRows { table, .. } => Some(format!("table.{table}")),
            Self::UnknownTableOfPlugin { plugin, table, .. } => Some(format!("plugin.{plugin}.tables.{table}")),
            Self::CostIncomplete { .. } => Some("cost".to_owned()),
            Self::CostTableNotProvided { .. } | Self::CostTableRows { .. } => Some("cost.table".to_owned()),
            Self::CostColumnNotProvided { key, .. } | Self::CostColumnType { key, .. } => Some(format!("cost.{key}")),
            Self::TableIncomplete { table, .. } => Some(format!("table.{table}")),
            Self::Table { table, .. } => Some(format!("table.{table}.file")),
            Self::ListedTwice { list, index, .. } => Some(format!("{list}[{index}]")),
            _ => None,
        }
    }
}

fn cost_lacks(key: &str) -> String {
    match key {
        "gpu-resource" => "has an empty `gpu-resource`, expected the name of a resource".to_owned(),
        "cpu-hour" => "names no column with prices: `cpu-hour`, `gib-hour` or `gpu-hour`".to_owned(),
        key => format!("has no `{key}`"),
    }
}

fn listed(directories: &[PathBuf]) -> String {
    if directories.is_empty() {
        return "no directory".to_owned();
    }
    let names: Vec<String> = directories.iter().map(|path| format!("`{}`", path.display())).collect();
    names.join(", ")
}

fn per_key(rows: RowsPerKey) -> &'static str {
    match rows {
        RowsPerKey::One => "one row per key",
        RowsPerKey::Several => "several rows per key",
    }
}

fn serves_instead(serves: &Option<Vec<&'static str>>) -> String {
    match serves {
        None => "`assign` does not list".to_owned(),
        Some(serves) => format!("serves {}", serves.join(", ")),
    }
}
