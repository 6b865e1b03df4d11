//! Filter: rejects the clusters that cannot take the binding.

use divvy_framework_abi::SliceMut;
use divvy_framework_abi::call::FilterCall;
use divvy_framework_abi::descriptor::feature;
use divvy_framework_memory::Slot;
use divvy_framework_view::clusters::write_equal;

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::sink::{DELETING_CODE, Texts};
use super::values::Values;
use super::verify::Violation;
use super::views::Views;
use crate::plugin::PluginInstance;

impl Cycle {
    /// Calls the filters in the profile's order and lists the rows that none of them rejected.
    pub(super) fn filter(&mut self, input: &CycleInput<'_>, views: Views<'_>) -> Result<(), CycleError> {
        let clusters = input.fleet.len();
        self.codes.clear();
        self.codes.resize(clusters, 0);
        // A cluster that is being deleted is rejected before any plugin sees it.
        for &row in input.fleet.deleting() {
            self.codes[row as usize] = DELETING_CODE;
        }
        let count = |codes: &[u32]| codes.iter().filter(|code| **code != 0).count();
        let mut rejected = 0;
        // Clusters that each observed filter rejected.
        let mut rejections = Vec::new();
        // Filters skip rejected clusters, so the first filter that rejects a cluster decides its reason.
        for (number, (plugin, acts_on)) in input.profile.filter_calls().enumerate() {
            if !views.calls(plugin, acts_on) || self.is_without(plugin) {
                continue;
            }
            views.calling(|| input.profile.filter_index(number));
            let observer = plugin.observer();
            if observer.is_some() && rejections.is_empty() {
                rejected = count(&self.codes);
            }
            let before = self.before_call(views);
            if let Err(error) = self.filter_by(plugin, input, views) {
                self.go_on_without(plugin, error, before, views)?;
                self.codes.clone_from(&self.row_buffer);
                continue;
            }
            if let Some(observer) = observer {
                let before = std::mem::replace(&mut rejected, count(&self.codes));
                rejections.push((observer, plugin.name(), rejected.saturating_sub(before)));
            }
        }
        let rows = &mut self.feasible.rows;
        rows.resize(self.codes.len(), 0);
        let count = write_equal(&self.codes, 0, rows, |row| row as u32);
        rows.resize(count, 0);
        // The caller repeats a pass in which nothing fits and no reasons were collected.
        if !rows.is_empty() || views.texts.is_some() {
            for (observer, plugin, clusters) in rejections.into_iter().filter(|(.., clusters)| *clusters > 0) {
                observer.rejected(plugin, clusters);
            }
        }
        let rows = &self.feasible.rows;
        if rows.is_empty() {
            // Without texts there are no reasons yet; the caller runs the filters again to collect them.
            return Err(CycleError::NoClusterFit {
                clusters,
                reasons: views.texts.map_or_else(Vec::new, |texts| self.histogram(texts)),
            });
        }
        Ok(())
    }

    /// Calls one filter. The codes from before the call are in the buffer if the filter may change or lose them.
    fn filter_by(
        &mut self,
        plugin: &PluginInstance,
        input: &CycleInput<'_>,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        // With the SDK, a plugin can only reject clusters. Any other library may write to the whole column.
        let may_change = !plugin.library().is_certified();
        if may_change || plugin.skips_failures() {
            self.row_buffer.clone_from(&self.codes);
        }
        views.check_known(plugin)?;
        let values = Values::for_plugin(plugin, input, views)?;
        let mut seen = Slot::new();
        let cordons = plugin.needs(feature::CORDONS);
        let mut call = FilterCall {
            cycle: views.cycle_for(plugin, &mut seen),
            policy: views.policy_for(plugin),
            snapshot_value: values.snapshot(),
            binding_value: values.binding(),
            codes: SliceMut::new(&mut self.codes),
            // Without a text sink, all rejections share this code; the sink assigns one code per reason.
            code: DELETING_CODE + 1,
            cordoned: match cordons {
                true => SliceMut::new(self.cordons.column(input.fleet.len())),
                false => SliceMut::EMPTY,
            },
            ..FilterCall::DEFAULT
        };
        let answer = plugin.filter(&mut call, views.texts());
        // A failure can hold for a limited time as well.
        self.valid_until.take(call.valid_until);
        answer.map_err(CycleError::from_call)?;
        if may_change {
            self.check_rejections(input, plugin.name())?;
        }
        if cordons {
            self.cordons.take();
        }
        Ok(())
    }

    /// Checks that the rejections in the buffer are still those of the column.
    fn check_rejections(&self, input: &CycleInput<'_>, plugin: &str) -> Result<(), CycleError> {
        let changed = |(before, now): (&u32, &u32)| *before != 0 && before != now;
        match self.row_buffer.iter().zip(&self.codes).position(changed) {
            None => Ok(()),
            Some(row) => Err(CycleError::Violation(Violation::ChangedRejection {
                plugin: plugin.to_owned(),
                cluster: input.fleet.name(row as u32).to_owned(),
            })),
        }
    }

    /// Counts the rejected clusters per reason: the most frequent reason first, ties in the order of the texts.
    fn histogram(&self, texts: &Texts) -> Vec<(usize, String)> {
        let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for &code in &self.codes {
            let reason = match code {
                DELETING_CODE => "cluster(s) were being deleted".to_owned(),
                code => match texts.reason(code) {
                    Some((_, reason)) => reason,
                    None => "cluster(s) were rejected without a reason".to_owned(),
                },
            };
            *counts.entry(reason).or_default() += 1;
        }
        let mut reasons: Vec<(usize, String)> = counts.into_iter().map(|(reason, count)| (count, reason)).collect();
        reasons.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        reasons
    }
}
