//! Requests between the writers and the API server.

use divvy_controller::objects::Kind;
use divvy_world::agenda::Millis;
use divvy_world::server::{self, Effect, Reply, Request, Verb};
use serde_json::json;
use tokio::sync::oneshot;

use super::{Event, World};

/// A request under way.
#[derive(Debug)]
pub(super) struct InFlight {
    request: Request,
    sender: oneshot::Sender<Reply>,
    effect: Option<Effect>,
    reply: Option<Reply>,
}

impl World<'_> {
    /// A writer sends a request.
    pub(super) fn send(&mut self, request: Request, sender: oneshot::Sender<Reply>) {
        let effect = self.faults.meet(&request);
        match effect {
            // Dropping the sender breaks the connection.
            Some(Effect::Broken) => {
                self.note(|| {
                    format!(
                        "the connection of number {} breaks before its request arrives",
                        request.process
                    )
                });
                return;
            }
            Some(Effect::Lost) => {
                self.note(|| format!("a request of number {} is lost", request.process));
                self.silent.push(sender);
                return;
            }
            Some(Effect::KilledBefore(millis)) => {
                self.kill_sender(request.process, millis);
                return;
            }
            _ => {}
        }
        let delay = match effect {
            Some(Effect::Late(millis)) => millis,
            _ => self.network.between(1, 15),
        };
        self.requests_ever += 1;
        let number = self.requests_ever;
        self.requests.insert(
            number,
            InFlight {
                request,
                sender,
                effect,
                reply: None,
            },
        );
        self.enter(delay, Event::Arrive(number));
    }

    /// A request reaches the API server.
    pub(super) fn arrive(&mut self, number: u64) {
        let Some(mut flight) = self.requests.remove(&number) else {
            return;
        };
        let refusal = match flight.effect {
            Some(Effect::Refused(code)) => Some(Reply::refusal(code)),
            Some(Effect::Quota) => Some(server::unmet(&self.plane.server, &flight.request).unwrap_or_else(|| {
                Reply::with_details(
                    403,
                    "QuotaExceeded",
                    "FederatedResourceQuota(n0/quota) exceeded",
                    &json!({}),
                )
            })),
            _ => None,
        };
        let (process, verb) = (flight.request.process, flight.request.verb);
        let is_write = matches!(verb, Verb::Patch | Verb::PatchStatus);
        let reply = match (refusal, verb) {
            (Some(refusal), _) => refusal,
            (None, Verb::Get) => server::read(&self.plane.server, &flight.request),
            (None, Verb::Patch | Verb::PatchStatus) => self.carry_out(&flight.request),
            (None, Verb::Unexpected) => Reply::error(405, "MethodNotAllowed", "not in this world"),
        };
        if is_write {
            let (name, code) = (flight.request.key.name.clone(), reply.code);
            let what = match verb {
                Verb::PatchStatus => "the status of ",
                _ => "",
            };
            let effect = flight.effect;
            let body = flight.request.body.clone();
            self.note(|| {
                let spec = &body["spec"]["clusters"];
                let reason = &body["status"]["conditions"];
                let detail = match verb {
                    Verb::PatchStatus => scheduled_condition(reason),
                    _ => spec.to_string(),
                };
                let trouble = effect.map_or_else(String::new, |effect| format!(" ({effect:?})"));
                format!("number {process} writes {what}{name}: {detail} → {code}{trouble}")
            });
        }
        flight.reply = Some(match flight.effect {
            Some(Effect::AnsweredWrongly(code)) => Reply::refusal(code),
            _ => reply,
        });
        match flight.effect {
            Some(Effect::BrokenAfterwards) => {}
            Some(Effect::AnswerLost) => self.silent.push(flight.sender),
            Some(Effect::KilledAfter(millis)) => self.kill_sender(process, millis),
            _ => {
                let delay = self.network.between(1, 15);
                self.requests.insert(number, flight);
                self.enter(delay, Event::Answer(number));
            }
        }
    }

    /// Carries out a write of a scheduler, under the eyes of the judge.
    fn carry_out(&mut self, request: &Request) -> Reply {
        let before = self.plane.server.get(request.kind, &request.key).cloned();
        let reply = server::write(&mut self.plane.server, self.now, request);
        if reply.code == 200 {
            let after = self.plane.server.get(request.kind, &request.key).cloned();
            self.judge_write(request, before.as_deref(), after.as_deref());
            self.publish_changes(Kind::Binding);
        }
        reply
    }

    /// Kills the process that sent a request.
    fn kill_sender(&mut self, incarnation: u64, millis: Millis) {
        if let Some(slot) = self.slot_of(incarnation) {
            self.note(|| format!("p{slot}, number {incarnation}, is killed at a request, and back after {millis} ms"));
            self.kill(slot, millis);
        }
    }

    /// An answer reaches the writer.
    pub(super) fn answer(&mut self, number: u64) {
        let Some(InFlight { sender, reply, .. }) = self.requests.remove(&number) else {
            return;
        };
        if let Some(reply) = reply {
            // The writer has given up, or its process is gone.
            let _gone = sender.send(reply);
        }
    }
}

/// The condition `Scheduled` of a patch, in short.
fn scheduled_condition(conditions: &serde_json::Value) -> String {
    let conditions = conditions.as_array().into_iter().flatten();
    let mut scheduled = conditions.filter(|condition| condition["type"] == "Scheduled");
    scheduled.next().map_or_else(
        || "observed".to_owned(),
        |condition| {
            let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("reason"), text("message"))
        },
    )
}
