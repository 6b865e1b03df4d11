//! The record that schedulers contend for.

use divvy_controller::lease::{Answer, Request};
use k8s_openapi::api::coordination::v1::Lease;

use crate::agenda::Millis;

/// The record as the API server has it.
#[derive(Debug, Default)]
pub struct LeaseRecord {
    lease: Option<Lease>,
    version: u64,
    /// Time of its last write.
    pub written_at: Millis,
}

impl LeaseRecord {
    /// The holder; `None` if there is none.
    pub fn holder(&self) -> Option<&str> {
        let spec = self.lease.as_ref()?.spec.as_ref()?;
        spec.holder_identity.as_deref().filter(|holder| !holder.is_empty())
    }

    /// Carries out a request about the lease.
    pub fn carry_out(&mut self, request: &Request, now: Millis) -> Answer {
        let current = self.lease.as_ref();
        let lease = match (request, current) {
            (Request::Get, Some(lease)) => return Answer::Lease(Box::new(lease.clone())),
            (Request::Get | Request::Update(_), None) => return Answer::NotFound,
            (Request::Create(_), Some(_)) => return Answer::Conflict,
            (Request::Update(lease), Some(current))
                if lease.metadata.resource_version != current.metadata.resource_version =>
            {
                return Answer::Conflict;
            }
            (Request::Create(lease) | Request::Update(lease), _) => lease,
        };
        self.version += 1;
        self.written_at = now;
        let mut lease = Lease::clone(lease);
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(lease.clone());
        Answer::Lease(Box::new(lease))
    }
}
