//! Diverting a function: a jump over its first instructions.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;

/// Instructions that jump to an address, by way of a register that is free when a function begins.
#[cfg(target_arch = "x86_64")]
fn jump(target: usize) -> Vec<u8> {
    // movabs rax, target; jmp rax
    let mut code = vec![0x48, 0xb8];
    code.extend(target.to_le_bytes());
    code.extend([0xff, 0xe0]);
    code
}

/// Instructions that jump to an address, by way of a register that is free when a function begins.
#[cfg(target_arch = "aarch64")]
fn jump(target: usize) -> Vec<u8> {
    // ldr x16, #8; br x16; target
    let mut code = Vec::new();
    code.extend(0x5800_0050_u32.to_le_bytes());
    code.extend(0xd61f_0200_u32.to_le_bytes());
    code.extend(target.to_le_bytes());
    code
}

/// Has the function at `entry` jump to `target` instead. Writes by way of /proc, which may write to instructions: the pages become this
/// process's own.
///
/// # Errors
///
/// The system forbids it.
///
/// # Safety
///
/// A function of at least 16 bytes is at `entry`, of the same type as the one at `target`, and no thread runs its first instructions.
pub(super) unsafe fn divert(entry: usize, target: usize) -> io::Result<()> {
    let memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
    memory.write_all_at(&jump(target), entry as u64)
}
