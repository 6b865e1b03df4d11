//! The man pages of the commands of a program, for packages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::errors::{Diagnostic, Failure};
use crate::exit::Exit;

/// Write the man pages of all commands to a folder
#[derive(Debug, Args)]
pub struct ManPagesArguments {
    /// Folder, which is created if it does not exist
    #[arg(value_name = "DIRECTORY")]
    pub directory: PathBuf,
}

/// Writes one page per command: `divvy.1`, `divvy-plugin-list.1`. A folder that cannot be written is an error with exit code 2.
///
/// Commands that are programs of their own are left out by their names: the program writes their pages.
///
/// # Errors
///
/// The folder or a page cannot be written.
pub fn write(directory: &Path, mut command: Command, programs: &[&str]) -> Result<Exit, Failure> {
    // Gives each command its full name, and the global options.
    command.build();
    let written = fs::create_dir_all(directory).and_then(|()| write_below(&command, directory, programs));
    written.map_err(|error| {
        let message = format!("the man pages cannot be written to `{}`", directory.display());
        Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
    })?;
    Ok(Exit::Success)
}

/// Writes the page of a command, and those of the commands below it.
fn write_below(command: &Command, directory: &Path, programs: &[&str]) -> io::Result<()> {
    Man::new(command.clone()).generate_to(directory)?;
    let mut below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set() && below.get_name() != "help" && !programs.contains(&below.get_name()));
    below.try_for_each(|below| write_below(below, directory, &[]))
}
