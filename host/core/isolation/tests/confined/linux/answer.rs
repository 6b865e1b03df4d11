//! Results of a case.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use super::Grounds;

type Attempt = Box<dyn Fn(&Grounds) -> io::Result<()> + Send + Sync>;

/// Something that a process tries.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) attempt: Attempt,
    pub(super) expected: Expected,
    /// True if a process that is not confined must have another result.
    pub(super) compared: bool,
    /// Puts further files on the grounds.
    pub(super) prepare: fn(&Grounds),
}

impl Case {
    pub(super) fn works(name: &str, attempt: impl Fn(&Grounds) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self::new(name, attempt, Expected::Works)
    }

    pub(super) fn refused(
        name: &str,
        errno: i32,
        attempt: impl Fn(&Grounds) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, attempt, Expected::Refused(errno))
    }

    pub(super) fn dies(
        name: &str,
        signal: i32,
        attempt: impl Fn(&Grounds) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, attempt, Expected::Dies(signal))
    }

    /// An error without a number, with this text.
    pub(super) fn fails(
        name: &str,
        text: &'static str,
        attempt: impl Fn(&Grounds) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, attempt, Expected::Fails(text))
    }

    /// With further files on the grounds.
    pub(super) fn with(self, prepare: fn(&Grounds)) -> Self {
        Self { prepare, ..self }
    }

    /// Without the comparison with a process that is not confined.
    pub(super) fn alone(self) -> Self {
        Self {
            compared: false,
            ..self
        }
    }

    fn new(
        name: &str,
        attempt: impl Fn(&Grounds) -> io::Result<()> + Send + Sync + 'static,
        expected: Expected,
    ) -> Self {
        Self {
            name: name.to_owned(),
            attempt: Box::new(attempt),
            expected,
            compared: !matches!(expected, Expected::Works),
            prepare: |_| {},
        }
    }
}

/// The result that a case should have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    Works,
    Refused(i32),
    Fails(&'static str),
    Dies(i32),
}

impl Expected {
    pub(super) fn is(self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Works, Answer::Worked) => true,
            (Self::Refused(expected), Answer::Refused(errno)) => expected == *errno,
            (Self::Fails(expected), Answer::Failed(text)) => text.contains(expected),
            (Self::Dies(expected), Answer::Died { signal, .. }) => *signal == Some(expected),
            _ => false,
        }
    }
}

/// The result that a case had.
#[derive(Debug)]
pub(super) enum Answer {
    Worked,
    Refused(i32),
    /// An error without a number.
    Failed(String),
    Died {
        signal: Option<i32>,
        #[expect(dead_code, reason = "shown when a test fails")]
        how: String,
    },
}

impl From<io::Result<()>> for Answer {
    fn from(result: io::Result<()>) -> Self {
        match result {
            Ok(()) => Self::Worked,
            Err(error) => error
                .raw_os_error()
                .map_or_else(|| Self::Failed(error.to_string()), Self::Refused),
        }
    }
}

impl Answer {
    /// Tells the test.
    pub(super) fn tell(&self) -> io::Result<()> {
        let mut output = io::stdout();
        match self {
            Self::Worked => writeln!(output, "worked"),
            Self::Refused(errno) => writeln!(output, "refused {errno}"),
            Self::Failed(text) => writeln!(output, "failed {text}"),
            Self::Died { .. } => unreachable!("a dead process tells nothing"),
        }
    }

    /// Reads what the process told.
    pub(super) fn read(output: &Output) -> Self {
        let told = String::from_utf8_lossy(&output.stdout);
        let told = told.trim_end();
        let refused = told.strip_prefix("refused ").and_then(|errno| errno.parse().ok());
        match (told, refused) {
            ("worked", _) if output.status.success() => Self::Worked,
            (_, Some(errno)) if output.status.success() => Self::Refused(errno),
            _ if output.status.success() => Self::Failed(told.to_owned()),
            _ => Self::Died {
                signal: output.status.signal(),
                how: format!("{}: {told}{}", output.status, String::from_utf8_lossy(&output.stderr)),
            },
        }
    }
}

/// The result of a system call.
pub(super) fn checked(result: libc::c_long) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
