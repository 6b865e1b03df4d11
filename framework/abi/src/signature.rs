//! Arguments and results of functions, and the targets of pointers, by name.
//!
//! An address takes eight bytes regardless of its target, so a layout has neither. The golden test and the test of the
//! C header compare these names, and so does the certificate, at each field that holds a function or a pointer.

use std::ffi::c_void;

use crate::column::PluginText;

/// A type of an argument or result that crosses the boundary.
pub trait Argument {
    /// Name of the type.
    const NAME: &'static str;
}

/// A type of functions that cross the boundary. Only `function!` implements it.
pub trait Signature: Copy {
    /// The type as data.
    const DEFINITION: crate::definition::Function;
    /// Represents the type in a certificate.
    #[cfg(feature = "certificate")]
    type Certified: certified::Tagged;
}

/// A struct that a [`Pointer`](crate::Pointer) can point to. Only `sized!` implements it.
pub trait Pointee {
    /// Represents the type in a certificate.
    #[cfg(feature = "certificate")]
    type Certified: certified::Tagged;
}

macro_rules! arguments {
    ($($type:ty = $name:literal),+ $(,)?) => {$(
        impl Argument for $type {
            const NAME: &'static str = $name;
        }
    )+};
}

arguments! {
    () = "()",
    u32 = "u32",
    u64 = "u64",
    f64 = "f64",
    *const c_void = "*const c_void",
    *mut c_void = "*mut c_void",
    PluginText<'_> = "PluginText",
    *mut crate::call::CallHead<'_> = "*mut CallHead",
}

/// Declares a type of functions of the other side.
macro_rules! function {
    (
        $(#[doc = $doc:literal])*
        $name:ident $(<$lifetime:lifetime>)? ($($argument:ident : $type:ty),* $(,)?) $(-> $result:ty)?
    ) => {
        $(#[doc = $doc])*
        pub type $name = $(for<$lifetime>)? unsafe extern "C" fn($($argument: $type),*) $(-> $result)?;

        const _: () = {
            use $crate::signature::{Argument, Signature};

            /// Brings the lifetime into scope.
            struct Types $(<$lifetime>)? (std::marker::PhantomData<fn($(&$lifetime ())?)>);

            impl $(<$lifetime>)? Types $(<$lifetime>)? {
                const NAMES: &'static [&'static str] = &[
                    $(<$type as Argument>::NAME,)*
                    <$crate::signature::function!(@result $($result)?) as Argument>::NAME,
                ];
                #[cfg(feature = "certificate")]
                const TAG: abi_stable::type_layout::Tag =
                    abi_stable::type_layout::Tag::arr(abi_stable::rslice![
                        $(abi_stable::type_layout::Tag::str(<$type as Argument>::NAME),)*
                        abi_stable::type_layout::Tag::str(
                            <$crate::signature::function!(@result $($result)?) as Argument>::NAME
                        ),
                    ]);
            }

            #[cfg(feature = "certificate")]
            $crate::signature::certified::tagged!(Marker, Types::TAG);

            impl Signature for $name {
                const DEFINITION: $crate::definition::Function = $crate::definition::Function {
                    name: stringify!($name),
                    module: module_path!(),
                    documentation: &[$($doc),*],
                    arguments: &[$(stringify!($argument)),*],
                    types: Types::NAMES,
                };
                #[cfg(feature = "certificate")]
                type Certified = Marker;
            }
        };
    };
    // The same type by another name.
    (
        $(#[doc = $doc:literal])*
        $name:ident = $same:path as $definition:ident ($($argument:ident),* $(,)?)
    ) => {
        $(#[doc = $doc])*
        pub type $name = $same;

        #[doc = concat!("[`", stringify!($name), "`] as data.")]
        pub const $definition: $crate::definition::Function = $crate::definition::Function {
            name: stringify!($name),
            module: module_path!(),
            documentation: &[$($doc),*],
            arguments: &[$(stringify!($argument)),*],
            ..<$same as $crate::signature::Signature>::DEFINITION
        };
    };
    (@result) => { () };
    (@result $result:ty) => { $result };
}
pub(crate) use function;

/// Functions and pointers as a certificate contains them: their layouts, tagged with the names of their types.
///
/// A certificate without tags, as it was made before there were any, agrees with every tag.
#[cfg(feature = "certificate")]
pub mod certified {
    use std::ffi::c_void;
    use std::marker::PhantomData;

    use abi_stable::StableAbi;
    use abi_stable::abi_stability::GetStaticEquivalent_;
    use abi_stable::type_layout::Tag;

    use crate::column::FILL;

    /// The type behind an address.
    pub trait Tagged: GetStaticEquivalent_ {
        /// Its name, or its names.
        const TAG: Tag;
    }

    /// Declares a type that represents the one behind an address.
    macro_rules! tagged {
        ($name:ident, $tag:expr) => {
            pub enum $name {}

            // SAFETY: the type has no lifetimes.
            unsafe impl abi_stable::abi_stability::GetStaticEquivalent_ for $name {
                type StaticEquivalent = $name;
            }

            impl $crate::signature::certified::Tagged for $name {
                const TAG: abi_stable::type_layout::Tag = $tag;
            }
        };
    }
    pub(crate) use tagged;

    /// [`crate::Function`], for functions of one type.
    #[repr(C)]
    #[derive(StableAbi)]
    #[sabi(not_stableabi(S), bound(S: Tagged), tag = S::TAG)]
    pub struct Function<S> {
        #[sabi(unsafe_opaque_field)]
        function: (*const c_void, PhantomData<S>),
        fill: [u32; FILL],
    }

    /// [`crate::Pointer`], to structs of one type.
    #[repr(C)]
    #[derive(StableAbi)]
    #[sabi(not_stableabi(S), bound(S: Tagged), tag = S::TAG)]
    pub struct Pointer<'a, S> {
        #[sabi(unsafe_opaque_field)]
        address: *const S,
        fill: [u32; FILL],
        #[sabi(unsafe_opaque_field)]
        lifetime: PhantomData<&'a ()>,
    }
}
