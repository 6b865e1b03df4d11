//! A library's memory as the dynamic linker would lay it out at address 0, with its relocations.

use std::collections::HashMap;

use object::{Object, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationTarget};

/// The segments of a library, and the words that relocations write into them.
pub(super) struct Image<'data> {
    segments: Vec<(u64, &'data [u8])>,
    /// Addresses of words with the addresses that relocations put there.
    relocated: HashMap<u64, u64>,
    is_little_endian: bool,
}

/// Maximum bytes of a text, so that a broken length does not read a whole file.
const TEXT_BYTES: u64 = 1 << 16;

impl<'data> Image<'data> {
    pub(super) fn new(file: &object::File<'data>) -> Self {
        let segments = file.segments();
        let symbols = file.dynamic_symbol_table();
        let mut relocated = HashMap::new();
        for (place, relocation) in file.dynamic_relocations().into_iter().flatten() {
            // Such a word has its value already, as relative ones in `.relr.dyn` have.
            if relocation.has_implicit_addend() {
                continue;
            }
            let base = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    let symbol = symbols.as_ref().and_then(|table| table.symbol_by_index(index).ok());
                    symbol.map_or(0, |symbol| symbol.address())
                }
                _ => 0,
            };
            relocated.insert(place, base.wrapping_add_signed(relocation.addend()));
        }
        Self {
            segments: segments
                .filter_map(|segment| Some((segment.address(), segment.data().ok()?)))
                .collect(),
            relocated,
            is_little_endian: file.is_little_endian(),
        }
    }

    /// Bytes at an address; `None` if the file does not have all of them.
    fn bytes(&self, address: u64, length: u64) -> Option<&'data [u8]> {
        self.segments.iter().find_map(|(start, data)| {
            let from = usize::try_from(address.checked_sub(*start)?).ok()?;
            let to = from.checked_add(usize::try_from(length).ok()?)?;
            data.get(from..to)
        })
    }

    /// The 32-bit number at an address.
    pub(super) fn number(&self, address: u64) -> Option<u32> {
        let bytes = self.bytes(address, 4)?.try_into().ok()?;
        Some(match self.is_little_endian {
            true => u32::from_le_bytes(bytes),
            false => u32::from_be_bytes(bytes),
        })
    }

    /// The 64-bit number or the address at an address.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        if let Some(word) = self.relocated.get(&address) {
            return Some(*word);
        }
        let bytes = self.bytes(address, 8)?.try_into().ok()?;
        Some(match self.is_little_endian {
            true => u64::from_le_bytes(bytes),
            false => u64::from_be_bytes(bytes),
        })
    }

    /// The text whose address and length are at an address. Bytes that are not UTF-8 are replaced.
    pub(super) fn text(&self, address: u64) -> Option<String> {
        let (data, length) = self.slice(address)?;
        if length == 0 {
            return Some(String::new());
        }
        let bytes = self.bytes(data, length.min(TEXT_BYTES))?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The address and the length of the elements at an address.
    pub(super) fn slice(&self, address: u64) -> Option<(u64, u64)> {
        let length = self.word(address.checked_add(8)?)?;
        Some((self.word(address)?, length))
    }
}
