//! The beginning and the end of each program: the options that all have, the name under which it was called, and the exit code.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgAction, Args, ColorChoice, CommandFactory, FromArgMatches};

use crate::console::Console;
use crate::duration;
use crate::ends;
use crate::errors::Failure;
use crate::exit::Exit;
use crate::logging;
use crate::text::{is_hidden, printable};
use crate::worker;

/// Help heading of the options that every command accepts.
pub const GLOBAL: &str = "Global options";

/// Options of every program.
#[derive(Debug, Args)]
pub struct GeneralArguments {
    /// When to use colour; `auto` honours `NO_COLOR`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    color: ColorChoice,
    /// Print more: `-v` for progress, `-vv` for reasons, `-vvv` for everything
    ///
    /// The environment variable DIVVY_LOG sets the level of each target instead: `DIVVY_LOG=warn,divvy::plugin::average=debug`
    /// prints warnings, and the log of the plugin `average`. The targets of all plugins begin with `divvy::plugin`.
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = GLOBAL)]
    verbose: u8,
}

/// Options of programs whose commands end by themselves.
#[derive(Debug, Args)]
pub struct HangArguments {
    /// End with exit code 3 if a call of a plugin does not return for this long, such as `30s`; 0s waits forever
    #[arg(long, global = true, value_name = "DURATION", default_value = "10s", value_parser = duration::parse, help_heading = GLOBAL)]
    hang_limit: Duration,
}

impl GeneralArguments {
    /// The console of this process, whose standard output is for data from now on.
    pub fn console(&self) -> Console {
        let color = match self.color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Console::new(color, self.verbose)
    }
}

/// Parses the arguments of this process, first of all that it does. An error is the exit code of what was printed instead: help, the version, or what is wrong.
///
/// `refined` may add what is known about an error.
pub fn parse<Line: CommandFactory + FromArgMatches>(
    refined: impl FnOnce(clap::Error) -> clap::Error,
) -> Result<Line, ExitCode> {
    // Here, because every program begins with it, and no child is started before.
    divvy_attribution::keep_ends_of_children();
    let mut command = match called() {
        Some(name) => Line::command().bin_name(name),
        None => Line::command(),
    };
    let parsed = command
        .try_get_matches_from_mut(std::env::args_os())
        .map_err(refined)
        .and_then(|matches| Line::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    parsed.map_err(|error| print_usage(&error))
}

/// The name under which this program was called, if that is not the name of its file: `kubectl divvy` for `kubectl-divvy`, as which kubectl
/// runs it, or `divvy plugin`, as which `divvy` does.
pub fn called() -> Option<String> {
    name_of(std::env::args_os().next()?)
}

fn name_of(called: OsString) -> Option<String> {
    let called = called.into_string().ok()?;
    match Path::new(&called).file_stem()?.to_str()? {
        "kubectl-divvy" => Some("kubectl divvy".to_owned()),
        name @ ("divvy run" | "divvy plugin" | "kubectl divvy run" | "kubectl divvy plugin") => Some(name.to_owned()),
        _ => None,
    }
}

/// Runs a command that ends by itself: names the plugin that crashes or hangs, prints a failure, and returns the exit code.
pub fn run(
    general: &GeneralArguments,
    hanging: &HangArguments,
    command: impl FnOnce(&Console) -> Result<Exit, Failure>,
) -> ExitCode {
    let console = general.console();
    worker::announce(worker::DEADLINE);
    let _armed = ends::arm();
    let started = logging::start(&console).and_then(|()| ends::watch(hanging.hang_limit));
    let done = started.and_then(|watchdog| {
        if let Some(watchdog) = watchdog {
            watchdog.stay();
        }
        command(&console)
    });
    console.finish(done)
}

/// `0.1.0 (plugin ABI 1.0)`.
pub fn version() -> String {
    format!(
        "{} (plugin ABI {})",
        env!("CARGO_PKG_VERSION"),
        divvy_framework_abi::ABI_VERSION
    )
}

/// Prints help, the version or an error of usage. Output that cannot be written is an error, too.
fn print_usage(error: &clap::Error) -> ExitCode {
    let has_controls = std::env::args_os().any(|argument| argument.to_string_lossy().contains(is_hidden));
    let printed = match error.use_stderr() {
        // The message quotes the arguments, and a terminal would obey them.
        true if has_controls => {
            let text = error.render().to_string();
            let lines = text.lines().map(printable);
            lines.for_each(|line| eprintln!("{line}"));
            Ok(())
        }
        true => error.print(),
        false => Console::check_output()
            .and_then(|()| error.print())
            .and_then(|()| std::io::stdout().flush()),
    };
    match printed {
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => {
            let failure = Failure::output(&fault);
            eprintln!("{}", failure.text());
            failure.exit.into()
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_says_what_was_typed() {
        let expected = [
            ("/usr/bin/divvy", None),
            ("divvy-plugin", None),
            ("/store/kubectl-divvy", Some("kubectl divvy")),
            ("divvy plugin", Some("divvy plugin")),
            ("kubectl divvy run", Some("kubectl divvy run")),
            ("divvy plugin\nerror: all is lost", None),
        ];
        for (called, name) in expected {
            assert_eq!(name_of(called.into()).as_deref(), name, "{called}");
        }
    }
}
