//! Who can replace a file: a check like that of OpenSSH for its own files.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::geteuid;

/// Permission of everyone else to write.
const OTHERS_WRITE: u32 = 0o002;
/// In a folder with this permission, only a file's owner can replace it.
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// A file that someone can replace who is neither root nor the user of this process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` can be replaced by others: {}{access}", file.display(), self.which())]
pub struct Replaceable {
    /// The file.
    pub file: PathBuf,
    /// The file, or the folder above it, that others can write to.
    pub path: PathBuf,
    /// Why they can.
    pub access: Access,
}

/// Why others can write to a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Access {
    /// Every user may.
    #[error("can be written by every user")]
    Everyone,
    /// It belongs to a user who is neither root nor that of this process.
    #[error("belongs to user {owner}")]
    Owner {
        /// Number of the user.
        owner: u32,
    },
}

impl Replaceable {
    fn which(&self) -> String {
        match self.path == self.file {
            true => "it ".to_owned(),
            false => format!("the folder `{}` ", self.path.display()),
        }
    }
}

/// Finds out whether others can replace a file: by writing to it, or to a folder above it. Links are followed. A file that does not exist
/// or that cannot be looked at is nobody's. Nothing can be replaced through a file system that is mounted for reading only.
///
/// Groups are not considered: some distributions let a group of administrators write to `/usr/local`.
pub fn replaceable_by_others(file: &Path) -> Option<Replaceable> {
    let canonical = fs::canonicalize(file).ok()?;
    if statvfs(&canonical).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY)) {
        return None;
    }
    let own = geteuid().as_raw();
    canonical.ancestors().find_map(|path| {
        let access = access(&fs::metadata(path).ok()?, own)?;
        let path = if path == canonical { file } else { path };
        Some(Replaceable {
            file: file.to_owned(),
            path: path.to_owned(),
            access,
        })
    })
}

fn access(metadata: &Metadata, own: u32) -> Option<Access> {
    let (owner, mode) = (metadata.uid(), metadata.mode());
    if owner != ROOT && owner != own {
        return Some(Access::Owner { owner });
    }
    let is_sticky = metadata.is_dir() && mode & STICKY != 0;
    (mode & OTHERS_WRITE != 0 && !is_sticky).then_some(Access::Everyone)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the permissions are set");
    }

    /// The file or folder that makes a file replaceable, and why.
    fn found(file: &Path) -> Option<(PathBuf, Access)> {
        replaceable_by_others(file).map(|replaceable| (replaceable.path, replaceable.access))
    }

    #[test]
    fn a_file_is_replaced_through_itself_or_through_a_folder_above() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("plugins");
        let file = inner.join("libdivvy_plugin_x.so");
        fs::create_dir(&inner).expect("a folder");
        fs::write(&file, "library").expect("a file");
        let link = folder.path().join("link.so");
        symlink(&file, &link).expect("a link");
        for (mode, of) in [(0o700, 0o600), (0o775, 0o664), (0o1777, 0o644)] {
            set_mode(&inner, mode);
            set_mode(&file, of);
            assert_eq!(found(&file), None, "{mode:o} {of:o}");
        }
        set_mode(&file, 0o666);
        assert_eq!(found(&file), Some((file.clone(), Access::Everyone)));
        // A link is reported by its own name.
        assert_eq!(found(&link), Some((link.clone(), Access::Everyone)));
        set_mode(&file, 0o644);
        set_mode(&inner, 0o777);
        let replaceable = replaceable_by_others(&file).expect("everyone can");
        assert_eq!((&replaceable.path, replaceable.access), (&inner, Access::Everyone));
        assert_eq!(
            replaceable.to_string(),
            format!(
                "`{}` can be replaced by others: the folder `{}` can be written by every user",
                file.display(),
                inner.display()
            )
        );
        assert_eq!(found(&inner.join("missing.so")), None);
    }

    /// Only root can give a file away.
    #[test]
    fn a_file_of_another_user_is_theirs_to_replace() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("libdivvy_plugin_x.so");
        fs::write(&file, "library").expect("a file");
        if chown(&file, Some(4711), None).is_err() {
            return;
        }
        let expected = Access::Owner { owner: 4711 };
        assert_eq!(found(&file), Some((file.clone(), expected)));
        assert_eq!(expected.to_string(), "belongs to user 4711");
    }
}
