//! `--seed`, as every command reads it.

/// Parses a seed.
pub fn parse(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}
