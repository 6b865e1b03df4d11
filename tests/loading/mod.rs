//! Each way in which a plugin cannot be loaded: its own error, with its message and what it advises.
//!
//! [`files`] are failures of one file, [`profiles`] those of plugins put together by a profile, [`sources`] those that a
//! plugin's author meets already when compiling.

mod files;
mod profiles;
mod sources;

use std::path::Path;

/// A message with its path as `<file>`, and the line of a place in a source as `<line>`: both differ between machines.
fn settled(message: &str, file: &Path) -> String {
    let message = message.replace(&file.display().to_string(), "<file>");
    match message.rsplit_once(".rs:") {
        Some((head, tail)) => {
            let rest = tail.trim_start_matches(|character: char| character.is_ascii_digit());
            format!("{head}.rs:<line>{rest}")
        }
        None => message,
    }
}
