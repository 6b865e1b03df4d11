//! The child's side of `divvy plugin verify`: one check, or one case of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use divvy_command::additional::{is_file, with_plugin_of, with_plugins};
use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::libraries::plugin_names;
use divvy_command::logging::LOG_VARIABLE;
use divvy_conformance::check::{self, Effort};
use divvy_conformance::generate::Shape;
use divvy_conformance::supervise::{Event, Loaded};
use divvy_conformance::{Case, Subject};
use divvy_loader::directories::PATH_VARIABLE;
use divvy_loader::{PluginDirectories, PluginFile};
use divvy_profile::{Isolation, ProfileConfiguration};
use divvy_scheduler::profile::libraries::Libraries;

use super::VerifyArguments;

/// Arguments that only this program passes.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ChildArguments {
    /// The step to take: `load`, or a check
    #[arg(long, hide = true)]
    step: Option<String>,
    /// Decide only the case in this file
    #[arg(long, hide = true)]
    one: Option<PathBuf>,
    /// Only print the case with this number
    #[arg(long, hide = true)]
    print_case: Option<u64>,
}

/// The step that loads the plugin.
const LOAD: &str = "load";

/// Time of the cases that the user provides, in milliseconds since 1970, so that every run decides the same.
const NOON: i64 = 1_800_000_000_000;

impl ChildArguments {
    pub(super) fn is_child(&self) -> bool {
        self.step.is_some()
    }
}

/// Arguments of a child that loads the plugin.
pub(super) fn load() -> Vec<OsString> {
    check(LOAD)
}

/// Arguments of a child that runs a check.
pub(super) fn check(name: &str) -> Vec<OsString> {
    vec![format!("--step={name}").into()]
}

/// Arguments of a child that runs a check on one case.
pub(super) fn one(name: &str, case: &Path) -> Vec<OsString> {
    let mut arguments = check(name);
    arguments.extend(["--one".into(), case.into()]);
    arguments
}

/// Arguments of a child that prints a case.
pub(super) fn print_case(number: u64) -> Vec<OsString> {
    let mut arguments = check(LOAD);
    arguments.push(format!("--print-case={number}").into());
    arguments
}

/// Runs a step and reports its outcome, one JSON object per line.
pub(super) fn run(arguments: &VerifyArguments, console: &Console) -> Result<Exit, Failure> {
    let step = arguments.child.step.as_deref().unwrap_or(LOAD);
    let subject = subject(arguments)?;
    let effort = Effort {
        seed: arguments.seed,
        runs: arguments.runs,
        largest: arguments.clusters,
        own: own_cases(arguments, &subject)?,
    };
    if let Some(number) = arguments.child.print_case {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(case) = check::cases(&Shape::of(&subject), &effort).nth(number) {
            say(console, &Event::Case(case))?;
        }
        return Ok(Exit::Success);
    }
    if step == LOAD {
        say(console, &Event::Loaded(loaded(&subject)?))?;
        return Ok(Exit::Success);
    }
    let one = arguments.child.one.as_deref().map(read_case).transpose()?;
    // In a thread of its own, whose end is part of the check: it drops a plugin's thread-local state.
    let checked = std::thread::scope(|scope| {
        let check = scope.spawn(|| run_check(console, &subject, step, &effort, one.as_ref()));
        check.join()
    });
    drop(subject);
    checked.unwrap_or_else(|_| Err(Failure::internal(Diagnostic::new("a check panicked"))))?;
    Ok(Exit::Success)
}

fn run_check(
    console: &Console,
    subject: &Subject,
    name: &str,
    effort: &Effort,
    one: Option<&Case>,
) -> Result<(), Failure> {
    let known = check::all();
    let Some(check) = known.iter().find(|check| check.name == name) else {
        return Err(Failure::internal(Diagnostic::new(format!("unknown check `{name}`"))));
    };
    let outcome = match one {
        Some(case) => check::run_one(check, subject, case),
        // If the parent is gone, nothing reads the output, and this process ends on its own.
        None => check::run(check, subject, effort, |case| _ = say(console, &Event::Begins { case })),
    };
    let peak_bytes = peak_bytes();
    say(console, &Event::Done { outcome, peak_bytes })
}

fn say(console: &Console, event: &Event) -> Result<(), Failure> {
    console.print(|out| {
        serde_json::to_writer(&mut *out, event)?;
        writeln!(out)
    })
}

/// The plugin in the profile that will run.
fn subject(arguments: &VerifyArguments) -> Result<Subject, Failure> {
    let directories = arguments.profile.directories()?;
    let chosen = arguments.profile.read()?;
    let (mut chosen, plugin) = with_subject(chosen, arguments, &directories)?;
    // A plugin that changes the working directory must not make its own file seem to be missing.
    for table in chosen.configuration.plugin.values_mut() {
        table.path = table.path.take().map(|path| std::path::absolute(&path).unwrap_or(path));
    }
    confine(arguments, &chosen, &plugin, &directories)?;
    let errors = match Subject::new(chosen.configuration.clone(), directories, &plugin) {
        Ok(subject) => return Ok(subject),
        Err(errors) => errors,
    };
    Err(Failure::usage_errors(
        errors.iter().map(|error| chosen.diagnostic(error)).collect(),
    ))
}

/// Confines this process before it runs anything of a plugin that the profile would run in a worker. The checks look at what a plugin does to
/// the process, so it is this one.
fn confine(
    arguments: &VerifyArguments,
    chosen: &ChosenProfile,
    plugin: &str,
    directories: &PluginDirectories,
) -> Result<(), Failure> {
    let configuration = &chosen.configuration;
    let libraries = Libraries::new(configuration, directories);
    if !has_strangers(configuration, &libraries) {
        return Ok(());
    }
    // While the folders that were searched can be read: what is in them is part of the message.
    let names = plugin_names(configuration);
    let missing = libraries.missing(names.iter().map(String::as_str));
    if !missing.is_empty() {
        let diagnostics = missing.iter().map(|error| chosen.diagnostic(error));
        return Err(Failure::usage_errors(diagnostics.collect()));
    }
    let cases = arguments.cases.iter().chain(&arguments.child.one).cloned();
    let read = readable(configuration, &libraries).into_iter().chain(cases);
    // What does not exist, the profile reports.
    let read: Vec<PathBuf> = read.filter(|path| path.exists()).collect();
    // The observer looks at its own bound from time to time. Beyond this one, the kernel gives nothing.
    let memory = memory_limit(arguments.clusters).saturating_mul(2);
    let confined = divvy_isolation::confine_this_process(&read, memory).map_err(|error| {
        let diagnostic = Diagnostic::new(format!("the plugin `{plugin}` cannot be verified: {error}"));
        Failure::usage(match error.hint() {
            Some(hint) => diagnostic.with_hint(hint),
            None => diagnostic,
        })
    });
    confined.map(drop)
}

/// True if the profile would run any of its plugins in a worker. All run in this process, with the one that is verified.
fn has_strangers(configuration: &ProfileConfiguration, libraries: &Libraries<'_>) -> bool {
    plugin_names(configuration).iter().any(|name| {
        let located = libraries.locate(name);
        located.is_some_and(|located| libraries.isolation(name, &located) == Isolation::Process)
    })
}

/// True if a child will confine itself.
pub(super) fn is_confined(
    arguments: &VerifyArguments,
    chosen: ChosenProfile,
    directories: &PluginDirectories,
) -> Result<bool, Failure> {
    let (chosen, _) = with_subject(chosen, arguments, directories)?;
    let libraries = Libraries::new(&chosen.configuration, directories);
    Ok(has_strangers(&chosen.configuration, &libraries))
}

/// Memory that a confined child may have: what a worker may, and what the check needs itself, which is more with more clusters.
pub(super) fn memory_limit(clusters: u64) -> u64 {
    const PLUGIN: u64 = 1 << 30;
    const CHECK: u64 = 1 << 30;
    const CLUSTER: u64 = 64 << 10;
    clusters.saturating_mul(CLUSTER).saturating_add(PLUGIN + CHECK)
}

/// Variables that a confined child inherits: those of a worker, and those that this program reads itself.
pub(super) fn environment() -> Vec<(OsString, OsString)> {
    let own = [PATH_VARIABLE, LOG_VARIABLE];
    let own = own
        .into_iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    divvy_isolation::environment().chain(own).collect()
}

/// The files that a profile names and that are read once this process is confined: the libraries of all plugins, the tables, and what any of
/// the plugins may read, since all of them are constructed here.
fn readable(configuration: &ProfileConfiguration, libraries: &Libraries<'_>) -> Vec<PathBuf> {
    let names = plugin_names(configuration);
    let files = names.iter().filter_map(|name| Some(libraries.locate(name)?.path));
    let tables = configuration.table.values().filter_map(|table| table.file.clone());
    let granted = names.iter().filter_map(|name| configuration.plugin.get(name));
    let granted = granted.flat_map(|table| table.read.iter().cloned());
    files.chain(tables).chain(granted).collect()
}

/// The profile with the plugin, and the plugin's name. A profile that uses the plugin keeps it where it is, and only
/// its file is replaced.
fn with_subject(
    chosen: ChosenProfile,
    arguments: &VerifyArguments,
    directories: &PluginDirectories,
) -> Result<(ChosenProfile, String), Failure> {
    let argument = arguments.plugin.as_str();
    let used = plugin_names(&chosen.configuration);
    if !is_file(argument) {
        return match used.iter().any(|name| name == argument) {
            true => Ok((chosen, argument.to_owned())),
            false => {
                let with = with_plugins(
                    chosen,
                    &[argument.to_owned()],
                    directories,
                    arguments.profile.allows_uncertified(),
                )?;
                Ok((with, argument.to_owned()))
            }
        };
    }
    let path = PathBuf::from(argument);
    let names = PluginFile::read(&path)
        .map_err(|error| Failure::usage(divvy_command::libraries::diagnostic(&error)))?
        .names();
    if let Some(name) = arguments.name.as_ref().filter(|name| !names.contains(name)) {
        let message = format!("`{argument}` holds no plugin `{name}`");
        let hint = format!("it holds `{}`", names.join("`, `"));
        return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
    }
    let is_asked = |name: &&String| arguments.name.as_ref().is_none_or(|asked| asked == *name);
    let known = names.iter().filter(is_asked).find(|name| used.contains(name)).cloned();
    if let Some(name) = known {
        let mut chosen = chosen;
        let table = chosen.configuration.plugin.entry(name.clone()).or_default();
        table.path = Some(path);
        // The checksum in the profile is that of the replaced file.
        table.sha256 = None;
        table.allow_uncertified |= arguments.profile.allows_uncertified();
        return Ok((chosen, name));
    }
    let allow = arguments.profile.allows_uncertified();
    if let Some(name) = &arguments.name {
        return Ok((with_plugin_of(chosen, &path, name, directories, allow)?, name.clone()));
    }
    let chosen = with_plugins(chosen, &[argument.to_owned()], directories, allow)?;
    let first = names.into_iter().next();
    let name = first.ok_or_else(|| Failure::usage(Diagnostic::new(format!("`{argument}` contains no plugin"))))?;
    Ok((chosen, name))
}

fn loaded(subject: &Subject) -> Result<Loaded, Failure> {
    let mut loaded = subject.describe()?;
    let applying = check::all().into_iter().filter(|check| check.applies(subject));
    loaded.checks = applying.map(|check| check.name.to_owned()).collect();
    Ok(loaded)
}

fn own_cases(arguments: &VerifyArguments, subject: &Subject) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for path in &arguments.cases {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(Diagnostic::new(format!("`{name}` cannot be read")).with_cause(error.to_string()))
        })?;
        let read = subject.cases_from_manifests(&name, &text, NOON);
        cases.extend(read.map_err(|problem| Failure::usage(Diagnostic::new(problem)))?);
    }
    Ok(cases)
}

fn read_case(path: &Path) -> Result<Case, Failure> {
    let unreadable = |cause: String| Failure::internal(Diagnostic::new("a case cannot be read").with_cause(cause));
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

/// Peak memory of this process, in bytes; 0 if the system does not report it.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the kernel has no landlock, nothing else shows what is missing.
    #[test]
    fn a_confined_child_reads_all_that_its_profile_names() {
        let configuration: ProfileConfiguration = serde_json::from_value(serde_json::json!({
            "name": "priced",
            "assign": ["cheapest", "other"],
            "plugin": {
                "cheapest": { "path": "libcheapest.so", "read": ["zones"] },
                "other": { "path": "libother.so", "read": ["holidays"] },
                "unused": { "path": "libunused.so", "read": ["secrets"] },
            },
            "table": { "prices": { "file": "prices.csv" }, "unread": {} },
        }))
        .unwrap();
        let libraries = Libraries::new(&configuration, &PluginDirectories::default());

        let mut read = readable(&configuration, &libraries);

        read.sort();
        assert_eq!(
            read,
            ["holidays", "libcheapest.so", "libother.so", "prices.csv", "zones"].map(PathBuf::from)
        );
    }

    #[test]
    fn a_child_may_have_more_memory_for_more_clusters() {
        assert_eq!(memory_limit(0), 2 << 30);
        assert!(memory_limit(5_000) < 3 << 30 && memory_limit(100_000) > 8 << 30);
        assert_eq!(memory_limit(u64::MAX), u64::MAX);
    }
}
