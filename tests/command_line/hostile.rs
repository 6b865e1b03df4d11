//! Input that is broken or deceptive, or that would overwrite a file.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::run;

/// A folder with the fleet and its bindings.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for name in ["fleet.yaml", "scheduled.yaml"] {
        let text = fs::read(super::folder().join(name)).expect("the fixture is there");
        fs::write(folder.path().join(name), text).expect("the file can be written");
    }
    folder
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_recording_never_replaces_what_was_read() {
    let folder = copied();
    let input = folder.path().join("scheduled.yaml");
    let before = fs::read(&input).expect("the file is there");
    let link = folder.path().join("link.jsonl");
    std::os::unix::fs::symlink("scheduled.yaml", &link).expect("a link can be made");
    for target in [&input, &link] {
        let (exit, stdout, stderr) = run(&["schedule", "-f", &text(folder.path()), "--record", &text(target)]);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
        let expected = format!(
            "error: `--record {}` would replace `{}`, which was read\n  hint: name another file for the recording\n",
            target.display(),
            input.display()
        );
        assert!(stderr.ends_with(&expected), "{stderr}");
        assert!(
            fs::read(&input).is_ok_and(|after| after == before),
            "the input is as it was"
        );
    }
}

#[test]
fn a_recording_that_replaces_a_file_is_reported() {
    let folder = copied();
    let (target, input) = (text(&folder.path().join("r.jsonl")), text(folder.path()));
    let record = || run(&["schedule", "-f", &input, "--record", &target]);
    let (exit, _, stderr) = record();
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(!stderr.contains("replaced"), "{stderr}");
    let (_, _, stderr) = record();
    assert!(stderr.contains(&format!("note: replaced `{target}`\n")), "{stderr}");
}

#[test]
fn an_exit_code_for_an_error_never_comes_without_the_error() {
    let schedule = ["schedule", "-f", "fleet.yaml", "-f", "meaningless.yaml"];
    let of_kind = [
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "meaningless.yaml",
        "shop/payments-deployment",
    ];
    for (command, more) in [
        (&schedule[..], &["-q"][..]),
        (&schedule, &["-o", "name"]),
        (&schedule, &["-o", "jsonpath={.bindings[*].result}"]),
        (&schedule, &["--cluster", "east-1"]),
        (&of_kind, &[]),
    ] {
        let (exit, _, stderr) = run(&[command, more].concat());
        assert_eq!(exit, Some(2), "{more:?}: {stderr}");
        assert!(
            stderr.contains("error: no loaded plugin serves the strategy `Avrage`")
                && stderr.contains(
                    "\n  in: shop/batch-deployment (meaningless.yaml:19; policy PropagationPolicy shop/batch; binding in meaningless.yaml:2)\n"
                ),
            "{more:?}: {stderr}"
        );
    }
    // The table has them.
    let (_, stdout, stderr) = run(&schedule);
    assert!(stdout.contains("`Avrage`") && !stderr.contains("error:"), "{stderr}");
}

#[test]
fn a_pipe_in_a_folder_is_left_out_with_a_warning() {
    let folder = copied();
    let pipe = folder.path().join("pipe.yaml");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a pipe can be made");
    let (exit, _, stderr) = run(&["schedule", "-f", &text(folder.path())]);
    assert_eq!(exit, Some(0), "{stderr}");
    let expected = format!("warning: `{}` is not a regular file and is left out\n", pipe.display());
    assert!(stderr.contains(&expected), "{stderr}");
}

/// A fleet whose names have characters that a terminal obeys.
fn deceptive(folder: &Path) -> String {
    let cluster = json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m\u{202e}1"},
        "status": {
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
            "conditions": [{"type": "Ready", "status": "True"}],
            "resourceSummary": {"allocatable": {"cpu": "10", "pods": "100", "example.com/g\u{202e}pu": "10"}},
        },
    });
    let binding = json!({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": "web\u{1b}[31m\u{202e}", "namespace": "shop"},
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "replicas": 3,
            "replicaRequirements": {"resourceRequest": {"example.com/g\u{202e}pu": "3"}},
            "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}},
        },
    });
    let file = folder.join("deceptive.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [cluster, binding]});
    fs::write(&file, list.to_string()).expect("the file can be written");
    text(&file)
}

/// The first character that a terminal or a browser would obey.
fn obeyed(text: &str) -> Option<char> {
    let is_obeyed = |character: &char| {
        character.is_control() && !matches!(character, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(character)
    };
    text.chars().find(is_obeyed)
}

#[test]
fn control_characters_of_manifests_reach_no_output() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = deceptive(folder.path());
    for output in [
        "table",
        "wide",
        "name",
        "json",
        "yaml",
        "jsonpath={.bindings[*].binding} {.bindings[*].clusters}",
        "html",
    ] {
        let (exit, stdout, stderr) = run(&["schedule", "-f", &file, "-o", output]);
        assert_eq!(exit, Some(0), "{output}: {stderr}");
        assert!(stdout.len() > 10, "{output}: {stdout}");
        assert_eq!(obeyed(&stdout), None, "{output}");
        assert_eq!(obeyed(&stderr), None, "{output}: {stderr}");
    }
    // The escapes mean what was read.
    let (_, stdout, _) = run(&["schedule", "-f", &file, "-o", "json"]);
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let rows = &document["bindings"];
    assert_eq!(rows[0]["binding"], "shop/web\u{1b}[31m\u{202e}");
    assert_eq!(rows[0]["clusters"][0]["name"], "m\u{202e}1");
}

#[test]
fn control_characters_of_arguments_reach_no_message() {
    let deceptive = "x\u{1b}[31m\u{202e}";
    for arguments in [
        vec!["schedule", "-f", "fleet.yaml", "-o", deceptive],
        vec!["schedule", "-f", "fleet.yaml", "--time", deceptive],
        vec!["schedule", "-f", "fleet.yaml", "-o", "jsonpath={.x\u{202e}"],
        vec!["diff", "-f", "fleet.yaml", "--max-moved", deceptive],
        vec!["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--drain", deceptive],
        vec!["schedule", deceptive],
        vec![deceptive],
    ] {
        let (exit, stdout, stderr) = run(&arguments);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
        assert_eq!(obeyed(&stderr), None, "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_recording_that_unpacks_to_nothing_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("bomb.jsonl.gz");
    let out = fs::File::create(&file).expect("the file can be made");
    let mut packed = GzEncoder::new(out, Compression::fast());
    let lines = vec![b'\n'; 1 << 20];
    for _ in 0..128 {
        packed.write_all(&lines).expect("the file can be written");
    }
    packed.finish().expect("the file can be written");
    let started = Instant::now();
    let (exit, _, stderr) = run(&["replay", &text(&file)]);
    assert_eq!(exit, Some(2), "{stderr}");
    assert!(stderr.contains("more than 100000 blank lines in a row"), "{stderr}");
    // All of them took this long for a hundredth of the lines.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn bytes_that_are_not_text_are_reported_with_their_line() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let manifest = folder.path().join("nul.yaml");
    fs::write(&manifest, b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\0}\n").expect("it can be written");
    let (exit, _, stderr) = run(&["schedule", "-f", &text(&manifest)]);
    assert_eq!(exit, Some(2));
    let expected = "is not text: it contains a NUL byte\n  hint: the first one is on line 3\n";
    assert!(stderr.contains(expected), "{stderr}");
    let profile = folder.path().join("profile.toml");
    fs::write(&profile, b"[[profile]]\nname = \"\xff\"\n").expect("it can be written");
    let (exit, _, stderr) = run(&["schedule", "-f", "fleet.yaml", "--profile", &text(&profile)]);
    assert_eq!(exit, Some(2));
    let expected = format!(
        "error: {}:2: the profile is not UTF-8: byte 20 is not valid\n",
        profile.display()
    );
    assert_eq!(stderr, expected);
}

#[test]
fn a_name_that_no_api_server_accepts_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("web.yaml");
    let manifest = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: \"{name}\", namespace: shop}}\nspec: {{replicas: 2}}\n"
        )
    };
    for (name, is_refused) in [
        ("web", false),
        ("w\u{435}b", true),
        ("web/1", true),
        ("Web", true),
        ("web\u{202e}", true),
    ] {
        fs::write(&file, manifest(name)).expect("the file can be written");
        let arguments = [
            "schedule",
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "-f",
            &text(&file),
        ];
        let (exit, _, stderr) = run(&arguments);
        assert_eq!(exit, Some(0), "{stderr}");
        let expected =
            "warning: an API server would refuse this name\n  hint: names consist of lower-case Latin letters";
        assert_eq!(stderr.contains(expected), is_refused, "{name}: {stderr}");
        let (_, _, stderr) = run(&[&arguments[..], &["--validate", "ignore"]].concat());
        assert!(!stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn a_star_chooses_a_cluster_with_a_slash_in_its_name() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("fleet.yaml");
    let fleet = fs::read_to_string(super::folder().join("fleet.yaml")).expect("the fixture is there");
    fs::write(&file, fleet.replace("east-1", "east/1")).expect("the file can be written");
    let (exit, stdout, stderr) = run(&[
        "schedule",
        "-f",
        &text(&file),
        "-f",
        "unschedulable.yaml",
        "--cluster",
        "east*",
    ]);
    assert_eq!(exit, Some(1), "{stderr}");
    assert!(stdout.contains("east/1") && stdout.contains("east-2"), "{stdout}");
}

#[test]
fn objects_that_cannot_be_read_are_left_out_on_request() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("flink.yaml");
    // The memory is valid neither for Flink nor for Kubernetes.
    let broken = "\
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {name: web, namespace: shop}
spec: {jobManager: {replicas: 1, resource: {cpu: 1, memory: two}}, taskManager: {replicas: 1, resource: {cpu: 1, memory: 2g}}}
---
";
    let binding = "\
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-flinkdeployment, namespace: shop}
spec:
  resource: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, namespace: shop, name: web}
  replicas: 3
  replicaRequirements: {resourceRequest: {cpu: \"1\"}}
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}
";
    fs::write(&file, [broken, binding].concat()).expect("the file can be written");
    let file = text(&file);
    for command in ["schedule", "diff", "headroom"] {
        let arguments = [command, "-f", "fleet.yaml", "-f", &file];
        let (exit, stdout, stderr) = run(&arguments);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{command}: {stderr}");
        let (exit, stdout, stderr) = run(&[&arguments[..], &["--keep-going"]].concat());
        assert_eq!(exit, Some(2), "{command}: {stderr}");
        assert!(
            stdout.contains("shop/web-flinkdeployment") && stdout.contains("Aggregated"),
            "{command}: {stdout}"
        );
        assert!(
            stderr.contains("in FlinkDeployment shop/web") || stderr.contains("in: FlinkDeployment shop/web"),
            "{stderr}"
        );
        assert!(
            stderr.contains(" in the input; ") && stderr.contains(" left out"),
            "{command}: {stderr}"
        );
    }
    // Nothing is wrong with the rest.
    let whole = ["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml", "--keep-going"];
    assert_eq!(run(&whole).0, Some(0));
}

/// A script sees from the document alone that it is not of everything.
#[test]
fn what_is_left_out_is_counted_in_the_totals() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("more.yaml");
    // Two objects, one with two problems.
    let deployment = |name: &str, requests: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  replicas: 1\n  template: \
             {{spec: {{containers: [{{name: c, resources: {{requests: {requests}}}}}]}}}}\n"
        )
    };
    let policy = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec:\n  \
                  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]\n  placement: {}\n";
    let objects = [
        policy.to_owned(),
        deployment("one", "{cpu: 2gx, memory: 3gx}"),
        deployment("two", "{cpu: x}"),
    ];
    fs::write(&file, objects.concat()).expect("the file can be written");
    let file = text(&file);
    for (command, more) in [
        ("schedule", &[][..]),
        ("schedule", &["--cluster", "west-1"]),
        ("diff", &[]),
        ("diff", &["--cluster", "west-1"]),
        ("diff", &["--without-each", "cluster"]),
        ("headroom", &[]),
        ("survive", &[]),
        ("policies", &[]),
    ] {
        let of = |more: &[&str]| {
            let (exit, stdout, stderr) =
                run(&[&[command, "-f", "fleet.yaml", "-f", "dump.yaml"], more, &["-o", "json"]].concat());
            let document: Value =
                serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{command}: {error}: {stderr}"));
            (exit, stderr, document)
        };
        let (exit, stderr, document) = of(&[more, &["-f", &file, "--keep-going"]].concat());
        assert_eq!(exit, Some(2), "{command}: {stderr}");
        assert_eq!(
            document["totals"]["leftOut"], 2,
            "{command} {more:?}: {}",
            document["totals"]
        );
        assert!(
            stderr.contains("error: 3 problems in the input; 2 objects are left out\n"),
            "{command}: {stderr}"
        );
        if command == "policies" {
            continue;
        }
        let (_, _, document) = of(more);
        assert_eq!(document["totals"]["leftOut"], 0, "{command} {more:?}");
        assert_eq!(document["pending"]["leftOut"], Value::Null);
    }
}

/// A dump of `kubectl get -o json` without spaces is one line, so that the number of a line says nothing.
#[test]
fn an_error_in_a_dump_of_one_line_names_the_object_and_the_column() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("broken.json");
    let item = |name: &str, replicas: &str| {
        format!(
            r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{name}","namespace":"shop"}},"spec":{{"replicas":{replicas}}}}}"#
        )
    };
    let refused = |replicas: &str| {
        let items = [item("a", "1"), item("b", replicas), item("c", "1")].join(",");
        let dump = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{items}]}}"#);
        fs::write(&file, &dump).expect("the file can be written");
        let (exit, _, stderr) = run(&["schedule", "-f", &text(&file)]);
        assert_eq!(exit, Some(2), "{stderr}");
        (dump, stderr.replace(&text(&file), "broken.json"))
    };
    let (dump, stderr) = refused("tru");
    // The character after the word, which may have gone on.
    let column = dump.find("tru}").map(|at| at + 4);
    assert_eq!(
        stderr,
        format!(
            "error: broken.json:1: items[1].spec.replicas: not valid JSON: `tru`: EOF while parsing a value (column {})\n  in: Deployment \
             shop/b (document 1)\nerror: 1 problem in the input; nothing is scheduled\n",
            column.unwrap_or_default()
        )
    );
    let (_, stderr) = refused("\"two\"");
    assert!(stderr.contains("\n  in: Deployment shop/b (document 1)\n"), "{stderr}");
}

/// Whoever can replace a plugin decides, so everyone's folder is reported, and refused by the scheduler of a control plane.
#[test]
fn files_that_others_can_replace_are_reported_and_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = copied();
    let (plugins, profile) = (folder.path().join("plugins"), folder.path().join("profile.toml"));
    fs::create_dir(&plugins).expect("a folder can be made");
    let library = "libdivvy_plugin_average.so";
    fs::copy(crate::artifacts::plugin("average"), plugins.join(library)).expect("the plugin is built");
    fs::write(&profile, "[[profile]]\nname = 'p'\nextends = 'default'\n").expect("the file can be written");
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the permissions are set");
    };
    let (profile_argument, plugins_argument) = (text(&profile), text(&plugins));
    let arguments = ["--profile", &profile_argument, "--plugin-directory", &plugins_argument];
    let input = text(&folder.path().join("fleet.yaml"));
    let schedule = || run(&[&["schedule", "-f", &input][..], &arguments].concat());
    // Nothing listens there, and nothing gets that far.
    let kubeconfig = ["run", "--kubeconfig", "/does/not/exist"];
    let scheduler = |more: &[&str]| run(&[&kubeconfig[..], &arguments, more].concat());
    let said = "can be replaced by others: ";

    let (exit, _, log) = schedule();
    assert_eq!((exit, log.contains(said)), (Some(0), false), "{log}");
    let (exit, _, log) = scheduler(&[]);
    assert_eq!((exit, log.contains(said)), (Some(2), false), "{log}");

    mode(&plugins, 0o777);
    mode(&profile, 0o666);
    let everyone = [
        format!(
            "`{}` {said}the folder `{}` can be written by every user",
            plugins.join(library).display(),
            plugins.display()
        ),
        format!("`{}` {said}it can be written by every user", profile.display()),
    ];
    let (exit, _, log) = schedule();
    assert_eq!(exit, Some(0), "{log}");
    for message in &everyone {
        assert!(log.contains(message), "{log}");
    }
    let (exit, _, log) = scheduler(&[]);
    assert_eq!(exit, Some(2), "{log}");
    for message in &everyone {
        assert!(log.contains(&format!("error: {message}")), "{log}");
    }
    assert!(log.contains("or pass `--allow-replaceable-files`"), "{log}");
    // Then only the kubeconfig is missing.
    let (exit, _, log) = scheduler(&["--allow-replaceable-files"]);
    assert_eq!(exit, Some(2), "{log}");
    assert!(log.contains("/does/not/exist") && !log.contains("error: `"), "{log}");
}
