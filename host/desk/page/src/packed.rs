//! Data as text that HTML carries unchanged: JSON, gzipped, in Base64.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{SHA256, digest};
use serde::Serialize;

/// Packs a value.
pub(crate) fn packed(value: &impl Serialize) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(io::BufWriter::new(&mut encoder), value)?;
    encoder.flush()?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// The source expression with which a Content Security Policy allows an inline script or style.
pub(crate) fn policy_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_packed_holds_no_markup_and_comes_out_again() {
        let value = vec!["</script><script>alert(1)</script>".to_owned(); 1000];
        let text = packed(&value).unwrap();
        assert!(!text.contains('<') && text.len() < 1000, "{text}");
        let bytes = STANDARD.decode(text).unwrap();
        let mut json = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut json)
            .unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), value);
    }

    #[test]
    fn the_hash_of_nothing_is_the_known_one() {
        assert_eq!(policy_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
