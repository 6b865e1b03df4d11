//! The output streams: data goes to standard output, everything else to standard error.
//!
//! Renderers always write colour, and the streams remove it where it would not be shown. A reader that goes away
//! (`divvy … | head`) ends the output but is not an error.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{ExitCode, Stdio};
use std::sync::OnceLock;

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};

use crate::closed::is_output_closed;
use crate::errors::Failure;
use crate::exit::Exit;

/// Standard output as it was when the process started, or the reason why it cannot be written, for instance because it is closed.
static OUTPUT: OnceLock<io::Result<File>> = OnceLock::new();

/// Reserves standard output for data: from now on, plugins print to standard error.
fn reserve_output() -> &'static io::Result<File> {
    OUTPUT.get_or_init(|| {
        Console::check_output()?;
        let duplicate = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 0)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(File::from(duplicate))
    })
}

/// The two output streams and their properties.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    verbosity: u8,
    width: Option<usize>,
    has_bars: bool,
    is_terminal: bool,
    has_colours: bool,
}

impl Console {
    /// Detects the streams of this process, and reserves standard output for its data. `verbosity` is the number of
    /// `-v` flags.
    pub fn new(color: ColorChoice, verbosity: u8) -> Self {
        color.write_global();
        let stdout = io::stdout();
        let size = terminal_size::terminal_size_of(&stdout);
        let console = Self {
            verbosity,
            width: size.map(|(terminal_size::Width(width), _)| usize::from(width)),
            has_bars: stdout.is_terminal() || color == ColorChoice::Always,
            is_terminal: stdout.is_terminal(),
            has_colours: AutoStream::choice(&stdout) != ColorChoice::Never,
        };
        reserve_output();
        console
    }

    /// Number of `-v` flags.
    pub fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// Width of the terminal on standard output, in columns; `None` if it is not a terminal.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// True if bars are drawn beside counts: on a terminal, or with `--color always`.
    pub fn has_bars(&self) -> bool {
        self.has_bars
    }

    /// True if standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes a text to standard output unchanged, even on a terminal.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::print`].
    pub fn print_as_it_is(&self, text: &str) -> Result<(), Failure> {
        self.print_data(|out| out.write_all(text.as_bytes()))
    }

    /// Writes data to standard output.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with exit code 3 if the output cannot be written. A reader that went away is not an error.
    pub fn print(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        match (Self::output()?, self.has_colours) {
            (output, true) => Self::print_to(output, write),
            (output, false) => Self::print_to(Stripped::new(output), write),
        }
    }

    /// Writes data for programs to standard output, unchanged.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::print`].
    pub fn print_data(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        Self::print_to(Self::output()?, write)
    }

    /// An error if standard output was closed when the process started, for output that does not go through a console.
    pub fn check_output() -> io::Result<()> {
        match is_output_closed() {
            true => Err(rustix::io::Errno::BADF.into()),
            false => Ok(()),
        }
    }

    /// Standard output for a command of Divvy that this process starts, and whose data are its own.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with exit code 3 if standard output cannot be written.
    pub fn of_child(&self) -> Result<Stdio, Failure> {
        Self::output().map(Stdio::from)
    }

    /// True if standard output shows colours.
    pub fn has_colours(&self) -> bool {
        self.has_colours
    }

    /// Standard output, or a [`Failure`] with exit code 3.
    fn output() -> Result<File, Failure> {
        let output = reserve_output().as_ref().map_err(Failure::output)?;
        output.try_clone().map_err(|error| Failure::output(&error))
    }

    fn print_to(out: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let written = write(&mut out).and_then(|()| out.flush());
        let Err(error) = written else { return Ok(()) };
        // Dropping the writer would try to write the rest of the buffer again.
        let _unwritten = out.into_parts();
        match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(Failure::output(&error)),
        }
    }

    /// The exit code of a command. A failure is printed, and has its own.
    pub fn finish(&self, done: Result<Exit, Failure>) -> ExitCode {
        let exit = done.unwrap_or_else(|failure| {
            self.report(&failure);
            failure.exit
        });
        exit.into()
    }

    /// Prints every error of a failure, then its conclusion, to standard error.
    pub fn report(&self, failure: &Failure) {
        self.message(|out| failure.write(out, self.verbosity));
    }

    /// Writes messages to standard error. Errors are ignored: there is no other stream to report them on.
    pub fn message(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut out = AutoStream::auto(io::stderr().lock());
        let _ignored = write(&mut out);
    }
}

/// Begins every sequence that sets a style.
const ESCAPE: u8 = 0x1b;
/// More bytes than a sequence has.
const SEQUENCE_MAX: usize = 64;

/// Removes styles. Blocks without any, such as nearly all of a large table, are passed on unchanged.
struct Stripped<W> {
    out: W,
    state: StripBytes,
    /// Bytes since a sequence began, which ends before there are [`SEQUENCE_MAX`].
    since: usize,
}

impl<W> Stripped<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            state: StripBytes::new(),
            since: SEQUENCE_MAX,
        }
    }
}

impl<W: Write> Write for Stripped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The standard library searches for a byte by whole words.
        if self.since >= SEQUENCE_MAX && !bytes.contains(&ESCAPE) {
            return self.out.write(bytes);
        }
        let last = bytes.iter().rposition(|byte| *byte == ESCAPE);
        for part in self.state.strip_next(bytes) {
            self.out.write_all(part)?;
        }
        self.since = match last {
            Some(last) => bytes.len() - last,
            None => self.since.saturating_add(bytes.len()),
        };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_removed_wherever_blocks_end() {
        let plain = "words, ".repeat(20);
        let text = format!("{plain}\u{1b}[1m\u{1b}[38;5;12mname\u{1b}[0m {plain}\u{1b}[2mé\u{1b}[0m\n{plain}");
        let expected = format!("{plain}name {plain}é\n{plain}");
        for length in 1..text.len() {
            let mut stripped = Stripped::new(Vec::new());
            for block in text.as_bytes().chunks(length) {
                stripped.write_all(block).expect("memory takes everything");
            }
            assert_eq!(
                String::from_utf8(stripped.out).as_deref(),
                Ok(expected.as_str()),
                "{length}"
            );
        }
    }
}
