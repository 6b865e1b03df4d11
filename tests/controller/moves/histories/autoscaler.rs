//! Karmada's FederatedHPA, as far as it can be misled by a surge (`federatedhpa_controller.go`, `replica_calculator.go`).

use serde_json::json;

use super::{KEYS, World};

/// Seconds between two looks of the autoscaler.
const PERIOD: i64 = 15;

/// What the autoscaler sees of a workload.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    /// Replicas of the template.
    template: i64,
    /// The sum of the members' `spec.replicas`.
    members: i64,
    /// Ready pods of the members.
    ready: i64,
    /// Load in pods: at its target, each takes one.
    load: i64,
}

impl Scaled {
    /// The replicas that it asks for. Pods that are not ready use nothing, and count only where they would make it scale up.
    fn wanted(self) -> i64 {
        let Self {
            template,
            members,
            ready,
            load,
        } = self;
        if ready == 0 || members == 0 {
            return template;
        }
        let is_tolerated = |pods: i64| ((load - pods) * 10).abs() <= pods;
        // Usage times pods is the load, divided by the calibration: the members' replicas over the template's.
        let wanted = (load * template + members - 1) / members;
        if load > ready && members > ready {
            let keeps = is_tolerated(members) || load < members || wanted < template;
            return if keeps { template } else { wanted };
        }
        if is_tolerated(ready) { template } else { wanted }
    }
}

impl World {
    /// Has the autoscaler look at all workloads. A surge never makes it ask for fewer replicas.
    pub(super) fn autoscale(&mut self) {
        if !self.setting.allowances.is_scaled || self.now % PERIOD != 0 {
            return;
        }
        for key in KEYS {
            let template = self.total(key);
            let (result, evicted) = (self.result(key), self.evicted(key));
            // It asks the clusters of the result.
            let is_asked = |index: usize| self.is_ready[index] && (result[index] > 0 || !evicted[index]);
            let (mut members, mut ready, mut is_settled) = (0, 0, true);
            for copy in (0..4)
                .filter(|index| is_asked(*index))
                .map(|index| &self.copies[key][index])
            {
                members += copy.given;
                ready += copy.ready;
                is_settled &= copy.pending.is_empty();
            }
            let load = self.loads[key];
            let scaled = Scaled {
                template,
                members,
                ready,
                load,
            };
            let wanted = scaled.wanted().max(1);
            let is_misled = wanted < template && load >= template;
            // While a cluster still has to apply a smaller number, more pods run than any result has.
            assert!(
                !is_misled || !is_settled,
                "seed {}, second {}: `{key}`: {scaled:?} makes {wanted}\n{}",
                self.seed,
                self.now,
                self.story()
            );
            if wanted != template && !is_misled {
                self.act(key, &json!({"spec": {"replicas": wanted}}));
            }
        }
    }
}

/// The example of ten pods at their target: a surge to 13 makes it ask for eight, one to ten or eleven pods for nothing.
#[test]
fn an_autoscaler_takes_a_surge_of_more_than_a_tenth_for_less_need() {
    let wanted = |ready, members| {
        let scaled = Scaled {
            template: 10,
            members,
            ready,
            load: 10,
        };
        scaled.wanted()
    };
    assert_eq!(
        [wanted(10, 10), wanted(11, 11), wanted(10, 13), wanted(13, 13)],
        [10, 10, 10, 8]
    );
    let busy = Scaled {
        template: 10,
        members: 10,
        ready: 10,
        load: 15,
    };
    assert_eq!(busy.wanted(), 15);
    assert_eq!(Scaled { ready: 8, ..busy }.wanted(), 15);
    assert_eq!(Scaled { load: 4, ..busy }.wanted(), 4);
}
