//! Calls to a library that is not certified, in this process: it gets copies of everything that it may only read.
//!
//! A library of the SDK reads its inputs through shared references, and writes to them only with `unsafe` code of its own. Nothing keeps
//! another one, in C or Go, from writing through an address that it was given. So what the host reads after a call, to check its result
//! or for the next plugin, is the host's own. Snapshots are not copied if they are in memory that plugins can only read.

use std::cell::Cell;
use std::ffi::c_void;

use divvy_framework_abi::call::{CallFunction, CallHead};
use divvy_framework_abi::carry::Room;

use super::call::Callable;

/// Words of the first attempt to copy a call. Each further attempt has twice as many.
const WORDS: usize = 1 << 12;

thread_local! {
    /// Memory of the last call on this thread.
    static MEMORY: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Makes a call with copies of its inputs, and takes what the plugin wrote: columns only if it returned 0.
///
/// # Safety
///
/// The function answers calls to the instance. What the call points to outlives it.
#[inline(never)]
pub(super) unsafe fn with_copies<C: Callable>(function: CallFunction, instance: *const c_void, call: &mut C) -> u32 {
    let mut memory = MEMORY.take();
    loop {
        let mut room = Copies {
            memory: &mut memory,
            used: 0,
            outputs: Vec::new(),
        };
        let mut sent = *call;
        if sent.carry(&mut room).is_err() {
            let words = memory.len().saturating_mul(2).max(WORDS);
            memory = vec![0; words];
            continue;
        }
        let outputs = room.outputs;
        // SAFETY: the caller promises it for the call, and the copies outlive the one that is sent.
        let code = unsafe { function(instance, std::ptr::from_mut(&mut sent).cast::<CallHead<'_>>()) };
        match code {
            0 => {
                call.take(&sent);
                for (original, copy, bytes) in outputs {
                    // SAFETY: `carry` had the original from the call, which borrows it, and the copy from the room, which is not used
                    // for anything else before the next call. They do not overlap.
                    unsafe { std::ptr::copy_nonoverlapping(copy, original, bytes) };
                }
            }
            _ => call.take_of_failure(&sent),
        }
        MEMORY.set(memory);
        return code;
    }
}

/// Room for copies, one behind the other.
struct Copies<'a> {
    memory: &'a mut Vec<u64>,
    /// Words that are in use.
    used: usize,
    /// Columns that the plugin writes: the host's own, the copy, and the size in bytes.
    outputs: Vec<(*mut u8, *const u8, usize)>,
}

// SAFETY: each word of the memory is handed out once, words are aligned for everything up to eight bytes, and the memory is neither moved
// nor resized while it is borrowed.
unsafe impl Room for Copies<'_> {
    fn is_shared(&self, address: *const u8, _bytes: usize) -> bool {
        divvy_framework_memory::is_shared(address)
    }

    fn input(&mut self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        if alignment > align_of::<u64>() {
            return None;
        }
        let end = self.used.checked_add(bytes.div_ceil(size_of::<u64>()))?;
        let words = self.memory.get_mut(self.used..end)?;
        self.used = end;
        Some(words.as_mut_ptr().cast())
    }

    fn output(&mut self, original: *mut u8, bytes: usize, alignment: usize) -> Option<*mut u8> {
        let copy = self.input(bytes, alignment)?;
        self.outputs.push((original, copy, bytes));
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use divvy_framework_abi::call::AssignCall;
    use divvy_framework_abi::view::CycleView;
    use divvy_framework_abi::{Pointer, Slice, SliceMut};

    use super::*;

    /// Writes to an input of a call, as a library in C can.
    fn overwrite<T: Copy>(column: Slice<'_, T>, value: T) {
        let first = column.as_slice().as_ptr().cast_mut();
        // SAFETY: the column is a copy, which nothing reads at this time.
        unsafe { first.write(value) };
    }

    /// A plugin in C that answers with its instance as the code.
    unsafe extern "C" fn overwriting(instance: *const c_void, call: *mut CallHead<'_>) -> u32 {
        // SAFETY: the test sends calls of this kind alone.
        let sent = unsafe { &mut *call.cast::<AssignCall<'_>>() };
        overwrite(sent.capacity, 99);
        // SAFETY: the cycle is the copy that `carry` made.
        overwrite(unsafe { *sent.cycle.address() }.last_rows, 99);
        // SAFETY: the call borrows the column, and is itself borrowed here.
        let result = unsafe { sent.result.as_mut_slice() };
        result[1] = 7;
        sent.valid_until = 1_000;
        instance as usize as u32
    }

    #[test]
    fn a_plugin_writes_to_its_copies_alone() {
        let (capacity, last_rows, mut result) = (vec![5; 10_000], [3], [0, 0]);
        let cycle = CycleView {
            last_rows: Slice::new(&last_rows),
            ..CycleView::DEFAULT
        };
        let mut call = AssignCall {
            cycle: Pointer::new(&cycle),
            capacity: Slice::new(&capacity),
            result: SliceMut::new(&mut result),
            ..AssignCall::DEFAULT
        };
        let code: *const c_void = std::ptr::without_provenance(1);
        // SAFETY: the function takes such calls, with a code as its instance.
        assert_eq!(unsafe { with_copies(overwriting, code, &mut call) }, 1);
        // A failure can hold for a limited time. Nothing else of it counts.
        assert_eq!(call.valid_until, 1_000);
        // SAFETY: the call borrows the column, and is itself borrowed here.
        assert_eq!(unsafe { call.result.as_mut_slice() }, [0, 0]);
        // SAFETY: as above.
        assert_eq!(unsafe { with_copies(overwriting, std::ptr::null(), &mut call) }, 0);
        // SAFETY: as above.
        assert_eq!(unsafe { call.result.as_mut_slice() }, [0, 7]);
        assert_eq!((capacity[0], last_rows[0]), (5, 3));
    }
}
