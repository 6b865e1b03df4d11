//! The layout of the ABI as a program in C, which prints what its compiler makes of the header.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use super::compile::{Standard, compile_as};
use crate::artifacts::repository;

/// The layout that the tests of the Rust crate check.
pub(crate) fn layout() -> String {
    let path = repository().join("framework/abi/tests/layout.txt");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The C name of a struct.
pub(crate) fn c_name(rust: &str) -> String {
    let mut name = String::from("divvy");
    for character in rust.chars() {
        if character.is_uppercase() {
            name.push('_');
        }
        name.extend(character.to_lowercase());
    }
    // C has one name space for all texts.
    if rust == "Text" {
        "divvy_pool_text".to_owned()
    } else {
        name
    }
}

/// The C name of a field. One that C++ reserves ends with an underscore.
fn c_field(rust: &str) -> String {
    match rust {
        "operator" | "namespace" => format!("{rust}_"),
        _ => rust.to_owned(),
    }
}

/// The prefix of the constants of a module.
pub(crate) fn prefix(module: &str) -> &'static str {
    match module {
        "sized::kind" => "DIVVY_KIND_",
        "arena::flag" => "DIVVY_CLUSTER_",
        "arena::effect" => "DIVVY_EFFECT_",
        "arena::condition" => "DIVVY_CONDITION_",
        "arena::group" => "DIVVY_GROUP_",
        "arena::column" => "DIVVY_COLUMN_",
        "row::toleration_operator" => "DIVVY_TOLERATION_",
        "row::spread_field" => "DIVVY_SPREAD_",
        "row::expression_source" => "DIVVY_SOURCE_",
        "row::expression_operator" => "DIVVY_OPERATOR_",
        "row::cell_type" => "DIVVY_CELL_",
        "row::peer_group" => "DIVVY_PEER_",
        "service::failure" => "DIVVY_FAILURE_",
        "service::text_kind" => "DIVVY_TEXT_",
        "service::level" => "DIVVY_LEVEL_",
        "service::document" => "DIVVY_DOCUMENT_",
        "service::limit" | "descriptor::limit" => "DIVVY_LIMIT_",
        "view::flag" => "DIVVY_CYCLE_",
        "call::wait" => "DIVVY_WAIT_",
        "descriptor::feature" => "DIVVY_FEATURE_",
        "descriptor::binding_part" => "DIVVY_PART_",
        "section::record_flag" => "DIVVY_RECORD_",
        "reason::cause" => "DIVVY_REASON_",
        "reason::bound" => "DIVVY_BOUND_",
        "reason::remainder" => "DIVVY_REMAINDER_",
        "reason::decider" => "DIVVY_DECIDER_",
        other => panic!("the header has no prefix for `{other}`"),
    }
}

/// The name of a type of functions in C, and the declaration of `function` with the type that a line of the layout names.
pub(crate) fn declaration(line: &str) -> (String, String) {
    let parts = line
        .strip_prefix("function ")
        .and_then(|rest| rest.split_once('('))
        .and_then(|(name, rest)| Some((name, rest.split_once(") -> ")?)));
    let (name, (arguments, result)) = parts.unwrap_or_else(|| panic!("no function: {line}"));
    let c_type = |rust: &str| match rust {
        "()" => "void".to_owned(),
        "u32" => "uint32_t".to_owned(),
        "u64" => "uint64_t".to_owned(),
        "f64" => "double".to_owned(),
        "PluginText" => "divvy_text".to_owned(),
        pointer => {
            let (constness, target) = match pointer.strip_prefix("*const ") {
                Some(target) => ("const ", target),
                None => ("", pointer.strip_prefix("*mut ").expect("a pointer")),
            };
            match target {
                "c_void" => format!("{constness}void *"),
                target => format!("{constness}{} *", c_name(target)),
            }
        }
    };
    let arguments: Vec<String> = arguments.split(", ").map(c_type).collect();
    let declared = format!("{} (*function)({})", c_type(result), arguments.join(", "));
    (c_name(name), declared)
}

/// A C program that prints the layout which the compiler sees, in the form of `layout.txt`.
fn program(layout: &str) -> String {
    let mut body = String::new();
    let mut structure = String::new();
    let mut module = "";
    for line in layout.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let statement = match words.as_slice() {
            ["#", ..] => format!("puts(\"{line}\");"),
            // The initialisation does not compile if the header's type is another.
            ["function", ..] => {
                let (name, declared) = declaration(line);
                format!("{{ {declared} = ({name})0; (void)function; puts(\"{line}\"); }}")
            }
            ["struct", name, _] => {
                structure = c_name(name);
                module = "";
                format!("printf(\"struct {name} %zu\\n\", sizeof({structure}));")
            }
            ["module", name] => {
                module = name;
                format!("puts(\"module {name}\");")
            }
            [field, _, _] if module.is_empty() => {
                let c = c_field(field);
                format!(
                    "printf(\"  {field} %zu %zu\\n\", offsetof({structure}, {c}), sizeof((({structure} *)0)->{c}));"
                )
            }
            [name, _, rest @ ..] if !module.is_empty() => format!(
                "printf(\"  {name} %llu{}\\n\", (unsigned long long){}{name});",
                rest.iter().map(|word| format!(" {word}")).collect::<String>(),
                prefix(module)
            ),
            _ => format!("puts(\"{line}\");"),
        };
        writeln!(body, "    {statement}").expect("writing to a string succeeds");
    }
    format!(
        "#include <stdio.h>\n#include \"divvy_plugin.h\"\n\
         static const divvy_descriptor *const plugins[1] = {{NULL}};\n\
         const divvy_library divvy_plugin_v1 = DIVVY_LIBRARY(plugins, 0);\n\
         DIVVY_RECORD(record, 0, \"c\", \"header\", \"1.0.0\");\n\
         int main(void)\n{{\n\
         printf(\"%u.%u %u %llx %u %lld %lu %.8s\\n\", DIVVY_ABI_MAJOR, DIVVY_ABI_MINOR, DIVVY_LEAST_MINOR,\n\
         (unsigned long long)DIVVY_ARENA_MAGIC, DIVVY_ARENA_HEAD_WORDS, (long long)DIVVY_ABSENT,\n\
         (unsigned long)DIVVY_NO_ROW, (const char *)record.magic);\n{body}    return 0;\n}}\n"
    )
}

/// Compiles the program in these standards with every compiler of the language, and compares what it prints with the layout.
#[track_caller]
pub(crate) fn check_in(standards: &[Standard]) {
    let layout = layout();
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header.c");
    std::fs::write(&source, program(&layout)).expect("the source can be written");
    for standard in standards {
        for compiler in standard.compilers() {
            let program = compile_as(*standard, &compiler, "header", std::slice::from_ref(&source), &[]);
            check_program(&program, &layout);
        }
    }
}

/// Runs the program and compares what it prints.
#[track_caller]
fn check_program(program: &Path, layout: &str) {
    let output = Command::new(program).output().expect("the program runs");
    let printed = String::from_utf8(output.stdout).expect("the program prints text");
    let (first, rest) = printed.split_once('\n').expect("the program prints lines");
    // The test of the Rust crate checks the same numbers.
    assert_eq!(
        first,
        "1.1 0 706e737976766964 4 -9223372036854775808 4294967295 DivvyABI"
    );
    for (number, (c, rust)) in (1..).zip(rest.lines().zip(layout.lines())) {
        assert_eq!(c, rust, "line {number} of layout.txt");
    }
    assert_eq!(rest.lines().count(), layout.lines().count());
}
