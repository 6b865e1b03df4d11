//! A tree of one level and the SDK's groups are two solutions of the same rules: they give the same counts and refusals.

use divvy_framework::division::groups::{Bounds, GroupsError};
use divvy_framework::division::ties::{identity_hash, tie_key};
use divvy_framework::division::{Scratch, within_groups};
use divvy_framework::groups::Group;
use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use super::*;

/// A strategy that shares among groups, and compares what it gets with a tree; a cluster's group is the number in its region.
struct Compared(Vec<(Group, Node)>);

impl Plugin for Compared {
    const NAME: &'static str = "compared";
    const DESCRIPTION: &'static str = "shares among groups, and compares the result with a tree";
}

impl AssignPlugin for Compared {
    const STRATEGIES: &'static [&'static str] = &["Compared"];
    const PROMISES: Promises = Promises::NONE;

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let groups: Vec<Group> = self.0.iter().map(|(group, _)| group.clone()).collect();
        let group_of = |candidate| context.cluster(candidate).region().parse::<usize>().ok();
        let shared = context.share_among(&groups, group_of, result);

        let mut tree = Tree::default();
        tree.divide_among(
            0,
            self.0.iter().map(|(group, node)| Node {
                tie: tie_key(context.seed(), identity_hash(group.name())),
                ..*node
            }),
        );
        let leaf_of: Vec<u32> = context
            .candidates()
            .map(|candidate| group_of(candidate).map_or(groups.len() + 1, |group| group + 1) as u32)
            .collect();
        let members = Members {
            leaf_of: &leaf_of,
            weights: &[],
        };
        let (request, mut memory) = (context.division_request(), Memory::default());
        let mut counts = vec![-1; leaf_of.len()];
        let rounding = Rounding::default();
        let divided = divide(
            &request,
            &tree,
            members,
            rounding,
            context.ties(),
            &mut counts,
            &mut memory,
        );
        let expected = divided.map_err(|error| {
            assert!(matches!(error, TreeError::Unsatisfiable { .. }), "{error}");
            let conflict = find_conflict(&request, &tree, members, &mut memory).expect("it is simple");
            let nearest = nearest_counts(&request, &tree, members, &mut memory).expect("it is simple");
            let named = conflict.iter().map(|constraint| named(&groups, constraint));
            let named = named.collect::<Vec<String>>().join("; ");
            let failure = Failure::unschedulable(format!("{} replicas cannot be shared: {named}", request.replicas));
            match nearest.instead() {
                Some(count) => failure.with_figures(request.replicas, count),
                None => failure,
            }
        });
        assert_eq!(shared, expected);
        if shared.is_ok() {
            assert_eq!(result.replicas(), counts);
        }
        shared
    }
}

fn named(groups: &[Group], Constraint { node, kind }: &Constraint) -> String {
    let name = groups[node - 1].name();
    match kind {
        ConstraintKind::Exactly(count) => format!("{name} gets exactly {count}"),
        ConstraintKind::Least(count) => format!("{name} gets at least {count}"),
        ConstraintKind::Most(count) => format!("{name} gets at most {count}"),
        ConstraintKind::Room { candidates: 0, .. } => format!("{name} has no candidate"),
        ConstraintKind::Room { available, .. } => format!("{name} has room for {available}"),
        other => panic!("no group has {other:?}"),
    }
}

/// A group, and the node that means the same. The name is the number of the group.
fn group() -> impl Strategy<Value = (Share, LeafRule, Option<i64>, Option<i64>)> {
    let share = prop_oneof![
        2 => Just(Share::Keeps),
        3 => (1..6_u32).prop_map(Share::Weight),
        1 => Just(Share::Rest),
    ];
    let rule = prop::sample::select(vec![LeafRule::ByRoom, LeafRule::Evenly, LeafRule::Fewest]);
    let bound = || prop::option::weighted(0.4, prop_oneof![4 => 0..9_i64, 1 => 0..60_i64]);
    (share, rule, bound(), bound(), any::<bool>()).prop_map(|(share, rule, least, most, is_exact)| {
        let most = if is_exact && least.is_some() { least } else { most };
        (share, rule, least, most)
    })
}

fn both(number: usize, (share, rule, least, most): (Share, LeafRule, Option<i64>, Option<i64>)) -> (Group, Node) {
    let name = format!("g{number}");
    let mut group = match share {
        Share::Keeps => Group::keeping(name),
        Share::Weight(weight) => Group::weighing(name, weight),
        Share::Rest => Group::rest(name),
    };
    group = match rule {
        LeafRule::Evenly => group.evenly(),
        LeafRule::Fewest => group.over_the_fewest(),
        LeafRule::ByRoom | LeafRule::ByWeight => group,
    };
    group = least.map_or(group.clone(), |least| group.at_least(least));
    group = most.map_or(group.clone(), |most| group.at_most(most));
    let node = Node {
        share,
        least: least.map(Amount::Count),
        most: most.map(Amount::Count),
        leaf: Leaf {
            rule,
            ..Leaf::default()
        },
        tie: 0,
    };
    (group, node)
}

/// One candidate: room, last replicas, group.
fn candidates() -> impl Strategy<Value = Vec<(i64, i64, usize)>> {
    let room = prop_oneof![8 => 0..14_i64, 1 => 0..2_000_i64];
    prop::collection::vec((room, prop_oneof![1 => Just(0_i64), 1 => 0..9_i64], 0..5_usize), 1..16)
}

fn replicas() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..70_i64, 1 => 0..3_000_i64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn shared_among_groups(
        groups in prop::collection::vec(group(), 1..5),
        candidates in candidates(),
        replicas in replicas(),
    ) {
        let clusters = candidates.iter().enumerate().map(|(number, &(fits_now, last, group))| {
            let region = if group < groups.len() { group.to_string() } else { String::new() };
            ClusterBuilder::new(&format!("m{number:02}")).region(&region).fits_now(fits_now).last(last)
        });
        let scenario = Scenario::new().clusters(clusters).replicas(replicas);
        // The plugin compares.
        _ = scenario.assign(&Compared(groups.into_iter().enumerate().map(|(number, group)| both(number, group)).collect()));
    }

    #[test]
    fn within_bounds(
        candidates in candidates(),
        limits in prop::collection::vec((0..8_i64, 0..30_i64), 1..4),
        replicas in replicas(),
        is_fresh in any::<bool>(),
        rounding in prop::sample::select(vec![Rounding::FloorThenRank, Rounding::LargestRemainder, Rounding::Webster, Rounding::Karmada]),
    ) {
        let fits_now: Vec<i64> = candidates.iter().map(|row| row.0).collect();
        let last: Vec<i64> = candidates.iter().map(|row| row.1).collect();
        let group_of: Vec<u32> = candidates.iter().map(|row| row.2.min(limits.len()) as u32).collect();
        let bounds: Vec<Bounds> = limits.iter().map(|&(least, more)| Bounds { least, most: least + more }).collect();
        let cycle = if is_fresh { Cycle::Fresh } else { Cycle::Steady };
        let request = Request::new(replicas, &fits_now, &last, cycle);
        let mut tree = Tree::default();
        let nodes = (0..).zip(bounds.iter().chain([&Bounds::NONE]));
        tree.divide_among(0, nodes.map(|(tie, bounds)| Node {
            least: Some(Amount::Count(bounds.least)),
            most: Some(Amount::Count(bounds.most)),
            tie,
            ..KEEPING
        }));
        let leaf_of: Vec<u32> = group_of.iter().map(|group| group + 1).collect();
        let members = Members { leaf_of: &leaf_of, weights: &[] };
        let (mut one, mut other) = (vec![-1; last.len()], vec![-2; last.len()]);
        let by_tree = divide(&request, &tree, members, rounding, ties, &mut one, &mut Memory::default());
        let bounded = within_groups(&request, &group_of, &bounds, rounding, ties, &mut other, &mut Scratch::default());
        match (by_tree, bounded) {
            (Ok(()), Ok(())) => prop_assert_eq!(one, other),
            (Err(TreeError::Unsatisfiable { .. }), Err(error)) => {
                let is_for_columns = matches!(
                    error,
                    GroupsError::Division(DivisionError::Negative { .. } | DivisionError::LengthMismatch { .. })
                );
                prop_assert!(!is_for_columns, "{error}");
            }
            (by_tree, bounded) => prop_assert!(false, "{by_tree:?}, but {bounded:?}"),
        }
    }
}
