//! Limits of what a plugin hands over during one call, so that a plugin cannot exhaust the memory of its host.
//!
//! The numbers are those of [`divvy_framework_abi::service::limit`]. What exceeds one is dropped before it is copied; it is counted,
//! for one warning per call.

use std::cell::Cell;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::service::limit;

thread_local! {
    /// Log records of the call that this thread makes; `None` outside of calls, where a plugin's own threads log.
    static LOG_RECORDS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A text of a plugin, which ends with a remark if it was cut.
pub(super) fn read(text: PluginText<'_>) -> String {
    let bytes = text.bytes().len();
    let kept = text.cut(limit::TEXT_BYTES);
    match kept.bytes().len() == bytes {
        true => kept.read().into_owned(),
        false => format!("{} … (cut, it has {bytes} bytes)", kept.read()),
    }
}

/// True if a text is longer than a host keeps.
fn is_cut(text: PluginText<'_>) -> bool {
    text.bytes().len() > limit::TEXT_BYTES as usize
}

/// Counts a log record of this thread; false if its call has written as many as it may.
pub(super) fn takes_log_record() -> bool {
    let records = LOG_RECORDS.get().map(|records| records.saturating_add(1));
    LOG_RECORDS.set(records);
    records.is_none_or(|records| records <= u64::from(limit::LOG_RECORDS))
}

/// What one call has handed over, and what of it was dropped.
#[derive(Debug, Default)]
pub(super) struct Handed {
    texts: Cell<u32>,
    bytes: Cell<u32>,
    cut: Cell<u64>,
    dropped: Cell<u64>,
    figures: Cell<u64>,
    log_records: Cell<u64>,
}

impl Handed {
    /// Begins to count the log records of this thread's call.
    #[inline]
    pub(super) fn begin() {
        LOG_RECORDS.set(Some(0));
    }

    /// Ends the count of [`Self::begin`].
    #[inline]
    pub(super) fn end(&self) {
        let written = LOG_RECORDS.take().unwrap_or_default();
        self.log_records
            .set(written.saturating_sub(u64::from(limit::LOG_RECORDS)));
    }

    /// Counts a text with some more bytes than its own; false if the call has handed over as much as it may.
    pub(super) fn takes(&self, text: PluginText<'_>, more: usize) -> bool {
        if is_cut(text) {
            count(&self.cut, 1);
        }
        let kept = text.bytes().len().min(limit::TEXT_BYTES as usize);
        let kept = u32::try_from(kept.saturating_add(more)).unwrap_or(u32::MAX);
        let bytes = self.bytes.get().saturating_add(kept);
        if self.texts.get() >= limit::TEXTS || bytes > limit::TEXTS_BYTES {
            count(&self.dropped, 1);
            return false;
        }
        self.texts.set(self.texts.get() + 1);
        self.bytes.set(bytes);
        true
    }

    /// Counts a text of a failure if it is cut.
    pub(super) fn fails_with(&self, text: PluginText<'_>) {
        if is_cut(text) {
            count(&self.cut, 1);
        }
    }

    /// Counts figures that are dropped.
    pub(super) fn drops_figures(&self, number: usize) {
        count(&self.figures, number as u64);
    }

    /// True if anything was dropped.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        let counters = [&self.dropped, &self.cut, &self.figures, &self.log_records];
        // Without a branch for each, because this is asked after every call.
        counters.iter().fold(0, |all, counter| all | counter.get()) != 0
    }

    /// The warning about this call, in which something was dropped.
    #[cold]
    pub(super) fn warning(&self) -> String {
        let parts = [
            (self.dropped.get(), "texts left out", limit::TEXTS, ", of 16 MiB"),
            (self.cut.get(), "texts cut", limit::TEXT_BYTES, " bytes"),
            (self.figures.get(), "figures left out", limit::FIGURES, " per reason"),
            (self.log_records.get(), "log records left out", limit::LOG_RECORDS, ""),
        ];
        let dropped = parts.iter().filter(|(number, ..)| *number > 0);
        let said: Vec<String> = dropped
            .map(|(number, what, limit, unit)| format!("{what}: {number} (at most {limit}{unit})"))
            .collect();
        format!("the plugin handed over too much in one call; {}", said.join(", "))
    }
}

fn count(counter: &Cell<u64>, number: u64) {
    counter.set(counter.get().saturating_add(number));
}
