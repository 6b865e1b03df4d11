//! `divvy profile`: prints profiles and checks them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use clap::{Args, Subcommand};
use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure, headline, remark};
use divvy_command::exit::Exit;
use divvy_command::libraries::plugin_names;
use divvy_command::setup::ProfileArguments;
use divvy_command::style;
use divvy_command::text::{counted, wrapped};
use divvy_loader::PluginDirectories;
use divvy_profile::{BUILT_IN, DEFAULT_NAME, MovesConfiguration};
use divvy_scheduler::profile::{Profile, RegistryError};
use serde_json::Value;

use crate::report::profile::with_origins;

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
  divvy profile show mine.toml            # the resolved profile")]
    Show(ShowArguments),
    /// Report every problem in a profile; loads and constructs its plugins
    #[command(after_help = "\
Examples:
  divvy profile check production.toml          # every profile of the file
  divvy profile check production.toml#batch staging.toml")]
    Check(CheckArguments),
}

/// Arguments of `divvy profile show`.
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    /// Profile, as with `--profile`
    #[arg(value_name = "PROFILE", conflicts_with = "profile")]
    name: Option<String>,
    #[command(flatten)]
    profile: ProfileArguments,
}

/// Arguments of `divvy profile check`.
#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Profiles, as with `--profile`
    #[arg(value_name = "PROFILE", conflicts_with = "profile")]
    names: Vec<String>,
    #[command(flatten)]
    profile: ProfileArguments,
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
        writeln!(out, "{faint}{:<14}  {:<37}  SUMMARY{faint:#}", "PROFILE", "MATCHES")?;
        for built_in in &BUILT_IN {
            let matches = built_in.matches.unwrap_or("-");
            writeln!(
                out,
                "{:<14}  {faint}{matches:<37}{faint:#}  {}",
                built_in.name, built_in.summary
            )?;
        }
        Ok(())
    })?;
    Ok(Exit::Success)
}

fn show(arguments: &ShowArguments, console: &Console) -> Result<Exit, Failure> {
    let ChosenProfile { source, configuration } = match &arguments.name {
        Some(name) => arguments.profile.with_profile(name).read()?,
        None => arguments.profile.read()?,
    };
    let text = match source.as_built_in() {
        // The built-in text extends nothing and has comments.
        Some(built_in) if built_in.name == DEFAULT_NAME => built_in.text.to_owned(),
        _ => format!(
            "# Profile `{}` ({}), with everything it extends filled in.\n\n{}",
            configuration.name,
            source.name(),
            with_origins(&source, &configuration)?
        ),
    };
    console.print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Success)
}

/// Builds every profile and reports the problems of all together, so that one that fails does not hide the next.
fn check(arguments: &CheckArguments, console: &Console) -> Result<Exit, Failure> {
    let directories = arguments.profile.directories()?;
    let names = arguments.names.iter().map(|name| arguments.profile.with_profile(name));
    let mut files: Vec<ProfileArguments> = names.collect();
    if files.is_empty() {
        files.push(arguments.profile.clone());
    }
    let mut diagnostics = Vec::new();
    for file in &files {
        match file.read_all() {
            Ok((profiles, invalid)) => {
                let is_whole = invalid.is_none();
                diagnostics.extend(invalid.into_iter().flat_map(|failure| failure.diagnostics));
                check_file(&profiles, is_whole, &directories, &mut diagnostics, console)?;
            }
            Err(failure) => diagnostics.extend(failure.diagnostics),
        }
    }
    if diagnostics.is_empty() {
        return Ok(Exit::Success);
    }
    let count = counted(diagnostics.len(), "problem");
    let of = if files.len() == 1 {
        "the profile"
    } else {
        "the profiles"
    };
    Err(Failure {
        conclusion: Some(format!("{count} in {of}")),
        ..Failure::usage_errors(diagnostics)
    })
}

/// Builds the profiles of a file. A problem that a profile inherits from one above it is reported there only. `is_whole` is false if
/// parts of the file could not be read: problems that may follow from that are not reported.
fn check_file(
    profiles: &[ChosenProfile],
    is_whole: bool,
    directories: &PluginDirectories,
    diagnostics: &mut Vec<Diagnostic>,
    console: &Console,
) -> Result<(), Failure> {
    let mut reported: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for chosen in profiles {
        let name = chosen.configuration.name.as_str();
        let mut found: Vec<(String, Diagnostic)> = missing_directories(chosen);
        match chosen.try_build(directories) {
            Ok(profile) if found.is_empty() && is_whole => {
                console.print(|out| summary(chosen, &profile, console.width(), out))?;
                report_shadowed(chosen, &profile, directories, console);
                report_exposures(&profile, console);
            }
            Ok(_) => {}
            Err(errors) => {
                let follows = |error: &&RegistryError| {
                    matches!(error, RegistryError::Missing { .. } | RegistryError::Unused { .. })
                };
                let errors = errors.iter().filter(|error| is_whole || !follows(error));
                found.extend(errors.map(|error| (error.to_string(), chosen.diagnostic(error))));
            }
        }
        let above = chosen.source.extended_by(name).and_then(|base| reported.get(base));
        let inherited = above.cloned().unwrap_or_default();
        let own = found.iter().filter(|(text, _)| !inherited.contains(text));
        diagnostics.extend(own.map(|(_, diagnostic)| diagnostic.clone()));
        reported.insert(name, found.into_iter().map(|(text, _)| text).collect());
    }
    Ok(())
}

/// Folders of `plugin-directories` that do not exist. A scheduler then searches the others, and may find another plugin.
fn missing_directories(chosen: &ChosenProfile) -> Vec<(String, Diagnostic)> {
    let directories = chosen.configuration.plugin_directories.iter().enumerate();
    let missing = directories.filter(|(_, directory)| !directory.is_dir());
    let missing = missing.map(|(index, directory)| {
        let text = format!("plugin directory `{}` is not a folder", directory.display());
        let location = chosen.location(&format!("plugin-directories[{index}]"));
        let diagnostic = Diagnostic::new(format!("{location}: {text}"));
        // Usually the folder into which one of the plugins is yet to be built.
        let folder = PluginDirectories::new([directory.clone()]);
        let mut used = plugin_names(&chosen.configuration).into_iter();
        let diagnostic = match used.find_map(|plugin| folder.hint_for_missing(&plugin)) {
            Some(hint) => diagnostic.with_hint(hint),
            None => diagnostic,
        };
        (text, diagnostic)
    });
    missing.collect()
}

/// Warns of libraries that are not used because a folder that is searched earlier holds one for the same plugin.
fn report_shadowed(chosen: &ChosenProfile, profile: &Profile, directories: &PluginDirectories, console: &Console) {
    let configuration = &chosen.configuration;
    let directories = directories
        .clone()
        .followed_by(configuration.plugin_directories.iter().cloned());
    let has_path = |name: &str| configuration.plugin.get(name).is_some_and(|table| table.path.is_some());
    for plugin in profile.plugins().filter(|plugin| !has_path(plugin.name())) {
        for shadowed in directories.shadowed(plugin.name()) {
            let text = format!(
                "plugin `{}` is taken from `{}`, not from `{}`",
                plugin.name(),
                plugin.library().path().display(),
                shadowed.display()
            );
            console.message(|out| headline(out, "warning", style::WARNING, &text));
        }
    }
}

/// Warns of what this system lacks to bound the profile's plugins.
fn report_exposures(profile: &Profile, console: &Console) {
    for exposure in profile.exposures() {
        let text = format!("{}: `{}`", exposure.message, exposure.plugins.join("`, `"));
        console.message(|out| {
            headline(out, "warning", style::WARNING, &text)?;
            exposure.hint.iter().try_for_each(|hint| remark(out, "hint", hint))
        });
    }
}

/// Plugins in processes of their own, and who bounds what they use. No kernel bounds threads and processor time of a single process outside of a
/// cgroup, which a scheduler in a pod cannot make.
fn isolated_plugins(profile: &Profile) -> Option<String> {
    let names = profile.plugins().filter(|plugin| plugin.is_isolated());
    let names: Vec<&str> = names.map(|plugin| plugin.name()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}; the scheduler bounds threads and processor time, and the kernel does not",
            names.join(", ")
        )
    })
}

/// The tables of a profile: the keys of their rows, and the plugins that read them.
fn table_lines(chosen: &ChosenProfile, profile: &Profile) -> Vec<String> {
    let loaded = profile.tables().map_or(&[][..], |tables| tables.tables());
    let priced = profile.pricing().map(|pricing| pricing.table());
    let tables = chosen.configuration.table.iter().map(|(name, configuration)| {
        let key = configuration.key.clone().unwrap_or_default();
        let plugins = profile.plugins();
        let plugins = plugins.filter(|plugin| plugin.reads_table(name, &chosen.configuration));
        let for_costs = priced.filter(|table| table.name() == name);
        let readers = plugins.map(|plugin| plugin.name());
        let readers: Vec<&str> = readers.chain(for_costs.map(|_| "`[profile.cost]`")).collect();
        match loaded.iter().chain(for_costs).find(|table| table.name() == name) {
            Some(table) => format!(
                "{name} by {key}: {} in {}, read by {}",
                counted(table.rows(), "row"),
                table.source().file.display(),
                readers.join(", ")
            ),
            None => format!("{name} by {key}: no plugin reads it"),
        }
    });
    tables.collect()
}

/// The settings of `[profile.moves]` but its pace, as `max-surge 25%` and `budgets.bindings 10`. Absent ones have their defaults.
fn move_settings(moves: &MovesConfiguration) -> Vec<String> {
    let moves = MovesConfiguration {
        pace: None,
        ..moves.clone()
    };
    let mut settings = Vec::new();
    // A table of TOML is also a JSON object.
    if let Ok(value) = serde_json::to_value(moves) {
        add_settings("", &value, &mut settings);
    }
    settings.sort();
    if settings.is_empty() {
        settings.push("as by default".to_owned());
    }
    settings
}

fn add_settings(key: &str, value: &Value, settings: &mut Vec<String>) {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                let key = match key {
                    "" => name.clone(),
                    key => format!("{key}.{name}"),
                };
                add_settings(&key, value, settings);
            }
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(text).collect();
            settings.push(format!("{key} {}", values.join(", ")));
        }
        value => settings.push(format!("{key} {}", text(value))),
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
    ];
    let moves = chosen.configuration.moves.as_ref();
    let pace = moves.and_then(|moves| moves.pace.clone()).unwrap_or_default();
    let moves = moves.map(|moves| ("moves", move_settings(moves).join("; ")));
    let seed = ("seed", profile.plan_options().seed.to_string());
    let tables = table_lines(chosen, profile);
    let isolated = isolated_plugins(profile).map(|isolated| ("isolated", isolated));
    let lines = lines
        .into_iter()
        .chain([("pace", pace)])
        .chain(moves)
        .chain([seed])
        .chain(isolated)
        .chain(tables.into_iter().map(|table| ("table", table)));
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
