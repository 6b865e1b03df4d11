//! Enumerations that Kubernetes writes as words.
//!
//! A word that is not known is kept (`Unknown`) so that one new value in a newer Karmada does not make a
//! whole object unreadable; `divvy_manifests` reports it where it matters.

/// Declares an enumeration of words with a variant for everything else.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident, expecting $expecting:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// A word that this version does not know, kept as it was written.
            Unknown(Box<str>),
        }

        impl $name {
            /// Every known word, in the order of the API's documentation.
            pub const KNOWN: &'static [&'static str] = &[$($text),+];

            /// The word as it stands in a manifest.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )+
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $( $text => Self::$variant, )+
                    other => Self::Unknown(other.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl serde::de::Visitor<'_> for Word {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str($expecting)
                    }

                    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$name, E> {
                        Ok($name::from(word))
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }
    };
}

pub(crate) use words;
