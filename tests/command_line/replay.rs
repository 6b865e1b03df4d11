//! `divvy replay`: differences, another left side, and what is shown.

use std::fs;

use serde_json::Value;

use super::{check, divvy, fixture, folder, run};

/// A folder with a recording of the fleet, and a profile under which the plugin `rival` serves `Average` and gives
/// everything to the first candidate.
struct Recorded {
    _folder: tempfile::TempDir,
    recording: String,
    rival: String,
}

impl Recorded {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (recording, rival) = (path("recording.jsonl"), path("rival.toml"));
        let files = [
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "--record",
            &recording,
        ];
        assert_eq!(run(&files).0, Some(0));
        let library = fixture("rival");
        let text = format!(
            "[[profile]]\nname = \"rival\"\nextends = \"default\"\nassign = [\"duplicated\", \"rival\"]\n\
             [profile.plugin.rival]\npath = {library:?}\n"
        );
        fs::write(&rival, text).expect("the profile can be written");
        Self {
            _folder: folder,
            recording,
            rival,
        }
    }

    fn replay(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        run(&[&["replay", &self.recording], arguments].concat())
    }
}

#[test]
fn only_the_clusters_that_differ_are_printed() {
    let recorded = Recorded::new();
    let (exit, stdout, _) = recorded.replay(&["--profile", &recorded.rival]);
    let line = format!(
        "{}:4: shop/cart-deployment: 3 of 3 clusters differ: east-1 3→-, east-2 3→-, west-1 3→9, first differs at Select\n\
         1 passed, 1 failed\n",
        recorded.recording
    );
    assert_eq!((exit, stdout), (Some(1), line));
    let (_, wide, _) = recorded.replay(&["--profile", &recorded.rival, "-o", "wide"]);
    assert!(
        wide.contains("expected east-1=3 east-2=3 west-1=3, got west-1=9, first differs"),
        "{wide}"
    );
    let (_, json, _) = recorded.replay(&["--profile", &recorded.rival, "-o", "json"]);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let difference = serde_json::json!({"name": "east-1", "expected": 3, "actual": null});
    assert_eq!(json["mismatches"][0]["differences"][0], difference);
}

#[test]
fn the_left_side_may_be_another_profile() {
    let recorded = Recorded::new();
    let same = ["--base", &recorded.rival, "--profile", &recorded.rival];
    assert_eq!(
        recorded.replay(&same),
        (Some(0), "2 passed, 0 failed\n".to_owned(), String::new())
    );
    let (exit, stdout, _) = recorded.replay(&["--base", &recorded.rival]);
    assert_eq!(exit, Some(1));
    assert!(stdout.contains("west-1 9→3"), "{stdout}");
}

#[test]
fn what_is_shown_changes_no_result() {
    let recorded = Recorded::new();
    let rival = ["--profile", recorded.rival.as_str()];
    for (arguments, is_shown) in [
        (&["--case", "shop/cart-*"][..], true),
        (&["--case", "deployment/agent"], false),
        (&["-n", "shop"], true),
        (&["--cluster", "west-*"], true),
    ] {
        let (exit, stdout, _) = recorded.replay(&[&rival[..], arguments].concat());
        assert_eq!(exit, Some(1), "{arguments:?}");
        assert_eq!(
            stdout.contains("shop/cart-deployment: "),
            is_shown,
            "{arguments:?}: {stdout}"
        );
        assert_eq!(stdout.starts_with("1 difference not shown\n"), !is_shown, "{stdout}");
        assert!(stdout.ends_with("1 passed, 1 failed\n"), "{stdout}");
    }
    let (exit, stdout, stderr) = recorded.replay(&["--case", "shop/crt-deployment", "-n", "shp", "--cluster", "wst-1"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert_eq!(
        stderr,
        "\
error: no recorded case matches `shop/crt-deployment`
  hint: did you mean `shop/cart-deployment`?
error: no recorded namespace matches `shp`
  hint: did you mean `shop`?
error: no recorded cluster matches `wst-1`
  hint: did you mean `west-1`?
"
    );
    let (exit, stdout, _) = recorded.replay(&[&rival[..], &["-q"]].concat());
    assert_eq!((exit, stdout.as_str()), (Some(1), ""));
}

#[test]
fn diff_takes_a_plugin_on_the_right_side() {
    let library = fixture("rival").display().to_string();
    let files = [
        "diff",
        "-f",
        "fleet.yaml",
        "-f",
        "dump.yaml",
        "--reschedule",
        "web-deployment",
    ];
    let (exit, stdout, stderr) = run(&[&files[..], &["--plugin", &library]].concat());
    assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{stdout}");
    let first = format!("profile default → profile default with --plugin {library} --reschedule web-deployment\n");
    assert!(stdout.starts_with(&first), "{stdout}");
    assert!(
        stdout.contains("shop/web-deployment  Average         10  east-1 −2  east-2 −2  west-1 +4"),
        "{stdout}"
    );
    check(
        &[&files[..], &["--plugin", "averag"]].concat()[..],
        2,
        "",
        &run(&["plugin", "show", "averag"]).2,
    );
}

#[test]
fn an_invalid_line_has_one_position() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let recording = folder.path().join("recording.jsonl").display().to_string();
    for (line, expected) in [
        (&b"nonsense"[..], ":2:2: not valid JSON: `nonsense`: expected ident"),
        (
            br#"{"kind":"Fleet","name":3}"#,
            ":2:24: expected a string, got the number `3`",
        ),
        (
            br#"{"kind":"Fleet","name":"b","clusters":[{"metadata":{"name":"m1"}},{"metadata":3}]}"#,
            ":2:79: expected a mapping, got the number `3`",
        ),
        (
            br#"{"kind":"Fleet","name":"b","clusters":[{"metadata":["m1"]}]}"#,
            ":2:51: expected a mapping, got a list",
        ),
        (
            br#"{"kind":"Case","name":"c","fleet":"a","binding":{"spec":{"replicas":"x"}}}"#,
            ":2:71: expected a whole number from -2147483648 to 2147483647, got the string \"x\"",
        ),
        (
            br#"{"kind":"Case","name":"c","fleet":"a"}"#,
            ":2:38: missing key `binding`",
        ),
        (
            br#"{"kind":"Recording","divvy":"","profile":"","profileName":"","seed":"x","plugins":[]}"#,
            ":2:71: seed: expected a whole number from 0 to 18446744073709551615, got the string \"x\"",
        ),
        (
            br#"{"kind":"Flet"}"#,
            ":2: unknown kind `Flet`, expected `Fleet`, `Case`, `Table` or `Recording`",
        ),
        (b"{\xff}", ":2:2: not UTF-8 text"),
    ] {
        let text = [&b"{\"kind\":\"Fleet\",\"name\":\"a\",\"clusters\":[]}\n"[..], line].concat();
        fs::write(&recording, text).expect("the recording can be written");
        check(
            &["replay", &recording],
            2,
            "",
            format!("error: {recording}{expected}\n"),
        );
    }
}

#[test]
fn a_negative_count_is_an_invalid_recording_and_not_a_difference() {
    let recorded = Recorded::new();
    let text = fs::read_to_string(&recorded.recording).expect("the recording can be read");
    for (from, to, field) in [
        ("\"replicas\":9,", "\"replicas\":-3,", "binding.spec.replicas"),
        (
            "{\"name\":\"west-1\",\"replicas\":5}",
            "{\"name\":\"west-1\",\"replicas\":-3}",
            "binding.spec.clusters[0].replicas",
        ),
        (
            "{\"name\":\"west-1\",\"replicas\":3}",
            "{\"name\":\"west-1\",\"replicas\":-3}",
            "expect.clusters[2].replicas",
        ),
    ] {
        let tampered = text.replacen(from, to, 1);
        assert_ne!(tampered, text, "{field}");
        fs::write(&recorded.recording, tampered).expect("the recording can be written");
        let expected = format!(
            "error: {}:4: {field}: expected a count of at least 0, got `-3`\n",
            recorded.recording
        );
        check(&["replay", &recorded.recording], 2, "", &expected);
    }
}

#[test]
fn a_recorded_profile_finds_its_plugins_from_any_folder() {
    let home = tempfile::tempdir().expect("a folder can be made");
    fs::create_dir(home.path().join("profiles")).expect("a folder can be made");
    fs::copy(fixture("rival"), home.path().join("profiles/rival.so")).expect("the library can be copied");
    let text = "[[profile]]\nname = \"rival\"\nextends = \"default\"\nassign = [\"duplicated\", \"rival\"]\n\
                [profile.plugin.rival]\npath = \"rival.so\"\n";
    fs::write(home.path().join("profiles/rival.toml"), text).expect("the profile can be written");
    let input = |name: &str| folder().join(name).display().to_string();
    let (fleet, bindings) = (input("fleet.yaml"), input("scheduled.yaml"));
    let files = ["schedule", "-q", "-f", &fleet, "-f", &bindings];
    let profile = ["--profile", "profiles/rival.toml"];
    let in_home = |arguments: &[&str]| {
        let output = divvy(arguments).current_dir(home.path()).output();
        let output = output.expect("the binary can be started");
        let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let recorded = in_home(&[&files[..], &profile, &["--record", "profiles/recording.jsonl"]].concat());
    assert_eq!(recorded.0, Some(0), "{}", recorded.2);
    let passed = (Some(0), "2 passed, 0 failed\n".to_owned(), String::new());
    let recording = home.path().join("profiles/recording.jsonl").display().to_string();
    assert_eq!(run(&["replay", &recording]), passed);
    // The same profile by its relative path is still the recorded one.
    assert_eq!(in_home(&[&["replay", &recording][..], &profile].concat()), passed);
}
