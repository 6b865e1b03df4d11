//! `divvy completions`: prints a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::Exit;
use crate::report::console::Console;
use crate::report::errors::Failure;

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  divvy completions bash > /etc/bash_completion.d/divvy
  divvy completions zsh > \"${fpath[1]}/_divvy\"
  divvy completions fish > ~/.config/fish/completions/divvy.fish")]
pub(super) struct CompletionsArguments {
    /// Shell to generate completions for
    shell: Shell,
}

/// Prints the script for `command`. Fails only if standard output cannot be written.
pub(super) fn run(arguments: &CompletionsArguments, command: &mut Command, console: &Console) -> Result<Exit, Failure> {
    // Generate into memory first: the generator panics if its stream fails.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command, "divvy", &mut script);
    console.print(|out| out.write_all(&script))?;
    Ok(Exit::Success)
}
