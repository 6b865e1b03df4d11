//! Plans that are kept as long as their input is the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Plan, PlanInput};
use crate::scheduler::Profile;
use crate::strategy::InvalidBinding;
use divvy_karmada::detector::{Binding, BindingKey, binding_key};

/// The plans of bindings under one profile: each is made once per hash of everything that it reads.
#[derive(Debug, Default)]
pub struct Plans {
    known: BTreeMap<BindingKey, (u64, PlanResult)>,
}

/// A plan, or the reason why there is none.
pub type PlanResult = Arc<Result<Plan, InvalidBinding>>;

impl Plans {
    /// The plan of a binding. Always called with one and the same profile.
    pub fn plan(&mut self, profile: &Profile, binding: &Binding) -> PlanResult {
        let input = PlanInput::new(binding);
        let hash = input.key();
        let key = binding_key(&binding.object);
        if let Some((known, plan)) = self.known.get(&key)
            && *known == hash
        {
            return Arc::clone(plan);
        }
        let plan = Arc::new(profile.plan(&input));
        self.known.insert(key, (hash, Arc::clone(&plan)));
        plan
    }

    /// Forgets the plan of a binding that is gone.
    pub fn forget(&mut self, key: &BindingKey) {
        self.known.remove(key);
    }
}
