//! Results of a case.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use super::Grounds;

type Attempt = Box<dyn Fn(&Grounds) -> io::Result<()> + Send + Sync>;

/// Something that a process tries.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) attempt: Attempt,
    pub(super) expected: Expected,
    /// True if a free process must have another result, unless it works in both.
    pub(super) compared: bool,
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

    /// Without the comparison with a free process.
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
            compared: true,
        }
    }
}

/// The result that a case should have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    Works,
    Refused(i32),
    Dies(i32),
}

impl Expected {
    pub(super) fn is(self, answer: &Answer) -> bool {
        match (self, answer) {
            (Self::Works, Answer::Worked) => true,
            (Self::Refused(expected), Answer::Refused(errno)) => expected == *errno,
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
        said: String,
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
    pub(super) fn print(&self) {
        match self {
            Self::Worked => println!("worked"),
            Self::Refused(errno) => println!("refused {errno}"),
            Self::Failed(text) => println!("failed {text}"),
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
                said: format!("{told}{}", String::from_utf8_lossy(&output.stderr)),
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
