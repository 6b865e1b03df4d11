//! Select: picks the candidates among the feasible clusters.
//!
//! Each of the profile's selectors narrows down the clusters that the one before left, and reads its columns in their order.

use divvy_framework_abi::call::SelectCall;
use divvy_framework_abi::{Slice, SliceMut};
use divvy_framework_memory::Slot;
use divvy_framework_view::binding::{Binding, SpreadConstraint, SpreadField};
use divvy_profile::built_in_profile;

use super::columns::Columns;
use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::values::Values;
use super::verify;
use super::views::{ValidUntil, Views};
use crate::plugin::{CallError, PluginInstance};
use crate::profile::Strategy;

impl Cycle {
    /// Calls the profile's Select plugins and keeps the candidates in the order of the last one, as indices into the feasible
    /// clusters.
    pub(super) fn select(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        // Moved out of `self`, so that a selector can write to it while it reads the columns.
        let mut selected = std::mem::take(&mut self.selected);
        let mark = views.mark();
        let mut outcome = self.narrow(input, strategy, views, &mut selected);
        if outcome.is_ok() && self.leaves_out_cordoned(&selected) {
            // A cordon takes nothing away, so a cluster that was left out for its lack of room is selected as without the cordon.
            views.forget_since(mark);
            self.left_out.clear();
            self.exchange_cordoned_room();
            outcome = self.narrow(input, strategy, views, &mut selected);
            self.exchange_cordoned_room();
        }
        if outcome.is_err() {
            selected.clear();
        }
        self.selected = selected;
        outcome
    }

    fn narrow(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        views: Views<'_>,
        selected: &mut Vec<u32>,
    ) -> Result<(), CycleError> {
        let needed = if strategy.duplicates() { -1 } else { input.plan.needed };
        for (number, plugin) in input.profile.selectors().enumerate() {
            views.calling(|| input.profile.select_index(number));
            let is_first = number == 0;
            let columns = if is_first {
                self.feasible.columns()
            } else {
                self.candidates.gather(&self.feasible, selected);
                self.candidates.columns()
            };
            let chosen = &mut self.by_row;
            let scratch = (&mut *chosen, &mut self.marks, &mut self.valid_until);
            call(plugin, input, views, columns, needed, scratch)?;
            note_left_out(&mut self.left_out, input, views, columns, number, &self.marks);
            // Both are lists of indices: the next selector's are indices into those of the one before.
            if !is_first {
                for index in chosen.iter_mut() {
                    *index = selected[*index as usize];
                }
            }
            std::mem::swap(selected, chosen);
            // Nothing can be assigned to an empty selection, even if the plugin accepts it.
            if selected.is_empty() {
                return Err(CycleError::NotSelectable {
                    plugin: plugin.name().to_owned(),
                    message: "no clusters available to schedule".to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// Calls a selector on these columns, and leaves the indices that it chose in `chosen`. `marks` is scratch memory.
fn call(
    plugin: &PluginInstance,
    input: &CycleInput<'_>,
    views: Views<'_>,
    columns: Columns<'_>,
    needed: i64,
    (chosen, marks, valid_until): (&mut Vec<u32>, &mut Vec<bool>, &mut ValidUntil),
) -> Result<(), CycleError> {
    chosen.clear();
    chosen.resize(columns.rows.len(), 0);
    views.check_known(plugin)?;
    let values = Values::for_plugin(plugin, input, views)?;
    let mut seen = Slot::new();
    let mut call = SelectCall {
        cycle: views.cycle_for(plugin, &mut seen),
        policy: views.policy_for(plugin),
        snapshot_value: values.snapshot(),
        binding_value: values.binding(),
        rows: Slice::new(columns.rows),
        scores: Slice::new(columns.scores),
        last: Slice::new(columns.last),
        last_index: Slice::new(columns.last_index),
        fits_now: Slice::new(columns.fits_now),
        capacity: Slice::new(columns.capacity),
        tiers: Slice::new(columns.tiers),
        needed,
        candidates: SliceMut::new(chosen),
        ..SelectCall::DEFAULT
    };
    // Karmada distinguishes a failed selection from a lack of capacity, so it has its own variant.
    let answer = plugin.select(&mut call, views.texts()).map_err(|error| match error {
        CallError::Unschedulable { plugin, message, .. } => CycleError::NotSelectable { plugin, message },
        other => CycleError::from_call(other),
    });
    valid_until.take(call.valid_until);
    answer?;
    let count = call.count;
    let name = |index: usize| input.fleet.name(columns.rows[index]).to_owned();
    let count = verify::check_selection(plugin.name(), chosen, count, marks, name)?.len();
    chosen.truncate(count);
    Ok(())
}

/// Notes the clusters that a selector left out, if an explanation is requested: those without a mark.
fn note_left_out(
    left_out: &mut Vec<(u32, usize)>,
    input: &CycleInput<'_>,
    views: Views<'_>,
    columns: Columns<'_>,
    number: usize,
    marks: &[bool],
) {
    if views.texts.is_some() {
        let selector = input.profile.select_index(number);
        let unmarked = columns.rows.iter().zip(marks).filter(|(_, is_chosen)| !**is_chosen);
        left_out.extend(unmarked.map(|(&row, _)| (row, selector)));
    }
}

/// Refuses a binding whose spread constraints are in force, under a profile without a plugin that enforces them.
pub(super) fn check_enforced(input: &CycleInput<'_>, views: Views<'_>) -> Result<(), CycleError> {
    if input.profile.enforces_spread() || !input.group.record.has_spread_constraints() {
        return Ok(());
    }
    let binding = Binding::new(views.cycle);
    if binding.ignores_spread_constraints() {
        return Ok(());
    }
    let constraints: Vec<String> = binding
        .spread_constraints()
        .map(|constraint| named(&constraint))
        .collect();
    // The built-in profile is always valid, and its plugin is bundled.
    let usual = built_in_profile().ok().and_then(|profile| profile.select?.pop());
    Err(CycleError::InvalidBinding {
        message: format!(
            "profile `{}` has no plugin that enforces spread constraints, and the binding has one {}",
            input.profile.name(),
            constraints.join(" and one ")
        ),
        annotation: None,
        hint: usual.map(|plugin| format!("add `{plugin}` at the end of the profile's `select`")),
    })
}

fn named(constraint: &SpreadConstraint<'_>) -> String {
    match constraint.field {
        SpreadField::Label => format!("by label `{}`", constraint.label),
        field => format!("by {}", field.word()),
    }
}
