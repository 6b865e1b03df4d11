//! Copies of sources in the target directory, which outlive what they are copies of.

use std::fs;
use std::io;
use std::path::Path;

/// Removes from a copy of a folder the files and folders that the folder itself no longer has: a module that has moved would otherwise be
/// there twice. What stays is not touched, because Cargo looks at modification times.
///
/// # Errors
///
/// An entry cannot be listed or removed. A copy that does not exist yet is none.
pub fn remove_what_is_gone(copy: &Path, source: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(copy) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let (path, original) = (entry.path(), source.join(entry.file_name()));
        match (entry.file_type()?.is_dir(), original.is_dir()) {
            (true, true) => remove_what_is_gone(&path, &original)?,
            (true, false) => fs::remove_dir_all(&path)?,
            (false, _) if !original.is_file() => fs::remove_file(&path)?,
            (false, _) => {}
        }
    }
    Ok(())
}
