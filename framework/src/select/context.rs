//! Input of a call of Select.

use crate::configuration::NoPreferences;
use crate::cycle::CallContext;
use crate::export::Given;
use crate::plugin::Plugin;

/// The input of [`SelectPlugin::select`](super::SelectPlugin::select): the feasible clusters, or the selection of the previous selector. It
/// dereferences to [`CallContext`].
pub struct SelectContext<'a, P, Accepted = NoPreferences> {
    pub(crate) call: CallContext<'a, P>,
    pub(crate) preferences: &'a Given<'a, Accepted>,
    pub(crate) needed: i64,
}

impl<'a, P: Plugin, Accepted> SelectContext<'a, P, Accepted> {
    /// The preferences that the policy carries for the plugin; `None` if it carries none.
    pub fn preferences(&self) -> Option<&'a Accepted> {
        self.preferences.get()
    }

    /// Replicas that the candidates together must have room for; `None` if room does not matter, as for a strategy that
    /// duplicates.
    pub fn needed(&self) -> Option<i64> {
        (self.needed >= 0).then_some(self.needed)
    }
}

impl<'a, P, Accepted> std::ops::Deref for SelectContext<'a, P, Accepted> {
    type Target = CallContext<'a, P>;

    fn deref(&self) -> &CallContext<'a, P> {
        &self.call
    }
}
