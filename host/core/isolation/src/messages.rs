//! Reads the bytes of a worker's answers as the host does. For tests that invent such bytes: a plugin can write anything into the memory
//! of its worker, and so into every answer.

use divvy_loader::LibraryDescription;

use crate::event::Event;
use crate::exchange::read_events;
use crate::request::Opened;

/// Hands everything that a plugin handed over during an operation to `take`, which answers a text with a code. Returns the number of
/// texts, or `None` if the bytes are no events; those before the first invalid one have then been handed over.
pub fn events(bytes: &[u8], take: &mut dyn FnMut(Event<'_>) -> u32) -> Option<usize> {
    read_events(bytes, take).ok().map(|(answers, _)| answers.len())
}

/// The description of a library that a worker has opened; `None` if the bytes are no answer, or a refusal.
pub fn description(bytes: &[u8]) -> Option<LibraryDescription> {
    match serde_json::from_slice(bytes).ok()? {
        Opened::Library { description, .. } => Some(*description),
        Opened::Refused { .. } => None,
    }
}
