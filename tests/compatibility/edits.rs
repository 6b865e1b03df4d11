//! The changes of the SDK that the tests build plugins and a host against.

use crate::changed_sdk::Edit;

/// The SDK as its next minor version might look: one more field in every struct that can grow and in the record, and one more
/// column. Its calls assert that fields that an older host does not have read as their defaults.
pub(crate) const NEWER_MINOR: [Edit; 16] = [
    // Every struct that can grow, by the macro that declares them: the default of the field depends on the kind of the struct.
    Edit {
        file: "framework/abi/src/sized.rs",
        from: "macro_rules! sized",
        to: "macro_rules! sized {
    (
        $(#[doc = $doc:literal])*
        $name:ident $(<$lifetime:lifetime>)? ($reference:ident, $kind:expr) { $($fields:tt)* }
    ) => {
        $crate::sized::sized_as_written! {
            $(#[doc = $doc])*
            $name $(<$lifetime>)? ($reference, $kind) {
                $($fields)*
                /// Appended.
                appended: u64 = 1000 + $kind as u64,
            }
        }

        impl $(<$lifetime>)? $crate::sized::Appended for $name $(<$lifetime>)? {
            fn appended(&self) -> u64 {
                self.appended
            }
        }
    };
}

/// A struct with the appended field.
pub trait Appended {
    /// The appended field.
    fn appended(&self) -> u64;
}

macro_rules! sized_as_written",
    },
    Edit {
        file: "framework/abi/src/sized.rs",
        from: "pub(crate) use sized;",
        to: "pub(crate) use {sized, sized_as_written};",
    },
    Edit {
        file: "framework/abi/src/sized.rs",
        from: "SizePrefixed: Default",
        to: "SizePrefixed: Default + Appended",
    },
    // The record.
    Edit {
        file: "framework/abi/src/section.rs",
        from: "pub version: [u8; TEXT_BYTES],",
        to: "pub version: [u8; TEXT_BYTES],
    /// Appended.
    pub appended: [u8; 8],",
    },
    Edit {
        file: "framework/abi/src/section.rs",
        from: "version: padded(version),",
        to: "version: padded(version), appended: [26; 8],",
    },
    Edit {
        file: "framework/abi/src/section.rs",
        from: "version: take(&mut rest)?,",
        to: "version: take(&mut rest)?, appended: take(&mut rest)?,",
    },
    // A column of the snapshot.
    Edit {
        file: "framework/abi/src/arena.rs",
        from: "pub const COUNT: usize = 50;",
        to: "pub const COUNT: usize = 51;
    /// Appended.
    pub const APPENDED: usize = 50;",
    },
    Edit {
        file: "framework/abi/src/arena.rs",
        from: "group::UID,",
        to: "group::UID, group::UID,",
    },
    Edit {
        file: "framework/calls/src/snapshot/arena.rs",
        from: "const PER_ROW: [usize; 9]",
        to: "const PER_ROW: [usize; 10]",
    },
    Edit {
        file: "framework/calls/src/snapshot/arena.rs",
        from: "column::NAME_HASH, column::UID,",
        to: "column::NAME_HASH, column::UID, column::APPENDED,",
    },
    Edit {
        file: "framework/calls/src/snapshot/arena.rs",
        from: "(column::UID, row.uid),",
        to: "(column::UID, row.uid), (column::APPENDED, 51),",
    },
    // A newer host says so in the field of its view.
    Edit {
        file: "framework/calls/src/cycle.rs",
        from: "..record.view()",
        to: "appended: 1600, ..record.view()",
    },
    // A field that an older host does not have reads as its default: in the calls of all extension points, in those that
    // construct and describe a plugin, in the services and in both views.
    Edit {
        file: "framework/src/export/calls.rs",
        from: "Ok(unsafe { located.read() })",
        to: "let call = unsafe { located.read() };
    assert_eq!(call.appended(), 1000 + u64::from(T::KIND));
    assert_eq!(arguments.services.appended, 1066);
    Ok(call)",
    },
    Edit {
        file: "framework/src/export/calls.rs",
        from: "panics::install_hook();",
        to: "assert_eq!(given.appended, 1068);
    panics::install_hook();",
    },
    Edit {
        file: "framework/src/export/calls.rs",
        from: "let Some(take) = call.take.get() else",
        to: "assert_eq!(call.appended, 1069);
    let Some(take) = call.take.get() else",
    },
    Edit {
        file: "framework/src/cycle.rs",
        from: "Self { view, policy, texts, needs, valid_until, }",
        to: "let arena = Arena::new(view.snapshot.as_slice());
        let column: &[u32] = arena.column(divvy_framework_abi::arena::column::APPENDED);
        match view.appended {
            1600 => assert_eq!(column, vec![51; arena.rows()]),
            // Of an older host, which has no such column, or of a call that sees nothing but the snapshot.
            absent => assert!(absent == 1064 && [0, arena.rows()].contains(&column.len())),
        }
        assert_eq!(policy.appended, 1065);
        Self { view, policy, texts, needs, valid_until }",
    },
];

/// A change that no version announces: its name, what the error says of it, and the edits.
type Unannounced = (&'static str, &'static str, &'static [Edit]);

/// Changes without a new version: two arguments of the entry are swapped, a pointer points to another struct, and two fields are
/// swapped, of a struct that can grow and of a row.
const UNANNOUNCED: [Unannounced; 4] = [
    (
        "swapped-arguments",
        "in `call`: mismatched types behind an address: expected `*const c_void`, found `*mut CallHead`",
        &[Edit {
            file: "framework/abi/src/call.rs",
            from: "(instance: *const c_void, call: *mut CallHead<'a>)",
            to: "(call: *mut CallHead<'a>, instance: *const c_void)",
        }],
    ),
    (
        "another-pointee",
        "in `placements`: mismatched types behind an address: expected `PlacementsView`, found `PolicyView`",
        &[
            Edit {
                file: "framework/abi/src/view.rs",
                from: "placements: Pointer<'a, PlacementsView<'a>>",
                to: "placements: Pointer<'a, PolicyView<'a>>",
            },
            Edit {
                file: "framework/abi/src/view.rs",
                from: "self.placements.address()",
                to: "self.placements.address().cast()",
            },
        ],
    ),
    (
        "swapped-view",
        "in `CycleView<'a>`: unexpected field: ",
        &[Edit {
            file: "framework/abi/src/view.rs",
            from: "seed: u64 = 0, replicas: i64 = 0,",
            to: "/// Replicas.
        replicas: i64 = 0,
        /// Seed.
        seed: u64 = 0,",
        }],
    ),
    (
        "swapped-row",
        "in `SpreadConstraintRow`: unexpected field: ",
        &[Edit {
            file: "framework/abi/src/row.rs",
            from: "pub minimum_groups: i64, pub maximum_groups: i64,",
            to: "/// Maximum.
    pub maximum_groups: i64,
    /// Minimum.
    pub minimum_groups: i64,",
        }],
    ),
];

/// Changes that no version announces: the first in the gate, and all. A library is built for each.
pub(crate) fn unannounced() -> &'static [Unannounced] {
    divvy_built::cases(&UNANNOUNCED[..1], &UNANNOUNCED)
}
