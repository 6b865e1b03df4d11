//! Files that may be read, by landlock.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Errno, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{Mode, OFlags};

use crate::sandbox::confinement::{Facility, Missing};
use crate::sandbox::error::SandboxError;

/// The newest version that was tested. On older kernels, what they do not know is left out; all of it but reading files is refused by
/// the filter of system calls as well.
const NEWEST: ABI = ABI::V7;

/// What every plugin may read. Those that do not exist are left out.
const SYSTEM: [&str; 17] = [
    // Libraries that a plugin is linked to, and where the dynamic linkers of glibc and musl find them.
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    // Time zones and languages.
    "/etc/localtime",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    // Number and page sizes that runtimes ask for when they start.
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/null",
    "/dev/urandom",
];

/// Files of the kernel that runtimes read. They stay open for the life of the process: a rule applies to an inode, and the kernel makes
/// another inode for the same file when it had to forget the first one.
const KERNEL: [&str; 3] = [
    // The program itself, whose names a backtrace shows.
    "/proc/self/exe",
    // The bounds of the main thread's stack (`pthread_getattr_np`), for Rust and Go.
    "/proc/self/maps",
    // Whether memory may be promised twice, for allocators.
    "/proc/sys/vm/overcommit_memory",
];

/// What a process that looks at itself reads besides: its own folder of the kernel's.
const ITSELF: [&str; 1] = ["/proc/self"];

/// Descriptors of everything that may be read.
pub(super) struct Grants {
    files: Vec<OwnedFd>,
    /// These must stay open.
    kernel: Vec<OwnedFd>,
}

/// Opens everything that may be read. A process that looks at itself reads what the kernel says of it, too.
pub(super) fn open(granted: &[PathBuf], looks_at_itself: bool) -> Result<Grants, SandboxError> {
    let mut files: Vec<OwnedFd> = SYSTEM
        .iter()
        .filter_map(|path| path_descriptor(Path::new(path)).ok())
        .collect();
    for path in granted {
        let descriptor = path_descriptor(path).map_err(|source| SandboxError::Grant {
            path: path.clone(),
            source,
        })?;
        files.push(descriptor);
    }
    let itself = ITSELF.iter().filter(|_| looks_at_itself);
    let kernel = KERNEL
        .iter()
        .chain(itself)
        .filter_map(|path| path_descriptor(Path::new(path)).ok())
        .collect();
    Ok(Grants { files, kernel })
}

/// A descriptor that only names a file.
fn path_descriptor(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Restricts this thread and those that it starts to the grants. Returns the version of the kernel's landlock.
pub(super) fn restrict(grants: Grants) -> Result<u32, Missing> {
    let missing = |errno| Missing {
        facility: Facility::Landlock,
        errno,
    };
    let abi = kernel_abi().map_err(missing)?;
    let Grants { files, kernel } = grants;
    let all = files.iter().chain(&kernel).map(AsFd::as_fd);
    let status = enforce(all).map_err(|error| missing(*Errno::from(error)))?;
    if status == RulesetStatus::NotEnforced {
        return Err(missing(libc::EOPNOTSUPP));
    }
    // Only their numbers are used up; see `KERNEL`.
    kernel.into_iter().for_each(std::mem::forget);
    Ok(abi)
}

fn enforce<'grants>(grants: impl Iterator<Item = BorrowedFd<'grants>>) -> Result<RulesetStatus, RulesetError> {
    let reading: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let rules = grants.map(|grant| Ok::<_, RulesetError>(PathBeneath::new(grant, reading)));
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(rules)?;
    Ok(ruleset.restrict_self()?.ruleset)
}

/// The version of the kernel's landlock, or the error number with which the kernel refuses to say it. The crate `landlock` does not
/// report that number.
fn kernel_abi() -> Result<u32, i32> {
    const VERSION: libc::c_uint = 1;
    let nowhere = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag, the call reads no attributes and makes no descriptor.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nowhere, 0_usize, VERSION) };
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    u32::try_from(version).map_err(|_| errno())
}
