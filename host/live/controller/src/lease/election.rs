//! The algorithm of client-go's leader election, as a state machine that performs no I/O and reads no clock.
//!
//! One attempt is a short conversation: [`Election::begin`] returns the first request, and [`Election::advance`] takes its
//! answer and returns the next request or the end of the attempt. While leading, an attempt is a single update. The caller
//! waits between attempts.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

use super::clock::Moment;
use super::options::LeaseOptions;

/// Number of a period in which this process led without a gap, counted from 1. State that was valid in one term must be
/// rebuilt in the next, because another scheduler may have written in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// The role after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// This process leads.
    Leader(Term),
    /// Another process leads, or none does.
    Standby {
        /// The other process that holds the lease. `None` if the lease is free, has expired or was never seen, and if the record
        /// names this process, which then lost it because its renewals failed.
        holder: Option<String>,
    },
}

/// A request to the API server.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Read the lease.
    Get,
    /// Create the lease.
    Create(Box<Lease>),
    /// Replace the lease, checked by the resourceVersion that it carries.
    Update(Box<Lease>),
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The lease as it is now.
    Lease(Box<Lease>),
    /// There is no such lease.
    NotFound,
    /// The lease has changed, or exists already.
    Conflict,
    /// No answer, or another error. The request may still have taken effect.
    Failed,
}

/// The next step of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Send this request.
    Send(Request),
    /// The attempt is over. [`Election::role`] has its outcome.
    Done,
}

/// The record last seen, and the moment at which its last change was first seen.
#[derive(Debug, Clone)]
struct Observed {
    lease: Lease,
    at: Moment,
}

/// Leadership of this process.
#[derive(Debug, Clone, Copy)]
struct Held {
    term: Term,
    /// Moment from which no write may start.
    until: Moment,
}

/// The request that is under way.
#[derive(Debug, Clone, Copy)]
enum Pending {
    None,
    /// An update based on the record last seen.
    Renew {
        sent: Moment,
    },
    Get,
    /// A write after the record was read.
    Write {
        sent: Moment,
    },
    /// An update that frees the lease, based on the record last seen.
    Release,
    /// A read after that update found another record, perhaps one by a renewal whose answer was lost.
    ReleaseGet,
}

/// One contender's view of a lease.
#[derive(Debug)]
pub struct Election {
    options: LeaseOptions,
    observed: Option<Observed>,
    held: Option<Held>,
    terms: u64,
    pending: Pending,
}

impl Election {
    /// A contender that has not seen the lease.
    pub fn new(options: LeaseOptions) -> Self {
        Self {
            options,
            observed: None,
            held: None,
            terms: 0,
            pending: Pending::None,
        }
    }

    /// The options it was made with.
    pub(crate) fn options(&self) -> &LeaseOptions {
        &self.options
    }

    /// Begins an attempt to acquire or renew the lease. `wall` is the time of day, for the record.
    pub fn begin(&mut self, now: Moment, wall: Timestamp) -> Request {
        // A holder knows the record, and usually no one else has changed it: one request then suffices.
        let known = self.observed.as_ref().filter(|observed| {
            self.held.is_some() && self.is_holder(&observed.lease) && !self.has_expired(observed, now)
        });
        if let Some(observed) = known {
            let renewed = self.claim(Some(&observed.lease), wall);
            self.pending = Pending::Renew { sent: now };
            return Request::Update(Box::new(renewed));
        }
        self.pending = Pending::Get;
        Request::Get
    }

    /// Takes the answer to the last request.
    pub fn advance(&mut self, answer: Answer, now: Moment, wall: Timestamp) -> Next {
        match (std::mem::replace(&mut self.pending, Pending::None), answer) {
            (Pending::Renew { sent } | Pending::Write { sent }, Answer::Lease(lease)) => {
                self.observe(*lease, now);
                // The write that frees the lease passes here, too.
                if !self.is_released() {
                    self.lead(sent);
                }
                Next::Done
            }
            // The record has changed, or the renewal may have succeeded although its answer was lost.
            (Pending::Renew { .. }, _) => {
                self.pending = Pending::Get;
                Next::Send(Request::Get)
            }
            (Pending::Get, Answer::Lease(lease)) => {
                self.observe(*lease, now);
                self.contend(now, wall)
            }
            (Pending::Get, Answer::NotFound) => {
                self.observed = None;
                self.held = None;
                self.pending = Pending::Write { sent: now };
                Next::Send(Request::Create(Box::new(self.claim(None, wall))))
            }
            (Pending::Release, Answer::Lease(lease)) => {
                self.observe(*lease, now);
                Next::Done
            }
            (Pending::Release, Answer::Conflict) => {
                self.pending = Pending::ReleaseGet;
                Next::Send(Request::Get)
            }
            (Pending::ReleaseGet, Answer::Lease(lease)) => {
                self.observe(*lease, now);
                let Some(freed) = self.freed(wall) else {
                    return Next::Done;
                };
                // One repetition is enough: only this process could have renewed its own lease.
                self.pending = Pending::Write { sent: now };
                Next::Send(Request::Update(Box::new(freed)))
            }
            // Another contender was faster, or the API server is away. The next attempt reads the record.
            (_, _) => Next::Done,
        }
    }

    /// The role at a moment. A leader whose renewals failed for too long is a standby, although the record names it.
    pub fn role(&self, now: Moment) -> Role {
        match self.held {
            Some(held) if now < held.until => Role::Leader(held.term),
            _ => Role::Standby {
                holder: self.other_holder(now),
            },
        }
    }

    /// The term of a leader and the moment from which no write may start.
    pub fn tenure(&self, now: Moment) -> Option<(Term, Moment)> {
        let held = self.held.filter(|held| now < held.until)?;
        Some((held.term, held.until))
    }

    /// Times that the lease changed hands, from the record; `None` if it was never seen.
    pub(crate) fn transitions(&self) -> Option<i32> {
        self.observed.as_ref()?.lease.spec.as_ref()?.lease_transitions
    }

    /// Ends leadership and returns the first request of the conversation that frees the lease for others at once; `None`
    /// if it is not held.
    ///
    /// The caller must have stopped writing. If a request fails, the lease expires by itself.
    pub(crate) fn release(&mut self, wall: Timestamp) -> Option<Request> {
        self.held.take()?;
        let freed = self.freed(wall)?;
        self.pending = Pending::Release;
        Some(Request::Update(Box::new(freed)))
    }

    /// True once the lease was freed by [`Self::release`].
    pub(crate) fn is_released(&self) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|observed| holder(&observed.lease).is_none())
    }

    /// The record without a holder, if this process is the holder. Its name is emptied rather than removed, as client-go
    /// does, and every contender takes the lease without waiting.
    fn freed(&self, wall: Timestamp) -> Option<Lease> {
        let observed = self.observed.as_ref()?;
        if !self.is_holder(&observed.lease) {
            return None;
        }
        let mut lease = observed.lease.clone();
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.acquire_time = Some(MicroTime(wall));
        spec.renew_time = Some(MicroTime(wall));
        Some(lease)
    }

    /// Stores the record, and the moment if the record has changed.
    fn observe(&mut self, lease: Lease, now: Moment) {
        let unchanged = self
            .observed
            .as_ref()
            .filter(|observed| observed.lease.spec == lease.spec);
        let at = unchanged.map_or(now, |observed| observed.at);
        self.observed = Some(Observed { lease, at });
    }

    /// Decides what to do about the record that was just read.
    fn contend(&mut self, now: Moment, wall: Timestamp) -> Next {
        let Some(observed) = &self.observed else {
            return Next::Done;
        };
        let free = holder(&observed.lease).is_none();
        let expired = self.has_expired(observed, now);
        if !self.is_holder(&observed.lease) {
            // Others may have led meanwhile, even if this process regarded itself as the leader.
            self.held = None;
            if !free && !expired {
                return Next::Done;
            }
        }
        let claimed = self.claim(Some(&observed.lease), wall);
        self.pending = Pending::Write { sent: now };
        Next::Send(Request::Update(Box::new(claimed)))
    }

    /// Starts or prolongs a term. The deadline counts from the moment before the successful write was sent: the API
    /// server may have stored it, and other contenders may have seen it, right then.
    fn lead(&mut self, sent: Moment) {
        let until = sent.after(self.options.timing.renew_deadline);
        self.held = Some(match self.held {
            // A renewal that was sent after the deadline begins a new term, because writes were refused in between.
            Some(held) if sent < held.until => Held { until, ..held },
            _ => {
                self.terms += 1;
                Held {
                    term: Term(self.terms),
                    until,
                }
            }
        });
    }

    /// The record that makes this process the holder, or keeps it so.
    fn claim(&self, known: Option<&Lease>, wall: Timestamp) -> Lease {
        let LeaseOptions { name, identity, timing } = &self.options;
        let mut lease = known.cloned().unwrap_or_else(|| Lease {
            metadata: ObjectMeta {
                name: Some(name.name.clone()),
                namespace: Some(name.namespace.clone()),
                ..ObjectMeta::default()
            },
            spec: None,
        });
        let renewal = known.is_some_and(|known| self.is_holder(known));
        let spec = lease.spec.get_or_insert_default();
        let transitions = spec.lease_transitions.unwrap_or(0);
        if !renewal {
            spec.acquire_time = Some(MicroTime(wall));
            // A new lease begins at 0.
            spec.lease_transitions = Some(if known.is_some() {
                transitions.saturating_add(1)
            } else {
                0
            });
        }
        spec.holder_identity = Some(identity.clone());
        spec.lease_duration_seconds = Some(timing.lease_seconds());
        spec.renew_time = Some(MicroTime(wall));
        lease
    }

    /// The other process that holds the lease. A record that has not changed for its duration says nothing: its holder may be gone,
    /// or this process may no longer be able to read it.
    fn other_holder(&self, now: Moment) -> Option<String> {
        let observed = self.observed.as_ref()?;
        let is_live = !self.is_holder(&observed.lease) && !self.has_expired(observed, now);
        holder(&observed.lease).filter(|_| is_live)
    }

    fn is_holder(&self, lease: &Lease) -> bool {
        holder(lease).is_some_and(|holder| holder == self.options.identity)
    }

    /// True if the record has not changed for its own duration. For a record without a usable duration, this process's own counts.
    fn has_expired(&self, observed: &Observed, now: Moment) -> bool {
        let seconds = observed
            .lease
            .spec
            .as_ref()
            .and_then(|spec| spec.lease_duration_seconds);
        let duration = seconds
            .and_then(|seconds| u64::try_from(seconds).ok())
            .filter(|seconds| *seconds > 0)
            .map_or(self.options.timing.lease_duration, Duration::from_secs);
        now.since(observed.at) >= duration
    }
}

/// The holder in a record; `None` if it is free.
fn holder(lease: &Lease) -> Option<String> {
    let LeaseSpec { holder_identity, .. } = lease.spec.as_ref()?;
    holder_identity.clone().filter(|holder| !holder.is_empty())
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
