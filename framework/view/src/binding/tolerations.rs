//! Which taints keep a binding out of a cluster.
//!
//! It is Kubernetes' `Toleration.ToleratesTaint` over symbols. `tolerationSeconds` is ignored, because it delays evictions and does not
//! affect scheduling.

use super::{Toleration, TolerationOperator};
use crate::clusters::{Clusters, Row, Symbol, TaintColumns, TaintSymbols};
use crate::words::TaintEffect;

/// Tolerations as symbols of one snapshot. A plugin keeps them between calls only to reuse the memory.
#[derive(Debug, Default)]
pub struct Tolerations {
    compiled: Vec<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    /// `None` matches every key.
    key: Option<Symbol>,
    /// `None` matches every value.
    value: Option<Symbol>,
    /// `None` matches every effect.
    effect: Option<TaintEffect>,
}

/// The taints that tolerations do not tolerate, for a pass over all clusters.
#[derive(Debug, Clone, Copy)]
pub struct UntoleratedTaints<'a> {
    clusters: Clusters<'a>,
    taints: TaintColumns<'a>,
    tolerations: &'a Tolerations,
}

impl Tolerations {
    /// Compiles tolerations, in place of those of the call before, and returns the taints of the snapshot that they do not tolerate.
    pub fn compile<'a, 't>(
        &'a mut self,
        clusters: &Clusters<'a>,
        tolerations: impl Iterator<Item = Toleration<'t>>,
    ) -> UntoleratedTaints<'a> {
        self.compiled.clear();
        // A key or value that occurs in no cluster matches no taint.
        let compiled = tolerations.filter_map(|toleration| Compiled::new(clusters, &toleration));
        self.compiled.extend(compiled);
        UntoleratedTaints {
            clusters: *clusters,
            taints: clusters.taints(),
            tolerations: self,
        }
    }

    #[inline]
    fn tolerate(&self, taint: TaintSymbols) -> bool {
        !matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute)
            || self.compiled.iter().any(|toleration| toleration.tolerates(taint))
    }
}

impl<'a> UntoleratedTaints<'a> {
    /// True if a cluster has a taint that is not tolerated, of those with the effects NoSchedule and NoExecute.
    #[inline]
    pub fn any(&self, row: Row) -> bool {
        self.taints.any(row) && self.first(row).is_some()
    }

    /// The first of these taints, in the order of `spec.taints`.
    #[inline]
    pub fn first(&self, row: Row) -> Option<TaintSymbols> {
        self.taints.of(row).find(|&taint| !self.tolerations.tolerate(taint))
    }

    /// The reason for rejecting a cluster, in Karmada's words: `cluster(s) had untolerated taint {gpu=yes:NoSchedule}`. Empty if it has no
    /// such taint.
    pub fn reason(&self, row: Row) -> String {
        let Some(taint) = self.first(row) else {
            return String::new();
        };
        let (key, value) = (self.clusters.text(taint.key), self.clusters.text(taint.value));
        let effect = taint.effect.word();
        // As `Taint.ToString` of Kubernetes writes it.
        if value.is_empty() {
            format!("cluster(s) had untolerated taint {{{key}:{effect}}}")
        } else {
            format!("cluster(s) had untolerated taint {{{key}={value}:{effect}}}")
        }
    }
}

impl Compiled {
    fn new(clusters: &Clusters<'_>, toleration: &Toleration<'_>) -> Option<Self> {
        let key = match toleration.key {
            "" => None,
            key => Some(clusters.symbol(key)?),
        };
        let value = match toleration.operator {
            // Also with an empty key, which Karmada accepts and Kubernetes compares in the same way.
            TolerationOperator::Equal => Some(clusters.symbol(toleration.value)?),
            TolerationOperator::Exists => None,
            _ => return None,
        };
        let effect = (toleration.effect != TaintEffect::Any).then_some(toleration.effect);
        Some(Self { key, value, effect })
    }

    #[inline]
    fn tolerates(&self, taint: TaintSymbols) -> bool {
        self.effect.is_none_or(|effect| effect == taint.effect)
            && self.key.is_none_or(|key| key == taint.key)
            && self.value.is_none_or(|value| value == taint.value)
    }
}
