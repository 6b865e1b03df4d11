//! The components of a SparkApplication: a driver and its executors, as Karmada's interpreter reads them.
//!
//! Memory is written as Java does (`2g`); a share of it, or a fixed amount, is added for what is not in the heap.

use serde_json::Value;

use super::Fields;
use super::kinds::count;
use crate::api::{Component, NodeClaim, Quantity, ReplicaRequirements, StringMap, Toleration};
use divvy_spanned::FieldPath;

/// Least memory beside the heap, in bytes.
const OVERHEAD_MIN: f64 = 384.0 * 1024.0 * 1024.0;
/// Memory beside the heap, as a share of it: of programs in Java, and of all others.
const OVERHEAD_SHARES: (f64, f64) = (0.10, 0.40);

/// Driver and executors.
pub(super) fn components(fields: &mut impl Fields) -> Vec<Component> {
    let at = |path: &str| FieldPath::dotted("spec").key(path);
    let language = fields.field::<String>(&at("type")).unwrap_or_default();
    let share = match language.eq_ignore_ascii_case("java") {
        true => OVERHEAD_SHARES.0,
        false => OVERHEAD_SHARES.1,
    };
    let share = number(fields, &at("memoryOverheadFactor")).unwrap_or(share);
    let mut executors = count(fields, &at("executor").key("instances")).unwrap_or(1);
    let allocation = at("dynamicAllocation");
    if fields.field::<bool>(&allocation.key("enabled")) == Some(true) {
        for bound in ["initialExecutors", "minExecutors"] {
            executors = executors.max(count(fields, &allocation.key(bound)).unwrap_or(1));
        }
    }
    let mut component = |name: &str, replicas| Component {
        name: name.to_owned(),
        replicas,
        replica_requirements: Some(requirements(&at(name), share, fields)),
    };
    vec![component("driver", 1), component("executor", executors)]
}

fn requirements(path: &FieldPath, share: f64, fields: &mut impl Fields) -> ReplicaRequirements {
    let mut requirements = ReplicaRequirements::default();
    let requests = &mut requirements.resource_request;
    let cores = fields.field::<Quantity>(&path.key("cores"));
    if let Some(cores) = cores.filter(|cores| !cores.is_zero() && !cores.is_negative()) {
        requests.insert("cpu".to_owned(), cores);
    }
    let heap = fields
        .field::<String>(&path.key("memory"))
        .map_or(0.0, |text| bytes(&text));
    let beside = fields
        .field::<String>(&path.key("memoryOverhead"))
        .map(|text| bytes(&text));
    let memory = heap + beside.unwrap_or_else(|| (heap * share).max(OVERHEAD_MIN));
    // Rounded to kibibytes, as the interpreter writes it. Whole and far below the range.
    requests.insert(
        "memory".to_owned(),
        Quantity::from_units((memory / 1024.0).ceil() as i64 * 1024),
    );
    let gpu = path.key("gpu");
    let device = fields.field::<String>(&gpu.key("name")).filter(|name| !name.is_empty());
    let devices = count(fields, &gpu.key("quantity")).filter(|count| *count > 0);
    if let (Some(name), Some(count)) = (device, devices) {
        requests.insert(name, Quantity::from_units(count.into()));
    }
    let affinity = path.key("affinity").key("nodeAffinity");
    let claim = NodeClaim {
        hard_node_affinity: fields.field::<Value>(&affinity.key("requiredDuringSchedulingIgnoredDuringExecution")),
        node_selector: fields.field::<StringMap>(&path.key("nodeSelector")).unwrap_or_default(),
        tolerations: fields
            .field::<Vec<Toleration>>(&path.key("tolerations"))
            .unwrap_or_default(),
    };
    requirements.node_claim = (claim != NodeClaim::default()).then_some(claim);
    let class = fields.field::<String>(&path.key("priorityClassName"));
    requirements.priority_class_name = class.unwrap_or_default();
    requirements
}

/// A number, or a text with one.
fn number(fields: &mut impl Fields, path: &FieldPath) -> Option<f64> {
    match fields.field::<Value>(path)? {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64(),
    }
}

/// Bytes of an amount of memory as Java writes it; 0 for anything else.
pub(super) fn bytes(text: &str) -> f64 {
    let text = text.trim().to_lowercase();
    let digits = text
        .find(|letter: char| letter.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (value, unit) = text.split_at(digits);
    let exponent = match unit {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        _ => return 0.0,
    };
    let value: f64 = value.trim().parse().unwrap_or(0.0);
    value.max(0.0) * 1024_f64.powi(exponent)
}
