//! The list of layouts.

use std::fmt::Write;

use divvy_framework_abi::arena::GROUPS;
use divvy_framework_abi::definition::{FUNCTIONS, NUMBERS, Number, STRUCTURES};

use crate::names::short_path;

/// The list, as `layout.txt` has it.
pub(crate) fn written() -> String {
    let mut out = String::from("# Size of each struct; offset and size of each field.\n");
    write(&mut out).expect("writing to a string succeeds");
    out
}

fn write(out: &mut String) -> std::fmt::Result {
    for structure in STRUCTURES {
        writeln!(out, "\nstruct {} {}", structure.name, structure.size)?;
        for field in structure.fields.iter().filter(|field| field.size > 0) {
            writeln!(out, "  {} {} {}", field.name, field.offset, field.size)?;
        }
    }
    out.push_str("\n# Constants, and the types and groups of columns.\n");
    for numbers in NUMBERS {
        writeln!(out, "\nmodule {}", short_path(numbers.module))?;
        for number in numbers.numbers {
            write!(out, "  {} {}", number.name, number.value)?;
            if numbers.module.ends_with("::column") && number.name != "COUNT" {
                write!(out, " {} {}", column_type(number), group_of(number.value))?;
            }
            out.push('\n');
        }
    }
    out.push_str("\n# Functions: the types of the arguments, and of the result.\n\n");
    for function in FUNCTIONS {
        let (result, arguments) = function.types.split_last().expect("a function has a result");
        writeln!(out, "function {}({}) -> {result}", function.name, arguments.join(", "))?;
    }
    Ok(())
}

/// The documented type of a column: `u32`, `Span` or another, the first word in code.
pub(crate) fn column_type(column: &Number) -> &'static str {
    let first = column.documentation.first().copied().unwrap_or_default();
    first.split('`').nth(1).unwrap_or_default()
}

/// The name of a column's group.
fn group_of(column: u64) -> &'static str {
    let groups = NUMBERS.iter().find(|numbers| numbers.module.ends_with("::group"));
    let mut groups = groups.expect("the groups are numbers").numbers.iter();
    let found = groups.find(|group| group.value == GROUPS[column as usize]);
    found.expect("every column is in one group").name
}
