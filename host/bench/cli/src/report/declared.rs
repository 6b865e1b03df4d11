//! Declarations of a plugin, as data and as a line: for the list of all plugins and for the inspection of one.

use divvy_framework_view::tables::{ColumnType, RowsPerKey};
use divvy_loader::{DeclaredTable, features};
use serde::{Deserialize, Serialize};

/// Parts of a binding without which the plugin is not called.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ActsOn {
    extension_point: &'static str,
    parts: Vec<&'static str>,
}

impl ActsOn {
    /// Per extension point at which the plugin is not called for every binding; `acts_on` as for [`features::acts_on`].
    pub(super) fn list(acts_on: impl Fn(u32) -> u64) -> Vec<Self> {
        let points = features::acts_on(acts_on).into_iter();
        points
            .map(|(extension_point, parts)| Self { extension_point, parts })
            .collect()
    }

    /// `suspension or eviction at Filter`.
    pub(super) fn line(&self) -> String {
        format!("{} at {}", self.parts.join(" or "), self.extension_point)
    }
}

/// A table that a plugin reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TableDescription {
    name: String,
    /// `several`, if it has several rows per key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<String>,
    columns: Vec<ColumnDescription>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ColumnDescription {
    name: String,
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<u32>,
}

impl TableDescription {
    pub(super) fn of(table: &DeclaredTable) -> Self {
        let columns = table.columns.iter().map(|column| ColumnDescription {
            name: column.name.clone(),
            r#type: column.column_type.word().to_owned(),
            scale: match column.column_type {
                ColumnType::Decimal { scale } => Some(scale),
                _ => None,
            },
        });
        Self {
            name: table.name.clone(),
            rows: (table.rows == RowsPerKey::Several).then(|| "several".to_owned()),
            columns: columns.collect(),
        }
    }

    /// `power: price (decimal with scale 2), note (text)`.
    pub(super) fn line(&self) -> String {
        let columns = self.columns.iter().map(|column| match column.scale {
            Some(scale) => format!("{} ({} with scale {scale})", column.name, column.r#type),
            None => format!("{} ({})", column.name, column.r#type),
        });
        let columns: Vec<String> = columns.collect();
        let rows = if self.rows.is_some() {
            " (several rows per key)"
        } else {
            ""
        };
        format!("{}{rows}: {}", self.name, columns.join(", "))
    }
}
