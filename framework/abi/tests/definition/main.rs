//! `layout.txt` and the C header, written from the definitions of the crate and compared with the files.
//!
//! A line of `layout.txt` never changes within a major version; lines are added at the end of a struct. The test of the
//! C header, which a C compiler checks, reads the same file. `SNAPSHOTS=overwrite cargo test -p divvy-framework-abi`
//! rewrites both files.

mod documentation;
mod header;
mod layout;
mod names;

use std::path::Path;

use divvy_framework_abi::definition::{FUNCTIONS, NUMBERS, STRUCTURES};

/// Compares a file of the crate with its expected contents, or overwrites it if requested.
fn check(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
        std::fs::write(&path, expected).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let difference = similar::TextDiff::from_lines(&actual, expected);
    assert!(
        actual == expected,
        "{file} is not what the crate defines; if the change is right, run\n\
         SNAPSHOTS=overwrite cargo test -p divvy-framework-abi\n\n{}",
        difference
            .unified_diff()
            .context_radius(2)
            .header(file, "the definitions")
    );
}

/// The layout is written for targets with addresses of eight bytes; on others it is the same by construction.
#[test]
fn no_layout_and_no_number_changes() {
    check("tests/layout.txt", &layout::written());
}

#[test]
fn the_c_header_says_what_the_crate_defines() {
    check("include/divvy_plugin.h", &header::written());
}

#[test]
fn a_struct_ends_with_its_last_field() {
    for structure in STRUCTURES {
        let last = structure.fields.last().expect("a struct has fields");
        assert_eq!(last.offset + last.size, structure.size, "{}", structure.name);
    }
}

/// Every field with a function has a listed type of functions, and every address points to a listed struct.
#[test]
fn every_type_that_a_field_names_is_defined() {
    let functions: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
    let structures: Vec<&str> = STRUCTURES.iter().map(|structure| structure.name).collect();
    let mut held = Vec::new();
    for field in STRUCTURES.iter().flat_map(|structure| structure.fields) {
        let type_name = names::without_lifetimes(field.type_name);
        if let Some(function) = names::argument_of(&type_name, "Function") {
            held.push(function.to_owned());
        }
        if let Some(target) = names::argument_of(&type_name, "Pointer") {
            assert!(structures.contains(&target), "{}: {target} is not listed", field.name);
        }
    }
    for function in &held {
        assert!(functions.contains(&function.as_str()), "{function} is not listed");
    }
    for function in functions {
        assert!(held.iter().any(|name| name == function), "no field holds a {function}");
    }
}

/// Two kinds with the same number, or a module of numbers that is listed twice, would make a reader mistake one for the
/// other.
#[test]
fn a_number_means_one_thing() {
    let kinds = NUMBERS[0].numbers;
    for (index, kind) in kinds.iter().enumerate() {
        let other = kinds[..index].iter().find(|other| other.value == kind.value);
        assert!(other.is_none(), "{} and {other:?}", kind.name);
    }
    let mut prefixes: Vec<&str> = NUMBERS.iter().map(|numbers| numbers.module).collect();
    prefixes.sort_unstable();
    let listed = prefixes.len();
    prefixes.dedup();
    assert_eq!(prefixes.len(), listed);
}

/// Facts that `layout.txt` does not list.
#[test]
fn single_constants_do_not_change() {
    use divvy_framework_abi::{ABI_VERSION, LEAST_MINOR, arena, section};
    assert_eq!((ABI_VERSION.to_string().as_str(), LEAST_MINOR), ("1.1", 0));
    assert_eq!((arena::MAGIC, arena::HEAD_WORDS), (0x706e_7379_7676_6964, 4));
    assert_eq!((arena::ABSENT, arena::NO_ROW), (i64::MIN, u32::MAX));
    assert_eq!(section::MAGIC, *b"DivvyABI");
}

/// The writer and the readers of snapshots rely on these types.
#[test]
fn every_column_documents_its_type() {
    let columns = NUMBERS.iter().find(|numbers| numbers.module.ends_with("::column"));
    for column in columns.expect("the columns are numbers").numbers {
        let documented = layout::column_type(column);
        let is_known = ["u8", "u32", "u64", "i64", "Span"].contains(&documented);
        assert!(is_known || column.name == "COUNT", "{}: {documented}", column.name);
    }
}
