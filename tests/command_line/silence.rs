//! Nothing is ignored silently: empty input, misspelt names, and recordings that go somewhere unusual.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use snapbox::str;

use super::{check, divvy, run};

const RECORD: [&str; 6] = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "--record"];

/// Records into a path. Returns the exit code.
fn record(path: &Path) -> Option<i32> {
    let path = path.display().to_string();
    let arguments: Vec<&str> = RECORD.into_iter().chain([path.as_str()]).collect();
    run(&arguments).0
}

#[test]
fn empty_input_exits_with_2() {
    check(
        &["schedule", "-f", "-", "-f", "fleet.yaml"],
        2,
        "",
        str![[r#"
warning: `-` holds no object
error: the input holds no object
  hint: standard input is empty: did the command that writes to it fail?
error: 1 problem in the input; nothing is scheduled

"#]],
    );
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().display().to_string();
    let (exit, stdout, stderr) = run(&["schedule", "-f", &path]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("error: the input holds no object\n"), "{stderr}");
}

#[test]
fn misspelt_fields_are_refused_unless_the_mode_accepts_them() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let policy = folder.path().join("policy.yaml");
    let text = "\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinty: {clusterNames: [east-1]}
";
    fs::write(&policy, text).expect("the file can be written");
    let path = policy.display().to_string();
    let schedule = ["schedule", "-f", "fleet.yaml", "-f", &path];
    let (exit, stdout, stderr) = run(&schedule);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    let expected = format!(
        "\
error: {path}:7: spec.placement: unknown key `clusterAffinty`
  in: PropagationPolicy default/p (document 1)
  hint: did you mean `clusterAffinity`?
error: 1 problem in the input; nothing is scheduled
"
    );
    assert_eq!(stderr, expected);
    for (mode, warnings) in [("warn", 1), ("ignore", 0)] {
        let arguments: Vec<&str> = schedule.into_iter().chain(["--validate", mode]).collect();
        let (exit, _, stderr) = run(&arguments);
        assert_eq!(exit, Some(0), "{mode}: {stderr}");
        assert_eq!(
            stderr.matches("unknown key `clusterAffinty`").count(),
            warnings,
            "{mode}: {stderr}"
        );
    }
}

#[test]
fn a_recording_follows_links_and_keeps_permissions() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (target, link) = (folder.path().join("target.jsonl"), folder.path().join("link.jsonl"));
    symlink("target.jsonl", &link).expect("a link can be made");
    assert_eq!(record(&link), Some(0), "the target does not exist yet");
    fs::write(&target, "old").expect("the file can be written");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("permissions can be set");
    assert_eq!(record(&link), Some(0));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&target).is_ok_and(|text| text.contains("\"Case\"")));
    let mode = |path: &Path| fs::metadata(path).map(|file| file.permissions().mode() & 0o777).ok();
    assert_eq!(mode(&target), Some(0o640));
    // A new file has the permissions of any new file of this process.
    let (fresh, other) = (folder.path().join("fresh.jsonl"), folder.path().join("other"));
    fs::write(&other, "").expect("the file can be written");
    assert_eq!(record(&fresh), Some(0));
    assert_eq!(mode(&fresh), mode(&other));
}

#[test]
fn a_recording_is_written_into_a_pipe_and_to_standard_output() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe can be made");
    let arguments: Vec<&str> = RECORD
        .into_iter()
        .chain([pipe.to_str().expect("it is UTF-8")])
        .collect();
    let mut child = divvy(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut text = String::new();
    let read = fs::File::open(&pipe).and_then(|mut pipe| pipe.read_to_string(&mut text));
    assert!(read.is_ok());
    assert!(child.wait().is_ok_and(|exit| exit.success()));
    assert!(text.contains("\"Case\""), "{text}");
    assert!(fs::metadata(&pipe).is_ok_and(|file| file.file_type().is_fifo()));
    // With `-`, the recording takes the place of the result.
    for path in ["-", "/dev/stdout"] {
        let arguments: Vec<&str> = RECORD.into_iter().chain([path]).collect();
        let (exit, stdout, _) = run(&arguments);
        assert_eq!(exit, Some(0));
        assert_eq!(stdout, text, "{path}");
    }
    assert!(!folder.path().join("-").exists() && !super::folder().join("-").exists());
    let (exit, _, stderr) = {
        let arguments: Vec<&str> = RECORD.into_iter().chain(["/dev/full"]).collect();
        run(&arguments)
    };
    assert_eq!(exit, Some(2), "{stderr}");
    assert!(fs::metadata("/dev/full").is_ok_and(|file| file.file_type().is_char_device()));
}

#[test]
fn a_recording_that_unpacks_to_too_much_is_refused_while_it_is_read() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bomb.jsonl.gz");
    let mut packed = flate2::write::GzEncoder::new(
        fs::File::create(&file).expect("the file can be made"),
        flate2::Compression::best(),
    );
    let block = vec![b' '; 1 << 20];
    for _ in 0..300 {
        std::io::Write::write_all(&mut packed, &block).expect("it can be written");
    }
    packed.finish().expect("it can be written");
    let (exit, _, stderr) = run(&["replay", &file.display().to_string()]);
    assert_eq!(exit, Some(2));
    assert!(stderr.contains(":1: larger than 268435456 bytes"), "{stderr}");
}

/// Runs `divvy schedule` on the fleet and a file with this text. Returns the path and what was printed.
fn schedule(name: &str, text: &str, arguments: &[&str]) -> (String, (Option<i32>, String, String)) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("the file can be written");
    let path = path.display().to_string();
    let ran = run(&[&["schedule", "-f", "fleet.yaml", "-f", &path], arguments].concat());
    (path, ran)
}

/// A Deployment and a policy with these preferences.
fn with_preferences(preferences: &str) -> String {
    format!(
        "\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {{name: p, namespace: shop, annotations: {{divvy.io/strategy: Specified, divvy.io/preferences: '{preferences}'}}}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment}}]
  placement: {{replicaScheduling: {{replicaSchedulingType: Divided}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec: {{replicas: 3}}
"
    )
}

#[test]
fn an_unknown_key_of_preferences_is_named_with_its_location_and_the_nearest_list() {
    let text = with_preferences(r#"{"specifiedCluster":[{"name":"west-1","replicas":3}]}"#);
    let (path, (exit, stdout, _)) = schedule("spec.yaml", &text, &[]);
    assert_eq!(exit, Some(2));
    let rows = format!(
        "\
  PropagationPolicy shop/p's `divvy.io/preferences`: plugin `specified`: unknown key `specifiedCluster`
  hint: did you mean `specifiedClusters`?
  in {path}:3; policy PropagationPolicy shop/p; binding in {path}:8
"
    );
    assert!(stdout.contains(&rows), "{stdout}");
    let (_, stdout, _) = run(&["plugin", "show", "specified", "--load"]);
    assert!(
        stdout.ends_with("divvy.io/preferences: reads the lists above, and no other key\n"),
        "{stdout}"
    );
}

#[test]
fn a_template_is_recognised() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n";
    let (path, (exit, _, stderr)) = schedule("helm.yaml", text, &[]);
    assert_eq!(exit, Some(2));
    let expected = format!(
        "\
error: {path}:4: metadata.name: expected a word as key, got a list, mapping or alias
  in: document 1
  hint: this is a template: render it first, for instance with `helm template`
"
    );
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn an_empty_list_of_a_go_program_has_no_objects() {
    for (name, text) in [
        ("list.json", r#"{"apiVersion": "v1", "kind": "List", "items": null}"#),
        (
            "list.yaml",
            "apiVersion: cluster.karmada.io/v1alpha1\nkind: ClusterList\nitems:\n",
        ),
    ] {
        let (_, (exit, stdout, stderr)) = schedule(name, text, &["-f", "scheduled.yaml"]);
        assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{name}: {stdout}");
    }
}

#[test]
fn a_path_that_is_too_deep_is_cut_short() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let text = format!(r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "a"}}, "data": {deep}}}"#);
    let (path, (_, _, stderr)) = schedule("deep.json", &text, &[]);
    let start = format!("error: {path}:1: data[0][0][0]: nested deeper than 120 levels\n");
    assert!(stderr.starts_with(&start), "{stderr}");
}

#[test]
fn verbose_runs_give_reasons_then_everything() {
    let at = |flag: &str| {
        run(&[
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "-o",
            "json",
            flag,
        ])
    };
    let (_, quiet, _) = run(&["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "-o", "json"]);
    let (_, progress, log) = at("-v");
    assert!(log.contains("decided bindings=3") && !log.contains("reason="), "{log}");
    let (_, reasons, log) = at("-vv");
    assert!(
        log.contains(r#"binding="shop/agent-deployment" plugin="taint-toleration" reason="cluster(s) had"#),
        "{log}"
    );
    assert!(!log.contains("considered"), "{log}");
    let (_, everything, log) = at("-vvv");
    let considered = r#"considered binding="shop/cart-deployment" cluster="west-1" score=100 fits_now=16 last=5"#;
    assert!(log.contains(considered), "{log}");
    for output in [progress, reasons, everything] {
        assert_eq!(output, quiet, "the data is the same");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let full = fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("the device is there");
    let status = divvy(&["--help"]).stdout(full).stderr(Stdio::null()).status();
    assert_eq!(status.expect("it can be started").code(), Some(3));
}

#[test]
fn the_case_of_a_strategy_does_not_matter_on_the_command_line() {
    let with = |strategy: &str| {
        run(&[
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "--strategy",
            strategy,
        ])
    };
    assert_eq!(with("average"), with("Average"));
}
