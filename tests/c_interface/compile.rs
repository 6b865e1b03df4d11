//! The system's compilers of C and C++, for plugins, programs and the header.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::artifacts;

/// A language and a standard of it that the header is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standard {
    C99,
    C11,
    Cpp17,
    Cpp20,
}

impl Standard {
    /// Those of C, whose compiler every machine with Rust has.
    pub(crate) const C: [Self; 2] = [Self::C99, Self::C11];
    /// Those of C++.
    pub(crate) const CPP: [Self; 2] = [Self::Cpp17, Self::Cpp20];

    /// Arguments that select the language and the standard, whatever the file's name.
    fn arguments(self) -> [&'static str; 3] {
        match self {
            Self::C99 => ["-x", "c", "-std=c99"],
            Self::C11 => ["-x", "c", "-std=c11"],
            Self::Cpp17 => ["-x", "c++", "-std=c++17"],
            Self::Cpp20 => ["-x", "c++", "-std=c++20"],
        }
    }

    /// The system's compilers of the language: the usual one, and Clang if it is installed.
    pub(crate) fn compilers(self) -> Vec<OsString> {
        let (variable, usual, clang) = match self {
            Self::C99 | Self::C11 => ("CC", "cc", "clang"),
            Self::Cpp17 | Self::Cpp20 => ("CXX", "c++", "clang++"),
        };
        let has_clang = Command::new(clang).arg("--version").output().is_ok();
        let usual = std::env::var_os(variable).unwrap_or_else(|| usual.into());
        std::iter::once(usual).chain(has_clang.then(|| clang.into())).collect()
    }
}

/// Compiles `sources` in C99 with the usual compiler and every warning an error, and returns the path of its output.
#[track_caller]
pub(crate) fn compile(name: &str, sources: &[PathBuf], more: &[&str]) -> PathBuf {
    let compilers = Standard::C99.compilers();
    compile_as(Standard::C99, &compilers[0], name, sources, more)
}

/// As [`compile`], in another standard and with another compiler.
#[track_caller]
pub(crate) fn compile_as(
    standard: Standard,
    compiler: &OsStr,
    name: &str,
    sources: &[PathBuf],
    more: &[&str],
) -> PathBuf {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command
        .args(standard.arguments())
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I"])
        .arg(artifacts::repository().join("framework/abi/include"))
        .args(more)
        .args(sources)
        .arg("-o")
        .arg(&output);
    let result = command.output().expect("a C compiler is installed");
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{command:?}\n{messages}");
    output
}

/// Compiles a program.
#[track_caller]
pub(crate) fn program(name: &str, sources: &[PathBuf]) -> PathBuf {
    compile(name, sources, &[])
}

/// Compiles a shared library.
#[track_caller]
pub(crate) fn library(name: &str, sources: &[PathBuf]) -> PathBuf {
    library_with(name, sources, &[])
}

/// Compiles a shared library in a standard with every compiler of its language. Returns that of the usual one.
#[track_caller]
pub(crate) fn library_in(standard: Standard, name: &str, sources: &[PathBuf]) -> PathBuf {
    let arguments = ["-shared", "-fPIC", "-fvisibility=hidden"];
    let mut compilers = standard.compilers();
    let usual = compilers.remove(0);
    for (number, other) in compilers.iter().enumerate() {
        compile_as(standard, other, &format!("lib{name}-{number}.so"), sources, &arguments);
    }
    compile_as(standard, &usual, &format!("lib{name}.so"), sources, &arguments)
}

/// Compiles a shared library with more arguments for the compiler.
#[track_caller]
pub(crate) fn library_with(name: &str, sources: &[PathBuf], more: &[&str]) -> PathBuf {
    compile(
        &format!("lib{name}.{}", std::env::consts::DLL_EXTENSION),
        sources,
        &[&["-shared", "-fPIC", "-fvisibility=hidden"], more].concat(),
    )
}
