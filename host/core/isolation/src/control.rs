//! The socket between a host and its worker: what the worker is to do first, and the memory that it is to map. Everything
//! else goes through exchanges.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::request::WorkerLibrary;
use crate::sandbox::Missing;

/// Largest message in bytes.
const LARGEST: usize = 64 << 10;

/// What a worker gets first: how it is to be confined.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    /// Libraries that it may open.
    pub(crate) libraries: Vec<WorkerLibrary>,
    /// Files and folders that its plugins may read.
    pub(crate) read: Vec<PathBuf>,
    /// Bytes of memory that the worker may have.
    pub(crate) memory: u64,
}

/// What a worker answers to [`Start`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Started {
    /// It is confined. Facilities that this system lacks, but that are not required.
    Confined { missing: Vec<MissingFacility> },
    /// It cannot be confined.
    Refused { reason: String, hint: Option<String> },
}

/// A facility that this system lacks, so that a worker is confined less than it could be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MissingFacility {
    /// The facility, the error, and what a plugin can do without it.
    pub message: String,
    /// How to get it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<&Missing> for MissingFacility {
    fn from(missing: &Missing) -> Self {
        Self {
            message: missing.to_string(),
            hint: missing.hint().map(ToOwned::to_owned),
        }
    }
}

/// Memory that the worker is to map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Memory {
    /// A chunk of snapshots, to read.
    Chunk { address: usize, bytes: usize },
    /// An exchange, to serve from a thread of its own.
    Exchange { address: usize, bytes: usize },
}

/// A message as it is sent.
///
/// # Errors
///
/// It contains a path that is not UTF-8, or is too large.
pub(crate) fn written<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(message)?;
    if bytes.len() > LARGEST {
        let reason = format!("the request has {} bytes, expected at most {LARGEST}", bytes.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    Ok(bytes)
}

/// Sends a message, with a file if there is one.
pub(crate) fn send(socket: impl AsFd, message: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files: Vec<BorrowedFd<'_>> = file.into_iter().collect();
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    sendmsg(socket, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a message and its file; `None` once the other side has closed the socket.
pub(crate) fn receive<T: for<'de> Deserialize<'de>>(socket: impl AsFd) -> io::Result<Option<(T, Option<OwnedFd>)>> {
    let mut bytes = vec![0; LARGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.next().and_then(|mut files| files.next());
    let message = serde_json::from_slice(bytes.get(..received.bytes).unwrap_or_default())?;
    Ok(Some((message, file)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Read, Seek};
    use std::os::unix::ffi::OsStrExt;

    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn messages_arrive_whole_with_their_files_until_the_socket_is_closed() {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
        let mut file = tempfile();
        let (first, second) = (
            Memory::Chunk {
                address: 4096,
                bytes: 8192,
            },
            Memory::Exchange { address: 1, bytes: 2 },
        );
        let [first_text, second_text] = [&first, &second].map(|message| written(message).expect("small"));
        send(&ours, &first_text, Some(file.as_fd())).expect("sent");
        send(&ours, &second_text, None).expect("sent");
        drop(ours);
        let (received, handed) = receive::<Memory>(&theirs).expect("received").expect("a message");
        assert_eq!(received, first);
        let mut text = String::new();
        file.rewind().expect("a file");
        File::from(handed.expect("a file"))
            .read_to_string(&mut text)
            .expect("readable");
        assert_eq!(text, "content");
        let (received, handed) = receive::<Memory>(&theirs).expect("received").expect("a message");
        assert_eq!((received, handed.is_some()), (second, false));
        assert!(receive::<Memory>(&theirs).expect("closed").is_none());
    }

    #[test]
    fn a_message_that_a_worker_cannot_be_sent_is_refused_with_the_reason() {
        let start = |read: &[u8], count: usize| Start {
            libraries: Vec::new(),
            read: vec![PathBuf::from(OsStr::from_bytes(read)); count],
            memory: 0,
        };
        assert!(written(&start(b"/plugins", 1)).is_ok());
        let refused = |start| written(&start).expect_err("refused").to_string();
        assert_eq!(
            refused(start(b"/plug\xffins", 1)),
            "path contains invalid UTF-8 characters"
        );
        let long = refused(start(&[b'a'; 1_000], 100));
        assert_eq!(long, "the request has 100336 bytes, expected at most 65536");
    }

    fn tempfile() -> File {
        use std::io::Write;
        let mut file = File::from(rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).expect("a file"));
        file.write_all(b"content").expect("written");
        file
    }
}
