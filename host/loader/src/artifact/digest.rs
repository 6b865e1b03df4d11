//! Digests of content.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const PREFIX: &str = "sha256:";

/// SHA-256 digest, written as `sha256:` and 64 lower-case hexadecimal digits. Its digits are safe as the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentDigest(String);

/// Reason why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest, expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct InvalidDigest(String);

impl ContentDigest {
    /// The digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(Sha256::new_with_prefix(bytes))
    }

    /// The digest of everything that went into a hash.
    pub fn from_hash(hash: Sha256) -> Self {
        Self(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The digest with these digits.
    ///
    /// # Errors
    ///
    /// [`InvalidDigest`] if they are not 64 lower-case hexadecimal digits.
    pub fn of_hexadecimal(digits: &str) -> Result<Self, InvalidDigest> {
        format!("{PREFIX}{digits}").parse()
    }

    /// The digits.
    pub fn hexadecimal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}{}", self.0)
    }
}

impl FromStr for ContentDigest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let digits = text.strip_prefix(PREFIX);
        let digits = digits.filter(|digits| digits.len() == 64);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        digits.map_or_else(
            || Err(InvalidDigest(text.to_owned())),
            |digits| Ok(Self(digits.to_owned())),
        )
    }
}

impl TryFrom<String> for ContentDigest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        text.parse()
    }
}

impl From<ContentDigest> for String {
    fn from(digest: ContentDigest) -> Self {
        digest.to_string()
    }
}
