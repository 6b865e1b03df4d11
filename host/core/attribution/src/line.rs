//! The line that names a plugin: made without an allocation and written by one system call, because handlers of signals write it.

use std::fmt::{self, Write};

use crate::slot::Step;

/// A line that is being made. What does not fit is cut.
pub(crate) struct Line {
    bytes: [u8; 1024],
    length: usize,
}

impl Line {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; 1024],
            length: 0,
        }
    }

    /// Writes the line to standard error, past every buffer and lock.
    pub(crate) fn print(&self) {
        let mut rest = &self.bytes[..self.length];
        while !rest.is_empty() {
            // SAFETY: the bytes are there for as long as the call lasts.
            let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(0) => return,
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
                // There is no other stream to report it on.
                Err(_) => return,
            }
        }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..];
        let kept = text.len().min(room.len());
        room[..kept].copy_from_slice(&text.as_bytes()[..kept]);
        self.length += kept;
        Ok(())
    }
}

/// The plugin or the library in a step: `` plugin `average` ``.
pub(crate) fn who(step: &Step) -> impl fmt::Display {
    fmt::from_fn(|to| match (step.site.plugin(), step.subject()) {
        ("", []) => to.write_str("a library"),
        ("", path) => write!(to, "library `{}`", printable(path)),
        (plugin, _) => write!(to, "plugin `{plugin}`"),
    })
}

/// What is done: `` Assign of binding `default/web` ``.
pub(crate) fn what(step: &Step) -> impl fmt::Display {
    fmt::from_fn(|to| {
        to.write_str(step.site.step())?;
        match (step.site.plugin(), step.subject()) {
            ("", _) | (_, []) => Ok(()),
            (_, binding) => write!(to, " of binding `{}`", printable(binding)),
        }
    })
}

/// A text of a manifest, which may contain anything, as a terminal may see it.
fn printable(bytes: &[u8]) -> impl fmt::Display {
    fmt::from_fn(|to| {
        for chunk in bytes.utf8_chunks() {
            for letter in chunk.valid().chars() {
                let is_plain = letter == ' ' || letter.is_ascii_graphic() || letter.is_alphanumeric();
                to.write_char(if is_plain { letter } else { '?' })?;
            }
            if !chunk.invalid().is_empty() {
                to.write_char('?')?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_does_not_fit() {
        let mut line = Line::new();
        for _ in 0..300 {
            write!(line, "12345").expect("it cuts");
        }
        assert_eq!(line.length, 1024);
        assert_eq!(&line.bytes[1020..], b"1234");
    }

    #[test]
    fn a_terminal_obeys_no_name() {
        for (bytes, expected) in [
            (&b"default/web-1.b"[..], "default/web-1.b"),
            (b"a\x1b[31m\nb", "a?[31m?b"),
            ("schön/\u{202e}x".as_bytes(), "schön/?x"),
            (b"a\xff", "a?"),
        ] {
            assert_eq!(printable(bytes).to_string(), expected);
        }
    }
}
