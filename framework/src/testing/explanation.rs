//! Explanations that the kit collects from a plugin.

use std::cell::RefCell;
use std::ffi::c_void;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::reason::Reason as AbiReason;
use divvy_framework_abi::service::text_kind;
use divvy_framework_abi::sized::SizePrefixed;

use crate::plugin::Failure;
use crate::reason::Reason;

/// A plugin's explanation of its decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// Reasons of rejections, in the order in which they were first given.
    pub reasons: Vec<String>,
    /// Number of a cluster, and the explanation of the decision about it, as an operator reads it.
    pub explanations: Vec<(usize, String)>,
    /// The same explanations as data.
    pub details: Vec<(usize, Reason)>,
    /// Remarks on the whole decision.
    pub notes: Vec<String>,
    /// The first name of a figure that the host would drop.
    invalid_figure: Option<String>,
}

impl Explanation {
    /// Fails if the host would drop a part of a reason: a figure with a name that is not in `camelCase`, or that occurs
    /// twice.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for (_, reason) in &self.details {
            let mut names: Vec<&str> = reason.figures().map(|(name, _)| name).collect();
            names.sort_unstable();
            if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Failure::internal(format!(
                    "a reason has two figures named `{}`",
                    twice[0]
                )));
            }
        }
        match &self.invalid_figure {
            Some(name) => Err(Failure::internal(format!(
                "a reason has a figure named `{name}`, expected letters and digits in camelCase"
            ))),
            None => Ok(()),
        }
    }
}

/// Receives the reasons of a plugin. `sink` is as for [`take_text`].
pub(super) unsafe extern "C" fn take_reason(sink: *const c_void, reason: *const AbiReason<'_>) {
    // SAFETY: `run` made the sink from a cell that outlives the plugin's step.
    let said = unsafe { &*sink.cast::<RefCell<Explanation>>() };
    // SAFETY: the SDK passes a reason.
    let Some(handed) = (unsafe { AbiReason::read(reason) }) else {
        return;
    };
    let Ok(mut said) = said.try_borrow_mut() else {
        return;
    };
    let read = Reason::read(&handed);
    for figure in handed.figures.as_slice() {
        let name = figure.name.read();
        if read.value(&name).is_none() {
            said.invalid_figure.get_or_insert_with(|| name.into_owned());
        }
    }
    said.explanations.push((handed.row as usize, read.to_string()));
    said.details.push((handed.row as usize, read));
}

/// Receives the texts of a plugin. `sink` is the `RefCell<Explanation>` of the run.
pub(super) unsafe extern "C" fn take_text(sink: *const c_void, kind: u32, _: u32, text: PluginText<'_>) -> u32 {
    // SAFETY: `run` made the sink from a cell that outlives the plugin's step.
    let said = unsafe { &*sink.cast::<RefCell<Explanation>>() };
    let Ok(mut said) = said.try_borrow_mut() else {
        return 0;
    };
    let text = text.read().into_owned();
    match kind {
        text_kind::REASON => {
            let known = said.reasons.iter().position(|reason| *reason == text);
            let index = known.unwrap_or_else(|| {
                said.reasons.push(text);
                said.reasons.len() - 1
            });
            index as u32 + 1
        }
        text_kind::NOTE => {
            said.notes.push(text);
            0
        }
        _ => 0,
    }
}
