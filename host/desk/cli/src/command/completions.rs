//! `divvy completions`: prints the script with which a shell asks this binary for completions, and answers what the shell asks.
//!
//! The script sets an environment variable and repeats the unfinished command line. So the answers come from the input that the line
//! names: see [`candidates`](super::candidates).

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_complete::env::Shells;
use divvy_command::completing::{self, VARIABLE};
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;

use super::candidates::with_candidates;
use super::programs::Call;

/// Print completions for a shell.
///
/// The shell then asks divvy: clusters, bindings and namespaces are those of the files or of the control plane that the command line
/// names so far. Files of more than 32 MiB together are not read, and a control plane has two seconds to answer.
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

/// Answers a shell that asks for completions, and ends the process. Returns if none does. Lines of `divvy run` and `divvy plugin` are
/// answered by their programs.
pub(super) fn answer<Line: CommandFactory>() {
    if std::env::var_os(VARIABLE).is_some() {
        let line = std::env::args_os().skip_while(|word| word != "--").skip(1);
        if let Some(call) = Call::of(Line::command, line) {
            // The line is the same: the program knows under which name it is asked. One that is missing has no candidates.
            let _missing = call.program.execute(std::env::args_os().skip(1));
        }
    }
    completing::answer(|| with_candidates(Line::command()));
}

/// Prints the script for `command`. Fails only if standard output cannot be written.
pub(super) fn run(arguments: &CompletionsArguments, command: &Command, console: &Console) -> Result<Exit, Failure> {
    let shell = arguments.shell.to_string();
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(&shell) else {
        let message = format!("there are no completions for `{shell}`");
        return Err(Failure::usage(Diagnostic::new(message)));
    };
    let name = command.get_name();
    // Generate into memory first, so that an error of the stream is one of the output.
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, name, name, name, &mut script)
        .map_err(|error| Failure::output(&error))?;
    console.print(|out| out.write_all(&script))?;
    Ok(Exit::Success)
}
