//! The host's side of an exchange: a call goes in, the answer comes out.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use divvy_framework_abi::carry::Room;
use rustix::thread::futex;

use crate::call::IsolatedCall;
use crate::event::{self, Event, Malformed};
use crate::header::{Header, Layout, state};
use crate::region::Region;

/// Memory through which one thread of the host at a time asks a worker.
#[derive(Debug)]
pub(crate) struct Exchange {
    region: Region,
    layout: Layout,
}

/// Column that the plugin writes: the host's own, the copy in the exchange, and the size in bytes.
type Output = (*mut u8, *const u8, usize);

/// Columns that the plugin writes in an exchange.
#[derive(Debug)]
pub(crate) struct Outputs(Vec<Output>);

/// What the host puts into an exchange.
#[derive(Debug)]
pub(crate) struct Filling<'a> {
    exchange: &'a Exchange,
    next: usize,
    outputs: Vec<Output>,
}

/// There is no room left in the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooSmall;

impl Exchange {
    pub(crate) fn new(region: Region) -> Self {
        let layout = Layout::new(region.address(), region.bytes());
        Self { region, layout }
    }

    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: a region begins with a header of atomics, which are valid whatever they are, and is mapped as long as it
        // lives.
        unsafe { &*(self.layout.address as *const Header) }
    }

    /// Begins to fill the exchange. One thread at a time has it.
    pub(crate) fn fill(&self) -> Filling<'_> {
        Filling {
            exchange: self,
            next: self.layout.room(),
            outputs: Vec::new(),
        }
    }

    /// Hands the turn to the worker.
    pub(crate) fn ask(&self) {
        let header = self.header();
        header.events.store(0, Ordering::Relaxed);
        header.lost.store(0, Ordering::Relaxed);
        header.state.store(state::ASKED, Ordering::SeqCst);
        wake(&header.state);
    }

    /// Notes that the worker has ended, and wakes the thread that waits for it.
    pub(crate) fn end(&self) {
        let state = &self.header().state;
        state.store(state::ENDED, Ordering::SeqCst);
        wake(state);
    }

    /// Gives memory back, but not that of the header. What is read there next is zero.
    pub(crate) fn empty(&self) {
        self.region.empty();
    }

    /// The events of an answer, copied once, as nothing else of them is read; `None` if there cannot be as many.
    pub(crate) fn events(&self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.header().events.load(Ordering::Relaxed)).ok()?;
        if length > self.layout.event_bytes() {
            return None;
        }
        let mut bytes = vec![0_u8; length];
        // SAFETY: the events have room for `length` bytes, which stay mapped as long as the region lives, and the vector has as many.
        // The worker may write to them meanwhile; every byte is valid whatever it is.
        unsafe { std::ptr::copy_nonoverlapping(self.layout.room_end as *const u8, bytes.as_mut_ptr(), length) };
        Some(bytes)
    }

    /// True if the worker had no room for an event.
    pub(crate) fn lost_events(&self) -> bool {
        self.header().lost.load(Ordering::Relaxed) > 0
    }
}

impl Filling<'_> {
    /// Puts a text into the room, and names it in the header.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), TooSmall> {
        let copy = self.input(text.len(), 1).ok_or(TooSmall)?;
        // SAFETY: `input` returned room for that many bytes, which is mapped as long as the exchange and handed out once.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len()) };
        let header = self.exchange.header();
        header.call.store(copy as u64, Ordering::Relaxed);
        header.length.store(text.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Puts values to release into the room.
    pub(crate) fn releases(&mut self, releases: &[(u64, u64)]) -> Result<(), TooSmall> {
        let copy = self
            .input(size_of_val(releases), 8)
            .ok_or(TooSmall)?
            .cast::<(u64, u64)>();
        // SAFETY: `input` returned room for that many bytes, aligned for words, and hands it out once.
        unsafe { std::ptr::copy_nonoverlapping(releases.as_ptr(), copy, releases.len()) };
        let header = self.exchange.header();
        header.releases.store(copy as u64, Ordering::Relaxed);
        header.release_count.store(releases.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Puts a call into the room, with everything that it points to.
    pub(crate) fn call<C: IsolatedCall>(&mut self, call: &C) -> Result<*const C, TooSmall> {
        let mut carried = *call;
        carried.carry(self).map_err(|_| TooSmall)?;
        let copy = self.input(size_of::<C>(), align_of::<C>()).ok_or(TooSmall)?.cast::<C>();
        // SAFETY: `input` returned room for a call, with its alignment, and hands it out once.
        unsafe { copy.write(carried) };
        self.exchange.header().call.store(copy as u64, Ordering::Relaxed);
        Ok(copy)
    }

    /// The exchange is filled.
    pub(crate) fn finish(self) -> Outputs {
        Outputs(self.outputs)
    }
}

impl Outputs {
    /// Takes what the plugin wrote: into the fields of `call`, and into the columns that it borrows.
    ///
    /// `copy` is what [`Filling::call`] returned for `call`.
    pub(crate) fn take<C: IsolatedCall>(&self, call: &mut C, copy: *const C, answers: &[u32]) {
        // SAFETY: the copy is in the room. Its fields are numbers and addresses, for which all bits are valid, and of which only
        // those are taken that the plugin writes.
        call.take(&unsafe { copy.read_volatile() });
        for &(original, copy, bytes) in &self.0 {
            // SAFETY: `carry` had both from the call, which borrows the original, and from the room.
            unsafe { std::ptr::copy_nonoverlapping(copy, original, bytes) };
        }
        call.translate(answers);
    }

    /// Takes the time until which a failure holds, and nothing else of what the plugin wrote.
    ///
    /// `copy` is what [`Filling::call`] returned for `call`.
    pub(crate) fn take_of_failure<C: IsolatedCall>(&self, call: &mut C, copy: *const C) {
        // SAFETY: as in `take`.
        call.take_of_failure(&unsafe { copy.read_volatile() });
    }
}

// SAFETY: the room is mapped as long as the exchange lives, and `next` only grows, so nothing is handed out twice.
unsafe impl Room for Filling<'_> {
    fn is_shared(&self, address: *const u8, _bytes: usize) -> bool {
        divvy_framework_memory::is_shared(address)
    }

    fn input(&mut self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        let start = self.next.next_multiple_of(alignment.max(8));
        let end = start
            .checked_add(bytes)
            .filter(|end| *end <= self.exchange.layout.room_end)?;
        self.next = end;
        Some(start as *mut u8)
    }

    fn output(&mut self, original: *mut u8, bytes: usize, alignment: usize) -> Option<*mut u8> {
        let copy = self.input(bytes, alignment)?;
        self.outputs.push((original, copy, bytes));
        Some(copy)
    }
}

/// Checks that processes can wait for each other: the two calls of [`wait`] and [`wake`], without effect.
pub(crate) fn try_futex() -> std::io::Result<()> {
    let state = AtomicU32::new(state::ANSWERED);
    match futex::wait(&state, futex::Flags::empty(), state::ASKED, None) {
        // The state is another one already.
        Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    futex::wake(&state, futex::Flags::empty(), 0)?;
    Ok(())
}

/// Wakes the threads that wait for a state, in either process.
pub(crate) fn wake(state: &AtomicU32) {
    // It fails only for an address that is not mapped.
    let _woken = futex::wake(state, futex::Flags::empty(), u32::MAX);
}

/// Waits until a state may differ from `known`, at most for `limit`. Anyone who maps the state can end the wait before.
pub(crate) fn wait(state: &AtomicU32, known: u32, limit: Option<Duration>) {
    let limit = limit.map(|limit| futex::Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    });
    // Whether it was woken or the limit has passed is seen from the state and the clock.
    let _woken = futex::wait(state, futex::Flags::empty(), known, limit.as_ref());
}

/// The numbers of an answer to a construction.
pub(crate) fn loaded(number: &AtomicU64) -> u64 {
    number.load(Ordering::Relaxed)
}

/// Reads the events of an answer.
pub(crate) fn read_events(
    bytes: &[u8],
    take: &mut dyn FnMut(Event<'_>) -> u32,
) -> Result<(Vec<u32>, Vec<String>), Malformed> {
    let mut documents = Vec::new();
    let answers = event::read(bytes, take, &mut documents)?;
    Ok((answers, documents))
}
