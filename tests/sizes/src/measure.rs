//! Runs a command under GNU time, which knows the peak memory of a process.

use std::path::Path;
use std::process::{Command, Stdio};

/// Time and memory of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Elapsed time, in seconds.
    pub(crate) seconds: f64,
    /// Processor time on all cores, in seconds.
    pub(crate) processor: f64,
    /// Peak of resident memory, in MB of 1,000,000 bytes.
    pub(crate) megabytes: u64,
    /// Exit code.
    pub(crate) exit: i32,
}

/// Runs a command, whose output is discarded, and measures it.
///
/// # Errors
///
/// A sentence, if the command cannot be started or ends with an error of input, of a plugin, or by a signal.
pub(crate) fn measure(divvy: &Path, arguments: &[String], figures: &Path) -> Result<Figures, String> {
    run(divvy, arguments, figures, Stdio::null()).map(|(figures, _)| figures)
}

/// The same, with its output.
pub(crate) fn measure_output(
    program: &Path,
    arguments: &[String],
    figures: &Path,
) -> Result<(Figures, String), String> {
    run(program, arguments, figures, Stdio::piped())
}

fn run(divvy: &Path, arguments: &[String], figures: &Path, stdout: Stdio) -> Result<(Figures, String), String> {
    let mut command = Command::new("/usr/bin/time");
    command
        .args(["--quiet", "--format", "%e %U %S %M", "--output"])
        .arg(figures);
    command.arg(divvy).args(arguments).stdin(Stdio::null()).stdout(stdout);
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(|error| format!("/usr/bin/time cannot be started: {error}"))?;
    let exit = output.status.code().unwrap_or(-1);
    // 1: something cannot be scheduled or is lost, which some of the cases are about.
    if !(0..=1).contains(&exit) {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{} {}: exit code {exit}\n{told}",
            divvy.display(),
            arguments.join(" ")
        ));
    }
    let text = std::fs::read_to_string(figures).map_err(|error| format!("{}: {error}", figures.display()))?;
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[seconds, user, system, kilobytes]) => {
            let figures = Figures {
                seconds,
                processor: user + system,
                megabytes: (kilobytes * 1024.0 / 1e6).round() as u64,
                exit,
            };
            Ok((figures, String::from_utf8_lossy(&output.stdout).into_owned()))
        }
        _ => Err(format!("/usr/bin/time wrote `{}` instead of four numbers", text.trim())),
    }
}
