//! A plan as a file: the JSON of `divvy rebalance -o json`, checked as a whole before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::text::counted;
use divvy_forecast::document::FORMAT;
use divvy_karmada::api::BindingScope;
use divvy_scheduler::moves::planned::PLAN_NAME_MAX;
use divvy_spanned::{Cause, Fault, FieldPath, Node, NodeValue, Problem, Source, decode_tree, json};
use serde::Deserialize;

use super::super::origin::digest;

/// Hint of every problem that an edit of the file would not solve.
const HINT: &str = "a plan is what `divvy rebalance -o json` prints";

/// Fields of the whole plan.
const DOCUMENT_FIELDS: &[&str] = &[
    "format", "after", "assumes", "waiting", "moves", "stays", "bound", "atMost", "cost", "curve", "totals", "notes",
];
/// Fields of a binding that waits, and of one that moves.
const ROW_FIELDS: &[&str] = &[
    "binding",
    "kind",
    "generation",
    "strategy",
    "priority",
    "replicas",
    "missing",
    "placed",
    "moved",
    "clusters",
    "reason",
];
/// Fields of a cluster of a binding.
const CLUSTER_FIELDS: &[&str] = &["name", "before", "after"];

/// A plan. Other fields are known, and not needed to carry it out.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PlanDocument {
    format: u32,
    waiting: Vec<PlanRow>,
    moves: Vec<PlanRow>,
}

/// A binding of a plan.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PlanRow {
    /// `<namespace>/<name>`, or only the name.
    pub(super) binding: String,
    pub(super) kind: String,
    pub(super) generation: i64,
    /// Clusters whose number of replicas changes.
    #[serde(default)]
    pub(super) clusters: Vec<PlanCluster>,
}

/// A cluster in which a binding gets another number of replicas.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PlanCluster {
    pub(super) name: String,
    pub(super) before: i64,
    pub(super) after: i64,
}

impl PlanDocument {
    /// Reads a plan, and names it by its content.
    ///
    /// # Errors
    ///
    /// Every problem of the file, each with its line and field.
    pub(super) fn read(path: &Path) -> Result<(Self, String), Failure> {
        let text = std::fs::read(path).map_err(|error| {
            let diagnostic = Diagnostic::new(format!("{} cannot be read", path.display()));
            Failure::usage(diagnostic.with_cause(error.to_string()))
        })?;
        let name = digest(&text).chars().take(12.min(PLAN_NAME_MAX)).collect();
        let plan = Self::parse(&text).map_err(|faults| {
            let source = |line| Source {
                file: path.into(),
                document: 0,
                line,
            };
            let problems = faults.into_iter().map(|fault| {
                let line = fault.line;
                fault.into_problem(source(line))
            });
            let problems: Vec<Problem> = problems.collect();
            let count = counted(problems.len(), "problem");
            Failure {
                conclusion: Some(format!("{count} in the plan; nothing is written")),
                ..Failure::input(&problems)
            }
        })?;
        Ok((plan, name))
    }

    /// Reads the text of a plan. `Err` has all faults.
    fn parse(text: &[u8]) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let not_json = |message: String| {
            let language = "JSON";
            vec![fault(FieldPath::root(), 1, Cause::Syntax { language, message })]
        };
        let text = std::str::from_utf8(text).map_err(|error| not_json(error.to_string()))?;
        let (tree, read) = json::parse(text, 1, &mut faults).map_err(|error| vec![Fault::from(error)])?;
        if !text.get(read..).unwrap_or_default().trim().is_empty() {
            return Err(not_json("more than one value".to_owned()));
        }
        let plan: Self = decode_tree(&tree, &FieldPath::root(), &mut faults);
        // Another form may have other fields.
        if faults.is_empty() && plan.format != FORMAT {
            let reason = format!("expected {FORMAT}, got {}", plan.format);
            return Err(vec![invalid(&tree, FieldPath::root().key("format"), reason)]);
        }
        refuse_unknown_fields(&tree, &mut faults);
        if faults.is_empty() {
            plan.check(&tree, &mut faults);
        }
        match faults.is_empty() {
            true => Ok(plan),
            false => Err(faults),
        }
    }

    /// The bindings whose clusters the plan changes.
    pub(super) fn rows(&self) -> impl Iterator<Item = &PlanRow> {
        let rows = self.waiting.iter().chain(&self.moves);
        rows.filter(|row| !row.clusters.is_empty())
    }

    /// Finds values of the right type that no plan has.
    fn check(&self, tree: &Node, faults: &mut Vec<Fault>) {
        let mut first = BTreeMap::new();
        for (list, rows) in [("waiting", &self.waiting), ("moves", &self.moves)] {
            for (index, row) in rows.iter().enumerate() {
                let path = FieldPath::root().key(list).index(index);
                if let Some(earlier) = first.insert((&row.kind, &row.binding), path.clone()) {
                    let reason = format!("`{}` is in the plan twice, first at `{earlier}`", row.binding);
                    faults.push(invalid(tree, path.key("binding"), reason));
                }
                let known = faults.len();
                row.check(&path, tree, faults);
                let (before, after) = row.sums();
                if faults.len() == known && list == "moves" && before != after {
                    let reason = format!("a move keeps all replicas: expected {before} after it, got {after}");
                    faults.push(invalid(tree, path.key("clusters"), reason));
                }
            }
        }
    }
}

impl PlanRow {
    /// Replicas in the clusters of the plan, before and after it.
    fn sums(&self) -> (i64, i64) {
        let sum = |count: fn(&PlanCluster) -> i64| self.clusters.iter().map(count).fold(0, i64::saturating_add);
        (sum(|cluster| cluster.before), sum(|cluster| cluster.after))
    }

    fn check(&self, path: &FieldPath, tree: &Node, faults: &mut Vec<Fault>) {
        let mut refuse = |path: FieldPath, reason: String| faults.push(invalid(tree, path, reason));
        let scopes = [BindingScope::Namespaced, BindingScope::Cluster];
        let scope = scopes.into_iter().find(|scope| scope.kind() == self.kind);
        let form = match scope {
            None => {
                let known = scopes.map(|scope| format!("`{}`", scope.kind())).join(" or ");
                refuse(path.key("kind"), format!("expected {known}, got `{}`", self.kind));
                None
            }
            Some(BindingScope::Namespaced) => Some(("`<namespace>/<name>`", 2)),
            Some(BindingScope::Cluster) => Some(("a name", 1)),
        };
        if let Some((form, parts)) = form
            && (self.binding.split('/').count() != parts || self.binding.split('/').any(str::is_empty))
        {
            refuse(path.key("binding"), format!("expected {form}, got `{}`", self.binding));
        }
        if self.generation < 0 {
            let reason = format!("expected at least 0, got {}", self.generation);
            refuse(path.key("generation"), reason);
        }
        let mut names = BTreeSet::new();
        for (index, cluster) in self.clusters.iter().enumerate() {
            let path = path.key("clusters").index(index);
            if cluster.name.is_empty() {
                refuse(path.key("name"), "expected the name of a cluster".to_owned());
            }
            if !names.insert(&cluster.name) {
                refuse(
                    path.key("name"),
                    format!("the cluster `{}` is given twice", cluster.name),
                );
            }
            for (field, count) in [("before", cluster.before), ("after", cluster.after)] {
                if !(0..=i64::from(i32::MAX)).contains(&count) {
                    refuse(
                        path.key(field),
                        format!("expected 0 to {} replicas, got {count}", i32::MAX),
                    );
                }
            }
        }
    }
}

/// Finds fields that no plan has: a plan that says more than is understood is not carried out.
fn refuse_unknown_fields(tree: &Node, faults: &mut Vec<Fault>) {
    let root = FieldPath::root();
    refuse_unknown(tree, &root, DOCUMENT_FIELDS, faults);
    for list in ["waiting", "moves"] {
        for (row_path, row) in items(tree, &root, list) {
            refuse_unknown(row, &row_path, ROW_FIELDS, faults);
            for (path, cluster) in items(row, &row_path, "clusters") {
                refuse_unknown(cluster, &path, CLUSTER_FIELDS, faults);
            }
        }
    }
}

fn refuse_unknown(node: &Node, path: &FieldPath, known: &[&str], faults: &mut Vec<Fault>) {
    let NodeValue::Mapping(entries) = &node.value else {
        return;
    };
    for (key, value) in entries.iter().filter(|(key, _)| !known.contains(&&**key)) {
        let cause = Cause::UnknownKey {
            key: key.to_string(),
            known: known.iter().map(|known| (*known).to_owned()).collect(),
        };
        faults.push(Fault::with_usual_hint(path.clone(), value.line, cause));
    }
}

/// The items of a list, with their paths; none if there is no list.
fn items<'a>(node: &'a Node, path: &FieldPath, list: &str) -> Vec<(FieldPath, &'a Node)> {
    let path = path.key(list);
    match node.get(list).map(|node| &node.value) {
        Some(NodeValue::List(items)) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| (path.index(index), item)).collect()
        }
        _ => Vec::new(),
    }
}

/// A value that no plan has.
fn invalid(tree: &Node, path: FieldPath, reason: String) -> Fault {
    let line = tree.line_of(&path);
    fault(path, line, Cause::InvalidValue { reason })
}

fn fault(path: FieldPath, line: usize, cause: Cause) -> Fault {
    Fault {
        hint: Some(HINT.to_owned()),
        ..Fault::new(path, line, cause)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn plan() -> Value {
        let cluster = |name: &str, before: i64, after: i64| json!({"name": name, "before": before, "after": after});
        json!({
            "format": 1,
            "waiting": [
                {"binding": "shop/late", "kind": "ResourceBinding", "generation": 2, "clusters": [cluster("a", 0, 6)]},
                {"binding": "all", "kind": "ClusterResourceBinding", "generation": 1},
            ],
            "moves": [{
                "binding": "shop/web", "kind": "ResourceBinding", "generation": 1,
                "clusters": [cluster("a", 8, 2), cluster("b", 0, 6)],
            }],
        })
    }

    /// What is wrong with a plan in which the value at a pointer is another.
    fn faults(pointer: &str, value: Value) -> Vec<String> {
        let mut plan = plan();
        *plan.pointer_mut(pointer).expect("it is there") = value;
        of_text(&plan.to_string())
    }

    fn of_text(text: &str) -> Vec<String> {
        let faults = PlanDocument::parse(text.as_bytes()).err().unwrap_or_default();
        let faults = faults.into_iter().map(|fault| match fault.path.is_root() {
            true => fault.cause.to_string(),
            false => format!("{}: {}", fault.path, fault.cause),
        });
        faults.collect()
    }

    #[test]
    fn a_plan_has_the_rows_that_change_something() {
        let plan = PlanDocument::parse(plan().to_string().as_bytes()).unwrap();
        let names: Vec<&str> = plan.rows().map(|row| row.binding.as_str()).collect();
        assert_eq!(names, ["shop/late", "shop/web"]);
    }

    #[test]
    fn every_field_of_the_schema_is_known_and_no_other() {
        let schema = std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../forecast/schema/rebalance.json"
        ));
        let schema: Value = serde_json::from_str(&schema.unwrap()).unwrap();
        let fields = |definitions: &[&Value]| {
            let fields = definitions
                .iter()
                .flat_map(|definition| definition["properties"].as_object().unwrap());
            fields.map(|(name, _)| name.clone()).collect::<BTreeSet<_>>()
        };
        let definition = |name: &str| &schema["$defs"][name];
        let known = |known: &[&str]| known.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(known(DOCUMENT_FIELDS), fields(&[&schema]));
        assert_eq!(
            known(ROW_FIELDS),
            fields(&[definition("WaitingRow"), definition("MoveRow")])
        );
        assert_eq!(known(CLUSTER_FIELDS), fields(&[definition("MovedCluster")]));
    }

    #[test]
    fn what_no_plan_has_is_refused_at_its_field() {
        for (pointer, value, expected) in [
            ("/format", json!(2), "format: expected 1, got 2"),
            (
                "/moves/0/clusters/0/after",
                json!(-2),
                "moves[0].clusters[0].after: expected 0 to 2147483647 replicas, got -2",
            ),
            (
                "/waiting/0/clusters/0/after",
                json!(2_147_483_648_i64),
                "waiting[0].clusters[0].after: expected 0 to 2147483647 replicas, got 2147483648",
            ),
            (
                "/moves/0/clusters/0/after",
                json!(3),
                "moves[0].clusters: a move keeps all replicas: expected 8 after it, got 9",
            ),
            (
                "/moves/0/clusters/1/name",
                json!("a"),
                "moves[0].clusters[1].name: the cluster `a` is given twice",
            ),
            (
                "/moves/0/clusters/1/name",
                json!(""),
                "moves[0].clusters[1].name: expected the name of a cluster",
            ),
            (
                "/moves/0/binding",
                json!("shop/late"),
                "moves[0].binding: `shop/late` is in the plan twice, first at `waiting[0]`",
            ),
            (
                "/moves/0/binding",
                json!("web"),
                "moves[0].binding: expected `<namespace>/<name>`, got `web`",
            ),
            (
                "/waiting/1/binding",
                json!("a/b"),
                "waiting[1].binding: expected a name, got `a/b`",
            ),
            (
                "/moves/0/kind",
                json!("Deployment"),
                "moves[0].kind: expected `ResourceBinding` or `ClusterResourceBinding`, got `Deployment`",
            ),
            (
                "/moves/0/generation",
                json!(-1),
                "moves[0].generation: expected at least 0, got -1",
            ),
        ] {
            assert_eq!(faults(pointer, value), [expected], "{pointer}");
        }
    }

    #[test]
    fn values_of_another_type_and_unknown_fields_are_all_refused_at_once() {
        let mut plan = plan();
        plan["moves"][0]["clusters"][0]["befor"] = json!(8);
        plan["moves"][0]["generation"] = json!(1.5);
        plan["move"] = json!([]);
        let found = of_text(&plan.to_string());
        assert_eq!(
            found,
            [
                "moves[0].generation: expected a whole number from -9223372036854775808 to 9223372036854775807, got the number `1.5`",
                "unknown key `move`",
                "moves[0].clusters[0]: unknown key `befor`",
            ]
        );
    }

    #[test]
    fn a_text_that_is_not_one_document_is_refused() {
        let text = plan().to_string();
        assert_eq!(
            of_text(&format!("{text} {text}")),
            ["not valid JSON: more than one value"]
        );
        assert_eq!(
            of_text("{\"format\":1"),
            ["not valid JSON: expected `,` or `}`, got the end of the input"]
        );
        assert!(PlanDocument::parse(b"{\xff").is_err());
        let twice = text.replacen("\"format\":1", "\"format\":1,\"format\":1", 1);
        assert_eq!(of_text(&twice), ["the key `format` is given twice, first on line 1"]);
    }
}
