//! Plugins that a decision goes on without.

use serde::{Deserialize, Serialize};

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::sink::TextsMark;
use super::views::{ValidUntil, Views};
use crate::plugin::PluginInstance;

/// A plugin that failed, and that the decision went on without, because the profile has `on-error = "skip"` for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Name of the plugin.
    pub plugin: String,
    /// The error of its call.
    pub reason: String,
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "decided without plugin `{}`: {}", self.plugin, self.reason)
    }
}

/// Everything that a call may have left behind when it fails, beside its own columns.
pub(super) struct BeforeCall {
    valid_until: ValidUntil,
    texts: Option<TextsMark>,
}

impl Cycle {
    /// The plugins that the latest cycle went on without.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// True if the cycle goes on without a plugin.
    #[inline]
    pub(super) fn is_without(&self, plugin: &PluginInstance) -> bool {
        !self.skipped.is_empty() && self.skipped.iter().any(|skipped| skipped.plugin == plugin.name())
    }

    /// Begins with the plugins that the input leaves out.
    pub(super) fn begin_without(&mut self, input: &CycleInput<'_>) {
        self.skipped.clear();
        self.skipped.extend_from_slice(input.without);
    }

    /// The state to which [`Self::go_on_without`] returns.
    pub(super) fn before_call(&self, views: Views<'_>) -> BeforeCall {
        BeforeCall {
            valid_until: self.valid_until,
            texts: views.mark(),
        }
    }

    /// Goes on without a plugin whose call failed, as if it had not been called.
    ///
    /// # Errors
    ///
    /// The error itself if it is not the plugin's fault, or if the profile does not allow to leave the plugin out.
    pub(super) fn go_on_without(
        &mut self,
        plugin: &PluginInstance,
        error: CycleError,
        before: BeforeCall,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        if !plugin.skips_failures() || !error.is_plugin_fault() {
            return Err(error);
        }
        self.valid_until = before.valid_until;
        views.forget_since(before.texts);
        self.skipped.push(Skipped {
            plugin: plugin.name().to_owned(),
            reason: error.to_string(),
        });
        Ok(())
    }
}
