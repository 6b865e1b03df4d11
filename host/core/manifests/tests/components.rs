//! The kinds of Karmada's interpreters, by a table made of Karmada's source, and components of workloads with several pod templates.

use divvy_karmada::api::{Component, TypeMeta};
use divvy_karmada::workloads::{ResourceInterpreter, WorkloadKinds};
use divvy_manifests::{ReadOptions, read_text};

/// Kinds with `replicas` or `components` in `native/replica.go` and `resourcecustomizations` of karmada-io/karmada at f8fdd02.
/// `SidecarSet` counts as 0 replicas there, so that it is left out.
const KARMADA_F8FDD02: &str = "
apps/v1 Deployment replicas
apps/v1 ReplicaSet replicas
apps/v1 StatefulSet replicas
batch/v1 Job replicas
v1 Pod replicas
apps.kruise.io/v1alpha1 BroadcastJob replicas
apps.kruise.io/v1alpha1 CloneSet replicas
apps.kruise.io/v1alpha1 UnitedDeployment replicas
apps.kruise.io/v1beta1 StatefulSet replicas
argoproj.io/v1alpha1 Workflow replicas
flink.apache.org/v1beta1 FlinkDeployment replicas components
kubeflow.org/v1 Notebook replicas
ray.io/v1 RayService replicas
batch.volcano.sh/v1alpha1 Job components
kubeflow.org/v1 PyTorchJob components
kubeflow.org/v1 TFJob components
kubeflow.org/v2beta1 MPIJob components
ray.io/v1 RayCluster components
ray.io/v1 RayJob components
sparkoperator.k8s.io/v1beta2 SparkApplication components
";

fn kinds(interpreter: ResourceInterpreter, reads_components: bool) -> WorkloadKinds {
    WorkloadKinds::new(interpreter, &[]).reading_components(reads_components)
}

/// Replicas and components of the only workload; `None` if it is propagated whole.
#[track_caller]
fn demand(workload_kinds: WorkloadKinds, head: &str, spec: &str) -> Option<(i32, Vec<Component>, String)> {
    let (api_version, kind) = head.split_once(' ').expect("an API version and a kind");
    let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n");
    let options = ReadOptions {
        workload_kinds,
        ..ReadOptions::default()
    };
    let read = read_text("f.yaml", &text, &options);
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    let demand = read.resources[0].object.demand.as_ref()?;
    let requests = demand.requirements.iter().flat_map(|needs| &needs.resource_request);
    let requests: Vec<_> = requests.map(|(name, amount)| format!("{name} {amount}")).collect();
    Some((demand.replicas, demand.components.clone(), requests.join(", ")))
}

#[test]
fn the_kinds_of_karmadas_interpreters_are_known() {
    for row in KARMADA_F8FDD02.trim().lines() {
        let words: Vec<&str> = row.split(' ').collect();
        let known = TypeMeta {
            api_version: words[0].to_owned(),
            kind: words[1].to_owned(),
        };
        assert!(WorkloadKinds::default().contains(&known), "{row}");
        let head = format!("{} {}", words[0], words[1]);
        let karmada = demand(kinds(ResourceInterpreter::Karmada, false), &head, "{}");
        assert_eq!(karmada.is_some(), words.contains(&"replicas"), "{row}");
    }
}

const POD: &str = "template: {spec: {containers: [{resources: {requests: {cpu: 2, memory: 1Gi}}}]}}";

#[test]
fn components_are_those_of_karmadas_interpreters() {
    let ray = format!("headGroupSpec: {{{POD}}}, workerGroupSpecs: [{{groupName: w, replicas: 3, {POD}}}, {{{POD}}}]");
    let pods = "cpu 2 memory 1Gi";
    for (head, spec, expected) in [
        (
            "batch.volcano.sh/v1alpha1 Job",
            format!("{{tasks: [{{name: ps, replicas: 4, minAvailable: 2, {POD}}}, {{name: w, replicas: 4, {POD}}}]}}"),
            format!("2 ps {pods}; 1 w {pods}"),
        ),
        (
            "ray.io/v1 RayCluster",
            format!("{{{ray}}}"),
            format!("1 ray-head {pods}; 3 w {pods}; 0 worker-2 {pods}"),
        ),
        (
            "ray.io/v1 RayJob",
            format!("{{rayClusterSpec: {{{ray}}}}}"),
            format!("1 ray-head {pods}; 3 w {pods}; 0 worker-2 {pods}"),
        ),
        (
            "kubeflow.org/v1 PyTorchJob",
            format!("{{pytorchReplicaSpecs: {{Worker: {{replicas: 5, {POD}}}, Master: {{{POD}}}}}}}"),
            format!("1 master {pods}; 5 worker {pods}"),
        ),
        (
            "kubeflow.org/v1 TFJob",
            format!("{{tfReplicaSpecs: {{Evaluator: {{{POD}}}, PS: {{replicas: 2}}}}}}"),
            format!("2 ps; 1 evaluator {pods}"),
        ),
        (
            "kubeflow.org/v2beta1 MPIJob",
            format!("{{mpiReplicaSpecs: {{Worker: {{replicas: 2, {POD}}}, Launcher: {{}}}}}}"),
            format!("1 launcher; 2 worker {pods}"),
        ),
        (
            "flink.apache.org/v1beta1 FlinkDeployment",
            "{jobManager: {resource: {cpu: 1, memory: 2Gi}}, taskManager: {resource: {cpu: 2, memory: 4Gi}}, job: {parallelism: 5}, \
             flinkConfiguration: {taskmanager.numberOfTaskSlots: 2}}"
                .to_owned(),
            "1 jobmanager cpu 1 memory 2Gi; 3 taskmanager cpu 2 memory 4Gi".to_owned(),
        ),
        (
            "sparkoperator.k8s.io/v1beta2 SparkApplication",
            "{type: Scala, driver: {cores: 1, memory: 512m}, executor: {cores: 4, instances: 3, memory: 10g, gpu: {name: x.io/gpu, quantity: 1}}}"
                .to_owned(),
            "1 driver cpu 1 memory 939524096; 3 executor cpu 4 memory 15032385536 x.io/gpu 1".to_owned(),
        ),
        (
            "sparkoperator.k8s.io/v1beta2 SparkApplication",
            "{type: Java, driver: {memory: 10g}, executor: {memory: 1g, memoryOverhead: 1g}, dynamicAllocation: {enabled: true, minExecutors: 4}}"
                .to_owned(),
            "1 driver memory 11811160064; 4 executor memory 2147483648".to_owned(),
        ),
    ] {
        let (replicas, components, requests) =
            demand(kinds(ResourceInterpreter::Karmada, true), head, &spec).expect("it has components");
        assert_eq!((replicas, requests.as_str()), (0, ""), "{head}");
        let components: Vec<String> = components
            .iter()
            .map(|component| {
                let needs = component.replica_requirements.iter().flat_map(|needs| &needs.resource_request);
                let needs: String = needs.map(|(name, amount)| format!(" {name} {amount}")).collect();
                format!("{} {}{needs}", component.replicas, component.name)
            })
            .collect();
        assert_eq!(components.join("; "), expected, "{head}");
        let is_divisible = head.contains("Flink");
        assert_eq!(demand(kinds(ResourceInterpreter::Karmada, false), head, &spec).is_some(), is_divisible);
    }
}

#[test]
fn a_ray_service_has_replicas_of_its_largest_group() {
    let big = POD.replace("cpu: 2", "cpu: 8");
    let spec = format!(
        "{{rayClusterConfig: {{headGroupSpec: {{{POD}}}, workerGroupSpecs: [{{replicas: 7, {big}}}, {{{POD}}}]}}}}"
    );
    for interpreter in [ResourceInterpreter::Karmada, ResourceInterpreter::Kubernetes] {
        let found = demand(kinds(interpreter, false), "ray.io/v1 RayService", &spec);
        assert_eq!(found, Some((8, Vec::new(), "cpu 8, memory 1Gi".to_owned())));
    }
}

#[test]
fn flinks_own_sizes_are_those_of_flink_under_kubernetes_rules() {
    let head = "flink.apache.org/v1beta1 FlinkDeployment";
    for (memory, expected) in [
        ("2048m", "memory 2147483648"),
        ("2g", "memory 2147483648"),
        ("1 gb", "memory 1073741824"),
        ("2Gi", "memory 2Gi"),
    ] {
        let spec = format!("{{jobManager: {{resource: {{memory: {memory}}}}}}}");
        let found = demand(kinds(ResourceInterpreter::Kubernetes, false), head, &spec).expect("it has replicas");
        assert_eq!(found.2, expected, "{memory}");
    }
}
