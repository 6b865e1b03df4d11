//! The effect of overlays and deletions on each object, and the reason if there is none.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::run;
use crate::diff::schema::{committed, validate};

const POLICY: &str = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n";

/// A workload with its binding, claimed by the policy `web`, and a workload that `api` matches.
fn dump(folder: &Path) -> String {
    let text = format!(
        "{POLICY}metadata: {{name: web, namespace: shop}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: web}}]
  placement: {{clusterAffinity: {{clusterNames: [east-1]}}}}
---
{POLICY}metadata: {{name: api, namespace: shop}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: api}}]
  placement: {{clusterAffinity: {{clusterNames: [west-1]}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations: {{propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: web}}
spec: {{replicas: 3}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: api, namespace: shop}}
spec: {{replicas: 2}}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: web-deployment
  namespace: shop
  generation: 1
  annotations:
    propagationpolicy.karmada.io/namespace: shop
    propagationpolicy.karmada.io/name: web
    policy.karmada.io/applied-placement: '{{\"clusterAffinity\":{{\"clusterNames\":[\"east-1\"]}}}}'
spec:
  resource: {{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}}
  replicas: 3
  placement: {{clusterAffinity: {{clusterNames: [east-1]}}}}
  clusters: [{{name: east-1, replicas: 3}}]
status: {{schedulerObservedGeneration: 1, lastScheduledTime: \"2026-01-01T00:00:00Z\"}}
"
    );
    write(folder, "dump.yaml", &text)
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().expect("it is in a folder")).expect("the folder can be made");
    fs::write(&file, text).expect("the file can be written");
    file.display().to_string()
}

/// A policy of the overlay.
fn policy(name: &str, selector: &str, cluster: &str) -> String {
    format!(
        "{POLICY}metadata: {{name: {name}, namespace: shop}}\nspec:\n  priority: 9\n  resourceSelectors: [{selector}]\n  \
         placement: {{clusterAffinity: {{clusterNames: [{cluster}]}}}}\n"
    )
}

/// Runs `divvy diff` on the dump, as a table and as JSON. The arguments follow from the folder.
fn diff(arguments: impl Fn(&Path) -> Vec<String>) -> (Option<i32>, String, String, Value) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = dump(folder.path());
    let given = arguments(folder.path());
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let all = [&["diff", "-f", "fleet.yaml", "-f", &file], &given[..]].concat();
    let (exit, stdout, stderr) = run(&all);
    let (_, json, _) = run(&[&all[..], &["-o", "json"]].concat());
    let document = serde_json::from_str(&json).unwrap_or_default();
    if document != Value::Null {
        let schema = committed("diff.json");
        validate(&schema, &schema, &document, "document").unwrap_or_else(|error| panic!("{error}"));
    }
    (exit, stdout, stderr, document)
}

/// Lays policies over the dump. Returns the rows of the overlay and the notes.
fn laid(policies: &[String]) -> (Value, String) {
    let (exit, stdout, stderr, document) = diff(|folder| {
        let overlay = write(folder, "overlay.yaml", &policies.join("---\n"));
        vec!["--overlay".to_owned(), overlay]
    });
    assert!(matches!(exit, Some(0 | 1)), "{stdout}{stderr}");
    (document["overlay"].clone(), stderr)
}

#[test]
fn a_policy_without_effect_is_listed_with_the_reason() {
    let deployment = |name: &str| format!("{{apiVersion: apps/v1, kind: Deployment, name: {name}}}");
    for (selector, cluster, remark) in [
        (
            deployment("web"),
            "east-1",
            "does nothing: 1 workload that it selects belongs to PropagationPolicy shop/web, and only preemption, which is not \
             forecast, would take it away",
        ),
        (
            deployment("webs"),
            "east-1",
            "does nothing: no Deployment (apps/v1) that it may select is named `webs` (did you mean `web`?)",
        ),
        (
            "{apiVersion: apps/v1, kind: Deploymnt}".to_owned(),
            "east-1",
            "does nothing: the input has no Deploymnt (apps/v1) (did you mean `Deployment`?)",
        ),
        (
            deployment("api"),
            "east-7",
            "names a cluster that does not exist: east-7 (did you mean `east-1`?)",
        ),
    ] {
        let (rows, stderr) = laid(&[policy("new", &selector, cluster)]);
        assert_eq!(rows[0]["remarks"], serde_json::json!([remark]), "{rows}");
        let note = format!(":1): {remark}\n");
        assert!(
            stderr.contains("note: PropagationPolicy shop/new (") && stderr.contains(&note),
            "{stderr}"
        );
    }
}

#[test]
fn each_object_of_an_overlay_is_listed_with_what_it_governs() {
    let api = "{apiVersion: apps/v1, kind: Deployment, name: api}";
    let same = format!(
        "{POLICY}metadata: {{name: web, namespace: shop}}\nspec:\n  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: web}}]\n  \
         placement: {{clusterAffinity: {{clusterNames: [east-1]}}}}\n"
    );
    let policies = [
        policy("new", api, "east-1"),
        policy("api", "{apiVersion: v1, kind: Secret}", "east-1"),
        same,
    ];
    let (exit, stdout, stderr, document) = diff(|folder| {
        let overlay = write(folder, "overlay.yaml", &policies.join("---\n"));
        vec!["--overlay".to_owned(), overlay]
    });
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let table = "\
OVERLAY  OBJECT                      EFFECT
added    PropagationPolicy shop/new  governs 1 binding, 1 of them new
changed  PropagationPolicy shop/api  governs no binding; loses 1 binding
1 object of the overlay is as in the input
";
    assert!(stdout.contains(table), "{stdout}");
    let row = &document["overlay"][0];
    assert_eq!(
        (&row["change"], &row["governs"], &row["gains"], &row["loses"]),
        (&"added".into(), &1.into(), &1.into(), &0.into())
    );
    assert_eq!(document["overlay"][2]["change"], "same");
}

#[test]
fn a_deleted_policy_leaves_its_bindings_and_a_deleted_workload_takes_its_own() {
    let delete = |object: &str| {
        let object = object.to_owned();
        diff(move |_| vec!["--delete".to_owned(), object.clone()])
    };
    let (exit, stdout, stderr, document) = delete("shop/propagationpolicy/web");
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    assert_eq!(
        document["totals"]["removed"], 0,
        "the binding keeps its placement: {stdout}"
    );
    assert_eq!(
        document["overlay"][0]["remarks"],
        serde_json::json!(["1 binding left with the old placement, without a policy"])
    );
    // A workload without a binding would get none.
    let (_, stdout, _, document) = delete("propagationpolicy/api");
    assert_eq!(
        document["overlay"][0]["remarks"],
        serde_json::json!(["1 binding not created any more"])
    );
    assert!(
        stdout.contains("shop/api-deployment") && stdout.contains("Deleted: "),
        "{stdout}"
    );
    let (_, stdout, _, document) = delete("shop/Deployment/web");
    assert_eq!(document["totals"]["removed"], 3, "{stdout}");
    let mut rows = document["bindings"].as_array().into_iter().flatten();
    let deleted = rows.find(|row| row["binding"] == "shop/web-deployment");
    assert_eq!(deleted.map(|row| &row["result"]), Some(&"Deleted".into()));
    let (exit, _, stderr, _) = delete("shop/deployment/wbe");
    assert_eq!(exit, Some(2));
    assert!(
        stderr.starts_with("error: `--delete shop/deployment/wbe` matches no policy and no workload\n"),
        "{stderr}"
    );
    assert_eq!(delete("web").0, Some(2));
}

/// Messages write the kind first, `--delete` the namespace.
#[test]
fn an_object_to_delete_is_named_in_either_order() {
    let delete = |object: &str| {
        let object = object.to_owned();
        diff(move |_| vec!["--delete".to_owned(), object.clone()])
    };
    let (_, stdout, _, expected) = delete("shop/propagationpolicy/web");
    assert_eq!(
        expected["overlay"][0]["object"], "PropagationPolicy shop/web",
        "{stdout}"
    );
    for object in [
        "PropagationPolicy/shop/web",
        "PropagationPolicy shop/web",
        "propagationpolicy web",
    ] {
        let (exit, stdout, stderr, document) = delete(object);
        assert_eq!(exit, Some(0), "{object}: {stdout}{stderr}");
        assert_eq!(document["overlay"], expected["overlay"], "{object}");
    }
    for object in ["a/b/c/d", "shop//web", "/deployment/web", "web", "deployment/"] {
        let (exit, _, stderr, _) = delete(object);
        assert_eq!(exit, Some(2), "{object}");
        assert!(stderr.contains("`KIND/NAMESPACE/NAME`"), "{object}: {stderr}");
    }
}

/// A namespace may have the name of a kind.
#[test]
fn an_object_to_delete_that_means_two_is_refused_and_a_space_tells_them_apart() {
    let workload = |kind: &str, namespace: &str| {
        format!("---\napiVersion: example.org/v1\nkind: {kind}\nmetadata: {{name: web, namespace: {namespace}}}\n")
    };
    let delete = |object: &str| {
        let object = object.to_owned();
        diff(move |folder| {
            let text = [workload("Stateful", "lonely"), workload("Lonely", "stateful")].concat();
            let more = write(folder, "more.yaml", &text);
            vec!["-f".to_owned(), more, "--delete".to_owned(), object.clone()]
        })
    };
    let (exit, stdout, stderr, _) = delete("stateful/lonely/web");
    assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(
        stderr.starts_with(
            "error: `--delete stateful/lonely/web` is ambiguous: it can mean `Lonely stateful/web` or `Stateful lonely/web`\n  hint: \
             write the kind, a space and the rest: --delete 'Lonely stateful/web'\n"
        ),
        "{stderr}"
    );
    let (exit, stdout, stderr, document) = delete("Stateful lonely/web");
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    assert_eq!(document["overlay"][0]["object"], "Stateful lonely/web");
}

#[test]
fn a_file_that_a_pull_request_removes_is_a_change() {
    let web = "{apiVersion: apps/v1, kind: Deployment, name: web}";
    let api = "{apiVersion: apps/v1, kind: Deployment, name: api}";
    let (exit, stdout, stderr, document) = diff(|folder| {
        write(folder, "old/api.yaml", &policy("api", api, "west-1"));
        write(folder, "old/never.yaml", &policy("never", web, "west-1"));
        write(folder, "new/web.yaml", &policy("web", web, "west-1"));
        write(folder, "old/web.yaml", &policy("web", web, "east-1"));
        let at = |name: &str| folder.join(name).display().to_string();
        vec![
            "--overlay-from".to_owned(),
            at("old"),
            "--overlay".to_owned(),
            at("new"),
        ]
    });
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
    let rows = document["overlay"].as_array().expect("there are rows");
    let of = |name: &str| {
        rows.iter()
            .find(|row| row["object"] == format!("PropagationPolicy shop/{name}"))
            .expect("a row")
    };
    assert_eq!(of("web")["change"], "changed");
    assert_eq!(
        (&of("api")["change"], &of("api")["loses"]),
        (&"deleted".into(), &1.into())
    );
    assert_eq!(
        of("never")["remarks"],
        serde_json::json!(["does nothing: it governs no binding of the input"])
    );
    let (exit, _, stderr, _) = diff(|folder| vec!["--overlay-from".to_owned(), folder.display().to_string()]);
    assert_eq!(exit, Some(2), "{stderr}");
}
