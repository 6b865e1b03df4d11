//! A map with few entries: labels, annotations, resources.
//!
//! Nearly every such map of Kubernetes has fewer than eight entries, and a dump has a million of them. A `BTreeMap` takes half a
//! kilobyte for its first entry; this map takes no more than the entry.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use litemap::LiteMap;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A map with text keys, sorted by key. It dereferences to [`LiteMap`], which has all methods but the constructors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmallMap<V>(LiteMap<String, V>);

impl<V> Default for SmallMap<V> {
    fn default() -> Self {
        Self(LiteMap::new())
    }
}

impl<V> SmallMap<V> {
    /// A map without entries. Takes no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Deref for SmallMap<V> {
    type Target = LiteMap<String, V>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<V> DerefMut for SmallMap<V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<V> FromIterator<(String, V)> for SmallMap<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<V, const N: usize> From<[(String, V); N]> for SmallMap<V> {
    fn from(entries: [(String, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<V> Extend<(String, V)> for SmallMap<V> {
    fn extend<I: IntoIterator<Item = (String, V)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl<V> IntoIterator for SmallMap<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, V> IntoIterator for &'a SmallMap<V> {
    type Item = (&'a String, &'a V);
    type IntoIter = <&'a LiteMap<String, V> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&self.0).into_iter()
    }
}

impl<V: Serialize> Serialize for SmallMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// Accepts maps only: [`LiteMap`] would also read a list of pairs. `null` is the default, as every Go client of Kubernetes reads it:
/// Helm writes it for empty values.
impl<'de, V: Deserialize<'de> + Default> Deserialize<'de> for SmallMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de> + Default> Visitor<'de> for Entries<V> {
    type Value = SmallMap<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        // Sorted once at the end: an input may have any number of entries, in any order.
        let mut found = Vec::new();
        while let Some((key, value)) = entries.next_entry::<String, Option<V>>()? {
            found.push((key, value.unwrap_or_default()));
        }
        found.shrink_to_fit();
        let count = found.len();
        let map = SmallMap::from_iter(found);
        if map.len() < count {
            // As for a repeated field of a struct. A reader that knows lines adds the key's name.
            return Err(A::Error::custom("a key is given twice"));
        }
        Ok(map)
    }
}

#[cfg(feature = "schema")]
impl<V: schemars::JsonSchema> schemars::JsonSchema for SmallMap<V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        <std::collections::BTreeMap<String, V>>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <std::collections::BTreeMap<String, V>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_different() {
        let map: SmallMap<i32> = serde_json::from_str(r#"{"b": 3, "a": 2}"#).expect("a map");
        assert_eq!(
            map.iter().collect::<Vec<_>>(),
            [(&"a".to_owned(), &2), (&"b".to_owned(), &3)]
        );
        assert_eq!(serde_json::to_string(&map).expect("it is text"), r#"{"a":2,"b":3}"#);
        assert!(serde_json::from_str::<SmallMap<i32>>(r#"{"b": 1, "a": 2, "b": 1}"#).is_err());
    }

    #[test]
    fn null_is_the_default() {
        let map: SmallMap<i32> = serde_json::from_str(r#"{"a": null, "b": 3}"#).expect("a map");
        assert_eq!(serde_json::to_string(&map).expect("it is text"), r#"{"a":0,"b":3}"#);
    }

    #[test]
    fn a_list_is_no_map() {
        for text in ["[]", r#"[["a", 1]]"#, "1", "null"] {
            assert!(serde_json::from_str::<SmallMap<i32>>(text).is_err(), "{text}");
        }
    }
}
