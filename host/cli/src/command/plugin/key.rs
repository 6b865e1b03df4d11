//! `divvy plugin key`: a pair of minisign keys.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use divvy_artifacts::{KeyPair, Password};

use super::artifact::{failure, password};
use crate::exit::Exit;
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};

pub(super) const EXAMPLES: &str = "\
Examples:
  divvy plugin key surge.key   # asks for a password, and writes surge.key.pub as well
  divvy plugin key ci.key --password-file password.txt";

/// Arguments of `divvy plugin key`.
#[derive(Debug, Args)]
pub(in crate::command) struct KeyArguments {
    /// File to write the secret key to; the public key is written to FILE.pub
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// File with the password of the secret key, in its first line; otherwise the variable DIVVY_KEY_PASSWORD or the terminal
    #[arg(long, value_name = "FILE", conflicts_with = "no_password")]
    password_file: Option<PathBuf>,
    /// Do not encrypt the secret key: whoever has the file can sign
    #[arg(long)]
    no_password: bool,
}

/// Writes two files that must not exist.
pub(super) fn run(arguments: &KeyArguments, console: &Console) -> Result<Exit, Failure> {
    let secret = &arguments.file;
    let mut public = secret.clone().into_os_string();
    public.push(".pub");
    let public = PathBuf::from(public);
    for path in [secret, &public] {
        if path.symlink_metadata().is_ok() {
            let diagnostic = Diagnostic::new(format!("`{}` exists", path.display()));
            return Err(Failure::usage(
                diagnostic.with_hint("choose another name: a key that is overwritten cannot sign again"),
            ));
        }
    }
    let chosen = match arguments.no_password {
        true => Password::Absent,
        false => match password(arguments.password_file.as_deref())? {
            Some(password) => Password::Given(password),
            None => Password::Asked,
        },
    };
    let pair = KeyPair::generate(chosen).map_err(|error| failure(&error))?;
    write(secret, 0o600, &pair.secret)?;
    write(&public, 0o644, &pair.public)?;
    console.print(|out| {
        writeln!(out, "secret key  {}", secret.display())?;
        writeln!(out, "public key  {}", public.display())
    })?;
    Ok(Exit::Success)
}

fn write(path: &Path, mode: u32, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let diagnostic = Diagnostic::new(format!("`{}` cannot be written", path.display()));
        Failure::usage(diagnostic.with_cause(error.to_string()))
    })
}
