//! `[profile.table.NAME]`: a table that the profile provides to its plugins.

use std::fmt;
use std::path::PathBuf;

use divvy_framework_calls::tables::TableKey;
use divvy_framework_view::tables::{ColumnType, RowsPerKey, SCALE_MAX};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use std::collections::BTreeMap;

/// Settings of one table. Keys that a profile does not set are taken from the profile that it extends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TableConfiguration {
    /// Path of the file: CSV, JSON or TOML, by its ending. A relative path is resolved against the profile file's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Property of a cluster by which its row is found: `cluster` (its name, the default), `region`, `provider`, or `label:` followed by
    /// the key of a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub key: Option<KeyConfiguration>,
    /// Name of the CSV column with the keys; the first column if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_column: Option<String>,
    /// Rows per key; `one` if absent. Plugins that read several rows per key say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsConfiguration>,
    /// Columns, by the names under which plugins read them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, WrittenForms>"))]
    pub columns: BTreeMap<String, ColumnConfiguration>,
}

/// `rows` of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowsConfiguration {
    /// At most one. In JSON and TOML, a key maps to its row.
    One,
    /// Any number, in the order of the file. In JSON and TOML, a key maps to a list of its rows.
    Several,
}

impl From<RowsConfiguration> for RowsPerKey {
    fn from(rows: RowsConfiguration) -> Self {
        match rows {
            RowsConfiguration::One => Self::One,
            RowsConfiguration::Several => Self::Several,
        }
    }
}

/// `key` of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyConfiguration(TableKey);

impl Default for KeyConfiguration {
    fn default() -> Self {
        Self(TableKey::Cluster)
    }
}

impl fmt::Display for KeyConfiguration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl From<KeyConfiguration> for TableKey {
    fn from(key: KeyConfiguration) -> Self {
        key.0
    }
}

impl Serialize for KeyConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for KeyConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let key = match text.as_str() {
            "cluster" => TableKey::Cluster,
            "region" => TableKey::Region,
            "provider" => TableKey::Provider,
            other => match other.strip_prefix("label:") {
                Some(label) if !label.is_empty() => TableKey::Label(label.into()),
                _ => {
                    let message = format!(
                        "expected `cluster`, `region`, `provider` or `label:` with the key of a label, got `{other}`"
                    );
                    return Err(D::Error::custom(message));
                }
            },
        };
        Ok(Self(key))
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnConfiguration {
    /// Type of its cells.
    pub column_type: ColumnType,
    /// Name in the file, if it differs.
    pub from: Option<String>,
}

/// A column that is written as a mapping.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenColumn {
    /// Type of the cells.
    r#type: TypeName,
    /// Digits after the decimal point, for `"decimal"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<u32>,
    /// Name of the column in the file; the same name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

/// Types of columns in a profile.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum TypeName {
    /// Whole numbers of 64 bits.
    Integer,
    /// Decimal numbers with a fixed number of digits after the point.
    Decimal,
    /// Text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// Points in time: with their offset from UTC, such as `2026-12-24T20:00:00+01:00`, or by the local time of a zone, such as
    /// `2026-12-24 20:00 Europe/Berlin`.
    Time,
    /// Hours that recur on days of the week, by the local time of a zone: `Mon-Fri 22:00-06:00 Europe/Berlin`.
    Weekly,
}

/// A column: its type alone, or a table.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum WrittenForms {
    /// Type of the cells.
    Type(TypeName),
    /// Type, digits and name in the file.
    Table(WrittenColumn),
}

impl WrittenColumn {
    fn read<E: Error>(self) -> Result<ColumnConfiguration, E> {
        let Self { r#type, scale, from } = self;
        let column_type = match (r#type, scale) {
            (TypeName::Decimal, Some(scale)) if scale <= SCALE_MAX => ColumnType::Decimal { scale },
            (TypeName::Decimal, Some(scale)) => {
                let message = format!("expected a scale of at most {SCALE_MAX}, got {scale}");
                return Err(E::custom(message));
            }
            (TypeName::Decimal, None) => {
                let message = "a decimal needs its digits after the decimal point: `{ type = \"decimal\", scale = 2 }`";
                return Err(E::custom(message));
            }
            (_, Some(_)) => return Err(E::custom("only a column of decimals has a `scale`")),
            (TypeName::Integer, None) => ColumnType::Integer,
            (TypeName::Text, None) => ColumnType::Text,
            (TypeName::Boolean, None) => ColumnType::Boolean,
            (TypeName::Time, None) => ColumnType::Time,
            (TypeName::Weekly, None) => ColumnType::Weekly,
        };
        Ok(ColumnConfiguration { column_type, from })
    }
}

impl Serialize for ColumnConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (r#type, scale) = match self.column_type {
            ColumnType::Integer => (TypeName::Integer, None),
            ColumnType::Decimal { scale } => (TypeName::Decimal, Some(scale)),
            ColumnType::Text => (TypeName::Text, None),
            ColumnType::Boolean => (TypeName::Boolean, None),
            ColumnType::Time => (TypeName::Time, None),
            ColumnType::Weekly => (TypeName::Weekly, None),
        };
        if scale.is_none() && self.from.is_none() {
            return r#type.serialize(serializer);
        }
        let from = self.from.clone();
        WrittenColumn { r#type, scale, from }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ColumnConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Column;

        impl<'de> Visitor<'de> for Column {
            type Value = ColumnConfiguration;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a type, or a mapping with `type`, `scale` and `from`")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<ColumnConfiguration, E> {
                let r#type = TypeName::deserialize(serde::de::value::StrDeserializer::new(name))?;
                let (scale, from) = (None, None);
                WrittenColumn { r#type, scale, from }.read()
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ColumnConfiguration, A::Error> {
                WrittenColumn::deserialize(MapAccessDeserializer::new(map))?.read()
            }
        }

        deserializer.deserialize_any(Column)
    }
}

impl TableConfiguration {
    /// Rows per key.
    pub fn rows_per_key(&self) -> RowsPerKey {
        self.rows.map_or(RowsPerKey::One, Into::into)
    }

    /// These settings, with missing ones taken from `base`.
    pub(crate) fn over(self, base: Self) -> Self {
        let mut columns = base.columns;
        columns.extend(self.columns);
        Self {
            file: self.file.or(base.file),
            key: self.key.or(base.key),
            key_column: self.key_column.or(base.key_column),
            rows: self.rows.or(base.rows),
            columns,
        }
    }
}
