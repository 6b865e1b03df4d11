//! Inputs of a call, copied before it is made: a plugin that writes to them is found afterwards.
//!
//! Only an observer that asks for it has calls copied, as `divvy plugin verify` does. Snapshots are in memory that plugins can only
//! read. The other columns of a call are ordinary memory of the host.

use divvy_framework_abi::carry::{Carry, Room};

/// Words of the first attempt to copy a call. Each further attempt has four times as many.
const WORDS: usize = 1 << 14;

/// The inputs of a call, as they were before it.
pub(super) struct Inputs<C> {
    call: C,
    copies: Copies,
}

impl<C: Carry> Inputs<C> {
    /// Copies everything that a call points to.
    pub(super) fn of(call: &C) -> Self {
        let mut words = WORDS;
        loop {
            let mut copies = Copies::with_room(words);
            if copies.take(*call) {
                copies.before = copies.used().to_vec();
                return Self { call: *call, copies };
            }
            words = words.saturating_mul(4);
        }
    }

    /// The field whose contents are no longer what they were; `None` if nothing has changed. The copies are made at the same
    /// addresses as before, so that they differ only if their contents do.
    pub(super) fn overwritten(mut self) -> Option<&'static str> {
        let fields = std::mem::take(&mut self.copies.fields);
        let fits = self.copies.take(self.call);
        let now = self.copies.used();
        if fits && now == self.copies.before {
            return None;
        }
        let differing = now
            .iter()
            .zip(&self.copies.before)
            .position(|(now, before)| now != before);
        let differing = differing.unwrap_or(now.len());
        let before = fields.iter().rev().find(|(start, _)| *start <= differing);
        Some(before.map_or("cycle", |(_, name)| name))
    }
}

/// Room for copies of inputs, one behind the other.
struct Copies {
    words: Vec<u64>,
    used: usize,
    /// The columns that the plugin writes. They are not compared.
    outputs: Vec<u64>,
    outputs_used: usize,
    /// The first word of each field's copies.
    fields: Vec<(usize, &'static str)>,
    /// The copies that were made first.
    before: Vec<u64>,
}

impl Copies {
    fn with_room(words: usize) -> Self {
        Self {
            words: vec![0; words],
            used: 0,
            outputs: vec![0; words],
            outputs_used: 0,
            fields: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Copies what a call points to, over earlier copies. False if there is too little room.
    fn take<C: Carry>(&mut self, mut call: C) -> bool {
        self.words.fill(0);
        self.used = 0;
        self.outputs_used = 0;
        call.carry(self).is_ok()
    }

    fn used(&self) -> &[u64] {
        self.words.get(..self.used).unwrap_or_default()
    }
}

/// The next `bytes` bytes of `words`, behind those that are used.
fn next(words: &mut [u64], used: &mut usize, bytes: usize, alignment: usize) -> Option<*mut u8> {
    if alignment > align_of::<u64>() {
        return None;
    }
    let end = used.checked_add(bytes.div_ceil(size_of::<u64>()))?;
    let free = words.get_mut(*used..end)?;
    *used = end;
    Some(free.as_mut_ptr().cast())
}

// SAFETY: `next` hands out each word once per `take`, words are aligned for everything up to eight bytes, and the vectors are neither
// moved nor resized while they are borrowed.
unsafe impl Room for Copies {
    fn is_shared(&self, _address: *const u8, _bytes: usize) -> bool {
        false
    }

    fn input(&mut self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        next(&mut self.words, &mut self.used, bytes, alignment)
    }

    fn output(&mut self, _original: *mut u8, bytes: usize, alignment: usize) -> Option<*mut u8> {
        next(&mut self.outputs, &mut self.outputs_used, bytes, alignment)
    }

    fn field(&mut self, name: &'static str) {
        self.fields.push((self.used, name));
    }
}

#[cfg(test)]
mod tests {
    use divvy_framework_abi::call::AssignCall;
    use divvy_framework_abi::view::CycleView;
    use divvy_framework_abi::{Pointer, Slice, SliceMut, Str};

    use super::*;

    /// The field that is found after `harm` has written to memory of the host.
    fn found(harm: impl FnOnce(&mut [i64], &mut [u32])) -> Option<&'static str> {
        let (mut capacity, mut last_rows, mut result) = ([5, 7], [3, 4, 5], [0, 0]);
        let addresses = (capacity.as_mut_ptr(), last_rows.as_mut_ptr());
        let cycle = CycleView {
            pool: Str::new("pool"),
            last_rows: Slice::new(&last_rows),
            ..CycleView::DEFAULT
        };
        let call = AssignCall {
            cycle: Pointer::new(&cycle),
            capacity: Slice::new(&capacity),
            result: SliceMut::new(&mut result),
            ..AssignCall::DEFAULT
        };
        let inputs = Inputs::of(&call);
        // SAFETY: the column is on this stack, and nothing reads it meanwhile.
        let capacity = unsafe { std::slice::from_raw_parts_mut(addresses.0, 2) };
        // SAFETY: as above.
        let last_rows = unsafe { std::slice::from_raw_parts_mut(addresses.1, 3) };
        harm(capacity, last_rows);
        inputs.overwritten()
    }

    #[test]
    fn a_column_that_was_overwritten_is_named() {
        assert_eq!(found(|_, _| {}), None);
        assert_eq!(found(|capacity, _| capacity[1] = 8), Some("capacity"));
        assert_eq!(found(|_, last_rows| last_rows[0] = 9), Some("last_rows"));
    }

    #[test]
    fn a_large_call_is_copied_as_well() {
        let rows: Vec<u32> = (0..200_000).collect();
        let call = AssignCall {
            rows: Slice::new(&rows),
            ..AssignCall::DEFAULT
        };
        let inputs = Inputs::of(&call);
        assert_eq!(inputs.overwritten(), None);
    }
}
