//! Taints as whole columns of numbers, for a pass over thousands of clusters.
//!
//! [`Cluster::taints`](super::Cluster::taints) reads like the object and looks up texts. Here a taint is three
//! integers, so comparing one with a toleration reads no text.

use divvy_framework_abi::arena::{Arena, column};
use divvy_framework_abi::text::Span;

use super::{Row, Symbol};
use crate::words::TaintEffect;

/// The taints of all clusters of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct TaintColumns<'a> {
    spans: &'a [Span],
    keys: &'a [Symbol],
    values: &'a [Symbol],
    effects: &'a [u32],
}

/// A taint without its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaintSymbols {
    /// Key.
    pub key: Symbol,
    /// Value.
    pub value: Symbol,
    /// Effect.
    pub effect: TaintEffect,
}

impl<'a> TaintColumns<'a> {
    #[inline]
    pub(super) fn new(arena: Arena<'a>) -> Self {
        Self {
            spans: arena.column(column::TAINT_SPANS),
            keys: arena.column(column::TAINT_KEYS),
            values: arena.column(column::TAINT_VALUES),
            effects: arena.column(column::TAINT_EFFECTS),
        }
    }

    /// True if the cluster in a row has a taint. Few clusters have one, and this reads less than [`Self::of`].
    #[inline]
    pub fn any(&self, row: Row) -> bool {
        self.spans.get(row.index()).is_some_and(|span| span.length > 0)
    }

    /// Taints of the cluster in a row, in the order of `spec.taints`.
    #[inline]
    pub fn of(&self, row: Row) -> impl Iterator<Item = TaintSymbols> + use<'a> {
        let span = self.spans.get(row.index()).copied().unwrap_or_default();
        let (keys, values, effects) = (span.of(self.keys), span.of(self.values), span.of(self.effects));
        keys.iter()
            .zip(values)
            .zip(effects)
            .map(|((&key, &value), &effect)| TaintSymbols {
                key,
                value,
                effect: TaintEffect::from_code(effect),
            })
    }
}
