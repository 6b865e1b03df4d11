//! A panic of Divvy's own code costs the decision in which it happens, and nothing else.

use std::sync::Arc;

use divvy_controller::condition::{Failure, ScheduledReason};
use divvy_controller::decision::LiveDecision;
use divvy_scheduler::cycle::{Cycle, CycleError};
use divvy_scheduler::decision::{Circumstances, Estimates, Outcome};
use divvy_scheduler::fleet::estimate::Demand;
use divvy_scheduler::plan::{Plan, PlanInput};

use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, read};

/// Estimates with a defect: they panic for the cluster with this name.
struct Defective(&'static str);

impl Estimates for Defective {
    fn fits(&self, cluster: &str, _: &Demand) -> Option<i64> {
        assert_ne!(cluster, self.0, "no estimate of {cluster}");
        Some(3)
    }
}

#[test]
fn a_panic_of_divvy_fails_one_decision_and_leaves_the_next_as_it_was() {
    let host = Host::built_in();
    let (bindings, fleet) = read(&list([
        binding("web", 4).into(),
        cluster("m1", 3).into(),
        cluster("m2", 3).into(),
    ]));
    let binding = &bindings[0];
    let plan = Arc::new(Plan::under(host.profile(), &PlanInput::new(binding)));
    let mut cycle = Cycle::new();
    let mut decide = |estimates: &Defective| {
        let circumstances = Circumstances {
            profile: host.profile(),
            fleet: &fleet,
            ledger: None,
            estimates: Some(estimates),
            fresh: false,
            time: None,
            peers: None,
            without: &[],
            detail: None,
        };
        LiveDecision::make(&mut cycle, binding, &plan, &circumstances)
    };
    let expected = decide(&Defective("")).result.expect("the binding is scheduled");
    let failed = decide(&Defective("m2"));
    let Outcome::Failed(error @ CycleError::Defect(defect)) = &failed.decision.outcome else {
        panic!("expected a defect: {:?}", failed.decision.outcome);
    };
    assert_eq!(failed.decision.binding, "default/web");
    assert!(defect.message.contains("no estimate of m2"), "{defect}");
    assert!(defect.location.starts_with("tests/controller/defects.rs:"), "{defect}");
    assert!(error.is_defect() && !error.is_plugin_fault() && !error.is_input_fault());
    let failure = failed.result.expect_err("it has no result");
    assert_eq!(failure.reason, ScheduledReason::SchedulerError);
    assert_eq!(failure.message, Failure::from_cycle(error).message);
    assert!(failure.message.contains("defect of Divvy"), "{}", failure.message);
    // The same memory decides the next binding.
    assert_eq!(decide(&Defective("")).result, Ok(expected));
}
