//! Memory in use. One test, because it is that of a whole process.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use divvy_witness::memory_in_use;

#[test]
fn memory_of_the_c_library_is_counted_to_the_byte() {
    let before = memory_in_use();
    // SAFETY: it takes a number, and what it returns is leaked on purpose.
    let leaked = unsafe { libc::malloc(100_000) };
    assert!(!leaked.is_null());
    let grown = memory_in_use().allocated.wrapping_sub(before.allocated);
    assert!((100_000..110_000).contains(&grown), "{grown}");
}
