//! Kubernetes' words in a manifest: known ones as an enumeration, any others as text.
//!
//! Unknown words are kept so that a new value in a newer Karmada does not make a whole object unreadable.
//! `divvy_manifests` reports them where they matter.

use std::fmt;
use std::marker::PhantomData;

pub use divvy_framework_view::words::Word as Enumeration;

/// A word from a manifest, where a value of an enumeration is expected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word<E> {
    /// A value of the enumeration.
    Known(E),
    /// Any other word, as written.
    Unknown(Box<str>),
}

impl<E: Enumeration> Word<E> {
    /// Every known word, in the order of the API's documentation.
    pub const KNOWN: &'static [&'static str] = E::KNOWN;

    /// The word, as written in a manifest.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(variant) => variant.word(),
            Self::Unknown(word) => word,
        }
    }

    /// The variant of a known word; `None` for an unknown one.
    pub fn known(&self) -> Option<E> {
        match self {
            Self::Known(variant) => Some(*variant),
            Self::Unknown(_) => None,
        }
    }
}

impl<E> Default for Word<E> {
    fn default() -> Self {
        Self::Unknown("".into())
    }
}

impl<E> From<E> for Word<E> {
    fn from(variant: E) -> Self {
        Self::Known(variant)
    }
}

impl<E: PartialEq> PartialEq<E> for Word<E> {
    fn eq(&self, variant: &E) -> bool {
        matches!(self, Self::Known(known) if known == variant)
    }
}

impl<E: Enumeration> fmt::Display for Word<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl<E: Enumeration> serde::Serialize for Word<E> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, E: Enumeration> serde::Deserialize<'de> for Word<E> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<E>(PhantomData<E>);
        impl<E: Enumeration> serde::de::Visitor<'_> for Visitor<E> {
            type Value = Word<E>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(E::EXPECTED)
            }

            fn visit_str<F: serde::de::Error>(self, word: &str) -> Result<Word<E>, F> {
                Ok(E::named(word).map_or_else(|| Word::Unknown(word.into()), Word::Known))
            }
        }
        deserializer.deserialize_str(Visitor(PhantomData))
    }
}
