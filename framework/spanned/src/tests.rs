//! Notation of paths, wording of refused values, and lines of TOML documents.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{FieldPath, PathSegment, ValueError, read_value};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Shape {
    #[default]
    Round,
    Square(u8),
    Oblong {
        width: u16,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sample {
    count: u8,
    seed: Option<u64>,
    ratio: f64,
    shape: Shape,
    pair: (String, i32),
    parts: Vec<Part>,
    labels: BTreeMap<String, bool>,
    folder: std::path::PathBuf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[expect(dead_code, reason = "read by serde alone")]
    name: String,
}

/// The rows of a table: a JSON value, then what is expected, separated by `=>`.
fn rows(table: &str) -> impl Iterator<Item = (Value, &str)> {
    table.trim().lines().map(|row| {
        let (value, expected) = row.split_once(" => ").expect("a row has an arrow");
        (serde_json::from_str(value).expect("a row begins with JSON"), expected)
    })
}

#[track_caller]
fn refused<T: DeserializeOwned + Debug>(value: &Value) -> ValueError {
    read_value::<T>(value).expect_err("the value does not fit")
}

#[test]
fn a_path_reads_back_as_it_is_written() {
    for text in [
        "",
        "spec.taints[0].key",
        "[3][0].a",
        "labels[\"example.com/a.b\"].c",
        "[\"\"]",
        "a[\"say \\\"so\\\"\"]",
    ] {
        assert_eq!(FieldPath::dotted(text).to_string(), text);
    }
    let keys = |text| FieldPath::dotted(text).segments().to_vec();
    let key = |key: &str| PathSegment::Key(key.to_owned());
    assert_eq!(keys(".a..b."), [key("a"), key("b")]);
    assert_eq!(keys("a[x].b["), [key("a"), key("[x]"), key("b"), key("[")]);
    assert_eq!(keys("é[0"), [key("é"), key("[0")]);
}

#[test]
fn numbers_name_their_bounds() {
    for (value, expected) in rows(
        r#"
        {"count": 300} => count: expected a whole number from 0 to 255, got the number `300`
        {"count": 1.5} => count: expected a whole number from 0 to 255, got the number `1.5`
        {"count": "7"} => count: expected a whole number from 0 to 255, got the string "7"
        {"seed": -1} => seed: expected a whole number from 0 to 18446744073709551615, got the number `-1`
        {"ratio": []} => ratio: expected a number, got a list
        "#,
    ) {
        assert_eq!(refused::<Sample>(&value).to_string(), expected);
    }
    let read: Sample = read_value(&json!({ "count": 255, "seed": u64::MAX, "ratio": 2 })).expect("all fit");
    assert_eq!((read.count, read.seed, read.ratio), (255, Some(u64::MAX), 2.0));
}

#[test]
fn a_refusal_has_its_path_both_types_and_the_known_names() {
    // The message; the path of the key; the hint.
    for (value, expected) in rows(
        r#"
        [] => expected a mapping, got a list; ; none
        {"coutn": 1} => unknown key `coutn`; coutn; did you mean `count`?
        {"parts": [{"name": "a"}, {"name": "b", "x.y": 1}]} => parts[1]: unknown key `x.y`; parts[1]["x.y"]; known: `name`
        {"parts": [{}]} => parts[0]: missing key `name`; parts[0]; none
        {"parts": [{"name": 5}]} => parts[0].name: expected a string, got the number `5`; parts[0].name; put the value in quotes
        {"labels": {"a/b": "true"}} => labels["a/b"]: expected `true` or `false`, got the string "true"; labels["a/b"]; none
        {"folder": {}} => folder: expected a path, got a mapping; folder; none
        {"pair": ["a"]} => pair: expected a list of 2, got a list of 1; pair; none
        {"pair": ["a", 1, 2]} => pair: expected a list of 2, got a list of 3; pair; none
        {"pair": ["a", "1"]} => pair[1]: expected a whole number from -2147483648 to 2147483647, got the string "1"; pair[1]; remove the quotes
        "#,
    ) {
        let error = refused::<Sample>(&value);
        let hint = error.hint().unwrap_or("none".to_owned());
        assert_eq!(format!("{error}; {}; {hint}", error.key_path()), expected);
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(dead_code, reason = "read by serde alone")]
enum Tagged {
    Plain { count: u8 },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by serde alone")]
enum Either {
    Count(u8),
    Names(Vec<String>),
}

#[derive(Debug, Deserialize)]
struct Unit;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read by serde alone")]
struct Point(i8, i8);

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read by serde alone")]
struct Renamed {
    #[serde(alias = "old")]
    new: u8,
}

/// The message for a value that a type refuses.
#[track_caller]
fn message<T: DeserializeOwned + Debug>(json: &str) -> String {
    refused::<T>(&serde_json::from_str(json).expect("it is JSON")).to_string()
}

#[test]
fn a_message_of_serde_json_is_translated() {
    #[derive(Debug, Deserialize)]
    struct Metadata {
        #[expect(dead_code, reason = "only read")]
        count: u8,
    }
    for (text, expected) in [
        (
            r#"{"count": "x, expected y"}"#,
            "expected a whole number from 0 to 255, got the string \"x, expected y\"",
        ),
        (
            r#"{"count": -1}"#,
            "expected a whole number from 0 to 255, got the number `-1`",
        ),
        (
            r#"{"count": 1.5}"#,
            "expected a whole number from 0 to 255, got the number `1.5`",
        ),
        (
            r#"{"count": true}"#,
            "expected a whole number from 0 to 255, got the boolean `true`",
        ),
        (r#"{"count": null}"#, "expected a whole number from 0 to 255, got null"),
        (r#"{"count": []}"#, "expected a whole number from 0 to 255, got a list"),
        (
            r#"{"count": {}}"#,
            "expected a whole number from 0 to 255, got a mapping",
        ),
        ("3", "expected a mapping, got the number `3`"),
        ("{}", "missing key `count`"),
        ("{", "EOF while parsing an object"),
    ] {
        let error = serde_json::from_str::<Metadata>(text).expect_err(text);
        assert_eq!(super::json::plain_message(&error), expected, "{text}");
    }
}

/// No message contains a Rust type or serde's terms.
#[test]
fn every_type_says_in_plain_words_what_it_expects() {
    use std::collections::{BTreeSet, HashMap};
    use std::num::{NonZeroI16, NonZeroU8, NonZeroU64, NonZeroU128};

    let text = r#""x""#;
    let found = [
        message::<bool>(text),
        message::<char>(r#""ab""#),
        message::<String>("[]"),
        message::<Option<String>>("{}"),
        message::<Box<str>>("1"),
        message::<()>(text),
        message::<i8>("128"),
        message::<i16>(text),
        message::<i32>("3000000000"),
        message::<i64>("1e30"),
        message::<i128>(text),
        message::<isize>(text),
        message::<u16>("-1"),
        message::<u32>("1.5"),
        message::<u64>(text),
        message::<u128>(text),
        message::<usize>(text),
        message::<NonZeroU8>("0"),
        message::<NonZeroU64>(text),
        message::<NonZeroI16>("0"),
        message::<NonZeroU128>(text),
        message::<f32>(text),
        message::<f64>("[]"),
        message::<Vec<u8>>("{}"),
        message::<Vec<u8>>("[1, 256]"),
        message::<BTreeSet<u8>>("7"),
        message::<[u8; 2]>("[1]"),
        message::<[u8; 2]>("[1, 2, 3]"),
        message::<(u8, u8)>("[1]"),
        message::<Point>("[1]"),
        message::<BTreeMap<String, u8>>("[]"),
        message::<HashMap<String, u8>>(r#"{"a": -1}"#),
        message::<BTreeMap<u8, bool>>(r#"{"300": true}"#),
        message::<BTreeMap<u8, bool>>(r#"{"x": true}"#),
        message::<std::path::PathBuf>("1"),
        message::<std::time::Duration>("1"),
        message::<std::net::IpAddr>("1"),
        message::<Part>("[]"),
        message::<Unit>("{}"),
        message::<Shape>("7"),
        message::<Tagged>("7"),
        message::<Tagged>(r#"{"kind": "plain", "count": 300}"#),
        message::<Tagged>(r#"{"kind": "plane", "count": 3}"#),
        message::<Tagged>(r#"{"count": 3}"#),
        message::<Either>("{}"),
        message::<Renamed>(r#"{"old": 1, "new": 2}"#),
    ];
    let expected = "\
expected `true` or `false`, got the string \"x\"
expected a character, got the string \"ab\"
expected a string, got a list
expected a string, got a mapping
expected a string, got the number `1`
expected null, got the string \"x\"
expected a whole number from -128 to 127, got the number `128`
expected a whole number from -32768 to 32767, got the string \"x\"
expected a whole number from -2147483648 to 2147483647, got the number `3000000000`
expected a whole number from -9223372036854775808 to 9223372036854775807, got the number `1e+30`
expected a whole number, got the string \"x\"
expected a whole number from -9223372036854775808 to 9223372036854775807, got the string \"x\"
expected a whole number from 0 to 65535, got the number `-1`
expected a whole number from 0 to 4294967295, got the number `1.5`
expected a whole number from 0 to 18446744073709551615, got the string \"x\"
expected a whole number of at least 0, got the string \"x\"
expected a whole number from 0 to 18446744073709551615, got the string \"x\"
expected a whole number from 1 to 255, got the number `0`
expected a whole number from 1 to 18446744073709551615, got the string \"x\"
expected a whole number from -32768 to 32767, but not 0, got the number `0`
expected a whole number of at least 1, got the string \"x\"
expected a number, got the string \"x\"
expected a number, got a list
expected a list, got a mapping
[1]: expected a whole number from 0 to 255, got the number `256`
expected a list, got the number `7`
expected a list of 2, got a list of 1
expected a list of 2, got a list of 3
expected a list of 2, got a list of 1
expected a list of 2, got a list of 1
expected a mapping, got a list
a: expected a whole number from 0 to 255, got the number `-1`
300: expected a whole number from 0 to 255, got the number `300`
x: expected a whole number from 0 to 255, got the string \"x\"
expected a path, got the number `1`
expected a mapping, got the number `1`
expected an IP address, got the number `1`
expected a mapping, got a list
expected null, got a mapping
expected one of `round`, `square`, `oblong`, got the number `7`
expected a mapping, got the number `7`
expected a whole number from 0 to 255, got the number `300`
kind: unknown value `plane`
missing key `kind`
the value has none of the known forms
`new` is given twice, also by another name";
    assert_eq!(found.join("\n"), expected);
    let read: BTreeMap<u8, bool> = read_value(&json!({ "7": true })).expect("a key can be a number");
    assert_eq!(read, BTreeMap::from([(7, true)]));
}

#[test]
fn a_refused_value_keeps_its_location_to_the_letter() {
    for (location, prefix) in [
        (
            "the binding's `divvy.io/preferences`.weights[1]",
            "the binding's `divvy.io/preferences`.weights[1]: ",
        ),
        ("", ""),
    ] {
        let error = ValueError::refused(location, "too light");
        assert_eq!(error.to_string(), format!("{prefix}too light"));
        assert_eq!(error.key_path(), location);
    }
}

#[test]
fn variants_are_read_as_words_and_as_mappings_with_one_key() {
    let shape = |value: Value| read_value::<Shape>(&value).expect("it is a shape");
    assert!(matches!(shape(json!("round")), Shape::Round));
    assert!(matches!(shape(json!({ "square": 3 })), Shape::Square(3)));
    assert!(matches!(
        shape(json!({ "oblong": { "width": 4 } })),
        Shape::Oblong { width: 4 }
    ));
    for (value, expected) in rows(
        r#"
        "sqare" => : unknown value `sqare`
        {"sqare": 1} => : unknown value `sqare`
        3 => : expected one of `round`, `square`, `oblong`, got the number `3`
        {"round": null, "square": 1} => : expected one of `round`, `square`, `oblong`, got a mapping
        "square" => : expected a mapping, got the string "square"
        {"round": 1} => .round: expected null, got the number `1`
        {"square": 256} => .square: expected a whole number from 0 to 255, got the number `256`
        {"oblong": {"width": true}} => .oblong.width: expected a whole number from 0 to 65535, got the boolean `true`
        "#,
    ) {
        let error = refused::<Sample>(&json!({ "shape": value }));
        assert_eq!(error.to_string(), format!("shape{expected}"));
    }
}

#[cfg(feature = "toml")]
mod toml {
    use super::*;
    use crate::{Fault, decode_tree, toml};

    /// The problems of a sample, one per line.
    fn problems(text: &str) -> String {
        let (tree, mut faults) = toml::parse(text);
        decode_tree::<Sample>(&tree, &FieldPath::root(), &mut faults);
        let describe = |fault: Fault| format!("{}: {}: {}\n", fault.line, fault.path, fault.cause);
        faults.into_iter().map(describe).collect()
    }

    #[test]
    fn values_know_their_lines() {
        let text = "\
title = 'x'
a.b.c = 1
inline = { x = 1, y = [2,
  3] }

[[outer]]
name = 'first'
[[outer.inner]]
k = 1
[[outer.inner]]

k = 2
[outer.table]
'dotted.key' = true
[[outer]]
name = '''
second'''
";
        let (tree, faults) = toml::parse(text);
        assert_eq!(faults, []);
        let expected = "title 1, a.b.c 2, a.b.absent.path 2, inline.x 3, inline.y[0] 3, inline.y[1] 4, \
            outer[0] 6, outer[0].name 7, outer[0].inner[0] 8, outer[0].inner[0].k 9, outer[0].inner[1] 10, \
            outer[0].inner[1].k 12, outer[0].table 13, outer[0].table[\"dotted.key\"] 14, outer[1] 15, \
            outer[1].name 16, outer[2] 6, [0] 1";
        for (path, line) in expected.split(", ").filter_map(|entry| entry.split_once(' ')) {
            assert_eq!(tree.line_of(&FieldPath::dotted(path)).to_string(), line, "{path}");
        }
    }

    #[test]
    fn every_value_that_does_not_fit_is_listed() {
        let text = "ratio = inf\nunknown = 1\ncount = 999999999999999999999\nseed = 2020-01-01\n\
                    [[parts]]\nname = 1\n[[parts]]\nnam = 'b'\n";
        let expected = "\
3: count: expected a whole number from -9223372036854775808 to 9223372036854775807, got `999999999999999999999`
1: ratio: expected a finite number, got `inf`
4: seed: expected a string, a number, a list or a table, got the time `2020-01-01`
2: : unknown key `unknown`
6: parts[0].name: expected a string, got the number `1`
8: parts[1]: unknown key `nam`
7: parts[1]: missing key `name`
";
        assert_eq!(problems(text), expected);
    }

    #[test]
    fn a_text_with_errors_of_syntax_has_no_other() {
        let found = problems("count = \nunknown = 1\nratio = [1\n");
        let is_syntax = |problem: &str| problem.contains("not valid TOML: ");
        assert!(found.lines().count() >= 2 && found.lines().all(is_syntax), "{found}");
        assert_eq!(
            problems("count = 1\ncount = 2\n"),
            "2: : not valid TOML: duplicate key\n"
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in any::<String>()) {
            toml::parse(&text);
        }

        #[test]
        fn no_almost_document_makes_the_reader_panic(
            text in r#"(\[\[?|\]\]?|a|b\.c|"k"|=|1|0x|1e9|inf|true|'|"|"""|,|\{|\}|2020-01-01|\n|#| |é){0,40}"#
        ) {
            problems(&text);
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_path_panic(text in any::<String>()) {
        FieldPath::dotted(&text);
    }
}
