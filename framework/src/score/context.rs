//! Input of a call of Score.

use crate::configuration::NoPreferences;
use crate::cycle::CallContext;
use crate::export::Given;

/// The input of [`ScorePlugin::score`](super::ScorePlugin::score): the feasible clusters. It dereferences to [`CallContext`].
pub struct ScoreContext<'a, P, Accepted = NoPreferences> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) preferences: &'a Given<'a, Accepted>,
}

impl<'a, P, Accepted> ScoreContext<'a, P, Accepted> {
    /// The preferences that the policy carries for the plugin; `None` if it carries none.
    pub fn preferences(&self) -> Option<&'a Accepted> {
        self.preferences.get()
    }
}

impl<'a, P, Accepted> std::ops::Deref for ScoreContext<'a, P, Accepted> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}
