//! Log messages of the library and the plugins.
//!
//! Messages about a binding name it in the field `binding`.

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::console::Console;
use crate::errors::{Diagnostic, Failure};
use crate::log_lines::{LineForm, LogLines};

/// Environment variable that sets log levels.
pub const LOG_VARIABLE: &str = "DIVVY_LOG";

/// Prints the messages of a command that ends by itself: warnings, and more with `--verbose`.
///
/// An invalid `DIVVY_LOG` is an error of usage: the command does not run.
pub fn start(console: &Console) -> Result<(), Failure> {
    let level = match console.verbosity() {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let format = tracing_subscriber::fmt::layer()
        .with_writer(LogLines::new(LineForm::Text {
            has_colour: has_colour(),
        }))
        .without_time()
        .with_target(console.verbosity() > 1 || chosen_levels().is_some());
    let format = format.with_filter(levels(level)?);
    tracing_subscriber::registry().with(format).init();
    Ok(())
}

/// Log levels: those of `DIVVY_LOG`, such as `warn,divvy::plugin::average=debug`; otherwise `level` for Divvy's own targets.
pub fn levels(level: LevelFilter) -> Result<Targets, Failure> {
    match chosen_levels() {
        Some(levels) => levels.parse::<Targets>().map_err(|error| {
            Failure::usage(
                Diagnostic::new(format!("{LOG_VARIABLE}: `{levels}` is not a list of log levels"))
                    .with_hint("write `debug`, or `warn,divvy::plugin::average=debug`")
                    .with_cause(error.to_string()),
            )
        }),
        // Messages of libraries repeat the controller's in the form of a debugger. They are printed only at the most verbose
        // level.
        None => Ok(Targets::new()
            .with_default(if level == LevelFilter::TRACE {
                level
            } else {
                level.min(LevelFilter::WARN)
            })
            .with_target("divvy", level)
            .with_target(
                "kube_client",
                if level == LevelFilter::TRACE {
                    level
                } else {
                    LevelFilter::OFF
                },
            )
            .with_target("kube_runtime", level.min(LevelFilter::ERROR))),
    }
}

/// The value of `DIVVY_LOG`, unless it is empty.
pub fn chosen_levels() -> Option<String> {
    std::env::var(LOG_VARIABLE).ok().filter(|levels| !levels.is_empty())
}

/// True if standard error shows colours.
pub fn has_colour() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
