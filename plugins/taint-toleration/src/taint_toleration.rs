//! The rule: which taints keep a binding out of a cluster.
//!
//! It is Kubernetes' `Toleration.ToleratesTaint` over symbols. It does not know the last result, whose clusters the plugin
//! exempts, and `tolerationSeconds` plays no part: it delays an eviction and never a scheduling.

use divvy_framework::binding::{Toleration, TolerationOperator};
use divvy_framework::clusters::TaintEffect;
use divvy_framework::clusters::{Clusters, Symbol, TaintSymbols};

/// Tolerations as numbers of one snapshot. Kept between cycles for its memory alone.
#[derive(Debug, Default)]
pub(crate) struct Tolerations {
    compiled: Vec<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    /// `None`: every key.
    key: Option<Symbol>,
    /// `None`: every value.
    value: Option<Symbol>,
    /// `None`: every effect.
    effect: Option<TaintEffect>,
}

impl Tolerations {
    /// Takes over the tolerations of a placement. One that names what no cluster mentions tolerates no taint here and is
    /// left out.
    pub(crate) fn compile<'a>(&mut self, clusters: &Clusters<'_>, tolerations: impl Iterator<Item = Toleration<'a>>) {
        self.compiled.clear();
        self.compiled
            .extend(tolerations.filter_map(|toleration| Compiled::new(clusters, &toleration)));
    }

    /// Whether a taint keeps the binding out.
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
            // Also with an empty key: Kubernetes' API refuses that, its code compares the value all the same.
            TolerationOperator::Equal => Some(clusters.symbol(toleration.value)?),
            TolerationOperator::Exists => None,
            TolerationOperator::Unknown => return None,
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

/// Why a cluster with that taint is rejected: Karmada's text around Kubernetes' `Taint.ToString`.
pub(crate) fn reason(clusters: &Clusters<'_>, taint: TaintSymbols) -> String {
    let (key, value) = (clusters.text(taint.key), clusters.text(taint.value));
    let effect = taint.effect.word();
    if value.is_empty() {
        format!("cluster(s) had untolerated taint {{{key}:{effect}}}")
    } else {
        format!("cluster(s) had untolerated taint {{{key}={value}:{effect}}}")
    }
}
