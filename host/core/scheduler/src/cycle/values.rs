//! The values that plugins keep for a snapshot and for a binding: found or made before a call.

use divvy_framework_abi::call::BindingValueCall;
use divvy_framework_abi::sized::kind;
use divvy_framework_abi::view::{CycleView, PolicyView, flag};
use divvy_framework_abi::{Address, Pointer, Slice};

use divvy_framework_memory::Slot;

use super::error::CycleError;
use super::run::CycleInput;
use super::views::Views;
use crate::plugin::{CallError, KeptValue, PluginInstance, ValueTables};

/// The values of one plugin for one call, kept alive until the call is over.
#[derive(Debug, Default)]
pub(super) struct Values {
    snapshot: Option<KeptValue>,
    binding: Option<KeptValue>,
}

impl Values {
    /// The values of a plugin.
    ///
    /// # Errors
    ///
    /// The plugin's error when it makes a value, which aborts this cycle.
    #[inline]
    pub(super) fn for_plugin(
        plugin: &PluginInstance,
        input: &CycleInput<'_>,
        views: Views<'_>,
    ) -> Result<Self, CycleError> {
        if !plugin.keeps_values() {
            return Ok(Self::default());
        }
        Self::make(plugin, input, views).map_err(CycleError::from_call)
    }

    #[cold]
    fn make(plugin: &PluginInstance, input: &CycleInput<'_>, views: Views<'_>) -> Result<Self, CallError> {
        let mut values = Self::default();
        if plugin.library().serves(kind::SNAPSHOT_VALUE) {
            let mut view = CycleView {
                snapshot: views.cycle.snapshot,
                ..CycleView::DEFAULT
            };
            let mut seen = ValueTables::default();
            if let (Some((provided, _)), Some((tables, cells))) = (views.tables, views.tables_for(plugin)) {
                view = tables.seen_in(view, cells);
                seen = ValueTables {
                    number: provided.number(),
                    groups: tables.groups(),
                };
            }
            values.snapshot = Some(plugin.snapshot_value(input.fleet.snapshot(), seen, &view)?);
        }
        if plugin.library().serves(kind::BINDING_VALUE) {
            values.binding = Some(input.group.values.get(plugin, || {
                // The binding and its policy, without anything that depends on clusters or on this cycle.
                let view = CycleView {
                    snapshot: Slice::EMPTY,
                    last_rows: Slice::EMPTY,
                    flags: views.cycle.flags & !(flag::FRESH | flag::EXPLAIN | flag::TIME),
                    time: 0,
                    placements: Pointer::NULL,
                    ..*views.cycle
                };
                let (mut cycle, mut policy) = (Slot::new(), Slot::new());
                let mut call = BindingValueCall {
                    cycle: Pointer::new(cycle.show(view)),
                    policy: match plugin.number() == views.strategy {
                        true => Pointer::new(policy.show(PolicyView {
                            rule_spans: Slice::EMPTY,
                            rule_rows: Slice::EMPTY,
                            ..*views.policy
                        })),
                        false => views.policy_for(plugin),
                    },
                    ..BindingValueCall::DEFAULT
                };
                plugin.binding_value(&mut call)
            })?);
        }
        Ok(values)
    }

    /// The address of the value for the snapshot.
    pub(super) fn snapshot(&self) -> Address {
        self.snapshot.as_ref().map_or(Address::NULL, KeptValue::address)
    }

    /// The address of the value for the binding.
    pub(super) fn binding(&self) -> Address {
        self.binding.as_ref().map_or(Address::NULL, KeptValue::address)
    }
}
