//! Names of Rust in C.

use divvy_framework_abi::definition::{NUMBERS, Numbers};

/// Words of C and C++ that fields of this crate have as names.
const KEYWORDS: [&str; 14] = [
    "auto",
    "class",
    "default",
    "delete",
    "export",
    "namespace",
    "new",
    "operator",
    "private",
    "public",
    "register",
    "template",
    "this",
    "union",
];

/// The path of a module within the crate.
pub(crate) fn short_path(module: &'static str) -> &'static str {
    module.split_once("::").map_or(module, |(_, path)| path)
}

/// The name of a type.
pub(crate) fn c_type_name(rust: &str) -> String {
    // `Text` is a text of a binding; in C, `divvy_text` is already the text that functions take.
    if rust == "Text" {
        return "divvy_pool_text".to_owned();
    }
    let mut name = String::from("divvy");
    for character in rust.chars() {
        if character.is_uppercase() {
            name.push('_');
        }
        name.extend(character.to_lowercase());
    }
    name
}

/// The name of a field; a keyword of C or C++ gets an underscore at its end.
pub(crate) fn c_field_name(rust: &str) -> String {
    let underscore = if KEYWORDS.contains(&rust) { "_" } else { "" };
    format!("{rust}{underscore}")
}

/// A type without lifetimes and spaces, because macros differ in the spaces that they write.
pub(crate) fn without_lifetimes(type_name: &str) -> String {
    let mut out: String = type_name.split_whitespace().collect();
    for lifetime in ["'a", "'static"] {
        out = out
            .replace(&format!("<{lifetime}>"), "")
            .replace(&format!("{lifetime},"), "");
    }
    out
}

/// The argument of a generic type, if `type_name` is one of `generic`.
pub(crate) fn argument_of<'name>(type_name: &'name str, generic: &str) -> Option<&'name str> {
    let rest = type_name.strip_prefix(generic)?.strip_prefix('<')?;
    rest.strip_suffix('>')
}

/// The numbers that a path leads to, as a module of the crate with the path `from` sees it.
pub(crate) fn numbers(path: &[&str], from: &str) -> Option<&'static Numbers> {
    let ends_with_path = |numbers: &&Numbers| {
        let segments: Vec<&str> = short_path(numbers.module).split("::").collect();
        segments.ends_with(path)
    };
    let mut found = NUMBERS.iter().filter(ends_with_path);
    // `flag` is one module in the arena and another one in the views.
    let here = NUMBERS.iter().filter(ends_with_path).find(|numbers| {
        let parent = numbers.module.rsplit_once("::").map(|(parent, _)| parent);
        parent.is_some_and(|parent| from == parent || from.starts_with(&format!("{parent}::")))
    });
    here.or_else(|| found.next())
}

/// The segments of a module's path within the crate.
pub(crate) fn short_path_of(module: &str) -> Vec<&str> {
    module.split("::").skip(1).collect()
}
