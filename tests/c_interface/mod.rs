//! The interface in C: the header agrees with the Rust crate, and plugins that are written with it work.
//!
//! [`header`] compares every size, offset and constant. [`plugins`] builds the example with the system's compiler and schedules
//! with it. [`tables`] reads a table of the profile. [`host`] uses a plugin of the SDK from C. [`misbehaviour`] has faults
//! that only a library without the SDK can have. `tests/programs` does the same in C++ and in Go, which not every machine has.

#[allow(dead_code, reason = "`tests/programs` compiles C++")]
pub(crate) mod compile;
mod header;
mod host;
pub(crate) mod hostile;
mod layout;
mod misbehaviour;
mod plugins;
mod tables;

pub(crate) use compile::{library, library_with, program};
pub(crate) use plugins::{example, example_that_requires};
