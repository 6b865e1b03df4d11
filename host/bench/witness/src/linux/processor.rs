//! Rounding mode of the processor, and its treatment of floating-point exceptions.

use std::arch::asm;

/// The bits of the control registers that a program sets, without those that record what has happened.
#[cfg(target_arch = "x86_64")]
pub(super) fn control() -> u64 {
    /// Exceptions that have happened.
    const HAPPENED: u32 = 0x3f;
    let mut vector = 0_u32;
    let mut old = 0_u16;
    // SAFETY: it writes 32 bits to the variable and nothing else.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut vector, options(nostack, preserves_flags)) };
    // SAFETY: it writes 16 bits to the variable and nothing else.
    unsafe { asm!("fnstcw [{}]", in(reg) &raw mut old, options(nostack, preserves_flags)) };
    u64::from(vector & !HAPPENED) << 16 | u64::from(old)
}

/// Sets what [`control`] returned.
#[cfg(target_arch = "x86_64")]
pub(super) fn set_control(control: u64) {
    let vector = (control >> 16) as u32;
    let old = (control & 0xffff) as u16;
    // SAFETY: the bits are those of the register, which had them before.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const vector, options(nostack, preserves_flags)) };
    // SAFETY: as above.
    unsafe { asm!("fldcw [{}]", in(reg) &raw const old, options(nostack, preserves_flags)) };
}

/// The bits of the control register.
#[cfg(target_arch = "aarch64")]
pub(super) fn control() -> u64 {
    let control: u64;
    // SAFETY: it reads a register and nothing else.
    unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
    control
}

/// Sets what [`control`] returned.
#[cfg(target_arch = "aarch64")]
pub(super) fn set_control(control: u64) {
    // SAFETY: the bits are those of the register, which had them before.
    unsafe { asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags)) };
}
