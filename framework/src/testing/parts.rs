//! Checks that a plugin changes nothing for a binding without the parts that it acts on.

use divvy_framework_abi::arena::ABSENT;
use divvy_framework_abi::descriptor::binding_part;

use super::Scenario;
use super::explanation::Explanation;
use super::last::LastResult;
use crate::plugin::{BindingParts, Failure};

impl Scenario {
    /// Panics if a plugin changes anything for a binding without the parts that it declares to act on. `run` runs the
    /// plugin and returns the clusters that it rejects, or whose scores it changes from 0.
    #[track_caller]
    pub(super) fn check_parts(
        &self,
        plugin: &str,
        acts_on: BindingParts,
        run: impl Fn(&Self) -> Result<(Vec<String>, Explanation), Failure>,
    ) {
        if acts_on == BindingParts::ALL {
            return;
        }
        let scenario = self.without(acts_on.bits());
        let broken = match run(&scenario) {
            Err(failure) => format!("fails: {failure}"),
            Ok((clusters, _)) if !clusters.is_empty() => format!("decides about {clusters:?}"),
            Ok((_, explanation)) if explanation != Explanation::default() => format!("explains: {explanation:?}"),
            Ok(_) => match scenario.valid_until() {
                Some(until) => format!("limits the time for which its answer holds: {until}"),
                None => return,
            },
        };
        panic!(
            "plugin `{plugin}` declares to act only on {}, and without that it {broken}",
            acts_on.names()
        );
    }

    /// This scenario without some parts of its binding, given as bits of [`binding_part`], and without preferences: a binding
    /// for which the host does not call a plugin that acts on these parts.
    fn without(&self, parts: u64) -> Self {
        let mut scenario = self.clone();
        scenario.binding.remove(parts);
        scenario.preferences.clear();
        if parts & binding_part::LAST_RESULT != 0 {
            scenario.last = LastResult::default();
            scenario.clusters.iter_mut().for_each(|cluster| cluster.last = ABSENT);
        }
        scenario.peers.leave(parts);
        scenario
    }
}
