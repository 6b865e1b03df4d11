//! The beginning of an exchange: whose turn it is, and what is asked and answered.
//!
//! Both sides map an exchange at the same address. After the header comes the room, in which the host puts a call and everything
//! that it points to, and then the events, in which the worker writes what the plugin handed over.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Values of [`Header::state`].
pub(crate) mod state {
    // 0: nothing was asked yet.
    /// The host waits for an answer.
    pub(crate) const ASKED: u32 = 1;
    /// The worker has answered.
    pub(crate) const ANSWERED: u32 = 2;
    /// The worker's process has ended; only the host writes this.
    pub(crate) const ENDED: u32 = 3;
}

/// Values of [`Header::operation`].
pub(crate) mod operation {
    /// Opens the library. [`super::Header::call`] has the address of a JSON text, [`super::Header::length`] its length. Answered by a document.
    pub(crate) const OPEN: u32 = 1;
    /// Constructs a plugin. As for [`OPEN`]; answered by an instance and features.
    pub(crate) const CONSTRUCT: u32 = 2;
    /// Makes a call to an instance.
    pub(crate) const CALL: u32 = 3;
    /// Drops an instance.
    pub(crate) const DESTROY: u32 = 4;
}

/// The header. Either side may write anything there at any time, so all of it is atomic.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Header {
    /// Whose turn it is: a value of [`state`], and the futex by which both sides wait.
    pub(crate) state: AtomicU32,
    /// What the host asks for: a value of [`operation`].
    pub(crate) operation: AtomicU32,
    /// The instance, as the worker named it.
    pub(crate) instance: AtomicU64,
    /// Address of the call, in the room.
    pub(crate) call: AtomicU64,
    /// Length of a text at that address.
    pub(crate) length: AtomicU64,
    /// The most verbose level that is recorded.
    pub(crate) level: AtomicU32,
    /// The plugin's answer: 0, or the code of a failure.
    pub(crate) code: AtomicU32,
    /// Number of chunks that the worker must have mapped to read the call.
    pub(crate) chunks: AtomicU64,
    /// Address of the values to release before the operation, in the room: pairs of a value and a function.
    pub(crate) releases: AtomicU64,
    /// Number of these values.
    pub(crate) release_count: AtomicU64,
    /// Bytes of events that the worker has written.
    pub(crate) events: AtomicU64,
    /// Bytes of events for which there was no room.
    pub(crate) lost: AtomicU64,
    /// Features that an instance requires with its configuration.
    pub(crate) required: AtomicU64,
    /// Features that an instance can do without.
    pub(crate) optional: AtomicU64,
}

/// Bytes before the room.
const ROOM: usize = 256;
const _: () = assert!(size_of::<Header>() <= ROOM);

/// The parts of an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Address of the header.
    pub(crate) address: usize,
    /// Address behind the room, where the events begin.
    pub(crate) room_end: usize,
    /// Address behind the events.
    pub(crate) end: usize,
}

impl Layout {
    /// The parts of an exchange at `address` of `bytes` bytes, which are a power of two and at least a page.
    pub(crate) fn new(address: usize, bytes: usize) -> Self {
        Self {
            address,
            room_end: address + bytes / 2,
            end: address + bytes,
        }
    }

    /// The address of the room.
    pub(crate) fn room(&self) -> usize {
        self.address + ROOM
    }

    /// Size of the events in bytes.
    pub(crate) fn event_bytes(&self) -> usize {
        self.end - self.room_end
    }
}
