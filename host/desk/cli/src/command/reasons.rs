//! Log messages about each decision, for `-vv`.

use std::collections::BTreeMap;

use divvy_command::console::Console;
use divvy_scheduler::cycle::explanation::ClusterExplanation;
use divvy_scheduler::decision::Decision;

/// True if reasons are printed: at `-vv`.
pub(super) fn gives_reasons(console: &Console) -> bool {
    console.verbosity() > 1
}

/// Logs a decision and its reasons, as far as it was explained: at `-vv`, the strategy and the rejections by reason; at `-vvv`,
/// every cluster.
pub(super) fn decision(decision: &Decision) {
    // There may be hundreds of thousands of decisions.
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let binding = decision.binding.as_str();
    let (result, strategy) = (decision.outcome.word(), decision.strategy());
    let source = match decision.plan.as_ref() {
        Ok(plan) => plan.source.to_string(),
        Err(_) => String::new(),
    };
    let message = decision.message();
    let (replicas, affinity) = (decision.replicas, decision.affinity.as_str());
    tracing::debug!(
        binding, result, strategy, source, affinity, replicas, message, "decided"
    );
    let mut rejections: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let clusters = decision
        .explanation
        .iter()
        .flat_map(|explanation| &explanation.clusters);
    for cluster in clusters {
        let name = cluster.name.as_str();
        if let Some(note) = &cluster.rejected {
            *rejections.entry((&note.plugin, &note.text)).or_default() += 1;
            tracing::trace!(
                binding,
                cluster = name,
                plugin = note.plugin,
                reason = note.text,
                "rejected"
            );
            continue;
        }
        let ClusterExplanation {
            score,
            fits_now,
            last,
            candidate,
            replicas,
            ..
        } = cluster;
        let reasons: Vec<&str> = cluster.reasons.iter().map(|reason| reason.text.as_str()).collect();
        let reasons = reasons.join("; ");
        tracing::trace!(
            binding,
            cluster = name,
            score,
            fits_now,
            last,
            candidate,
            replicas,
            reasons,
            "considered"
        );
    }
    for ((plugin, reason), clusters) in rejections {
        tracing::debug!(binding, plugin, reason, clusters, "rejected");
    }
}
