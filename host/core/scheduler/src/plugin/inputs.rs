//! Checks that a plugin can only read the inputs of a call.

use divvy_framework_abi::carry::{Carry, Room};

/// A field behind which a call has memory that a plugin can write to although it is an input; `None` if there is none, or if the system
/// protects no memory.
pub(super) fn unprotected_input<C: Carry>(call: &C) -> Option<&'static str> {
    divvy_framework_memory::protection().ok()?;
    let mut found = Unprotected {
        field: "",
        is_found: false,
    };
    let mut call = *call;
    // It ends at the first input that would have to be copied, or at the columns that the plugin writes, which come last.
    let _ended = call.carry(&mut found);
    found.is_found.then_some(found.field)
}

/// Looks for the first input that another process would need a copy of. It has no room for copies.
struct Unprotected {
    field: &'static str,
    is_found: bool,
}

// SAFETY: no address is ever returned.
unsafe impl Room for Unprotected {
    fn is_shared(&self, address: *const u8, _bytes: usize) -> bool {
        divvy_framework_memory::is_protected(address)
    }

    fn input(&mut self, _bytes: usize, _alignment: usize) -> Option<*mut u8> {
        self.is_found = true;
        None
    }

    fn output(&mut self, _original: *mut u8, _bytes: usize, _alignment: usize) -> Option<*mut u8> {
        None
    }

    fn field(&mut self, name: &'static str) {
        self.field = name;
    }
}

#[cfg(test)]
mod tests {
    use divvy_framework_abi::call::AssignCall;
    use divvy_framework_abi::view::CycleView;
    use divvy_framework_abi::{Pointer, Slice, SliceMut};
    use divvy_framework_memory::{Column, Slot};

    use super::*;

    #[test]
    fn an_input_in_ordinary_memory_is_named() {
        let (ordinary, mut result) = (vec![5; 100], [0, 0]);
        let column: Column<i64> = ordinary.iter().copied().collect();
        let (mut cycle, mut outer) = (Slot::new(), Slot::new());
        let mut call = AssignCall {
            cycle: Pointer::new(cycle.show(CycleView::DEFAULT)),
            capacity: Slice::new(&column),
            result: SliceMut::new(&mut result),
            ..AssignCall::DEFAULT
        };
        assert_eq!(unprotected_input(&call), None);
        call.capacity = Slice::new(&ordinary);
        assert_eq!(unprotected_input(&call), Some("capacity"));
        call.capacity = Slice::EMPTY;
        let last_rows = [1];
        call.cycle = Pointer::new(outer.show(CycleView {
            last_rows: Slice::new(&last_rows),
            ..CycleView::DEFAULT
        }));
        assert_eq!(unprotected_input(&call), Some("last_rows"));
        let view = CycleView::DEFAULT;
        call.cycle = Pointer::new(&view);
        assert!(unprotected_input(&call).is_some());
    }
}
