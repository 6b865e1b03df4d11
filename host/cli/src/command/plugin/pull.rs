//! `divvy plugin pull`: an artifact is checked and put into a folder from which profiles load it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use divvy_artifacts::{ArtifactsError, LibraryFacts, Pull, Pulled, Trust, TrustedKey, pull};
use divvy_profile::{ArtifactReference, ProfileSource};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::Format;
use super::artifact::{PlaceArguments, failure, plugin_names};
use crate::exit::Exit;
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};
use crate::report::form;

pub(super) const EXAMPLES: &str = "\
Examples:
  divvy plugin pull registry.example/plugins/surge:1.2.0 --key surge.key.pub --into plugins >> profile.toml
  divvy plugin pull registry.example/plugins/surge:1.2.0 --key surge.key.pub --into plugins --layout inbox
  divvy plugin pull --profile profile.toml --into plugins   # what a profile pins, by its digests";

/// Arguments of `divvy plugin pull`.
#[derive(Debug, Args)]
pub(in crate::command) struct PullArguments {
    /// Name of the artifact: `HOST/REPOSITORY:TAG`, with `@sha256:DIGEST` or `--key`
    #[arg(
        value_name = "REFERENCE",
        required_unless_present = "profile",
        conflicts_with = "profile",
        value_hint = clap::ValueHint::Other
    )]
    reference: Option<ArtifactReference>,
    /// Profile file of which to pull every `artifact`
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    profile: Option<PathBuf>,
    /// Folder to put it into, for `plugin-directories`, `--plugin-directory` or DIVVY_PLUGIN_PATH
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Public key of which a signature is required; repeated, any of them
    #[arg(long = "key", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    keys: Vec<PathBuf>,
    /// Take whatever the registry has, without a digest or a signature
    #[arg(long, conflicts_with_all = ["keys", "profile"])]
    unsigned: bool,
    /// Pull into a folder that other users can change, such as a volume of a pod
    #[arg(long)]
    allow_replaceable_files: bool,
    #[command(flatten)]
    place: PlaceArguments,
    /// Output format; `json` has a schema: host/cli/schema/pull.json
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// What was pulled, for programs. `host/cli/schema/pull.json` describes its form in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    /// The reference with its digest, for `artifact` in a profile.
    artifact: String,
    library: &'a Path,
    sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_by: Option<&'a Path>,
    facts: &'a LibraryFacts,
}

/// Pulls artifacts, one after another, and prints the lines that pin them in a profile.
pub(super) fn run(arguments: &PullArguments, console: &Console) -> Result<Exit, Failure> {
    let keys = arguments.keys.iter().map(|path| TrustedKey::read(path));
    let keys = keys.collect::<Result<Vec<_>, _>>().map_err(|error| failure(&error))?;
    let trust = match (keys.as_slice(), arguments.unsigned) {
        ([], true) => Trust::None,
        ([], false) => Trust::Digest,
        (keys, _) => Trust::Keys(keys),
    };
    let today = today();
    let references = references(arguments)?;
    let mut pulled = Vec::new();
    for reference in &references {
        let found = pull_one(arguments, reference, trust, today).map_err(|error| failure(&error))?;
        let signed = match &found.signed_by {
            Some(key) => format!("signed by the key `{}`", key.display()),
            None if reference.digest().is_some() => "by its digest".to_owned(),
            None => "not signed".to_owned(),
        };
        console.message(|out| writeln!(out, "pulled {} ({}), {signed}", found.pinned, found.facts.names()));
        pulled.push(found);
    }
    console.print(|out| match arguments.output {
        // What the profile has already need not be written into it.
        Format::Table if arguments.profile.is_some() => Ok(()),
        Format::Table => pulled.iter().try_for_each(|pulled| {
            plugin_names(&pulled.facts)
                .into_iter()
                .try_for_each(|name| writeln!(out, "[profile.plugin.{name}]\nartifact = \"{}\"", pulled.pinned))
        }),
        Format::Json => {
            let reports: Vec<Report<'_>> = pulled.iter().map(report).collect();
            form::write_value(&reports, out)
        }
    })?;
    Ok(Exit::Success)
}

fn pull_one(
    arguments: &PullArguments,
    reference: &ArtifactReference,
    trust: Trust<'_>,
    today: Date,
) -> Result<Pulled, ArtifactsError> {
    let source = arguments.place.source(reference)?;
    pull(
        &*source,
        &Pull {
            reference,
            trust,
            today,
            into: &arguments.into,
            allow_replaceable: arguments.allow_replaceable_files,
        },
    )
}

/// The artifacts to pull: the one that is named, or those of a profile, each once.
fn references(arguments: &PullArguments) -> Result<Vec<ArtifactReference>, Failure> {
    let Some(path) = &arguments.profile else {
        return Ok(arguments.reference.iter().cloned().collect());
    };
    let profiles = ProfileSource::read(path)?.profiles()?;
    let tables = profiles.iter().flat_map(|profile| profile.plugin.values());
    let pinned = tables.filter_map(|table| table.artifact.as_ref());
    let pinned: BTreeSet<ArtifactReference> = pinned.map(|artifact| artifact.reference().clone()).collect();
    match pinned.is_empty() {
        true => {
            let diagnostic = Diagnostic::new(format!("`{}` names no artifact", path.display()));
            Err(Failure::usage(diagnostic.with_hint(
                "an artifact is named by `artifact` in `[profile.plugin.NAME]`; `divvy plugin pull REFERENCE` prints it",
            )))
        }
        false => Ok(pinned.into_iter().collect()),
    }
}

fn report(pulled: &Pulled) -> Report<'_> {
    Report {
        artifact: pulled.pinned.to_string(),
        library: &pulled.library,
        sha256: &pulled.checksum,
        signed_by: pulled.signed_by.as_deref(),
        facts: &pulled.facts,
    }
}

/// The present day in UTC.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}
