//! A thread of the worker that serves one exchange.

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use divvy_framework_abi::call::{CallFunction, CallHead, ReleaseFunction};
use divvy_framework_abi::service::{ConstructCall, DestroyFunction, failure};
use divvy_framework_abi::{ABI_VERSION, Address, Str};
use divvy_loader::{LoadError, LoadOptions, PluginFile, PluginLibrary};

use super::services::{self, Context};
use crate::exchange::{wait, wake};
use crate::header::{Header, Layout, operation, state};
use crate::request::{Construction, LibraryRequest, Opened};

/// The libraries that this process has opened.
static LIBRARIES: Mutex<Vec<PluginLibrary>> = Mutex::new(Vec::new());

/// An instance, whose address is its name.
struct Instance {
    state: *mut c_void,
    call: CallFunction,
    destroy: DestroyFunction,
    context: &'static Context,
}

/// Serves an exchange as long as the process lives.
pub(super) fn serve(layout: Layout) -> ! {
    // SAFETY: the exchange is mapped and begins with a header of atomics, which are valid whatever they are.
    let header: &'static Header = unsafe { &*(layout.address as *const Header) };
    loop {
        let turn = header.state.load(Ordering::Acquire);
        if turn != state::ASKED {
            wait(&header.state, turn, None);
            continue;
        }
        services::begin(layout.event_bytes(), header.level.load(Ordering::Relaxed));
        // SAFETY: it is this side's turn, and the host put the values into the room before it handed over the turn.
        unsafe { release(header) };
        let context = match header.operation.load(Ordering::Relaxed) {
            operation::OPEN => {
                // SAFETY: it is this side's turn, and for this operation the host names a text in the room.
                let answer = open(unsafe { text(header) });
                // The host reports that the library was not described.
                if let Ok(answer) = serde_json::to_string(&answer) {
                    services::document(&answer);
                }
                None
            }
            // SAFETY: for this operation, the host names a text as well.
            operation::CONSTRUCT => construct(header, unsafe { text(header) }),
            // SAFETY: for this operation, the host names an instance that lives and a call in the room.
            operation::CALL => Some(unsafe { call(header) }),
            operation::DESTROY => {
                // SAFETY: the host names an instance that lives, and no call of it is in progress.
                unsafe { destroy(header) };
                None
            }
            _ => None,
        };
        services::end(context, |bytes, lost| {
            // SAFETY: the events have room for this many bytes, which `begin` was told.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), layout.room_end as *mut u8, bytes.len()) };
            header.events.store(bytes.len() as u64, Ordering::Relaxed);
            header.lost.store(lost, Ordering::Relaxed);
        });
        header.state.store(state::ANSWERED, Ordering::Release);
        wake(&header.state);
    }
}

/// The text that the header names.
///
/// # Safety
///
/// The host put a text there, and waits.
unsafe fn text(header: &Header) -> &str {
    let (address, length) = (
        header.call.load(Ordering::Relaxed),
        header.length.load(Ordering::Relaxed),
    );
    // SAFETY: the caller promises it.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, length as usize) };
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Drops the values that the header names.
///
/// # Safety
///
/// The host put them there, and each was kept by a plugin of this process.
unsafe fn release(header: &Header) {
    let (address, count) = (
        header.releases.load(Ordering::Relaxed) as *const (usize, Option<ReleaseFunction>),
        header.release_count.load(Ordering::Relaxed) as usize,
    );
    for number in 0..count {
        // SAFETY: the caller promises that many values.
        let entry = unsafe { address.add(number) };
        // SAFETY: `entry` is one of that many values, aligned for words.
        let (value, function) = unsafe { *entry };
        if let Some(function) = function {
            // SAFETY: the plugin wrote both, and the value is no longer used anywhere else.
            unsafe { function(value as *mut c_void) };
        }
    }
}

fn open(request: &str) -> Opened {
    match opened(request) {
        Ok(opened) => opened,
        Err(error) => Opened::Refused {
            message: error.to_string(),
            hint: error.hint(),
        },
    }
}

fn opened(request: &str) -> Result<Opened, LoadError> {
    let Ok(request) = serde_json::from_str::<LibraryRequest>(request) else {
        return Ok(Opened::Refused {
            message: "the request cannot be read".to_owned(),
            hint: None,
        });
    };
    let file = PluginFile::read(&request.path)?;
    if file.checksum() != request.checksum {
        return Err(LoadError::ChecksumMismatch {
            actual: file.checksum().to_owned(),
            path: request.path,
            expected: request.checksum,
        });
    }
    let library = file.open(LoadOptions {
        name: request.name.as_deref(),
        checksum: request.is_copied.then_some(&request.checksum),
        allow_uncertified: request.allow_uncertified,
        ..LoadOptions::default()
    })?;
    let description = Box::new(library.describe());
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    libraries.push(library);
    Ok(Opened::Library {
        number: libraries.len() as u64 - 1,
        description,
    })
}

/// Constructs a plugin, and writes the answer into the header.
fn construct(header: &Header, request: &str) -> Option<&'static Context> {
    let refuse = |code: u32| {
        header.code.store(code, Ordering::Relaxed);
        None
    };
    let Ok(request) = serde_json::from_str::<Construction>(request) else {
        return refuse(failure::INTERNAL);
    };
    let functions = {
        let libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
        libraries
            .get(request.library as usize)
            .and_then(PluginLibrary::functions)
    };
    let Some(functions) = functions else {
        return refuse(failure::INTERNAL);
    };
    let context = Context::new();
    let mut call = ConstructCall {
        sink: services::sink(),
        services: context.table(),
        configuration: Str::new(&request.configuration),
        abi_minor: ABI_VERSION.minor,
        ..ConstructCall::DEFAULT
    };
    // SAFETY: the call follows the contract; what it points to outlives it.
    let code = unsafe { (functions.construct)(&raw mut call) };
    header.code.store(code, Ordering::Relaxed);
    header.required.store(call.required, Ordering::Relaxed);
    header.optional.store(call.optional, Ordering::Relaxed);
    if code == 0 {
        let instance = Box::new(Instance {
            state: call.instance.get(),
            call: functions.call,
            destroy: functions.destroy,
            context,
        });
        header.instance.store(Box::into_raw(instance) as u64, Ordering::Relaxed);
    }
    Some(context)
}

/// Makes a call.
///
/// # Safety
///
/// The header names an instance that [`construct`] made, and a whole call in the room.
unsafe fn call(header: &Header) -> &'static Context {
    super::memory::wait_for_chunks(header.chunks.load(Ordering::Relaxed));
    // SAFETY: the caller promises it, and only `destroy` frees an instance, which the host asks for once no call is made.
    let instance = unsafe { &*(header.instance.load(Ordering::Relaxed) as *const Instance) };
    let call = header.call.load(Ordering::Relaxed) as *mut CallHead<'_>;
    // SAFETY: the caller promises it.
    unsafe { (*call).sink = services::sink() };
    // SAFETY: the instance is the plugin's own, and the room is the call's until the host has its turn again.
    let code = unsafe { (instance.call)(instance.state, call) };
    header.code.store(code, Ordering::Relaxed);
    instance.context
}

/// Drops an instance.
///
/// # Safety
///
/// The header names an instance that [`construct`] made, and that is not used any more.
unsafe fn destroy(header: &Header) {
    // SAFETY: the caller promises it.
    let instance = unsafe { Box::from_raw(header.instance.load(Ordering::Relaxed) as *mut Instance) };
    // SAFETY: the instance is the plugin's own, and is no longer used anywhere else.
    unsafe { (instance.destroy)(instance.state) };
}

/// The sink of a call lies in its head, at the same offset in every call.
const _: () = assert!(std::mem::offset_of!(CallHead<'static>, sink) == 24 && size_of::<Address>() == 8);
