//! Guides for authors: a first plugin below, then [testing], [debugging], [isolation], [shipping] and [evolution].
//!
#![doc = include_str!("../guide/first-plugin.md")]

#[doc = include_str!("../guide/testing.md")]
pub mod testing {}

#[doc = include_str!("../guide/debugging.md")]
pub mod debugging {}

#[doc = include_str!("../guide/isolation.md")]
pub mod isolation {}

#[doc = include_str!("../guide/shipping.md")]
pub mod shipping {}

#[doc = include_str!("../guide/evolution.md")]
pub mod evolution {}
