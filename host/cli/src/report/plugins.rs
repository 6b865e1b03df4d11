//! Reports on plugins: a list of all, or the full description of one.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use divvy_framework::table::ColumnType;
use divvy_scheduler::plugin::{DeclaredTable, LoadError, PluginLibrary};
use divvy_scheduler::strategy::{PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION};
use serde::Serialize;
use serde_json::Value;

use super::grid::{Cell, Column, Grid};
use super::structured::write_value;
use super::style;
use super::text::{counted, printable};

/// Minimum width of a terminal, in columns, for promises to have their own column instead of a line.
const PROMISES_COLUMN_MINIMUM: usize = 120;

/// A file that is, or should be, a plugin.
#[derive(Debug)]
pub(crate) struct Found {
    /// Name of the plugin, from its file or from the profile.
    pub(crate) name: String,
    /// Absolute path of the file.
    pub(crate) path: PathBuf,
    /// True if the profile names it.
    pub(crate) in_profile: bool,
    /// The loaded plugin, or why it cannot be loaded.
    pub(crate) library: Result<PluginLibrary, LoadError>,
}

/// A plugin in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Description<'a> {
    name: &'a str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_profile: Option<bool>,
    #[serde(flatten)]
    library: Option<LibraryDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LibraryDescription {
    version: &'static str,
    description: &'static str,
    sdk_version: &'static str,
    abi_version: String,
    extension_points: Vec<&'static str>,
    strategies: Vec<&'static str>,
    promises: Vec<&'static str>,
    inputs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tables: Vec<TableDescription>,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferences_schema: Option<Value>,
}

/// A table that a plugin reads.
#[derive(Debug, Serialize)]
struct TableDescription {
    name: String,
    columns: Vec<ColumnDescription>,
}

#[derive(Debug, Serialize)]
struct ColumnDescription {
    name: String,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<u32>,
}

impl TableDescription {
    fn of(table: &DeclaredTable) -> Self {
        let columns = table.columns.iter().map(|column| ColumnDescription {
            name: column.name.clone(),
            r#type: column.column_type.word(),
            scale: match column.column_type {
                ColumnType::Decimal { scale } => Some(scale),
                _ => None,
            },
        });
        Self {
            name: table.name.clone(),
            columns: columns.collect(),
        }
    }
}

impl LibraryDescription {
    fn of(library: &PluginLibrary, has_schemas: bool) -> Self {
        let schema = |text: String| has_schemas.then(|| serde_json::from_str(&text).unwrap_or(Value::Null));
        Self {
            version: library.version(),
            description: library.description(),
            sdk_version: library.sdk_version(),
            abi_version: library.abi_version().to_string(),
            extension_points: library.extension_points(),
            strategies: library.strategies(),
            promises: library.promise_names(),
            inputs: library.input_names(),
            tables: library.tables().iter().map(TableDescription::of).collect(),
            sha256: library.checksum().to_owned(),
            configuration_schema: schema(library.configuration_schema()),
            preferences_schema: schema(library.preferences_schema()),
        }
    }
}

/// Writes the list as a table. Plugins that cannot be loaded show their error and a hint.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_table(found: &[Found], wide: bool, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let mut titles = vec!["PLUGIN", "VERSION", "ABI", "SERVES", "PROMISES"];
    if wide {
        titles.extend(["SDK", "SHA256", "PATH"]);
    }
    let below = columns.is_some_and(|columns| columns < PROMISES_COLUMN_MINIMUM) && !wide;
    let mut grid = Grid::new(titles.into_iter().map(Column::left).collect());
    for found in found {
        match &found.library {
            Ok(library) => {
                let name_style = if found.in_profile { style::NAME } else { style::PLAIN };
                let promises = library.promise_names().join(", ");
                let mut cells = vec![
                    Cell::new(library.name(), name_style),
                    Cell::plain(library.version()),
                    Cell::plain(library.abi_version().to_string()),
                    Cell::new(serves(library), style::STRATEGY),
                    if below { Cell::empty() } else { Cell::plain(&promises) },
                ];
                if wide {
                    cells.extend([
                        Cell::plain(library.sdk_version()),
                        Cell::plain(library.checksum()),
                        Cell::plain(library.path().display().to_string()),
                    ]);
                }
                grid.cells(cells);
                if below && !promises.is_empty() {
                    grid.text(2, promises, style::FAINT);
                }
            }
            Err(error) => {
                grid.cells(vec![Cell::new(&found.name, style::BAD)]);
                grid.text(2, error.to_string(), style::BAD);
                if let Some(hint) = error.hint() {
                    grid.text(2, format!("hint: {hint}"), style::PLAIN);
                }
            }
        }
    }
    grid.write(out, columns)?;
    let broken = found.iter().filter(|found| found.library.is_err()).count();
    let used = found.iter().filter(|found| found.in_profile).count();
    let parents = found.iter().filter_map(|found| found.path.parent());
    let folders: BTreeSet<String> = parents.map(|folder| folder.display().to_string()).collect();
    let folders: Vec<String> = folders.into_iter().collect();
    let broken = match broken {
        0 => String::new(),
        count => format!(", {count} broken"),
    };
    writeln!(out)?;
    writeln!(
        out,
        "{}, {used} in the profile{broken}, from {}",
        counted(found.len(), "plugin"),
        printable(&folders.join(", "))
    )
}

/// Extension points of a plugin; Assign is followed by its strategies.
fn serves(library: &PluginLibrary) -> String {
    let points = library.extension_points().join(", ");
    match library.strategies().as_slice() {
        [] => points,
        strategies => points.replace("Assign", &format!("Assign: {}", strategies.join(", "))),
    }
}

/// Writes the list as JSON, without the schemas.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_json(found: &[Found], out: &mut dyn Write) -> io::Result<()> {
    let descriptions: Vec<Description<'_>> = found
        .iter()
        .map(|found| {
            let (library, error) = match &found.library {
                Ok(library) => (Some(LibraryDescription::of(library, false)), None),
                Err(error) => (None, Some(error)),
            };
            Description {
                name: &found.name,
                path: found.path.display().to_string(),
                in_profile: Some(found.in_profile),
                library,
                error: error.map(ToString::to_string),
                hint: error.and_then(LoadError::hint),
            }
        })
        .collect();
    write_value(&descriptions, out)
}

/// Writes the description of one plugin as JSON, with the schemas of its configuration and preferences.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_one_json(library: &PluginLibrary, out: &mut dyn Write) -> io::Result<()> {
    let description = Description {
        name: library.name(),
        path: library.path().display().to_string(),
        in_profile: None,
        library: Some(LibraryDescription::of(library, true)),
        error: None,
        hint: None,
    };
    write_value(&description, out)
}

/// Writes the description of one plugin as text, with the keys of its configuration and preferences.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_one(library: &PluginLibrary, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let (bold, faint) = (style::NAME, style::FAINT);
    writeln!(out, "{bold}{}{bold:#} {}", printable(library.name()), library.version())?;
    writeln!(out, "  {}", printable(library.description()))?;
    let or_none = |words: Vec<&str>| match words.as_slice() {
        [] => "none".to_owned(),
        words => words.join(", "),
    };
    let mut lists = Vec::new();
    for list in library.rule_lists() {
        let fields = list.fields.iter();
        lists.extend(fields.map(|field| format!("{}[].{}", list.name, field.name)));
    }
    let mut lines = vec![("extension points", or_none(library.extension_points()))];
    if !library.strategies().is_empty() {
        lines.push(("strategies", or_none(library.strategies())));
    }
    if !library.strategies().is_empty() || !library.promise_names().is_empty() {
        lines.push(("promises", or_none(library.promise_names())));
    }
    if !lists.is_empty() {
        lines.push(("reads of a policy", lists.join(", ")));
    }
    if !library.input_names().is_empty() {
        lines.push(("also sees", library.input_names().join(", ")));
    }
    for table in library.tables() {
        let columns = table.columns.iter();
        let columns: Vec<String> = columns
            .map(|column| format!("{} ({})", column.name, column.column_type))
            .collect();
        lines.push(("reads the table", format!("{}: {}", table.name, columns.join(", "))));
    }
    let versions = format!("SDK {}, ABI {}", library.sdk_version(), library.abi_version());
    lines.extend([
        ("built with", versions),
        ("path", library.path().display().to_string()),
        ("sha256", library.checksum().to_owned()),
    ]);
    for (title, text) in lines {
        writeln!(out, "  {faint}{title:17}{faint:#}  {}", printable(&text))?;
    }
    writeln!(out)?;
    let (title, schema) = (
        format!("[profile.plugin.{}.configuration]", library.name()),
        library.configuration_schema(),
    );
    super::schema::write(out, columns, &title, &schema, "takes no configuration")?;
    writeln!(out)?;
    let own = format!("{PLUGIN_PREFERENCES_PREFIX}{}", library.name());
    let title = match library.strategies().is_empty() {
        true => own.as_str(),
        false => PREFERENCES_ANNOTATION,
    };
    let schema = library.preferences_schema();
    let none = match lists.is_empty() {
        true => "reads no preferences of its own",
        false => "reads the lists above, and no other key",
    };
    super::schema::write(out, columns, title, &schema, none)
}
