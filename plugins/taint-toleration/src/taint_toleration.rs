//! The rule: which taints keep a binding out of a cluster.
//!
//! It is Kubernetes' `Toleration.ToleratesTaint` over symbols. It does not consider the last result; the plugin exempts
//! its clusters. `tolerationSeconds` is ignored, because it delays evictions and does not affect scheduling.

use divvy_framework::binding::{Toleration, TolerationOperator};
use divvy_framework::clusters::TaintEffect;
use divvy_framework::clusters::{Clusters, Symbol, TaintSymbols};

/// Tolerations as symbols of one snapshot. Kept between cycles only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct Tolerations {
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

impl Tolerations {
    /// Compiles the tolerations of a placement. A key or value that occurs in no cluster cannot match a taint, so such
    /// tolerations are left out.
    pub(crate) fn compile<'a>(&mut self, clusters: &Clusters<'_>, tolerations: impl Iterator<Item = Toleration<'a>>) {
        self.compiled.clear();
        self.compiled
            .extend(tolerations.filter_map(|toleration| Compiled::new(clusters, &toleration)));
    }

    /// True if the taint keeps the binding out of its cluster.
    #[inline]
    pub(crate) fn reject(&self, taint: TaintSymbols) -> bool {
        matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute)
            && !self.compiled.iter().any(|toleration| toleration.tolerates(taint))
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

/// Reason for rejecting a cluster with this taint: Karmada's text around Kubernetes' `Taint.ToString`.
pub(crate) fn reason(clusters: &Clusters<'_>, taint: TaintSymbols) -> String {
    let (key, value) = (clusters.text(taint.key), clusters.text(taint.value));
    let effect = taint.effect.word();
    if value.is_empty() {
        format!("cluster(s) had untolerated taint {{{key}:{effect}}}")
    } else {
        format!("cluster(s) had untolerated taint {{{key}={value}:{effect}}}")
    }
}
