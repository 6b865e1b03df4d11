//! Faults of the API server and of the network before it.

use std::fmt;

use super::{Request, Verb};
use crate::agenda::Millis;

/// The requests that a fault meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitting {
    /// Any request.
    Any,
    /// Patches of a specification.
    Specification,
    /// Patches of a status: the second of the two patches.
    Status,
    /// Reads of one object.
    Read,
}

/// The effect of a fault on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is refused with this code, and not carried out.
    Refused(u16),
    /// It is carried out, and answered with this code.
    AnsweredWrongly(u16),
    /// It never arrives, and no answer comes.
    Lost,
    /// It is carried out, and no answer comes.
    AnswerLost,
    /// The connection breaks before it arrives.
    Broken,
    /// The connection breaks after it was carried out.
    BrokenAfterwards,
    /// It arrives late.
    Late(Millis),
    /// The quota of its namespace refuses it.
    Quota,
    /// Its process is killed before it arrives, and back after a time.
    KilledBefore(Millis),
    /// Its process is killed after it was carried out, and back after a time.
    KilledAfter(Millis),
}

/// A fault that waits for its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The requests that it meets.
    pub fitting: Fitting,
    /// Its effect.
    pub effect: Effect,
    /// Requests that it still meets.
    pub count: u32,
}

/// Faults that wait for their requests, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a fault.
    pub fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The effect of the oldest fault that meets a request, which it has then met.
    pub fn meet(&mut self, request: &Request) -> Option<Effect> {
        let fault = self.0.iter_mut().find(|fault| fault.meets(request))?;
        fault.count -= 1;
        let effect = fault.effect;
        self.0.retain(|fault| fault.count > 0);
        Some(effect)
    }
}

impl Fault {
    /// True if the fault meets a request.
    pub fn meets(&self, request: &Request) -> bool {
        let fits = match self.fitting {
            Fitting::Any => true,
            Fitting::Specification => request.verb == Verb::Patch,
            Fitting::Status => request.verb == Verb::PatchStatus,
            Fitting::Read => request.verb == Verb::Get,
        };
        // A quota counts what a result takes.
        fits && (self.effect != Effect::Quota || request.body["spec"]["clusters"].is_array())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = match self.fitting {
            Fitting::Any => "requests",
            Fitting::Specification => "patches of a specification",
            Fitting::Status => "patches of a status",
            Fitting::Read => "reads",
        };
        write!(formatter, "the next {} {requests} ", self.count)?;
        match self.effect {
            Effect::Refused(code) => write!(formatter, "are refused with {code}"),
            Effect::AnsweredWrongly(code) => write!(formatter, "are carried out but answered with {code}"),
            Effect::Lost => formatter.write_str("are lost"),
            Effect::AnswerLost => formatter.write_str("are carried out, but their answers are lost"),
            Effect::Broken => formatter.write_str("meet a broken connection"),
            Effect::BrokenAfterwards => formatter.write_str("are carried out, and then the connection breaks"),
            Effect::Late(millis) => write!(formatter, "take {millis} ms"),
            Effect::Quota => formatter.write_str("are refused by quota"),
            Effect::KilledBefore(millis) => {
                write!(
                    formatter,
                    "never arrive: their process is killed, and back after {millis} ms"
                )
            }
            Effect::KilledAfter(millis) => {
                write!(
                    formatter,
                    "are carried out, and their process is killed, and back after {millis} ms"
                )
            }
        }
    }
}
