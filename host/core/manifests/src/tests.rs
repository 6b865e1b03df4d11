//! The reader, on well-formed, malformed and hostile input.

use std::io::Cursor;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Input, Manifests, ReadOptions, read, read_text};

fn parse(text: &str) -> Manifests {
    read_text("f.yaml", text, &ReadOptions::default())
}

/// The problems, one per line.
fn problems(manifests: &Manifests) -> String {
    let all: Vec<String> = manifests.problems.iter().map(ToString::to_string).collect();
    all.join("\n")
}

#[track_caller]
fn check_problems(text: &str, expected: &str) {
    assert_eq!(problems(&parse(text)), expected.trim());
}

/// The rows `input => expected` of a table. A written `\n` in an input is a line break.
fn rows(table: &str) -> impl Iterator<Item = (String, &str)> {
    table.trim().lines().map(|row| {
        let (input, expected) = row.trim().split_once(" => ").expect("a row has an arrow");
        (input.replace(r"\n", "\n"), expected)
    })
}

const CLUSTER: &str = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m1}\n";

#[test]
fn documents_of_one_file_keep_their_numbers_and_lines() {
    let text = format!(
        "# first\n---\n{CLUSTER}---\n\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n"
    );
    let manifests = parse(&text);
    assert_eq!(problems(&manifests), "");
    let cluster = &manifests.clusters[0].source;
    assert_eq!((cluster.document, cluster.line), (1, 3));
    let resource = &manifests.resources[0];
    assert_eq!((resource.source.document, resource.source.line), (2, 10));
    assert_eq!(resource.object.resource.metadata.namespace, "default");
}

#[test]
fn json_of_every_shape_is_read() {
    let one = r#"{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m1"}}"#;
    let two = r#"{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m2"}}"#;
    let untyped = r#"{"metadata":{"name":"m1"}}, {"metadata":{"name":"m2"}}"#;
    for text in [
        format!("{one}\n{two}"),
        format!("{one}{two}"),
        format!("---\n{one}\n---\n{two}\n"),
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{one},{two}]}}"#),
        format!(r#"{{"kind":"ClusterList","apiVersion":"cluster.karmada.io/v1alpha1","items":[{untyped}]}}"#),
        "{apiVersion: v1, kind: List, items: [ {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m1}},\n {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m2}}]}".to_owned(),
    ] {
        let manifests = parse(&text);
        assert_eq!(problems(&manifests), "", "{text}");
        let names: Vec<_> = manifests.clusters.iter().map(|cluster| cluster.object.metadata.name.as_str()).collect();
        assert_eq!(names, ["m1", "m2"], "{text}");
        assert_eq!(manifests.clusters[0].object.kind, "Cluster");
    }
}

#[test]
fn every_problem_of_every_document_is_listed() {
    check_problems(
        "apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  name: m1
  labels:
    gpu: true
spec:
  zones: z1
  taints:
    - key: a
      effect: Never
status:
  resourceSummary:
    allocatable:
      cpu: 10 cores
      memory: [1]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: \"3\"
  template:
    spec:
      containers:
        - resources:
            requests: {cpu: lots}
---
kind: Deployment
metadata: {name: x}
---
a: [1
---
apiVersion: work.karmada.io/v1alpha1
kind: ResourceBinding
metadata: {name: b}
",
        r#"
f.yaml: document 1, line 6: Cluster m1: metadata.labels.gpu: expected a string, got the boolean `true`
f.yaml: document 1, line 8: Cluster m1: spec.zones: expected a list, got the string "z1"
f.yaml: document 1, line 15: Cluster m1: status.resourceSummary.allocatable.cpu: `10 cores` is not a quantity: unknown suffix, expected `n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, `E`, `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei` or an exponent like `e3`
f.yaml: document 1, line 16: Cluster m1: status.resourceSummary.allocatable.memory: expected a quantity like `500m` or `2Gi`, got a list
f.yaml: document 1, line 11: Cluster m1: spec.taints[0].effect: expected one of `NoSchedule`, `PreferNoSchedule`, `NoExecute`, got `Never`
f.yaml: document 2, line 23: Deployment default/web: spec.replicas: expected a whole number from -2147483648 to 2147483647, got the string "3"
f.yaml: document 2, line 28: Deployment default/web: spec.template.spec.containers[0].resources.requests.cpu: `lots` is not a quantity: it has no digits
f.yaml: document 3, line 30: apiVersion: missing: expected `apiVersion`
f.yaml: document 4, line 34: a: not valid YAML: while parsing a flow sequence, expected ',' or ']' (column 1)
f.yaml: document 5, line 35: apiVersion: expected `work.karmada.io/v1alpha2` for the kind `ResourceBinding`, got `work.karmada.io/v1alpha1`
"#,
    );
}

#[test]
fn wrong_types_at_every_level_are_problems_and_never_panics() {
    let valid: Value = serde_json::from_str(
        r#"{"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"p","labels":{"a":"b"}},
            "spec":{"priority":1,"resourceSelectors":[{"apiVersion":"v1","kind":"Pod","labelSelector":{"matchLabels":{"a":"b"}}}],
            "placement":{"clusterAffinity":{"clusterNames":["m"]},"spreadConstraints":[{"minGroups":1}],
            "replicaScheduling":{"weightPreference":{"staticWeightList":[{"targetCluster":{"exclude":["m"]},"weight":1}]}}}}}"#,
    )
    .unwrap();
    let mut pointers = Vec::new();
    collect(&valid, String::new(), &mut pointers);
    assert!(pointers.len() > 20);
    for pointer in &pointers {
        for wrong in [json!([[]]), json!({"x": {"y": 1}}), json!(true), json!(-1.5)] {
            let mut broken = valid.clone();
            *broken.pointer_mut(pointer).unwrap() = wrong.clone();
            let text = broken.to_string();
            let as_json = parse(&text).problems.len();
            // The comment makes the same text flow YAML, which the other parser reads.
            let as_yaml = parse(&format!("# not JSON\n{text}")).problems.len();
            assert_eq!(as_json, as_yaml, "{pointer} {wrong}");
            let is_object_of_anything = pointer.ends_with("/a") || wrong.is_object();
            assert!(is_object_of_anything || as_json > 0, "{pointer} {wrong}");
        }
    }
}

/// Pointers to all values below the root.
fn collect(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), field)).collect(),
        Value::Array(items) => (0..)
            .zip(items)
            .map(|(index, item): (usize, _)| (index.to_string(), item))
            .collect(),
        _ => Vec::new(),
    };
    for (key, value) in below {
        let pointer = format!("{pointer}/{key}");
        pointers.push(pointer.clone());
        collect(value, pointer, pointers);
    }
}

#[test]
fn selectors_follow_kubernetes_and_karmada() {
    let json = r#"{"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":"p"},
"spec":{"resourceSelectors":[{"kind":"Pod","labelSelector":{"matchExpressions":[
{"key":"a","operator":"Exists","values":["x"]},
{"key":"","operator":"Gt","values":["1"]}]}}],
"placement":{"clusterAffinity":{"fieldSelector":{"matchExpressions":[
{"key":"rack","operator":"Exists"},
{"key":"region","operator":"In"}]}},
"clusterAffinities":[{"affinityName":"a"},{"affinityName":"a"}],
"spreadConstraints":[{"spreadByField":"rack"},
{"spreadByField":"region","spreadByLabel":"x","minGroups":3,"maxGroups":2}],
"clusterTolerations":[{"operator":"Exists","value":"v"},
{"operator":"Some","key":"k"}]}}}"#;
    let expected = "
2: resourceSelectors[0].apiVersion: missing: expected an API version like `apps/v1`
4: resourceSelectors[0].labelSelector.matchExpressions[1].key: missing: expected a label's key
6: placement.clusterAffinity.fieldSelector.matchExpressions[0].key: invalid selector: \
    expected one of `provider`, `region`, `zone`, got `rack`
6: placement.clusterAffinity.fieldSelector.matchExpressions[0].operator: invalid selector: \
    expected one of `In`, `NotIn`, got `Exists`
8: placement.clusterAffinities: `clusterAffinity` and `clusterAffinities` cannot both be given
8: placement.clusterAffinities[1].affinityName: the group `a` is given twice
12: placement.clusterTolerations[1].operator: expected one of `Equal`, `Exists`, got `Some`
9: placement.spreadConstraints[0].spreadByField: expected one of `cluster`, `region`, `zone`, `provider`, got `rack`
10: placement.spreadConstraints[1].spreadByLabel: `spreadByField` and `spreadByLabel` cannot both be given
10: placement.spreadConstraints[1].maxGroups: expected at least `minGroups` (3), got `2`
9: placement.spreadConstraints: a constraint by `cluster` is missing, which Karmada requires beside one by `region`";
    // A comment makes it YAML, which takes the other path through the reader.
    for text in [json, &json.replacen('\n', " # not JSON\n", 1)] {
        let found = problems(&parse(text)).replace("f.yaml: document 1, line ", "");
        let found = found.replace("PropagationPolicy default/p: spec.", "");
        assert_eq!(found, expected.trim());
    }
}

#[test]
fn duplicates_name_the_first_location() {
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p";
    let other = CLUSTER.replace("m1", "m1, labels: {a: b}");
    check_problems(
        &format!("{CLUSTER}---\n{other}{pod}}}\n{pod}, namespace: default}}\n"),
        "
f.yaml: document 2, line 5: Cluster m1: given twice, first in f.yaml: document 1, line 1
f.yaml: document 4, line 13: Pod default/p: given twice, first in f.yaml: document 3, line 9",
    );
}

#[test]
fn the_same_object_twice_is_read_once() {
    let policy = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\n\
                  spec: {resourceSelectors: [{apiVersion: v1, kind: Pod}]}\n";
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
    let cluster = r#"{"kind": "Cluster", "metadata": {"name": "m1"}, "apiVersion": "cluster.karmada.io/v1alpha1"}"#;
    for keep_cluster_json in [false, true] {
        let options = ReadOptions {
            keep_cluster_json,
            ..ReadOptions::default()
        };
        // YAML and JSON of one object are the same, unless a plugin reads the JSON and would see a difference.
        let text = format!("{CLUSTER}{policy}{pod}---\n{CLUSTER}{policy}{pod}");
        let manifests = read_text("f.yaml", &text, &options);
        assert_eq!(problems(&manifests), "");
        let counts = [
            manifests.clusters.len(),
            manifests.policies.len(),
            manifests.resources.len(),
        ];
        assert_eq!(counts, [1, 1, 1]);
        let mixed = read_text("f.yaml", &format!("{CLUSTER}---\n{cluster}\n"), &options);
        assert_eq!(mixed.problems.len(), usize::from(keep_cluster_json));
    }
}

/// Most of a workload is not kept, but a difference there still makes another object.
#[test]
fn an_object_that_differs_where_nothing_is_read_is_given_twice() {
    let deployment = |image: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  \
             template: {{spec: {{containers: [{{name: web, image: {image}}}]}}}}\n"
        )
    };
    let read = |one: &str, other: &str| {
        let text = format!("{}---\n{}", deployment(one), deployment(other));
        read_text("f.yaml", &text, &ReadOptions::default())
    };
    let same = read("a:1", "a:1");
    assert_eq!((same.problems.len(), same.resources.len()), (0, 1));
    let other = read("a:1", "a:2");
    let problems: Vec<String> = other.problems.iter().map(ToString::to_string).collect();
    assert!(
        problems.len() == 1 && problems[0].contains("given twice"),
        "{problems:?}"
    );
}

#[test]
fn keys_given_twice_and_missing_names_are_problems() {
    check_problems(
        "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  labels: {}\n  labels: {}\n",
        "
f.yaml: document 1, line 4: Cluster (no name): metadata.name: missing: expected a name
f.yaml: document 1, line 5: metadata: the key `labels` is given twice, first on line 4",
    );
    check_problems(
        "{\"apiVersion\": \"cluster.karmada.io/v1alpha1\",\n\"kind\": \"Cluster\",\n\"metadata\":\n {\"labels\": {},\n  \"labels\": {}}}",
        "
f.yaml: document 1, line 5: Cluster (no name): metadata: the key `labels` is given twice, first on line 4
f.yaml: document 1, line 4: Cluster (no name): metadata.name: missing: expected a name",
    );
}

/// In every path through the reader, even those that know only some of the keys: `serde_json` would keep the last of equal keys.
#[test]
fn keys_given_twice_are_problems_in_each_kind_of_json() {
    check_problems(
        "{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"web\"},\n\"spec\": {\"replicas\": 3,\n\"replicas\": 5}}",
        "
f.yaml: document 1, line 3: Deployment default/web: spec: the key `replicas` is given twice, first on line 2",
    );
    check_problems(
        "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"c\"}, \"data\": {\"a\": \"1\",\n\"a\": \"1\"}}",
        "
f.yaml: document 1, line 2: ConfigMap default/c: data: the key `a` is given twice, first on line 1",
    );
    check_problems(
        "{\"apiVersion\": \"cluster.karmada.io/v1alpha1\", \"kind\": \"Cluster\", \"metadata\": {\"name\": \"a\",\"labels\": {\"x\": \"1\",\n\"x\": \"2\"}}}",
        "
f.yaml: document 1, line 2: Cluster a: metadata.labels: the key `x` is given twice, first on line 1",
    );
}

#[test]
fn syntax_errors_have_their_line() {
    for (text, expected) in rows(
        r#"
        {"a": 1,\n "b" 2} => 2: not valid JSON: expected `:` after the key "b", got '2' (column 6)
        {"a": 1,\n} => 2: not valid JSON: expected a key in quotes, got '}' (column 1)
        [ => 1: [0]: not valid JSON: expected a value, got the end of the input (column 1)
        {"a": "\q"} => 1: a: not valid JSON: invalid escape (column 9)
        {"a": 01} => 1: a: not valid JSON: `01`: invalid number (column 8)
        {"a": 1e999} => 1: a: not valid JSON: `1e999`: number out of range
        "#,
    ) {
        let found = problems(&read_text("f.json", &text, &ReadOptions::default()));
        assert_eq!(found, format!("f.json: document 1, line {expected}"));
    }
}

#[test]
fn documents_that_are_no_objects_are_problems() {
    for (text, expected) in rows(
        r#"
        hello => expected an object with `apiVersion` and `kind`, got the string "hello"
        - a => expected an object with `apiVersion` and `kind`, got a list
        [1] => expected an object with `apiVersion` and `kind`, got a list
        kind: 5\napiVersion: v1 => kind: expected a string, got the number `5`
        {"kind": null, "apiVersion": "v1"} => kind: missing: expected `kind`
        "#,
    ) {
        check_problems(&text, &format!("f.yaml: document 1, line 1: {expected}"));
    }
}

#[test]
fn karmadas_kinds_in_other_groups_are_resources_and_its_others_are_left_out() {
    let manifests = parse(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: a}\n---\napiVersion: remedy.karmada.io/v1alpha1\nkind: Remedy\nmetadata: {name: o}\n",
    );
    assert_eq!(
        (manifests.resources.len(), manifests.ignored, manifests.clusters.len()),
        (1, 1, 0)
    );
}

#[test]
fn nesting_and_aliases_are_bounded() {
    let depth = 200_000;
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let too_deep = "nested deeper than 120 levels";
    for (text, expected) in [
        (format!("a: {}{}", "[".repeat(depth), "]".repeat(depth)), too_deep),
        (format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)), too_deep),
        ("- ".repeat(2_000), too_deep),
        (bomb, "aliases expand to more than 8388608 bytes"),
        ("a: &a [*a]".to_owned(), ""),
    ] {
        let found = problems(&parse(&text));
        assert!(found.lines().count() == 1 && found.contains(expected), "{found}");
    }
}

#[test]
fn anchors_and_merge_keys_are_honoured() {
    let manifests = parse(
        "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: m1\n  annotations: &a {x: '1', y: '2'}\n  labels:\n    <<: *a\n    y: '3'\n",
    );
    assert_eq!(problems(&manifests), "");
    let labels = &manifests.clusters[0].object.metadata.labels;
    let of = |key: &str| labels.get(key).map(String::as_str);
    assert_eq!((of("x"), of("y")), (Some("1"), Some("3")));
}

#[test]
fn inputs_that_cannot_be_read_are_problems() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let large = [b' '; 100];
    for (name, content) in [
        ("binary.yaml", &b"kind: \xff\xfe"[..]),
        ("utf16.yaml", b"\xff\xfea\0"),
        ("large.json", &large),
        (".hidden.yaml", b"nonsense"),
        ("note.txt", b"nonsense"),
        ("sub/a.yml", CLUSTER.as_bytes()),
        ("empty.yaml", b""),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let options = ReadOptions {
        bytes_max: 99,
        ..ReadOptions::default()
    };
    let inputs = [
        Input::Path(folder.path().to_owned()),
        Input::Path(PathBuf::from("no/such")),
        Input::from("-"),
    ];
    let manifests = read(&inputs, &mut Cursor::new(CLUSTER.replace("m1", "m2")), &options);
    let prefix = folder.path().display().to_string();
    let expected = "\
`/binary.yaml` is not UTF-8: byte 6 (line 1) is not valid
`/large.json` is larger than 99 bytes
`/utf16.yaml` is not UTF-8: byte 0 (line 1) is not valid
`no/such` does not exist";
    assert_eq!(problems(&manifests).replace(&prefix, ""), expected);
    assert_eq!(manifests.clusters.len(), 2);
    assert_eq!(manifests.clusters[1].source.file.to_str(), Some("-"));
    assert_eq!(manifests.warnings.len(), 1);
    assert!(manifests.warnings[0].message.ends_with("empty.yaml` holds no object"));
}

#[test]
fn a_folder_is_read_in_the_order_of_names_through_links_and_not_in_circles() {
    use std::os::unix::fs::symlink;

    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("sub")).unwrap();
    std::fs::create_dir(path(".git")).unwrap();
    for (file, cluster) in [
        (path("z.yaml"), "m4"),
        (path("sub/b.yaml"), "m3"),
        (path("a.yaml"), "m1"),
        (path(".git/hidden.yaml"), "hidden"),
        (outside.path().join("c.yaml"), "m2"),
    ] {
        std::fs::write(file, CLUSTER.replace("m1", cluster)).unwrap();
    }
    symlink(outside.path(), path("linked")).unwrap();
    symlink(folder.path(), path("sub/circle")).unwrap();
    symlink("nowhere", path("gone.yaml")).unwrap();
    let inputs = [Input::Path(folder.path().to_owned())];
    let manifests = read(&inputs, &mut std::io::empty(), &ReadOptions::default());
    let names = manifests
        .clusters
        .iter()
        .map(|cluster| cluster.object.metadata.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["m1", "m2", "m3", "m4"]);
    let prefix = folder.path().display().to_string();
    let expected = "\
`/gone.yaml` cannot be read: No such file or directory (os error 2)
`/sub/circle` cannot be read: it leads back to a folder that it is in";
    assert_eq!(problems(&manifests).replace(&prefix, ""), expected);
}

#[test]
fn an_endless_device_is_not_read_to_the_limit() {
    // Each would take two gigabytes until the limit.
    for (byte, expected) in [
        (0, "`-` is not text: it contains a NUL byte"),
        (0xff, "`-` is not UTF-8: byte 0 (line 1) is not valid"),
    ] {
        let manifests = read(&[Input::Standard], &mut std::io::repeat(byte), &ReadOptions::default());
        assert_eq!(problems(&manifests), expected);
    }
}

#[test]
fn text_may_begin_with_a_character_that_the_first_block_cuts() {
    let text = format!("# {}\n{CLUSTER}", "é".repeat(1 << 13));
    for shift in 0..4 {
        let text = format!("{}{text}", "#\n".repeat(shift)).replacen('#', "# ", shift);
        let manifests = read(&[Input::Standard], &mut Cursor::new(text), &ReadOptions::default());
        assert_eq!(problems(&manifests), "");
        assert_eq!(manifests.clusters.len(), 1);
    }
}

#[test]
fn an_input_without_objects_is_a_problem() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let inputs = [Input::Path(folder.path().to_owned())];
    let manifests = read(&inputs, &mut std::io::empty(), &ReadOptions::default());
    assert_eq!(problems(&manifests), "the input holds no object");
    // A failed command writes nothing, so standard input must not be empty even beside other files.
    let cluster = Input::Text("m.yaml".into(), CLUSTER.to_owned());
    for inputs in [vec![Input::Standard], vec![cluster, Input::Standard]] {
        let manifests = read(&inputs, &mut std::io::empty(), &ReadOptions::default());
        assert_eq!(problems(&manifests), "the input holds no object");
        assert!(manifests.problems[0].hint.is_some());
    }
    // An empty list is an answer.
    let list = Cursor::new(r#"{"apiVersion": "v1", "kind": "List", "items": []}"#);
    let manifests = read(&[Input::Standard], &mut { list }, &ReadOptions::default());
    assert_eq!(problems(&manifests), "");
}

#[test]
fn an_endless_input_ends() {
    let options = ReadOptions {
        bytes_max: 1_000_000,
        ..ReadOptions::default()
    };
    let manifests = read(&[Input::Standard], &mut std::io::repeat(b'a'), &options);
    assert_eq!(problems(&manifests), "`-` is larger than 1000000 bytes");
}

#[test]
fn hints_name_the_usual_slips() {
    for (spec, hint) in [
        ("metadata: {name: 5}", "put the value in quotes"),
        ("metadata: {name: a}\nspec: {replicas: '5'}", "remove the quotes"),
    ] {
        let manifests = parse(&format!("apiVersion: apps/v1\nkind: Deployment\n{spec}\n"));
        assert_eq!(manifests.problems[0].hint.as_deref(), Some(hint));
    }
}

#[test]
fn a_clusters_json_is_kept_on_request() {
    let options = ReadOptions {
        keep_cluster_json: true,
        ..ReadOptions::default()
    };
    let manifests = read_text("f.yaml", CLUSTER, &options);
    let json = manifests.clusters[0].json.as_deref();
    assert_eq!(
        json,
        Some(r#"{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":"m1"}}"#)
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        parse(&text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&[Input::Standard], &mut Cursor::new(bytes), &ReadOptions::default());
    }

    #[test]
    fn no_almost_manifest_makes_the_reader_panic(
        text in r#"(apiVersion: |kind: |v1|List|Cluster|cluster\.karmada\.io/v1alpha1|items:|metadata:|name: a|spec:|\n|\n  |\n    |- |\{|\}|\[|\]|"|'|:|,|#|&a |\*a|<<: |---\n|\| |> |!!str |[0-9]|null|~|true|é|\t){0,40}"#
    ) {
        parse(&text);
    }

    #[test]
    fn no_cut_or_flipped_manifest_makes_the_reader_panic(cut in 0_usize..2_000, at in 0_usize..2_000, byte in any::<u8>()) {
        let whole = include_str!("../../../../tests/fixtures/manifests/specified-solution-two-regions.yaml");
        let mut bytes = whole.as_bytes()[..cut.min(whole.len())].to_vec();
        if let Some(changed) = bytes.get_mut(at) {
            *changed = byte;
        }
        read(&[Input::Standard], &mut Cursor::new(bytes), &ReadOptions::default());
    }
}

#[test]
fn documents_of_a_large_file_keep_their_numbers_lines_and_order() {
    let mut text = String::new();
    let padding = "x".repeat(600);
    for number in 0..3_000 {
        // Every tenth chunk has two documents, of which one repeats an earlier object with another value.
        let twice = if number % 10 == 9 {
            format!(
                "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c{}\"}}}}\n",
                number / 2
            )
        } else {
            String::new()
        };
        text.push_str(&format!(
            "---\n{twice}{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c{number}\"}},\"data\":{{\"a\":\"{padding}\"}}}}\n"
        ));
    }
    let manifests = parse(&text);
    assert_eq!((manifests.resources.len(), manifests.problems.len()), (3_000, 300));
    for (number, resource) in manifests.resources.iter().enumerate() {
        let (source, earlier) = (&resource.source, number / 10 + usize::from(number % 10 == 9));
        assert_eq!(
            (source.document, source.line),
            (number + 1 + earlier, 2 * (number + 1) + earlier)
        );
    }
    let first = manifests.problems[299].to_string();
    assert!(first.contains("document 3299, line 6299"), "{first}");
    assert!(first.contains("document 1650, line 3150"), "{first}");
}
