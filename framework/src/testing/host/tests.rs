//! Output of cargo and of the scheduler as the kit reads it, and the errors if one of them is missing.
//! `tests/whole_cycles.rs` of the workspace runs both.

use std::path::Path;

use serde_json::json;

use super::binary::Binary;
use super::decision::Decisions;
use super::library::library_in;

fn not_found(value: Option<&str>) -> String {
    let binary = Binary::named(value.map(Into::into));
    let error = binary
        .run(Path::new("."), &[], "")
        .expect_err("there is no such program");
    // `unwrap` prints what an operator would read.
    assert_eq!(format!("{error:?}"), error.to_string());
    error.to_string()
}

#[test]
fn a_missing_binary_names_the_variable_to_set() {
    assert_eq!(
        not_found(Some("/nowhere/divvy")),
        "`/nowhere/divvy` is not found, so there is no scheduler to run the plugin in\n  hint: the environment variable `DIVVY` \
         names it: expected the path of the binary `divvy`"
    );
    let text = not_found(Some("no-such-divvy"));
    assert!(text.starts_with("`no-such-divvy` is not found"), "{text}");
}

#[test]
fn an_empty_variable_is_as_none() {
    let [empty, none] = [Some("".into()), None].map(Binary::named);
    assert_eq!(format!("{empty:?}"), format!("{none:?}"));
}

#[test]
fn a_program_that_does_not_read_its_input_is_no_error() {
    let binary = Binary::named(Some("/bin/true".into()));
    let input = "x".repeat(1 << 20);
    let printed = binary.run(Path::new("."), &["-v".into()], &input).expect("it runs");
    assert!(printed.status.success());
    assert_eq!(printed.command, "true -v");
}

#[test]
fn the_library_of_the_crate_itself_is_found_in_the_messages_of_cargo() {
    let artifact = |manifest: &str, kind: &str, file: &str| {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": manifest,
            "target": { "kind": [kind] },
            "filenames": [format!("{file}.d"), file],
        })
        .to_string()
    };
    let messages = [
        artifact("/other/Cargo.toml", "cdylib", "/target/libother.so"),
        artifact("/mine/Cargo.toml", "lib", "/target/libmine.rlib"),
        "a program of the build prints what it likes".to_owned(),
        artifact("/mine/Cargo.toml", "cdylib", "/target/libmine.so"),
        json!({ "reason": "build-finished", "success": true }).to_string(),
    ];
    let found = library_in(&messages.join("\n"), Path::new("/mine/Cargo.toml"));
    assert_eq!(found.as_deref(), Some(Path::new("/target/libmine.so")));
    assert_eq!(library_in(&messages.join("\n"), Path::new("/none/Cargo.toml")), None);
}

/// A field that a later scheduler adds, and one that it leaves out, change nothing.
#[test]
fn a_decision_is_read_with_what_plugins_say() {
    let output = json!({ "format": 1, "bindings": [{
        "binding": "shop/web",
        "kind": "ResourceBinding",
        "strategy": "Mine",
        "result": "Scheduled",
        "replicas": 3,
        "clusters": [{ "name": "a", "replicas": 2, "free": 1 }, { "name": "b", "replicas": 1 }],
        "message": "",
        "news": 1,
        "explanation": {
            "clusters": [
                {
                    "name": "a",
                    "candidate": true,
                    "scores": [
                        { "plugin": "near", "score": 7, "reason": { "plugin": "near", "cause": "other", "text": "near" } },
                        { "plugin": "far", "score": 1 },
                    ],
                    "reasons": [{ "plugin": "mine", "cause": "news", "text": "room for 3" }],
                },
                { "name": "b", "candidate": true },
                {
                    "name": "c",
                    "candidate": false,
                    "leftOut": { "plugin": "few", "reason": { "plugin": "few", "cause": "other", "text": "too many" } },
                },
                { "name": "d", "candidate": false, "rejected": { "plugin": "gate", "text": "cluster(s) were shut" } },
            ],
            "notes": [{ "plugin": "mine", "text": "divided" }, { "plugin": "few", "text": "chosen" }],
        },
    }] });
    let decisions = Decisions::read(&output.to_string(), "warning: none".to_owned()).expect("it is read");
    assert_eq!((decisions.len(), decisions.warnings()), (1, "warning: none"));
    let web = decisions.binding("shop/web");
    assert_eq!(
        (web.strategy.as_str(), web.result.as_str(), web.replicas),
        ("Mine", "Scheduled", 3)
    );
    assert_eq!(web.shares(), [("a", 2), ("b", 1)]);
    assert_eq!(web.rejections(), [("d", "gate", "cluster(s) were shut")]);
    assert_eq!(web.scores("near"), [("a", 7)]);
    assert_eq!(web.left_out(), [("c", "few")]);
    assert_eq!(web.explanations("near"), [("a", "near")]);
    assert_eq!(web.explanations("few"), [("c", "too many")]);
    assert_eq!(web.explanations("mine"), [("a", "room for 3")]);
    assert_eq!(web.notes("mine"), ["divided"]);
    assert_eq!(web.json()["news"], 1);
    assert!(Decisions::read("{}", String::new()).is_err());
}

#[test]
#[should_panic(expected = "no binding is named `shop/wbe`, expected one of `shop/web`")]
fn a_binding_that_is_not_there_names_those_that_are() {
    let output = json!({ "bindings": [{ "binding": "shop/web", "result": "Skipped" }] });
    let decisions = Decisions::read(&output.to_string(), String::new()).expect("it is read");
    decisions.binding("shop/wbe");
}
