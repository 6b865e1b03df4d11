//! Lists and watches: the objects that each process sees, and when.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_controller::objects::{Fetched, Kind, Object, ObjectKey};
use divvy_controller::watch::Change;
use divvy_world::agenda::Millis;
use serde_json::Value;

use super::{Event, World};
use crate::script::Resume;

/// Objects of a page of a list.
const PAGE: usize = 8;

/// One kind as one process watches it.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Number of the next record of the history that is shown.
    position: usize,
    /// Objects of a list that are still to be shown, the last first; `None` while the kind is watched.
    listing: Option<Vec<(ObjectKey, Arc<Value>)>>,
    /// Objects that the list has named.
    listed: Vec<ObjectKey>,
    /// Versions of the API server that were shown.
    pub(super) seen: Seen,
    /// Version at which the list under way began.
    began_at: u64,
    /// Delay of changes.
    lag: Millis,
    /// True from the first list on, unless the connection is broken.
    is_connected: bool,
    /// True if the agenda has the next delivery.
    is_expected: bool,
}

/// Versions of the API server that a process was shown of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The last. A watch that repeats events shows older ones again.
    pub(crate) last: u64,
    /// The newest. Of a list that is under way, some objects are of its version already.
    pub(crate) newest: u64,
}

impl Seen {
    fn note(&mut self, version: u64) {
        self.last = version;
        self.newest = self.newest.max(version);
    }
}

/// The streams of a process.
pub(super) type Streams = BTreeMap<Kind, Stream>;

impl World<'_> {
    /// Has every process that watches a kind see its latest changes.
    pub(crate) fn publish_changes(&mut self, kind: Kind) {
        let mut due = Vec::new();
        for process in self.processes.iter_mut().flatten() {
            let stream = process.streams.entry(kind).or_default();
            if stream.listing.is_some() || !stream.is_connected || stream.is_expected {
                continue;
            }
            stream.is_expected = true;
            due.push((process.incarnation, stream.lag));
        }
        for (incarnation, lag) in due {
            let delay = lag + self.network.between(1, 10);
            self.enter(delay, Event::Deliver(incarnation, kind));
        }
    }

    /// A process lists a kind.
    pub(super) fn list(&mut self, incarnation: u64, kind: Kind) {
        let position = self.plane.server.history(kind).len();
        let version = self.plane.server.version();
        let mut objects: Vec<_> = self
            .plane
            .server
            .of_kind(kind)
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect();
        objects.reverse();
        let moment = self.moment();
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let stream = process.streams.entry(kind).or_default();
        stream.position = position;
        stream.began_at = version;
        stream.seen.newest = version;
        stream.listing = Some(objects);
        stream.listed.clear();
        stream.is_connected = true;
        process.engine.observe(Change::ListBegins(kind), &moment);
        self.enter(2, Event::Page(incarnation, kind));
    }

    /// A process gets the next page of a list.
    pub(super) fn page(&mut self, incarnation: u64, kind: Kind) {
        if self.put_off(incarnation, |incarnation| Event::Page(incarnation, kind)) {
            return;
        }
        let (now, moment) = (self.now, self.moment());
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let Some(stream) = process.streams.get_mut(&kind) else {
            return;
        };
        let Some(listing) = &mut stream.listing else { return };
        for _ in 0..PAGE {
            let Some((key, object)) = listing.pop() else { break };
            process.view.see(kind, &key, &object);
            if let Some(object) = read(kind, &object) {
                process.engine.observe(Change::Listed(kind, object), &moment);
            }
            stream.listed.push(key);
        }
        let is_complete = listing.is_empty();
        if is_complete {
            stream.listing = None;
            stream.seen.note(stream.began_at);
            process.view.keep_listed(kind, &stream.listed, now);
            process.engine.observe(Change::ListEnds(kind), &moment);
            self.try_pending_profile(incarnation);
        }
        self.pump(incarnation);
        if is_complete {
            self.publish_changes(kind);
        } else {
            let delay = self.network.between(2, 20);
            self.enter(delay, Event::Page(incarnation, kind));
        }
    }

    /// A process sees the changes of a kind that are due.
    pub(super) fn deliver(&mut self, incarnation: u64, kind: Kind) {
        if self.put_off(incarnation, |incarnation| Event::Deliver(incarnation, kind)) {
            return;
        }
        loop {
            let now = self.now;
            let moment = self.moment();
            let Some(slot) = self.slot_of(incarnation) else { return };
            let Some(process) = self.processes[slot].as_mut() else {
                return;
            };
            let Some(stream) = process.streams.get_mut(&kind) else {
                return;
            };
            stream.is_expected = false;
            if stream.listing.is_some() || !stream.is_connected {
                return;
            }
            let Some(record) = self.plane.server.history(kind).get(stream.position) else {
                return;
            };
            let due = record.at + stream.lag;
            if due > now {
                stream.is_expected = true;
                self.enter(due - now, Event::Deliver(incarnation, kind));
                return;
            }
            stream.position += 1;
            stream.seen.note(record.version);
            let change = match &record.object {
                Some(object) => {
                    process.view.see(kind, &record.key, object);
                    read(kind, object).map(|object| Change::Applied(kind, object))
                }
                None => {
                    process.view.lose(kind, &record.key, now);
                    Some(Change::Deleted(kind, record.key.clone()))
                }
            };
            if let Some(change) = change {
                process.engine.observe(change, &moment);
                self.pump(incarnation);
            }
        }
    }

    /// A watch breaks, and goes on.
    pub(super) fn break_watch(&mut self, slot: usize, kind: Kind, resume: Resume) {
        let Some(process) = self.processes.get_mut(slot).and_then(Option::as_mut) else {
            return;
        };
        let incarnation = process.incarnation;
        let stream = process.streams.entry(kind).or_default();
        // A list goes on by itself.
        if stream.listing.is_some() {
            return;
        }
        let wait = self.network.between(250, 3_000);
        match resume {
            Resume::Relist => {
                stream.is_connected = false;
                self.enter(wait, Event::List(incarnation, kind));
            }
            Resume::There | Resume::Earlier(_) => {
                let back = match resume {
                    Resume::Earlier(events) => events,
                    _ => 0,
                };
                stream.position = stream.position.saturating_sub(back);
                if !stream.is_expected {
                    stream.is_expected = true;
                    self.enter(wait, Event::Deliver(incarnation, kind));
                }
            }
        }
    }

    /// Sets the delay of changes of a kind.
    pub(super) fn lag(&mut self, slot: usize, kind: Kind, millis: Millis) {
        if let Some(process) = self.processes.get_mut(slot).and_then(Option::as_mut) {
            process.streams.entry(kind).or_default().lag = millis;
        }
    }

    /// Ends the delays of all changes.
    pub(super) fn end_lags(&mut self) {
        for process in self.processes.iter_mut().flatten() {
            for stream in process.streams.values_mut() {
                stream.lag = 0;
            }
        }
    }
}

/// Reads an object as the client does.
fn read(kind: Kind, object: &Value) -> Option<Object> {
    let fetched: Fetched = serde_json::from_str(&object.to_string()).ok()?;
    Object::read(kind, fetched).ok()
}
