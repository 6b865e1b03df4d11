//! A cache of plans, each valid as long as its input stays the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Plan, PlanError, PlanInput};
use crate::profile::Profile;
use divvy_karmada::detector::{Binding, BindingKey, binding_key};

/// Plans of bindings under one profile. A plan is rebuilt only if the hash of its input has changed.
#[derive(Debug, Default)]
pub struct Plans {
    known: BTreeMap<BindingKey, (u64, PlanResult)>,
}

/// A plan, or the reason why the binding has none.
pub type PlanResult = Arc<Result<Plan, PlanError>>;

impl Plans {
    /// Returns the plan of a binding, from the cache if its input has not changed. All calls must pass the same
    /// profile.
    pub fn plan(&mut self, profile: &Profile, binding: &Binding) -> PlanResult {
        let input = PlanInput::new(binding);
        let hash = input.key();
        let key = binding_key(&binding.object);
        if let Some((known, plan)) = self.known.get(&key)
            && *known == hash
        {
            return Arc::clone(plan);
        }
        let plan = Arc::new(Plan::under(profile, &input));
        self.known.insert(key, (hash, Arc::clone(&plan)));
        plan
    }

    /// Removes the plan of a deleted binding.
    pub fn forget(&mut self, key: &BindingKey) {
        self.known.remove(key);
    }
}
