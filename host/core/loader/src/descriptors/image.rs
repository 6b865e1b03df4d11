//! A library's memory as the dynamic linker would lay it out at address 0, with its relocations.

use object::elf::PF_X;
use object::{Object, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SegmentFlags};

/// The segments of a library, and the words that relocations write into them.
pub(super) struct Image<'data> {
    segments: Vec<Segment<'data>>,
    /// Addresses of words with the values that relocations put there, sorted by address; the last of one address counts. Linkers write
    /// thousands of relocations, of which few are read, and nearly in this order: sorting them costs less than a map of them.
    relocated: Vec<(u64, Word)>,
    is_little_endian: bool,
}

struct Segment<'data> {
    address: u64,
    /// Its bytes in the file, which may be fewer than it has in memory.
    data: &'data [u8],
    has_code: bool,
}

/// A word of eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// A number, or an address in the library.
    Value(u64),
    /// The address of something in another library, which is known once the library is opened.
    Imported,
}

impl<'data> Image<'data> {
    pub(super) fn new(file: &object::File<'data>) -> Self {
        let symbols = file.dynamic_symbol_table();
        let mut relocated = Vec::new();
        for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
            // The file already has the value of such a word, as for relative relocations in `.relr.dyn`.
            if relocation.has_implicit_addend() {
                continue;
            }
            let base = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    let symbol = symbols.as_ref().and_then(|table| table.symbol_by_index(index).ok());
                    symbol
                        .filter(|symbol| !symbol.is_undefined())
                        .map(|symbol| symbol.address())
                }
                _ => Some(0),
            };
            let word = base.map_or(Word::Imported, |base| {
                Word::Value(base.wrapping_add_signed(relocation.addend()))
            });
            relocated.push((address, word));
        }
        // Stable: the dynamic linker applies relocations of one word in the order of the file.
        relocated.sort_by_key(|(address, _)| *address);
        let segments = file.segments().filter_map(|segment| {
            Some(Segment {
                address: segment.address(),
                data: segment.data().ok()?,
                has_code: match segment.flags() {
                    SegmentFlags::Elf { p_flags, .. } => p_flags & PF_X != 0,
                    // Other formats do not say so here.
                    _ => true,
                },
            })
        });
        Self {
            segments: segments.collect(),
            relocated,
            is_little_endian: file.is_little_endian(),
        }
    }

    /// Bytes at an address; `None` if the file does not have all of them.
    pub(super) fn bytes(&self, address: u64, length: u64) -> Option<&'data [u8]> {
        self.segments.iter().find_map(|segment| segment.bytes(address, length))
    }

    /// True if code is at an address.
    pub(super) fn has_code(&self, address: u64) -> bool {
        let mut code = self.segments.iter().filter(|segment| segment.has_code);
        code.any(|segment| segment.bytes(address, 1).is_some())
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
    pub(super) fn word(&self, address: u64) -> Option<Word> {
        // A relocation of a word that is not in the file would make the dynamic linker write elsewhere.
        let bytes = self.bytes(address, 8)?.try_into().ok()?;
        let after = self.relocated.partition_point(|(relocated, _)| *relocated <= address);
        let last = after.checked_sub(1).and_then(|index| self.relocated.get(index));
        Some(match last {
            Some((relocated, word)) if *relocated == address => *word,
            _ if self.is_little_endian => Word::Value(u64::from_le_bytes(bytes)),
            _ => Word::Value(u64::from_be_bytes(bytes)),
        })
    }
}

impl<'data> Segment<'data> {
    /// Bytes at an address; `None` if the segment does not have all of them in the file.
    fn bytes(&self, address: u64, length: u64) -> Option<&'data [u8]> {
        let from = usize::try_from(address.checked_sub(self.address)?).ok()?;
        let to = from.checked_add(usize::try_from(length).ok()?)?;
        self.data.get(from..to)
    }
}
