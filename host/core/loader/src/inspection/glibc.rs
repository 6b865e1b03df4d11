//! The target of a library and the oldest glibc with which it loads, by the versions of symbols that it needs.

use std::fmt;
use std::path::Path;

use object::read::elf::{ElfFile, FileHeader};
use object::{Architecture, Endianness, Object};

use crate::linking::Dynamic;

/// A version of glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlibcVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl fmt::Display for GlibcVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl GlibcVersion {
    /// The version of a set of symbols such as `GLIBC_2.34` or `GLIBC_2.2.5`; `None` for any other.
    fn parse(name: &str) -> Option<Self> {
        let mut numbers = name.strip_prefix("GLIBC_")?.split('.');
        Some(Self {
            major: numbers.next()?.parse().ok()?,
            minor: numbers.next()?.parse().ok()?,
        })
    }
}

/// The oldest glibc with which a library loads; `None` if it needs none.
pub(super) fn oldest(file: &object::File<'_>) -> Option<GlibcVersion> {
    let names = match file {
        object::File::Elf64(file) => needed(file),
        object::File::Elf32(file) => needed(file),
        _ => Vec::new(),
    };
    names.iter().filter_map(|name| GlibcVersion::parse(name)).max()
}

/// The glibc that this process uses; `None` if it uses none, or if its file cannot be read.
pub(super) fn installed() -> Option<GlibcVersion> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let is_glibc = |path: &&str| Path::new(path).file_name().is_some_and(|name| name == "libc.so.6");
    let path = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .find(is_glibc)?;
    let bytes = std::fs::read(path).ok()?;
    let names = match object::File::parse(bytes.as_slice()).ok()? {
        object::File::Elf64(file) => defined(&file),
        object::File::Elf32(file) => defined(&file),
        _ => Vec::new(),
    };
    names.iter().filter_map(|name| GlibcVersion::parse(name)).max()
}

/// The versions of symbols that a library needs.
fn needed<Elf: FileHeader<Endian = Endianness>>(file: &ElfFile<'_, Elf>) -> Vec<String> {
    let read = || -> object::Result<Vec<String>> {
        let (endian, data, sections) = (file.endian(), file.data(), file.elf_section_table());
        let mut names = Vec::new();
        let Some((mut files, link)) = sections.gnu_verneed(endian, data)? else {
            return Ok(names);
        };
        let strings = sections.strings(endian, data, link)?;
        while let Some((_, mut versions)) = files.next()? {
            while let Some(version) = versions.next()? {
                names.push(String::from_utf8_lossy(version.name(endian, strings)?).into_owned());
            }
        }
        Ok(names)
    };
    // A table that cannot be read yields no version; the linker reports it when the library is opened.
    read().unwrap_or_default()
}

/// The versions of symbols that a library defines.
fn defined<Elf: FileHeader<Endian = Endianness>>(file: &ElfFile<'_, Elf>) -> Vec<String> {
    let read = || -> object::Result<Vec<String>> {
        let (endian, data, sections) = (file.endian(), file.data(), file.elf_section_table());
        let mut names = Vec::new();
        let Some((mut definitions, link)) = sections.gnu_verdef(endian, data)? else {
            return Ok(names);
        };
        let strings = sections.strings(endian, data, link)?;
        while let Some((_, mut versions)) = definitions.next()? {
            // The first entry is the version itself; the others are the versions that it extends.
            if let Some(version) = versions.next()? {
                names.push(String::from_utf8_lossy(version.name(endian, strings)?).into_owned());
            }
        }
        Ok(names)
    };
    read().unwrap_or_default()
}

/// The target that a library was built for, as `<architecture>-<system>`.
pub(super) fn target(file: &object::File<'_>, dynamic: &Dynamic) -> String {
    let architecture = match file.architecture() {
        Architecture::Aarch64 => "aarch64".to_owned(),
        Architecture::I386 => "i686".to_owned(),
        Architecture::LoongArch64 => "loongarch64".to_owned(),
        Architecture::PowerPc64 if file.is_little_endian() => "powerpc64le".to_owned(),
        Architecture::Riscv64 => "riscv64".to_owned(),
        Architecture::S390x => "s390x".to_owned(),
        Architecture::X86_64 => "x86_64".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    let system = match file.format() {
        object::BinaryFormat::MachO => "apple-darwin",
        object::BinaryFormat::Coff | object::BinaryFormat::Pe => "windows",
        _ if dynamic.is_for_glibc() || oldest(file).is_some() => "linux-gnu",
        _ if dynamic.is_for_musl() => "linux-musl",
        _ => "linux",
    };
    format!("{architecture}-{system}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_symbols_are_compared_as_numbers() {
        let version = |name: &str| GlibcVersion::parse(name);
        assert!(version("GLIBC_2.9") < version("GLIBC_2.34"));
        assert_eq!(
            version("GLIBC_2.2.5").map(|version| version.to_string()).as_deref(),
            Some("2.2")
        );
        for other in ["GLIBC_PRIVATE", "GCC_3.0", "GLIBC_2", ""] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
