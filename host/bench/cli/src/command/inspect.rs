//! `divvy plugin inspect`: facts from a library's file, without running any of its code.

use std::path::PathBuf;

use clap::Args;
use divvy_command::additional::is_file;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::form;
use divvy_command::libraries::{diagnostic, not_found};
use divvy_command::setup::ProfileArguments;
use divvy_command::text::printable;
use divvy_loader::LoadOptions;
use divvy_loader::inspection::{Inspection, Refusal};
use divvy_profile::ProfileConfiguration;
use divvy_scheduler::profile::libraries::{Libraries, Located};

use super::Format;
use crate::report::inspection::{self, FromLibrary, Inspected};

/// Arguments of `divvy plugin inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// Name of the plugin, or path of its library
    #[arg(value_name = "NAME|FILE")]
    plugin: String,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Load the library, in the process in which the profile runs it, for facts that its file does not show: lists, configuration and preferences
    #[arg(long)]
    load: bool,
    /// Output format; `json` has a schema: host/desk/cli/schema/inspect.json
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Prints the facts from the file and whether this host would load it. Ends with exit code 2 if it would not, as every command that
/// loads it, or if the library is not found.
pub(super) fn run(arguments: &InspectArguments, console: &Console) -> Result<Exit, Failure> {
    let mut chosen = arguments.profile.read()?;
    let directories = arguments.profile.directories()?;
    let asked = arguments.plugin.as_str();
    let located = locate(asked, &Libraries::new(&chosen.configuration, &directories))?;
    let file = Inspection::read(&located.path).map_err(|error| Failure::usage(diagnostic(&error)))?;
    // As for other commands, the option is about a file that is named on the command line.
    if arguments.profile.allows_uncertified() && is_file(asked) {
        for record in &file.records {
            let table = chosen.configuration.plugin.entry(record.name.clone()).or_default();
            table.allow_uncertified = true;
        }
    }
    let profile = &chosen.configuration;
    let mut libraries = Libraries::new(profile, &directories);
    let name = name(arguments, &file);
    // A library of several plugins loads if each of them does: a profile names them.
    let names: Vec<Option<&str>> = match &name {
        Some(name) => vec![Some(name)],
        None if file.records.is_empty() => vec![None],
        None => file.records.iter().map(|record| Some(record.name.as_str())).collect(),
    };
    let mut refusals: Vec<Refusal> = names
        .into_iter()
        .filter_map(|name| file.refusal(options(name, profile)))
        .collect();
    // A cause that stays when the library is allowed comes first.
    refusals.sort_by_key(Refusal::is_for_lack_of_certificate);
    let refusal = refusals.into_iter().next();
    if arguments.load && refusal.is_none() && name.is_none() && file.records.len() > 1 {
        return Err(one_plugin_only(&file));
    }
    let from_library = match arguments.load && refusal.is_none() {
        true => {
            let open = libraries.open(name.as_deref().unwrap_or(asked), &located);
            let open = open.map_err(|error| Failure::usage(chosen.diagnostic(&error)))?;
            Some(FromLibrary::of(open.library()))
        }
        false => None,
    };
    let inspected = Inspected::new(&file, name.as_deref(), refusal.as_ref(), from_library);
    console.print(|out| match arguments.output {
        Format::Table => inspection::write(&inspected, console.width(), out),
        Format::Json => form::write_value(&inspected, out),
    })?;
    Ok(match refusal {
        None => Exit::Success,
        Some(_) => Exit::Usage,
    })
}

/// What a library says of itself, it says of one plugin.
fn one_plugin_only(file: &Inspection) -> Failure {
    let names: Vec<String> = file
        .records
        .iter()
        .map(|record| format!("`{}`", printable(&record.name)))
        .collect();
    let message = format!(
        "`--load` needs the name of one plugin: library `{}` has {}",
        file.path.display(),
        names.join(", ")
    );
    let hint = "give its name in place of the file, and a profile in which `path` of the plugin is this file";
    Failure::usage(Diagnostic::new(message).with_hint(hint))
}

/// The library's file.
fn locate(asked: &str, libraries: &Libraries<'_>) -> Result<Located, Failure> {
    match libraries.locate(asked) {
        Some(located) if located.is_given => Ok(located),
        _ if is_file(asked) => Ok(Located {
            path: PathBuf::from(asked),
            is_given: true,
        }),
        located => located.ok_or_else(|| not_found(asked, libraries.directories())),
    }
}

/// The requested plugin, or the only one in the file.
fn name(arguments: &InspectArguments, file: &Inspection) -> Option<String> {
    let asked = arguments.plugin.as_str();
    if !is_file(asked) {
        return Some(asked.to_owned());
    }
    let first = file.records.first()?;
    let is_only = file.records.iter().all(|record| record.name == first.name);
    is_only.then(|| first.name.clone())
}

/// The conditions under which the profile would open the library.
fn options<'a>(name: Option<&'a str>, profile: &'a ProfileConfiguration) -> LoadOptions<'a> {
    let table = name.and_then(|name| profile.plugin.get(name));
    LoadOptions {
        name,
        checksum: table.and_then(|table| table.sha256.as_deref()),
        allow_uncertified: table.is_some_and(|table| table.allow_uncertified),
        ..LoadOptions::default()
    }
}
