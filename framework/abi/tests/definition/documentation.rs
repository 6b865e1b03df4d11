//! Documentation as comments of C: paths of Rust become names of C.

use divvy_framework_abi::definition::{FUNCTIONS, STRUCTURES, Structure};

use crate::names::{c_field_name, c_type_name, numbers};

/// Columns of a line.
const WIDTH: usize = 120;

/// Names that the documentation mentions and that have no definition, with their names in C.
const SINGLE: [(&str, &str); 7] = [
    ("ABSENT", "DIVVY_ABSENT"),
    ("LIBRARY_SYMBOL", "divvy_plugin_v1"),
    ("MAGIC", "DivvyABI"),
    ("NO_ROW", "DIVVY_NO_ROW"),
    ("hash_text", "hash_text"),
    ("i64::MAX", "INT64_MAX"),
    ("u32::MAX", "UINT32_MAX"),
];

/// A comment with this documentation, each line of which begins with `indent`.
///
/// `module` is where Rust resolves the paths in it.
pub(crate) fn comment(documentation: &[&str], module: &str, own: Option<&Structure>, indent: &str) -> String {
    let paragraphs = documentation
        .split(|line| line.trim().is_empty())
        .map(|lines| {
            let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
            in_c(&lines.join(" "), module, own)
        })
        .collect::<Vec<_>>();
    if let [only] = paragraphs.as_slice()
        && indent.len() + only.chars().count() + "/*  */".len() <= WIDTH
    {
        return format!("{indent}/* {only} */\n");
    }
    let mut out = String::new();
    let mut start = "/* ";
    for (index, paragraph) in paragraphs.iter().enumerate() {
        if index > 0 {
            out.push_str(&format!("{indent} *\n"));
        }
        let is_last = index + 1 == paragraphs.len();
        for line in wrapped(
            paragraph,
            WIDTH - indent.len() - 3,
            if is_last { " */".len() } else { 0 },
        ) {
            out.push_str(&format!("{indent}{start}{line}\n"));
            start = " * ";
        }
    }
    out.truncate(out.trim_end().len());
    out.push_str(" */\n");
    out
}

/// The text in lines of at most `width` characters, the last of which leaves room for `ending`.
fn wrapped(text: &str, width: usize, ending: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let line = lines.last_mut().expect("there is a line");
        let after = if words.peek().is_none() { ending } else { 0 };
        let length = line.chars().count() + 1 + word.chars().count() + after;
        if line.is_empty() {
            line.push_str(word);
        } else if length <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The text, with its links replaced by names in C.
fn in_c(text: &str, module: &str, own: Option<&Structure>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let (code, after) = after
            .split_once('`')
            .unwrap_or_else(|| panic!("an odd number of backticks: {text}"));
        let link = before.strip_suffix('[').zip(after.strip_prefix(']'));
        let (before, name, after) = match link {
            Some((before, after)) => {
                let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
                let (path, after) = target.unwrap_or((code, after));
                let name = name_of(path, module, own);
                (
                    before,
                    name.unwrap_or_else(|| panic!("`{path}` has no name in C: {text}")),
                    after,
                )
            }
            // Code that is not a link: a word of Kubernetes, or a type.
            None => (before, code_in_c(code), after),
        };
        out.push_str(before);
        out.push_str(&format!("`{name}`"));
        rest = after;
    }
    out.push_str(rest);
    assert!(!out.contains("::"), "a path of Rust: {out}");
    out
}

fn code_in_c(code: &str) -> String {
    let single = SINGLE.iter().find(|(rust, _)| *rust == code);
    let is_type = ["Span", "Text"].contains(&code);
    match single {
        Some((_, c)) => (*c).to_owned(),
        None if is_type => c_type_name(code),
        None => code.to_owned(),
    }
}

/// The name in C of a path's target.
fn name_of(path: &str, module: &str, own: Option<&Structure>) -> Option<String> {
    let segments: Vec<&str> = path
        .split("::")
        .map(|segment| segment.trim_start_matches("mod@"))
        .filter(|segment| !["crate", "super", "self"].contains(segment))
        .collect();
    let structure = |name: &str| STRUCTURES.iter().find(|structure| structure.name == name);
    let (last, parents) = segments.split_last()?;
    if let Some((_, c)) = SINGLE.iter().find(|(rust, _)| rust == last) {
        return Some((*c).to_owned());
    }
    match parents.last() {
        Some(&"Self") => return own.map(|_| c_field_name(last)),
        Some(parent) => {
            if let Some(found) = structure(parent) {
                let has_field = found.fields.iter().any(|field| field.name == *last);
                return has_field.then(|| format!("{}.{}", c_type_name(parent), c_field_name(last)));
            }
            if let Some(found) = numbers(parents, module) {
                let has_number = found.numbers.iter().any(|number| number.name == *last);
                return has_number.then(|| format!("{}{last}", found.prefix));
            }
        }
        None => {
            // A number of the same module.
            let here = crate::names::short_path_of(module);
            if let Some(found) = numbers(&here, module)
                && found.numbers.iter().any(|number| number.name == *last)
            {
                return Some(format!("{}{last}", found.prefix));
            }
        }
    }
    if structure(last).is_some() || FUNCTIONS.iter().any(|function| function.name == *last) {
        return Some(c_type_name(last));
    }
    numbers(&segments, module).map(|found| format!("{}*", found.prefix))
}
