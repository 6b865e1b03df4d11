//! The clock, in place of the functions of the vDSO.

use std::ffi::c_void;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicI64, Ordering};

use libc::{c_int, c_long, clockid_t, time_t, timespec, timeval};
use object::{Object, ObjectSymbol};

use super::{detour, record};
use crate::Request;

/// Seconds by which calls see a later time.
static ADVANCED: AtomicI64 = AtomicI64::new(0);

/// A third argument of `clock_gettime`, which the kernel ignores: it says that the clock was already noted.
pub(super) const NOTED: u64 = 0x6469_7676_7963_6c6b;

/// The vDSO's functions, with those that take their place.
#[cfg(target_arch = "x86_64")]
const FUNCTIONS: [(&str, *const ()); 3] = [
    ("__vdso_clock_gettime", clock_gettime as *const ()),
    ("__vdso_gettimeofday", gettimeofday as *const ()),
    ("__vdso_time", time as *const ()),
];
/// The vDSO's functions, with those that take their place.
#[cfg(target_arch = "aarch64")]
const FUNCTIONS: [(&str, *const ()); 2] = [
    ("__kernel_clock_gettime", clock_gettime as *const ()),
    ("__kernel_gettimeofday", gettimeofday as *const ()),
];

/// Moves the clock that calls see.
pub(super) fn advance(seconds: i64) {
    ADVANCED.fetch_add(seconds, Ordering::SeqCst);
}

/// Diverts the vDSO's functions. A process without a vDSO makes system calls instead, which the filter sees.
pub(super) fn divert() -> io::Result<()> {
    let Some((start, image)) = vdso()? else {
        return Ok(());
    };
    let file = object::File::parse(image.as_slice()).map_err(io::Error::other)?;
    for symbol in file.dynamic_symbols() {
        let found = FUNCTIONS.iter().find(|(name, _)| symbol.name() == Ok(name));
        if let Some((_, target)) = found {
            let entry = start.wrapping_add(symbol.address() as usize);
            // SAFETY: the kernel's table names the function there, and this thread is not in it. Functions of the vDSO begin at
            // multiples of 16 bytes.
            unsafe { detour::divert(entry, target.addr()) }?;
        }
    }
    Ok(())
}

/// The address of the vDSO and its contents; `None` if the process has none.
fn vdso() -> io::Result<Option<(usize, Vec<u8>)>> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let Some(line) = maps.lines().find(|line| line.ends_with("[vdso]")) else {
        return Ok(None);
    };
    let range = line.split(' ').next().and_then(|range| range.split_once('-'));
    let bounds = range.and_then(|(start, end)| {
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some((address(start)?, address(end)?))
    });
    let Some((start, end)) = bounds else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "/proc/self/maps has another form",
        ));
    };
    let mut image = vec![0; end.saturating_sub(start)];
    File::open("/proc/self/mem")?.read_exact_at(&mut image, start as u64)?;
    Ok(Some((start, image)))
}

/// True for a clock that shows the time, rather than what the process has used of it.
fn is_time(clock: clockid_t) -> bool {
    !matches!(clock, libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID) && clock >= 0
}

/// The time by a clock, as calls see it, or a negative error number.
fn now(clock: clockid_t) -> Result<timespec, c_int> {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    let address: *mut timespec = &raw mut time;
    // SAFETY: the kernel writes to the struct and ignores the third argument.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, c_long::from(clock), address, NOTED) };
    if result != 0 {
        return Err(-io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL));
    }
    if is_time(clock) {
        record::note(|| Request::Clock);
        if record::makes_the_call() {
            time.tv_sec = time.tv_sec.saturating_add(ADVANCED.load(Ordering::SeqCst));
        }
    }
    Ok(time)
}

extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    match now(clock) {
        Ok(now) => {
            // SAFETY: whoever asks for the time passes where it belongs, as to the function of the vDSO.
            unsafe { time.write(now) };
            0
        }
        Err(number) => number,
    }
}

extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    let now = match now(libc::CLOCK_REALTIME) {
        Ok(now) => now,
        Err(number) => return number,
    };
    if !time.is_null() {
        let now = timeval {
            tv_sec: now.tv_sec,
            tv_usec: now.tv_nsec / 1_000,
        };
        // SAFETY: whoever asks for the time passes where it belongs, as to the function of the vDSO.
        unsafe { time.write(now) };
    }
    if !zone.is_null() {
        // Minutes west of Greenwich and the kind of summer time: nobody sets them.
        // SAFETY: a caller that passes an address of a `struct timezone` has room for its two numbers.
        unsafe { zone.cast::<[c_int; 2]>().write([0, 0]) };
    }
    0
}

#[cfg(target_arch = "x86_64")]
extern "C" fn time(time: *mut time_t) -> time_t {
    let now = match now(libc::CLOCK_REALTIME) {
        Ok(now) => now.tv_sec,
        Err(number) => return number.into(),
    };
    if !time.is_null() {
        // SAFETY: whoever asks for the time passes where it belongs, as to the function of the vDSO.
        unsafe { time.write(now) };
    }
    now
}
