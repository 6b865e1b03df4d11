//! `divvy policies`: policies that do nothing, or that name what does not exist, and bindings without their policy.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::run;
use crate::diff::schema::{committed, validate};

const POLICY: &str = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n";

/// A policy of the namespace `shop`.
fn policy(name: &str, fields: &str) -> String {
    format!("---\n{POLICY}metadata: {{name: {name}, namespace: shop}}\nspec: {{{fields}}}\n")
}

/// A selector of Deployments with further fields.
fn selector(further: &str) -> String {
    format!("resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment{further}}}]")
}

fn deployment(name: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop, labels: {{app: {name}}}}}\nspec: \
         {{replicas: 2}}\n"
    )
}

/// A binding of the namespace `shop` with these labels and annotations.
fn binding(name: &str, metadata: &str) -> String {
    format!(
        "---\napiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: {name}-deployment, namespace: \
         shop{metadata}}}\nspec:\n  resource: {{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: {name}}}\n  replicas: 2\n"
    )
}

/// Reviews a text beside the fleet, with further arguments.
fn review(text: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = write(folder.path(), text);
    run(&[&["policies", "-f", "fleet.yaml", "-f", &file], arguments].concat())
}

fn write(folder: &Path, text: &str) -> String {
    let file = folder.join("policies.yaml");
    fs::write(&file, text).expect("the file can be written");
    file.display().to_string()
}

/// The findings of a text, each as its code and its object, and the whole document.
fn findings(text: &str) -> (Vec<(String, String)>, Value) {
    let (exit, stdout, stderr) = review(text, &["-o", "json", "--severity", "info"]);
    let document: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    let schema = committed("policies.json");
    validate(&schema, &schema, &document, "policies").unwrap_or_else(|error| panic!("{error}"));
    let list = document["findings"].as_array().expect("it is a list");
    assert_eq!(exit, Some(if list.is_empty() { 0 } else { 1 }), "{stdout}");
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let found = list
        .iter()
        .map(|finding| (text(&finding["code"]), text(&finding["object"])));
    (found.collect(), document)
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) -> Value {
    let (found, document) = findings(text);
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(code, object)| (code.as_str(), object.as_str()))
        .collect();
    assert_eq!(found, expected, "{document:#}");
    document
}

#[test]
fn a_policy_that_governs_what_it_selects_has_no_findings() {
    let text = [policy("web", &selector(", name: web")), deployment("web")].concat();
    let document = check(&text, &[]);
    assert_eq!(document["totals"]["governing"], 1);
    let (exit, stdout, stderr) = review(&text, &[]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, "1 policy: 1 governs 1 binding\nno findings\n");
}

#[test]
fn policies_that_select_nothing_are_dead_with_the_reason() {
    let kind = "resourceSelectors: [{apiVersion: apps/v1, kind: Deploymnet}]";
    let version = "resourceSelectors: [{apiVersion: apps/v1beta1, kind: Deployment}]";
    let elsewhere = selector(", namespace: other");
    let text = [
        policy("kind", kind),
        policy("name", &selector(", name: webb")),
        // A file with such a selector is refused, but older webhooks have let it pass.
        policy("reach", &elsewhere).replace("namespace: shop}", "namespace: shop, resourceVersion: '1'}"),
        policy("version", version),
        policy("web", &selector(", name: web")),
        deployment("web"),
    ];
    let dead = |name| ("dead", name);
    let document = check(
        &text.concat(),
        &[
            dead("PropagationPolicy shop/kind"),
            dead("PropagationPolicy shop/name"),
            dead("PropagationPolicy shop/reach"),
            dead("PropagationPolicy shop/version"),
        ],
    );
    let expected = [
        "selects nothing: no Deploymnet (apps/v1) in the input (did you mean `Deployment`?)",
        "selects nothing: no Deployment (apps/v1) `webb` (did you mean `web`?)",
        "selects nothing: Deployment (apps/v1) in namespace `other`, which is not the policy's own",
        "selects nothing: no Deployment (apps/v1beta1) in the input, only in apps/v1",
    ];
    for (finding, expected) in document["findings"].as_array().unwrap().iter().zip(expected) {
        assert_eq!(finding["message"], expected);
        assert_eq!(finding["severity"], "warning");
        let source = finding["source"].as_str().unwrap();
        assert!(source.contains("policies.yaml:"), "{source}");
    }
    assert_eq!(document["totals"]["dead"], 4);
}

#[test]
fn precedence_is_that_of_karmada() {
    // By priority, by the precision of the selector, by name, and by scope.
    let cluster = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: \
                   {priority: 9, resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]}\n";
    for (rival, loser) in [
        (
            policy("b", &format!("priority: 1, {}", selector(""))),
            policy("a", &selector(", name: web")),
        ),
        (policy("b", &selector(", name: web")), policy("a", &selector(""))),
        (policy("a", &selector("")), policy("b", &selector(""))),
        (policy("b", &selector("")), cluster.to_owned()),
    ] {
        let text = [rival.as_str(), &loser, &deployment("web")].concat();
        let (found, document) = findings(&text);
        assert_eq!(found.len(), 1, "{document:#}");
        assert_eq!(found[0].0, "shadowed", "{document:#}");
        let winner = if rival.contains("name: a,") { "a" } else { "b" };
        assert_eq!(
            document["findings"][0]["names"],
            json!([format!("PropagationPolicy shop/{winner}")])
        );
    }
}

#[test]
fn an_earlier_claim_shadows_and_preemption_is_named() {
    let claim = ", annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: old}";
    for (preemption, expected) in [
        ("Never", "a claim lasts"),
        ("Always", "`preemption: Always` takes them"),
    ] {
        let new = policy(
            "new",
            &format!("priority: 5, preemption: {preemption}, {}", selector(", name: web")),
        );
        let text = [
            policy("old", &selector("")),
            new,
            binding("web", claim),
            deployment("web"),
        ];
        let document = check(&text.concat(), &[("shadowed", "PropagationPolicy shop/new")]);
        let finding = &document["findings"][0];
        assert_eq!(
            finding["message"],
            "the object that it selects belongs to another policy, which claimed it earlier"
        );
        assert!(finding["hint"].as_str().unwrap().starts_with(expected), "{finding}");
    }
}

#[test]
fn overlaps_are_reported_only_if_asked_for() {
    let text = [
        policy("all", &selector("")),
        policy("web", &selector(", name: web")),
        deployment("web"),
        deployment("api"),
    ]
    .concat();
    let document = check(&text, &[("overlap", "PropagationPolicy shop/all")]);
    assert_eq!(
        document["findings"][0]["message"],
        "1 of 2 objects that it selects belongs to other policies"
    );
    let (exit, stdout, _) = review(&text, &[]);
    assert_eq!(exit, Some(0));
    assert!(
        stdout.ends_with("1 info\nnot shown: 1 finding below `--severity`\n"),
        "{stdout}"
    );
}

#[test]
fn placements_that_name_what_does_not_exist_are_found() {
    let placed = |name: &str, placement: &str| policy(name, &format!("{}, placement: {placement}", selector("")));
    let field = |key: &str, value: &str| {
        format!(
            "{{clusterAffinity: {{fieldSelector: {{matchExpressions: [{{key: {key}, operator: In, values: [{value}]}}]}}}}}}"
        )
    };
    for (placement, expected, hint) in [
        ("{clusterAffinity: {clusterNames: [east-1, est-1]}}".to_owned(), vec!["unknown-cluster"], Some("east-1")),
        ("{clusterAffinity: {exclude: [est-2]}}".to_owned(), vec!["unknown-cluster"], Some("east-2")),
        ("{clusterAffinity: {clusterNames: [nowhere]}}".to_owned(), vec!["no-cluster", "unknown-cluster"], None),
        (field("region", "\"east\", \"wset\""), vec!["unknown-region"], Some("west")),
        (field("provider", "q"), vec!["no-cluster", "unknown-provider"], None),
        (field("zone", "east-a, east-x"), vec!["unknown-zone"], None),
        (
            "{clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}}".to_owned(),
            vec!["no-cluster", "unknown-label"],
            None,
        ),
        (
            "{spreadConstraints: [{spreadByField: cluster}, {spreadByField: region, minGroups: 3}]}".to_owned(),
            vec!["too-few-groups"],
            None,
        ),
        (
            "{clusterAffinities: [{affinityName: one, clusterNames: [east-1]}, {affinityName: two, clusterNames: [none]}]}".to_owned(),
            vec!["empty-group", "unknown-cluster"],
            None,
        ),
    ] {
        let (found, document) = findings(&[placed("web", &placement), deployment("web")].concat());
        let mut codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        codes.sort_unstable();
        assert_eq!(codes, expected, "{placement}");
        if let Some(hint) = hint {
            let hint = format!("did you mean `{hint}`?");
            let hints = document["findings"].as_array().unwrap().iter().filter_map(|finding| finding["hint"].as_str());
            assert!(hints.clone().any(|given| given == hint), "{placement}: {document:#}");
        }
    }
}

/// A policy that governs a Deployment, with this annotation on the eighth line of the text.
fn annotated(name: &str, value: &str) -> String {
    let policy = format!(
        "{POLICY}metadata:\n  name: web\n  namespace: shop\n  annotations:\n    example.com/note: first\n    {name}: '{value}'\nspec: {{{}}}\n",
        selector(", name: web")
    );
    policy + &deployment("web")
}

#[test]
fn an_annotation_that_no_profile_can_read_is_an_error_with_its_line() {
    for (name, value, expected) in [
        (
            "divvy.io/quorum",
            "101%",
            "`divvy.io/quorum`: expected a count of at least 1, or a percentage from `1%` to `100%`, got `101%`",
        ),
        (
            "divvy.io/affinity-groups",
            "tier",
            "`divvy.io/affinity-groups`: expected `tiers` or `fallback`, got `tier`",
        ),
        (
            "divvy.io/preferences",
            "[]",
            "`divvy.io/preferences`: expected an object, got a list",
        ),
        (
            "divvy.io/moves",
            r#"{"maxSurge": 0, "maxUnavailable": 0}"#,
            "`divvy.io/moves`: maxUnavailable: is 0, and so is `maxSurge`: nothing could ever move",
        ),
    ] {
        let document = check(
            &annotated(name, value),
            &[("invalid-annotation", "PropagationPolicy shop/web")],
        );
        let finding = &document["findings"][0];
        assert_eq!(
            (&finding["severity"], &finding["message"]),
            (&json!("error"), &json!(expected))
        );
        let source = finding["source"].as_str().expect("it has a location");
        assert!(source.ends_with("policies.yaml:8"), "{source}");
        assert_eq!(document["policies"][0]["findings"], json!(["invalid-annotation"]));
    }
    check(&annotated("divvy.io/quorum", "100%"), &[]);
    // As a dump has it, in JSON.
    let text = json!({
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "web", "namespace": "shop", "annotations": {"divvy.io/quorum": "101%"}},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]},
    });
    let text = format!("{text:#}");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (policy, workload) = (folder.path().join("policy.json"), folder.path().join("web.yaml"));
    fs::write(&policy, &text).expect("the file can be written");
    fs::write(&workload, deployment("web")).expect("the file can be written");
    let folder = folder.path().display().to_string();
    let (exit, stdout, _) = run(&["policies", "-f", &folder, "-o", "wide"]);
    let line = text
        .lines()
        .position(|line| line.contains("101%"))
        .expect("it is there")
        + 1;
    let location = format!("in {}:{line}\n", policy.display());
    assert!(exit == Some(1) && stdout.contains(&location), "{location}: {stdout}");
}

#[test]
fn a_pull_request_that_makes_an_annotation_invalid_is_told_of_that_one() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let base = folder.path().join("base.yaml");
    fs::write(&base, annotated("divvy.io/quorum", "101%")).expect("the file can be written");
    let base = base.display().to_string();
    for (value, expected) in [("101%", Some(0)), ("102%", Some(1)), ("100%", Some(0))] {
        let overlay = write(folder.path(), &annotated("divvy.io/quorum", value));
        let (exit, stdout, stderr) = run(&["policies", "-f", &base, "--overlay", &overlay, "--new"]);
        assert_eq!(exit, expected, "{value}: {stdout}{stderr}");
    }
}

#[test]
fn bindings_without_their_policy_are_errors_and_followers_need_none() {
    let by_name =
        ", annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: gone}";
    let by_id = ", labels: {clusterpropagationpolicy.karmada.io/permanent-id: abc}";
    let follower = "  requiredBy: [{namespace: shop, name: web-deployment}]\n";
    let text = [
        policy("web", &selector(", name: web")),
        deployment("web"),
        binding("one", by_name),
        binding("two", by_name),
        binding("three", by_id),
        binding("four", ""),
        binding("five", "") + follower,
    ];
    let document = check(
        &text.concat(),
        &[
            (
                "policy-gone",
                "ClusterPropagationPolicy with the permanent identifier abc",
            ),
            ("policy-gone", "PropagationPolicy shop/gone"),
            ("no-policy", "Namespace shop"),
        ],
    );
    let gone = &document["findings"][1];
    assert_eq!(
        gone["message"],
        "the input has no such policy, and 2 bindings are claimed by it"
    );
    assert_eq!(gone["names"], json!(["shop/one-deployment", "shop/two-deployment"]));
    assert_eq!(document["totals"]["withoutPolicy"], 4);
}

#[test]
fn a_claim_of_an_earlier_policy_of_the_same_name_is_stale() {
    let claim = ", labels: {propagationpolicy.karmada.io/permanent-id: before}, annotations: \
                 {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: web}";
    let policy = policy("web", &selector(", name: web")).replace(
        "namespace: shop}",
        "namespace: shop, labels: {propagationpolicy.karmada.io/permanent-id: now}}",
    );
    check(
        &[policy, binding("web", claim)].concat(),
        &[("stale-claim", "PropagationPolicy shop/web")],
    );
}

#[test]
fn labels_that_are_not_known_are_no_reason_to_call_a_policy_dead() {
    let claim = ", annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: web}";
    let text = [
        policy("web", &selector(", name: web")),
        policy("labels", &selector(", labelSelector: {matchLabels: {app: web}}")),
        binding("web", claim),
    ];
    let document = check(&text.concat(), &[]);
    let note = document["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("the labels of 1 workload are not in the input"),
        "{note}"
    );
    // With the workload, they are.
    check(
        &[text.concat(), deployment("web")].concat(),
        &[("shadowed", "PropagationPolicy shop/labels")],
    );
}

#[test]
fn findings_are_chosen_and_printed_in_every_format() {
    let text = [
        policy("a", &selector(", name: x")),
        policy("b", &selector(", name: y")),
        deployment("web"),
    ]
    .concat();
    let (_, stdout, _) = review(&text, &["-o", "name"]);
    assert_eq!(
        stdout,
        "propagationpolicy.policy.karmada.io/a\npropagationpolicy.policy.karmada.io/b\n"
    );
    let (exit, stdout, _) = review(&text, &["shop/b", "-o", "name"]);
    assert_eq!(
        (exit, stdout.as_str()),
        (Some(1), "propagationpolicy.policy.karmada.io/b\n")
    );
    let (exit, stdout, _) = review(&text, &["-n", "other"]);
    assert_eq!(exit, Some(0), "{stdout}");
    let (exit, stdout, _) = review(&text, &["--top", "1"]);
    assert_eq!(exit, Some(1));
    assert!(stdout.contains("1 finding more, which `--top` leaves out"), "{stdout}");
    let (exit, stdout, stderr) = review(&text, &["-q"]);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (Some(1), "", ""));
    let (exit, _, _) = review(&text, &["--severity", "error", "-q"]);
    assert_eq!(exit, Some(0));
    let (_, stdout, _) = review(&text, &["-o", "markdown"]);
    assert!(
        stdout.starts_with("| OBJECT | SEVERITY | FINDING | WHAT |\n| --- | --- | --- | --- |\n"),
        "{stdout}"
    );
    let (_, stdout, _) = review(&text, &["-o", "wide"]);
    assert!(stdout.contains("POLICY") && stdout.contains("GOVERNS"), "{stdout}");
    let (exit, _, stderr) = review(&text, &["c"]);
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("error: no policy matches `c`"), "{stderr}");
}

#[test]
fn hostile_input_is_refused_or_reviewed_and_never_obeyed() {
    let (exit, _, stderr) = review("", &[]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.starts_with("error: there is nothing to review: the input has no policies"),
        "{stderr}"
    );
    for wrong in [
        "spec: 7",
        "spec: {resourceSelectors: {}}",
        "spec: {priority: high}",
        "metadata: []",
    ] {
        let text = format!("{POLICY}metadata: {{name: a, namespace: shop}}\n{wrong}\n");
        let (exit, _, stderr) = review(&text, &[]);
        assert_eq!(exit, Some(2), "{wrong}: {stderr}");
    }
    // A policy with huge lists, and without any.
    let selectors: Vec<String> = (0..5_000)
        .map(|number| format!("{{apiVersion: apps/v1, kind: Deployment, name: n{number}}}"))
        .collect();
    let clusters: Vec<String> = (0..5_000).map(|number| format!("c{number}")).collect();
    let fields = format!(
        "resourceSelectors: [{}], placement: {{clusterAffinity: {{clusterNames: [{}]}}}}",
        selectors.join(", "),
        clusters.join(", ")
    );
    let text = [
        policy("huge", &fields),
        // Only an API server without today's CRD can have let it pass.
        policy("none", "resourceSelectors: []").replace("name: none", "name: none, resourceVersion: '1'"),
        deployment("web"),
    ]
    .concat();
    let (found, document) = findings(&text);
    assert_eq!(found.len(), 4, "{found:?}");
    let unknown = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["code"] == "unknown-cluster");
    assert_eq!(unknown.unwrap()["names"].as_array().unwrap().len(), 1_000);
    // Names with control characters and Markdown.
    let text = [policy("\"a\\e[31m|<b>@x\"", &selector("")), deployment("web")].concat();
    for output in ["table", "wide", "markdown", "json"] {
        let (_, stdout, stderr) = review(&text, &["-o", output, "--severity", "info", "--validate", "ignore"]);
        assert!(
            !stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'),
            "{stdout}{stderr}"
        );
    }
}
