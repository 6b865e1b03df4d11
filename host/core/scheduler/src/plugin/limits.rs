//! Limits of what a plugin hands over during one call, so that a plugin cannot exhaust the memory of its host.
//!
//! The numbers are those of [`divvy_framework_abi::service::limit`]. What exceeds one is dropped before it is copied; it is counted,
//! for one warning per call.
//!
//! A text is read as one line without control characters, so wherever it is shown, it begins no line of its own and looks like what it is.

use std::borrow::Cow;
use std::cell::Cell;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::service::limit;
use divvy_isolation::LeftOut;
use divvy_loader::shown::{self, one_line};

/// Maximum length of the log messages of a call together, in bytes.
const LOG_BYTES: u64 = 1 << 20;

/// What a call has logged.
#[derive(Debug, Clone, Copy, Default)]
struct Logged {
    records: u64,
    bytes: u64,
    dropped: u64,
}

thread_local! {
    /// What the call that this thread makes has logged; `None` outside of calls, where a plugin's own threads log.
    static LOGGED: Cell<Option<Logged>> = const { Cell::new(None) };
}

/// A text of a plugin in one line, which ends with a remark if it was cut.
pub(super) fn read(text: PluginText<'_>) -> String {
    read_with(text, one_line)
}

/// As [`read`], but with the line breaks of the text, which separate parts of it.
pub(super) fn read_parts(text: PluginText<'_>) -> String {
    read_with(text, shown::lines)
}

fn read_with(text: PluginText<'_>, shown: fn(&str) -> Cow<'_, str>) -> String {
    let bytes = text.bytes().len();
    let kept = text.cut(limit::TEXT_BYTES);
    let read = kept.read();
    match kept.bytes().len() == bytes {
        true => shown(&read).into_owned(),
        false => format!("{} … (cut, it has {bytes} bytes)", shown(&read)),
    }
}

/// True if a text is longer than a host keeps.
fn is_cut(text: PluginText<'_>) -> bool {
    text.bytes().len() > limit::TEXT_BYTES as usize
}

/// Counts a log record of this thread; false if its call has written as much as it may.
pub(super) fn takes_log_record(texts: [PluginText<'_>; 2]) -> bool {
    let Some(mut logged) = LOGGED.get() else {
        return true;
    };
    let kept = texts.map(|text| text.bytes().len().min(limit::TEXT_BYTES as usize) as u64);
    let bytes = kept.iter().fold(logged.bytes, |all, bytes| all.saturating_add(*bytes));
    let is_taken = logged.records < u64::from(limit::LOG_RECORDS) && bytes <= LOG_BYTES;
    match is_taken {
        true => (logged.records, logged.bytes) = (logged.records + 1, bytes),
        false => logged.dropped = logged.dropped.saturating_add(1),
    }
    LOGGED.set(Some(logged));
    is_taken
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
        LOGGED.set(Some(Logged::default()));
    }

    /// Ends the count of [`Self::begin`].
    #[inline]
    pub(super) fn end(&self) {
        self.log_records.set(LOGGED.take().unwrap_or_default().dropped);
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

    /// Counts what a worker has left out by the same limits. Its numbers are its own, and only said.
    pub(super) fn leaves_out(&self, left_out: LeftOut) {
        count(&self.dropped, left_out.texts);
        count(&self.cut, left_out.cut);
        count(&self.figures, left_out.figures);
        if let Some(mut logged) = LOGGED.get() {
            logged.dropped = logged.dropped.saturating_add(left_out.log_records);
            LOGGED.set(Some(logged));
        }
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
            (
                self.log_records.get(),
                "log records left out",
                limit::LOG_RECORDS,
                ", of 1 MiB",
            ),
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
