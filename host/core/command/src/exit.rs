//! Exit codes, part of the interface: a run ends with the highest code that applies.

use std::process::ExitCode;

/// The codes, for `--help`.
pub const EXIT_CODES: &str = "\
Exit codes, the highest that applies:
  0  everything was scheduled or skipped
  1  something could not be scheduled
  2  wrong usage, profile, plugin or input, or an invalid binding
  3  a plugin failed, or Divvy itself";

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Exit {
    /// 0: everything was scheduled or skipped.
    #[default]
    Success,
    /// 1: something could not be scheduled.
    Unschedulable,
    /// 2: wrong arguments, profile, plugins or input, or an invalid binding.
    Usage,
    /// 3: a plugin failed, or Divvy itself.
    Internal,
}

impl Exit {
    /// The code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Unschedulable => 1,
            Self::Usage => 2,
            Self::Internal => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
