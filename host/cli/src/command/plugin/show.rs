//! `divvy plugin show`: one plugin, with what it accepts.

use std::path::PathBuf;

use clap::Args;
use divvy_scheduler::plugin::loader::PluginFile;
use divvy_scheduler::plugin::{LoadError, LoadOptions, PluginLibrary};

use super::{Format, diagnostic, directories, named_by_profile, not_found};
use crate::command::Exit;
use crate::command::setup::ProfileArguments;
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::plugins;

/// Arguments of `divvy plugin show`.
#[derive(Debug, Args)]
pub(in crate::command) struct ShowArguments {
    /// Name of the plugin, or path of its library
    #[arg(value_name = "NAME")]
    plugin: String,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Output format; `json` includes the JSON Schemas
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// Runs `divvy plugin show`.
pub(super) fn run(arguments: &ShowArguments, console: &Console) -> Result<Exit, Failure> {
    let chosen = arguments.profile.read()?;
    let directories = directories(&arguments.profile, &chosen.configuration)?;
    let name = arguments.plugin.as_str();
    let path = match named_by_profile(&chosen.configuration, name) {
        Some(path) => path,
        None if name.contains('/') => PathBuf::from(name),
        None => directories.find(name).ok_or_else(|| not_found(name, &directories))?,
    };
    let library = match PluginLibrary::load(&path, None) {
        // The name tells which of them is meant.
        Err(LoadError::SeveralPlugins { .. }) if !name.contains('/') => PluginFile::read(&path).and_then(|file| {
            file.open(LoadOptions {
                name: Some(name),
                ..LoadOptions::default()
            })
        }),
        loaded => loaded,
    };
    let library = library.map_err(|error| Failure::usage(diagnostic(&error)))?;
    console.print(|out| match arguments.output {
        Format::Table => plugins::write_one(&library, console.width(), out),
        Format::Json => plugins::write_one_json(&library, out),
    })?;
    Ok(Exit::Success)
}
