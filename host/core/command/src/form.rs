//! Data for programs as text: any value as indented JSON or as YAML.

use std::io::{self, Write};

use serde::Serialize;

use crate::escaping::{self, EscapedJson};

/// A form of data for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Indented JSON.
    Json,
    /// YAML.
    Yaml,
}

impl Form {
    /// Writes a value as a document of its own.
    ///
    /// # Errors
    ///
    /// The error of `out`. Part of the output may have been written.
    pub fn write_document(self, value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Json => write_value(value, out),
            Self::Yaml => write_yaml_value(value, out),
        }
    }

    /// Writes a value. JSON ends without a line break.
    pub fn write(self, value: &impl Serialize, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Json => {
                let start = out.len();
                serde_json::to_writer_pretty(&mut *out, value)?;
                escaping::escape_from(start, out);
                Ok(())
            }
            Self::Yaml => write_yaml_value(value, out),
        }
    }
}

/// Writes any value as indented JSON.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub fn write_value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut escaped = EscapedJson::new(&mut *out);
    serde_json::to_writer_pretty(&mut escaped, value)?;
    escaped.finish()?;
    writeln!(out)
}

/// Writes any value as YAML.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub fn write_yaml_value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = escaping::yaml(value)?;
    out.write_all(text.as_bytes())?;
    if text.ends_with('\n') { Ok(()) } else { writeln!(out) }
}
