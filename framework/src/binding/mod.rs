//! A binding, as a plugin sees it: [`Binding`], and as the host makes it: [`BindingRecord`].
//!
//! A binding's texts are spans into one string with their hashes, its lists are tables of numbers. The record is built
//! once when the binding is read; a cycle hands out views of it and converts nothing.

mod record;
mod view;

pub use record::{
    AffinityRecord, BindingRecord, BindingRecordBuilder, ComponentRecord, ExpressionOperator, ExpressionRecord,
    ExpressionSource, RuleRecord, SpreadConstraintRecord, SpreadField, TolerationOperator, TolerationRecord,
};
pub use view::{Affinity, Binding, Component, LastTarget, Request, Rule, SpreadConstraint, Toleration};
