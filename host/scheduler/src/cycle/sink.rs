//! Takes the texts that plugins hand over during a cycle: reasons, explanations, notes.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use divvy_framework::abi::AbiStr;
use divvy_framework::abi::call::text_kind;
use divvy_framework_driver::cycle::TextSink;

/// The code of a cluster that is being deleted. Codes of reasons begin after it.
pub(super) const DELETING_CODE: u32 = 1;

/// What plugins said in one cycle.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Place, in the list of plugins, of the one that is being called.
    plugin: Cell<usize>,
    /// Distinct reasons, with the plugin that gave them; a code is a place here, after [`DELETING_CODE`].
    reasons: RefCell<Vec<(usize, String)>>,
    /// Place among the candidates of the current call, and the text.
    explanations: RefCell<Vec<(u32, String)>>,
    /// Plugin and remark.
    notes: RefCell<Vec<(usize, String)>>,
}

impl Texts {
    /// Says which plugin is called next.
    pub(super) fn calling(&self, plugin: usize) {
        self.plugin.set(plugin);
    }

    /// The way by which plugins reach it. It must outlive the cycle's calls.
    pub(super) fn sink(&self) -> TextSink {
        TextSink {
            context: std::ptr::from_ref(self).cast(),
            function: take,
        }
    }

    /// The plugin and the text behind a code, if the code is one that was given out.
    pub(super) fn reason(&self, code: u32) -> Option<(usize, String)> {
        let place = code.checked_sub(DELETING_CODE + 1)? as usize;
        self.reasons.borrow().get(place).cloned()
    }

    /// What was said of candidates since it was last asked.
    pub(super) fn take_explanations(&self) -> Vec<(u32, String)> {
        self.explanations.take()
    }

    /// The remarks.
    pub(super) fn notes(&self) -> Vec<(usize, String)> {
        self.notes.borrow().clone()
    }

    fn code(&self, reason: String) -> u32 {
        let entry = (self.plugin.get(), reason);
        let Ok(mut reasons) = self.reasons.try_borrow_mut() else {
            return 0;
        };
        let known = reasons.iter().position(|reason| *reason == entry);
        let place = known.unwrap_or_else(|| {
            reasons.push(entry);
            reasons.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX - 2) + DELETING_CODE + 1
    }
}

extern "C" fn take(context: *const c_void, kind: u32, subject: u32, text: AbiStr<'_>) -> u32 {
    // SAFETY: `Texts::sink` made the context from a value that outlives the cycle's calls, which come one at a time.
    let texts = unsafe { &*context.cast::<Texts>() };
    let text = text.as_str().to_owned();
    match kind {
        text_kind::REASON => texts.code(text),
        text_kind::EXPLANATION => {
            if let Ok(mut explanations) = texts.explanations.try_borrow_mut() {
                explanations.push((subject, text));
            }
            0
        }
        _ => {
            if let Ok(mut notes) = texts.notes.try_borrow_mut() {
                notes.push((texts.plugin.get(), text));
            }
            0
        }
    }
}
