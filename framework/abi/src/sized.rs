//! Structs that can grow: each begins with its size and its kind.
//!
//! Fields are only ever appended, so a reader takes the fields that both sides know and uses defaults for the rest.

use crate::definition::{numbers, structure};

use std::mem::MaybeUninit;

structure! {
    /// The first eight bytes of every struct that can grow.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Head {
        /// Size of the struct in bytes, as its creator knows it.
        pub size: u32,
        /// A value of [`crate::kind`].
        pub kind: u32,
    }
}

numbers! {
    /// Kinds of structs. A struct of an unexpected kind is refused instead of being read as another.
    ///
    /// The numbers 6 to 11 are free: no version has given them a meaning.
    pub mod kind as "DIVVY_KIND_" {
        /// [`crate::call::PrepareCall`].
        pub const PREPARE: u32 = 1;
        /// [`crate::call::FilterCall`].
        pub const FILTER: u32 = 2;
        /// [`crate::call::ScoreCall`].
        pub const SCORE: u32 = 3;
        /// [`crate::call::SelectCall`].
        pub const SELECT: u32 = 4;
        /// [`crate::call::AssignCall`].
        pub const ASSIGN: u32 = 5;
        /// [`crate::call::SnapshotValueCall`].
        pub const SNAPSHOT_VALUE: u32 = 12;
        /// [`crate::call::BindingValueCall`].
        pub const BINDING_VALUE: u32 = 13;
        /// [`crate::call::PaceCall`]. Since ABI 1.1.
        pub const PACE: u32 = 14;

        /// [`crate::view::CycleView`].
        pub const CYCLE: u32 = 64;
        /// [`crate::view::PolicyView`].
        pub const POLICY: u32 = 65;
        /// [`crate::service::Services`].
        pub const SERVICES: u32 = 66;
        /// [`crate::service::Failure`].
        pub const FAILURE: u32 = 67;
        /// [`crate::service::ConstructCall`].
        pub const CONSTRUCT: u32 = 68;
        /// [`crate::service::DescribeCall`].
        pub const DESCRIBE: u32 = 69;
        /// [`crate::reason::Reason`].
        pub const REASON: u32 = 72;
        /// [`crate::view::PlacementsView`].
        pub const PLACEMENTS: u32 = 73;
        /// [`crate::descriptor::Library`].
        pub const LIBRARY: u32 = 96;
        /// [`crate::descriptor::Descriptor`].
        pub const DESCRIPTOR: u32 = 97;
        /// [`crate::descriptor::PointDescriptor`].
        pub const POINT: u32 = 98;
        /// [`crate::descriptor::StrategyDescriptor`].
        pub const STRATEGY: u32 = 99;
    }
}

/// A struct that begins with a [`Head`] and grows only at its end.
///
/// # Safety
///
/// The type is `repr(C)` without padding, its first two fields are those of [`Head`] and have the values of
/// [`Self::HEAD`] in `default()`, and every bit pattern that the other side may write is valid for its fields.
pub unsafe trait SizePrefixed: Default {
    /// The kind of the struct: a value of [`kind`].
    const KIND: u32;

    /// The head of the struct, as this side makes it.
    const HEAD: Head = Head {
        size: size_of::<Self>() as u32,
        kind: Self::KIND,
    };

    /// The struct at `address`: the fields that both sides know, and defaults for the rest. `None` for a null address
    /// and for a struct of another kind.
    ///
    /// # Safety
    ///
    /// `address` is null or that of a [`Head`] followed by the fields of the struct that it announces.
    #[inline]
    unsafe fn read(address: *const Self) -> Option<Self> {
        // SAFETY: the caller upholds the contract.
        let head = unsafe { head(address.cast()) }?;
        if head.kind != Self::KIND {
            return None;
        }
        if head.size as usize >= size_of::<Self>() {
            // SAFETY: the head announces at least all fields of the type.
            return Some(unsafe { address.read() });
        }
        // SAFETY: the struct is of this kind and, by its head, has fewer fields than the type.
        Some(unsafe { read_shorter(address, head.size as usize) })
    }

    /// The address of a struct with every field that this side knows: `address` itself if its creator knew them all,
    /// otherwise that of a completed copy in `storage`. `None` as for [`Self::read`]. For a struct of which this side
    /// reads only some fields and writes others.
    ///
    /// # Safety
    ///
    /// As for [`Self::read`].
    #[inline]
    unsafe fn locate(address: *const Self, storage: &mut Option<Box<Self>>) -> Option<*const Self> {
        // SAFETY: the caller upholds the contract.
        let head = unsafe { head(address.cast()) }?;
        if head.kind != Self::KIND {
            return None;
        }
        if head.size as usize >= size_of::<Self>() {
            return Some(address);
        }
        // SAFETY: the struct is of this kind and, by its head, has fewer fields than the type.
        Some(unsafe { complete(address, head.size as usize, storage) })
    }

    /// The struct at `address`: in place if its creator knew every field that this side knows, otherwise a completed
    /// copy in `storage`. A null address and a struct of another kind read as the default.
    ///
    /// # Safety
    ///
    /// As for [`Self::read`]. In addition, the struct lives as long as `storage` is borrowed, and nothing writes to it
    /// during that time.
    #[inline]
    unsafe fn view(address: *const Self, storage: &mut Option<Box<Self>>) -> &Self
    where
        Self: Sized,
    {
        // SAFETY: the caller upholds the contract.
        match unsafe { Self::locate(address, storage) } {
            // SAFETY: `locate` returns the address of all fields of the type; the caller ensures that they live and
            // stay unchanged.
            Some(located) => unsafe { &*located },
            None => storage.insert(Box::default()),
        }
    }
}

/// The head of the struct at `address`; `None` for a null address and for a size that does not even cover the head.
///
/// # Safety
///
/// `address` is null or that of a [`Head`].
#[inline]
pub unsafe fn head(address: *const Head) -> Option<Head> {
    if address.is_null() {
        return None;
    }
    // SAFETY: the caller upholds the contract.
    let head = unsafe { *address };
    (head.size as usize >= size_of::<Head>()).then_some(head)
}

/// The slow half of [`SizePrefixed::read`]: the other side is of an older minor version and wrote `bytes` bytes.
///
/// # Safety
///
/// As for [`SizePrefixed::read`]. The struct is of the type's kind, and `bytes` is at most the type's size.
#[cold]
unsafe fn read_shorter<T: SizePrefixed>(address: *const T, bytes: usize) -> T {
    let mut known = MaybeUninit::new(T::default());
    // SAFETY: `bytes` bytes are readable there and writable here. Without padding they end at the end of a field, because
    // sizes grow only by whole fields.
    unsafe {
        std::ptr::copy_nonoverlapping(address.cast::<u8>(), known.as_mut_ptr().cast::<u8>(), bytes);
    }
    // SAFETY: every field has either its default or what the other side wrote.
    unsafe { known.assume_init() }
}

/// The slow half of [`SizePrefixed::locate`]: the other side is of an older minor version and wrote `bytes` bytes.
///
/// # Safety
///
/// As for [`read_shorter`].
#[cold]
unsafe fn complete<T: SizePrefixed>(address: *const T, bytes: usize, storage: &mut Option<Box<T>>) -> &T {
    // SAFETY: the caller upholds the contract.
    let completed = unsafe { read_shorter(address, bytes) };
    storage.insert(Box::new(completed))
}

/// Declares a struct that can grow, with the default of each field.
///
/// A constant assertion checks that the struct has no padding: a field that is appended later then always enlarges the
/// struct, and both sides agree on the offset of each field.
macro_rules! sized {
    (
        $(#[doc = $doc:literal])*
        $name:ident $(<$lifetime:lifetime>)? ($reference:ident, $kind:expr) {
            $(
                $(#[doc = $field_doc:literal])*
                $(#[cfg_attr $conditional:tt])?
                $field:ident : $type:ty = $default:expr,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        #[cfg_attr(feature = "certificate", derive(abi_stable::StableAbi))]
        #[cfg_attr(feature = "certificate", sabi(kind(Prefix(prefix_ref = $reference))))]
        #[cfg_attr(feature = "certificate", sabi(missing_field(option)))]
        pub struct $name $(<$lifetime>)? {
            /// Size of the struct in bytes, as its creator knows it.
            pub size: u32,
            /// Kind of the struct: a value of [`crate::sized::kind`].
            pub kind: u32,
            $($(#[doc = $field_doc])* $(#[cfg_attr $conditional])? pub $field: $type,)*
        }

        impl $(<$lifetime>)? $name $(<$lifetime>)? {
            /// The struct with the default of every field.
            pub const DEFAULT: Self = Self {
                size: size_of::<Self>() as u32,
                kind: $kind,
                $($field: $default,)*
            };

            /// The struct as data.
            pub const DEFINITION: $crate::definition::Structure = $crate::definition::Structure {
                name: stringify!($name),
                module: module_path!(),
                documentation: &[$($doc),*],
                size: size_of::<Self>(),
                fields: &[
                    $crate::definition::Field {
                        name: "size",
                        documentation: &[" Size of the struct in bytes, as its creator knows it."],
                        type_name: "u32",
                        offset: std::mem::offset_of!(Self, size),
                        size: size_of::<u32>(),
                    },
                    $crate::definition::Field {
                        name: "kind",
                        documentation: &[concat!(" [`", stringify!($kind), "`].")],
                        type_name: "u32",
                        offset: std::mem::offset_of!(Self, kind),
                        size: size_of::<u32>(),
                    },
                    $($crate::definition::Field {
                        name: stringify!($field),
                        documentation: &[$($field_doc),*],
                        type_name: stringify!($type),
                        offset: std::mem::offset_of!(Self, $field),
                        size: size_of::<$type>(),
                    },)*
                ],
            };
        }

        impl $(<$lifetime>)? Default for $name $(<$lifetime>)? {
            #[inline]
            fn default() -> Self {
                Self::DEFAULT
            }
        }

        // SAFETY: `repr(C)`, begins with size and kind, and has no padding, as asserted below.
        unsafe impl $(<$lifetime>)? $crate::sized::SizePrefixed for $name $(<$lifetime>)? {
            const KIND: u32 = $kind;
        }

        impl $(<$lifetime>)? $name $(<$lifetime>)? {
            /// Does not compile if the struct has padding.
            const WITHOUT_PADDING: () = {
                let fields = 8 $(+ size_of::<$type>())*;
                assert!(fields == size_of::<Self>(), "a struct that can grow has padding");
            };
        }

        const _: () = $name::WITHOUT_PADDING;

        impl $(<$lifetime>)? $crate::signature::Argument for *const $name $(<$lifetime>)? {
            const NAME: &'static str = concat!("*const ", stringify!($name));
        }

        impl $(<$lifetime>)? $crate::signature::Argument for *mut $name $(<$lifetime>)? {
            const NAME: &'static str = concat!("*mut ", stringify!($name));
        }

        const _: () = {
            #[cfg(feature = "certificate")]
            $crate::signature::certified::tagged!(
                Marker,
                abi_stable::type_layout::Tag::str(stringify!($name))
            );

            impl $(<$lifetime>)? $crate::signature::Pointee for $name $(<$lifetime>)? {
                #[cfg(feature = "certificate")]
                type Certified = Marker;
            }
        };
    };
}
pub(crate) use sized;
