//! The plugin decides something. One that never decides breaks no other rule, and neither does a filter that rejects no cluster.

use std::collections::BTreeMap;

use divvy_scheduler::decision::Outcome;

use super::tally::Tally;
use super::{Broken, Check, Method};
use crate::case::Case;
use crate::subject::{Shown, Subject, described};

/// The check that cases are decided.
pub(super) fn check() -> Check {
    Check {
        name: "decides",
        contract: "some cases are decided with the plugin, and some by each strategy that it serves",
        takes_the_process: false,
        applies: |_| true,
        method: Method::Together(decides),
    }
}

/// True if the plugin under test is the one that rejects a cluster of a case.
fn rejects_a_cluster(subject: &Subject, case: &Case) -> bool {
    let Ok(situation) = subject.read(case) else {
        return false;
    };
    let mut scheduler = situation.scheduler(subject.profile()).explaining(true);
    let decision = scheduler.schedule(&situation.binding, &situation.fleet);
    let clusters = decision
        .explanation
        .iter()
        .flat_map(|explanation| &explanation.clusters);
    let mut rejected = clusters.filter_map(|cluster| cluster.rejected.as_ref());
    rejected.any(|note| note.plugin == subject.plugin())
}

fn decides(subject: &Subject, cases: &[Case], tally: &mut Tally) -> Result<(), Broken> {
    let own = subject.strategies();
    let mut rejects = false;
    // Why cases are not decided: by strategy, the number of cases for each reason, and one of them.
    let mut refused: BTreeMap<String, BTreeMap<String, (u64, &Case)>> = BTreeMap::new();
    for case in cases {
        let Ok((decision, shown)) = subject.decide(case) else {
            continue;
        };
        if shown == Shown::Nothing {
            let strategy = decision.plan.as_ref().as_ref().map(|plan| plan.strategy.clone());
            let reason = match &decision.outcome {
                // Figures differ from case to case, so reasons are counted by their kind.
                Outcome::Failed(error) => error.kind().to_string(),
                _ => "no cluster was needed, or the plugin was not called".to_owned(),
            };
            let reasons = refused.entry(strategy.unwrap_or_default()).or_default();
            reasons.entry(reason).or_insert((0, case)).0 += 1;
        }
        rejects = rejects || (subject.filters() && rejects_a_cluster(subject, case));
        tally.add(shown);
    }
    if subject.filters() && !rejects && tally.is_conclusive() {
        return Err(Broken::from(format!(
            "in {} cases, it rejects no cluster: without it, each would be decided the same. If it needs particular policies or clusters, \
             add cases with `--cases`",
            cases.len()
        )));
    }
    let undecided = own.iter().find(|strategy| tally.decided_by(strategy) == 0);
    let what = match undecided {
        Some(strategy) => format!("its strategy `{strategy}` decided none of them"),
        None if tally.decided() == 0 => "none of them was decided".to_owned(),
        None => return Ok(()),
    };
    let mut reasons = BTreeMap::new();
    for (strategy, found) in refused {
        if undecided.is_none_or(|undecided| *undecided == strategy) {
            for (reason, (count, case)) in found {
                reasons.entry(reason).or_insert((0, case)).0 += count;
            }
        }
    }
    let most = reasons.into_iter().max_by_key(|(_, (count, _))| *count);
    let Some((_, (count, case))) = most else {
        return Err(Broken::from(format!(
            "of {} cases, {what}: none asks for it",
            cases.len()
        )));
    };
    let example = subject.decide(case).map(|(decision, _)| described(&decision));
    Err(Broken {
        message: format!(
            "of {} cases, {what}. Most often ({count} times), the outcome is like this one: `{}`. If the plugin needs particular \
             policies or clusters, add cases with `--cases`",
            cases.len(),
            example.unwrap_or_default()
        ),
        case: Some(case.clone()),
    })
}
