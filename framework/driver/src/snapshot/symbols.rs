//! Interned texts: each distinct text once, with a number.

use divvy_framework_abi::hash::hash_text;

/// Texts and their numbers. Symbol 0 is the empty text. Symbols are never given up while the table lives.
#[derive(Debug)]
pub(super) struct Symbols {
    pub(super) text: Vec<u8>,
    pub(super) offsets: Vec<u64>,
    pub(super) hashes: Vec<u64>,
    /// Symbol plus one at the hash of its text; a power of two long and at most half full.
    pub(super) table: Vec<u32>,
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

    /// The symbol of `text`, made if it is new.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        let hash = hash_text(text);
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(symbol) = self.table[slot].checked_sub(1) {
            if self.hashes[symbol as usize] == hash && self.bytes(symbol) == text.as_bytes() {
                return symbol;
            }
            slot = (slot + 1) & mask;
        }
        let symbol = self.hashes.len() as u32;
        self.text.extend_from_slice(text.as_bytes());
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
        let mask = length - 1;
        self.table.clear();
        self.table.resize(length, 0);
        for (symbol, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & mask;
            while self.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = symbol as u32 + 1;
        }
    }
}
