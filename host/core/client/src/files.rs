//! Versions of files, by which a changed one is noticed.
//!
//! Links are followed: a mounted ConfigMap or Secret is exchanged by exchanging a link.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Versions of files, including missing ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileVersions(BTreeMap<PathBuf, Fingerprint>);

/// Identity of a version of a file: the target of its links, its size, and its time. `None` if there is no file.
type Fingerprint = Option<(PathBuf, u64, SystemTime)>;

impl FileVersions {
    /// Adds the present version of a file, unless the file was added before.
    pub fn note(&mut self, file: impl Into<PathBuf>) {
        self.0.entry(file.into()).or_insert_with_key(|file| fingerprint(file));
    }

    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// The present versions of the same files.
    pub fn now(&self) -> Self {
        let files = self.0.keys();
        Self(files.map(|file| (file.clone(), fingerprint(file))).collect())
    }
}

fn fingerprint(file: &Path) -> Fingerprint {
    let target = std::fs::canonicalize(file).ok()?;
    let metadata = std::fs::metadata(&target).ok()?;
    Some((target, metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchanged_link_is_a_change() {
        let folder = std::env::temp_dir().join(format!("divvy-files-{}", std::process::id()));
        let path = |name: &str| folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(path("one"), "same").unwrap();
        std::fs::write(path("two"), "same").unwrap();
        std::os::unix::fs::symlink(path("one"), path("link")).unwrap();
        let before = fingerprint(&path("link"));
        assert_eq!(fingerprint(&path("link")), before);
        std::os::unix::fs::symlink(path("two"), path("next")).unwrap();
        std::fs::rename(path("next"), path("link")).unwrap();
        assert_ne!(fingerprint(&path("link")), before);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(fingerprint(&path("link")), None);
    }
}
