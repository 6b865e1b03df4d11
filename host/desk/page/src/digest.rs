//! The digest of an input, which shows whether two pages are about the same one.

use ring::digest::{Context, SHA256};

/// SHA-256 of a stream, as `sha256sum` prints it.
#[derive(Clone)]
pub struct StreamDigest(Context);

impl Default for StreamDigest {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl StreamDigest {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes, in hexadecimal digits.
    pub fn finish(self) -> String {
        hexadecimal(self.0.finish().as_ref())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

/// The digest of an input of several streams: that of a single one, or else that of the lines with the digests of all, in the order in
/// which they were read.
pub fn of_streams(digests: &[String]) -> String {
    match digests {
        [only] => only.clone(),
        digests => {
            let mut all = StreamDigest::default();
            for digest in digests {
                all.update(digest.as_bytes());
                all.update(b"\n");
            }
            all.finish()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `printf abc | sha256sum` and `printf '%s\n' A B | sha256sum` print them.
    #[test]
    fn digests_are_those_of_sha256sum() {
        let mut stream = StreamDigest::default();
        stream.update(b"a");
        stream.update(b"bc");
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(stream.finish(), abc);
        assert_eq!(of_streams(&[abc.to_owned()]), abc);
        let both = of_streams(&[abc.to_owned(), abc.to_owned()]);
        assert_eq!(both, "ed9453257140de25bccb9b1fe8413c845d0ce1c7a25fcdfe1c874ac5f12c8564");
    }
}
