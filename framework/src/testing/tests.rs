//! Tests of the test kit itself: the input that a plugin sees through it.

mod checked;
mod everything;
mod explanations;
mod inputs;
mod parts;
mod tables;

use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario};

/// Reports its input.
#[derive(Default)]
struct Witness;

impl Plugin for Witness {
    const NAME: &'static str = "witness";
    const DESCRIPTION: &'static str = "says what it sees";
}

impl PreparePlugin for Witness {
    type Prepared = Vec<String>;

    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<Vec<String>, Failure> {
        Ok(context.binding().last().map(|last| last.cluster.to_owned()).collect())
    }
}

impl AssignPlugin for Witness {
    const STRATEGIES: &'static [&'static str] = &["Witness"];
    const PROMISES: Promises = Promises::NONE;
    const RULE_LISTS: &'static [RuleList] = &[RuleList::new("weights", &[RuleField::required("weight")])];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let mut weights = Vec::new();
        context.largest_rule_value("weight", -1, &mut weights);
        result.replicas().copy_from_slice(&weights);
        context.note(|| {
            context
                .prepared()
                .map_or_else(|_| String::new(), |names| names.join(","))
        });
        for candidate in context.candidates() {
            context.explain(candidate, || context.cluster(candidate).name().to_owned());
        }
        Ok(())
    }
}

fn scenario() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("c").last(3))
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b").last(0))
        .lost("z", 9)
        .rule(&["a", "c"], "weight", 2)
        .rule(&["c", "nowhere"], "weight", 5)
}

#[test]
fn clusters_are_numbered_by_name_and_the_largest_matching_rule_counts() {
    let expected = vec![2, -1, 5];
    assert_eq!(
        scenario().assign_in_order(&Witness, &[2, 0, 1]).expect("it assigns"),
        expected
    );
    assert_eq!(scenario().assign(&Witness).expect("it assigns"), expected);
}

#[test]
fn texts_are_made_only_on_request() {
    let (_, said) = scenario().assign_explained(&Witness).expect("it assigns");
    assert_eq!(said.notes, ["b,c,z"]);
    assert_eq!(said.explanations[2], (2, "c".to_owned()));
}

/// Promises everything, but gives all replicas to one candidate.
#[derive(Default)]
struct Liar;

impl Plugin for Liar {
    const NAME: &'static str = "liar";
    const DESCRIPTION: &'static str = "promises everything";
}

impl AssignPlugin for Liar {
    const STRATEGIES: &'static [&'static str] = &["Liar"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        // Move replicas away from where they were, so that no result is a fixed point.
        let present = context.last().as_slice().iter().position(|&last| last > 0);
        let start = present.map_or(0, |index| index + 1);
        result.set(Candidate::from_index(start % context.len()), context.replicas());
        Ok(())
    }
}

#[test]
fn broken_promises_are_found() {
    let cluster = |name, fits_now| ClusterBuilder::new(name).fits_now(fits_now);
    let fleet = |[a, b]: [i64; 2]| Scenario::new().cluster(cluster("a", a)).cluster(cluster("b", b));
    let broken = |scenario: Scenario| scenario.check_promises(&Liar).expect_err("a promise is broken");
    assert!(broken(fleet([1, 9]).replicas(2)).contains("capacity 1"));
    assert!(broken(fleet([9, 9]).replicas(2)).contains("in the order [1, 0]"));
    let alone = Scenario::new().cluster(cluster("a", 9)).replicas(2);
    assert_eq!(alone.check_promises(&Liar), Ok(()));
}

/// Names, at each extension point, a cluster that the call does not have.
#[derive(Default)]
struct Astray;

const NOWHERE: usize = 9;

impl Plugin for Astray {
    const NAME: &'static str = "astray";
    const DESCRIPTION: &'static str = "decides about a cluster that is not there";
}

impl FilterPlugin for Astray {
    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        match context.binding().replicas() {
            0 => result.reject(Row::from_index(NOWHERE), String::new),
            _ => context.explain_row(Row::from_index(NOWHERE), || "is not there".to_owned()),
        }
        Ok(())
    }
}

impl ScorePlugin for Astray {
    fn score(&self, _: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        result.set(Candidate::from_index(NOWHERE), 1);
        Ok(())
    }
}

impl SelectPlugin for Astray {
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        let chosen = if context.binding().replicas() == 0 { NOWHERE } else { 0 };
        result.choose(Candidate::from_index(chosen));
        result.choose(Candidate::from_index(chosen));
        Ok(())
    }
}

impl AssignPlugin for Astray {
    const STRATEGIES: &'static [&'static str] = &["Astray"];
    const PROMISES: Promises = Promises::NONE;

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        match context.replicas() {
            0 => result.set(Candidate::from_index(NOWHERE), 1),
            _ => context.explain(Candidate::from_index(NOWHERE), || "is not there".to_owned()),
        }
        Ok(())
    }
}

#[test]
fn results_for_clusters_that_are_not_there_are_errors() {
    let fleet = || {
        Scenario::new()
            .cluster(ClusterBuilder::new("a"))
            .cluster(ClusterBuilder::new("b"))
    };
    let refused = |failure: Failure| failure.to_string();
    let expected = "1 results are out of range";
    for replicas in [0, 1] {
        let scenario = fleet().replicas(replicas);
        assert_eq!(scenario.filter(&Astray).map_err(refused), Err(expected.to_owned()));
        assert_eq!(scenario.scores(&Astray).map_err(refused), Err(expected.to_owned()));
        let assigned = scenario.assign_explained(&Astray);
        assert_eq!(assigned.map_err(refused), Err(expected.to_owned()));
    }
    assert_eq!(
        fleet().candidates(&Astray).map_err(refused),
        Err("plugin `astray` selected index 9, but only 2 clusters are feasible".to_owned())
    );
    assert_eq!(
        fleet().replicas(1).candidates(&Astray).map_err(refused),
        Err("plugin `astray` selected cluster `a` twice".to_owned())
    );
}

/// Reads the same figures at each extension point, by name of the cluster.
#[derive(Default)]
struct Reader;

impl Plugin for Reader {
    const NAME: &'static str = "reader";
    const DESCRIPTION: &'static str = "reads the same everywhere";
}

impl FilterPlugin for Reader {
    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let smallest = context.clusters().rows().min_by_key(|&row| context.tie_key(row));
        result.retain(
            |row| Some(row) == smallest || context.listed_last(row).is_some(),
            |_| String::new(),
        );
        Ok(())
    }
}

impl ScorePlugin for Reader {
    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let smallest = context.candidates().min_by_key(|&candidate| context.tie_key(candidate));
        for (candidate, capacity) in context.capacity().iter() {
            assert_eq!(capacity, context.fits_now()[candidate] + context.last()[candidate]);
        }
        assert_eq!(context.capacity().len(), context.len());
        for candidate in context.candidates() {
            let kept = Some(candidate) == smallest || context.listed_last(candidate).is_some();
            result.set(candidate, i64::from(kept));
        }
        Ok(())
    }
}

#[test]
fn the_same_cluster_has_the_same_figures_by_row_and_by_candidate() {
    for uid in ["1", "2", "3", "4"] {
        let scenario = scenario().uid(uid);
        let names = scenario.cluster_names();
        let kept = scenario.feasible(&Reader).expect("it filters");
        let scores = scenario.scores(&Reader).expect("it scores");
        let scored = names.into_iter().zip(scores).filter(|(_, score)| *score == 1);
        assert_eq!(scored.map(|(name, _)| name).collect::<Vec<_>>(), kept, "{uid}");
    }
}

/// Reads the raw JSON of the first cluster at Filter, where it declares to need it, and at Score, where it does not.
#[derive(Default)]
struct Raw;

impl Plugin for Raw {
    const NAME: &'static str = "raw";
    const DESCRIPTION: &'static str = "reads the raw JSON of clusters";
}

impl FilterPlugin for Raw {
    const NEEDS: Needs = Needs::NONE.raw_cluster();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        for cluster in context.clusters().iter() {
            if cluster.raw_json()? == "{}" {
                result.reject(cluster.row(), || "cluster(s) were empty".to_owned());
            }
        }
        Ok(())
    }
}

impl ScorePlugin for Raw {
    fn score(&self, context: &ScoreContext<'_, Self>, _: &mut ScoreResult<'_>) -> Result<(), Failure> {
        context.cluster(Candidate::from_index(0)).raw_json()?;
        Ok(())
    }
}

#[test]
fn raw_json_is_read_only_where_it_is_declared() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a").raw_json("{}"))
        .cluster(ClusterBuilder::new("b").raw_json("{\"a\":1}"));
    assert_eq!(scenario.feasible(&Raw).expect("it filters"), ["b"]);
    let refused = scenario.scores(&Raw).map_err(|failure| failure.to_string());
    let expected = "reads the raw JSON of a cluster without declaring `Needs::raw_cluster`";
    assert_eq!(refused, Err(expected.to_owned()));
    // A need of the configuration is granted.
    assert_eq!(scenario.needs(Needs::NONE.raw_cluster()).scores(&Raw), Ok(vec![0, 0]));
}

/// Explains what it decides as data; with 1 replica, by a figure that the host would drop.
#[derive(Default)]
struct Teller;

impl Plugin for Teller {
    const NAME: &'static str = "teller";
    const DESCRIPTION: &'static str = "says why";
}

impl ScorePlugin for Teller {
    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        for candidate in context.candidates() {
            result.set(candidate, 7);
            context.explain(candidate, || {
                let reason = Reason::from("is green").figure("grams", 7);
                match context.binding().replicas() {
                    1 => reason.figure("grams-of-carbon", 7),
                    2 => reason.figure("grams", 8),
                    _ => reason,
                }
            });
        }
        Ok(())
    }
}

impl SelectPlugin for Teller {
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        result.choose(Candidate::from_index(1));
        for candidate in result.left_out() {
            context.explain(candidate, || {
                Reason::of(Cause::BeyondMaximum).bound(Bound::Cap).figure("maximum", 1)
            });
        }
        Ok(())
    }
}

#[test]
fn reasons_of_scores_and_of_what_is_left_out_are_returned_as_data_and_as_text() {
    let fleet = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"))
        .cluster(ClusterBuilder::new("c"));
    let (scores, said) = fleet.scores_explained(&Teller).expect("it scores");
    assert_eq!(
        (scores, said.explanations[2].clone()),
        (vec![7; 3], (2, "is green".to_owned()))
    );
    assert_eq!(said.details[2].1.value("grams"), Some(7));
    let (chosen, said) = fleet.candidates_explained(&Teller).expect("it selects");
    assert_eq!(chosen, ["b"]);
    let line = "others come first, at most 1 may be chosen".to_owned();
    assert_eq!(said.explanations, [(0, line.clone()), (2, line)]);
    assert_eq!(said.details[0].1.bound_by(), Some(Bound::Cap));
    let refused = |replicas: i64| {
        let scored = fleet.clone().replicas(replicas).scores_explained(&Teller);
        scored
            .map_err(|failure| failure.to_string())
            .expect_err("the host would drop a figure")
    };
    assert_eq!(
        refused(1),
        "a reason has a figure named `grams-of-carbon`, expected letters and digits in camelCase"
    );
    assert_eq!(refused(2), "a reason has two figures named `grams`");
}

#[test]
fn what_a_plugin_counts_is_returned() {
    use crate::metrics::{counter, histogram};
    let ((), metrics) = crate::testing::measured(|| {
        counter("hits").add(2);
        counter("hits").add(1);
        histogram("groups").record(4.0);
    });
    assert_eq!((metrics.counter("hits"), metrics.counter("misses")), (3, 0));
    assert_eq!(metrics.histogram("groups").sum, 4.0);
    // Outside of it, nothing is counted.
    counter("hits").add(1);
}

#[test]
#[should_panic(expected = "the host would ignore the metric `cache-hits`")]
fn a_metric_that_the_host_would_ignore_fails_the_test() {
    crate::testing::measured(|| crate::metrics::counter("cache-hits").add(1));
}
