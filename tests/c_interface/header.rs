//! The header and the Rust crate have the same structs, with the same sizes and offsets, and the same constants.

use super::compile::Standard;
use super::layout::{c_name, check_in, declaration, layout, prefix};
use crate::artifacts::repository;
use crate::changed_sdk::read;

#[test]
fn sizes_offsets_and_constants_are_those_of_the_rust_crate() {
    check_in(&Standard::C);
}

/// Every macro and every struct of the header occurs in the layout, so that the header has nothing of its own.
#[test]
fn the_header_has_nothing_that_the_rust_crate_lacks() {
    let layout = layout();
    let header = read(&repository().join("framework/abi/include/divvy_plugin.h"));
    let mut known = Vec::new();
    let mut module = "";
    for line in layout.lines() {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["struct", name, _] => known.push(c_name(name)),
            ["module", name] => module = name,
            ["function", ..] => known.push(declaration(line).0),
            [name, ..] if !module.is_empty() && line.starts_with("  ") => {
                known.push(format!("{}{name}", prefix(module)))
            }
            _ => {}
        }
    }
    // Columns, texts and lists are parameters of generic types in Rust, and these macros are conveniences of C.
    let own = [
        "DIVVY_PLUGIN_H",
        "DIVVY_ABI_MAJOR",
        "DIVVY_ABI_MINOR",
        "DIVVY_LEAST_MINOR",
        "DIVVY_POINTER",
        "DIVVY_FUNCTION",
        "DIVVY_HEAD",
        "DIVVY_HAS",
        "DIVVY_ADDRESS",
        "DIVVY_LITERAL",
        "DIVVY_POINT",
        "DIVVY_STRATEGY",
        "DIVVY_DESCRIPTOR",
        "DIVVY_LIBRARY",
        "DIVVY_ARENA_MAGIC",
        "DIVVY_ARENA_HEAD_WORDS",
        "DIVVY_ABSENT",
        "DIVVY_NO_ROW",
        "DIVVY_TEXT_BYTES",
        "DIVVY_LANGUAGE_BYTES",
        "DIVVY_LITTLE_ENDIAN",
        "DIVVY_RECORD",
        "divvy_text",
    ];
    let generic = ["_slice", "_out", "_list"];
    let declared = header.lines().filter_map(|line| {
        let function = line.strip_prefix("typedef ").and_then(|line| line.split_once(" (*"));
        let rest = line
            .strip_prefix("#define ")
            .or_else(|| line.strip_prefix("typedef struct "))
            .or(function.map(|(_, name)| name))?;
        rest.split([' ', '(', ')']).next()
    });
    let unknown: Vec<&str> = declared
        .filter(|name| !known.iter().any(|known| known == name) && !own.contains(name))
        .filter(|name| !generic.iter().any(|suffix| name.ends_with(suffix)))
        .collect();
    assert_eq!(unknown, Vec::<&str>::new());
}
