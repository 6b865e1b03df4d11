//! Files with the tables that a bundled plugin declares, and the lines of a profile that name them.

use std::fmt::Write;

use divvy_framework_view::tables::{ColumnType, RowsPerKey};
use divvy_loader::DeclaredTable;

/// The tables of a plugin, in CSV, in a folder of their own.
pub(crate) struct TableFiles {
    /// Removed with it.
    _folder: tempfile::TempDir,
    lines: String,
}

impl TableFiles {
    /// Writes each declared table with the text that `text` gives for its name.
    pub(crate) fn new(declared: &[DeclaredTable], text: impl Fn(&str) -> String) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut lines = String::new();
        for table in declared {
            let file = folder.path().join(&table.name).with_extension("csv");
            std::fs::write(&file, text(&table.name)).expect("the table can be written");
            _ = writeln!(lines, "\n[profile.table.{}]\nfile = {file:?}", table.name);
            if table.rows == RowsPerKey::Several {
                lines.push_str("rows = 'several'\n");
            }
            for column in &table.columns {
                _ = match column.column_type {
                    ColumnType::Decimal { scale } => {
                        writeln!(
                            lines,
                            "columns.{} = {{ type = 'decimal', scale = {scale} }}",
                            column.name
                        )
                    }
                    other => writeln!(lines, "columns.{} = '{other}'", column.name),
                };
            }
        }
        Self { _folder: folder, lines }
    }

    /// The lines, to follow all others of a profile.
    pub(crate) fn lines(&self) -> &str {
        &self.lines
    }
}
