//! Reasons of plugins as text and as data, and remarks, at every extension point.

use crate::prelude::*;
use crate::testing::{ClusterBuilder, Explanation, Scenario};

/// Explains its decision about the first cluster and remarks on the whole, at every extension point. With 1 replica, by
/// a figure that the host would drop.
#[derive(Default)]
struct Speaker;

fn reason(replicas: i64) -> Reason {
    let reason = Reason::from("is first").figure("position", 1);
    match replicas {
        1 => reason.figure("Position", 1),
        _ => reason,
    }
}

impl Plugin for Speaker {
    const NAME: &'static str = "speaker";
    const DESCRIPTION: &'static str = "says why";
}

impl FilterPlugin for Speaker {
    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        result.reject(Row::from_index(1), || "cluster(s) came second".to_owned());
        context.explain_row(Row::from_index(0), || reason(context.binding().replicas()));
        context.note(|| "filtered".to_owned());
        Ok(())
    }
}

impl ScorePlugin for Speaker {
    fn score(&self, context: &ScoreContext<'_, Self>, _: &mut ScoreResult<'_>) -> Result<(), Failure> {
        context.explain(Candidate::from_index(0), || reason(context.binding().replicas()));
        context.note(|| "scored".to_owned());
        Ok(())
    }
}

impl SelectPlugin for Speaker {
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        result.choose(Candidate::from_index(1));
        context.explain(Candidate::from_index(0), || reason(context.binding().replicas()));
        context.note(|| "selected".to_owned());
        Ok(())
    }
}

impl AssignPlugin for Speaker {
    const STRATEGIES: &'static [&'static str] = &["Speaker"];
    const PROMISES: Promises = Promises::NONE;

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        result.set(Candidate::from_index(0), context.replicas());
        context.explain(Candidate::from_index(0), || reason(context.replicas()));
        context.note(|| "divided".to_owned());
        Ok(())
    }
}

fn scenario(replicas: i64) -> Scenario {
    let clusters = ["a", "b"].map(ClusterBuilder::new);
    Scenario::new().replicas(replicas).clusters(clusters)
}

/// The plugin's reasons at each extension point.
fn said(scenario: &Scenario) -> [(&'static str, Result<Explanation, Failure>); 4] {
    [
        ("filtered", scenario.feasible_explained(&Speaker).map(|(_, said)| said)),
        ("scored", scenario.scores_explained(&Speaker).map(|(_, said)| said)),
        (
            "selected",
            scenario.candidates_explained(&Speaker).map(|(_, said)| said),
        ),
        ("divided", scenario.assign_explained(&Speaker).map(|(_, said)| said)),
    ]
}

#[test]
fn every_extension_point_explains_and_remarks() {
    for (note, said) in said(&scenario(3)) {
        let said = said.expect("it explains");
        assert_eq!(said.explanations, [(0, "is first".to_owned())], "{note}");
        assert_eq!(said.details.len(), 1, "{note}");
        assert_eq!(said.details[0].1.value("position"), Some(1), "{note}");
        assert_eq!(said.notes, [note]);
        let reasons: &[&str] = if note == "filtered" {
            &["cluster(s) came second"]
        } else {
            &[]
        };
        assert_eq!(said.reasons, reasons, "{note}");
    }
}

#[test]
fn a_figure_that_the_host_would_drop_is_an_error_at_every_extension_point() {
    let expected = "a reason has a figure named `Position`, expected letters and digits in camelCase";
    for (note, said) in said(&scenario(1)) {
        let error = said.expect_err("the host would drop a figure");
        assert_eq!(error, Failure::internal(expected), "{note}");
    }
    // Without explanations, nothing is wrong.
    assert_eq!(scenario(1).assign(&Speaker), Ok(vec![1, 0]));
}
