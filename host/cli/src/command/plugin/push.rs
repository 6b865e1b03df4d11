//! `divvy plugin push`: libraries of a plugin become an artifact in a registry or a folder.

use std::path::PathBuf;

use clap::Args;
use divvy_artifacts::{LibraryFacts, Push, Pushed, Signing, push};
use divvy_profile::ArtifactReference;
use jiff::civil::Date;
use serde::Serialize;

use super::Format;
use super::artifact::{PlaceArguments, failure, password};
use crate::exit::Exit;
use crate::report::console::Console;
use crate::report::errors::Failure;
use crate::report::form;

pub(super) const EXAMPLES: &str = "\
Examples:
  divvy plugin push registry.example/plugins/surge:1.2.0 libsurge.so --sign-with surge.key
  divvy plugin push registry.example/plugins/surge:1.2.0 amd64/libsurge.so arm64/libsurge.so --sign-with surge.key
  divvy plugin push registry.example/plugins/surge:1.2.0 libsurge.so --layout outbox   # without a network";

/// Arguments of `divvy plugin push`.
#[derive(Debug, Args)]
pub(in crate::command) struct PushArguments {
    /// Name of the artifact: `HOST/REPOSITORY:TAG`
    #[arg(value_name = "REFERENCE", value_hint = clap::ValueHint::Other)]
    reference: ArtifactReference,
    /// Libraries of the plugin, one for each architecture
    #[arg(value_name = "LIBRARY", required = true, value_hint = clap::ValueHint::FilePath)]
    libraries: Vec<PathBuf>,
    /// Secret key to sign with, as `divvy plugin key` or minisign writes it
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    sign_with: Option<PathBuf>,
    /// File with the password of the secret key, in its first line; otherwise the variable DIVVY_KEY_PASSWORD or the terminal
    #[arg(long, value_name = "FILE", requires = "sign_with", value_hint = clap::ValueHint::FilePath)]
    password_file: Option<PathBuf>,
    /// Last day on which the signature counts, such as 2027-12-31 (UTC)
    #[arg(long, value_name = "DATE", requires = "sign_with")]
    expires: Option<Date>,
    #[command(flatten)]
    place: PlaceArguments,
    /// Output format; `json` has a schema: host/cli/schema/push.json
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    output: Format,
}

/// What was pushed, for programs. `host/cli/schema/push.json` describes its form in JSON.
#[derive(Debug, Serialize)]
struct Report<'a> {
    /// The reference with its digest.
    artifact: String,
    signed: bool,
    libraries: &'a [LibraryFacts],
}

/// Pushes the libraries, and prints the reference with its digest.
pub(super) fn run(arguments: &PushArguments, console: &Console) -> Result<Exit, Failure> {
    let signing = match &arguments.sign_with {
        None => None,
        Some(path) => {
            let password = password(arguments.password_file.as_deref())?;
            let signing = Signing::read(path, password, arguments.expires);
            Some(signing.map_err(|error| failure(&error))?)
        }
    };
    let reference = &arguments.reference;
    let target = arguments.place.target(reference);
    let pushed = target.and_then(|target| {
        push(
            &*target,
            &Push {
                reference,
                libraries: &arguments.libraries,
                signing: signing.as_ref(),
            },
        )
    });
    let Pushed { pinned, libraries } = pushed.map_err(|error| failure(&error))?;
    console.print(|out| match arguments.output {
        Format::Table => {
            writeln!(out, "{pinned}")?;
            for library in &libraries {
                let glibc = library.oldest_glibc.as_deref();
                let glibc = glibc.map_or_else(String::new, |glibc| format!(", glibc {glibc} or newer"));
                writeln!(out, "  {}: {}{glibc}", library.platform(), library.names())?;
            }
            let signed = if signing.is_some() { "signed" } else { "not signed" };
            writeln!(out, "  {signed}")
        }
        Format::Json => form::write_value(
            &Report {
                artifact: pinned.to_string(),
                signed: signing.is_some(),
                libraries: &libraries,
            },
            out,
        ),
    })?;
    Ok(Exit::Success)
}
