//! Where a run writes: data on standard output, everything else on standard error.
//!
//! Colour is written always and taken out again by the streams where nobody would see it, so that no renderer has to
//! know. A reader that goes away (`divvy … | head`) ends the output, not the run.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use super::errors::Failure;

/// The two streams and what is known of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    verbosity: u8,
    width: Option<usize>,
    has_bars: bool,
}

impl Console {
    /// The streams of this process. `verbosity` is the number of `-v`.
    pub(crate) fn new(color: ColorChoice, verbosity: u8) -> Self {
        color.write_global();
        let stdout = io::stdout();
        let size = terminal_size::terminal_size_of(&stdout);
        Self {
            verbosity,
            width: size.map(|(terminal_size::Width(width), _)| usize::from(width)),
            has_bars: stdout.is_terminal() || color == ColorChoice::Always,
        }
    }

    /// How talkative the run is: the number of `-v`.
    pub(crate) fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// The columns of the terminal that shows standard output; `None` if none does.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Whether bars are drawn beside counts: for eyes, not for pipes.
    pub(crate) fn has_bars(&self) -> bool {
        self.has_bars
    }

    /// Writes data to standard output.
    ///
    /// # Errors
    ///
    /// A [`Failure`] if the output cannot be written, other than because its reader went away.
    pub(crate) fn print(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(1 << 16, AutoStream::auto(io::stdout().lock()));
        let written = write(&mut out).and_then(|()| out.flush());
        let Err(error) = written else { return Ok(()) };
        // What is still in the buffer would be written once more when it is dropped.
        let _unwritten = out.into_parts();
        match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(Failure::output(&error)),
        }
    }

    /// Writes messages to standard error. If that fails there is nobody left to tell.
    pub(crate) fn tell(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut out = AutoStream::auto(io::stderr().lock());
        let _ignored = write(&mut out);
    }
}
