//! A text that is read as a list while it comes in is read as it would be as a whole.

use std::io::{self, Read};
use std::path::Path;

use proptest::prelude::*;

use super::BATCH;
use crate::reader::Reader;
use crate::{Manifests, ReadOptions};

/// A stream that returns a few bytes at a time.
struct Slow<'text> {
    bytes: &'text [u8],
    at_once: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.at_once.min(buffer.len()).min(self.bytes.len());
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        Ok(count)
    }
}

/// An object before, so that going back has something to keep.
const BEFORE: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"before"}}"#;

fn whole(text: &str) -> Manifests {
    let options = ReadOptions::default();
    let mut reader = Reader::new(&options);
    reader.text(Path::new("before.json"), BEFORE);
    reader.text(Path::new("list.json"), text);
    reader.finish()
}

/// The manifests read from a stream; true if it was read as a list.
fn streamed(text: &str, at_once: usize) -> (Manifests, bool) {
    let options = ReadOptions::default();
    let mut reader = Reader::new(&options);
    reader.text(Path::new("before.json"), BEFORE);
    let mut slow = Slow {
        bytes: text.as_bytes(),
        at_once,
    };
    let is_list = reader.list(Path::new("list.json"), &mut slow);
    if !is_list {
        reader.text(Path::new("list.json"), text);
    }
    (reader.finish(), is_list)
}

#[track_caller]
fn check(text: &str, expected: bool) {
    let all = format!("{:?}", whole(text));
    for at_once in [1, 7, usize::MAX] {
        let (manifests, is_list) = streamed(text, at_once);
        assert_eq!(format!("{manifests:?}"), all, "{text}");
        assert_eq!(is_list, expected, "{text}");
    }
}

fn cluster(name: &str) -> String {
    format!(r#"{{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{{"name":"{name}"}}}}"#)
}

#[test]
fn lists_are_read_as_they_come() {
    let (one, two) = (cluster("m1"), cluster("m2"));
    for text in [
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{one},{two}]}}"#),
        format!(r#"{{"apiVersion":"v1","items":[{one},{two}],"kind":"List","metadata":{{"resourceVersion":""}}}}"#),
        format!("{{ \"items\" : [ {one}\n ,\n {two} ] , \"kind\": \"ClusterList\" }}\n\n"),
        r#"{"apiVersion":"v1","items":[],"kind":"List"}"#.to_owned(),
        // Braces, quotes and backslashes in texts, before and in the items.
        format!(
            r#"{{"note":"\"items\":[}}\\","kind":"List","items":[{}]}}"#,
            cluster(r#"}\"{\\"#)
        ),
        // A list in a list, an object with problems, and two objects of one name.
        format!(
            r#"{{"kind":"List","items":[{{"kind":"List","items":[{one}]}},{{"apiVersion":"v1","kind":5}},{one},{{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{{"name":"m1"}},"spec":{{"region":"r"}}}}]}}"#
        ),
    ] {
        check(&text, true);
    }
}

#[test]
fn anything_else_is_read_as_a_whole() {
    let (one, two) = (cluster("m1"), cluster("m2"));
    let untyped = r#"{"metadata":{"name":"m1"}}"#;
    for text in [
        String::new(),
        "{".to_owned(),
        one.clone(),
        format!("[{one}]"),
        format!("{one}\n{two}"),
        "---\nkind: List\nitems: []\n".to_owned(),
        // The type of the items is that of the list.
        format!(r#"{{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"ClusterList","items":[{untyped}]}}"#),
        // Not a list, as the last field shows.
        format!(r#"{{"apiVersion":"v1","items":[{one}],"kind":"ConfigMap"}}"#),
        format!(r#"{{"items":[{one}]}}"#),
        format!(r#"{{"kind":"List","items":[{one}],"items":[]}}"#),
        format!(r#"{{"kind":"List","items":[{one}],"kind":"List"}}"#),
        format!(r#"{{"kind":"List","it\u0065ms":[{one}]}}"#),
        r#"{"kind":"List","items":null}"#.to_owned(),
        format!(r#"{{"kind":"List","items":[{one},5]}}"#),
        // More than one value in the file.
        format!(r#"{{"kind":"List","items":[{one}]}} {two}"#),
        format!("{{\"kind\":\"List\",\"items\":[{one}]}}\n---\n{two}"),
        // Invalid.
        format!(r#"{{"kind":"List","items":[{one},]}}"#),
        format!(r#"{{"kind":"List","items":[,{one}]}}"#),
        format!(r#"{{"kind":"List","items":[{one} {two}]}}"#),
        format!(r#"{{"kind":"List","items":[{one}"#),
        format!(r#"{{"kind":"List","items":[{one}]"#),
        format!(r#"{{"kind":"List","items":[{one},{{"kind":tru}}]}}"#),
        format!(r#"{{"kind":"List","items":[{one},{{"kind":["a"}}]}}"#),
    ] {
        check(&text, false);
    }
}

#[test]
fn what_cannot_be_read_is_no_list() {
    struct Broken(usize);
    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let text = br#"{"kind":"List","items":[{"kind":""#;
            let rest = &text[self.0.min(text.len())..];
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            self.0 += count;
            match count {
                0 => Err(io::Error::other("broken")),
                count => Ok(count),
            }
        }
    }
    let options = ReadOptions::default();
    let mut reader = Reader::new(&options);
    assert!(!reader.list(Path::new("list.json"), &mut Broken(0)));
    // One byte too long.
    let text = format!(r#"{{"kind":"List","items":[{}]}}"#, cluster("m1"));
    for (bytes_max, expected) in [(text.len(), true), (text.len() - 1, false)] {
        let options = ReadOptions {
            bytes_max: bytes_max as u64,
            ..ReadOptions::default()
        };
        let is_list = Reader::new(&options).list(Path::new("list.json"), &mut text.as_bytes());
        assert_eq!(is_list, expected, "{bytes_max}");
    }
}

/// Several batches, with lines, warnings, problems and duplicates in each of them.
fn large() -> String {
    let object = |number: usize| match number % 50 {
        7 => format!(
            r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"d{number}"}},"spec":{{"replicas":"x"}}}}"#
        ),
        13 => cluster(&format!("m{}", number % 300)),
        29 => format!(r#"{{"apiVersion":"work.karmada.io/v1alpha2","kind":"Wörk","metadata":{{"name":"w{number}"}}}}"#),
        31 => format!(
            r#"{{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{{"name":"s{number}","resourceVersion":"1"}},"spec":{{"regoin":"r"}}}}"#
        ),
        _ => format!(
            "{{\"apiVersion\":\"v1\",\n\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c{number}\"}},\"data\":{{\"text\":\"ä\\\"{{{}\"}}}}",
            "filler ".repeat(150)
        ),
    };
    let objects: Vec<String> = (0..3 * BATCH / 1_000).map(object).collect();
    format!("{{\"kind\":\"List\",\"items\":[\n{}\n]}}\n", objects.join(",\n"))
}

#[test]
fn many_batches_are_one_list() {
    let text = large();
    assert!(text.len() > 2 * BATCH, "{}", text.len());
    let all = whole(&text);
    assert!(all.problems.len() > 100 && all.warnings.len() > 50 && all.resources.len() > 2_000);
    let (manifests, is_list) = streamed(&text, usize::MAX);
    assert!(is_list);
    assert!(format!("{manifests:?}") == format!("{all:?}"));
    // An error at the end: everything counts as if it had been read once.
    let broken = format!("{text},");
    let (manifests, is_list) = streamed(&broken, usize::MAX);
    assert!(!is_list);
    assert!(format!("{manifests:?}") == format!("{:?}", whole(&broken)));
}

proptest! {
    /// A list with a few bytes changed is read alike in both ways.
    #[test]
    fn changed_bytes_are_read_alike(
        changes in prop::collection::vec((0_usize..600, prop::sample::select(br#"{}[]",:\ a0-"#.to_vec())), 0..4),
        at_once in 1_usize..50,
    ) {
        let text = format!(
            "{{\"apiVersion\":\"v1\",\"items\":[\n{},\n{},{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c\"}},\"data\":{{\"a\":\"\\\\\\\"\"}}}}\n],\"kind\":\"List\"}}",
            cluster("m1"), cluster("m2"),
        );
        let mut bytes = text.into_bytes();
        let length = bytes.len();
        for (at, byte) in changes {
            bytes[at % length] = byte;
        }
        let text = String::from_utf8(bytes).expect("all of it is ASCII");
        prop_assert_eq!(format!("{:?}", streamed(&text, at_once).0), format!("{:?}", whole(&text)));
    }
}
