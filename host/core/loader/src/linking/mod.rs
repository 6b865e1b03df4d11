//! What a library asks of the dynamic linker, read from its file: the libraries and the symbols that it needs, and where they are found.
//!
//! Only what is certain is reported: that no library of this machine has what is asked for. Versions of symbols, conflicts and a lack of
//! thread-local storage show when the library is opened, and the dynamic linker says so itself.

mod search;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH};
use object::read::elf::{Dyn, ElfFile, FileHeader};
use object::{Endianness, Object, ObjectSymbol};

use crate::error::LoadError;
use crate::file::LibraryFile;
use search::Search;

/// What a library asks of the dynamic linker.
#[derive(Debug, Default)]
pub(crate) struct Dynamic {
    /// Names of the libraries that it needs.
    needed: Vec<String>,
    /// Folders in which the linker looks for them first, as the file has them: they may begin with `$ORIGIN`.
    folders: Vec<String>,
}

impl Dynamic {
    /// Reads the dynamic section of a file. One that cannot be read asks for nothing; the linker reports it when the library is opened.
    pub(crate) fn read(file: &object::File<'_>) -> Self {
        match file {
            object::File::Elf64(file) => Self::of_elf(file),
            object::File::Elf32(file) => Self::of_elf(file),
            _ => Self::default(),
        }
    }

    fn of_elf<Elf: FileHeader<Endian = Endianness>>(file: &ElfFile<'_, Elf>) -> Self {
        let read = || -> object::Result<Self> {
            let (endian, data, sections) = (file.endian(), file.data(), file.elf_section_table());
            let mut dynamic = Self::default();
            let Some((entries, link)) = sections.dynamic(endian, data)? else {
                return Ok(dynamic);
            };
            let strings = sections.strings(endian, data, link)?;
            let (mut runpath, mut rpath) = (None, None);
            for entry in entries {
                let tag = entry.tag(endian);
                if tag != DT_NEEDED && tag != DT_RUNPATH && tag != DT_RPATH {
                    continue;
                }
                let text = String::from_utf8_lossy(entry.string(endian, strings)?).into_owned();
                if tag == DT_NEEDED {
                    dynamic.needed.push(text);
                } else if tag == DT_RUNPATH {
                    runpath = Some(text);
                } else {
                    rpath = Some(text);
                }
            }
            // With a RUNPATH, the linker ignores the RPATH.
            let folders = runpath.or(rpath).unwrap_or_default();
            let folders = folders.split(':').filter(|folder| !folder.is_empty());
            dynamic.folders = folders.map(str::to_owned).collect();
            Ok(dynamic)
        };
        read().unwrap_or_default()
    }

    /// True if a library needs the C library of glibc.
    pub(crate) fn is_for_glibc(&self) -> bool {
        self.needed.iter().any(|name| name.starts_with("libc.so.6"))
    }

    /// True if a library needs that of musl, under the name that Alpine gives it or that `musl-gcc` does.
    pub(crate) fn is_for_musl(&self) -> bool {
        let is_musl = |name: &String| {
            ["libc.musl", "ld-musl", "libc.so"]
                .iter()
                .any(|start| name.starts_with(start))
        };
        !self.is_for_glibc() && self.needed.iter().any(is_musl)
    }

    /// Folders in which the linker looks first for what the library at `path` needs, with the folder of the library in place of `$ORIGIN`.
    fn folders_at<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        self.folders.iter().map(|folder| at_origin(folder, path))
    }

    /// A library that is found beside the one at `path` alone, by `$ORIGIN`. A copy in memory has no such folder.
    pub(crate) fn beside(&self, path: &Path) -> Option<String> {
        let named = self.needed.iter().find(|name| has_origin(name));
        if let Some(named) = named {
            return Some(named.clone());
        }
        let beside: Vec<PathBuf> = self
            .folders
            .iter()
            .filter(|folder| has_origin(folder))
            .map(|folder| at_origin(folder, path))
            .collect();
        let is_beside = |name: &&String| !name.contains('/') && beside.iter().any(|folder| folder.join(name).is_file());
        self.needed.iter().find(is_beside).cloned()
    }
}

fn has_origin(text: &str) -> bool {
    text.contains("$ORIGIN") || text.contains("${ORIGIN}")
}

/// A folder or a name with the folder of `path` in place of `$ORIGIN`.
fn at_origin(text: &str, path: &Path) -> PathBuf {
    let origin = path.parent().unwrap_or(Path::new("/")).to_string_lossy();
    PathBuf::from(text.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))
}

/// The reason why the dynamic linker of this machine cannot open the library at `path`, as far as files show: it is for another C
/// library, or needs a library or a symbol that is nowhere.
pub(crate) fn unresolved(file: &object::File<'_>, path: &Path) -> Option<LoadError> {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        // The linker of musl searches in its own way, and reports what it does not find.
        return None;
    }
    let dynamic = Dynamic::read(file);
    if dynamic.is_for_musl() {
        return Some(LoadError::OtherCLibrary {
            path: path.to_owned(),
            actual: "musl",
        });
    }
    let mut search = Search::new(file.architecture());
    let missing = search.open_all(&dynamic, path);
    if !missing.is_empty() {
        return Some(LoadError::LibrariesMissing {
            path: path.to_owned(),
            libraries: missing,
        });
    }
    let symbols = search.without(required_symbols(file));
    (!symbols.is_empty()).then(|| LoadError::SymbolsMissing {
        path: path.to_owned(),
        symbols,
    })
}

/// Names of the symbols without which the linker does not open a library.
fn required_symbols(file: &object::File<'_>) -> BTreeSet<String> {
    let symbols = file.dynamic_symbols();
    let required = symbols.filter(|symbol| symbol.is_undefined() && symbol.is_global() && !symbol.is_weak());
    let names = required.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    names.filter(|name| !name.is_empty()).collect()
}

/// Names of the symbols that a library has for others.
fn defined_symbols(file: &object::File<'_>) -> impl Iterator<Item = String> {
    let symbols = file.dynamic_symbols();
    let defined = symbols.filter(|symbol| !symbol.is_undefined());
    let names: Vec<String> = defined
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect();
    names.into_iter()
}

/// True if the file system of a library forbids to execute what is on it, so that the library cannot be opened where it is.
pub(crate) fn forbids_execution(path: &Path) -> bool {
    let flags = rustix::fs::statvfs(path).map(|system| system.f_flag);
    flags.is_ok_and(|flags| flags.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
}

/// The symbols and the needs of another library; `None` if the file is not a library for this architecture.
fn read_library(path: &Path, architecture: object::Architecture) -> Option<(Dynamic, Vec<String>)> {
    let file = LibraryFile::read(path).ok()?;
    let object = file.parse().ok()?;
    let is_ours = object.architecture() == architecture;
    is_ours.then(|| (Dynamic::read(&object), defined_symbols(&object).collect()))
}
