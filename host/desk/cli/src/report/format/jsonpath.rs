//! `-o jsonpath=TEMPLATE`: kubectl's templates.
//!
//! A template is text with expressions in braces: a path (`{.totals.moved}`, `{.bindings[*].binding}`), a text in quotes
//! (`{"\n"}`), and `{range PATH}…{end}`, which repeats what is between for every match. Paths are evaluated by
//! `jsonpath-rust`, which knows RFC 9535: filters are `[?(@.replicas > 3)]`, and kubectl's own names with `\.` are
//! translated. As in kubectl, a path that matches nothing prints nothing, several matches are joined by spaces, and no line
//! break is added at the end.

use std::io::{self, Write};
use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::{Failure, headline};
use divvy_command::style;
use divvy_command::text::is_hidden;
use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::{QueryRef, js_path_process};
use serde_json::Value;

use super::{Content, Format, Needs, Offer};

/// `-o jsonpath=TEMPLATE`.
pub(super) const OFFER: Offer = Offer {
    name: "jsonpath=TEMPLATE",
    help: "The data, printed by a template as in kubectl: `jsonpath={.bindings[*].binding}`, `{range}`, `{\"\\n\"}`; filters as in RFC 9535",
    needs: Needs::Nothing,
    make: |template| Ok(Arc::new(JsonPath::parse(template)?)),
};

/// A template.
#[derive(Debug, Clone, PartialEq)]
struct JsonPath {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Path(Path),
    Range(Path, Vec<Part>),
}

/// A path in a template.
#[derive(Debug, Clone, PartialEq)]
struct Path {
    /// The path as it was written.
    text: String,
    query: JpQuery,
    /// True if it starts at the root even inside a range.
    is_absolute: bool,
}

/// Text between braces, or outside of them.
enum Piece<'text> {
    Literal(&'text str),
    Expression(&'text str),
}

impl Format for JsonPath {
    fn is_data(&self) -> bool {
        true
    }

    fn shows_errors(&self) -> bool {
        false
    }

    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure> {
        let mut unmatched = Vec::new();
        console.print(|out| {
            unmatched = self
                .write(&content.data()?, out)?
                .into_iter()
                .map(str::to_owned)
                .collect();
            Ok(())
        })?;
        for path in unmatched {
            let message = format!("`{path}` matches nothing in the output; `-o json` shows what there is");
            console.message(|out| headline(out, "note", style::HINT, &message));
        }
        Ok(())
    }
}

impl JsonPath {
    /// Parses a template. One without braces is a single path, as in kubectl.
    fn parse(template: &str) -> Result<Self, String> {
        if template.is_empty() {
            return Err("the template is empty: write for instance `jsonpath={.bindings[*].binding}`".to_owned());
        }
        if !template.contains('{') {
            let part = Part::Path(path(template)?);
            return Ok(Self { parts: vec![part] });
        }
        let pieces = pieces(template)?;
        let mut pieces = pieces.into_iter();
        let parts = parts(&mut pieces, false)?;
        Ok(Self { parts })
    }

    /// Writes a value through the template. Returns the paths that matched nothing.
    fn write<'a>(&'a self, value: &Value, out: &mut dyn Write) -> io::Result<Vec<&'a str>> {
        let mut unmatched = Vec::new();
        write_parts(&self.parts, value, value, out, &mut unmatched)?;
        Ok(unmatched)
    }
}

/// Splits a template at its braces. Quotes inside an expression may hold braces.
fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        let end = end_of_expression(after).ok_or_else(|| format!("`{{{after}` is not closed"))?;
        let (expression, more) = after.split_at(end);
        pieces.push(Piece::Expression(expression.trim()));
        rest = more.strip_prefix('}').unwrap_or(more);
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    Ok(pieces)
}

fn end_of_expression(text: &str) -> Option<usize> {
    let (mut quote, mut is_escaped) = (None, false);
    for (index, character) in text.char_indices() {
        match (quote, character) {
            _ if is_escaped => is_escaped = false,
            (_, '\\') => is_escaped = true,
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '}') => return Some(index),
            (None, _) => {}
        }
    }
    None
}

fn parts<'text>(pieces: &mut impl Iterator<Item = Piece<'text>>, is_range: bool) -> Result<Vec<Part>, String> {
    let mut found = Vec::new();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Literal(text) => found.push(Part::Text(text.to_owned())),
            Piece::Expression("end") if is_range => return Ok(found),
            Piece::Expression("end") => return Err("`{end}` has no `{range …}` before it".to_owned()),
            Piece::Expression(expression) => match expression.strip_prefix("range ") {
                Some(over) => {
                    let over = path(over.trim())?;
                    found.push(Part::Range(over, parts(pieces, true)?));
                }
                None => found.push(expression_part(expression)?),
            },
        }
    }
    match is_range {
        true => Err("`{range …}` has no `{end}`".to_owned()),
        false => Ok(found),
    }
}

fn expression_part(expression: &str) -> Result<Part, String> {
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inside = expression.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(unescaped(inside))
    });
    match quoted {
        Some(text) => Ok(Part::Text(text)),
        None => Ok(Part::Path(path(expression)?)),
    }
}

/// A text with its escapes resolved: `\n`, `\t`, and any other character after a backslash, unchanged.
fn unescaped(text: &str) -> String {
    let mut resolved = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('n') => resolved.push('\n'),
                Some('t') => resolved.push('\t'),
                Some(other) => resolved.push(other),
                None => resolved.push('\\'),
            },
            (other, false) => resolved.push(other),
        }
    }
    resolved
}

fn path(text: &str) -> Result<Path, String> {
    let is_absolute = text.starts_with('$');
    let standard = standard(text)?;
    let query = parse_json_path(&standard).map_err(|_| {
        format!(
            "`{text}` is not a path: kubectl's templates are understood, with the filters of RFC 9535, \
             for instance `{{.bindings[?(@.replicas > 3)].binding}}`"
        )
    })?;
    Ok(Path {
        text: text.to_owned(),
        query,
        is_absolute,
    })
}

/// A path of kubectl's in the form of RFC 9535: it starts with `$`, and names are in brackets and quotes, since the standard
/// allows few characters in others.
fn standard(text: &str) -> Result<String, String> {
    let mut standard = String::from("$");
    let mut rest = text.strip_prefix(['$', '@']).unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("..") {
            standard.push_str("..");
            rest = after;
            match rest.chars().next() {
                Some('[') => continue,
                Some(_) => {}
                None => return Err(format!("`{text}` ends with `..`")),
            }
        } else if first == '[' {
            let end = end_of_bracket(rest).ok_or_else(|| format!("`{rest}` is not closed"))?;
            let (bracket, after) = rest.split_at(end);
            standard.push_str(bracket);
            rest = after;
            continue;
        } else if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            // `.[0]` is `[0]`, and `.` alone is the value itself.
            if rest.is_empty() || rest.starts_with('[') {
                continue;
            }
        }
        let (name, after) = name(rest);
        if name.is_empty() {
            return Err(format!("a name is missing before `{after}` in `{text}`"));
        }
        match name.as_str() {
            "*" => standard.push_str("[*]"),
            name => {
                let name = name.replace('\\', "\\\\").replace('\'', "\\'");
                standard.push_str(&format!("['{name}']"));
            }
        }
        rest = after;
    }
    Ok(standard)
}

/// The name at the beginning of a path, up to a dot or bracket that no backslash escapes.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '.' | '[' => return (name, &text[index..]),
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            other => name.push(other),
        }
    }
    (name, "")
}

/// Length of the bracketed expression at the beginning of a path.
fn end_of_bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (index, character) in text.char_indices() {
        match (quote, character) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            (None, _) => {}
        }
    }
    None
}

fn write_parts<'a>(
    parts: &'a [Part],
    root: &Value,
    current: &Value,
    out: &mut dyn Write,
    unmatched: &mut Vec<&'a str>,
) -> io::Result<()> {
    for part in parts {
        match part {
            Part::Text(text) => out.write_all(text.as_bytes())?,
            Part::Path(path) => {
                let found = path.found(root, current)?;
                if found.is_empty() && !unmatched.contains(&path.text.as_str()) {
                    unmatched.push(&path.text);
                }
                let texts: Vec<String> = found.into_iter().map(shown).collect();
                out.write_all(texts.join(" ").as_bytes())?;
            }
            Part::Range(over, inner) => {
                let found = over.found(root, current)?;
                if found.is_empty() && !unmatched.contains(&over.text.as_str()) {
                    unmatched.push(&over.text);
                }
                for value in found {
                    write_parts(inner, root, value, out, unmatched)?;
                }
            }
        }
    }
    Ok(())
}

impl Path {
    fn found<'value>(&self, root: &'value Value, current: &'value Value) -> io::Result<Vec<&'value Value>> {
        let start = if self.is_absolute { root } else { current };
        let found = js_path_process(&self.query, start).map_err(io::Error::other)?;
        Ok(found.into_iter().map(QueryRef::val).collect())
    }
}

/// A value as kubectl prints it: text without quotes, anything else as JSON. Control characters other than line breaks and tabs are
/// escaped, because a terminal would obey them.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    match text.contains(is_hidden) {
        false => text,
        true => {
            let escaped = text.chars().flat_map(|character| match is_hidden(character) {
                true => character.escape_default().collect::<Vec<_>>(),
                false => vec![character],
            });
            escaped.collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(template: &str) -> (String, Vec<String>) {
        let value = json!({
            "items": [
                {"name": "a", "replicas": 3, "labels": {"app.kubernetes.io/name": "web"}, "on": ["x", "y"]},
                {"name": "b", "replicas": 5, "labels": {}, "on": []},
            ],
            "total": 8, "is-whole": true, "nothing": null,
        });
        let path = JsonPath::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
        let mut out = Vec::new();
        let unmatched = path.write(&value, &mut out).unwrap();
        (
            String::from_utf8(out).unwrap(),
            unmatched.into_iter().map(str::to_owned).collect(),
        )
    }

    #[test]
    fn templates_print_as_in_kubectl() {
        let cases = [
            ("{.items[*].name}", "a b"),
            ("{$.items[*].name}", "a b"),
            ("{items[0].name}", "a"),
            (".total", "8"),
            ("total: {.total}!", "total: 8!"),
            ("{.items[-1].name}", "b"),
            ("{.items[0:1].name}", "a"),
            ("{..replicas}", "3 5"),
            ("{.items[?(@.replicas>3)].name}", "b"),
            ("{.items[?(@.name==\"a\")].replicas}", "3"),
            ("{.items[?(@.name=='a')]['name','replicas']}", "a 3"),
            ("{.items[0].labels.app\\.kubernetes\\.io/name}", "web"),
            ("{.items[0].labels['app.kubernetes.io/name']}", "web"),
            ("{.items[0].on}", "[\"x\",\"y\"]"),
            ("{.is-whole}", "true"),
            ("{.nothing}", ""),
            ("{\"a\\tb\"}{'}'}", "a\tb}"),
            ("{range .items[*]}{.name}={.replicas}{\"\\n\"}{end}", "a=3\nb=5\n"),
            ("{range .items[*]}{.name}:{range .on[*]}{@},{end};{end}", "a:x,y,;b:;"),
            ("{range .items[*]}{$.total}{.name} {end}", "8a 8b "),
            ("{.items.*.name}", "a b"),
        ];
        for (template, expected) in cases {
            assert_eq!(written(template).0, expected, "{template}");
        }
    }

    #[test]
    fn paths_that_match_nothing_are_returned() {
        assert_eq!(
            written("{.items[*].nmae}-{.totl}"),
            ("-".to_owned(), vec![".items[*].nmae".to_owned(), ".totl".to_owned()])
        );
        assert_eq!(written("{range .none[*]}{.name}{end}").1, [".none[*]"]);
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for template in [
            "",
            "{.items",
            "{.items[}",
            "{.items[*}",
            "{end}",
            "{range .items[*]}{.name}",
            "{.items[?(@.name=~/a/)]}",
            "{.items[(@.length-1)]}",
            "{..}",
            "{.a...b}",
            "{}",
        ] {
            assert!(JsonPath::parse(template).is_err() || template == "{}", "{template}");
        }
        let error = JsonPath::parse("{.items[?(@.name=~/a/)]}").unwrap_err();
        assert!(error.contains("RFC 9535"), "{error}");
    }
}
