//! Log lines about failed decisions: one per binding and cause, and a bounded number per second.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use super::life::Reported;
use crate::condition::Failure;

/// Lines per second. In a burst, the rest is counted.
const LINES_MAX: u32 = 10;

/// Failures that were reported lately.
#[derive(Debug, Default)]
pub(super) struct FailureLines {
    /// Start of the present second.
    since: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl FailureLines {
    /// True if a failure gets a line: its reason or cause differs from that of the binding's last failure, which it replaces, and there
    /// are not too many lines in this second. A difference in figures alone does not count.
    pub(super) fn is_due(&mut self, last: &mut Option<Reported>, failure: &Failure, now: Instant) -> bool {
        let cause = (failure.reason, without_figures(&failure.message));
        if last.replace(cause) == Some(cause) {
            return false;
        }
        let is_over = self
            .since
            .is_none_or(|since| now.saturating_duration_since(since) >= Duration::from_secs(1));
        if is_over {
            self.since = Some(now);
            self.lines = 0;
        }
        let is_due = self.lines < LINES_MAX;
        match is_due {
            true => self.lines += 1,
            false => self.left_out += 1,
        }
        is_due
    }

    /// Failures without a line since the last call, once their second is over.
    pub(super) fn take_left_out(&mut self, now: Instant) -> Option<u64> {
        let is_over = self
            .since
            .is_none_or(|since| now.saturating_duration_since(since) >= Duration::from_secs(1));
        (is_over && self.left_out > 0).then(|| std::mem::take(&mut self.left_out))
    }
}

/// Hash of a text without its numbers.
fn without_figures(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.split(|character: char| character.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .for_each(|part| part.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::{Cause, Retry, ScheduledReason};

    fn failure(message: &str) -> Failure {
        Failure {
            reason: ScheduledReason::Unschedulable,
            message: message.to_owned(),
            retry: Retry::After(Cause::Capacity),
        }
    }

    #[test]
    fn a_failure_is_reported_again_when_its_cause_changes_and_not_its_figures() {
        let (mut lines, mut last, now) = (FailureLines::default(), None, Instant::now());
        assert!(lines.is_due(&mut last, &failure("60 requested, 0 fit"), now));
        assert!(!lines.is_due(&mut last, &failure("60 requested, 12 fit"), now));
        assert!(lines.is_due(&mut last, &failure("0/12 clusters are available"), now));
        let other = Failure::invalid_binding("0/12 clusters are available");
        assert!(lines.is_due(&mut last, &other, now), "another reason");
        assert!(!lines.is_due(&mut last, &other, now));
        assert!(lines.is_due(&mut None, &other, now), "it was scheduled meanwhile");
    }

    #[test]
    fn a_burst_has_a_bounded_number_of_lines_and_then_one_with_the_rest() {
        let (mut lines, now) = (FailureLines::default(), Instant::now());
        let due = (0..200)
            .filter(|_| lines.is_due(&mut None, &failure("no room"), now))
            .count();
        assert_eq!(due, LINES_MAX as usize);
        assert_eq!(lines.take_left_out(now), None, "the second is not over");
        let later = now + Duration::from_secs(1);
        assert_eq!(lines.take_left_out(later), Some(200 - u64::from(LINES_MAX)));
        assert_eq!(lines.take_left_out(later), None);
        assert!(lines.is_due(&mut None, &failure("no room"), later));
    }
}
