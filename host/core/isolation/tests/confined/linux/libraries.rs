//! Libraries that are opened inside, and descriptors that are sent.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use super::answer::Case;
use super::grounds::Grounds;

/// Names of the libraries in the granted folder.
const IN_C: &str = "library.so";
const IN_GO: &str = "goroutines.so";
/// The folder of their sources in the repository.
const SOURCES: &str = "host/core/isolation/tests/confined";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::works("opens_a_library_of_the_system", |_| {
            let square_root = symbol(open(c"libm.so.6")?, c"sqrt")?;
            // SAFETY: this is the type of `sqrt`.
            let square_root: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(square_root) };
            assert_eq!(square_root(std::hint::black_box(9.0)), 3.0, "libm calculates");
            Ok(())
        }),
        Case::works("opens_a_granted_library", |grounds| {
            answers(&path_of(grounds.granted().join(IN_C))?)
        })
        .with(in_c),
        Case::fails("opens_a_library_that_is_not_granted", "Permission denied", |grounds| {
            answers(&path_of(grounds.secret())?)
        })
        .with(|grounds| {
            in_c(grounds);
            fs::rename(grounds.granted().join(IN_C), grounds.secret()).expect("a file can be moved");
        }),
        Case::works("opens_a_library_that_was_sent", |grounds| {
            let file = receive_descriptor(&grounds.socket())?;
            answers(&path_of(format!("/proc/self/fd/{}", file.as_raw_fd()).into())?)
        })
        .with(|grounds| {
            in_c(grounds);
            fs::rename(grounds.granted().join(IN_C), grounds.sent()).expect("a file can be moved");
        }),
    ]
}

/// The cases that need Go. They are those of the member `tests/programs`, which the command in README.md leaves out.
pub(super) fn cases_in_go() -> Vec<Case> {
    vec![
        Case::works("runs_goroutines", |grounds| match in_go_function(grounds, c"Run")?() {
            0 => Ok(()),
            bits => Err(io::Error::other(format!("the library reports {bits:#b}"))),
        })
        .with(in_go)
        // It checks what is refused.
        .alone(),
        Case::dies("goroutines_use_more_than_their_memory", libc::SIGABRT, |grounds| {
            in_go_function(grounds, c"Exhaust")?();
            Ok(())
        })
        .with(in_go)
        // It would take all memory of the machine.
        .alone(),
    ]
}

fn path_of(path: PathBuf) -> io::Result<CString> {
    Ok(CString::new(path.into_os_string().into_vec())?)
}

/// Opens the library in C and calls it.
fn answers(path: &CStr) -> io::Result<()> {
    let answer = symbol(open(path)?, c"answer")?;
    // SAFETY: this is the type of `answer`.
    let answer: extern "C" fn() -> libc::c_int = unsafe { std::mem::transmute(answer) };
    assert_eq!(answer(), 42, "the library started a thread when it was opened");
    Ok(())
}

fn in_go_function(grounds: &Grounds, name: &CStr) -> io::Result<extern "C" fn() -> libc::c_int> {
    let function = symbol(open(&path_of(grounds.granted().join(IN_GO))?)?, name)?;
    // SAFETY: the functions of this library take nothing, and return a number or do not return.
    Ok(unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> libc::c_int>(function) })
}

/// Compiles the library in C into the granted folder.
fn in_c(grounds: &Grounds) {
    let source = repository().join(SOURCES).join("library.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(compiler);
    command
        .args(["-shared", "-fPIC", "-pthread", "-o"])
        .arg(grounds.granted().join(IN_C))
        .arg(source);
    built(&mut command);
}

/// Puts the library in Go into the granted folder. It is built once.
fn in_go(grounds: &Grounds) {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(IN_GO);
        let repository = repository();
        let mut command = Command::new(repository.join("tests/control-plane/go"));
        command
            .env("CGO_ENABLED", "1")
            .arg("-C")
            .arg(repository.join(SOURCES).join("goroutines"))
            .args(["build", "-buildvcs=false", "-buildmode=c-shared", "-o"])
            .arg(&library)
            .arg(".");
        built(&mut command);
        library
    });
    fs::copy(&*BUILT, grounds.granted().join(IN_GO)).expect("a file can be copied");
}

/// The repository, from the folder of either member that has this file.
fn repository() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = folders.find(|folder| folder.join("Cargo.lock").exists());
    found.expect("the member is in the repository")
}

/// Runs a compiler.
fn built(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
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
