//! `select` in a profile: the name of one plugin, or a list of names.
//!
//! One plugin is written as its name, so that older versions of Divvy can read what this one writes.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserializer, Serialize, Serializer};

/// Reads a name or a list of names.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    struct Names;

    impl<'de> Visitor<'de> for Names {
        type Value = Vec<String>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("the name of a plugin, or a list of names")
        }

        fn visit_str<E>(self, name: &str) -> Result<Vec<String>, E> {
            Ok(vec![name.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut names = Vec::new();
            while let Some(name) = list.next_element()? {
                names.push(name);
            }
            Ok(names)
        }
    }

    deserializer.deserialize_any(Names).map(Some)
}

/// Writes a single name as text, and anything else as a list.
pub(super) fn write<S: Serializer>(names: &Option<Vec<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    match names.as_deref() {
        Some([name]) => name.serialize(serializer),
        names => names.serialize(serializer),
    }
}
