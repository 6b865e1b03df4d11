//! The story of a life: one sentence per event, and a digest of all of them.

use std::fmt::Write;

use divvy_world::agenda::Millis;

/// Sentences of a life.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    keeps: bool,
    lines: Vec<String>,
    digest: u64,
}

impl Log {
    /// A log that keeps its sentences, or only their digest.
    pub(crate) fn new(keeps: bool) -> Self {
        Self {
            keeps,
            lines: Vec::new(),
            digest: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Notes a sentence.
    pub(crate) fn note(&mut self, at: Millis, sentence: impl FnOnce() -> String) {
        let mut line = String::with_capacity(96);
        // Writing to a text cannot fail.
        let _infallible = write!(line, "{:>5}.{:03}  {}", at / 1000, at % 1000, sentence());
        for byte in line.bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if self.keeps {
            self.lines.push(line);
        }
    }

    /// The sentences, if they were kept.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// A number that differs whenever a sentence does.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }
}
