//! Signatures: minisign over the bytes of the manifest or index, with the artifact's name in the trusted comment.
//!
//! The signed bytes say what the artifact contains, since they have the digest of everything below them. The trusted comment, which minisign signs as well,
//! says what it is called: host, repository and tag. So a signature cannot be moved to another name, such as that of a newer version
//! or of another plugin. The file is an ordinary one of minisign: `minisign -V` checks it, and `minisign -S` can write it.

use std::fmt;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use divvy_loader::artifact::{ContentDigest, Descriptor, Manifest};
use divvy_profile::ArtifactReference;
use jiff::civil::Date;
use minisign::{PublicKeyBox, SecretKey, SecretKeyBox};
use minisign_verify::{PublicKey, Signature};

use crate::error::ArtifactsError;

/// Type of the artifact with the signatures of another.
pub(crate) const SIGNATURES_ARTIFACT_TYPE: &str = "application/vnd.divvy.plugin.signature.v1";
/// Media type of one signature.
pub(crate) const SIGNATURE_TYPE: &str = "application/vnd.divvy.plugin.signature.v1.minisig";
/// Media type and content of a configuration that says nothing, of the OCI image specification.
pub(crate) const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
pub(crate) const EMPTY: &[u8] = b"{}";
/// Largest signature, in bytes. One has about 400.
pub(crate) const SIGNATURE_BYTES_MAX: u64 = 4 << 10;
/// Maximum number of signatures of an artifact: several keys, several tags.
pub const SIGNATURES_MAX: usize = 32;

const KEY_BYTES_MAX: usize = 4 << 10;
const STATEMENT_PREFIX: &str = "divvy plugin ";
const EXPIRES: &str = " expires ";

/// The tag under which the signatures of a digest are.
pub(crate) fn tag(digest: &ContentDigest) -> String {
    format!("sha256-{}.minisig", digest.hexadecimal())
}

/// The manifest with these signatures.
pub(crate) fn manifest(subject: &Descriptor, signatures: Vec<Descriptor>) -> Manifest {
    let mut manifest = Manifest::new(SIGNATURES_ARTIFACT_TYPE, Descriptor::of(EMPTY_TYPE, EMPTY), signatures);
    manifest.subject = Some(Descriptor {
        annotations: std::collections::BTreeMap::new(),
        ..subject.clone()
    });
    manifest
}

/// What a signature says about the bytes that it signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Name, tag and digest of the artifact.
    pub reference: ArtifactReference,
    /// Last day on which the signature counts, in UTC.
    pub expires: Option<Date>,
}

impl fmt::Display for Statement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{STATEMENT_PREFIX}{}", self.reference)?;
        match self.expires {
            Some(date) => write!(formatter, "{EXPIRES}{date}"),
            None => Ok(()),
        }
    }
}

impl Statement {
    /// Reads a trusted comment; `None` if it is not a statement, or not in the one form that it has.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(STATEMENT_PREFIX)?;
        let (reference, expires) = match rest.split_once(EXPIRES) {
            Some((reference, date)) => (reference, Some(date.parse::<Date>().ok()?)),
            None => (rest, None),
        };
        let statement = Self {
            reference: reference.parse().ok()?,
            expires,
        };
        (statement.to_string() == text).then_some(statement)
    }

    /// The reason why this does not hold for a reference on a day; `None` if it does.
    fn refusal(&self, expected: &ArtifactReference, digest: &ContentDigest, today: Date) -> Option<String> {
        if self.reference.name() != expected.name() {
            return Some(format!("it is for `{}`", self.reference.name()));
        }
        if self.reference.digest() != Some(digest.hexadecimal()) {
            return Some(format!("it is for `{}`", self.reference));
        }
        if expected.tag().is_some_and(|tag| self.reference.tag() != Some(tag)) {
            return Some(format!(
                "it is for the tag `{}`",
                self.reference.tag().unwrap_or_default()
            ));
        }
        let expired = self.expires.filter(|expires| *expires < today);
        expired.map(|expires| format!("it expired after {expires}"))
    }
}

/// A public key that is trusted.
#[derive(Debug, Clone)]
pub struct TrustedKey {
    path: PathBuf,
    key: PublicKey,
}

impl TrustedKey {
    /// Reads a public key as minisign writes it, or its second line alone.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::InvalidKey`], or [`ArtifactsError::File`] if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self, ArtifactsError> {
        let text = read_key(path, "public")?;
        let decoded = match text.lines().count() {
            0 | 1 => PublicKey::from_base64(text.trim()),
            _ => PublicKey::decode(&text),
        };
        let key = decoded.map_err(|error| ArtifactsError::InvalidKey {
            path: path.to_owned(),
            kind: "public",
            message: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            key,
        })
    }

    /// The file that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The first of the keys for which one of the signatures is valid.
pub(crate) fn check<'a>(
    keys: &'a [TrustedKey],
    signatures: &[Vec<u8>],
    (reference, digest, signed): (&ArtifactReference, &ContentDigest, &[u8]),
    today: Date,
) -> Result<&'a TrustedKey, ArtifactsError> {
    let mut reasons = Vec::new();
    for signature in signatures {
        match check_one(keys, signature, (reference, digest, signed), today) {
            Ok(key) => return Ok(key),
            Err(reason) => reasons.push(reason),
        }
    }
    reasons.dedup();
    Err(ArtifactsError::SignatureRefused {
        reference: reference.to_string(),
        reasons,
    })
}

fn check_one<'a>(
    keys: &'a [TrustedKey],
    signature: &[u8],
    (reference, digest, signed): (&ArtifactReference, &ContentDigest, &[u8]),
    today: Date,
) -> Result<&'a TrustedKey, String> {
    let text = std::str::from_utf8(signature).map_err(|_| "it is not a text".to_owned())?;
    let signature = Signature::decode(text).map_err(|error| format!("it is not a minisign signature: {error}"))?;
    let verified = |key: &&TrustedKey| key.key.verify(signed, &signature, false).is_ok();
    let key = keys.iter().find(verified);
    let key = key.ok_or_else(|| "it was made by another key, or for other content".to_owned())?;
    // The comment is signed, so it is believed only now.
    let comment = signature.trusted_comment();
    let statement = Statement::parse(comment);
    let statement = statement.ok_or_else(|| format!("its trusted comment does not name an artifact: `{comment}`"))?;
    match statement.refusal(reference, digest, today) {
        None => Ok(key),
        Some(reason) => Err(reason),
    }
}

/// A secret key that signs.
#[derive(Debug)]
pub struct Signing {
    key: SecretKey,
    expires: Option<Date>,
}

impl Signing {
    /// Reads a secret key as minisign writes it. If it has a password and none is given, the terminal asks for it.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::InvalidKey`], also if the password is wrong, or [`ArtifactsError::File`] if the file cannot be read.
    pub fn read(path: &Path, password: Option<String>, expires: Option<Date>) -> Result<Self, ArtifactsError> {
        let invalid = |error: minisign::PError| ArtifactsError::InvalidKey {
            path: path.to_owned(),
            kind: "secret",
            message: error.to_string(),
        };
        let text = read_key(path, "secret")?;
        let written = || SecretKeyBox::from_string(&text).map_err(invalid);
        let key = match written()?.into_unencrypted_secret_key() {
            Ok(key) => key,
            Err(_) => written()?.into_secret_key(password).map_err(invalid)?,
        };
        Ok(Self { key, expires })
    }

    /// Signs the bytes of a document as this artifact.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::Signing`] if minisign fails.
    pub(crate) fn sign(&self, reference: &ArtifactReference, signed: &[u8]) -> Result<Vec<u8>, ArtifactsError> {
        let digest = ContentDigest::of(signed);
        let statement = Statement {
            reference: reference.with_digest(digest.hexadecimal()),
            expires: self.expires,
        };
        let comment = statement.to_string();
        let signed = minisign::sign(
            None,
            &self.key,
            Cursor::new(signed),
            Some(&comment),
            Some("signature of a Divvy plugin"),
        );
        let signed = signed.map_err(|error| signing("signing", &error))?;
        Ok(signed.into_string().into_bytes())
    }
}

/// Password of a new secret key.
#[derive(Clone, PartialEq, Eq)]
pub enum Password {
    /// None: whoever has the file can sign.
    Absent,
    /// This one.
    Given(String),
    /// One that the terminal asks for.
    Asked,
}

/// A new pair of keys, as texts for files.
#[derive(Debug)]
pub struct KeyPair {
    /// The public key, which users of the plugin get.
    pub public: String,
    /// The secret key.
    pub secret: String,
}

impl KeyPair {
    /// Makes a pair.
    ///
    /// # Errors
    ///
    /// [`ArtifactsError::Signing`] if the system gives no random bytes.
    pub fn generate(password: Password) -> Result<Self, ArtifactsError> {
        let failed = |error: minisign::PError| signing("making a key", &error);
        let pair = match password {
            Password::Given(password) => minisign::KeyPair::generate_encrypted_keypair(Some(password)),
            Password::Asked => minisign::KeyPair::generate_encrypted_keypair(None),
            Password::Absent => minisign::KeyPair::generate_unencrypted_keypair(),
        };
        let pair = pair.map_err(failed)?;
        let public: PublicKeyBox = pair.pk.to_box().map_err(failed)?;
        let secret = pair.sk.to_box(Some("secret key for Divvy plugins")).map_err(failed)?;
        Ok(Self {
            public: public.into_string(),
            secret: secret.into_string(),
        })
    }
}

fn signing(action: &'static str, error: &minisign::PError) -> ArtifactsError {
    ArtifactsError::Signing {
        action,
        message: error.to_string(),
    }
}

fn read_key(path: &Path, kind: &'static str) -> Result<String, ArtifactsError> {
    let invalid = |message: String| ArtifactsError::InvalidKey {
        path: path.to_owned(),
        kind,
        message,
    };
    let file = std::fs::File::open(path).map_err(|source| ArtifactsError::File {
        path: path.to_owned(),
        source,
    })?;
    let what = format!("`{}`", path.display());
    let bytes = divvy_loader::artifact::read_bounded(&what, file, KEY_BYTES_MAX as u64)?;
    String::from_utf8(bytes).map_err(|_| invalid("it is not a text".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_read_in_one_form_only() {
        let digest = ContentDigest::of(b"").hexadecimal().to_owned();
        let text = format!("divvy plugin r.example/surge:1@sha256:{digest}");
        let statement = Statement::parse(&text).expect("a statement");
        assert_eq!(statement.expires, None);
        let until = format!("{text} expires 2027-01-31");
        assert_eq!(Statement::parse(&until).expect("a statement").to_string(), until);
        for other in [
            format!("{text} "),
            format!("{text} expires 20270131"),
            format!("{text} expires 2027-01-31T00:00"),
            format!("{text} expires "),
            format!("Divvy plugin r.example/surge:1@sha256:{digest}"),
            "timestamp:1700000000".to_owned(),
        ] {
            assert_eq!(Statement::parse(&other), None, "{other}");
        }
    }
}
