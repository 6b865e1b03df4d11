//! Metadata of the objects that a binding comes from: its policy and its workload.

use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::row::PairRow;
use divvy_framework_abi::view::flag;

use super::{Binding, pairs};
use crate::clusters::NotDeclared;

/// Labels and annotations of an object.
#[derive(Clone, Copy)]
pub struct Metadata<'a> {
    pool: &'a str,
    labels: &'a [PairRow],
    annotations: &'a [PairRow],
}

impl std::fmt::Debug for Metadata<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Metadata")
            .field("labels", &self.labels().collect::<Vec<_>>())
            .field("annotations", &self.annotations().collect::<Vec<_>>())
            .finish()
    }
}

impl<'a> Metadata<'a> {
    /// `metadata.labels`, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        pairs(self.pool, self.labels)
    }

    /// `metadata.annotations`, by key.
    pub fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        pairs(self.pool, self.annotations)
    }

    /// The label with this key.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.labels().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The annotation with this key.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.annotations()
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    }
}

impl<'a> Binding<'a> {
    /// `spec.schedulePriority.priority`: the priority in the scheduling queue, larger first; 0 if the binding has none.
    ///
    /// # Errors
    ///
    /// [`NotDeclared`] unless the plugin declares `Needs::metadata`.
    pub fn priority(&self) -> Result<i64, NotDeclared> {
        self.declared("the priority of the binding")?;
        Ok(self.view.priority)
    }

    /// Labels and annotations of the policy that the binding comes from. `None` if they are unknown: the policy is not
    /// in the input, the binding has no policy, or a recording lacks them.
    ///
    /// # Errors
    ///
    /// [`NotDeclared`] unless the plugin declares `Needs::metadata`.
    pub fn policy(&self) -> Result<Option<Metadata<'a>>, NotDeclared> {
        self.declared("the metadata of the policy")?;
        let known = self.has(flag::POLICY_METADATA);
        Ok(known.then(|| {
            self.metadata(
                self.view.policy_labels.as_slice(),
                self.view.policy_annotations.as_slice(),
            )
        }))
    }

    /// Labels and annotations of the workload that the binding propagates. `None` if they are unknown, which differs
    /// from empty: `divvy run` does not watch workloads, and files or a recording need not contain them.
    ///
    /// # Errors
    ///
    /// [`NotDeclared`] unless the plugin declares `Needs::metadata`.
    pub fn workload(&self) -> Result<Option<Metadata<'a>>, NotDeclared> {
        self.declared("the metadata of the workload")?;
        let known = self.has(flag::WORKLOAD_METADATA);
        Ok(known.then(|| {
            self.metadata(
                self.view.workload_labels.as_slice(),
                self.view.workload_annotations.as_slice(),
            )
        }))
    }

    fn declared(&self, value: &'static str) -> Result<(), NotDeclared> {
        if self.needs & feature::METADATA == 0 {
            return Err(NotDeclared::new(value, "metadata"));
        }
        Ok(())
    }

    fn metadata(&self, labels: &'a [PairRow], annotations: &'a [PairRow]) -> Metadata<'a> {
        Metadata {
            pool: self.view.pool.as_str(),
            labels,
            annotations,
        }
    }
}
