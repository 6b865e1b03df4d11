//! Resources and files of a confined process.

use std::path::PathBuf;

/// Resources and files of a confined process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of private writable memory, beyond what the process has when it is confined: heap, stacks of threads, writable data of
    /// libraries. Shared memory and addresses that are only reserved (`PROT_NONE`, as Go's runtime reserves them) do not count.
    ///
    /// The process's own memory does not count, because an allocator such as mimalloc makes a large part of the address space writable
    /// when it starts and uses little of it.
    pub memory_bytes: u64,
    /// Number of descriptors that may be open at the same time.
    pub descriptors: u64,
    /// Files and folders that may be read, besides the system's libraries. The library of the plugin is one of them, unless it is opened
    /// through a descriptor of a file in memory.
    ///
    /// A path is resolved when the process is confined, symbolic links included: what a link points to later is not granted.
    pub read: Vec<PathBuf>,
}

impl Default for Limits {
    /// 1 GiB of memory, 64 descriptors, and no files. A plugin in Go has 64 MiB of heap before its first line of code, and its runtime
    /// starts up to a dozen threads with 8 MiB of stack.
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            descriptors: 64,
            read: Vec::new(),
        }
    }
}
