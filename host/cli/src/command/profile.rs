//! `divvy profile`: prints profiles and checks them.

use std::io::{self, Write};

use clap::Subcommand;
use divvy_scheduler::profile::{BUILT_IN, DEFAULT_NAME};
use divvy_scheduler::scheduler::Profile;

use super::Exit;
use super::setup::{ChosenProfile, ProfileArguments};
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::style;
use crate::report::text::{counted, wrapped};

/// Columns before the text of each line of a summary.
const TITLE_COLUMNS: usize = 14;

/// Show and check profiles.
#[derive(Debug, Subcommand)]
pub(super) enum ProfileCommand {
    /// List the built-in profiles and the version of Karmada that each matches
    List,
    /// Print a profile as TOML, with everything it extends filled in
    #[command(after_help = "\
Examples:
  divvy profile show > mine.toml          # the default profile with comments, as a starting point
  divvy profile show --profile karmada    # the profile that decides as Karmada's scheduler does
  divvy profile show --profile mine.toml  # the resolved profile")]
    Show(ProfileArguments),
    /// Report every problem in a profile; loads and constructs its plugins
    #[command(after_help = "\
Examples:
  divvy profile check --profile production.toml          # every profile of the file
  divvy profile check --profile production.toml#batch")]
    Check(ProfileArguments),
}

/// Runs the subcommand. A profile that cannot be read, or built by `check`, ends the run with exit code 2.
pub(super) fn run(command: &ProfileCommand, console: &Console) -> Result<Exit, Failure> {
    match command {
        ProfileCommand::List => list(console),
        ProfileCommand::Show(arguments) => show(arguments, console),
        ProfileCommand::Check(arguments) => check(arguments, console),
    }
}

/// Prints the built-in profiles.
fn list(console: &Console) -> Result<Exit, Failure> {
    let faint = style::FAINT;
    console.print(|out| {
        writeln!(out, "{faint}{:<14}  {:<48}  SUMMARY{faint:#}", "PROFILE", "MATCHES")?;
        for built_in in &BUILT_IN {
            let matches = built_in.matches.unwrap_or("-");
            writeln!(
                out,
                "{:<14}  {faint}{matches:<48}{faint:#}  {}",
                built_in.name, built_in.summary
            )?;
        }
        Ok(())
    })?;
    Ok(Exit::Success)
}

fn show(arguments: &ProfileArguments, console: &Console) -> Result<Exit, Failure> {
    let ChosenProfile { source, configuration } = arguments.read()?;
    let text = match source.as_built_in() {
        // Extends nothing, and has comments.
        Some(built_in) if built_in.name == DEFAULT_NAME => built_in.text.to_owned(),
        _ => format!(
            "# Profile `{}` ({}), with everything it extends filled in.\n\n{}",
            configuration.name,
            source.name(),
            configuration.to_toml()
        ),
    };
    console.print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Success)
}

/// Builds every profile and reports the problems of all together, so that one that fails does not hide the next.
fn check(arguments: &ProfileArguments, console: &Console) -> Result<Exit, Failure> {
    let directories = arguments.directories()?;
    let mut failure: Option<Failure> = None;
    for chosen in arguments.read_all()? {
        match chosen.build(&directories) {
            Ok(profile) => console.print(|out| summary(&chosen, &profile, console.width(), out))?,
            Err(of_profile) => match &mut failure {
                Some(failure) => failure.diagnostics.extend(of_profile.diagnostics),
                None => failure = Some(of_profile),
            },
        }
    }
    match failure {
        None => Ok(Exit::Success),
        Some(mut failure) => {
            let count = counted(failure.diagnostics.len(), "problem");
            failure.conclusion = Some(format!("{count} in the profile"));
            Err(failure)
        }
    }
}

fn summary(chosen: &ChosenProfile, profile: &Profile, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let (good, faint) = (style::GOOD, style::FAINT);
    let file = chosen.source.name();
    writeln!(out, "{good}ok{good:#}: profile `{}` ({file})", profile.name())?;
    let filters: Vec<&str> = profile.filters().map(|plugin| plugin.name()).collect();
    let scores = profile
        .scores()
        .map(|(plugin, weight)| format!("{} × {weight}", plugin.name()));
    let scores: Vec<String> = scores.collect();
    let selectors: Vec<&str> = profile.selectors().map(|plugin| plugin.name()).collect();
    let strategies: Vec<String> = profile
        .strategies()
        .map(|strategy| {
            let (name, plugin) = (strategy.name(), strategy.plugin().name());
            // `StaticWeight` implies the plugin `static-weight`: a plugin is named only if it differs.
            if plugin.replace('-', "").eq_ignore_ascii_case(name) {
                name.to_owned()
            } else {
                format!("{name} ({plugin})")
            }
        })
        .collect();
    let lines = [
        ("filters", filters.join(", ")),
        ("scores", scores.join(", ")),
        ("select", selectors.join(", ")),
        ("strategies", strategies.join(", ")),
        ("seed", profile.plan_options().seed.to_string()),
    ];
    for (title, text) in lines {
        let text = if text.is_empty() { "none".to_owned() } else { text };
        let room = columns.map(|columns| columns.saturating_sub(TITLE_COLUMNS));
        for (number, line) in wrapped(&text, room).iter().enumerate() {
            let title = if number == 0 { title } else { "" };
            writeln!(out, "  {faint}{title:10}{faint:#}  {line}")?;
        }
    }
    Ok(())
}
