//! What confines a process, and what is missing.

use std::fmt;
use std::io;

/// A means of confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Facility {
    /// `no_new_privs`: no program that is started later has more rights.
    NoNewPrivileges,
    /// seccomp: the filter of system calls.
    Seccomp,
    /// landlock: rights to read files.
    Landlock,
    /// `RLIMIT_DATA`: private writable memory.
    MemoryLimit,
    /// `RLIMIT_AS`: addresses, and so tables of pages.
    AddressLimit,
    /// `RLIMIT_STACK`: the main thread's stack.
    StackLimit,
    /// `RLIMIT_NOFILE`: open descriptors.
    DescriptorLimit,
    /// `RLIMIT_CORE`: no core dumps.
    CoreLimit,
    /// `oom_score_adj`: the kernel ends this process first when memory runs out.
    OutOfMemoryScore,
    /// Capabilities of root are dropped.
    Capabilities,
}

impl Facility {
    /// All of them.
    #[cfg(feature = "testing")]
    pub const ALL: [Self; 10] = [
        Self::NoNewPrivileges,
        Self::Seccomp,
        Self::Landlock,
        Self::MemoryLimit,
        Self::AddressLimit,
        Self::StackLimit,
        Self::DescriptorLimit,
        Self::CoreLimit,
        Self::OutOfMemoryScore,
        Self::Capabilities,
    ];

    /// What the plugin can do without it.
    fn consequence(self) -> &'static str {
        match self {
            Self::NoNewPrivileges | Self::Seccomp => "plugins cannot be isolated",
            Self::Landlock => {
                "the plugin can read every file that this process can read, the scheduler's memory in /proc included"
            }
            Self::MemoryLimit => "the plugin's memory is not limited",
            Self::AddressLimit => "the plugin's tables of pages are not limited",
            Self::StackLimit => "the plugin's stack may not be limited",
            Self::DescriptorLimit => "the plugin's open descriptors are not limited",
            Self::CoreLimit => "a crash of the plugin may write a core dump",
            Self::OutOfMemoryScore => "when memory runs out, the kernel may end another process than the plugin's",
            Self::Capabilities => "the plugin has the capabilities of this process",
        }
    }
}

impl fmt::Display for Facility {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoNewPrivileges => "no_new_privs",
            Self::Seccomp => "seccomp",
            Self::Landlock => "landlock",
            Self::MemoryLimit => "the limit of memory",
            Self::AddressLimit => "the limit of addresses",
            Self::StackLimit => "the limit of the stack",
            Self::DescriptorLimit => "the limit of descriptors",
            Self::CoreLimit => "the limit of core dumps",
            Self::OutOfMemoryScore => "oom_score_adj",
            Self::Capabilities => "dropping capabilities",
        })
    }
}

/// A facility that is not in force, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The facility.
    pub facility: Facility,
    /// The error number of the system call that failed.
    pub errno: i32,
}

impl Missing {
    /// How to get it, if that is known.
    pub fn hint(&self) -> Option<&'static str> {
        let is_refused = self.error().kind() == io::ErrorKind::PermissionDenied;
        let is_unknown = self.error().kind() == io::ErrorKind::Unsupported;
        match self.facility {
            Facility::Landlock if is_unknown => Some(
                "landlock takes Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK, and `landlock` in the kernel parameter `lsm=` if \
                 that is set",
            ),
            Facility::NoNewPrivileges | Facility::Seccomp if is_unknown => Some(
                "isolation takes a kernel with CONFIG_SECCOMP_FILTER; set `isolation = \"none\"` for the plugin if you trust its author",
            ),
            Facility::NoNewPrivileges | Facility::Seccomp if is_refused => Some(
                "a seccomp profile, such as that of the container, forbids it: use `RuntimeDefault`, or set `isolation = \"none\"` for the plugin if \
                 you trust its author",
            ),
            _ if is_refused => Some(
                "a seccomp profile, such as that of the container, forbids it: use `RuntimeDefault` of a current runtime",
            ),
            _ => None,
        }
    }

    fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let consequence = self.facility.consequence();
        write!(
            formatter,
            "{} is not available: {}; {consequence}",
            self.facility,
            self.error()
        )
    }
}

impl std::error::Error for Missing {}

/// What confines the process now. `no_new_privs` and seccomp always do: without them there is an error instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    landlock_abi: Option<u32>,
    missing: Vec<Missing>,
}

impl Confinement {
    pub(crate) fn new(landlock_abi: Option<u32>, missing: Vec<Missing>) -> Self {
        Self { landlock_abi, missing }
    }

    /// True if the facility is in force.
    #[cfg(feature = "testing")]
    pub fn has(&self, facility: Facility) -> bool {
        !self.missing.iter().any(|missing| missing.facility == facility)
    }

    /// The version of the kernel's landlock, if it is in force. Reading files is restricted by every version.
    #[cfg(feature = "testing")]
    pub fn landlock_abi(&self) -> Option<u32> {
        self.landlock_abi
    }

    /// What is not in force. Each should be reported as a warning.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }
}
