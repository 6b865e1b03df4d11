//! Lists of clusters as JSON and YAML, written directly.
//!
//! A duplicated workload has thousands of clusters. The libraries write each field by field, and the one for YAML examines every text
//! for anything that a reader could mistake it for. Plain names need none of that. The libraries write everything else, and tests
//! compare both.

use std::io;

use divvy_command::form::Form;
use serde::Serialize;

/// Maximum length of a name that is written directly. The library for YAML folds long texts.
const NAME_LENGTH_MAX: usize = 63;

/// A cluster with numbers: the fields of a mapping, in their order. Those without a value are left out.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) numbers: [(&'static str, Option<i64>); 2],
}

/// True for a name that any reader takes for text, so that [`with_lines`] may write its list: lower-case letters, digits and hyphens,
/// beginning with a letter, with at least one digit or hyphen, which rules out words such as `null` and `yes`.
pub(super) fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= NAME_LENGTH_MAX
        && name.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
        && name.bytes().all(is_plain)
        && name.bytes().any(|byte| !byte.is_ascii_lowercase())
}

/// The text of a form around the list `clusters` of a mapping in the list of a document, its items, and their numbers.
struct Words {
    /// The list without items, as the library writes it.
    empty: &'static str,
    begin: &'static str,
    before_name: &'static str,
    after_name: &'static str,
    before_field: &'static str,
    after_field: &'static str,
    after_item: &'static str,
    between_items: &'static str,
    end: &'static str,
}

const JSON: Words = Words {
    empty: "\n      \"clusters\": []",
    begin: "\n      \"clusters\": [\n",
    before_name: "        {\n          \"name\": \"",
    after_name: "\"",
    before_field: ",\n          \"",
    after_field: "\": ",
    after_item: "\n        }",
    between_items: ",\n",
    end: "\n      ]",
};

const YAML: Words = Words {
    empty: "\n  clusters: []\n",
    begin: "\n  clusters:\n",
    before_name: "  - name: ",
    after_name: "",
    before_field: "\n    ",
    after_field: ": ",
    after_item: "\n",
    between_items: "",
    end: "",
};

/// Writes a document of one list with one value in it, with lines in that value's own empty list `clusters`. There must be a line.
/// Returns false, without writing anything, if it has no such list.
///
/// # Errors
///
/// The library cannot write the value. Nothing has been written.
pub(super) fn with_lines<'a>(
    form: Form,
    document: &impl Serialize,
    lines: impl Iterator<Item = Line<'a>>,
    out: &mut Vec<u8>,
) -> io::Result<bool> {
    let words = match form {
        Form::Json => JSON,
        Form::Yaml => YAML,
    };
    let mut text = Vec::new();
    form.write(document, &mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    // Lines of longer texts are indented further or escaped, so no text looks like an empty list.
    let Some((before, after)) = text.split_once(words.empty) else {
        return Ok(false);
    };
    let mut put = |text: &str| out.extend_from_slice(text.as_bytes());
    put(before);
    put(words.begin);
    let mut buffer = itoa::Buffer::new();
    for (number, Line { name, numbers }) in lines.enumerate() {
        if number > 0 {
            put(words.between_items);
        }
        put(words.before_name);
        put(name);
        put(words.after_name);
        for (field, number) in numbers {
            let Some(number) = number else { continue };
            put(words.before_field);
            put(field);
            put(words.after_field);
            put(buffer.format(number));
        }
        put(words.after_item);
    }
    put(words.end);
    put(after);
    Ok(true)
}

#[cfg(test)]
mod tests {
    //! Lists that are written directly equal those that the libraries write.

    use serde_json::{Value, json};

    use super::*;

    const FORMS: [Form; 2] = [Form::Json, Form::Yaml];

    fn by_library(form: Form, row: &Value) -> String {
        let mut bytes = Vec::new();
        form.write(&json!({"rows": [row]}), &mut bytes)
            .expect("memory takes everything");
        String::from_utf8(bytes).expect("it is text")
    }

    /// The same mapping, with its list of clusters written directly.
    fn directly(form: Form, row: &Value) -> Option<String> {
        let clusters = row["clusters"].as_array()?;
        let mut without = row.clone();
        without["clusters"] = json!([]);
        let lines = clusters.iter().map(|cluster| Line {
            name: cluster["name"].as_str().unwrap_or_default(),
            numbers: [
                ("replicas", cluster["replicas"].as_i64()),
                ("zfree", cluster["zfree"].as_i64()),
            ],
        });
        let mut bytes = Vec::new();
        let is_written =
            with_lines(form, &json!({"rows": [without]}), lines, &mut bytes).expect("memory takes everything");
        is_written.then(|| String::from_utf8(bytes).expect("it is text"))
    }

    /// Numbers without a pattern, the same in every run.
    fn scattered(state: &mut u64) -> usize {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    #[test]
    fn random_rows_are_those_of_the_library() {
        let mut state = 7;
        let characters: Vec<char> = "abemnotuxyz0189-_.: #ä'\"\n~".chars().collect();
        let words = [
            "null",
            "yes",
            "on",
            "y",
            "true",
            "nan",
            "inf",
            "m1",
            "e5",
            "x-1",
            "a-",
            "eu-aws-frankfurt",
            "0x1",
            "1e5",
            "-a",
        ];
        let numbers = [0, 1, -1, 7, 1_000_000, i64::MAX, i64::MIN];
        let mut compared = 0;
        for _ in 0..4_000 {
            let name = |state: &mut u64| match scattered(state) % 3 {
                0 => words[scattered(state) % words.len()].to_owned(),
                1 => format!("member-{:05}", scattered(state) % 5_000),
                _ => (0..1 + scattered(state) % 70)
                    .map(|_| characters[scattered(state) % characters.len()])
                    .collect(),
            };
            let count = 1 + scattered(&mut state) % 4;
            let clusters: Vec<Value> = (0..count)
                .map(|_| {
                    let mut cluster =
                        json!({"name": name(&mut state), "replicas": numbers[scattered(&mut state) % numbers.len()]});
                    if scattered(&mut state).is_multiple_of(2) {
                        cluster["zfree"] = json!(numbers[scattered(&mut state) % numbers.len()]);
                    }
                    cluster
                })
                .collect();
            let is_plain = clusters
                .iter()
                .all(|cluster| super::is_plain(cluster["name"].as_str().unwrap_or_default()));
            let text = ["", "text", "a\n  clusters: []\nb", "clusters: []", " x"][scattered(&mut state) % 5];
            let row = json!({"affinity": text, "clusters": clusters, "message": text, "nested": {"clusters": [], "a": [text]}});
            if is_plain {
                compared += 1;
                for form in FORMS {
                    assert_eq!(directly(form, &row).as_deref(), Some(by_library(form, &row).as_str()));
                }
            }
        }
        assert!(compared > 500, "{compared}");
    }

    #[test]
    fn names_that_are_not_plain_are_left_to_the_library() {
        for name in [
            "",
            "null",
            "yes",
            "n",
            "1",
            "-a",
            "A-1",
            "a.b-1",
            "a:1",
            "a 1",
            "ä-1",
            &"a-".repeat(40),
        ] {
            assert!(!is_plain(name), "{name}");
        }
        for name in ["m1", "eu-aws", "a-", &"a1".repeat(31)] {
            assert!(is_plain(name), "{name}");
        }
    }

    #[test]
    fn a_row_without_the_list_is_left_to_the_library() {
        for form in FORMS {
            let (mut bytes, row) = (Vec::new(), json!({"a": {"clusters": []}}));
            let is_written = with_lines(form, &json!({"rows": [row]}), std::iter::empty(), &mut bytes);
            assert!(!is_written.expect("memory takes everything"));
            assert!(bytes.is_empty());
        }
    }
}
