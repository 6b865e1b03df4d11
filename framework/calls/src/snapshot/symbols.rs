//! Interned texts: each distinct text is stored once, under a number.

use divvy_framework_abi::hash::hash_text;

/// Texts and their numbers. Symbol 0 is the empty text.
#[derive(Debug)]
pub(super) struct Symbols {
    pub(super) text: Vec<u8>,
    pub(super) offsets: Vec<u64>,
    pub(super) hashes: Vec<u64>,
    table: Vec<u32>,
}

impl Default for Symbols {
    fn default() -> Self {
        let mut symbols = Self {
            text: Vec::new(),
            offsets: vec![0],
            hashes: Vec::new(),
            table: vec![0; 64],
        };
        symbols.intern("");
        symbols
    }
}

impl Symbols {
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The symbol of `text`, which is added if it is new.
    #[inline]
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        self.intern_hashed(text.as_bytes(), hash_text(text))
    }

    /// The symbol of a text whose hash is known. The text is added if it is new.
    pub(super) fn intern_hashed(&mut self, text: &[u8], hash: u64) -> u32 {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(symbol) = self.table[slot].checked_sub(1) {
            if self.hashes[symbol as usize] == hash && self.bytes(symbol) == text {
                return symbol;
            }
            slot = (slot + 1) & mask;
        }
        let symbol = self.hashes.len() as u32;
        self.text.extend_from_slice(text);
        self.offsets.push(self.text.len() as u64);
        self.hashes.push(hash);
        self.table[slot] = symbol + 1;
        if self.hashes.len() * 2 > self.table.len() {
            self.grow();
        }
        symbol
    }

    pub(super) fn bytes(&self, symbol: u32) -> &[u8] {
        let start = self.offsets[symbol as usize] as usize;
        let end = self.offsets[symbol as usize + 1] as usize;
        &self.text[start..end]
    }

    fn grow(&mut self) {
        let length = self.table.len() * 2;
        self.table.clear();
        self.table.resize(length, 0);
        for (symbol, &hash) in (0..).zip(&self.hashes) {
            enter(&mut self.table, hash, symbol);
        }
    }
}

/// Enters a new symbol into an open-addressing table. The length is a power of two, a slot holds the symbol plus one
/// (0 is free), the hash of the text gives the first slot to try, and the table is never full.
pub(super) fn enter(table: &mut [u32], hash: u64, symbol: u32) {
    let mask = table.len() - 1;
    let mut slot = hash as usize & mask;
    while table[slot] != 0 {
        slot = (slot + 1) & mask;
    }
    table[slot] = symbol + 1;
}
