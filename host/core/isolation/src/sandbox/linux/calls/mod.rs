//! The filter of system calls.
//!
//! There are two filters, because a filter of seccompiler has one answer for everything that it refuses. The first answers `ENOSYS` to
//! calls whose arguments a filter cannot read, so that a C library uses an older call instead; the second answers `EPERM` to everything
//! that [`allowed`] does not list. The kernel takes the more severe answer of the two, and a refusal is more severe than permission.
//!
//! Nothing that is refused ends the process, except calls of another architecture's table (`int 0x80` on x86_64): the filter cannot know
//! what they mean.

mod allowed;
mod denied;

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use seccompiler::{BackendError, BpfProgram, Error, SeccompAction, SeccompFilter, SeccompRule, TargetArch};

use crate::sandbox::confinement::{Facility, Missing};

/// Calls that answer `ENOSYS`: their arguments are in memory, which a filter cannot read, and C libraries then use `clone` and `openat`.
const ABSENT: [libc::c_long; 2] = [libc::SYS_clone3, libc::SYS_openat2];

/// The filters, in the order in which they are installed.
pub(super) struct Filters([BpfProgram; 2]);

/// Makes the filters for the process with this number and this amount of memory.
pub(super) fn filters(process: u32, memory_bytes: u64) -> Result<Filters, BackendError> {
    let mut rules = allowed::rules(process, memory_bytes)?;
    // The other filter refuses these.
    rules.extend(ABSENT.map(|call| (call, Vec::new())));
    let absent = BTreeMap::from(ABSENT.map(|call| (call, Vec::new())));
    Ok(Filters([
        program(absent, SeccompAction::Allow, SeccompAction::Errno(errno(libc::ENOSYS)))?,
        program(rules, SeccompAction::Errno(errno(libc::EPERM)), SeccompAction::Allow)?,
    ]))
}

/// Makes the filters for a process with this number that is observed: everything is allowed but what reaches beyond it and is of no interest
/// to an observer. Where landlock is missing, the filter also refuses to open files for writing and to start programs.
pub(super) fn observed_filters(process: u32, has_landlock: bool) -> Result<Filters, BackendError> {
    let absent = BTreeMap::from(ABSENT.map(|call| (call, Vec::new())));
    Ok(Filters([
        program(absent, SeccompAction::Allow, SeccompAction::Errno(errno(libc::ENOSYS)))?,
        program(
            denied::rules(process, has_landlock)?,
            SeccompAction::Allow,
            SeccompAction::Errno(errno(libc::EPERM)),
        )?,
    ]))
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(rules, otherwise, listed, TargetArch::try_from(ARCH)?)?.try_into()
}

/// Error numbers are small and positive.
fn errno(number: i32) -> u32 {
    number.unsigned_abs()
}

/// Installs the filters for all threads of the process.
pub(super) fn apply(filters: &Filters) -> Result<(), Missing> {
    for program in &filters.0 {
        seccompiler::apply_filter_all_threads(program).map_err(|error| Missing {
            facility: Facility::Seccomp,
            errno: error_number(&error),
        })?;
    }
    Ok(())
}

/// Makes a system call answer `errno` in this process for the rest of its life: with `first`, only if that is its first argument. For
/// tests of what happens where a facility is missing.
///
/// # Errors
///
/// The error of seccompiler, if the filter cannot be made or installed.
#[cfg(feature = "testing")]
pub fn forbid(call: libc::c_long, first: Option<u64>, errno: i32) -> Result<(), Error> {
    let rules = first.map(allowed::first_is).transpose()?.into_iter().collect();
    let action = SeccompAction::Errno(self::errno(errno));
    seccompiler::apply_filter_all_threads(&program(BTreeMap::from([(call, rules)]), SeccompAction::Allow, action)?)
}

fn error_number(error: &Error) -> i32 {
    let number = match error {
        Error::Seccomp(source) | Error::Prctl(source) => source.raw_os_error(),
        // Another thread has a filter that this process does not know.
        Error::ThreadSync(_) => Some(libc::ESRCH),
        _ => None,
    };
    number.unwrap_or(libc::EINVAL)
}
