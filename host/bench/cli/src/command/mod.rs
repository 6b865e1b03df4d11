//! The commands. Each is documented at its arguments, and has a file with a `run` function, which returns the exit code.

mod golden;
mod inspect;
mod library;
mod new;
mod test;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Subcommand, ValueEnum};
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::libraries::plugin_names;
use divvy_command::man_pages::{self, ManPagesArguments};
use divvy_command::setup::ProfileArguments;
use divvy_loader::PluginFile;
use divvy_profile::ProfileConfiguration;
use divvy_scheduler::profile::libraries::{Libraries, Located, OpenLibrary};

use crate::report::plugins::{self, Found};

/// List plugins, show what each accepts, create and test new ones.
#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// List every plugin, and every file that is named like a plugin but cannot be loaded
    ///
    /// Searches `--plugin-directory` folders first, then the folder of the binary, `../lib/divvy/plugins` relative to
    /// it, the folders of `DIVVY_PLUGIN_PATH`, and those of the profile.
    #[command(after_help = "\
Examples:
  divvy plugin list
  divvy plugin list -o json | jq -r '.[] | \"\\(.name) \\(.sha256)\"'
  divvy plugin list --profile production.toml   # includes plugins that it names by path")]
    List(ListArguments),
    /// Show the facts in a plugin's file, and whether this divvy would load it, without running any of its code
    ///
    /// Ends with exit code 2 if the library would be refused, as every command that loads it.
    #[command(
        visible_alias = "show",
        after_help = "\
Examples:
  divvy plugin inspect ./target/release/libmy_strategy.so
  divvy plugin inspect static-weight --load   # also configuration and preferences
  divvy plugin inspect specified --load -o json | jq .preferencesSchema
  divvy plugin inspect ./libmine.so -o json | jq .verdict.loads"
    )]
    Inspect(inspect::InspectArguments),
    Verify(Box<verify::VerifyArguments>),
    /// Create a plugin that builds and passes its tests unchanged
    #[command(after_help = new::EXAMPLES)]
    New(new::NewArguments),
    /// Test a plugin: its own tests, then the library that was built, in the scheduler
    ///
    /// Runs `cargo test` or `make test`, builds the library, loads exactly that file, and decides the golden cases: each folder
    /// `golden/NAME` has manifests and, in `expected.txt`, the decisions. Without `--profile`, the profile is `profile.toml` in the
    /// plugin's folder.
    #[command(after_help = test::EXAMPLES)]
    Test(test::TestArguments),
    #[command(hide = true)]
    ManPages(ManPagesArguments),
}

/// The error of a command line, with the replacement as its tip if it asks for one of the commands that moved plugins through registries
/// before the first release.
pub(super) fn with_replacement(mut error: clap::Error) -> clap::Error {
    let unknown = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(unknown)) => unknown.as_str(),
        _ => "",
    };
    if matches!(unknown, "push" | "pull" | "key") {
        let tip = "build an image of the plugin with its `Dockerfile`, sign it with `cosign`, and mount it as a volume: docs/plugins/images.md";
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Arguments of `divvy plugin list`.
#[derive(Debug, Args)]
pub(super) struct ListArguments {
    #[command(flatten)]
    profile: ProfileArguments,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = ListFormat::Table)]
    output: ListFormat,
}

/// Output format of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// For people
    Table,
    /// For people, with isolation, SDK version, checksum and path
    Wide,
    /// For programs
    Json,
}

/// Output format of one plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Runs the subcommand.
///
/// `list` ends with exit code 2 if no plugin is found or one cannot be loaded, after printing the others; `inspect`
/// and `verify` if the plugin is not found.
pub(super) fn run(
    command: &PluginCommand,
    definition: impl FnOnce() -> clap::Command,
    console: &Console,
) -> Result<Exit, Failure> {
    match command {
        PluginCommand::List(arguments) => list(arguments, console),
        PluginCommand::Inspect(arguments) => inspect::run(arguments, console),
        PluginCommand::Verify(arguments) => verify::run(arguments, console),
        PluginCommand::New(arguments) => new::run(arguments, console),
        PluginCommand::Test(arguments) => test::run(arguments, console),
        PluginCommand::ManPages(arguments) => man_pages::write(&arguments.directory, definition(), &[]),
    }
}

fn list(arguments: &ListArguments, console: &Console) -> Result<Exit, Failure> {
    let chosen = arguments.profile.read()?;
    let mut libraries = Libraries::new(&chosen.configuration, &arguments.profile.directories()?);
    let found = find(&mut libraries, &chosen.configuration);
    console.print(|out| match arguments.output {
        ListFormat::Table => plugins::write_table(&found, false, console.width(), out),
        ListFormat::Wide => plugins::write_table(&found, true, console.width(), out),
        ListFormat::Json => plugins::write_json(&found, out),
    })?;
    let is_broken = found.iter().any(|found| found.library.is_err());
    if found.is_empty() {
        return Err(Failure::usage(
            Diagnostic::new(format!("no plugin found; looked in {}", libraries.directories()))
                .with_hint("build the plugins, or name their folder with `--plugin-directory` or DIVVY_PLUGIN_PATH"),
        ));
    }
    Ok(if is_broken { Exit::Usage } else { Exit::Success })
}

/// Loads every file that is named like a plugin and every plugin that the profile names, sorted by name, each in the process in which it
/// would run. A file that cannot be loaded stays in the list with its error.
fn find(libraries: &mut Libraries<'_>, profile: &ProfileConfiguration) -> Vec<Found> {
    let listed = libraries.directories().list().into_iter();
    let mut files: BTreeMap<String, Located> = listed
        .map(|(name, path)| (name, Located { path, is_given: false }))
        .collect();
    let used = plugin_names(profile);
    for name in &used {
        if let Some(located) = libraries.locate(name) {
            files.insert(name.clone(), located);
        }
    }
    // A library of several plugins is not found by the name of one of them: a profile gives its path.
    let of_several = |(name, located): (String, Located)| {
        let names = PluginFile::read(&located.path).map(|file| file.names());
        match names {
            Ok(names) if names.len() > 1 && !names.contains(&name) => {
                let located = Located {
                    is_given: true,
                    ..located
                };
                names.into_iter().map(|own| (own, located.clone())).collect()
            }
            _ => vec![(name, located)],
        }
    };
    let mut files: Vec<(String, Located)> = files.into_iter().flat_map(of_several).collect();
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    let load = |(name, located): (String, Located)| {
        let file = PluginFile::read(&located.path);
        // The only plugin in a file may have another name than the file.
        let own = match file.as_ref().map(PluginFile::names).as_deref() {
            Ok([only]) => only.clone(),
            _ => name.clone(),
        };
        let opened = match file {
            Ok(file) => libraries.open_file(&own, &located, file),
            Err(error) => Err(error.into()),
        };
        Found {
            isolation: libraries.isolation(&own, &located),
            missing: opened
                .as_ref()
                .map_or_else(|_| Vec::new(), OpenLibrary::missing_facilities),
            library: opened.map(Into::into),
            in_profile: used.contains(&name),
            path: absolute(&located.path),
            name,
        }
    };
    files.into_iter().map(load).collect()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
