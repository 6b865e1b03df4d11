//! Filter: rejects the clusters that cannot take the binding.

use divvy_framework::abi::AbiSliceMut;
use divvy_framework::abi::call::{CycleView, FilterCall};

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::sink::{DELETING_CODE, Texts};

impl Cycle {
    /// Calls the filters in the profile's order and lists the rows that none of them rejected.
    pub(super) fn filter(
        &mut self,
        input: &CycleInput<'_>,
        view: &CycleView<'_>,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let clusters = input.fleet.len();
        self.codes.clear();
        self.codes.resize(clusters, 0);
        // A cluster that is being deleted is rejected before any plugin sees it.
        for &row in input.fleet.deleting() {
            self.codes[row as usize] = DELETING_CODE;
        }
        // Filters skip rejected clusters, so the first filter that rejects a cluster decides its reason.
        for (number, plugin) in input.profile.filters().enumerate() {
            let prepared = self.prepare(plugin, view, texts, || input.profile.filter_place(number))?;
            let mut call = FilterCall {
                cycle: std::ptr::from_ref(view),
                prepared,
                codes: AbiSliceMut::from_mut_slice(&mut self.codes),
                // Without a text sink, all rejections share this code; the sink assigns one code per reason.
                code: DELETING_CODE + 1,
                ..FilterCall::default()
            };
            plugin.filter(&mut call).map_err(CycleError::of_call)?;
        }
        let rows = &mut self.feasible.rows;
        rows.clear();
        let feasible = (0..).zip(&self.codes).filter(|(_, code)| **code == 0);
        rows.extend(feasible.map(|(row, _)| row));
        if rows.is_empty() {
            // Without texts there are no reasons yet; the caller runs the filters again to collect them.
            return Err(CycleError::NoClusterFit {
                clusters,
                reasons: texts.map_or_else(Vec::new, |texts| self.histogram(texts)),
            });
        }
        Ok(())
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
