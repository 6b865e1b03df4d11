//! The changes of the SDK that the tests build plugins and a host against.

use crate::changed_sdk::Edit;

/// The SDK as its next minor version might look: one more field in every struct that can grow, in the record, and one
/// more column. Its calls assert that fields missing in an older host read as their defaults.
pub(super) const NEWER_MINOR: [Edit; 38] = [
    Edit::Replaced {
        file: "abi/Cargo.toml",
        from: "version = \"1.0.0\"",
        to: "version = \"1.1.0\"",
    },
    // Every call.
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "PrepareCall",
        value: 11,
    },
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "SnapshotValueCall",
        value: 27,
    },
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "BindingValueCall",
        value: 28,
    },
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "FilterCall",
        value: 12,
    },
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "ScoreCall",
        value: 13,
    },
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "SelectCall",
        value: 14,
    },
    Edit::Appended {
        file: "abi/src/call.rs",
        structure: "AssignCall",
        value: 15,
    },
    // The views.
    Edit::Appended {
        file: "abi/src/view.rs",
        structure: "CycleView",
        value: 16,
    },
    Edit::Appended {
        file: "abi/src/view.rs",
        structure: "PlacementsView",
        value: 30,
    },
    Edit::Appended {
        file: "abi/src/view.rs",
        structure: "PolicyView",
        value: 17,
    },
    // Services, failures, construction and documents.
    Edit::Appended {
        file: "abi/src/service.rs",
        structure: "Failure",
        value: 18,
    },
    Edit::Appended {
        file: "abi/src/service.rs",
        structure: "Services",
        value: 19,
    },
    Edit::Appended {
        file: "abi/src/service.rs",
        structure: "ConstructCall",
        value: 20,
    },
    Edit::Appended {
        file: "abi/src/service.rs",
        structure: "DescribeCall",
        value: 21,
    },
    // Reasons.
    Edit::Appended {
        file: "abi/src/reason.rs",
        structure: "Reason",
        value: 29,
    },
    // Everything that a library exports.
    Edit::Appended {
        file: "abi/src/descriptor.rs",
        structure: "PointDescriptor",
        value: 22,
    },
    Edit::Appended {
        file: "abi/src/descriptor.rs",
        structure: "StrategyDescriptor",
        value: 23,
    },
    Edit::Appended {
        file: "abi/src/descriptor.rs",
        structure: "Descriptor",
        value: 24,
    },
    Edit::Appended {
        file: "abi/src/descriptor.rs",
        structure: "Library",
        value: 25,
    },
    // The record.
    Edit::Replaced {
        file: "abi/src/section.rs",
        from: "    pub version: [u8; TEXT_BYTES],\n",
        to: "    pub version: [u8; TEXT_BYTES],\n    /// Appended.\n    pub appended: [u8; 8],\n",
    },
    Edit::Replaced {
        file: "abi/src/section.rs",
        from: "            version: padded(version),\n",
        to: "            version: padded(version),\n            appended: [26; 8],\n",
    },
    Edit::Replaced {
        file: "abi/src/section.rs",
        from: "            version: take(&mut rest)?,\n",
        to: "            version: take(&mut rest)?,\n            appended: take(&mut rest)?,\n",
    },
    // A column of the snapshot.
    Edit::Replaced {
        file: "abi/src/arena.rs",
        from: "    pub const COUNT: usize = 50;\n",
        to: "    pub const COUNT: usize = 51;\n    /// Appended.\n    pub const APPENDED: usize = 50;\n",
    },
    Edit::Replaced {
        file: "abi/src/arena.rs",
        from: "    group::UID, // UID\n",
        to: "    group::UID, // UID\n    group::UID, // APPENDED\n",
    },
    Edit::Replaced {
        file: "calls/src/snapshot/arena.rs",
        from: "const PER_ROW: [usize; 9] = [\n",
        to: "const PER_ROW: [usize; 10] = [\n    column::APPENDED,\n",
    },
    Edit::Replaced {
        file: "calls/src/snapshot/arena.rs",
        from: "            (column::UID, row.uid),\n",
        to: "            (column::UID, row.uid),\n            (column::APPENDED, 51),\n",
    },
    // A newer host says so in the field of its view.
    Edit::Replaced {
        file: "calls/src/cycle.rs",
        from: "        ..record.view()\n",
        to: "        appended: 1600,\n        ..record.view()\n",
    },
    // A field that an older host lacks reads as its default.
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "    let (call, cycle, _): (PrepareCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;\n",
        to: "    let (call, cycle, _): (PrepareCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;\n    assert_eq!(call.appended, 11);\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "    let (call, cycle, _): (SnapshotValueCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;\n",
        to: "    let (call, cycle, _): (SnapshotValueCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;\n    assert_eq!(call.appended, 27);\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "    let (_, cycle, _): (BindingValueCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;\n",
        to: "    let (call, cycle, _): (BindingValueCall<'_>, _, _) = unsafe { enter(arguments, P::NEEDS, &mut storage) }?;\n    assert_eq!(call.appended, 28);\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "    // The hook and the forwarder come first",
        to: "    assert_eq!(given.appended, 20);\n    // The hook and the forwarder come first",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "    let Some(take) = call.take.get() else {\n",
        to: "    assert_eq!(call.appended, 21);\n    let Some(take) = call.take.get() else {\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "        unsafe { enter(arguments, <P as FilterPlugin<T>>::NEEDS, &mut storage) }?;\n",
        to: "        unsafe { enter(arguments, <P as FilterPlugin<T>>::NEEDS, &mut storage) }?;\n    assert_eq!(call.appended, 12);\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "        unsafe { enter(arguments, <P as ScorePlugin<T>>::NEEDS, &mut storage) }?;\n",
        to: "        unsafe { enter(arguments, <P as ScorePlugin<T>>::NEEDS, &mut storage) }?;\n    assert_eq!(call.appended, 13);\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "        unsafe { enter(arguments, <P as SelectPlugin<T>>::NEEDS, &mut storage) }?;\n",
        to: "        unsafe { enter(arguments, <P as SelectPlugin<T>>::NEEDS, &mut storage) }?;\n    assert_eq!(call.appended, 14);\n",
    },
    Edit::Replaced {
        file: "src/export/calls.rs",
        from: "        unsafe { enter(arguments, <P as AssignPlugin<T>>::NEEDS, &mut storage) }?;\n",
        to: "        unsafe { enter(arguments, <P as AssignPlugin<T>>::NEEDS, &mut storage) }?;\n    \
             assert_eq!((call.appended, arguments.services.appended), (15, 19));\n",
    },
    Edit::Replaced {
        file: "src/cycle.rs",
        from: "        Self {\n            view,\n            policy,\n",
        to: "        let arena = Arena::new(view.snapshot.as_slice());
        let column: &[u32] = arena.column(divvy_framework_abi::arena::column::APPENDED);
        match view.appended {
            1600 => assert_eq!(column, vec![51; arena.rows()]),
            // Of an older host, which has no such column, or of a call that sees nothing but the snapshot.
            absent => assert!(absent == 16 && [0, arena.rows()].contains(&column.len())),
        }
        assert_eq!(policy.appended, 17);
        Self {\n            view,\n            policy,\n",
    },
];

/// Changes without a new version: two fields of the same type are swapped, of a struct that can grow and of a row; two arguments
/// of the entry are; and a pointer points to another struct. Each with what the error says.
pub(super) const UNANNOUNCED: [(&str, &str, [Edit; 2]); 4] = [
    (
        "swapped-arguments",
        "in `call`: mismatched types behind an address: expected `*const c_void`, found `*mut CallHead`",
        [
            Edit::Replaced {
                file: "abi/src/call.rs",
                from: "CallFunction<'a>(instance: *const c_void, call: *mut CallHead<'a>)",
                to: "CallFunction<'a>(call: *mut CallHead<'a>, instance: *const c_void)",
            },
            Edit::Replaced {
                file: "src/export/calls.rs",
                from: "fn call<P: Dispatch>(instance: *const c_void, call: *mut CallHead<'_>)",
                to: "fn call<P: Dispatch>(call: *mut CallHead<'_>, instance: *const c_void)",
            },
        ],
    ),
    (
        "another-pointee",
        "in `placements`: mismatched types behind an address: expected `PlacementsView`, found `PolicyView`",
        [
            Edit::Replaced {
                file: "abi/src/view.rs",
                from: "        placements: Pointer<'a, PlacementsView<'a>> = Pointer::NULL,\n",
                to: "        placements: Pointer<'a, PolicyView<'a>> = Pointer::NULL,\n",
            },
            Edit::Replaced {
                file: "abi/src/view.rs",
                from: "PlacementsView::read(self.placements.address())",
                to: "PlacementsView::read(self.placements.address().cast())",
            },
        ],
    ),
    (
        "swapped-view",
        "in `CycleView<'a>`: unexpected field: ",
        [
            Edit::Replaced {
                file: "abi/src/view.rs",
                from: "        seed: u64 = 0,\n",
                to: "        replicas: i64 = 0,\n",
            },
            Edit::Replaced {
                file: "abi/src/view.rs",
                from: "        /// Replicas to divide.\n        replicas: i64 = 0,\n",
                to: "        /// Replicas to divide.\n        seed: u64 = 0,\n",
            },
        ],
    ),
    (
        "swapped-row",
        "in `SpreadConstraintRow`: unexpected field: ",
        [
            Edit::Replaced {
                file: "abi/src/row.rs",
                from: "    pub minimum_groups: i64,\n",
                to: "    pub maximum_groups: i64,\n",
            },
            Edit::Replaced {
                file: "abi/src/row.rs",
                from: "    /// Maximum number of groups; 0 or less means no limit.\n        pub maximum_groups: i64,\n",
                to: "    /// Maximum number of groups; 0 or less means no limit.\n        pub minimum_groups: i64,\n",
            },
        ],
    ),
];
