//! What a plugin says about its decision, as the kit collects it.

use std::cell::RefCell;
use std::ffi::c_void;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::service::text_kind;

/// A plugin's explanation of its decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// Reasons of rejections, in the order in which they were first given.
    pub reasons: Vec<String>,
    /// Number of a cluster, and the explanation of what was decided for it.
    pub explanations: Vec<(usize, String)>,
    /// Remarks on the whole decision.
    pub notes: Vec<String>,
}

/// Receives the texts of a plugin. `sink` is the `RefCell<Explanation>` of the run.
pub(super) unsafe extern "C" fn take_text(sink: *const c_void, kind: u32, row: u32, text: PluginText<'_>) -> u32 {
    // SAFETY: `run` made the sink from a cell that outlives the plugin's step.
    let said = unsafe { &*sink.cast::<RefCell<Explanation>>() };
    let Ok(mut said) = said.try_borrow_mut() else {
        return 0;
    };
    let text = text.read().into_owned();
    match kind {
        text_kind::REASON => {
            let known = said.reasons.iter().position(|reason| *reason == text);
            let place = known.unwrap_or_else(|| {
                said.reasons.push(text);
                said.reasons.len() - 1
            });
            place as u32 + 1
        }
        text_kind::EXPLANATION => {
            said.explanations.push((row as usize, text));
            0
        }
        text_kind::NOTE => {
            said.notes.push(text);
            0
        }
        _ => 0,
    }
}
