//! The libraries that the dynamic linker of this machine finds by name: those that this process has open, those of its cache, and those of
//! the usual folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use object::Architecture;

use super::{Dynamic, at_origin, read_library};

/// The cache of the linker of glibc.
const CACHE: &str = "/etc/ld.so.cache";

/// Folders in which glibc looks last.
const USUAL: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// A search for everything that a library needs, and for what that needs in turn.
pub(super) struct Search {
    architecture: Architecture,
    /// Paths by name, of the linker's cache.
    cached: BTreeMap<String, Vec<PathBuf>>,
    /// Names of libraries that are open or were found.
    known: BTreeSet<String>,
    /// Symbols of all of them.
    symbols: BTreeSet<String>,
}

impl Search {
    /// A search that begins with what this process has open: a plugin shares the C library with it.
    pub(super) fn new(architecture: Architecture) -> Self {
        let mut search = Self {
            architecture,
            cached: fs::read(CACHE).map(|bytes| cached(&bytes)).unwrap_or_default(),
            known: BTreeSet::new(),
            symbols: BTreeSet::new(),
        };
        for path in open_files() {
            if let Some((_, symbols)) = read_library(&path, architecture) {
                search.take(&file_name(&path), symbols);
            }
        }
        search
    }

    /// Looks for everything that the library at `path` needs, and returns the names of what is nowhere.
    pub(super) fn open_all(&mut self, dynamic: &Dynamic, path: &Path) -> Vec<String> {
        let mut missing = Vec::new();
        let mut waiting = self.unknown(dynamic, path);
        while let Some((name, folders)) = waiting.pop() {
            if self.known.contains(&name) {
                continue;
            }
            let candidates = self.candidates(&name, &folders);
            let found = candidates
                .into_iter()
                .find_map(|path| Some((read_library(&path, self.architecture)?, path)));
            match found {
                Some(((dynamic, symbols), path)) => {
                    self.take(&name, symbols);
                    waiting.extend(self.unknown(&dynamic, &path));
                }
                None => {
                    self.known.insert(name.clone());
                    missing.push(name);
                }
            }
        }
        missing.sort_unstable();
        missing
    }

    /// Those of the symbols that no library has.
    pub(super) fn without(&self, symbols: BTreeSet<String>) -> Vec<String> {
        symbols
            .into_iter()
            .filter(|name| !self.symbols.contains(name))
            .collect()
    }

    fn take(&mut self, name: &str, symbols: Vec<String>) {
        self.known.insert(name.to_owned());
        self.symbols.extend(symbols);
    }

    /// What a library needs and is not known yet, with the folders in which the linker looks first.
    fn unknown(&self, dynamic: &Dynamic, path: &Path) -> Vec<(String, Vec<PathBuf>)> {
        let needed = dynamic.needed.iter().map(|name| match name.contains('/') {
            true => at_origin(name, path).display().to_string(),
            false => name.clone(),
        });
        needed
            .filter(|name| !self.known.contains(name))
            .map(|name| (name, dynamic.folders_at(path).collect()))
            .collect()
    }

    /// Paths at which a library may be. Which comes first does not matter here. Folders of `LD_LIBRARY_PATH` are left out, because workers
    /// do not inherit the variable.
    fn candidates(&self, name: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
        if name.contains('/') {
            return vec![PathBuf::from(name)];
        }
        let of_distribution = format!("{}-linux-gnu", std::env::consts::ARCH);
        let usual = USUAL
            .iter()
            .flat_map(|folder| [PathBuf::from(folder), Path::new(folder).join(&of_distribution)]);
        let folders = folders.iter().cloned().chain(usual).map(|folder| folder.join(name));
        let cached = self.cached.get(name).into_iter().flatten().cloned();
        cached.chain(folders.filter(|path| path.is_file())).collect()
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Files of the libraries that this process has open. The program itself has no symbols for others.
fn open_files() -> BTreeSet<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let paths = maps.lines().filter_map(|line| {
        let mut parts = line.split_whitespace();
        let has_code = parts.nth(1).is_some_and(|permissions| permissions.contains('x'));
        let path = parts.nth(3)?;
        (has_code && path.starts_with('/')).then(|| PathBuf::from(path))
    });
    paths.filter(|path| *path != program).collect()
}

/// The paths of glibc's cache by name. One in another form than the present one has none.
fn cached(bytes: &[u8]) -> BTreeMap<String, Vec<PathBuf>> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const HEADER: usize = 48;
    const ENTRY: usize = 24;
    let mut paths: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    // Older versions of glibc write the form of before in front of it.
    let Some(start) = bytes.windows(MAGIC.len()).position(|window| window == MAGIC) else {
        return paths;
    };
    let cache = &bytes[start..];
    let number = |at: usize| {
        let bytes = cache.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_ne_bytes(bytes)).ok()
    };
    let text = |at: usize| {
        let rest = cache.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    let count = number(MAGIC.len()).unwrap_or(0).min(cache.len() / ENTRY);
    for entry in (0..count).map(|index| HEADER + index * ENTRY) {
        let name = number(entry + 4).and_then(text);
        let path = number(entry + 8).and_then(text);
        if let (Some(name), Some(path)) = (name, path) {
            paths.entry(name).or_default().push(PathBuf::from(path));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_read_by_its_offsets() {
        let strings = b"libc.so.6\0/lib/libc.so.6\0";
        let offset = 48 + 24;
        let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
        bytes.extend(1_u32.to_ne_bytes());
        bytes.resize(48, 0);
        for word in [1_u32, offset, offset + 10, 0, 0, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(strings);
        let expected = BTreeMap::from([("libc.so.6".to_owned(), vec![PathBuf::from("/lib/libc.so.6")])]);
        assert_eq!(cached(&bytes), expected);
        // One that is cut short, or of another form, has fewer.
        for length in 0..bytes.len() {
            let _fewer = cached(&bytes[..length]);
        }
        assert_eq!(cached(b"ld.so-1.7.0"), BTreeMap::new());
    }

    #[test]
    fn the_c_library_is_open() {
        let names: Vec<String> = open_files().iter().map(|path| file_name(path)).collect();
        if cfg!(target_env = "gnu") {
            assert!(names.iter().any(|name| name == "libc.so.6"), "{names:?}");
        }
    }
}
