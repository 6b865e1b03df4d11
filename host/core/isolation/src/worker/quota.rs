//! What a plugin hands over in one operation, by the limits of the host: what it would leave out is not written down, so that it takes no
//! memory on either side.

use std::borrow::Cow;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::service::limit;

use crate::event::LeftOut;

/// Maximum length of the log messages of an operation together, in bytes.
const LOG_BYTES: u64 = 1 << 20;
/// Bytes of the remark that ends a text that was cut.
const REMARK_BYTES: u32 = 64;

/// What one operation has handed over.
#[derive(Debug, Default)]
pub(super) struct Quota {
    texts: u32,
    bytes: u64,
    log_records: u32,
    log_bytes: u64,
    left_out: LeftOut,
}

impl Quota {
    /// A text as it is written down. One that is longer than a host keeps is cut, and ends with a remark.
    pub(super) fn text<'a>(&mut self, text: PluginText<'a>) -> Cow<'a, [u8]> {
        let bytes = text.bytes();
        if bytes.len() <= limit::TEXT_BYTES as usize {
            return Cow::Borrowed(bytes);
        }
        self.left_out.cut = self.left_out.cut.saturating_add(1);
        let kept = text.cut(limit::TEXT_BYTES - REMARK_BYTES);
        let remark = format!(" … (cut, it has {} bytes)", bytes.len());
        Cow::Owned([kept.bytes(), remark.as_bytes()].concat())
    }

    /// Counts a reason, an explanation or a note of this length; false if the operation has handed over as many as it may.
    pub(super) fn takes_text(&mut self, bytes: usize) -> bool {
        let bytes = self.bytes.saturating_add(bytes as u64);
        let is_taken = self.texts < limit::TEXTS && bytes <= u64::from(limit::TEXTS_BYTES);
        match is_taken {
            true => (self.texts, self.bytes) = (self.texts + 1, bytes),
            false => self.left_out.texts = self.left_out.texts.saturating_add(1),
        }
        is_taken
    }

    /// Counts a log record of this length, as [`Self::takes_text`] does a text.
    pub(super) fn takes_log_record(&mut self, bytes: usize) -> bool {
        let bytes = self.log_bytes.saturating_add(bytes as u64);
        let is_taken = self.log_records < limit::LOG_RECORDS && bytes <= LOG_BYTES;
        match is_taken {
            true => (self.log_records, self.log_bytes) = (self.log_records + 1, bytes),
            false => self.left_out.log_records = self.left_out.log_records.saturating_add(1),
        }
        is_taken
    }

    /// Counts figures that are left out.
    pub(super) fn leaves_out_figures(&mut self, number: usize) {
        self.left_out.figures = self.left_out.figures.saturating_add(number as u64);
    }

    /// The text that was counted last is handed over all the same, and the host counts it.
    pub(super) fn leaves_out_one_less(&mut self) {
        self.left_out.texts = self.left_out.texts.saturating_sub(1);
    }

    /// What was left out, if anything.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        (self.left_out != LeftOut::default()).then_some(self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_would_leave_out_is_counted() {
        let mut quota = Quota::default();
        assert!(quota.takes_text(limit::TEXTS_BYTES as usize));
        assert!(quota.takes_text(0) && !quota.takes_text(1));
        assert!(quota.takes_log_record(LOG_BYTES as usize) && !quota.takes_log_record(1));
        quota.leaves_out_figures(3);
        let expected = LeftOut {
            texts: 1,
            cut: 0,
            figures: 3,
            log_records: 1,
        };
        assert_eq!(quota.left_out(), Some(expected));
        quota.leaves_out_one_less();
        assert_eq!(quota.left_out().map(|left_out| left_out.texts), Some(0));
        let mut quota = Quota::default();
        let taken = (0..limit::TEXTS + 5).filter(|_| quota.takes_text(1)).count();
        assert_eq!(taken, limit::TEXTS as usize);
        assert_eq!(Quota::default().left_out(), None);
    }

    #[test]
    fn a_long_text_is_cut_with_a_remark_and_is_not_cut_again() {
        let mut quota = Quota::default();
        let text = "é".repeat(limit::TEXT_BYTES as usize);
        let cut = quota.text(PluginText::new(&text)).into_owned();
        assert!(cut.len() <= limit::TEXT_BYTES as usize);
        let cut = String::from_utf8(cut).expect("whole characters");
        assert!(
            cut.ends_with("é … (cut, it has 131072 bytes)"),
            "{}",
            &cut[cut.len() - 64..]
        );
        assert_eq!(&*quota.text(PluginText::new("short")), b"short");
        assert_eq!(quota.left_out().map(|left_out| left_out.cut), Some(1));
    }
}
