//! Prepared state, which a plugin makes once for several calls of one cycle.
//!
//! **Experimental**: no bundled plugin uses it, so a later minor version of the ABI may stop serving it. The first call that needs the state
//! then prepares it.

pub(crate) mod calls;

use std::any::Any;
use std::cell::OnceCell;
use std::marker::PhantomData;

use crate::assign::AssignPlugin;
use crate::binding::Rule;
use crate::configuration::Preferences;
use crate::cycle::Cycle;
use crate::export::{GivenAny, caught_while_dropping_in_call};
use crate::plugin::{Failure, Plugin};
use crate::value::{BindingValueContext, BindingValuePlugin, SnapshotValuePlugin};

/// A plugin that prepares state for a binding, such as parsed annotations, and uses it in its calls. **Experimental.**
///
/// Contexts then have `prepared()`, which returns the state; the first call prepares it. A strategy is called several
/// times in one cycle if the policy has tiers; list `Prepare` in [`export_plugin!`](crate::export_plugin) to prepare
/// once for all of them.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// Rejects the clusters that an annotation of the binding lists.
/// #[derive(Default)]
/// struct Unwanted;
///
/// impl Plugin for Unwanted {
///     const NAME: &'static str = "unwanted";
///     const DESCRIPTION: &'static str = "rejects the clusters that an annotation lists";
/// }
///
/// impl PreparePlugin for Unwanted {
///     type Prepared = Vec<String>;
///
///     fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<Vec<String>, Failure> {
///         let mut annotations = context.binding().annotations();
///         let list = annotations.find(|(key, _)| *key == "example.com/unwanted").map_or("", |(_, list)| list);
///         Ok(list.split(',').map(str::to_owned).collect())
///     }
/// }
///
/// impl FilterPlugin for Unwanted {
///     fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
///         let (clusters, unwanted) = (context.clusters(), context.prepared()?);
///         result.retain(
///             |row| !unwanted.iter().any(|name| name == clusters.get(row).name()),
///             |_| "cluster(s) were unwanted".to_owned(),
///         );
///         Ok(())
///     }
/// }
/// ```
pub trait PreparePlugin: Plugin {
    /// The state. It cannot borrow from the cycle.
    type Prepared: Send + Sync + 'static;

    /// Prepares the state for one binding.
    ///
    /// # Errors
    ///
    /// A [`Failure`], which the plugin's call returns in turn. It aborts this cycle and leaves the binding's last
    /// result in place. The host reports it by its kind, as for the call itself.
    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<Self::Prepared, Failure>;
}

/// The input of [`PreparePlugin::prepare`]. It dereferences to [`Cycle`].
pub struct PrepareContext<'a, P> {
    cycle: Cycle<'a>,
    preferences: Option<&'a dyn Any>,
    plugin: PhantomData<P>,
}

impl<'a, P> PrepareContext<'a, P> {
    pub(crate) fn new(cycle: Cycle<'a>, preferences: Option<&'a dyn Any>) -> Self {
        Self {
            cycle,
            preferences,
            plugin: PhantomData,
        }
    }
}

impl<'a, P> PrepareContext<'a, P> {
    /// The preferences that the policy carries for the plugin; `None` if it carries none, or if the plugin names no
    /// type for them at the extension point.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] if `Accepted` is not the type that the plugin names at its extension point.
    pub fn preferences<Accepted: Preferences + 'static>(&self) -> Result<Option<&'a Accepted>, Failure> {
        typed(self.preferences)
    }

    /// The entries of the policy's lists for the strategy; none if the plugin is not the binding's strategy.
    pub fn rules<Accepted: Preferences + 'static>(
        &self,
    ) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a, P, Accepted>
    where
        P: AssignPlugin<Accepted>,
    {
        self.cycle.policy().rules()
    }
}

impl<'a, P> std::ops::Deref for PrepareContext<'a, P> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        &self.cycle
    }
}

/// Preferences as the type that the author requests.
pub(crate) fn typed<T: 'static>(preferences: Option<&dyn Any>) -> Result<Option<&T>, Failure> {
    let Some(preferences) = preferences else {
        return Ok(None);
    };
    let typed = preferences.downcast_ref();
    let message = "asks for its preferences as another type than its extension point names";
    typed.map(Some).ok_or_else(|| Failure::internal(message))
}

/// A state or value of which the host keeps the address.
pub(crate) type Boxed = Box<dyn Any + Send + Sync>;

/// Values that the host keeps for the plugin of a call, and values that the call made because the host keeps none.
#[derive(Default)]
pub(crate) struct Kept<'a> {
    pub(crate) prepared: Option<&'a Boxed>,
    pub(crate) snapshot_value: Option<&'a Boxed>,
    pub(crate) binding_value: Option<&'a Boxed>,
    /// One slot for all three, because most calls use none of them.
    made: OnceCell<Box<Made>>,
}

/// Values that a call made for itself.
#[derive(Default)]
struct Made {
    prepared: OnceCell<Box<dyn Any>>,
    snapshot_value: OnceCell<Box<dyn Any>>,
    binding_value: OnceCell<Box<dyn Any>>,
}

impl Drop for Kept<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(made) = self.made.take() {
            drop_made(*made);
        }
    }
}

/// Drops the values that a call made. The result of the call is complete; a panic in a destructor must not undo it.
#[cold]
fn drop_made(made: Made) {
    let Made {
        prepared,
        snapshot_value,
        binding_value,
    } = made;
    for slot in [prepared, snapshot_value, binding_value] {
        caught_while_dropping_in_call("a value", || drop(slot));
    }
}

/// A kept value as the plugin's type; `None` if the host keeps none.
pub(crate) fn kept<T: 'static>(kept: Option<&Boxed>) -> Option<&T> {
    kept?.downcast_ref()
}

impl<'a> Kept<'a> {
    pub(crate) fn new(
        prepared: Option<&'a Boxed>,
        snapshot_value: Option<&'a Boxed>,
        binding_value: Option<&'a Boxed>,
    ) -> Self {
        Self {
            prepared,
            snapshot_value,
            binding_value,
            made: OnceCell::new(),
        }
    }

    /// True if the host keeps a value of the plugin for the binding, which was made from the preferences of the call.
    #[inline]
    pub(crate) fn keeps_binding_value(&self) -> bool {
        self.binding_value.is_some()
    }

    /// The value of a slot; makes it if the slot is empty.
    fn made<T: 'static>(
        &self,
        slot: impl FnOnce(&Made) -> &OnceCell<Box<dyn Any>>,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<&T, Failure> {
        let slot = slot(self.made.get_or_init(Box::default));
        if slot.get().is_none() {
            let value = make()?;
            // The slot is empty, because `make` has no access to it.
            let _ = slot.set(Box::new(value));
        }
        let made = slot.get().and_then(|made| made.downcast_ref());
        made.ok_or_else(|| Failure::internal("the value that the host keeps has another type"))
    }

    /// The state that `plugin` prepared.
    pub(crate) fn prepared<P: PreparePlugin>(
        &self,
        plugin: &P,
        cycle: &Cycle<'_>,
        preferences: &dyn GivenAny,
    ) -> Result<&P::Prepared, Failure> {
        match kept(self.prepared) {
            Some(prepared) => Ok(prepared),
            None => self.made(
                |made| &made.prepared,
                || plugin.prepare(&PrepareContext::new(*cycle, preferences.get_any())),
            ),
        }
    }

    /// The value of `plugin` for the snapshot of a cycle.
    pub(crate) fn snapshot_value<P: SnapshotValuePlugin>(
        &self,
        plugin: &P,
        cycle: &Cycle<'_>,
    ) -> Result<&P::SnapshotValue, Failure> {
        match kept(self.snapshot_value) {
            Some(value) => Ok(value),
            None => self.made(
                |made| &made.snapshot_value,
                || crate::value::make(plugin, *cycle, None, None),
            ),
        }
    }

    /// The value of `plugin` for the binding of a cycle.
    pub(crate) fn binding_value<P: BindingValuePlugin>(
        &self,
        plugin: &P,
        cycle: &Cycle<'_>,
        preferences: &dyn GivenAny,
    ) -> Result<&P::BindingValue, Failure> {
        match kept(self.binding_value) {
            Some(value) => Ok(value),
            None => self.made(
                |made| &made.binding_value,
                || plugin.binding_value(&BindingValueContext::new(*cycle, preferences.get_any())),
            ),
        }
    }
}
