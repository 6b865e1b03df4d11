//! Views that the calls of a cycle read, and the time until which their answers hold.

use divvy_framework_abi::Pointer;
use divvy_framework_abi::descriptor::{binding_part, feature};
use divvy_framework_abi::view::{CycleView, PolicyView};
use divvy_framework_calls::binding::BindingRecord;
use divvy_framework_calls::placements::PlacementsRecord;
use divvy_framework_calls::tables::{PluginTables, ResolvedTables};
use divvy_framework_memory::Slot;

use super::error::CycleError;
use super::sink::{Texts, TextsMark};
use crate::plugin::{PluginInstance, TakeText};
use crate::profile::ProvidedTables;

/// Views that the calls of one cycle read, and the sink of their texts.
#[derive(Clone, Copy)]
pub(super) struct Views<'a> {
    pub(super) cycle: &'a CycleView<'a>,
    /// Preferences for the strategy's plugin; other plugins do not see them.
    pub(super) policy: &'a PolicyView<'a>,
    /// The binding, with the preferences of the other plugins.
    pub(super) record: &'a BindingRecord,
    /// Number of the strategy's plugin.
    pub(super) strategy: u64,
    /// The tables of the profile and their cells for the snapshot; `None` if no plugin reads any, or if they are not known.
    pub(super) tables: Option<(&'a ProvidedTables, &'a [ResolvedTables])>,
    /// Parts of the binding, as bits of [`binding_part`].
    pub(super) parts: u64,
    /// Inputs that a plugin needs and that are not known, as bits of [`feature`].
    pub(super) unknown: u64,
    pub(super) texts: Option<&'a Texts>,
}

impl<'a> Views<'a> {
    /// The point after all texts so far.
    pub(super) fn mark(&self) -> Option<TextsMark> {
        self.texts.map(Texts::mark)
    }

    /// Forgets the texts since a point, of calls that do not count.
    pub(super) fn forget_since(&self, mark: Option<TextsMark>) {
        if let (Some(texts), Some(mark)) = (self.texts, mark) {
            texts.forget_since(mark);
        }
    }

    /// The cycle as a plugin sees it, shown in `own` if the plugin reads tables, because no other plugin sees those.
    #[inline]
    pub(super) fn cycle_for<'b>(&self, plugin: &PluginInstance, own: &'b mut Slot) -> Pointer<'b, CycleView<'b>>
    where
        'a: 'b,
    {
        match self.tables {
            None => Pointer::new(self.cycle),
            Some(_) => self.cycle_with_tables(plugin, own),
        }
    }

    /// Not inlined: most profiles have no tables.
    #[inline(never)]
    fn cycle_with_tables<'b>(&self, plugin: &PluginInstance, own: &'b mut Slot) -> Pointer<'b, CycleView<'b>>
    where
        'a: 'b,
    {
        match self.tables_for(plugin) {
            None => Pointer::new(self.cycle),
            Some((tables, cells)) => Pointer::new(own.show(tables.seen_in(*self.cycle, cells))),
        }
    }

    /// Tables and cells that a plugin reads; `None` if it reads none.
    pub(super) fn tables_for(&self, plugin: &PluginInstance) -> Option<(&'a PluginTables, &'a ResolvedTables)> {
        let (provided, cells) = self.tables?;
        let (index, tables) = provided.of(plugin.number())?;
        Some((tables, cells.get(index)?))
    }

    pub(super) fn policy(&self) -> Pointer<'a, PolicyView<'a>> {
        Pointer::new(self.policy)
    }

    /// Preferences of the policy for a plugin.
    #[inline]
    pub(super) fn policy_for(&self, plugin: &PluginInstance) -> Pointer<'a, PolicyView<'a>> {
        if plugin.number() == self.strategy {
            return Pointer::new(self.policy);
        }
        self.record
            .preferences_of(plugin.name())
            .map_or(Pointer::NULL, Pointer::new)
    }

    /// False if a call would change nothing: the plugin acts only on parts of a binding that this binding does not have.
    /// `acts_on` is 0 if it acts on any binding.
    #[inline]
    pub(super) fn calls(&self, plugin: &PluginInstance, acts_on: u64) -> bool {
        // The plugin may refuse its preferences in any binding.
        acts_on == 0 || acts_on & self.parts != 0 || self.has_preferences(plugin)
    }

    /// True if the policy carries preferences for a plugin.
    #[inline]
    fn has_preferences(&self, plugin: &PluginInstance) -> bool {
        if plugin.number() == self.strategy {
            return self.record.has_preferences();
        }
        self.record.preferences_of(plugin.name()).is_some()
    }

    /// Fails if a plugin needs a time, a table, or placements of other bindings that are not known.
    #[inline]
    pub(super) fn check_known(&self, plugin: &PluginInstance) -> Result<(), CycleError> {
        match self.unknown {
            0 => Ok(()),
            unknown => check_inputs(plugin, unknown),
        }
    }

    pub(super) fn texts(&self) -> Option<&'a dyn TakeText> {
        self.texts.map(|texts| texts as &dyn TakeText)
    }

    /// Attributes the texts that follow to the plugin with this index in
    /// [`Profile::plugin_names`](crate::profile::Profile::plugin_names).
    pub(super) fn calling(&self, index: impl FnOnce() -> usize) {
        if let Some(texts) = self.texts {
            texts.calling(index());
        }
    }
}

/// Fails if a plugin needs one of these inputs, bits of [`feature`].
#[cold]
pub(super) fn check_inputs(plugin: &PluginInstance, unknown: u64) -> Result<(), CycleError> {
    let lacks = |input| unknown & input != 0;
    if lacks(feature::TABLES)
        && let Some(table) = plugin.library().tables().first()
    {
        return Err(CycleError::TableUnknown {
            plugin: plugin.name().to_owned(),
            table: table.name.clone(),
        });
    }
    if lacks(feature::TIME) && plugin.needs(feature::TIME) {
        return Err(CycleError::TimeUnknown {
            plugin: plugin.name().to_owned(),
        });
    }
    if lacks(feature::PLACEMENTS) && plugin.needs(feature::PLACEMENTS) {
        return Err(CycleError::PlacementsUnknown {
            plugin: plugin.name().to_owned(),
        });
    }
    Ok(())
}

/// The parts of a binding: those of its record, and its workload affinity groups. If the groups are not known, it may be in any.
pub(super) fn parts(record: &BindingRecord, placements: Option<&PlacementsRecord>) -> u64 {
    const GROUPS: u64 = binding_part::AFFINITY_GROUP | binding_part::ANTI_AFFINITY_GROUP;
    record.parts() | placements.map_or(GROUPS, PlacementsRecord::parts)
}

/// Earliest time until which the answers of plugins hold, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValidUntil(i64);

impl Default for ValidUntil {
    fn default() -> Self {
        Self(i64::MAX)
    }
}

impl ValidUntil {
    /// Includes the time that a plugin wrote into its call.
    pub(super) fn take(&mut self, milliseconds: i64) {
        self.0 = self.0.min(milliseconds);
    }

    /// The earliest time; `None` if no plugin named one.
    pub(super) fn get(self) -> Option<i64> {
        (self.0 != i64::MAX).then_some(self.0)
    }
}
