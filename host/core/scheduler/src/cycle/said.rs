//! Reasons that plugins give for single clusters, kept as they hand them over.
//!
//! A plugin explains every cluster, a thousand of them in a large fleet, but most explanations list a few dozen. So a reason is
//! read only once it is known to be listed, and memory is reused from cycle to cycle.

use std::ops::Range;

use divvy_framework_abi::reason::{FigureRow, Reason as AbiReason};
use divvy_framework_abi::{PluginText, Slice};
use divvy_framework_view::reason::Reason;

/// Reasons for which memory is kept: two per cluster for 30,000 clusters.
const KEPT_REASONS: usize = 60_000;
/// Figures for which memory is kept: three per reason.
const KEPT_FIGURES: usize = 3 * KEPT_REASONS;
/// Bytes of texts and names for which memory is kept.
const KEPT_BYTES: usize = 4 << 20;

/// The reasons of one cycle.
#[derive(Debug, Default)]
pub(super) struct Sayings {
    said: Vec<Said>,
    /// Range of each figure's name in `bytes`, and its value.
    figures: Vec<(Range<usize>, i64)>,
    /// Texts and names of figures, as the plugins wrote them.
    bytes: Vec<u8>,
}

/// A reason whose text and figures are in [`Sayings`].
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// Index, in the profile's list of plugins, of the plugin that gave it.
    pub(super) plugin: usize,
    /// Row of the cluster.
    pub(super) row: u32,
    cause: u32,
    bound: u32,
    remainder: u32,
    decided_by: u32,
    /// Its range in [`Sayings::figures`].
    figures: Range<usize>,
    /// Its range in [`Sayings::bytes`].
    text: Range<usize>,
}

impl Sayings {
    /// Forgets everything, but keeps the memory, up to a multiple of the usual size.
    pub(super) fn clear(&mut self) {
        self.said.clear();
        self.said.shrink_to(KEPT_REASONS);
        self.figures.clear();
        self.figures.shrink_to(KEPT_FIGURES);
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
    }

    /// Number of reasons.
    pub(super) fn len(&self) -> usize {
        self.said.len()
    }

    /// Forgets all but the first `count` reasons.
    pub(super) fn truncate(&mut self, count: usize) {
        let Some(first) = self.said.get(count) else { return };
        // The names of a reason's figures come before its text.
        let names = self.figures.get(first.figures.clone()).unwrap_or_default();
        let bytes = names.first().map_or(first.text.start, |(name, _)| name.start);
        let figures = first.figures.start;
        self.bytes.truncate(bytes);
        self.figures.truncate(figures);
        self.said.truncate(count);
    }

    /// Stores a reason of a plugin.
    pub(super) fn push(&mut self, plugin: usize, reason: &AbiReason<'_>) {
        let first = self.figures.len();
        for figure in reason.figures.as_slice() {
            let name = self.keep(figure.name);
            self.figures.push((name, figure.value));
        }
        let text = self.keep(reason.text);
        self.said.push(Said {
            plugin,
            row: reason.row,
            cause: reason.cause,
            bound: reason.bound,
            remainder: reason.remainder,
            decided_by: reason.decided_by,
            figures: first..self.figures.len(),
            text,
        });
    }

    fn keep(&mut self, text: PluginText<'_>) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text.bytes());
        start..self.bytes.len()
    }

    /// All reasons, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Said> {
        self.said.iter()
    }

    /// Reads one of these reasons.
    pub(super) fn read(&self, said: &Said) -> Reason {
        let text = |range: &Range<usize>| PluginText::from_bytes(&self.bytes[range.clone()]);
        let figures = self.figures[said.figures.clone()].iter();
        let figures: Vec<FigureRow<'_>> = figures
            .map(|(name, value)| FigureRow {
                name: text(name),
                value: *value,
            })
            .collect();
        Reason::read(&AbiReason {
            row: said.row,
            cause: said.cause,
            bound: said.bound,
            remainder: said.remainder,
            decided_by: said.decided_by,
            figures: Slice::new(&figures),
            text: text(&said.text),
            ..AbiReason::DEFAULT
        })
    }
}

#[cfg(test)]
mod tests {
    use divvy_framework_view::reason::{Bound, Cause, Decider};

    use super::*;

    /// A reason is read unchanged, wherever it is in the list and however often the list was cleared.
    #[test]
    fn a_reason_is_read_as_it_was_handed_over() {
        let reasons = [
            Reason::of(Cause::Other),
            Reason::from("is the cheapest").figure("price", -3),
            Reason::of(Cause::Even)
                .figure("capacity", i64::MAX)
                .figure("each", 2)
                .bound(Bound::Capacity)
                .remainder(false, Decider::Tie)
                .text("ä"),
            Reason::of(Cause::Packed).remainder(true, Decider::Name),
        ];
        let mut sayings = Sayings::default();
        for _ in 0..2 {
            sayings.clear();
            for (plugin, reason) in reasons.iter().enumerate() {
                reason.hand_over(plugin as u32 * 7, |handed| sayings.push(plugin, handed));
            }
            let read: Vec<_> = sayings
                .iter()
                .map(|said| (said.plugin, said.row, sayings.read(said)))
                .collect();
            let expected = reasons.iter().cloned().enumerate();
            let expected = expected.map(|(plugin, reason)| (plugin, plugin as u32 * 7, reason));
            assert_eq!(read, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_forgotten_leaves_nothing_behind() {
        let reasons = [
            Reason::from("first").figure("price", 1),
            Reason::from("second").figure("price", 2).figure("share", 3),
            Reason::of(Cause::Packed),
        ];
        let mut sayings = Sayings::default();
        let push = |sayings: &mut Sayings, reason: &Reason| reason.hand_over(0, |handed| sayings.push(0, handed));
        push(&mut sayings, &reasons[0]);
        let before = (sayings.bytes.len(), sayings.figures.len());
        push(&mut sayings, &reasons[1]);
        push(&mut sayings, &reasons[2]);
        sayings.truncate(1);
        assert_eq!(
            (sayings.bytes.len(), sayings.figures.len(), sayings.len()),
            (before.0, before.1, 1)
        );
        push(&mut sayings, &reasons[1]);
        let read: Vec<_> = sayings.iter().map(|said| sayings.read(said)).collect();
        assert_eq!(read, reasons[..2]);
    }

    #[test]
    fn memory_of_a_plugin_that_says_too_much_is_not_kept() {
        let mut sayings = Sayings::default();
        let text = "a".repeat(KEPT_BYTES + 1);
        Reason::from(text).hand_over(0, |handed| sayings.push(0, handed));
        assert!(sayings.bytes.capacity() > KEPT_BYTES);
        sayings.clear();
        assert_eq!(sayings.bytes.capacity(), KEPT_BYTES);
    }

    #[test]
    fn text_that_is_not_utf_8_is_repaired_when_it_is_read() {
        let mut sayings = Sayings::default();
        let reason = AbiReason {
            text: PluginText::from_bytes(b"a\xffb"),
            ..AbiReason::DEFAULT
        };
        sayings.push(0, &reason);
        let read: Vec<_> = sayings.iter().map(|said| sayings.read(said)).collect();
        assert_eq!(read, [Reason::from("a\u{fffd}b")]);
    }
}
