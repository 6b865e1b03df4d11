//! What a worker prints: its standard output and error are one pipe, which the host reads while it waits and after each operation.
//!
//! A worker must not write to the scheduler's own output, which another program may parse. A worker that prints more than the pipe holds
//! waits until the host reads, within its deadline.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use rustix::buffer::spare_capacity;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// Bytes that are kept until they are taken. What is printed beyond them is dropped.
const KEPT: usize = 256 << 10;
/// Bytes of the pipe, if the system allows as many.
const PIPE: usize = 256 << 10;
/// Longest line in bytes. A longer one is broken.
const LINE: usize = 4 << 10;

/// The host's end of the pipe.
#[derive(Debug)]
pub(crate) struct Output {
    pipe: OwnedFd,
    text: Mutex<Text>,
}

#[derive(Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    /// Bytes that were dropped.
    lost: usize,
}

impl Output {
    /// A pipe, and the worker's end of it.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (pipe, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        // The host never waits for a worker's output. The flag does not concern the other end.
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        // Otherwise, the worker waits more often.
        let _resized = fcntl_setpipe_size(&pipe, PIPE);
        let text = Mutex::default();
        Ok((Self { pipe, text }, theirs))
    }

    /// Reads what the worker has printed, so that it does not have to wait.
    pub(crate) fn collect(&self) {
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .read(&self.pipe);
    }

    /// Takes what the worker has printed, line by line.
    pub(crate) fn take(&self, take: &mut dyn FnMut(&str)) {
        let Text { bytes, lost } = {
            let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            text.read(&self.pipe);
            if text.bytes.is_empty() {
                return;
            }
            std::mem::take(&mut *text)
        };
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for part in lines.flat_map(|line| line.chunks(LINE)) {
            take(&String::from_utf8_lossy(part));
        }
        if lost > 0 {
            take(&format!(
                "… (the worker printed {lost} more bytes at once, which are left out)"
            ));
        }
    }
}

impl Text {
    fn read(&mut self, pipe: &OwnedFd) {
        // Nothing is allocated for a worker that prints nothing.
        let mut first = [0_u8; 512];
        while let Ok(read @ 1..) = rustix::io::read(pipe, &mut first) {
            self.keep(&first[..read]);
            let mut more = Vec::with_capacity(64 << 10);
            while let Ok(1..) = rustix::io::read(pipe, spare_capacity(&mut more)) {
                self.keep(&more);
                more.clear();
                // A worker that prints without end is let wait.
                if self.lost > KEPT {
                    return;
                }
            }
        }
    }

    fn keep(&mut self, read: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len()).min(read.len());
        let (kept, dropped) = read.split_at(room);
        self.bytes.extend_from_slice(kept);
        self.lost += dropped.len();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(output: &Output) -> Vec<String> {
        let mut lines = Vec::new();
        output.take(&mut |line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn lines_are_taken_once_and_long_ones_are_broken() {
        let (output, theirs) = Output::new().expect("a pipe");
        let mut theirs = std::fs::File::from(theirs);
        assert_eq!(lines(&output), [""; 0]);
        theirs.write_all(b"one\n\ntwo\xff\nthree").expect("there is room");
        assert_eq!(lines(&output), ["one", "two\u{fffd}", "three"]);
        theirs.write_all(&[b'x'; LINE + 1]).expect("there is room");
        assert_eq!(lines(&output).iter().map(String::len).collect::<Vec<_>>(), [LINE, 1]);
        drop(theirs);
        assert_eq!(lines(&output), [""; 0]);
    }

    #[test]
    fn what_exceeds_the_room_is_dropped_and_counted() {
        let (output, theirs) = Output::new().expect("a pipe");
        let mut theirs = std::fs::File::from(theirs);
        for _ in 0..5 {
            theirs.write_all(&[b'x'; 60 << 10]).expect("there is room");
            output.collect();
        }
        let lines = lines(&output);
        assert_eq!(lines.iter().filter(|line| line.len() == LINE).count(), KEPT / LINE);
        let expected = format!("printed {} more bytes", 5 * (60 << 10) - KEPT);
        assert!(
            lines.last().is_some_and(|line| line.contains(&expected)),
            "{:?}",
            lines.last()
        );
    }
}
