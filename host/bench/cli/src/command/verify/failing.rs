//! The smallest failing cases, as manifests that `divvy schedule` reads.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::form::write_yaml_value;
use divvy_command::text::printable;
use divvy_conformance::check::Broken;
use divvy_conformance::supervise::{End, Event, Loaded, Program};
use divvy_conformance::{Case, shrink};

use super::{VerifyArguments, child};
use crate::report::verification::FailingCase;

/// Time limit of the search for a smaller case that a child does not survive. Each attempt takes a process.
const SEARCH: Duration = Duration::from_secs(30);

/// The smallest case found that a child does not survive; `None` if it survives the case on its own.
pub(super) fn smallest_that_dies(program: &Program, check: &str, number: u64) -> Option<Case> {
    let printed = program.run(&child::print_case(number)).ok()?;
    let End::Done {
        last: Event::Case(case),
        ..
    } = printed
    else {
        return None;
    };
    let file = tempfile::NamedTempFile::new().ok()?;
    let dies = |case: &Case| {
        let text = serde_json::to_string(case).ok();
        let end = text
            .and_then(|text| std::fs::write(file.path(), text).ok())
            .and_then(|()| program.run(&child::one(check, file.path())).ok());
        matches!(end, Some(End::Died { .. }))
    };
    if !dies(&case) {
        return None;
    }
    let deadline = Instant::now() + SEARCH;
    // Each attempt that hangs takes the whole waiting time, so few attempts fit.
    let smallest = shrink::smallest(&case, 500, |candidate| {
        (Instant::now() < deadline).then(|| dies(candidate))
    });
    Some(smallest)
}

/// Writes the case that breaks a contract, and the profile, to the folder for failures. `None` if the check was not about a case.
pub(super) fn write(
    arguments: &VerifyArguments,
    loaded: &Loaded,
    check: &str,
    broken: &Broken,
) -> Result<Option<FailingCase>, Failure> {
    let Some(case) = &broken.case else {
        return Ok(None);
    };
    let folder = &arguments.failures;
    let unwritable = |path: &Path, error: &std::io::Error| {
        let message = format!("`{}` cannot be written", path.display());
        Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
    };
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let profile = folder.join(format!("{}.toml", loaded.name));
    std::fs::write(&profile, &loaded.toml).map_err(|error| unwritable(&profile, &error))?;
    let manifests = folder.join(format!("{}-{check}.yaml", loaded.name));
    let text = text(arguments, loaded, check, broken, case).map_err(|error| unwritable(&manifests, &error))?;
    std::fs::write(&manifests, text).map_err(|error| unwritable(&manifests, &error))?;
    Ok(Some(FailingCase {
        command: command(arguments, &manifests, &profile, case),
        manifests,
    }))
}

fn text(
    arguments: &VerifyArguments,
    loaded: &Loaded,
    check: &str,
    broken: &Broken,
    case: &Case,
) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    writeln!(
        text,
        "# divvy plugin verify: plugin `{}` {}, check `{check}`, seed {}.",
        loaded.name, loaded.version, arguments.seed
    )?;
    writeln!(text, "# {}", printable(&broken.message))?;
    write_yaml_value(&case.manifests(), &mut text)?;
    Ok(text)
}

/// The command that shows the failure.
fn command(arguments: &VerifyArguments, manifests: &Path, profile: &Path, case: &Case) -> String {
    let mut words = vec![
        "divvy schedule -f".to_owned(),
        quoted(manifests),
        "--profile".to_owned(),
        quoted(profile),
        format!("--time {}", case.time),
    ];
    let directories = arguments.profile.repeated();
    words.extend(
        directories
            .into_iter()
            .filter(|word| word.starts_with("--plugin-directory")),
    );
    words.join(" ")
}

/// A path, quoted for a shell.
fn quoted(path: &Path) -> String {
    let path: PathBuf = path.to_owned();
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+".contains(character);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
