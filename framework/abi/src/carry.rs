//! Copying a call, with everything that it points to, to where another process reads it.
//!
//! A host that has a plugin in a process of its own copies each call into memory that both map at the same addresses. The
//! plugin then reads it there as it would in the host's process.

use bytemuck::Pod;

use crate::column::{Address, Function, Pointer, Slice, SliceMut, Str};
use crate::row::BindingNames;
use crate::text::{Span, Text};

/// Memory that another process maps at the same addresses.
///
/// # Safety
///
/// An address that a method returns has the requested alignment. The requested number of bytes at it belongs to the
/// caller alone as long as the room is borrowed.
pub unsafe trait Room {
    /// True if the other process already reads these bytes at the same address.
    fn is_shared(&self, address: *const u8, bytes: usize) -> bool;

    /// Reserves `bytes` bytes that the plugin reads, and returns their address; `None` if the room is full.
    fn input(&mut self, bytes: usize, alignment: usize) -> Option<*mut u8>;

    /// Reserves `bytes` bytes for the copy of a column that the plugin writes, whose original is at `original`, and returns their
    /// address; `None` if the room is full.
    fn output(&mut self, original: *mut u8, bytes: usize, alignment: usize) -> Option<*mut u8>;

    /// The next copies belong to this field, or to the fields of the struct behind it.
    fn field(&mut self, name: &'static str) {
        let _ = name;
    }
}

/// Error of a copy that does not fit into what is left of the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// A value that can be carried to another process: what it points to is copied, and its addresses are then those of the copies.
pub trait Carry: Copy {
    /// Copies what the value points to, and returns whether it did: false if the other process already reads all of it.
    ///
    /// # Errors
    ///
    /// [`NoRoom`]. The value must then not be used.
    fn carry(&mut self, room: &mut impl Room) -> Result<bool, NoRoom>;
}

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl Carry for $type {
            #[inline]
            fn carry(&mut self, _room: &mut impl Room) -> Result<bool, NoRoom> {
                Ok(false)
            }
        }
    )+};
}

// An address belongs to the side that wrote it, and only that side reads it.
plain!(u32, u64, i64, Span, Text, BindingNames, Address);

impl<F: Copy> Carry for Function<F> {
    #[inline]
    fn carry(&mut self, _room: &mut impl Room) -> Result<bool, NoRoom> {
        Ok(false)
    }
}

impl<T: Pod> Carry for Slice<'_, T> {
    fn carry(&mut self, room: &mut impl Room) -> Result<bool, NoRoom> {
        let elements = self.as_slice();
        let bytes = size_of_val(elements);
        if bytes == 0 {
            *self = Self::EMPTY;
            return Ok(false);
        }
        let original = elements.as_ptr();
        if room.is_shared(original.cast(), bytes) {
            return Ok(false);
        }
        let copy = room.input(bytes, align_of::<T>()).ok_or(NoRoom)?.cast::<T>();
        // SAFETY: the contract of `Room` gives the caller as many bytes there, which nothing else uses.
        unsafe { std::ptr::copy_nonoverlapping(original, copy, elements.len()) };
        // SAFETY: they were written above, with the same alignment.
        *self = Self::new(unsafe { std::slice::from_raw_parts(copy, elements.len()) });
        Ok(true)
    }
}

impl<T: Pod> Carry for SliceMut<'_, T> {
    fn carry(&mut self, room: &mut impl Room) -> Result<bool, NoRoom> {
        // SAFETY: the call borrows the column, and is itself borrowed here.
        let elements = unsafe { self.as_mut_slice() };
        let bytes = size_of_val(elements);
        if bytes == 0 {
            *self = Self::EMPTY;
            return Ok(false);
        }
        let original = elements.as_mut_ptr();
        let copy = room
            .output(original.cast(), bytes, align_of::<T>())
            .ok_or(NoRoom)?
            .cast::<T>();
        // SAFETY: the contract of `Room` gives the caller as many bytes there, which nothing else uses.
        unsafe { std::ptr::copy_nonoverlapping(original, copy, elements.len()) };
        // SAFETY: they were written above, with the same alignment.
        *self = Self::new(unsafe { std::slice::from_raw_parts_mut(copy, elements.len()) });
        Ok(true)
    }
}

impl Carry for Str<'_> {
    fn carry(&mut self, room: &mut impl Room) -> Result<bool, NoRoom> {
        let mut bytes = Slice::new(self.as_str().as_bytes());
        let is_copied = bytes.carry(room)?;
        // SAFETY: the bytes are those of a `Str` or a copy, so they are UTF-8.
        *self = Self::new(unsafe { std::str::from_utf8_unchecked(bytes.as_slice()) });
        Ok(is_copied)
    }
}

impl<T: Carry> Carry for Pointer<'_, T> {
    fn carry(&mut self, room: &mut impl Room) -> Result<bool, NoRoom> {
        if self.address().is_null() {
            return Ok(false);
        }
        // SAFETY: a pointer that is not null was made by `Pointer::new` in this host, from a reference that outlives
        // it.
        let mut value = unsafe { *self.address() };
        let is_copied = value.carry(room)?;
        if !is_copied && room.is_shared(self.address().cast(), size_of::<T>()) {
            return Ok(false);
        }
        let copy = room.input(size_of::<T>(), align_of::<T>()).ok_or(NoRoom)?.cast::<T>();
        // SAFETY: the contract of `Room` gives the caller as many bytes there, which nothing else uses.
        unsafe { copy.write(value) };
        // SAFETY: the value was written above.
        *self = Self::new(unsafe { &*copy });
        Ok(true)
    }
}

/// Carries the fields of a struct. A test compares their number with that of all fields.
macro_rules! carried {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::carry::Carry for $name<'_> {
            fn carry(&mut self, room: &mut impl $crate::carry::Room) -> Result<bool, $crate::carry::NoRoom> {
                let mut is_copied = false;
                $(
                    $crate::carry::Room::field(room, stringify!($field));
                    is_copied |= $crate::carry::Carry::carry(&mut self.$field, room)?;
                )+
                Ok(is_copied)
            }
        }

        #[cfg(test)]
        impl $name<'_> {
            /// Number of the fields that are carried.
            pub(crate) const CARRIED: usize = [$(stringify!($field)),+].len();
        }
    };
}
pub(crate) use carried;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{
        AssignCall, BindingValueCall, FilterCall, PaceCall, PrepareCall, ScoreCall, SelectCall, SnapshotValueCall,
    };
    use crate::view::{CycleView, PlacementsView, PolicyView};

    /// Room in a vector that is large enough.
    struct Vector {
        bytes: Vec<u64>,
        used: usize,
        outputs: Vec<(*mut u8, *mut u8, usize)>,
        shared: *const u8,
    }

    impl Vector {
        fn new(words: usize, shared: *const u8) -> Self {
            Self {
                bytes: vec![0; words],
                used: 0,
                outputs: Vec::new(),
                shared,
            }
        }

        fn contains(&self, address: *const u8) -> bool {
            self.bytes.as_ptr_range().contains(&address.cast())
        }
    }

    // SAFETY: each address is handed out once, and eight is the largest alignment.
    unsafe impl Room for Vector {
        fn is_shared(&self, address: *const u8, _bytes: usize) -> bool {
            address == self.shared
        }

        fn input(&mut self, bytes: usize, _alignment: usize) -> Option<*mut u8> {
            let words = self.bytes.get_mut(self.used..self.used + bytes.div_ceil(8))?;
            self.used += words.len();
            Some(words.as_mut_ptr().cast())
        }

        fn output(&mut self, original: *mut u8, bytes: usize, alignment: usize) -> Option<*mut u8> {
            let copy = self.input(bytes, alignment)?;
            self.outputs.push((original, copy, bytes));
            Some(copy)
        }
    }

    #[test]
    fn everything_a_call_points_to_is_copied_except_what_is_shared() {
        let (arena, last_rows, rows) = ([1_u64, 2], [3_u32, 4, 5], [6_u32]);
        let placements = PlacementsView {
            pool: Str::new("peers"),
            target_rows: Slice::new(&rows),
            ..PlacementsView::DEFAULT
        };
        let cycle = CycleView {
            snapshot: Slice::new(&arena),
            pool: Str::new("pool"),
            last_rows: Slice::new(&last_rows),
            placements: Pointer::new(&placements),
            replicas: 7,
            ..CycleView::DEFAULT
        };
        let mut result = [8_i64, 9];
        let address = result.as_mut_ptr();
        let mut call = AssignCall {
            cycle: Pointer::new(&cycle),
            rows: Slice::new(&rows),
            result: SliceMut::new(&mut result),
            ..AssignCall::DEFAULT
        };
        let mut room = Vector::new(1_000, arena.as_ptr().cast());
        call.carry(&mut room).expect("there is room");
        assert!(room.contains(call.cycle.address().cast()));
        // SAFETY: the copy is in the room, which lives longer.
        let copied = unsafe { *call.cycle.address() };
        assert_eq!(copied.snapshot.as_slice().as_ptr(), arena.as_ptr());
        assert_eq!((copied.replicas, copied.pool.as_str()), (7, "pool"));
        assert!(room.contains(copied.pool.as_str().as_ptr()));
        assert_eq!(copied.last_rows.as_slice(), last_rows);
        assert!(room.contains(copied.last_rows.as_slice().as_ptr().cast()));
        let peers = copied.placements().expect("there are some");
        assert_eq!(
            (peers.pool.as_str(), peers.target_rows.as_slice()),
            ("peers", &rows[..])
        );
        assert!(room.contains(copied.placements.address().cast()));
        assert!(call.policy.address().is_null());
        assert_eq!(room.outputs.len(), 1);
        let (original, copy, bytes) = room.outputs[0];
        assert_eq!((original, bytes), (address.cast(), 16));
        // SAFETY: nothing else has the column of results.
        assert_eq!(unsafe { call.result.as_mut_slice() }, [8, 9]);
        assert!(room.contains(copy));
    }

    /// Size and kind of a struct are not addresses; all other fields are carried.
    #[test]
    fn no_field_is_forgotten() {
        macro_rules! check {
            ($($name:ident),+) => {$(
                assert_eq!($name::CARRIED + 2, $name::DEFINITION.fields.len(), stringify!($name));
            )+};
        }
        check!(
            PrepareCall,
            SnapshotValueCall,
            BindingValueCall,
            FilterCall,
            ScoreCall,
            SelectCall,
            AssignCall,
            PaceCall
        );
        check!(CycleView, PolicyView, PlacementsView);
    }

    #[test]
    fn a_call_that_is_too_large_is_refused() {
        let mut codes = [0_u32; 100];
        let mut call = FilterCall {
            codes: SliceMut::new(&mut codes),
            ..FilterCall::DEFAULT
        };
        assert_eq!(call.carry(&mut Vector::new(10, std::ptr::null())), Err(NoRoom));
    }
}
