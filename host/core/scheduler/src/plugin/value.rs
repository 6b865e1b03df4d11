//! Values that the host keeps for plugins: state for several calls of a cycle, and values for a snapshot or a binding.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use divvy_attribution::Site;
use divvy_framework_abi::Address;
use divvy_framework_abi::call::ReleaseFunction;
use divvy_isolation::IsolatedPlugin;

use super::error::CallError;
use super::instance::PluginInstance;

/// State that a plugin prepared for several calls of one cycle. It is dropped by the plugin's own code.
#[derive(Debug)]
pub struct PreparedState {
    state: Address,
    owner: Owner,
}

/// Who drops a value.
#[derive(Debug, Clone)]
pub(super) enum Owner {
    /// Nobody: there is nothing to drop.
    Nobody,
    /// A function of the plugin in this process, and what it is marked as.
    InProcess(ReleaseFunction, &'static Site),
    /// The plugin's worker, where the value is. Its address is only a name here.
    Isolated(Arc<IsolatedPlugin>),
}

// SAFETY: the contract of a plugin's calls is that they come from any thread, with what it prepared.
unsafe impl Send for PreparedState {}
// SAFETY: as above, and several calls at the same time.
unsafe impl Sync for PreparedState {}

impl PreparedState {
    /// No state: the plugin prepares in each call.
    pub const NONE: Self = Self {
        state: Address::NULL,
        owner: Owner::Nobody,
    };

    pub(super) fn new(state: Address, owner: Owner) -> Self {
        Self { state, owner }
    }

    /// The value of [`CallHead::prepared`](divvy_framework_abi::call::CallHead::prepared).
    pub fn address(&self) -> Address {
        self.state
    }

    /// True unless the value was lost with the worker that had it.
    fn is_there(&self) -> bool {
        match &self.owner {
            Owner::Isolated(plugin) => plugin.is_current(self.state),
            Owner::Nobody | Owner::InProcess(..) => true,
        }
    }
}

impl Drop for PreparedState {
    fn drop(&mut self) {
        match &self.owner {
            Owner::Nobody => {}
            Owner::InProcess(release, site) => {
                let _marked = site.enter();
                // SAFETY: the plugin wrote both, and the state is no longer used anywhere else.
                unsafe { release(self.state.get()) };
            }
            Owner::Isolated(plugin) => plugin.release(self.state),
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

    /// True unless the value was lost with the worker that had it.
    pub(super) fn is_there(&self) -> bool {
        self.0.is_there()
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
        known.retain(|(number, value)| *number != plugin.number() || value.is_there());
        if let Some((_, value)) = known.iter().find(|(number, _)| *number == plugin.number()) {
            return Ok(value.clone());
        }
        let value = make()?;
        known.push((plugin.number(), value.clone()));
        Ok(value)
    }
}
