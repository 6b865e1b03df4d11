//! The kit checks the host's rules at every extension point.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario};

/// Faults of the plugins under test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    OutOfRange,
    Twice,
    EveryOther,
    WhenExplaining,
}

struct Wrong {
    fault: Fault,
    calls: AtomicU32,
}

impl Wrong {
    fn new(fault: Fault) -> Self {
        Self {
            fault,
            calls: AtomicU32::new(0),
        }
    }

    /// True if this call answers differently.
    fn strays(&self, explains: bool) -> bool {
        match self.fault {
            Fault::EveryOther => self.calls.fetch_add(1, Ordering::Relaxed) % 2 == 1,
            Fault::WhenExplaining => explains,
            _ => false,
        }
    }
}

impl Plugin for Wrong {
    const NAME: &'static str = "wrong";
    const DESCRIPTION: &'static str = "does one thing wrong";
}

impl FilterPlugin for Wrong {
    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let strays = self.strays(context.wants_explanation());
        let first = Row::from_index(usize::from(strays));
        result.reject(first, || "cluster(s) came first".to_owned());
        Ok(())
    }
}

impl ScorePlugin for Wrong {
    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let second = Candidate::from_index(1);
        result.set(second, if self.strays(context.wants_explanation()) { 6 } else { 5 });
        if self.fault == Fault::OutOfRange {
            result.set(second, 101);
        }
        Ok(())
    }
}

impl SelectPlugin for Wrong {
    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        let second = Candidate::from_index(1);
        result.choose(second);
        match self.fault {
            Fault::Twice => result.choose(second),
            Fault::OutOfRange => result.choose(Candidate::from_index(2)),
            _ if self.strays(context.wants_explanation()) => result.choose(Candidate::from_index(0)),
            _ => {}
        }
        Ok(())
    }
}

impl AssignPlugin for Wrong {
    const STRATEGIES: &'static [&'static str] = &["Wrong"];
    const PROMISES: Promises = Promises::NONE;

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let strays = self.strays(context.wants_explanation());
        let more = i64::from(self.fault == Fault::OutOfRange);
        result.set(Candidate::from_index(usize::from(strays)), context.replicas() + more);
        Ok(())
    }
}

fn scenario() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"))
}

/// The message with which a check panics; `None` if it does not.
pub(super) fn panics(check: impl FnOnce() + std::panic::UnwindSafe) -> Option<String> {
    let payload = std::panic::catch_unwind(check).err()?;
    Some(match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast_ref::<&str>().copied().unwrap_or_default().to_owned(),
    })
}

#[test]
fn what_is_right_passes() {
    let right = Wrong::new(Fault::None);
    let rejected = ("a".to_owned(), "cluster(s) came first".to_owned());
    assert_eq!(scenario().rejections_checked(&right).unwrap(), [rejected]);
    assert_eq!(scenario().scores_checked(&right).unwrap(), [0, 5]);
    assert_eq!(scenario().candidates_checked(&right).unwrap(), ["b"]);
    assert_eq!(scenario().feasible_checked(&right).unwrap(), ["b"]);
    assert_eq!(scenario().replicas(3).assign_checked(&right).unwrap(), [3, 0]);
    let (feasible, explanation) = scenario().feasible_explained(&right).unwrap();
    assert_eq!(
        (feasible, explanation.reasons),
        (vec!["b".to_owned()], vec!["cluster(s) came first".to_owned()])
    );
}

#[test]
fn a_broken_rule_is_told_in_the_words_of_the_host() {
    let score = "plugin `wrong` gave cluster `b` score 101, expected 0 to 100";
    let error = scenario().scores(&Wrong::new(Fault::OutOfRange)).unwrap_err();
    assert_eq!(error, Failure::internal(score));
    let checked = panics(|| _ = scenario().scores_checked(&Wrong::new(Fault::OutOfRange)));
    assert_eq!(checked.as_deref(), Some(score));
    for (fault, message) in [
        (Fault::Twice, "plugin `wrong` selected cluster `b` twice"),
        (
            Fault::OutOfRange,
            "plugin `wrong` selected index 2, but only 2 clusters are feasible",
        ),
    ] {
        let checked = panics(move || _ = scenario().candidates_checked(&Wrong::new(fault)));
        assert_eq!(checked.as_deref(), Some(message));
    }
    let checked = panics(|| _ = scenario().replicas(3).assign_checked(&Wrong::new(Fault::OutOfRange)));
    let message = "plugin `wrong` breaks a promise: plugin `wrong` divided 4 replicas, expected 3: [4, 0]";
    assert_eq!(checked.as_deref(), Some(message));
}

#[test]
fn an_answer_that_changes_is_told() {
    for fault in [Fault::EveryOther, Fault::WhenExplaining] {
        let checks = [
            panics(move || _ = scenario().rejections_checked(&Wrong::new(fault))),
            panics(move || _ = scenario().scores_checked(&Wrong::new(fault))),
            panics(move || _ = scenario().candidates_checked(&Wrong::new(fault))),
            panics(move || _ = scenario().feasible_checked(&Wrong::new(fault))),
            panics(move || _ = scenario().replicas(3).assign_checked(&Wrong::new(fault))),
        ];
        for message in checks {
            let message = message.expect("it panics");
            assert!(message.starts_with("plugin `wrong` answers differently "), "{message}");
        }
    }
}

/// Reads everything that the builders set.
#[derive(Default)]
struct Reader;

impl Plugin for Reader {
    const NAME: &'static str = "reader";
    const DESCRIPTION: &'static str = "reads the binding";
}

impl FilterPlugin for Reader {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        let binding = context.binding();
        let requests: Vec<String> = binding
            .requests()
            .map(|request| format!("{}={}", request.resource, request.quantity))
            .collect();
        let components: Vec<String> = binding
            .components()
            .map(|component| format!("{}x{}", component.name(), component.replicas()))
            .collect();
        Err(Failure::internal(format!(
            "{}/{} of {}: {} {}",
            binding.namespace(),
            binding.name(),
            binding.resource_name(),
            requests.join(" "),
            components.join(" ")
        )))
    }
}

#[test]
fn names_requests_and_components_reach_the_plugin() {
    let scenario = scenario()
        .named("shop", "web-deployment")
        .named_resource("web")
        .requests(&[("cpu", 500), ("memory", 1024)])
        .component("driver", 1, &[("cpu", 1000)]);
    let error = scenario.feasible(&Reader).unwrap_err();
    let expected = "shop/web-deployment of web: cpu=500 memory=1024 driverx1";
    assert_eq!(error, Failure::internal(expected));
}

/// Breaks the promise to judge each cluster alone at one extension point, or keeps it at all.
struct Sociable {
    breaks: &'static str,
}

impl Plugin for Sociable {
    const NAME: &'static str = "sociable";
    const DESCRIPTION: &'static str = "minds which other clusters there are";
}

impl FilterPlugin for Sociable {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        if self.breaks == "filter" && context.clusters().len() == 3 {
            result.reject(Row::from_index(2), || "cluster(s) came third".to_owned());
        }
        Ok(())
    }
}

impl ScorePlugin for Sociable {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        // A score may depend on the other clusters.
        let count = context.len();
        result.set(Candidate::from_index(0), count as i64);
        match self.breaks == "score" && count < 3 {
            true => Err(Failure::internal("two are not enough")),
            false => Ok(()),
        }
    }
}

impl SelectPlugin for Sociable {
    const PROMISES: Promises = Promises::NONE.each_alone();

    fn select(&self, context: &SelectContext<'_, Self>, result: &mut SelectResult<'_>) -> Result<(), Failure> {
        let has_room = |candidate: &Candidate| context.fits_now()[*candidate] > 0;
        match self.breaks {
            "select" => result.choose(Candidate::from_index(0)),
            "room" => context
                .candidates()
                .filter(has_room)
                .for_each(|candidate| result.choose(candidate)),
            _ => result.choose_all(),
        }
        Ok(())
    }
}

impl AssignPlugin for Sociable {
    const STRATEGIES: &'static [&'static str] = &["Sociable"];
    const PROMISES: Promises = Promises::NONE.duplicates().each_alone();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        if self.breaks == "assign" && context.len() < 3 {
            return Err(Failure::too_small(3, 2));
        }
        result.replicas().fill(context.replicas());
        Ok(())
    }
}

#[test]
fn a_plugin_that_minds_other_clusters_breaks_its_promise() {
    let scenario = || {
        let cluster = |name| ClusterBuilder::new(name).fits_now(5);
        let clusters = ["a", "b", "c"].map(cluster);
        let scenario = clusters.into_iter().fold(Scenario::new(), Scenario::cluster);
        scenario.replicas(2).duplicated(true)
    };
    let checks = |breaks: &'static str| {
        [
            panics(move || _ = scenario().feasible_checked(&Sociable { breaks })),
            panics(move || _ = scenario().scores_checked(&Sociable { breaks })),
            panics(move || _ = scenario().candidates_checked(&Sociable { breaks })),
            panics(move || _ = scenario().assign_checked(&Sociable { breaks })),
        ]
    };
    assert_eq!(checks("nothing"), [None, None, None, None]);
    for (number, breaks, expected) in [
        (0, "filter", r#"takes {"a", "b"}, and without `a` Ok(["b", "c"])"#),
        (1, "score", r#"takes {"a", "b", "c"}, and without `a` Err("#),
        (2, "select", r#"takes {"a"}, and without `a` Ok(["b"])"#),
        (
            2,
            "room",
            r#"takes {"a", "b", "c"}, and without `a` and without room Ok([])"#,
        ),
        (3, "assign", r#"takes {"a", "b", "c"}, and without `a` Err("#),
    ] {
        for (index, message) in checks(breaks).into_iter().enumerate() {
            let message = message.unwrap_or_default();
            match index == number {
                true => assert!(
                    message.contains("judge each cluster alone: ") && message.contains(expected),
                    "{message}"
                ),
                false => assert_eq!(message, "", "{breaks}"),
            }
        }
    }
    // Where the strategy divides, a selector promises nothing.
    let divided = scenario().duplicated(false);
    assert_eq!(
        divided.candidates_checked(&Sociable { breaks: "select" }).unwrap(),
        ["a"]
    );
}
