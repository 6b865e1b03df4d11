//! The declarations of this crate as data: names, documentation, types, offsets and values.
//!
//! The macros that declare structs, numbers and functions also describe them here, so a list of layouts and a header
//! for another language come from the same definition. `tests/definition` writes both: `tests/layout.txt` and
//! `include/divvy_plugin.h`. A library that does not use the data does not contain it.

use crate::signature::Signature;
use crate::{arena, call, descriptor, reason, row, section, service, sized, text, view};

/// A struct that crosses the boundary.
#[derive(Debug, Clone, Copy)]
pub struct Structure {
    /// Its name.
    pub name: &'static str,
    /// The path of the module that declares it.
    pub module: &'static str,
    /// Its documentation, line by line.
    pub documentation: &'static [&'static str],
    /// Its size in bytes.
    pub size: usize,
    /// Its fields, in their order.
    pub fields: &'static [Field],
}

/// A field of a struct.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub documentation: &'static [&'static str],
    /// Its type, as the struct's declaration writes it.
    pub type_name: &'static str,
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// A module of numbers: values of one field, or bits of one.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    /// The path of the module.
    pub module: &'static str,
    /// Prefix of the names in a language without modules.
    pub prefix: &'static str,
    /// Its documentation, line by line.
    pub documentation: &'static [&'static str],
    /// The numbers, in their order.
    pub numbers: &'static [Number],
}

/// A number with a name.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// Its name.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub documentation: &'static [&'static str],
    /// Its type.
    pub type_name: &'static str,
    /// Its value.
    pub value: u64,
}

/// A type of functions.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The path of the module that declares it.
    pub module: &'static str,
    /// Its documentation, line by line.
    pub documentation: &'static [&'static str],
    /// The names of its arguments.
    pub arguments: &'static [&'static str],
    /// The types of its arguments, followed by that of its result.
    pub types: &'static [&'static str],
}

/// All structs, in the order in which `layout.txt` lists them.
pub const STRUCTURES: &[Structure] = &[
    sized::Head::DEFINITION,
    text::Text::DEFINITION,
    text::Span::DEFINITION,
    arena::ColumnEntry::DEFINITION,
    row::TolerationRow::DEFINITION,
    row::SpreadConstraintRow::DEFINITION,
    row::AffinityRow::DEFINITION,
    row::ExpressionRow::DEFINITION,
    row::RequestRow::DEFINITION,
    row::ComponentRow::DEFINITION,
    row::TargetRow::DEFINITION,
    row::PeerRow::DEFINITION,
    row::PairRow::DEFINITION,
    row::RuleRow::DEFINITION,
    row::RuleValueRow::DEFINITION,
    row::TableColumnRow::DEFINITION,
    row::WeeklyRow::DEFINITION,
    row::OffsetRow::DEFINITION,
    row::BindingNames::DEFINITION,
    reason::FigureRow::DEFINITION,
    call::CallHead::DEFINITION,
    section::PluginRecord::DEFINITION,
    view::CycleView::DEFINITION,
    view::PolicyView::DEFINITION,
    view::PlacementsView::DEFINITION,
    call::PrepareCall::DEFINITION,
    call::SnapshotValueCall::DEFINITION,
    call::BindingValueCall::DEFINITION,
    call::FilterCall::DEFINITION,
    call::ScoreCall::DEFINITION,
    call::SelectCall::DEFINITION,
    call::AssignCall::DEFINITION,
    call::PaceCall::DEFINITION,
    service::Failure::DEFINITION,
    service::Services::DEFINITION,
    service::ConstructCall::DEFINITION,
    service::DescribeCall::DEFINITION,
    descriptor::PointDescriptor::DEFINITION,
    descriptor::StrategyDescriptor::DEFINITION,
    descriptor::Descriptor::DEFINITION,
    descriptor::Library::DEFINITION,
    reason::Reason::DEFINITION,
];

/// All modules of numbers, in the order in which `layout.txt` lists them.
pub const NUMBERS: &[Numbers] = &[
    sized::kind::DEFINITION,
    arena::flag::DEFINITION,
    arena::effect::DEFINITION,
    arena::condition::DEFINITION,
    arena::group::DEFINITION,
    arena::column::DEFINITION,
    row::toleration_operator::DEFINITION,
    row::spread_field::DEFINITION,
    row::expression_source::DEFINITION,
    row::expression_operator::DEFINITION,
    row::cell_type::DEFINITION,
    row::peer_group::DEFINITION,
    service::failure::DEFINITION,
    service::text_kind::DEFINITION,
    service::level::DEFINITION,
    service::document::DEFINITION,
    service::limit::DEFINITION,
    view::flag::DEFINITION,
    descriptor::feature::DEFINITION,
    descriptor::binding_part::DEFINITION,
    call::wait::DEFINITION,
    descriptor::limit::DEFINITION,
    section::record_flag::DEFINITION,
    reason::cause::DEFINITION,
    reason::bound::DEFINITION,
    reason::remainder::DEFINITION,
    reason::decider::DEFINITION,
];

/// All types of functions, in the order in which `layout.txt` lists them.
pub const FUNCTIONS: &[Function] = &[
    <call::CallFunction as Signature>::DEFINITION,
    <call::ReleaseFunction as Signature>::DEFINITION,
    <service::LogLevelFunction as Signature>::DEFINITION,
    <service::LogFunction as Signature>::DEFINITION,
    <service::CountFunction as Signature>::DEFINITION,
    <service::ObserveFunction as Signature>::DEFINITION,
    <service::TextFunction as Signature>::DEFINITION,
    <service::FailFunction as Signature>::DEFINITION,
    <service::ExplainFunction as Signature>::DEFINITION,
    <service::DocumentFunction as Signature>::DEFINITION,
    <service::ConstructFunction as Signature>::DEFINITION,
    service::DESTROY_FUNCTION,
    <service::DescribeFunction as Signature>::DEFINITION,
];

/// Declares a struct that never changes, or that grows by other rules than [`sized`]'s, and describes it.
macro_rules! structure {
    (
        $(#[doc = $doc:literal])*
        #[repr $repr:tt]
        #[derive $derive:tt]
        $(#[cfg_attr $conditional:tt])?
        pub struct $name:ident $(<$lifetime:lifetime>)? {
            $($(#[doc = $field_doc:literal])* pub $field:ident : $type:ty,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[repr $repr]
        #[derive $derive]
        $(#[cfg_attr $conditional])?
        pub struct $name $(<$lifetime>)? {
            $($(#[doc = $field_doc])* pub $field: $type,)*
        }

        impl $(<$lifetime>)? $name $(<$lifetime>)? {
            /// The struct as data.
            pub const DEFINITION: $crate::definition::Structure = $crate::definition::Structure {
                name: stringify!($name),
                module: module_path!(),
                documentation: &[$($doc),*],
                size: size_of::<Self>(),
                fields: &[$($crate::definition::Field {
                    name: stringify!($field),
                    documentation: &[$($field_doc),*],
                    type_name: stringify!($type),
                    offset: std::mem::offset_of!(Self, $field),
                    size: size_of::<$type>(),
                }),*],
            };
        }
    };
}
pub(crate) use structure;

/// Declares a module of numbers with the prefix of their names in C, and describes it.
macro_rules! numbers {
    (
        $(#[doc = $doc:literal])*
        pub mod $module:ident as $prefix:literal {
            $($(#[doc = $number_doc:literal])* pub const $name:ident : $type:ident = $value:expr;)*
        }
        $(also { $($item:item)* })?
    ) => {
        $(#[doc = $doc])*
        pub mod $module {
            $($(#[doc = $number_doc])* pub const $name: $type = $value;)*

            /// The module as data.
            pub const DEFINITION: $crate::definition::Numbers = $crate::definition::Numbers {
                module: module_path!(),
                prefix: $prefix,
                documentation: &[$($doc),*],
                numbers: &[$($crate::definition::Number {
                    name: stringify!($name),
                    documentation: &[$($number_doc),*],
                    type_name: stringify!($type),
                    value: $name as u64,
                }),*],
            };

            $($($item)*)?
        }
    };
}
pub(crate) use numbers;
