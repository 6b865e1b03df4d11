//! Preparing: state that a plugin makes once for several calls of one cycle.

use std::any::Any;
use std::cell::OnceCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::assign::AssignPlugin;
use crate::binding::Rule;
use crate::configuration::Preferences;
use crate::cycle::Cycle;
use crate::plugin::{Failure, Plugin};
use crate::value::{BindingValueContext, BindingValuePlugin, SnapshotValueContext, SnapshotValuePlugin};

/// A plugin that prepares state for a binding, such as parsed annotations, and uses it in its calls.
///
/// Contexts then have `prepared()`, which gives the state and prepares it first if that has not happened. A strategy
/// is called several times in one cycle if the policy has tiers; list `Prepare` in
/// [`export_plugin!`](crate::export_plugin) to prepare once for all of them.
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
    /// A [`Failure`], which the plugin's call passes on. It aborts this cycle and leaves the binding's last result in
    /// place; its kind decides what is reported.
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
    /// The preferences that the policy carries for the plugin; `None` if it carries none, and at extension points at which
    /// the plugin names no type for them.
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

/// Preferences as the type that an author asks for.
pub(crate) fn typed<T: 'static>(preferences: Option<&dyn Any>) -> Result<Option<&T>, Failure> {
    let Some(preferences) = preferences else {
        return Ok(None);
    };
    let typed = preferences.downcast_ref();
    let message = "asks for its preferences as another type than its extension point names";
    typed.map(Some).ok_or_else(|| Failure::internal(message))
}

/// A value for one call: kept by the host, or made in the call when it is first used.
#[derive(Default)]
pub(crate) struct State<'a> {
    kept: Option<&'a (dyn Any + Send + Sync)>,
    made: OnceCell<Box<dyn Any>>,
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        let Some(made) = self.made.take() else { return };
        // The result of the call is complete; a panic in the state's destructor must not undo it.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(made))) {
            // Dropping the payload may panic again.
            std::mem::forget(payload);
        }
    }
}

impl<'a> State<'a> {
    pub(crate) fn new(kept: Option<&'a (dyn Any + Send + Sync)>) -> Self {
        Self {
            kept,
            made: OnceCell::new(),
        }
    }

    /// The value that the host keeps.
    pub(crate) fn kept<T: 'static>(&self) -> Option<&T> {
        self.kept?.downcast_ref()
    }

    /// The value that the host keeps; makes it if the host keeps none.
    pub(crate) fn get_or_make<T: 'static>(&self, make: impl FnOnce() -> Result<T, Failure>) -> Result<&T, Failure> {
        if let Some(kept) = self.kept() {
            return Ok(kept);
        }
        if self.made.get().is_none() {
            let state = make()?;
            // The slot is empty, since making has no access to it.
            let _ = self.made.set(Box::new(state));
        }
        let made = self.made.get().and_then(|made| made.downcast_ref());
        made.ok_or_else(|| Failure::internal("the value that the host keeps has another type"))
    }
}

/// What the host keeps for the plugin of a call.
#[derive(Default)]
pub(crate) struct Kept<'a> {
    pub(crate) prepared: State<'a>,
    pub(crate) snapshot_value: State<'a>,
    pub(crate) binding_value: State<'a>,
}

impl Kept<'_> {
    /// The state that `plugin` prepared.
    pub(crate) fn prepared<P: PreparePlugin>(
        &self,
        plugin: &P,
        cycle: Cycle<'_>,
        preferences: Option<&dyn Any>,
    ) -> Result<&P::Prepared, Failure> {
        self.prepared
            .get_or_make(|| plugin.prepare(&PrepareContext::new(cycle, preferences)))
    }

    /// The value of `plugin` for the snapshot of a cycle.
    pub(crate) fn snapshot_value<P: SnapshotValuePlugin>(
        &self,
        plugin: &P,
        cycle: Cycle<'_>,
    ) -> Result<&P::SnapshotValue, Failure> {
        self.snapshot_value.get_or_make(|| {
            let context = SnapshotValueContext {
                clusters: cycle.clusters(),
                changed_rows: None,
            };
            plugin.snapshot_value(&context, None)
        })
    }

    /// The value of `plugin` for the binding of a cycle.
    pub(crate) fn binding_value<P: BindingValuePlugin>(
        &self,
        plugin: &P,
        cycle: Cycle<'_>,
        preferences: Option<&dyn Any>,
    ) -> Result<&P::BindingValue, Failure> {
        self.binding_value
            .get_or_make(|| plugin.binding_value(&BindingValueContext::new(cycle, preferences)))
    }
}
