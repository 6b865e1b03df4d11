//! The C header: the definitions of the crate, and the parts that only C needs.
//!
//! `header.template` has the introduction, the macros and the functions of the header. Each line that begins with `@`
//! is replaced by a definition. Every definition occurs once.

use std::fmt::Write;

use divvy_framework_abi::definition::{FUNCTIONS, Field, Function, NUMBERS, Number, Numbers, STRUCTURES, Structure};
use divvy_framework_abi::{ABI_VERSION, LEAST_MINOR, arena, section};

use crate::documentation::comment;
use crate::names::{argument_of, c_field_name, c_type_name, short_path, without_lifetimes};

const TEMPLATE: &str = include_str!("header.template");

/// The header, as `divvy_plugin.h` has it.
pub(crate) fn written() -> String {
    let mut out = String::new();
    let mut left: Vec<String> = STRUCTURES.iter().map(|structure| structure.name.to_owned()).collect();
    left.extend(NUMBERS.iter().map(|numbers| short_path(numbers.module).to_owned()));
    left.extend(FUNCTIONS.iter().map(|function| function.name.to_owned()));
    for line in TEMPLATE.lines() {
        let Some(directive) = line.strip_prefix('@') else {
            out.push_str(&with_values(line));
            out.push('\n');
            continue;
        };
        let (what, name) = directive.split_once(' ').unwrap_or_else(|| panic!("no name: {line}"));
        let written = match what {
            "struct" => found(STRUCTURES, name, |structure| structure.name).map(structure),
            "numbers" => found(NUMBERS, name, |numbers| short_path(numbers.module)).map(numbers),
            "function" => found(FUNCTIONS, name, |function| function.name).map(function),
            "slice" | "out" | "list" => Some(column(what, name)),
            _ => None,
        };
        out.push_str(&written.unwrap_or_else(|| panic!("the crate defines nothing for `{line}`")));
        if ["struct", "numbers", "function"].contains(&what) {
            let position = left.iter().position(|left| left == name);
            left.swap_remove(position.unwrap_or_else(|| panic!("`{line}` occurs twice in header.template")));
        }
    }
    assert!(left.is_empty(), "header.template does not have {left:?}");
    out
}

fn found<'all, T>(all: &'all [T], name: &str, name_of: impl Fn(&T) -> &str) -> Option<&'all T> {
    all.iter().find(|one| name_of(one) == name)
}

/// A line with the values of constants outside of modules.
fn with_values(line: &str) -> String {
    if !line.contains("@") {
        return line.to_owned();
    }
    let values = [
        ("@VERSION@", ABI_VERSION.to_string()),
        ("@MAJOR@", ABI_VERSION.major.to_string()),
        ("@MINOR@", ABI_VERSION.minor.to_string()),
        ("@LEAST_MINOR@", LEAST_MINOR.to_string()),
        ("@ARENA_MAGIC@", format!("0x{:x}", arena::MAGIC)),
        ("@ARENA_HEAD_WORDS@", arena::HEAD_WORDS.to_string()),
        ("@TEXT_BYTES@", section::TEXT_BYTES.to_string()),
        ("@LANGUAGE_BYTES@", section::LANGUAGE_BYTES.to_string()),
    ];
    let mut line = line.to_owned();
    for (name, value) in values {
        line = line.replace(name, &value);
    }
    assert!(!line.contains('@'), "an unknown value: {line}");
    line
}

fn structure(structure: &Structure) -> String {
    let module = structure.module;
    let name = c_type_name(structure.name);
    let mut out = comment(structure.documentation, module, Some(structure), "");
    writeln!(out, "typedef struct {name} {{").expect("writing to a string succeeds");
    for one in structure.fields.iter().filter(|one| one.size > 0) {
        out.push_str(&comment(one.documentation, module, Some(structure), "    "));
        writeln!(out, "    {}", field(one)).expect("writing to a string succeeds");
    }
    writeln!(out, "}} {name};").expect("writing to a string succeeds");
    out
}

/// The declaration of a field.
fn field(field: &Field) -> String {
    let name = c_field_name(field.name);
    let type_name = without_lifetimes(field.type_name);
    if let Some(target) = argument_of(&type_name, "Pointer") {
        return format!("DIVVY_POINTER(const {}, {name})", c_type_name(target));
    }
    if let Some(function) = argument_of(&type_name, "Function") {
        return format!("DIVVY_FUNCTION({}, {name})", c_type_name(function));
    }
    if type_name == "Address" {
        return format!("DIVVY_POINTER(void, {name})");
    }
    if let Some(length) = type_name.strip_prefix("[u8;").and_then(|rest| rest.strip_suffix(']')) {
        let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = if is_number { "" } else { "DIVVY_" };
        return format!("uint8_t {name}[{prefix}{length}];");
    }
    format!("{} {name};", value_type(&type_name))
}

/// A type that is not an address.
fn value_type(type_name: &str) -> String {
    if let Some(element) = argument_of(type_name, "SliceMut") {
        return column_name(element, "out");
    }
    if let Some(element) = argument_of(type_name, "Slice") {
        return match argument_of(element, "Pointer") {
            Some(target) => column_name(target, "list"),
            None => column_name(element, "slice"),
        };
    }
    match type_name {
        "()" => "void".to_owned(),
        "u32" => "uint32_t".to_owned(),
        "u64" => "uint64_t".to_owned(),
        "i64" => "int64_t".to_owned(),
        "f64" => "double".to_owned(),
        "Str" | "PluginText" => "divvy_text".to_owned(),
        structure if STRUCTURES.iter().any(|known| known.name == structure) => c_type_name(structure),
        other => panic!("`{other}` has no type in C"),
    }
}

/// The name of a column's type.
fn column_name(element: &str, suffix: &str) -> String {
    let element = if STRUCTURES.iter().any(|known| known.name == element) {
        c_type_name(element)
    } else {
        format!("divvy_{element}")
    };
    format!("{element}_{suffix}")
}

/// The type of a column to read, of one to write, or of a list of addresses: generic types of Rust, one by one.
fn column(what: &str, element: &str) -> String {
    let name = column_name(element, what);
    let c_element = value_type(element);
    let (says, data) = match what {
        "slice" => (
            "A column to read. A null address is the empty column.",
            format!("const {c_element}"),
        ),
        "out" => ("A column to write. A null address is the empty column.", c_element),
        _ => ("A list of pointers.", format!("const {c_element} *const")),
    };
    format!(
        "/* {says} */\ntypedef struct {name} {{\n    DIVVY_POINTER({data}, data)\n    uint64_t length;\n}} {name};\n"
    )
}

fn numbers(numbers: &Numbers) -> String {
    let mut out = comment(numbers.documentation, numbers.module, None, "");
    for number in numbers.numbers {
        out.push_str(&comment(number.documentation, numbers.module, None, ""));
        let value = value(number);
        writeln!(out, "#define {}{} {value}", numbers.prefix, number.name).expect("writing to a string succeeds");
    }
    out
}

/// A number as a constant of its type: small ones decimal, bits as shifts, others in hexadecimal.
fn value(number: &Number) -> String {
    let value = number.value;
    match number.type_name {
        "u64" if value > 1 && value.is_power_of_two() => format!("(UINT64_C(1) << {})", value.trailing_zeros()),
        "u64" if value < 10 => format!("UINT64_C({value})"),
        "u64" => format!("UINT64_C(0x{value:x})"),
        "u32" if value >= 0x1_0000 => format!("0x{value:x}u"),
        "u32" => format!("{value}u"),
        "usize" => value.to_string(),
        other => panic!("numbers of the type `{other}` have no form in C"),
    }
}

fn function(function: &Function) -> String {
    let (result, types) = function.types.split_last().expect("a function has a result");
    let arguments: Vec<String> = function
        .arguments
        .iter()
        .zip(types)
        .map(|(name, rust)| argument(name, rust))
        .collect();
    let name = c_type_name(function.name);
    let comment = comment(function.documentation, function.module, None, "");
    format!(
        "{comment}typedef {} (*{name})({});\n",
        value_type(result),
        arguments.join(", ")
    )
}

fn argument(name: &str, rust: &str) -> String {
    let (constness, target) = match (rust.strip_prefix("*const "), rust.strip_prefix("*mut ")) {
        (Some(target), _) => ("const ", target),
        (_, Some(target)) => ("", target),
        _ => return format!("{} {name}", value_type(rust)),
    };
    let target = if target == "c_void" {
        "void".to_owned()
    } else {
        c_type_name(target)
    };
    format!("{constness}{target} *{name}")
}
