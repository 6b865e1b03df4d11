//! Names the plugin that crashes, ends or hangs the process that it runs in.
//!
//! A plugin in the scheduler's process cannot be contained, but it can be named. Callers of library code record each call before and after
//! it ([`Site::enter`], [`opening`], [`binding`]): a few stores into a record of its thread, without a lock, an allocation or a clock.
//! These records are read
//!
//! - by handlers of signals and of `exit`, which [`arm`] installs: they write one line to standard error, and step aside;
//! - by [`Looks`], which counts how often the same call was seen: [`Watchdog`] for a command, a task of its own in `divvy run`.
//!
//! # Non-goals
//!
//! `_exit`, a signal that cannot be caught, and a plugin that overwrites these records or installs handlers of its own are out of reach. A
//! process of its own contains all of it (`divvy-isolation`); its calls are not marked here, because they have a deadline.

mod exits;
mod line;
mod looks;
mod mark;
mod signals;
mod slot;
mod stack;
mod usage;
mod watchdog;

pub use exits::{Armed, arm};
pub use looks::{InProgress, Looks, in_progress};
pub use mark::{Entered, Loading, Opening, Site, Subject, binding, loading, opening};
pub use signals::keep_ends_of_children;
pub use usage::ThreadUsage;
pub use watchdog::Watchdog;
