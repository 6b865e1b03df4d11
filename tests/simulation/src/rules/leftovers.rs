//! Rule e at any time and at rest: a binding that a process does not decide leaves nothing behind in its memory or its gauges.

use divvy_controller::lease::Role;
use divvy_controller::objects::Kind;
use divvy_controller::serve::Insight;

use super::Rule;
use super::rest::{is_ours, scheduled};
use crate::world::World;

/// Gauges of what a process decides, moves or writes, which are 0 while it does not lead.
const GAUGES: [&str; 6] = [
    "divvy_unscheduled_bindings",
    "divvy_moves",
    "divvy_unsettled_moves",
    "divvy_move_waits",
    "divvy_move_wait_seconds",
    "scheduler_pending_bindings",
];

impl World<'_> {
    /// Judges what a process remembers of bindings that it does not decide.
    pub(crate) fn judge_memory(&mut self, incarnation: u64) {
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let leftovers = process.engine.leftovers();
        if !leftovers.is_empty() {
            let text = format!("number {incarnation} remembers {}", leftovers.join(", "));
            self.breach(Rule::E, text);
        }
    }

    /// Judges the gauges of all processes at rest: of one that leads, they count failures that are on the bindings; of another, nothing.
    pub(super) fn judge_gauges(&mut self) {
        let instant = self.moment().instant;
        let bindings = self.plane.server.of_kind(Kind::Binding).map(|(_, binding)| binding);
        let failures = bindings.filter(|binding| is_ours(binding) && scheduled(binding)["status"] == "False");
        let failures = failures.count();
        let (mut breach, mut bursts) = (None, 0);
        for process in self.processes.iter().flatten() {
            process.engine.publish(instant);
            let text = Insight::metrics(process.panel.as_ref());
            let number = process.incarnation;
            bursts += sum(&text, "divvy_bursts_total{end=\"planned\"}");
            if matches!(process.role(), Role::Leader(_)) {
                let counted = sum(&text, "divvy_unscheduled_bindings");
                if usize::try_from(counted).is_ok_and(|counted| counted > failures) {
                    breach = Some(format!(
                        "number {number} counts {counted} failures, {failures} are on bindings"
                    ));
                }
                continue;
            }
            for gauge in GAUGES {
                let counted = sum(&text, gauge);
                if counted != 0 {
                    breach = Some(format!(
                        "number {number}, which does not lead, shows {counted} as `{gauge}`"
                    ));
                }
            }
        }
        self.books.bursts += u64::try_from(bursts).unwrap_or(0);
        if let Some(text) = breach {
            self.breach(Rule::E, text);
        }
    }
}

/// Sum of a gauge over its labels.
fn sum(text: &str, gauge: &str) -> i64 {
    let lines = text.lines().filter_map(|line| line.strip_prefix(gauge));
    let values = lines.filter(|line| line.starts_with([' ', '{'])).filter_map(|line| {
        let (_, value) = line.rsplit_once(' ')?;
        value.parse::<i64>().ok()
    });
    values.sum()
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn a_gauge_is_summed_over_its_labels() {
        let text = "# TYPE a gauge\na{reason=\"x y\"} 2\na{reason=\"z\"} 3\na_b 7\nb 1\n";
        assert_eq!(sum(text, "a"), 5);
        assert_eq!(sum(text, "b"), 1);
    }
}
