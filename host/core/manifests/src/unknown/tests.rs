//! Misspelt fields, kinds and annotations, in YAML and in JSON, under each mode.

use crate::{Manifests, ReadOptions, Validation, read_text};

const POLICY: &str = "\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: p
  annotations: {divvy.io/strateg: Average, example.com/note: x}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, nane: web}]
  placement:
    clusterAffinty: {clusterNames: [m1]}
    replicaScheduling:
      replicaSchedulingType: Divided
      regionPreference: {regionList: [{anything: 1}]}
      weightPreferense: {dynamicWeight: AvailableReplicas}
      weightPreference: {dynamicWeigh: AvailableReplicas}
  surprise: true
";

const EXPECTED: &str = "\
7: spec.resourceSelectors[0]: unknown key `nane`
9: spec.placement: unknown key `clusterAffinty`
13: spec.placement.replicaScheduling: unknown key `weightPreferense`
14: spec.placement.replicaScheduling.weightPreference: unknown key `dynamicWeigh`
15: spec: unknown key `surprise`
5: metadata.annotations: unknown key `divvy.io/strateg`";

fn read(text: &str, validation: Validation) -> Manifests {
    let options = ReadOptions {
        validation,
        annotations: vec!["divvy.io/strategy".to_owned()],
        ..ReadOptions::default()
    };
    read_text("f.yaml", text, &options)
}

fn plain(message: &str) -> String {
    let message = message.replace("f.yaml: document 1, line ", "");
    message.replace("PropagationPolicy default/p: ", "")
}

fn problems(manifests: &Manifests) -> String {
    let all: Vec<String> = manifests
        .problems
        .iter()
        .map(|problem| plain(&problem.to_string()))
        .collect();
    all.join("\n")
}

fn warnings(manifests: &Manifests) -> String {
    let all: Vec<String> = manifests
        .warnings
        .iter()
        .map(|warning| plain(&warning.to_string()))
        .collect();
    all.join("\n")
}

/// The text as JSON on one line.
fn json(text: &str) -> String {
    let (documents, faults) = divvy_spanned::yaml::parse(text, 1);
    assert!(faults.is_empty());
    documents[0].to_json().to_string()
}

#[test]
fn misspelt_names_are_refused_with_their_lines_and_the_nearest_name() {
    let manifests = read(POLICY, Validation::Auto);
    assert_eq!(problems(&manifests), EXPECTED);
    assert!(manifests.policies.is_empty());
    let hints: Vec<&str> = manifests
        .problems
        .iter()
        .filter_map(|problem| problem.hint.as_deref())
        .collect();
    for name in [
        "name",
        "clusterAffinity",
        "weightPreference",
        "dynamicWeight",
        "divvy.io/strategy",
    ] {
        let hint = format!("did you mean `{name}`?");
        assert!(hints.contains(&hint.as_str()), "{hint} in {hints:?}");
    }
}

#[test]
fn an_object_from_an_api_server_is_read_with_warnings() {
    let served = POLICY.replacen("  name: p\n", "  name: p\n  resourceVersion: \"7\"\n", 1);
    let manifests = read(&served, Validation::Auto);
    assert_eq!(problems(&manifests), "");
    assert_eq!(manifests.policies.len(), 1);
    assert_eq!(warnings(&manifests).lines().count(), EXPECTED.lines().count());
    assert_eq!(
        problems(&read(&served, Validation::Strict)).lines().count(),
        EXPECTED.lines().count()
    );
}

#[test]
fn a_mode_overrides_the_origin() {
    let manifests = read(POLICY, Validation::Warn);
    assert_eq!(
        (problems(&manifests), warnings(&manifests)),
        (String::new(), EXPECTED.to_owned())
    );
    let manifests = read(POLICY, Validation::Ignore);
    assert_eq!(
        (problems(&manifests), warnings(&manifests)),
        (String::new(), String::new())
    );
    assert_eq!(manifests.policies.len(), 1);
}

#[test]
fn json_and_yaml_have_the_same_problems() {
    let sorted = |manifests: &Manifests| {
        let found = problems(manifests);
        let mut found: Vec<String> = found
            .lines()
            .filter_map(|line| Some(line.split_once(": ")?.1.to_owned()))
            .collect();
        found.sort();
        found
    };
    let (yaml, json) = (
        read(POLICY, Validation::Strict),
        read(&json(POLICY), Validation::Strict),
    );
    assert_eq!(sorted(&yaml), sorted(&json));
    // Without a fault, JSON takes the path that builds no tree.
    let sound = "{\"apiVersion\": \"work.karmada.io/v1alpha2\", \"kind\": \"ResourceBinding\", \"metadata\": {\"name\": \"b\", \
        \"managedFields\": [{\"x\": 1}]}, \"spec\": {\"resource\": {\"apiVersion\": \"v1\", \"kind\": \"A\", \"name\": \"a\"}, \
        \"replicaRequirements\": {\"resourceRequest\": {\"any\": 1}}}}";
    let manifests = read(sound, Validation::Strict);
    assert_eq!((problems(&manifests).as_str(), manifests.bindings.len()), ("", 1));
    let wrong = sound.replace("replicaRequirements", "replicaRequirement");
    let found = "f.yaml: document 1, line 1: ResourceBinding default/b: spec: unknown key `replicaRequirement`";
    assert_eq!(read(&wrong, Validation::Strict).problems[0].to_string(), found);
}

#[test]
fn kinds_in_karmadas_groups_are_known() {
    let cluster = "apiVersion: cluster.karmada.io/v1alpha1\nkind: cluster\nmetadata: {name: m1}\n";
    let manifests = read(cluster, Validation::Auto);
    assert_eq!(problems(&manifests), "2: cluster m1: kind: unknown value `cluster`");
    assert_eq!(manifests.problems[0].hint.as_deref(), Some("did you mean `Cluster`?"));
    let work = cluster
        .replace("kind: cluster", "kind: Work")
        .replace("cluster.karmada.io/v1alpha1", "work.karmada.io/v1alpha1");
    let manifests = read(&work, Validation::Auto);
    assert_eq!((problems(&manifests).as_str(), manifests.ignored), ("", 1));
}

#[test]
fn annotations_of_workloads_are_checked_too() {
    let workload =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {divvy.io/stategy: Average}}\n";
    let expected = "3: Deployment default/web: metadata.annotations: unknown key `divvy.io/stategy`";
    assert_eq!(problems(&read(workload, Validation::Auto)), expected);
}

/// Only the plan knows which plugins exist.
#[test]
fn a_name_that_ends_in_a_dot_permits_all_that_begin_with_it() {
    let options = ReadOptions {
        annotations: vec!["divvy.io/preferences.".to_owned()],
        ..ReadOptions::default()
    };
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    \
                divvy.io/preferences.windows: '{}'\n    divvy.io/preferences.: '{}'\n    divvy.io/preference.windows: '{}'\n";
    let expected = "8: Deployment default/web: metadata.annotations: unknown key `divvy.io/preference.windows`\n\
                    7: Deployment default/web: metadata.annotations: unknown key `divvy.io/preferences.`";
    assert_eq!(problems(&read_text("f.yaml", text, &options)), expected);
}

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, lables: {app: web}}
spec:
  replica: 3
  template:
    spec:
      contaners: []
      containers:
        - livenessProbe: {anything: 1}
          resources:
            request: {cpu: 1}
  strategy: {anything: 1}
";

const IN_WORKLOAD: &str = "\
3: Deployment default/web: metadata: unknown key `lables`
5: Deployment default/web: spec: unknown key `replica`
8: Deployment default/web: spec.template.spec: unknown key `contaners`
12: Deployment default/web: spec.template.spec.containers[0].resources: unknown key `request`";

#[test]
fn misspelt_fields_of_workloads_are_found_where_they_decide() {
    let manifests = read(DEPLOYMENT, Validation::Auto);
    assert_eq!(problems(&manifests), IN_WORKLOAD);
    assert!(manifests.resources.is_empty());
    let hints: Vec<&str> = manifests
        .problems
        .iter()
        .filter_map(|problem| problem.hint.as_deref())
        .collect();
    for name in ["labels", "replicas", "containers", "requests"] {
        assert!(hints.contains(&format!("did you mean `{name}`?").as_str()), "{hints:?}");
    }
    assert_eq!(warnings(&read(DEPLOYMENT, Validation::Warn)), IN_WORKLOAD);
    assert_eq!(read(&json(DEPLOYMENT), Validation::Strict).problems.len(), 4);
    // An API server drops what it does not know, and what it has beyond the lists is newer than they are.
    let served = DEPLOYMENT.replace("name: web,", "name: web, resourceVersion: '1',");
    let custom = DEPLOYMENT.replace("apps/v1", "batch.volcano.sh/v1alpha1");
    for (text, validation) in [
        (DEPLOYMENT, Validation::Ignore),
        (served.as_str(), Validation::Strict),
        (custom.as_str(), Validation::Strict),
    ] {
        let manifests = read(text, validation);
        assert_eq!(
            (problems(&manifests), warnings(&manifests)),
            (String::new(), String::new())
        );
        assert_eq!(manifests.resources.len(), 1);
    }
}
