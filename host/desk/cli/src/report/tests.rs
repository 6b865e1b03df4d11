//! Rendering of constructed decisions. No plugin is loaded.

use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::form::Form;
use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::style;
use divvy_command::text::{listed, printable, wrapped};
use divvy_karmada::detector::{Binding, Detected};
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{ObjectName, ReadOptions, read_text};
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::cycle::explanation::{ClusterExplanation, Explanation, LeftOut, Note, PluginScore, Reason};
use divvy_scheduler::decision::{Decision, Outcome, TargetFigures, guarded};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::{Plan, PlanError, PlanInput, PlanResult};
use divvy_scheduler::profile::PlanOptions;
use divvy_scheduler::strategy::{Declaration, Declarations};
use serde_json::{Value, json};

use super::clusters::targets::take;
use super::entry::{Decided, Print, ProfileSummary, Report};
use super::table::{self, TableOptions};
use super::{structured, warnings};

mod remembered;

/// Four bindings and three clusters; `divided` has a last result.
const MANIFESTS: &str = "
apiVersion: v1
kind: List
items:
- {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m1}, spec: {region: west}}
- {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m2}, spec: {region: east}}
- {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: m3}}
- apiVersion: work.karmada.io/v1alpha2
  kind: ResourceBinding
  metadata: {name: everywhere, namespace: shop}
  spec: {replicas: 2, resource: {apiVersion: apps/v1, kind: Deployment, name: e}, placement: {}}
- apiVersion: work.karmada.io/v1alpha2
  kind: ResourceBinding
  metadata: {name: divided, namespace: shop}
  spec:
    replicas: 10
    resource: {apiVersion: apps/v1, kind: Deployment, name: d}
    clusters: [{name: m1, replicas: 7}, {name: m3, replicas: 1}]
    placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Average}}
- apiVersion: work.karmada.io/v1alpha2
  kind: ResourceBinding
  metadata: {name: too-large, namespace: shop}
  spec:
    replicas: 90
    schedulerName: volcano
    resource: {apiVersion: apps/v1, kind: Deployment, name: t}
    placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Average}}
- apiVersion: work.karmada.io/v1alpha2
  kind: ResourceBinding
  metadata: {name: paused, namespace: shop}
  spec:
    replicas: 1
    suspension: {scheduling: true}
    resource: {apiVersion: apps/v1, kind: Deployment, name: p}
    placement: {}
";

/// The bindings with a decision on each.
pub(super) struct Case {
    detected: Detected,
    fleet: FleetSnapshot,
    decisions: Vec<Decided>,
}

/// The plan of a binding under two strategies that declare nothing.
fn plan(binding: &Binding) -> PlanResult {
    let declared = |name: &str| Declaration {
        strategy: name.to_owned(),
        plugin: name.to_lowercase(),
        lists: Vec::new(),
        refuses_priorities: false,
        respects_capacity: false,
    };
    let declarations = Declarations {
        strategies: ["Average", "Duplicated"].map(declared).to_vec(),
        plugins: Vec::new(),
    };
    let plan = Plan::new(&PlanInput::new(binding), &declarations, &PlanOptions::default());
    plan.map_err(PlanError::from).into()
}

impl Case {
    pub(super) fn new() -> Self {
        let mut manifests = read_text("in.yaml", MANIFESTS, &ReadOptions::default());
        assert!(manifests.problems.is_empty(), "{:?}", manifests.problems);
        let detected = manifests.detect(WorkloadKinds::default());
        let mut fleet = Fleet::new(false);
        fleet.extend(manifests.clusters.iter().map(|cluster| &cluster.object));
        let fleet = fleet.snapshot();
        let decisions = detected.bindings.iter().map(decision);
        let decided = |mut decision: Decision| {
            let targets = take(&mut decision, &fleet);
            Decided {
                decision,
                targets,
                share: None,
            }
        };
        let decisions = decisions.map(decided).collect();
        Self {
            detected,
            fleet,
            decisions,
        }
    }

    pub(super) fn report(&self) -> Report<'_> {
        let summary = ProfileSummary {
            name: "default".to_owned(),
            strategies: [("Average".to_owned(), "average 0.1.0".to_owned())].into(),
            weights: [("locality".to_owned(), 2)].into(),
            scheduler_name: "default-scheduler".to_owned(),
            ..ProfileSummary::default()
        };
        Report::new(&self.detected.bindings, &self.decisions, &self.fleet, summary)
    }

    fn data(&self, form: Form) -> String {
        data(&self.report(), form)
    }

    fn table(&self, options: TableOptions) -> String {
        let report = self.report();
        rendered(|out| table::write(&report, options, |print| print(&report.entries), out))
    }
}

/// A report as data for programs.
fn data(report: &Report<'_>, form: Form) -> String {
    rendered(|out| structured::write(report, form, |print| print(&report.entries), out))
}

/// The decision about one of the bindings.
fn decision(input: &Binding) -> Decision {
    let scheduled = |targets: &[(&str, i64)]| {
        let owned = |(name, replicas): &(&str, i64)| ((*name).to_owned(), *replicas);
        Outcome::Scheduled(targets.iter().map(owned).collect())
    };
    let outcome = match input.object.metadata.name.as_str() {
        "divided" => scheduled(&[("m1", 8), ("m2", 2)]),
        "everywhere" => scheduled(&[("m1", 2), ("m2", 2), ("m3", 2)]),
        "too-large" => Outcome::Failed(CycleError::Unschedulable {
            plugin: "average".to_owned(),
            message: "90 replicas requested, 12 fit in the candidate clusters".to_owned(),
            figures: Some((90, 12)),
        }),
        _ => Outcome::Skipped("scheduling is suspended".to_owned()),
    };
    let figures = TargetFigures {
        score: 100,
        fits_now: Some(3),
    };
    let targets = match &outcome {
        Outcome::Scheduled(targets) => targets.len(),
        _ => 0,
    };
    Decision {
        binding: input.key(),
        plan: plan(input),
        replicas: input.replicas(),
        outcome,
        partial: None,
        affinity: String::new(),
        failed_groups: Vec::new(),
        time: None,
        tables: None,
        valid_until: None,
        peers: None,
        figures: vec![figures; targets],
        explanation: None,
        without: Vec::new(),
    }
}

/// Output of a renderer, without colours.
fn rendered(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes everything");
    let text = String::from_utf8(bytes).expect("reports are text");
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn a_table_has_one_line_per_binding_and_per_cluster() {
    let expected = "\
BINDING          STRATEGY    REPLICAS  CHANGE  FREE  RESULT
shop/divided     Average           10      +2     3  Scheduled
  m1                                8      +1     2
  m2                                2     new     1
  m3                                0    gone
shop/everywhere  Duplicated    2 each                Scheduled
  on 3 clusters: m1, m2, m3
shop/paused      Duplicated         1                Skipped
  scheduling is suspended
shop/too-large   Average           90                Unschedulable
  90 replicas requested, 12 fit in the candidate clusters
  assigned to scheduler `volcano`; scheduled anyway

4 bindings: 2 scheduled, 1 unschedulable, 1 skipped; 90 replicas missing
16 replicas (+3, -1 against the last results) on 3 of 3 clusters
";
    assert_eq!(Case::new().table(TableOptions::default()), expected);
}

#[test]
fn the_clusters_of_a_uniform_result_are_wrapped_at_the_width_of_the_terminal() {
    let table = Case::new().table(TableOptions {
        columns: Some(24),
        ..TableOptions::default()
    });
    assert!(table.contains("\n  on 3 clusters: m1,\n    m2, m3\n"), "{table}");
}

#[test]
fn a_wide_table_has_every_cluster_with_its_region() {
    let table = Case::new().table(TableOptions {
        wide: true,
        ..TableOptions::default()
    });
    let titles = "BINDING STRATEGY REPLICAS CHANGE FREE LAST SCORE REGION RESULT PLUGIN KIND";
    let first = table.lines().next().unwrap_or_default();
    assert_eq!(first.split_whitespace().collect::<Vec<_>>().join(" "), titles);
    assert!(table.contains("\n  m2                                2     new     1          100  east\n"));
    assert!(table.contains("Unschedulable  average 0.1.0  Deployment\n"));
    assert!(table.ends_with("profile `default`, seed 0; plugins: average 0.1.0\n"));
}

#[test]
fn an_explanation_names_filter_score_and_remark() {
    let mut case = Case::new();
    let note = |plugin: &str, text: &str| Note {
        plugin: plugin.to_owned(),
        text: text.to_owned(),
    };
    let candidate = |name: &str, replicas: Option<i64>, remark: &str| ClusterExplanation {
        name: name.to_owned(),
        scores: vec![PluginScore {
            plugin: "locality".to_owned(),
            score: 50,
            reason: None,
        }],
        score: Some(100),
        fits_now: Some(3),
        candidate: true,
        replicas,
        reasons: vec![Reason::of("average", &remark.into())],
        ..ClusterExplanation::default()
    };
    let rejected = ClusterExplanation {
        name: "m3".to_owned(),
        rejected: Some(note("taints", "cluster(s) had a taint")),
        ..ClusterExplanation::default()
    };
    let (first, second) = (
        candidate("m1", Some(8), "has most room"),
        candidate("m2", None, "is full"),
    );
    case.decisions[0].decision.explanation = Some(Explanation {
        clusters: vec![first, second, rejected],
        notes: vec![note("select", "no constraint")],
        ..Explanation::default()
    });
    let table = case.table(TableOptions {
        explain: true,
        ..TableOptions::default()
    });
    let expected = "
  Average by `replicaDivisionPreference`; 2 of 3 clusters are candidates, scored by locality
  select: no constraint
  m1                                8      +1     2
      has most room (fits 3, score 100 = locality 50 × 2)
  m2                                2     new     1
      is full (fits 3, score 100 = locality 50 × 2)
  m3                                0    gone
  m2: is full (fits 3, score 100 = locality 50 × 2)
  rejected: 1 cluster(s) had a taint [taints]: m3
";
    assert!(table.contains(expected), "{table}");
}

#[test]
fn a_figure_that_a_reason_mentions_is_printed_once() {
    let mut case = Case::new();
    let text = "keeps 2, fits 5: +3 in proportion over 1 clusters";
    let reason = Reason {
        plugin: "aggregated".to_owned(),
        cause: "proportion".into(),
        bound_by: None,
        remainder: None,
        figures: [("keeps".to_owned(), 2), ("fitsNow".to_owned(), 5)].into(),
        text: text.to_owned(),
    };
    let candidate = ClusterExplanation {
        name: "m1".to_owned(),
        score: Some(0),
        fits_now: Some(5),
        last: Some(2),
        tier: Some(1),
        candidate: true,
        replicas: Some(5),
        reasons: vec![reason.clone()],
        ..ClusterExplanation::default()
    };
    let left_out = ClusterExplanation {
        name: "m2".to_owned(),
        tier: Some(2),
        candidate: false,
        replicas: None,
        reasons: Vec::new(),
        left_out: Some(LeftOut {
            plugin: "select".to_owned(),
            reason: Some(Reason {
                text: "region eu is not chosen".to_owned(),
                ..reason
            }),
        }),
        ..candidate.clone()
    };
    case.decisions[0].decision.explanation = Some(Explanation {
        clusters: vec![candidate, left_out],
        ..Explanation::default()
    });
    let table = case.table(TableOptions {
        explain: true,
        ..TableOptions::default()
    });
    for line in [
        format!("      {text} (tier 1, score 0)"),
        "  not selected: m2 (region eu is not chosen; tier 2, last 2, fits 5, score 0)".to_owned(),
    ] {
        assert!(table.lines().any(|shown| shown == line), "{line}\n{table}");
    }
}

#[test]
fn json_and_yaml_have_the_fields_that_programs_rely_on() {
    let case = Case::new();
    let json = case.data(Form::Json);
    let document: Value = serde_json::from_str(&json).expect("it is JSON");
    for (pointer, expected) in [
        ("/bindings/0/binding", json!("shop/divided")),
        ("/bindings/0/result", json!("Scheduled")),
        ("/bindings/0/message", json!("")),
        (
            "/bindings/0/clusters",
            json!([{"name": "m1", "replicas": 8, "free": 2}, {"name": "m2", "replicas": 2, "free": 1}]),
        ),
        (
            "/bindings/0/last",
            json!([{"name": "m1", "replicas": 7}, {"name": "m3", "replicas": 1}]),
        ),
        ("/bindings/3/figures", json!({"requested": 90, "available": 12})),
        ("/bindings/3/foreignScheduler", json!("volcano")),
        ("/format", json!(1)),
        ("/after", json!({"profile": "default"})),
        ("/assumes", json!(false)),
        (
            "/totals",
            json!({
                "bindings": 4, "scheduled": 2, "skipped": 1, "unschedulable": 1, "noClusterFit": 0, "errors": 0,
                "replicas": 16, "added": 3, "removed": 1, "missing": 90, "beyondCapacity": 0, "clusters": 3, "decided": 4, "leftOut": 0,
            }),
        ),
    ] {
        assert_eq!(document.pointer(pointer), Some(&expected), "{pointer}");
    }
    let yaml = case.data(Form::Yaml);
    assert!(yaml.contains("\nbindings:\n- binding: shop/divided\n"), "{yaml}");
}

#[test]
fn the_highest_exit_code_counts() {
    let mut case = Case::new();
    assert_eq!(case.report().exit(), Exit::Unschedulable);
    case.decisions[1].decision.outcome = Outcome::Failed(CycleError::InvalidBinding {
        message: "nonsense".to_owned(),
        annotation: None,
        hint: Some("write sense".to_owned()),
    });
    assert_eq!(case.report().exit(), Exit::Usage);
    let table = case.table(TableOptions::default());
    assert!(table.contains("\n  nonsense\n  hint: write sense\n"));
    let defect = guarded(|| panic!("an index is wrong")).expect_err("the step panics");
    case.decisions[1].decision.outcome = Outcome::Failed(CycleError::Defect(defect));
    assert_eq!(case.report().exit(), Exit::Internal);
    let errors = case.report().errors(|_| true);
    let [error] = errors.as_slice() else {
        panic!("expected one error: {errors:?}");
    };
    assert_eq!(error.binding, "shop/everywhere");
    assert!(
        error
            .message
            .contains("a defect of Divvy ended the decision: an index is wrong"),
        "{error:?}"
    );
    assert!(
        error.hint.as_deref().is_some_and(|hint| hint.contains("report it")),
        "{error:?}"
    );
    case.decisions.clear();
    assert_eq!(case.report().exit(), Exit::Success);
    assert_eq!(case.table(TableOptions::default()), "");
}

#[test]
fn errors_have_hints_and_causes_and_no_control_characters() {
    let diagnostic = Diagnostic::new("no \u{1b}[31mfile").with_hint("make one");
    let failure = Failure::usage(diagnostic.with_cause("it is gone"));
    let expected = "error: no \\u{1b}[31mfile\n  hint: make one\n  cause: it is gone\n";
    assert_eq!(rendered(|out| failure.write(out, 0)), expected);
    let manifests = read_text("bad.yaml", "kind: Pod\n", &ReadOptions::default());
    let printed = rendered(|out| Failure::input(&manifests.problems).write(out, 0));
    assert!(printed.starts_with("error: bad.yaml:1: "), "{printed}");
    let conclusion = "error: 1 problem in the input; nothing is scheduled\n";
    assert!(printed.ends_with(conclusion), "{printed}");
}

#[test]
fn what_no_policy_matches_is_said_once() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: lonely}\n";
    let mut manifests = read_text("in.yaml", text, &ReadOptions::default());
    let detected = manifests.detect(WorkloadKinds::default());
    assert_eq!(
        rendered(|out| warnings::write_unmatched(&detected, out, 0)),
        "note: no policy matches 1 resource: Pod default/lonely\n"
    );
    let settings = ObjectName::new("ConfigMap", "default", "settings");
    let with_more = Detected {
        unmatched: vec![settings.clone(), detected.unmatched[0].clone()],
        following: vec![settings],
        ..Detected::default()
    };
    assert_eq!(
        rendered(|out| warnings::write_unmatched(&with_more, out, 0)),
        "note: no policy matches 1 resource: Pod default/lonely\n\
         note: 1 resource follows the workloads that refer to it, by `propagateDeps`: ConfigMap default/settings\n"
    );
    assert_eq!(
        rendered(|out| warnings::write(&manifests, &detected, &[], out, 0)),
        "warning: the input holds no cluster\n\
         warning: the input holds no binding, and no workload that a policy matches\n"
    );
}

#[test]
fn columns_hold_wide_characters_and_long_names() {
    let columns = [Column::left("NAME"), Column::right("COUNT"), Column::left("END")];
    let mut grid = Grid::new(columns.to_vec());
    for row in [
        ["北京一", "7", "ok"],
        ["a", "", "not at all"],
        ["much-too-long-a-name", "42", ""],
    ] {
        grid.cells(row.map(Cell::plain).to_vec());
    }
    grid.text(2, "words that go on and on, and on", style::PLAIN);
    let expected = "\
NAME              COUNT  END
北京一                7  ok
a                        not at all
much-too-long-a-name
                     42
  words that go on and on,
    and on
";
    assert_eq!(rendered(|out| grid.write(out, Some(28))), expected);
}

#[test]
fn free_text_in_the_last_column_is_wrapped_there() {
    let mut grid = Grid::new(vec![
        Column::left("NAME"),
        Column::right("MOST"),
        Column::text("STOPPED BY"),
    ]);
    let reason = "cpu in 4 of 4 candidates; 8 clusters rejected (cluster-affinity 6, taint-toleration 2)";
    grid.cells(vec![Cell::plain("shop/web"), Cell::number(9), Cell::plain(reason)]);
    grid.cells(vec![Cell::plain("shop/a"), Cell::number(-10), Cell::plain("short")]);
    let expected = "\
NAME      MOST  STOPPED BY
shop/web     9  cpu in 4 of 4 candidates; 8 clusters
                rejected (cluster-affinity 6,
                taint-toleration 2)
shop/a     -10  short
";
    assert_eq!(rendered(|out| grid.write(out, Some(54))), expected);
    // Where the column would be too narrow, the text has lines of its own.
    let expected = "\
NAME      MOST  STOPPED BY
shop/web     9
    cpu in 4 of 4
      candidates; 8 clusters
      rejected
      (cluster-affinity 6,
      taint-toleration 2)
shop/a     -10  short
";
    assert_eq!(rendered(|out| grid.write(out, Some(30))), expected);
    let whole = rendered(|out| grid.write(out, None));
    assert!(whole.contains(&format!("shop/web     9  {reason}\n")), "{whole}");
}

#[test]
fn rows_that_are_written_one_by_one_are_the_whole_document() {
    let case = Case::new();
    // Blocks have eight bindings: in three reports, the last block is the first, a full one or a second one.
    for copies in [0, 1, 2, 5] {
        let mut report = case.report();
        report.entries = report.entries.repeat(copies);
        for form in [Form::Json, Form::Yaml] {
            let rows: Vec<_> = report
                .entries
                .iter()
                .map(|entry| structured::row(entry, &report))
                .collect();
            let whole = rendered(|out| form.write_document(&structured::document(&report, rows), out));
            assert_eq!(data(&report, form), whole);
            // Explained entries come some at a time.
            let parts = rendered(|out| structured::write(&report, form, |print| in_parts(&report, print), out));
            assert_eq!(parts, whole);
        }
    }
}

/// Passes the entries of a report on three at a time.
fn in_parts(report: &Report<'_>, print: Print<'_>) -> std::io::Result<()> {
    report.entries.chunks(3).try_for_each(print)
}

#[test]
fn a_table_in_parts_is_the_whole_table() {
    let case = Case::new();
    for explain in [false, true] {
        let options = TableOptions {
            explain,
            ..TableOptions::default()
        };
        let report = case.report();
        let parts = rendered(|out| table::write(&report, options, |print| in_parts(&report, print), out));
        assert_eq!(parts, case.table(options));
    }
}

#[test]
fn a_bar_is_as_long_as_its_share() {
    let mut grid = Grid::new(vec![Column::left("A"), Column::left("12345678")]);
    grid.cells(vec![Cell::plain("x"), Cell::bar(1, 2, style::PLAIN)]);
    grid.cells(vec![Cell::plain("y"), Cell::bar(1, 1_000_000, style::PLAIN)]);
    grid.cells(vec![Cell::plain("z"), Cell::bar(0, 0, style::PLAIN)]);
    let drawn = rendered(|out| grid.write(out, None));
    assert_eq!(drawn, "A  12345678\nx  ████\ny  ▏\nz\n");
}

#[test]
fn texts_break_between_words_and_lists_end() {
    assert_eq!(wrapped("a bb ccc", Some(4)), ["a bb", "ccc"]);
    assert_eq!(wrapped("unbreakable", Some(4)), ["unbreakable"]);
    assert_eq!(listed(["a", "b", "c"].into_iter(), 2), "a, b, c");
    assert_eq!(listed(["a", "b", "c", "d"].into_iter(), 2), "a, b, and 2 more");
    assert_eq!(printable("line\nbreak\u{7}\u{202e}"), "line break\\u{7}\\u{202e}");
}
