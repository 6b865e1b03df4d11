//! The file of a table: its text, format and version.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ring::digest::{SHA256, digest};

use super::configuration::TableConfiguration;
use super::error::{TableError, TableProblem};
use super::rows::{Finished, Rows};
use super::{csv, tree};

/// Maximum size of a table's file, in bytes.
pub const TABLE_BYTES_MAX: u64 = 16 << 20;

/// The text of a table with its version. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSource {
    /// Path of the file. Its extension determines the format.
    pub file: PathBuf,
    /// The text.
    pub text: Arc<str>,
    /// SHA-256 checksum of the text, in hexadecimal.
    pub version: String,
}

/// Formats of tables.
#[derive(Debug, Clone, Copy)]
enum Format {
    Csv,
    Json,
    Toml,
}

impl TableSource {
    /// A text under the name of a file.
    pub fn new(file: PathBuf, text: &str) -> Self {
        let digest = digest(&SHA256, text.as_bytes());
        Self {
            file,
            text: text.into(),
            version: digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// A [`TableError`] if it cannot be read, is too large, or is not UTF-8 text.
    pub fn read(file: &Path) -> Result<Self, Box<TableError>> {
        let refused = |line: Option<usize>, problem: TableProblem| {
            Box::new(TableError {
                file: file.to_owned(),
                line,
                problem,
            })
        };
        let unreadable = |message: String| refused(None, TableProblem::Unreadable { message });
        let metadata = std::fs::metadata(file).map_err(|error| unreadable(error.to_string()))?;
        // Opening a pipe would wait for its writer.
        if !metadata.is_file() {
            return Err(unreadable("not a file".to_owned()));
        }
        let mut bytes = Vec::new();
        let opened = File::open(file).map_err(|error| unreadable(error.to_string()))?;
        opened
            .take(TABLE_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() as u64 > TABLE_BYTES_MAX {
            let bytes_max = TABLE_BYTES_MAX;
            return Err(refused(None, TableProblem::TooLarge { bytes_max }));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Self::new(file.to_owned(), text)),
            Err(error) => {
                let valid = &bytes[..error.valid_up_to()];
                let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
                Err(refused(Some(line), TableProblem::NotUtf8))
            }
        }
    }

    fn format(&self) -> Option<Format> {
        let extension = self.file.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }

    /// The rows of the table, as the profile declares it.
    ///
    /// # Errors
    ///
    /// Every problem of the text, in the order of the lines.
    pub(super) fn rows(&self, configuration: &TableConfiguration) -> Result<Finished, Vec<TableError>> {
        let key = configuration.key.clone().unwrap_or_default();
        let rows_per_key = configuration.rows_per_key();
        let mut rows = Rows::new(&self.file, (key.into(), rows_per_key), configuration.columns.iter());
        // Spreadsheets put a byte order mark before the text.
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        match self.format() {
            Some(Format::Csv) => csv::read(text, configuration.key_column.as_deref(), &mut rows),
            Some(Format::Json) => tree::read_json(text, &mut rows),
            Some(Format::Toml) => tree::read_toml(text, &mut rows),
            None => rows.refuse(None, TableProblem::UnknownFormat),
        }
        rows.finish()
    }
}
