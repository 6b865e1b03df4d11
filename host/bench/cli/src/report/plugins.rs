//! Report on plugins: a list of all.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use divvy_command::form::write_value;
use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::style;
use divvy_command::text::{counted, printable};
use divvy_isolation::MissingFacility;
use divvy_loader::PluginLibrary;
use divvy_profile::Isolation;
use divvy_scheduler::profile::RegistryError;
use serde::Serialize;

use super::declared::{ActsOn, TableDescription};

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
    /// The process in which it runs.
    pub(crate) isolation: Isolation,
    /// Facilities that this system lacks to isolate it.
    pub(crate) missing: Vec<MissingFacility>,
    /// The loaded plugin, or the reason why it cannot be loaded.
    pub(crate) library: Result<PluginLibrary, RegistryError>,
}

/// A plugin in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Description<'a> {
    name: &'a str,
    path: String,
    in_profile: bool,
    isolation: Isolation,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [MissingFacility],
    #[serde(flatten)]
    library: Option<LibraryDescription<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LibraryDescription<'a> {
    version: &'a str,
    description: &'a str,
    sdk_version: &'a str,
    abi_version: String,
    extension_points: Vec<&'static str>,
    strategies: Vec<&'static str>,
    promises: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    acts_on: Vec<ActsOn>,
    inputs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tables: Vec<TableDescription>,
    sha256: String,
}

impl<'a> LibraryDescription<'a> {
    fn of(library: &'a PluginLibrary) -> Self {
        Self {
            version: library.version(),
            description: library.description(),
            sdk_version: library.sdk_version(),
            abi_version: library.abi_version().to_string(),
            extension_points: library.extension_points(),
            strategies: library.strategies(),
            promises: library.promise_names(),
            acts_on: ActsOn::list(|point| library.acts_on(point)),
            inputs: library.input_names(),
            tables: library.tables().iter().map(TableDescription::of).collect(),
            sha256: library.checksum().to_owned(),
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
        titles.extend(["ISOLATION", "SDK", "SHA256", "PATH"]);
    }
    let below = columns.is_some_and(|columns| columns < PROMISES_COLUMN_MINIMUM) && !wide;
    let mut grid = Grid::new(titles.into_iter().map(Column::left).collect::<Vec<_>>());
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
                    if below {
                        Cell::empty()
                    } else {
                        Cell::plain(promises.clone())
                    },
                ];
                if wide {
                    cells.extend([
                        Cell::plain(match found.isolation {
                            Isolation::Process => "process",
                            Isolation::None => "none",
                        }),
                        Cell::plain(library.sdk_version()),
                        Cell::plain(library.checksum()),
                        Cell::plain(library.path().display().to_string()),
                    ]);
                }
                grid.cells(cells);
                if below && !promises.is_empty() {
                    grid.text(2, promises, style::FAINT);
                }
                for missing in found.missing.iter().filter(|_| wide) {
                    grid.text(2, format!("warning: {}", missing.message), style::WARNING);
                    if let Some(hint) = &missing.hint {
                        grid.text(2, format!("hint: {hint}"), style::PLAIN);
                    }
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

/// Writes the list as JSON.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_json(found: &[Found], out: &mut dyn Write) -> io::Result<()> {
    let descriptions: Vec<Description<'_>> = found
        .iter()
        .map(|found| {
            let (library, error) = match &found.library {
                Ok(library) => (Some(LibraryDescription::of(library)), None),
                Err(error) => (None, Some(error)),
            };
            Description {
                name: &found.name,
                path: found.path.display().to_string(),
                in_profile: found.in_profile,
                isolation: found.isolation,
                missing: &found.missing,
                library,
                error: error.map(ToString::to_string),
                hint: error.and_then(RegistryError::hint),
            }
        })
        .collect();
    write_value(&descriptions, out)
}
