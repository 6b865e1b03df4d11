//! The output streams: data goes to standard output, everything else to standard error.
//!
//! Renderers always write colour, and the streams remove it where it would not be shown. A reader that goes away
//! (`divvy … | head`) ends the output but is not an error.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};

use super::errors::Failure;

/// Standard output as it was when the process started; `None` if it could not be duplicated.
static OUTPUT: OnceLock<Option<File>> = OnceLock::new();

/// Reserves standard output for data: what a plugin prints goes to standard error from now on.
fn reserve_output() -> &'static Option<File> {
    OUTPUT.get_or_init(|| {
        let duplicate = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 0).ok()?;
        rustix::stdio::dup2_stdout(io::stderr()).ok()?;
        Some(File::from(duplicate))
    })
}

/// The two output streams and their properties.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    verbosity: u8,
    width: Option<usize>,
    has_bars: bool,
    is_terminal: bool,
}

impl Console {
    /// Detects the streams of this process, and reserves standard output for its data. `verbosity` is the number of
    /// `-v` flags.
    pub(crate) fn new(color: ColorChoice, verbosity: u8) -> Self {
        color.write_global();
        let stdout = io::stdout();
        let size = terminal_size::terminal_size_of(&stdout);
        let console = Self {
            verbosity,
            width: size.map(|(terminal_size::Width(width), _)| usize::from(width)),
            has_bars: stdout.is_terminal() || color == ColorChoice::Always,
            is_terminal: stdout.is_terminal(),
        };
        reserve_output();
        console
    }

    /// Number of `-v` flags.
    pub(crate) fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// Width of the terminal on standard output, in columns; `None` if it is not a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// True if bars are drawn beside counts: on a terminal, or with `--color always`.
    pub(crate) fn has_bars(&self) -> bool {
        self.has_bars
    }

    /// True if standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes a text to standard output unchanged, even on a terminal.
    ///
    /// # Errors
    ///
    /// As [`Self::print`].
    pub(crate) fn print_as_it_is(&self, text: &str) -> Result<(), Failure> {
        let write = |out: &mut dyn Write| out.write_all(text.as_bytes());
        match reserve_output().as_ref().and_then(|output| output.try_clone().ok()) {
            Some(output) => Self::print_to(output, write),
            None => Self::print_to(io::stdout().lock(), write),
        }
    }

    /// Writes data to standard output.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with exit code 3 if the output cannot be written. A reader that went away is not an error.
    pub(crate) fn print(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let output = reserve_output().as_ref().and_then(|output| output.try_clone().ok());
        match output {
            Some(output) => Self::print_to(AutoStream::auto(output), write),
            None => Self::print_to(AutoStream::auto(io::stdout().lock()), write),
        }
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

    /// Writes messages to standard error. Errors are ignored: there is no other stream to report them on.
    pub(crate) fn tell(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut out = AutoStream::auto(io::stderr().lock());
        let _ignored = write(&mut out);
    }
}
