//! Libraries that are opened inside, and descriptors that are sent.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use super::answer::Case;

pub(super) fn cases() -> Vec<Case> {
    vec![Case::works("opens_a_library_of_the_system", |_| {
        let square_root = symbol(open(c"libm.so.6")?, c"sqrt")?;
        // SAFETY: this is the type of `sqrt`.
        let square_root: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(square_root) };
        assert_eq!(square_root(std::hint::black_box(9.0)), 3.0, "libm calculates");
        Ok(())
    })]
}

/// Opens a library.
pub(super) fn open(path: &CStr) -> io::Result<*mut libc::c_void> {
    // SAFETY: the libraries of these tests do nothing when they are opened.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        return Err(io::Error::other(linker_error()));
    }
    Ok(library)
}

/// The address of a function.
pub(super) fn symbol(library: *mut libc::c_void, name: &CStr) -> io::Result<*mut libc::c_void> {
    // SAFETY: the library is open, and never closed.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() {
        return Err(io::Error::other(linker_error()));
    }
    Ok(address)
}

fn linker_error() -> String {
    // SAFETY: the text belongs to the linker, and this thread does not call it before the text is copied.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no error".to_owned();
    }
    // SAFETY: it ends with a zero byte.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Sends a descriptor and a byte.
pub(super) fn send_descriptor(socket: &UnixStream, file: &File) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [file.as_fd()];
    assert!(
        control.push(SendAncillaryMessage::ScmRights(&descriptors)),
        "there is room for one"
    );
    sendmsg(socket, &[io::IoSlice::new(b"x")], &mut control, SendFlags::empty()).expect("the socket is open");
}

/// Receives a descriptor.
pub(super) fn receive_descriptor(socket: &UnixStream) -> io::Result<File> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        socket,
        &mut [io::IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let received = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    received
        .map(File::from)
        .ok_or_else(|| io::Error::other("no descriptor came"))
}
