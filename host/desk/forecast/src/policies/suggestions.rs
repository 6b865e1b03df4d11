//! The most similar known name for a wrong one, for a limited number of wrong names.

use divvy_spanned::names::nearest;

/// Wrong names for which a similar one is looked for. Each is compared with all known names, and a large fleet has tens of thousands
/// of both.
const LOOKED_FOR_MAX: usize = 50;

/// Suggestions for wrong names.
#[derive(Debug, Default)]
pub(super) struct Suggestions {
    used: usize,
}

impl Suggestions {
    /// The most similar known name; `None` if there is none, or if too many names were wrong before.
    pub(super) fn nearest<'known>(
        &mut self,
        wrong: &str,
        known: impl IntoIterator<Item = &'known str>,
    ) -> Option<String> {
        if self.used >= LOOKED_FOR_MAX {
            return None;
        }
        self.used += 1;
        let others = known.into_iter().filter(|known| *known != wrong);
        nearest(wrong, others).map(str::to_owned)
    }
}
