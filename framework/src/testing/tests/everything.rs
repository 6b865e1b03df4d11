//! Every value that a builder sets is the value that a plugin reads.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use crate::binding::{SelectorField, SelectorOperator};
use crate::binding::{SpreadConstraint, SpreadField, Toleration, TolerationOperator};
use crate::clusters::{ConditionStatus, TaintEffect};
use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario};

/// Writes down what it reads.
#[derive(Default)]
struct Reader {
    lines: Mutex<Vec<String>>,
}

impl Reader {
    fn note(&self, name: &str, value: impl Debug) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(format!("{name} {value:?}"));
    }

    fn list<T: Debug>(&self, name: &str, values: impl Iterator<Item = T>) {
        self.note(name, values.collect::<Vec<_>>());
    }

    #[track_caller]
    fn wrote(self, expected: &[&str]) {
        let lines = self.lines.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(lines, expected);
    }
}

impl Plugin for Reader {
    const NAME: &'static str = "reader";
    const DESCRIPTION: &'static str = "reads everything";
}

/// Reads the binding.
impl FilterPlugin for Reader {
    const NEEDS: Needs = Needs::NONE.metadata().time();

    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        let binding = context.binding();
        self.list("name", [binding.namespace(), binding.name(), binding.uid()].into_iter());
        let resource = [
            binding.resource_api_version(),
            binding.resource_kind(),
            binding.resource_namespace(),
            binding.resource_name(),
            binding.resource_uid(),
        ];
        self.list("resource", resource.into_iter());
        self.note("strategy", binding.strategy());
        self.note("replicas", (binding.replicas(), binding.is_workload()));
        let flags = [
            binding.is_fresh(),
            binding.is_duplicated(),
            binding.ignores_spread_constraints(),
        ];
        self.list("flags", flags.into_iter());
        self.list(
            "requests",
            binding.requests().map(|request| (request.resource, request.quantity)),
        );
        for component in binding.components() {
            self.note("component", (component.name(), component.replicas()));
            self.list(
                "  requests",
                component.requests().map(|request| (request.resource, request.quantity)),
            );
        }
        let last = binding.last();
        self.list(
            "last",
            last.map(|target| (target.cluster, target.row.map(Row::index), target.replicas)),
        );
        self.list("evictions", binding.evictions());
        self.list(
            "eviction rows",
            binding.eviction_rows(&context.clusters()).map(Row::index),
        );
        for toleration in binding.tolerations() {
            let Toleration {
                key,
                operator,
                value,
                effect,
                seconds,
                ..
            } = toleration;
            self.note("toleration", (key, operator, value, effect, seconds));
        }
        for constraint in binding.spread_constraints() {
            let SpreadConstraint {
                field,
                label,
                minimum_groups,
                maximum_groups,
                ..
            } = constraint;
            self.note("spread", (field, label, minimum_groups, maximum_groups));
        }
        for affinity in binding.affinities() {
            let names: Vec<&str> = affinity.cluster_names().collect();
            let matcher = affinity.compile(&context.clusters());
            let rows = context
                .clusters()
                .rows()
                .filter(|&row| matcher.matches(row))
                .map(Row::index);
            self.note("affinity", (affinity.name(), names, rows.collect::<Vec<_>>()));
        }
        self.list("labels", binding.labels());
        self.list("annotations", binding.annotations());
        self.note("priority", binding.priority()?);
        self.note("policy", binding.policy()?);
        self.note("workload", binding.workload()?);
        self.note("time", context.time()?);
        self.note("explains", context.wants_explanation());
        Ok(())
    }
}

/// Reads the clusters.
impl ScorePlugin for Reader {
    const NEEDS: Needs = Needs::NONE.raw_cluster();

    fn score(&self, context: &ScoreContext<'_, Self>, _: &mut ScoreResult<'_>) -> Result<(), Failure> {
        for cluster in context.clusters().iter() {
            let texts = [cluster.uid(), cluster.region(), cluster.provider(), cluster.zone()];
            self.note(cluster.name(), texts);
            self.list("  zones", cluster.zones());
            self.list("  labels", cluster.labels());
            self.list("  annotations", cluster.annotations());
            for taint in cluster.taints() {
                self.note("  taint", (taint.key, taint.value, taint.effect, taint.time_added));
            }
            for condition in cluster.conditions() {
                self.note("  condition", (condition.kind, condition.status, condition.reason));
            }
            let flags = [
                cluster.is_deleting(),
                cluster.is_ready(),
                cluster.has_complete_api_enablements(),
                cluster.has_resource_summary(),
            ];
            self.list("  flags", flags.into_iter());
            self.list("  apis", cluster.api_enablements());
            for resource in cluster.resources() {
                let amounts = (
                    resource.allocatable,
                    resource.allocated,
                    resource.allocating,
                    resource.remaining,
                );
                self.note("  resource", (resource.name, amounts));
            }
            for model in cluster.models() {
                self.note("  model", (model.grade, model.nodes, model.ranges));
            }
            self.note("  raw", cluster.raw_json()?);
        }
        Ok(())
    }
}

/// Reads the columns of the call, and the policy's rules.
impl AssignPlugin for Reader {
    const STRATEGIES: &'static [&'static str] = &["First", "Second"];
    const PROMISES: Promises = Promises::NONE;
    const RULE_LISTS: &'static [RuleList] = &[RuleList::new("shares", &[RuleField::required("least")])];

    fn assign(&self, context: &AssignContext<'_, Self>, _: &mut AssignResult<'_>) -> Result<(), Failure> {
        self.note("strategy", context.binding().strategy());
        self.note("replicas", context.replicas());
        let columns = context.candidates().map(|candidate| {
            let order = (context.last_order()(candidate.index()) < u64::from(u32::MAX))
                .then(|| context.last_order()(candidate.index()));
            (
                context.cluster(candidate).name(),
                (
                    context.scores()[candidate],
                    context.fits_now()[candidate],
                    context.capacity()[candidate],
                ),
                (context.listed_last(candidate), order, context.tiers()[candidate]),
                context.policy_index(candidate),
            )
        });
        self.list("columns", columns);
        for rule in context.rules() {
            let values: Vec<_> = rule.values().collect();
            let rows: Vec<usize> = rule.rows().iter().map(|row| row.index()).collect();
            self.note("rule", (rule.origin(), values, rows));
        }
        Ok(())
    }
}

#[test]
fn all_that_a_binding_carries_is_read_as_it_is_set() {
    let mut toleration = Toleration::new("gpu", TolerationOperator::Equal, "yes", TaintEffect::NoExecute);
    toleration.seconds = Some(30);
    let reader = Reader::default();
    let scenario = Scenario::new()
        .clusters(["a", "b", "c"].map(|name| ClusterBuilder::new(name).region(name)))
        .named("shop", "web-deployment")
        .uid("uid-1")
        .resource("apps/v1", "StatefulSet")
        .named_resource("web")
        .resource_uid("uid-2")
        .strategy("Second")
        .replicas(7)
        .workload(false)
        .fresh(true)
        .duplicated(true)
        .ignores_spread_constraints(true)
        .requests(&[("cpu", 500)])
        .component("driver", 1, &[("memory", 64)])
        .component("worker", 4, &[])
        .last_result(&[("c", 2), ("gone", 4), ("a", 0)])
        .lost("lost", 1)
        .eviction("b")
        .eviction("gone")
        .toleration(toleration)
        .spread_constraint(SpreadConstraint::by(SpreadField::Region, 1, 2))
        .spread_constraint(SpreadConstraint::by_label("rack", 2, 0))
        .affinity(|affinity| {
            affinity.name("near").cluster_names(["c", "a", "gone"]).exclude(["a"]);
        })
        .affinity(|affinity| {
            affinity.field(SelectorField::Region, SelectorOperator::In, ["b"]);
        })
        .label("tier", "gold")
        .annotation("note", "text")
        .priority(9)
        .policy_metadata(&[("team", "shop")], &[("reviewed", "yes")])
        .workload_metadata(&[], &[("weight", "2")])
        .time(1_000);
    scenario.feasible(&reader).expect("it reads");
    reader.wrote(&[
        r#"name ["shop", "web-deployment", "uid-1"]"#,
        r#"resource ["apps/v1", "StatefulSet", "shop", "web", "uid-2"]"#,
        r#"strategy "Second""#,
        "replicas (7, false)",
        "flags [true, true, true]",
        r#"requests [("cpu", 500)]"#,
        r#"component ("driver", 1)"#,
        r#"  requests [("memory", 64)]"#,
        r#"component ("worker", 4)"#,
        "  requests []",
        r#"last [("c", Some(2), 2), ("gone", None, 4), ("a", Some(0), 0), ("lost", None, 1)]"#,
        r#"evictions ["b", "gone"]"#,
        "eviction rows [1]",
        r#"toleration ("gpu", Equal, "yes", NoExecute, Some(30))"#,
        r#"spread (Region, "", 1, 2)"#,
        r#"spread (Label, "rack", 2, 0)"#,
        r#"affinity ("near", ["c", "a", "gone"], [2])"#,
        r#"affinity ("", [], [1])"#,
        r#"labels [("tier", "gold")]"#,
        r#"annotations [("note", "text")]"#,
        "priority 9",
        r#"policy Some(Metadata { labels: [("team", "shop")], annotations: [("reviewed", "yes")] })"#,
        r#"workload Some(Metadata { labels: [], annotations: [("weight", "2")] })"#,
        "time 1000",
        "explains true",
    ]);
}

#[test]
fn all_that_a_cluster_has_is_read_as_it_is_set() {
    let reader = Reader::default();
    let full = ClusterBuilder::new("full")
        .uid("uid-3")
        .region("eu")
        .provider("acme")
        .deprecated_zone("eu-0")
        .zone("eu-1")
        .zone("eu-2")
        .label("tier", "gold")
        .annotation("price", "3")
        .taint("gpu", "no", TaintEffect::NoSchedule)
        .taint_since("down", "", TaintEffect::NoExecute, 60)
        .condition("Ready", ConditionStatus::True)
        .condition_with_reason("CompleteAPIEnablements", ConditionStatus::False, "Partial")
        .api("apps/v1", "Deployment")
        .resource("cpu", 4_000, 1_000)
        .resource_with_allocating("memory", 10, 4, 8)
        .model(1, 3, &[("cpu", 0, 2_000)])
        .raw_json("{}")
        .deleting();
    let empty = ClusterBuilder::new("gauge").resource_summary();
    let scenario = Scenario::new().clusters([full, empty]);
    scenario.scores(&reader).expect("it reads");
    reader.wrote(&[
        r#"full ["uid-3", "eu", "acme", "eu-0"]"#,
        r#"  zones ["eu-1", "eu-2"]"#,
        r#"  labels [("tier", "gold")]"#,
        r#"  annotations [("price", "3")]"#,
        r#"  taint ("gpu", "no", NoSchedule, None)"#,
        r#"  taint ("down", "", NoExecute, Some(60))"#,
        r#"  condition ("Ready", True, "")"#,
        r#"  condition ("CompleteAPIEnablements", False, "Partial")"#,
        "  flags [true, true, false, true]",
        r#"  apis [("apps/v1", "Deployment")]"#,
        r#"  resource ("cpu", (Some(4000), Some(1000), None, Some(3000)))"#,
        r#"  resource ("memory", (Some(10), Some(4), Some(8), Some(-2)))"#,
        r#"  model (1, 3, [("cpu", 0, 2000)])"#,
        r#"  raw "{}""#,
        r#"gauge ["", "", "", ""]"#,
        "  zones []",
        "  labels []",
        "  annotations []",
        "  flags [false, false, false, true]",
        "  apis []",
        r#"  raw """#,
    ]);
}

#[test]
fn all_that_a_strategy_is_called_with_is_read_as_it_is_set() {
    let scenario = Scenario::new()
        .replicas(5)
        .last_result(&[("b", 1), ("gone", 2), ("a", 3)])
        .cluster(ClusterBuilder::new("a").score(10).fits_now(4))
        .cluster(ClusterBuilder::new("b").fits_now(6).tier(1))
        .cluster(ClusterBuilder::new("c"))
        .affinity(|affinity| {
            affinity.cluster_names(["c", "a"]);
        })
        .rule_for("shares", "shares[0]", &[("least", 2)], |target| {
            target.exclude(["b"]);
        });
    let reader = Reader::default();
    scenario.assign(&reader).expect("it reads");
    reader.wrote(&[
        // The first one that it serves.
        r#"strategy "First""#,
        "replicas 5",
        "columns [(\"a\", (10, 4, 7), (Some(3), Some(2), 0), Some(1)), (\"b\", (0, 6, 7), (Some(1), Some(0), 1), None), \
         (\"c\", (0, 0, 0), (None, None, 0), Some(0))]",
        r#"rule ("shares[0]", [("least", 2)], [0, 2])"#,
    ]);
    let reader = Reader::default();
    let named = Scenario::new()
        .strategy("Second")
        .cluster(ClusterBuilder::new("a").last(2));
    // The replicas that a cluster states itself take precedence, and a second result replaces the first one.
    let named = named
        .last_result(&[("a", 1)])
        .cluster(ClusterBuilder::new("a").last(4).tier(1));
    named.assign(&reader).expect("it reads");
    reader.wrote(&[
        r#"strategy "Second""#,
        "replicas 0",
        r#"columns [("a", (0, 0, 4), (Some(4), Some(0), 1), None)]"#,
    ]);
}
