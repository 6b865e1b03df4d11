//! Values that the host keeps for plugins: state for several calls of a cycle, and values for a snapshot or a binding.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use divvy_framework_abi::Address;
use divvy_framework_abi::call::ReleaseFunction;

use super::error::CallError;
use super::instance::PluginInstance;

/// State that a plugin prepared for several calls of one cycle. It is dropped by the plugin's own code.
#[derive(Debug)]
pub struct PreparedState {
    pub(super) state: Address,
    pub(super) release: Option<ReleaseFunction>,
}

// SAFETY: the contract of a plugin's calls is that they come from any thread, with what it prepared.
unsafe impl Send for PreparedState {}
// SAFETY: as above, and several calls at the same time.
unsafe impl Sync for PreparedState {}

impl PreparedState {
    /// No state: the plugin prepares in each call.
    pub const NONE: Self = Self {
        state: Address::NULL,
        release: None,
    };

    /// The value of [`CallHead::prepared`](divvy_framework_abi::call::CallHead::prepared).
    pub fn address(&self) -> Address {
        self.state
    }
}

impl Drop for PreparedState {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the plugin wrote both, and the state is no longer used anywhere else.
            unsafe { release(self.state.get()) };
        }
    }
}

/// A value that a plugin keeps for a snapshot or a binding, shared by the calls that read it.
#[derive(Debug, Clone)]
pub struct KeptValue(Arc<PreparedState>);

impl KeptValue {
    pub(super) fn new(state: PreparedState) -> Self {
        Self(Arc::new(state))
    }

    /// The address that the plugin's calls get.
    pub fn address(&self) -> Address {
        self.0.address()
    }
}

/// The values that plugins keep for one binding, made when a plugin is first called for it. They are shared by the clones
/// of a plan.
#[derive(Clone, Default)]
pub struct BindingValues(Arc<Mutex<Vec<(u64, KeptValue)>>>);

impl fmt::Debug for BindingValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BindingValues").finish_non_exhaustive()
    }
}

impl BindingValues {
    /// The value of a plugin, made by `make` if it is not known yet.
    pub(crate) fn get(
        &self,
        plugin: &PluginInstance,
        make: impl FnOnce() -> Result<KeptValue, CallError>,
    ) -> Result<KeptValue, CallError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = known.iter().find(|(number, _)| *number == plugin.number()) {
            return Ok(value.clone());
        }
        let value = make()?;
        known.push((plugin.number(), value.clone()));
        Ok(value)
    }
}
