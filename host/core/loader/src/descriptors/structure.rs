//! Structs that can grow, read from a library's file with the bounds of each length.
//!
//! As in `SizePrefixed::read`, which reads them from memory, a field beyond the end of the struct has its default. All that that
//! function has to trust is checked here: addresses, alignment, kinds and lengths.

use std::fmt;

use super::image::{Image, Word};

/// Alignment of structs and of tables.
const ALIGNMENT: u64 = 8;

/// Bytes of a head: size and kind.
const HEAD: u64 = 8;

/// Bytes of an address in a table.
const ADDRESS: u64 = 8;

/// A field of a library's descriptors with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: expected {expected}, found {actual}")]
pub struct InvalidField {
    /// The field, such as `plugins[0].points.length`.
    pub field: String,
    /// Its valid values.
    pub expected: String,
    /// Its value.
    pub actual: String,
}

/// A field of a struct: its name and its offset.
pub(super) type Field = (&'static str, usize);

/// A struct in the file.
pub(super) struct Structure<'image, 'data> {
    image: &'image Image<'data>,
    address: u64,
    /// Size of the struct as its creator knows it.
    size: u64,
    /// Path of the struct for errors, with a final period; empty for the library itself.
    path: String,
}

impl<'image, 'data> Structure<'image, 'data> {
    /// The struct of kind `kind` at the address in the field `path`.
    pub(super) fn at(image: &'image Image<'data>, address: Word, kind: u32, path: &str) -> Result<Self, InvalidField> {
        let address = aligned(address, path, HEAD, image)?;
        let number = |offset: u64| {
            let number = address.checked_add(offset).and_then(|address| image.number(address));
            number.ok_or_else(|| outside(path.to_owned(), HEAD, Word::Value(address)))
        };
        let (size, actual) = (u64::from(number(0)?), number(4)?);
        let prefix = match path {
            "" => String::new(),
            path => format!("{path}."),
        };
        if actual != kind {
            return Err(invalid(format!("{prefix}kind"), kind, actual));
        }
        if size < HEAD || image.bytes(address, size).is_none() {
            let expected = format!("at least {HEAD} bytes, all within the file");
            return Err(invalid(format!("{prefix}size"), expected, size));
        }
        Ok(Self {
            image,
            address,
            size,
            path: prefix,
        })
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    /// The address of a field of `bytes` bytes; `None` if the struct is too short for it.
    fn field(&self, offset: usize, bytes: u64) -> Option<u64> {
        let offset = offset as u64;
        (offset.checked_add(bytes)? <= self.size).then(|| self.address.checked_add(offset))?
    }

    /// The 32-bit number of a field; 0 if the struct is too short for it.
    pub(super) fn number(&self, (_, offset): Field) -> u32 {
        let address = self.field(offset, 4);
        address
            .and_then(|address| self.image.number(address))
            .unwrap_or_default()
    }

    fn word_at(&self, offset: usize) -> Word {
        let address = self.field(offset, ADDRESS);
        let word = address.and_then(|address| self.image.word(address));
        word.unwrap_or(Word::Value(0))
    }

    /// The 64-bit number of a field.
    pub(super) fn word(&self, (name, offset): Field) -> Result<u64, InvalidField> {
        match self.word_at(offset) {
            Word::Value(number) => Ok(number),
            imported => Err(invalid(self.path(name), "a number", imported)),
        }
    }

    /// The address and the length of a column, which has at most `limit` elements.
    fn column(&self, (name, offset): Field, limit: u32) -> Result<(Word, u64), InvalidField> {
        let data = self.word_at(offset);
        // A null address is an empty column, whatever its length.
        if data == Word::Value(0) {
            return Ok((data, 0));
        }
        let path = self.path(name);
        match self.word_at(offset.saturating_add(8)) {
            Word::Value(length) if length <= u64::from(limit) => Ok((data, length)),
            other => Err(invalid(format!("{path}.length"), format!("at most {limit}"), other)),
        }
    }

    /// The text of a field, which has at most `limit` bytes. Bytes that are not UTF-8 are replaced.
    pub(super) fn text(&self, field: Field, limit: u32) -> Result<String, InvalidField> {
        let (data, length) = self.column(field, limit)?;
        if length == 0 {
            return Ok(String::new());
        }
        let bytes = match data {
            Word::Value(address) => self.image.bytes(address, length),
            Word::Imported => None,
        };
        let path = || format!("{}.data", self.path(field.0));
        let bytes = bytes.ok_or_else(|| outside(path(), length, data))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The structs of a kind in a table of addresses, which has at most `limit` elements.
    pub(super) fn table(&self, field: Field, kind: u32, limit: u32) -> Result<Vec<Self>, InvalidField> {
        let (data, length) = self.column(field, limit)?;
        let path = self.path(field.0);
        if data == Word::Value(0) {
            return Ok(Vec::new());
        }
        let data = aligned(
            data,
            &format!("{path}.data"),
            length.saturating_mul(ADDRESS),
            self.image,
        )?;
        let elements = (0..length).map(|number| {
            let address = data.saturating_add(number.saturating_mul(ADDRESS));
            let element = self.image.word(address).unwrap_or(Word::Value(0));
            Self::at(self.image, element, kind, &format!("{path}[{number}]"))
        });
        elements.collect()
    }

    /// True if a field has a function: one of the library, or one of another library.
    pub(super) fn has_function(&self, (name, offset): Field) -> Result<bool, InvalidField> {
        match self.word_at(offset) {
            Word::Value(0) => Ok(false),
            Word::Value(address) if !self.image.has_code(address) => {
                let actual = Word::Value(address).address();
                Err(invalid(self.path(name), "the address of a function", actual))
            }
            _ => Ok(true),
        }
    }
}

impl Word {
    /// The word as an address, for messages.
    fn address(self) -> String {
        match self {
            Self::Value(address) => format!("{address:#x}"),
            Self::Imported => self.to_string(),
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(number) => number.fmt(formatter),
            Self::Imported => formatter.write_str("an address in another library"),
        }
    }
}

fn invalid(field: String, expected: impl fmt::Display, actual: impl fmt::Display) -> InvalidField {
    InvalidField {
        field,
        expected: expected.to_string(),
        actual: actual.to_string(),
    }
}

/// The error of an address that does not have `bytes` bytes in the file.
fn outside(field: String, bytes: u64, address: Word) -> InvalidField {
    invalid(
        field,
        format!("an address of {bytes} bytes within the file"),
        address.address(),
    )
}

/// An address of `bytes` bytes in the file that has the alignment of structs.
fn aligned(address: Word, path: &str, bytes: u64, image: &Image<'_>) -> Result<u64, InvalidField> {
    let field = || match path {
        "" => "divvy_plugin_v1".to_owned(),
        path => path.to_owned(),
    };
    let Word::Value(value) = address else {
        return Err(outside(field(), bytes, address));
    };
    if bytes > 0 && (value == 0 || image.bytes(value, bytes).is_none()) {
        return Err(outside(field(), bytes, address));
    }
    if !value.is_multiple_of(ALIGNMENT) {
        return Err(invalid(
            field(),
            format!("a multiple of {ALIGNMENT}"),
            address.address(),
        ));
    }
    Ok(value)
}
