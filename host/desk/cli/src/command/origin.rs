//! Where an input came from: the name of its fleet, and the digest that a page shows.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use divvy_command::connection::ConnectionArguments;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::text::listed;
use divvy_command::time::TimeArguments;
use divvy_karmada::api::Timestamp;
use divvy_manifests::Input;
use divvy_page::Heading;
use divvy_page::digest::{StreamDigest, of_streams};
use serde::Deserialize;

/// Maximum number of inputs that are named.
const NAMED_MAX: usize = 3;

/// Where an input came from.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    /// The context of a control plane, files, folders, or standard input.
    pub(super) fleet: String,
    files: Vec<PathBuf>,
    /// Digests of what cannot be read a second time: standard input, and the lists of a control plane.
    streams: Vec<String>,
}

impl Origin {
    /// The origin of these inputs, without what has been read of them.
    pub(super) fn of(inputs: &[String], connection: &ConnectionArguments) -> Self {
        let names = inputs.iter().map(|input| match input.as_str() {
            "-" => "standard input".to_owned(),
            path => path.to_owned(),
        });
        let names: Vec<String> = context(connection).into_iter().chain(names).collect();
        Self {
            fleet: listed(names.iter().map(String::as_str), NAMED_MAX),
            ..Self::default()
        }
    }

    /// Adds files that were read.
    pub(super) fn add_files(&mut self, files: &[PathBuf]) {
        self.files.extend_from_slice(files);
    }

    /// Adds what was read from a stream.
    pub(super) fn add_stream(&mut self, digest: StreamDigest) {
        self.streams.push(digest.finish());
    }

    /// Adds the texts among the inputs.
    pub(super) fn add_texts(&mut self, inputs: &[Input]) {
        for input in inputs {
            if let Input::Text(_, text) = input {
                let mut digest = StreamDigest::default();
                digest.update(text.as_bytes());
                self.add_stream(digest);
            }
        }
    }

    /// The digest of the input. Files are read once more for it. `None` if one is a pipe, which cannot be read again.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with exit code 2 if a file can no longer be read.
    pub(super) fn digest(&self) -> Result<Option<String>, Failure> {
        let files = self.files.iter().map(|file| {
            digest_of_file(file).map_err(|error| {
                let message = format!("cannot read `{}` again for its digest", file.display());
                Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
            })
        });
        let files: Option<Vec<String>> = files.collect::<Result<_, Failure>>()?;
        Ok(files.map(|mut digests| {
            digests.extend_from_slice(&self.streams);
            of_streams(&digests)
        }))
    }
}

/// The digest of a file; `None` for a pipe or a device, because opening one again could wait for ever.
fn digest_of_file(path: &Path) -> io::Result<Option<String>> {
    if !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut file = Digesting::new(File::open(path)?);
    io::copy(&mut file, &mut io::sink())?;
    Ok(file.into_digest().map(StreamDigest::finish))
}

/// The digest of a text, in hexadecimal digits.
pub(super) fn digest(text: &[u8]) -> String {
    let mut digesting = Digesting::new(text);
    // A slice can always be read.
    let _copied = io::copy(&mut digesting, &mut io::sink());
    digesting.into_digest().map(StreamDigest::finish).unwrap_or_default()
}

/// What a page says about the input and the time.
///
/// # Errors
///
/// A file of the input can no longer be read.
pub(super) fn heading(origin: &Origin, time: &TimeArguments) -> Result<Heading, Failure> {
    Ok(Heading {
        date: Timestamp::from_seconds(time.date().div_euclid(1000)).to_string(),
        fleet: origin.fleet.clone(),
        digest: origin.digest()?,
    })
}

/// The part of a kubeconfig that names its current context.
#[derive(Debug, Deserialize)]
struct Kubeconfig {
    #[serde(rename = "current-context")]
    current_context: Option<String>,
}

/// The context of a control plane; `None` if none is named.
fn context(connection: &ConnectionArguments) -> Option<String> {
    if let Some(context) = &connection.context {
        return Some(format!("context {context}"));
    }
    let file = connection.kubeconfig.as_ref()?;
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let read: Option<Kubeconfig> = serde_saphyr::from_str(&text).ok();
    let current = read.and_then(|read| read.current_context);
    Some(match current {
        Some(current) => format!("context {current}"),
        None => format!("the current context of {}", file.display()),
    })
}

/// A stream whose bytes are digested as they are read.
pub(super) struct Digesting<R> {
    inner: R,
    digest: Option<StreamDigest>,
}

impl<R: Read> Digesting<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, digest: None }
    }

    /// The digest; `None` if nobody has read from the stream.
    pub(super) fn into_digest(self) -> Option<StreamDigest> {
        self.digest
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let digest = self.digest.get_or_insert_default();
        digest.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_names_the_current_context_or_the_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("config");
        std::fs::write(
            &kubeconfig,
            "apiVersion: v1\ncurrent-context: karmada-apiserver\ncontexts: []\n",
        )
        .unwrap();
        let of = |context: Option<&str>, kubeconfig: Option<&Path>, inputs: &[&str]| {
            let connection = ConnectionArguments {
                kubeconfig: kubeconfig.map(Path::to_owned),
                context: context.map(str::to_owned),
            };
            let inputs: Vec<String> = inputs.iter().map(|input| (*input).to_owned()).collect();
            Origin::of(&inputs, &connection).fleet
        };
        assert_eq!(of(None, Some(&kubeconfig), &[]), "context karmada-apiserver");
        assert_eq!(
            of(Some("prod"), Some(&kubeconfig), &["more.yaml"]),
            "context prod, more.yaml"
        );
        assert_eq!(of(None, None, &["-", "policies"]), "standard input, policies");
        assert_eq!(of(None, Some(Path::new("/none")), &[]), "the current context of /none");
    }

    #[test]
    fn a_stream_is_digested_as_it_is_read() {
        let mut stream = Digesting::new(&b"abc"[..]);
        assert!(Digesting::new(&b"abc"[..]).into_digest().is_none());
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let digest = stream.into_digest().map(StreamDigest::finish);
        assert_eq!(
            digest.as_deref(),
            Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
    }
}
