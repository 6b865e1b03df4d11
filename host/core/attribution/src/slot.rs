//! The records of threads: which step each of them is in.
//!
//! Each thread writes its own, which handlers of signals read on the same thread and others read from theirs. A number that changes with
//! every step shows a reader whether what it has read belongs together. Records are never freed: a thread that ends leaves its own to the
//! next one.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use crate::mark::Site;
use crate::{exits, stack};

/// Maximum bytes of a namespace: Kubernetes allows 63.
const NAMESPACE_BYTES: usize = 64;
/// Maximum bytes of a name: Kubernetes allows 253. A path is cut at its beginning.
pub(crate) const NAME_BYTES: usize = 256;
const WORD: usize = size_of::<u64>();
/// Bytes of a whole subject, with a slash between its parts.
pub(crate) const SUBJECT_BYTES: usize = NAMESPACE_BYTES + 1 + NAME_BYTES;

/// The record of a thread.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    /// Odd while the thread is in a step. Every step has a number that no other step of the slot has.
    number: AtomicU64,
    /// The step that the thread is in, or was in last.
    site: AtomicPtr<Site>,
    namespace_length: AtomicU32,
    /// Bytes of the name; 0 if the steps concern nothing.
    name_length: AtomicU32,
    namespace: [AtomicU64; NAMESPACE_BYTES / WORD],
    name: [AtomicU64; NAME_BYTES / WORD],
    /// Number of the last step that was reported.
    reported: AtomicU64,
    /// The system's number of the thread.
    thread: AtomicI32,
    is_loading: AtomicBool,
    is_taken: AtomicBool,
    /// Stack for handlers of signals; null before the first thread that needs one.
    pub(crate) stack: AtomicPtr<u8>,
    next: AtomicPtr<Slot>,
}

/// A step that a thread is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Its number among those of the slot.
    pub(crate) number: u64,
    pub(crate) site: &'static Site,
    bytes: [u8; SUBJECT_BYTES],
    length: usize,
}

impl Step {
    /// The binding or the path that the step concerns; empty if there is none.
    pub(crate) fn subject(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The first slot.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// The slot of this thread. It has no destructor, so that a handler of signals can read it at any time.
    static SLOT: Cell<Option<&'static Slot>> = const { Cell::new(None) };
    static RETURN: Return = const { Return };
}

/// Leaves the slot to another thread when this one ends.
struct Return;

impl Drop for Return {
    fn drop(&mut self) {
        // A thread that ends in a step keeps it: it never returns, or it is the main thread, which ends with the process.
        if let Some(slot) = SLOT.get().filter(|slot| slot.step().is_none()) {
            SLOT.set(None);
            stack::take_back(slot);
            slot.forget_subject();
            slot.set_loading(false);
            slot.is_taken.store(false, Ordering::Release);
        }
    }
}

/// The slot of this thread.
#[inline]
pub(crate) fn slot() -> &'static Slot {
    match SLOT.get() {
        Some(slot) => slot,
        None => take(),
    }
}

/// The slot of this thread, if it has one. Allocates nothing.
pub(crate) fn known_slot() -> Option<&'static Slot> {
    SLOT.get()
}

#[cold]
fn take() -> &'static Slot {
    let free = all().find(|slot| {
        let taken = slot
            .is_taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    });
    let slot = free.unwrap_or_else(Slot::push);
    slot.thread
        .store(rustix::thread::gettid().as_raw_pid(), Ordering::Relaxed);
    if exits::is_armed() {
        stack::provide(slot);
    }
    SLOT.set(Some(slot));
    // While the thread's own values are dropped it is too late; then the slot stays taken.
    let _kept = RETURN.try_with(|_| ());
    slot
}

/// All slots, of threads that have ended too.
pub(crate) fn all() -> impl Iterator<Item = &'static Slot> {
    let at = |slot: &AtomicPtr<Slot>| {
        // SAFETY: a slot is whole before its address is stored, and is never freed.
        unsafe { slot.load(Ordering::Acquire).as_ref() }
    };
    std::iter::successors(at(&SLOTS), move |slot: &&'static Slot| at(&slot.next))
}

impl Slot {
    const fn new() -> Self {
        Self {
            number: AtomicU64::new(0),
            site: AtomicPtr::new(std::ptr::null_mut()),
            namespace_length: AtomicU32::new(0),
            name_length: AtomicU32::new(0),
            namespace: [const { AtomicU64::new(0) }; NAMESPACE_BYTES / WORD],
            name: [const { AtomicU64::new(0) }; NAME_BYTES / WORD],
            reported: AtomicU64::new(0),
            thread: AtomicI32::new(0),
            is_loading: AtomicBool::new(false),
            is_taken: AtomicBool::new(true),
            stack: AtomicPtr::new(std::ptr::null_mut()),
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// A new slot, which is taken.
    fn push() -> &'static Self {
        let slot: &'static Self = Box::leak(Box::new(Self::new()));
        let address = std::ptr::from_ref(slot).cast_mut();
        let mut first = SLOTS.load(Ordering::Relaxed);
        loop {
            slot.next.store(first, Ordering::Relaxed);
            match SLOTS.compare_exchange_weak(first, address, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return slot,
                Err(other) => first = other,
            }
        }
    }

    #[inline]
    pub(crate) fn enter(&self, site: &'static Site) {
        let number = self.number.load(Ordering::Relaxed);
        // Whoever reads the new site finds that the last step has ended.
        fence(Ordering::Release);
        self.site.store(std::ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
        self.number.store(number.wrapping_add(1) | 1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn leave(&self) {
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number.wrapping_add(1) & !1, Ordering::Release);
    }

    /// Names what the steps that follow concern. The thread is in no step.
    #[inline]
    pub(crate) fn set_subject(&self, namespace: &[u8], name: &[u8]) {
        // As in `enter`.
        fence(Ordering::Release);
        let length = write(&self.namespace, namespace);
        self.namespace_length.store(length, Ordering::Relaxed);
        let length = write(&self.name, name);
        self.name_length.store(length, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn forget_subject(&self) {
        // In a step, this thread is unwound by the C library, which is about to abort.
        if !self.number.load(Ordering::Relaxed).is_multiple_of(2) {
            return;
        }
        fence(Ordering::Release);
        self.name_length.store(0, Ordering::Relaxed);
    }

    pub(crate) fn set_loading(&self, is_loading: bool) {
        self.is_loading.store(is_loading, Ordering::Relaxed);
    }

    /// True if the thread loads a profile beside the one that decides.
    pub(crate) fn is_loading(&self) -> bool {
        self.is_loading.load(Ordering::Relaxed)
    }

    /// The system's number of the thread.
    pub(crate) fn thread(&self) -> i32 {
        self.thread.load(Ordering::Relaxed)
    }

    /// The step that the thread is in; `None` if it is in none, or goes from one to the next.
    pub(crate) fn step(&self) -> Option<Step> {
        let number = self.number.load(Ordering::Acquire);
        if number.is_multiple_of(2) {
            return None;
        }
        let site = self.site.load(Ordering::Relaxed);
        let mut bytes = [0; SUBJECT_BYTES];
        let length = self.read_subject(&mut bytes);
        fence(Ordering::Acquire);
        if self.number.load(Ordering::Relaxed) != number {
            return None;
        }
        // SAFETY: `enter` stored the address of a value that lives as long as the process before it made the number odd.
        let site = unsafe { site.as_ref() }?;
        Some(Step {
            number,
            site,
            bytes,
            length,
        })
    }

    /// The step that the thread was in last; `None` if there was none. Only the thread itself may ask.
    pub(crate) fn last(&self) -> Option<&'static Site> {
        // SAFETY: as in `step`; this thread alone stores it.
        unsafe { self.site.load(Ordering::Relaxed).as_ref() }
    }

    fn read_subject(&self, bytes: &mut [u8; SUBJECT_BYTES]) -> usize {
        let mut length = 0;
        let mut add = |part: &[u8]| {
            bytes[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        };
        let lengths = [&self.namespace_length, &self.name_length].map(|length| length.load(Ordering::Relaxed) as usize);
        let [namespace, name] = [lengths[0].min(NAMESPACE_BYTES), lengths[1].min(NAME_BYTES)];
        if name == 0 {
            return 0;
        }
        if namespace > 0 {
            add(&read(&self.namespace).as_flattened()[..namespace]);
            add(b"/");
        }
        add(&read(&self.name).as_flattened()[..name]);
        length
    }

    /// True if no one has reported this step before.
    pub(crate) fn reports(&self, number: u64) -> bool {
        self.reported.swap(number, Ordering::Relaxed) != number
    }
}

/// Writes bytes into words, as many as there is room for. Returns how many.
#[inline]
fn write(words: &[AtomicU64], bytes: &[u8]) -> u32 {
    let bytes = &bytes[..bytes.len().min(size_of_val(words))];
    let (whole, rest) = bytes.as_chunks();
    for (word, bytes) in words.iter().zip(whole) {
        word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
    }
    if let (Some(word), [_, ..]) = (words.get(whole.len()), rest) {
        word.store(tail(bytes, rest), Ordering::Relaxed);
    }
    bytes.len() as u32
}

/// The last bytes, which fill no whole word, as one. By two reads that overlap if there are enough of them: this is done in every cycle, and
/// copying a few bytes one by one took longer than everything else.
#[inline]
fn tail(bytes: &[u8], rest: &[u8]) -> u64 {
    if let Some(last) = bytes.last_chunk() {
        return u64::from_le_bytes(*last) >> (8 * (WORD - rest.len()));
    }
    match (rest.first_chunk(), rest.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
            first | last << (8 * (rest.len() - size_of::<u32>()))
        }
        _ => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

fn read<const WORDS: usize>(words: &[AtomicU64; WORDS]) -> [[u8; WORD]; WORDS] {
    std::array::from_fn(|index| words[index].load(Ordering::Relaxed).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slot's step as a text: `plugin: step of subject`.
    fn said(slot: &Slot) -> Option<String> {
        let step = slot.step()?;
        let subject = String::from_utf8_lossy(step.subject()).into_owned();
        Some(format!("{}: {} of {subject}", step.site.plugin(), step.site.step()))
    }

    #[test]
    fn a_step_is_known_while_it_lasts_with_what_it_concerns() {
        let slot = Slot::new();
        let site = Site::new("average", "Assign");
        assert_eq!(said(&slot), None);
        for (namespace, name, expected) in [
            ("default", "web-deployment", "average: Assign of default/web-deployment"),
            ("", "web", "average: Assign of web"),
            ("shop", "", "average: Assign of "),
            (
                "12345678",
                "1234567890123456",
                "average: Assign of 12345678/1234567890123456",
            ),
        ] {
            slot.set_subject(namespace.as_bytes(), name.as_bytes());
            assert_eq!(said(&slot), None);
            slot.enter(site);
            assert_eq!(said(&slot).as_deref(), Some(expected));
            slot.leave();
        }
        slot.enter(site);
        assert_eq!(
            said(&slot).as_deref(),
            Some("average: Assign of 12345678/1234567890123456")
        );
        // A step that lasts keeps what it concerns.
        slot.forget_subject();
        assert!(slot.step().is_some_and(|step| !step.subject().is_empty()));
        slot.leave();
        slot.forget_subject();
        slot.enter(site);
        assert_eq!(said(&slot).as_deref(), Some("average: Assign of "));
    }

    #[test]
    fn names_of_every_length_are_kept() {
        let slot = Slot::new();
        let letters: Vec<u8> = (b'a'..=b'z').cycle().take(NAME_BYTES).collect();
        for length in 1..=NAME_BYTES {
            slot.set_subject(&letters[..length.min(NAMESPACE_BYTES)], &letters[..length]);
            slot.enter(Site::new("average", "Assign"));
            let expected = [&letters[..length.min(NAMESPACE_BYTES)], b"/", &letters[..length]].concat();
            assert_eq!(slot.step().expect("a step").subject(), expected);
            slot.leave();
        }
    }

    #[test]
    fn names_that_are_too_long_are_cut() {
        let slot = Slot::new();
        let (namespace, name) = ("n".repeat(NAMESPACE_BYTES + 9), "m".repeat(NAME_BYTES + 9));
        slot.set_subject(namespace.as_bytes(), name.as_bytes());
        slot.enter(Site::new("average", "Assign"));
        let step = slot.step().expect("a step");
        let expected = format!("{}/{}", "n".repeat(NAMESPACE_BYTES), "m".repeat(NAME_BYTES));
        assert_eq!(step.subject(), expected.as_bytes());
    }

    #[test]
    fn every_step_has_its_number_and_is_reported_once() {
        let slot = Slot::new();
        let site = Site::new("average", "Filter");
        let mut numbers = Vec::new();
        for _ in 0..3 {
            slot.enter(site);
            let number = slot.step().expect("a step").number;
            assert!(slot.reports(number));
            assert!(!slot.reports(number));
            numbers.push(number);
            slot.leave();
        }
        numbers.dedup();
        assert_eq!(numbers.len(), 3);
        // An inner step counts, and ends the mark; the outer one's end changes nothing.
        slot.enter(site);
        slot.enter(Site::new("average", "Score"));
        assert_eq!(said(&slot).as_deref(), Some("average: Score of "));
        slot.leave();
        slot.leave();
        assert_eq!(said(&slot), None);
    }

    #[test]
    fn a_thread_that_ends_leaves_its_slot_to_the_next() {
        let address = || std::ptr::from_ref(slot()).addr();
        let mine = address();
        assert_eq!(mine, address());
        let mut others: Vec<usize> = (0..20)
            .map(|_| std::thread::spawn(address).join().expect("it ends"))
            .collect();
        assert!(!others.contains(&mine));
        others.sort_unstable();
        others.dedup();
        // Other tests take slots at the same time.
        assert!(others.len() < 10, "{others:?}");
    }

    /// Readers never see the name of one step with the site of another.
    #[test]
    fn what_another_thread_reads_belongs_together() {
        let slot = Slot::new();
        let sites = ["odd", "even"].map(|plugin| Site::new(plugin, "Filter"));
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..200_000 {
                    let site = sites[round % 2];
                    slot.set_subject(&[], site.plugin().as_bytes());
                    slot.enter(site);
                    slot.leave();
                }
                is_done.store(true, Ordering::Relaxed);
            });
            while !is_done.load(Ordering::Relaxed) {
                if let Some(step) = slot.step() {
                    assert_eq!(step.subject(), step.site.plugin().as_bytes());
                }
            }
        });
    }
}
