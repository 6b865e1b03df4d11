//! Rights that are missing according to the API server.
//!
//! A starting API server refuses everything until it has loaded its roles, so a refusal counts only if it lasts while other requests
//! are answered.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::outage::Outage;

/// Time after which a refusal counts.
const BELIEVED_AFTER: Duration = Duration::from_secs(60);

/// Rights that were refused, each with the time of the first refusal.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    refused: Mutex<BTreeMap<String, Refusal>>,
}

#[derive(Debug)]
struct Refusal {
    since: Instant,
    is_reported: bool,
}

impl Rights {
    /// A patch of a resource, such as `resourcebindings/status`, was refused. Returns the rule that is missing if the refusal is not
    /// that of a starting API server.
    pub(crate) fn refused(&self, resource: &str, cause: &str, outage: &Outage, now: Instant) -> Option<String> {
        let mut refused = self.lock();
        let refusal = refused.entry(resource.to_owned()).or_insert_with(|| {
            tracing::warn!(resource, cause, "the API server knows no right to patch; trying again");
            Refusal {
                since: now,
                is_reported: false,
            }
        });
        let is_old = now.saturating_duration_since(refusal.since) >= BELIEVED_AFTER;
        let is_alone = outage.answered_since(refusal.since);
        if !is_old || !is_alone {
            return None;
        }
        let rule = format!("{{apiGroups: [work.karmada.io], resources: [{resource}], verbs: [patch]}}");
        if !refusal.is_reported {
            refusal.is_reported = true;
            tracing::error!(
                resource,
                rule,
                "a right is missing: add the rule to the scheduler's ClusterRole in Karmada's API"
            );
        }
        Some(rule)
    }

    /// A patch of a resource was not refused. Returns true if the right had been reported as missing.
    pub(crate) fn granted(&self, resource: &str) -> bool {
        let refusal = self.lock().remove(resource);
        let was_reported = refusal.is_some_and(|refusal| refusal.is_reported);
        if was_reported {
            tracing::info!(resource, "the missing right is there");
        }
        was_reported
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Refusal>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_is_missing_if_it_is_refused_for_a_minute_while_others_are_answered() {
        let (rights, outage, start) = (Rights::default(), Outage::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let refused = |seconds| rights.refused("resourcebindings", "forbidden", &outage, after(seconds));
        assert_eq!(refused(0), None);
        assert_eq!(refused(61), None, "nothing else was answered");
        outage.answered();
        assert_eq!(refused(59), None);
        let rule = "{apiGroups: [work.karmada.io], resources: [resourcebindings], verbs: [patch]}";
        assert_eq!(refused(61).as_deref(), Some(rule));
        assert!(rights.granted("resourcebindings"));
        assert!(!rights.granted("resourcebindings"));
        assert_eq!(refused(62), None, "it begins anew");
    }
}
