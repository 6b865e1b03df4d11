//! The kind of library that a crate is built as, from the arguments of the compiler that runs the macro.
//!
//! A manifest without `crate-type = ["cdylib"]` silently builds a Rust library instead of a plugin. Reading the
//! manifest was considered and rejected: it may leave the decision to `cargo rustc --crate-type`.

/// The error message, with the lines that the author has to write.
pub(crate) const MESSAGE: &str = "a plugin is a shared library, but this crate is built as a Rust library: write `[lib]` and, \
                                  below it, `crate-type = [\"cdylib\"]` into Cargo.toml";

/// True if the compiler builds a Rust library but not a shared library. False for tests, programs, and a compiler that
/// an editor runs without arguments.
pub(crate) fn is_rust_library_alone(arguments: impl Iterator<Item = String>) -> bool {
    let mut arguments = arguments.peekable();
    let mut kinds = Vec::new();
    while let Some(argument) = arguments.next() {
        let listed = match argument.as_str() {
            "--crate-type" => arguments.next(),
            other => other.strip_prefix("--crate-type=").map(str::to_owned),
        };
        kinds.extend(listed.iter().flat_map(|listed| listed.split(',')).map(str::to_owned));
    }
    !kinds.is_empty() && kinds.iter().all(|kind| kind == "lib" || kind == "rlib")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_build_without_a_shared_library_is_refused() {
        for (line, expected) in [
            ("rustc --crate-name x src/lib.rs --crate-type lib --emit=link", true),
            ("rustc --crate-type=rlib src/lib.rs", true),
            ("rustc --crate-type lib --crate-type cdylib src/lib.rs", false),
            ("rustc --crate-type=lib,cdylib src/lib.rs", false),
            ("rustc --crate-type cdylib src/lib.rs", false),
            ("rustc --crate-type bin src/main.rs", false),
            ("rustc --test src/lib.rs", false),
            ("rust-analyzer-proc-macro-srv", false),
            ("rustc --crate-type", false),
        ] {
            let arguments = line.split(' ').map(str::to_owned);
            assert_eq!(is_rust_library_alone(arguments), expected, "{line}");
        }
    }
}
