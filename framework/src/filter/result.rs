//! Output of a call of Filter.

use crate::binding::Affinities;
use crate::clusters::{NotDeclared, Row, RowSet};
use crate::cycle::Cycle;
use crate::plugin::Failure;
use crate::reason::{Cause, Reason};
use crate::reuse::{borrow, give_back};

/// The output of [`FilterPlugin::filter`](super::FilterPlugin::filter): the rejected clusters, each with a reason.
pub struct FilterResult<'a> {
    cycle: &'a Cycle<'a>,
    /// Per cluster of the snapshot: 0 while it is feasible.
    codes: &'a mut [u32],
    /// Per cluster of the snapshot: 1 if it is cordoned. Empty unless the plugin needs it.
    cordoned: &'a mut [u32],
    code: u32,
    latest: Option<(String, u32)>,
    /// Clusters of the last result, once a cluster was cordoned.
    last: Option<RowSet>,
    /// Number of rejections of rows past the end.
    pub(crate) dropped: u64,
}

impl<'a> FilterResult<'a> {
    pub(crate) fn new(cycle: &'a Cycle<'a>, codes: &'a mut [u32], cordoned: &'a mut [u32], code: u32) -> Self {
        Self {
            cycle,
            codes,
            cordoned,
            code,
            latest: None,
            last: None,
            dropped: 0,
        }
    }

    /// Rows of the clusters that are still feasible.
    pub fn feasible(&self) -> impl Iterator<Item = Row> + '_ {
        self.codes
            .iter()
            .enumerate()
            .filter(|(_, code)| **code == 0)
            .map(|(row, _)| Row::from_index(row))
    }

    /// Rejects the cluster in a row; `reason` runs only if an explanation was requested. Has no effect on a cluster that
    /// is already rejected. A row past the end is ignored and counted; the test kit reports it as an error.
    ///
    /// The host reports how many clusters share each reason, so reasons begin as Karmada's do:
    /// `cluster(s) had untolerated taint {...}`. A [`Reason`] can also have figures, which the explanation of the cluster
    /// shows as data: `Reason::new("cluster(s) were full").figure("seats", 3)`.
    #[inline]
    pub fn reject<R: Into<Reason>>(&mut self, row: Row, reason: impl FnOnce() -> R) {
        match self.codes.get(row.index()) {
            Some(0) => {}
            Some(_) => return,
            None => {
                self.dropped += 1;
                return;
            }
        }
        let code = if self.cycle.wants_explanation() {
            code_of(&mut self.latest, self.cycle, row, &reason().into())
        } else {
            self.code
        };
        self.codes[row.index()] = code;
    }

    /// Rejects every feasible cluster for which `fits` returns false; `reason` runs, with the row, only if an
    /// explanation was requested.
    #[inline]
    pub fn retain<R: Into<Reason>>(&mut self, mut fits: impl FnMut(Row) -> bool, reason: impl Fn(Row) -> R) {
        let (explains, code) = (self.cycle.wants_explanation(), self.code);
        // `fits` is called in one place only, so that it is inlined into the loop.
        for (row, own) in (0_u32..).zip(self.codes.iter_mut()) {
            let row = Row::from_index(row as usize);
            if *own == 0 && !fits(row) {
                *own = match explains {
                    true => code_of(&mut self.latest, self.cycle, row, &reason(row).into()),
                    false => code,
                };
            }
        }
    }

    /// As [`Self::retain`], for newcomers only: clusters of the last result stay, even with 0 replicas there, so that the filter moves
    /// nothing.
    #[inline]
    pub fn retain_newcomers<R: Into<Reason>>(&mut self, mut fits: impl FnMut(Row) -> bool, reason: impl Fn(Row) -> R) {
        let cycle = self.cycle;
        // Where every cluster fits, the last result is not looked at.
        let mut last: Option<Box<RowSet>> = None;
        let mut is_listed = |row| last.get_or_insert_with(|| last_rows(cycle)).contains(row);
        self.retain(|row| fits(row) || is_listed(row), reason);
        if let Some(last) = last {
            give_back(last);
        }
    }

    /// As [`Self::retain`]: rejects every feasible cluster that none of the affinities matches.
    #[inline]
    pub fn retain_matching<R: Into<Reason>>(&mut self, affinities: &Affinities<'_>, reason: impl Fn(Row) -> R) {
        match affinities.only() {
            Some(only) => self.retain(|row| only.matches(row), reason),
            None => self.retain(|row| affinities.matches(row), reason),
        }
    }

    /// Cordons the cluster in a row: it takes no further replicas of the binding and keeps those of the last result. A cluster
    /// that the last result does not list is rejected. Has no effect on a cluster that is already rejected. `reason` is as for
    /// [`Self::reject`].
    ///
    /// The host enforces it under every strategy: the cluster's capacity is what it has, and a strategy that does not heed
    /// capacities divides what exceeds it among the other candidates. Select does not leave the cluster out for having no
    /// room. The cluster still loses replicas if the binding shrinks, or if its strategy moves them for another reason.
    ///
    /// # Errors
    ///
    /// [`Failure::Internal`] unless the plugin declares [`Needs::cordons`](crate::plugin::Needs::cordons).
    ///
    /// ```
    /// use divvy_framework::prelude::*;
    ///
    /// /// Takes nothing away from clusters that are about to be dismantled, and gives them nothing.
    /// #[derive(Default)]
    /// struct Dismantled;
    ///
    /// impl Plugin for Dismantled {
    ///     const NAME: &'static str = "dismantled";
    ///     const DESCRIPTION: &'static str = "cordons clusters that are about to be dismantled";
    /// }
    ///
    /// impl FilterPlugin for Dismantled {
    ///     const NEEDS: Needs = Needs::NONE.cordons();
    ///
    ///     fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
    ///         for (row, cluster) in context.clusters().rows().zip(context.clusters().iter()) {
    ///             if cluster.label("dismantle") == Some("true") {
    ///                 result.cordon(row, || "cluster(s) were about to be dismantled")?;
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// use divvy_framework::testing::{ClusterBuilder, Scenario};
    /// let scenario = Scenario::new()
    ///     .cluster(ClusterBuilder::new("a").label("dismantle", "true").last(2))
    ///     .cluster(ClusterBuilder::new("b").label("dismantle", "true"))
    ///     .cluster(ClusterBuilder::new("c"));
    /// assert_eq!(scenario.feasible(&Dismantled).unwrap(), ["a", "c"]);
    /// assert_eq!(scenario.cordoned(&Dismantled).unwrap(), ["a"]);
    /// ```
    pub fn cordon<R: Into<Reason>>(&mut self, row: Row, reason: impl FnOnce() -> R) -> Result<(), Failure> {
        if !self.cycle.may_cordon() {
            return Err(NotDeclared::new("the column of cordoned clusters", "cordons").into());
        }
        if self.codes.get(row.index()) != Some(&0) {
            // Rejected, or past the end, which `reject` counts.
            self.reject(row, reason);
            return Ok(());
        }
        let cycle = self.cycle;
        let last = self.last.get_or_insert_with(|| {
            let mut last = RowSet::default();
            cycle.binding().collect_last_rows(&cycle.clusters(), &mut last);
            last
        });
        match self.cordoned.get_mut(row.index()) {
            Some(cordoned) if last.contains(row) => {
                *cordoned = 1;
                cycle.explain_row(row, reason);
            }
            _ => self.reject(row, reason),
        }
        Ok(())
    }
}

/// The clusters of the last result.
#[cold]
fn last_rows(cycle: &Cycle<'_>) -> Box<RowSet> {
    let mut last = borrow::<RowSet>();
    cycle.binding().collect_last_rows(&cycle.clusters(), &mut last);
    last
}

/// The code of a reason. Rejected clusters often share their reason, so the latest one is not passed to the host again. What a
/// reason has besides its text is passed for each cluster.
fn code_of(latest: &mut Option<(String, u32)>, cycle: &Cycle<'_>, row: Row, reason: &Reason) -> u32 {
    if reason.cause() != Cause::Other || reason.figures().len() > 0 {
        cycle.explain_row(row, || reason.clone());
    }
    let text = reason.to_string();
    if let Some((known, code)) = latest
        && *known == text
    {
        return *code;
    }
    let code = cycle.reason(row, &text).max(1);
    *latest = Some((text, code));
    code
}
