//! Exit codes, as a designed output: the highest that applies is the one that a run ends with.

use std::process::ExitCode;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Exit {
    /// 0: everything was scheduled or skipped.
    #[default]
    Success,
    /// 1: something could not be scheduled.
    Unschedulable,
    /// 2: arguments, profile, plugins or input are wrong, or what a binding asks for makes no sense.
    Usage,
    /// 3: a plugin or divvy itself is at fault.
    Internal,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Unschedulable => 1,
            Exit::Usage => 2,
            Exit::Internal => 3,
        })
    }
}
