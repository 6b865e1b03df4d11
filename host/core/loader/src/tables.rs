//! The tables that a plugin declares: the document [`TABLES`](divvy_framework_abi::service::document::TABLES).

use divvy_framework_view::tables::{ColumnType, RowsPerKey, SCALE_MAX};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A table that a plugin reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DeclaredTable {
    /// Name of the table, which a profile can map to another.
    pub name: String,
    /// Rows per key.
    #[serde(default, deserialize_with = "rows_per_key")]
    pub rows: RowsPerKey,
    /// The columns, in the order in which the plugin sees them.
    pub columns: Vec<DeclaredColumn>,
}

fn rows_per_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RowsPerKey, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "one" => Ok(RowsPerKey::One),
        "several" => Ok(RowsPerKey::Several),
        other => Err(D::Error::custom(format!("a table has no `{other}` rows per key"))),
    }
}

/// A column that a plugin reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredColumn {
    /// Name of the column.
    pub name: String,
    /// Type of its cells.
    pub column_type: ColumnType,
}

impl<'de> Deserialize<'de> for DeclaredColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A column as plugins write it. Keys that a later version adds are ignored.
        #[derive(Deserialize)]
        struct Written {
            name: String,
            r#type: String,
            #[serde(default)]
            scale: u32,
        }
        let Written { name, r#type, scale } = Written::deserialize(deserializer)?;
        let column_type = match r#type.as_str() {
            "integer" => ColumnType::Integer,
            "decimal" if scale <= SCALE_MAX => ColumnType::Decimal { scale },
            "text" => ColumnType::Text,
            "boolean" => ColumnType::Boolean,
            "time" => ColumnType::Time,
            "weekly" => ColumnType::Weekly,
            other => {
                return Err(D::Error::custom(format!(
                    "column `{name}` has no type `{other}` with scale {scale}"
                )));
            }
        };
        Ok(Self { name, column_type })
    }
}
