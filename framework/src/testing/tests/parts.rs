//! The kit checks that plugins act only on the declared parts of a binding.

use crate::binding::SpreadConstraint;
use crate::clusters::RowSet;
use crate::prelude::*;
use crate::testing::{ClusterBuilder, PeerBuilder, Scenario};

/// Answers of a plugin for a binding without the part that it declares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    Honest,
    Decides,
    Speaks,
    NamesTime,
    Fails,
}

/// All parts, each with its name.
const PARTS: [(BindingParts, &str); 6] = [
    (BindingParts::LAST_RESULT, "`LAST_RESULT`"),
    (BindingParts::EVICTIONS, "`EVICTIONS`"),
    (BindingParts::SPREAD_CONSTRAINTS, "`SPREAD_CONSTRAINTS`"),
    (BindingParts::CLUSTER_AFFINITIES, "`CLUSTER_AFFINITIES`"),
    (BindingParts::AFFINITY_GROUP, "`AFFINITY_GROUP`"),
    (BindingParts::ANTI_AFFINITY_GROUP, "`ANTI_AFFINITY_GROUP`"),
];

/// Declares to act on the part with the number `DECLARED`, and acts on the one with the number `reads`.
struct Acting<const DECLARED: usize> {
    reads: usize,
    idle: Idle,
}

impl<const DECLARED: usize> Acting<DECLARED> {
    fn has_part(&self, cycle: &crate::cycle::Cycle<'_>) -> Result<bool, Failure> {
        let (binding, placements) = (cycle.binding(), cycle.placements()?);
        Ok(match self.reads {
            0 => binding.last().next().is_some(),
            1 => binding.evictions().next().is_some(),
            2 => binding.spread_constraints().next().is_some(),
            3 => binding.affinities().next().is_some(),
            4 => placements.affinity_group().is_some(),
            _ => placements.anti_affinity_group().is_some(),
        })
    }

    /// True if the plugin decides about the first cluster.
    fn acts(&self, cycle: &crate::cycle::Cycle<'_>) -> Result<bool, Failure> {
        let has_part = self.has_part(cycle)?;
        match self.idle {
            _ if has_part => {}
            Idle::Honest => {}
            Idle::Decides => return Ok(true),
            Idle::Speaks => cycle.note(|| "nothing to do".to_owned()),
            Idle::NamesTime => cycle.valid_until(7),
            Idle::Fails => return Err(Failure::internal("nothing to do")),
        }
        Ok(has_part)
    }
}

impl<const DECLARED: usize> Plugin for Acting<DECLARED> {
    const NAME: &'static str = "acting";
    const DESCRIPTION: &'static str = "acts on one part of a binding";
}

impl<const DECLARED: usize> FilterPlugin for Acting<DECLARED> {
    const NEEDS: Needs = Needs::NONE.placements();
    const ACTS_ON: BindingParts = PARTS[DECLARED].0;

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        if self.acts(context)? {
            result.reject(Row::from_index(0), || "cluster(s) came first".to_owned());
        }
        Ok(())
    }
}

impl<const DECLARED: usize> ScorePlugin for Acting<DECLARED> {
    const NEEDS: Needs = Needs::NONE.placements();
    const ACTS_ON: BindingParts = PARTS[DECLARED].0;

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        if self.acts(context)? {
            result.set(Candidate::from_index(0), 100);
        }
        Ok(())
    }
}

/// A binding with every part.
fn scenario() -> Scenario {
    Scenario::new()
        .clusters(["a", "b"].map(ClusterBuilder::new))
        .cluster(ClusterBuilder::new("c").last(1))
        .lost("gone", 1)
        .eviction("gone")
        .spread_constraint(SpreadConstraint::by_label("rack", 1, 0))
        .affinity(|_| {})
        .peers([
            PeerBuilder::in_affinity_group("near"),
            PeerBuilder::in_anti_affinity_group("far"),
        ])
}

/// The messages with which the kit refuses a plugin at Filter and at Score; `None` if it does not.
fn refusals<const DECLARED: usize>(reads: usize, idle: Idle) -> [Option<String>; 2] {
    let plugin = || Acting::<DECLARED> { reads, idle };
    [
        super::checked::panics(|| _ = scenario().rejections_checked(&plugin()).expect("it succeeds")),
        super::checked::panics(|| _ = scenario().scores_checked(&plugin()).expect("it succeeds")),
    ]
}

#[track_caller]
fn check_part<const DECLARED: usize>() {
    for (reads, (_, read)) in PARTS.iter().enumerate() {
        let [filter, score] = refusals::<DECLARED>(reads, Idle::Honest);
        if reads == DECLARED {
            assert_eq!((filter, score), (None, None), "{read}");
            continue;
        }
        let declared = PARTS[DECLARED].1;
        let message =
            format!("plugin `acting` declares to act only on {declared}, and without that it decides about [\"a\"]");
        assert_eq!([filter, score], [Some(message.clone()), Some(message)], "{read}");
    }
}

#[test]
fn a_plugin_may_act_on_the_part_that_it_declares_alone() {
    check_part::<0>();
    check_part::<1>();
    check_part::<2>();
    check_part::<3>();
    check_part::<4>();
    check_part::<5>();
}

#[test]
fn a_binding_without_the_part_is_left_alone() {
    for (idle, expected) in [
        (Idle::Decides, "decides about [\"a\"]"),
        (Idle::Speaks, "explains: Explanation {"),
        (Idle::NamesTime, "limits the time for which its answer holds: 7"),
        (Idle::Fails, "fails: nothing to do"),
    ] {
        for refusal in refusals::<1>(1, idle) {
            let refusal = refusal.unwrap_or_default();
            assert!(refusal.contains(&format!("without that it {expected}")), "{refusal}");
        }
    }
}

#[test]
fn a_plugin_that_acts_on_several_parts_is_called_for_any() {
    const EITHER: BindingParts = BindingParts::EVICTIONS.or(BindingParts::LAST_RESULT);
    assert_eq!(EITHER.names(), "`LAST_RESULT`, `EVICTIONS`");
    assert_eq!(EITHER.or(BindingParts::ALL), BindingParts::ALL);
    assert_eq!(BindingParts::ALL.or(EITHER), BindingParts::ALL);

    struct Either;

    impl Plugin for Either {
        const NAME: &'static str = "either";
        const DESCRIPTION: &'static str = "acts on two parts of a binding";
    }

    impl FilterPlugin for Either {
        const ACTS_ON: BindingParts = EITHER;

        fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
            let (clusters, binding) = (context.clusters(), context.binding());
            let mut last = RowSet::default();
            binding.collect_last_rows(&clusters, &mut last);
            let evicted: Vec<Row> = binding.eviction_rows(&clusters).collect();
            result.retain(
                |row| !last.contains(row) && !evicted.contains(&row),
                |_| "cluster(s) had a past".to_owned(),
            );
            Ok(())
        }
    }

    let scenario = scenario().eviction("b");
    assert_eq!(scenario.feasible_checked(&Either).unwrap(), ["a"]);
}
