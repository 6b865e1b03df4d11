//! Every reason that a plugin cannot be loaded: its own error, with a message and a hint.
//!
//! [`files`] covers failures of a single file, [`descriptors`] those of its descriptors, [`profiles`] those of a profile
//! that combines plugins, and [`sources`] those that the author of a plugin gets from the compiler. [`mounts`] has libraries on volumes of a
//! cluster, which load.

mod descriptors;
mod files;
mod mounts;
mod profiles;
mod sources;

use std::path::Path;

/// A message with its path replaced by `<file>` and the line number of a source file by `<line>`, because both may
/// vary.
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
