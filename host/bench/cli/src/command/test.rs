//! `divvy plugin test`: the tests of a plugin, then exactly the library that was built, in the scheduler.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;
use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure, headline, remark};
use divvy_command::exit::Exit;
use divvy_command::libraries::{diagnostic, plugin_names};
use divvy_command::setup::ProfileArguments;
use divvy_command::style;
use divvy_command::text::{counted, printable};
use divvy_loader::PluginFile;
use divvy_scheduler::profile::libraries::Libraries;

use super::golden::{self, Verdict};
use super::library::{Project, age};
use super::verify::{CLUSTERS, RUNS, clusters};

pub(super) const EXAMPLES: &str = "\
Examples:
  divvy plugin test                  # the plugin in the current folder
  divvy plugin test my-plugin --release
  divvy plugin test --update         # writes golden/*/expected.txt

Exit codes: 0 everything passed, 1 a test, a golden case or the verification fails, 2 wrong usage or profile, or a plugin that cannot \
be built or loaded.";

/// Arguments of `divvy plugin test`.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// Folder of the plugin
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Test and build with the release profile
    #[arg(long)]
    release: bool,
    /// Features of the crate to test and build with, as for cargo
    #[arg(long, value_name = "FEATURES")]
    features: Option<String>,
    /// Write the decisions of the golden cases instead of comparing them; refused where `CI` is set
    #[arg(long)]
    update: bool,
    /// Random cases of each check of `divvy plugin verify`
    #[arg(long, value_name = "NUMBER", default_value_t = RUNS)]
    runs: u64,
    /// Clusters of the largest case of `divvy plugin verify`
    #[arg(long, value_name = "NUMBER", default_value_t = CLUSTERS, value_parser = clusters())]
    clusters: u64,
    #[command(flatten)]
    profile: ProfileArguments,
}

/// Runs the tests, builds the library, decides the golden cases with it, and verifies it. The first step that fails ends the run,
/// except that all golden cases are decided.
pub(super) fn run(arguments: &TestArguments, console: &Console) -> Result<Exit, Failure> {
    if arguments.update && std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        let diagnostic = Diagnostic::new("`--update` is refused where the environment variable `CI` is set");
        let hint = "run it on your machine, and commit what it writes";
        return Err(Failure::usage(diagnostic.with_hint(hint)));
    }
    let project = Project::find(&arguments.folder, arguments.release, arguments.features.clone())?;
    let cases = golden::cases(&arguments.folder)?;
    project.test(arguments.profile.given_directories())?;
    let built = project.build()?;
    let file = PluginFile::read(&built.path).map_err(|error| Failure::usage(diagnostic(&error)))?;
    let tested = file.names();
    console.print(|out| {
        let (kind, age) = (&built.kind, age(&built.path));
        writeln!(out, "library {} ({kind}, written {age})", built.path.display())
    })?;
    let profile = profile(arguments);
    let mut chosen = profile.read()?;
    report_copies(&profile, &chosen, &tested, &built.path, console)?;
    load_from(&mut chosen, &tested, &built.path)?;
    let usual = profile.directories()?;
    let loaded = Arc::new(chosen.build(&usual)?);
    let (mut failed, mut erroneous) = (0, 0);
    for case in &cases {
        let own = case
            .profile()
            .map(|path| own_profile(&path, &profile, &tested, &built.path))
            .transpose()?;
        let (chosen, loaded) = match &own {
            Some((chosen, loaded)) => (chosen, loaded),
            None => (&chosen, &loaded),
        };
        let verdict = case.run(chosen, loaded, &tested, arguments.update)?;
        failed += usize::from(matches!(verdict, Verdict::Different(..)));
        erroneous += usize::from(matches!(verdict, Verdict::Failed(_)));
        report_verdict(&case.name, &verdict, console)?;
    }
    if failed + erroneous > 0 {
        let message = format!(
            "{} of {} failed",
            failed + erroneous,
            counted(cases.len(), "golden case")
        );
        let hint = match erroneous {
            0 => "if the new decisions are right, run `divvy plugin test --update`",
            _ => "an error is never a golden decision: correct the policy, the profile or the plugin",
        };
        let mut failure = Failure::usage(Diagnostic::new(message).with_hint(hint));
        failure.exit = Exit::Unschedulable;
        return Err(failure);
    }
    verify_all(&built.path, &tested, &profile, arguments, console)
}

/// Verifies every plugin of the library, and returns the first exit code that is not that of success. A library of one is verified without its
/// name.
fn verify_all(
    library: &Path,
    tested: &[String],
    profile: &ProfileArguments,
    arguments: &TestArguments,
    console: &Console,
) -> Result<Exit, Failure> {
    if tested.len() < 2 {
        return verify(library, None, profile, arguments, console);
    }
    let mut first = Exit::Success;
    for name in tested {
        let exit = verify(library, Some(name), profile, arguments, console)?;
        if first == Exit::Success {
            first = exit;
        }
    }
    Ok(first)
}

/// The profile that the arguments name; otherwise that in the plugin's folder, if it has one.
fn profile(arguments: &TestArguments) -> ProfileArguments {
    let own = arguments.folder.join("profile.toml");
    match own.to_str() {
        Some(own) if !arguments.profile.is_given() && Path::new(own).is_file() => arguments.profile.with_profile(own),
        _ => arguments.profile.clone(),
    }
}

/// The profile of one golden case, with the library under test.
fn own_profile(
    path: &Path,
    arguments: &ProfileArguments,
    tested: &[String],
    library: &Path,
) -> Result<(ChosenProfile, Arc<divvy_scheduler::profile::Profile>), Failure> {
    let arguments = arguments.with_profile(&path.to_string_lossy());
    let mut chosen = arguments.read()?;
    load_from(&mut chosen, tested, library)?;
    let usual = arguments.directories()?;
    let profile = chosen.build(&usual)?;
    Ok((chosen, Arc::new(profile)))
}

/// Makes the profile load the plugins under test from this file alone. A profile that uses none of them is an error,
/// because nothing would be tested.
fn load_from(chosen: &mut ChosenProfile, tested: &[String], library: &Path) -> Result<(), Failure> {
    let used = plugin_names(&chosen.configuration);
    if !tested.iter().any(|name| used.contains(name)) {
        let (file, profile) = (chosen.source.name(), &chosen.configuration.name);
        let message = format!(
            "{file}: profile `{profile}` does not use the plugin `{}`",
            tested.join("`, `")
        );
        let hint = "list it under `filters`, `scores`, `select`, `assign` or `moves.pace`, in `profile.toml` beside the plugin";
        return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
    }
    let library = std::path::absolute(library).unwrap_or_else(|_| library.to_owned());
    // Settings of a plugin that the profile does not use would be a warning.
    for name in tested.iter().filter(|name| used.contains(name)) {
        let table = chosen.configuration.plugin.entry(name.clone()).or_default();
        table.path = Some(library.clone());
        // The checksum in the profile is that of the file that ships.
        table.sha256 = None;
    }
    Ok(())
}

/// Names the copies that other commands would load with this profile instead of the library under test.
fn report_copies(
    arguments: &ProfileArguments,
    chosen: &ChosenProfile,
    tested: &[String],
    library: &Path,
    console: &Console,
) -> Result<(), Failure> {
    let libraries = Libraries::new(&chosen.configuration, &arguments.directories()?);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for name in tested {
        let found = libraries.locate(name).map(|located| located.path);
        let Some(copy) = found.filter(|found| real(found) != real(library)) else {
            continue;
        };
        if !copy.is_file() {
            continue;
        }
        let message = format!(
            "other commands load another copy of `{name}` with this profile: {}",
            copy.display()
        );
        let age = format!("written {}; this test does not use it", age(&copy));
        console.message(|out| headline(out, "note", style::HINT, &message).and_then(|()| remark(out, "copy", &age)));
    }
    Ok(())
}

fn report_verdict(case: &str, verdict: &Verdict, console: &Console) -> Result<(), Failure> {
    console.print(|out| match verdict {
        Verdict::Same => writeln!(out, "golden  {case}: ok"),
        Verdict::Updated => writeln!(out, "golden  {case}: updated"),
        Verdict::Failed(decision) => {
            writeln!(out, "golden  {case}: an error instead of a decision")?;
            decision
                .lines()
                .try_for_each(|line| writeln!(out, "  {}", printable(line)))
        }
        Verdict::Different(expected, actual) => {
            writeln!(out, "golden  {case}: differs (- expected, + actual)")?;
            golden::write_difference(expected, actual, out)
        }
    })
}

/// Runs `divvy plugin verify` on a plugin of the library, and returns its exit code.
fn verify(
    library: &Path,
    name: Option<&str>,
    profile: &ProfileArguments,
    arguments: &TestArguments,
    console: &Console,
) -> Result<Exit, Failure> {
    let output = console.of_child()?;
    let started = std::env::current_exe().and_then(|program| {
        let mut verify = Command::new(program);
        verify.arg("verify").arg(library).args(profile.repeated());
        verify.args(name.map(|name| format!("--name={name}")));
        if !profile.allows_uncertified() {
            // It was built just now, from sources that are here.
            verify.arg("--allow-uncertified");
        }
        verify.arg(format!("--runs={}", arguments.runs));
        verify.arg(format!("--clusters={}", arguments.clusters));
        verify.arg("--failures").arg(arguments.folder.join("divvy-verify"));
        if !arguments.release {
            // A library without optimisation takes many times as long as the one that will run.
            verify.arg("--max-time=1s");
        }
        verify.stdin(Stdio::null()).stdout(output).status()
    });
    let status = started.map_err(|error| {
        Failure::internal(Diagnostic::new("`divvy plugin verify` cannot be started").with_cause(error.to_string()))
    })?;
    Ok(match status.code() {
        Some(0) => Exit::Success,
        Some(1) => Exit::Unschedulable,
        Some(2) => Exit::Usage,
        _ => Exit::Internal,
    })
}

#[cfg(test)]
mod tests {
    use divvy_profile::ProfileSource;

    use super::*;

    /// Settings of a plugin that a profile does not use are a warning, which the author could do nothing about.
    #[test]
    fn only_plugins_that_the_profile_uses_are_loaded_from_the_library() {
        let source = ProfileSource::built_in();
        let configuration = source.profile(None).expect("it is valid");
        let mut chosen = ChosenProfile { source, configuration };
        let tested = ["average", "another"].map(str::to_owned);
        assert!(load_from(&mut chosen, &tested, Path::new("both.so")).is_ok());
        let path = |name: &str| Some(chosen.configuration.plugin.get(name)?.path.is_some());
        assert_eq!((path("average"), path("another")), (Some(true), None));
    }
}
