//! Collects the texts that plugins emit during a cycle: reasons, explanations and notes.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;

use divvy_framework_abi::PluginText;
use divvy_framework_abi::reason::Reason;
use divvy_framework_abi::service::text_kind;

use super::said::Sayings;
use crate::plugin::TakeText;

/// Code of a cluster that is being deleted. Reasons get the codes after it.
pub(super) const DELETING_CODE: u32 = 1;

/// Texts from plugins in one cycle.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Index, in the profile's list of plugins, of the plugin being called.
    plugin: Cell<usize>,
    /// Distinct reasons, each with the plugin that gave it. The reason at index `i` has the code `DELETING_CODE + 1 +
    /// i`.
    reasons: RefCell<Vec<(usize, String)>>,
    /// Index of each reason in that list.
    indices: RefCell<BTreeMap<(usize, String), usize>>,
    /// Reasons that plugins gave for single clusters.
    sayings: RefCell<Sayings>,
    /// Plugin and text.
    notes: RefCell<Vec<(usize, String)>>,
}

/// A point in the texts of a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextsMark {
    reasons: usize,
    sayings: usize,
    notes: usize,
}

impl Texts {
    /// The point after everything that was said so far.
    pub(super) fn mark(&self) -> TextsMark {
        TextsMark {
            reasons: self.reasons.borrow().len(),
            sayings: self.sayings.borrow().len(),
            notes: self.notes.borrow().len(),
        }
    }

    /// Forgets what was said since then. Codes that were given for reasons since then are given again.
    pub(super) fn forget_since(&self, mark: TextsMark) {
        self.reasons.borrow_mut().truncate(mark.reasons);
        self.indices.borrow_mut().retain(|_, index| *index < mark.reasons);
        self.sayings.borrow_mut().truncate(mark.sayings);
        self.notes.borrow_mut().truncate(mark.notes);
    }

    /// Attributes the texts that follow to this plugin.
    pub(super) fn calling(&self, plugin: usize) {
        self.plugin.set(plugin);
    }

    /// Plugin and text behind a code; `None` if the code was never assigned.
    pub(super) fn reason(&self, code: u32) -> Option<(usize, String)> {
        let index = code.checked_sub(DELETING_CODE + 1)? as usize;
        self.reasons.borrow().get(index).cloned()
    }

    /// Forgets all texts, but keeps the memory.
    pub(super) fn clear(&mut self) {
        let Self {
            plugin,
            reasons,
            indices,
            sayings,
            notes,
        } = self;
        plugin.set(0);
        reasons.get_mut().clear();
        indices.get_mut().clear();
        sayings.get_mut().clear();
        notes.get_mut().clear();
    }

    /// The reasons that plugins gave for single clusters.
    pub(super) fn sayings(&self) -> Ref<'_, Sayings> {
        self.sayings.borrow()
    }

    /// Notes on the decision as a whole.
    pub(super) fn notes(&self) -> Vec<(usize, String)> {
        self.notes.borrow().clone()
    }

    /// The code of a reason. Equal reasons from one plugin share a code, so that they are counted together.
    fn code(&self, reason: String) -> u32 {
        let (Ok(mut reasons), Ok(mut indices)) = (self.reasons.try_borrow_mut(), self.indices.try_borrow_mut()) else {
            return 0;
        };
        // A map, since each cluster may have a reason of its own.
        let entry = (self.plugin.get(), reason);
        let index = *indices.entry(entry).or_insert_with_key(|reason| {
            reasons.push(reason.clone());
            reasons.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX - 2) + DELETING_CODE + 1
    }
}

impl TakeText for Texts {
    fn take(&self, kind: u32, row: u32, text: String) -> u32 {
        match kind {
            text_kind::REASON => return self.code(text),
            // A plugin without the SDK may explain by a text alone.
            text_kind::EXPLANATION => self.explain(&Reason {
                row,
                text: PluginText::new(&text),
                ..Reason::DEFAULT
            }),
            text_kind::NOTE => {
                if let Ok(mut notes) = self.notes.try_borrow_mut() {
                    notes.push((self.plugin.get(), text));
                }
            }
            // A kind of text that this host does not know is dropped.
            _ => {}
        }
        0
    }

    fn explain(&self, reason: &Reason<'_>) {
        if let Ok(mut sayings) = self.sayings.try_borrow_mut() {
            sayings.push(self.plugin.get(), reason);
        }
    }
}
