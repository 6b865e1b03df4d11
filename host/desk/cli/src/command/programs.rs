//! Commands that are programs of their own: `divvy run` is `divvy-scheduler`, and `divvy plugin` is `divvy-plugin`.
//!
//! git and cargo find theirs in the same way. Whoever only reads manifests needs neither, and the image of a scheduler has no other.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use divvy_command::closed::pass_on_closed_output;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::program::called;

/// The commands that are programs.
pub(super) const NAMES: [&str; 2] = [Program::Scheduler.command(), Program::Plugin.command()];

/// A program that is a command of `divvy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// `divvy run`.
    Scheduler,
    /// `divvy plugin`.
    Plugin,
}

/// The arguments of a command that is a program, which reads them itself. The definition is only there for the list in the help.
#[derive(Debug, Args)]
pub(super) struct PassedOn {
    /// Arguments of the command
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) arguments: Vec<OsString>,
}

/// A call of such a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The program.
    pub(super) program: Program,
    /// Its arguments: those before the command, which are options of every command, and those after it.
    pub(super) arguments: Vec<OsString>,
}

impl Program {
    const ALL: [Self; 2] = [Self::Scheduler, Self::Plugin];

    /// The command.
    const fn command(self) -> &'static str {
        match self {
            Self::Scheduler => "run",
            Self::Plugin => "plugin",
        }
    }

    /// Name of the program's file.
    fn file(self) -> &'static str {
        match self {
            Self::Scheduler => "divvy-scheduler",
            Self::Plugin => "divvy-plugin",
        }
    }

    /// The program: the file beside this one, or else in a folder of `PATH`.
    fn find(self) -> Option<PathBuf> {
        let own = std::env::current_exe().and_then(std::fs::canonicalize).ok();
        let beside = own.and_then(|own| Some(own.parent()?.to_owned()));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut files = beside
            .into_iter()
            .chain(std::env::split_paths(&path))
            .map(|folder| folder.join(self.file()));
        files.find(|file| file.is_file())
    }

    /// Becomes the program. Returns only if that fails.
    pub(super) fn execute(self, arguments: impl IntoIterator<Item = OsString>) -> Failure {
        let (command, file) = (self.command(), self.file());
        let Some(path) = self.find() else {
            let message = format!(
                "`divvy {command}` is the program `{file}`, which is neither beside this one nor in a folder of PATH"
            );
            let hint = format!(
                "install it: releases have it, and `cargo build --release` builds it; or call `{file}` where it is"
            );
            return Failure::usage(Diagnostic::new(message).with_hint(hint));
        };
        let own = called().unwrap_or_else(|| "divvy".to_owned());
        pass_on_closed_output();
        let error = Command::new(&path)
            .arg0(format!("{own} {command}"))
            .args(arguments)
            .exec();
        let message = format!("`{}` cannot be started", path.display());
        Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
    }
}

impl Call {
    /// The call that a line is, whose first word is the name of the command; `None` if the line is not one of a program. The definition of
    /// the command is made only for a line with a long option before its subcommand.
    ///
    /// Nothing is checked: what is wrong with the arguments is for the program to say.
    pub(super) fn of(definition: fn() -> clap::Command, line: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = line.into_iter().skip(1);
        let mut arguments = Vec::new();
        let mut is_help = false;
        while let Some(word) = words.next() {
            let text = word.to_str()?;
            let program = Program::ALL.into_iter().find(|program| text == program.command());
            if let Some(program) = program {
                arguments.extend(words);
                if is_help {
                    arguments.push("--help".into());
                }
                return Some(Self { program, arguments });
            }
            match text {
                "help" if !is_help => {
                    is_help = true;
                    continue;
                }
                option if option.starts_with('-') && !is_help => {}
                _ => return None,
            }
            let has_value = takes_value(definition, &word);
            arguments.push(word);
            if has_value {
                arguments.push(words.next()?);
            }
        }
        None
    }
}

/// True if an option of every command is followed by its value: `--color` is, `--color=never` and `-v` are not.
fn takes_value(definition: fn() -> clap::Command, word: &OsStr) -> bool {
    let Some(name) = word.to_str().and_then(|word| word.strip_prefix("--")) else {
        return false;
    };
    let command = definition();
    let option = command.get_arguments().find(|option| option.get_long() == Some(name));
    option.is_some_and(|option| option.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command::CommandLine;

    /// The arguments of a line for a program.
    fn called(line: &str) -> Option<(Program, String)> {
        let words = line.split(' ').map(OsString::from);
        let call = Call::of(CommandLine::command, words)?;
        let arguments = call.arguments.join(OsStr::new(" "));
        Some((call.program, arguments.into_string().ok()?))
    }

    #[test]
    fn a_program_gets_the_options_before_its_name_and_everything_after_it() {
        let expected = [
            ("divvy run", Program::Scheduler, ""),
            ("divvy plugin list --help", Program::Plugin, "list --help"),
            (
                "divvy -v --color never run --profile run",
                Program::Scheduler,
                "-v --color never --profile run",
            ),
            (
                "divvy --color=never -vv plugin test .",
                Program::Plugin,
                "--color=never -vv test .",
            ),
            ("divvy help plugin verify", Program::Plugin, "verify --help"),
            ("divvy help run", Program::Scheduler, "--help"),
        ];
        for (line, program, arguments) in expected {
            assert_eq!(called(line), Some((program, arguments.to_owned())), "{line}");
        }
        for line in [
            "divvy",
            "divvy -h",
            "divvy schedule run",
            "divvy --color run",
            "divvy --color run schedule",
            "divvy help schedule run",
            "divvy help",
        ] {
            assert_eq!(called(line), None, "{line}");
        }
    }
}
