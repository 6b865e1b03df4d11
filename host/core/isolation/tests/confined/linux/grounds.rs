//! Files and a socket on which a case is tried.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use divvy_isolation::sandbox::{self, Limits};

use super::answer::Answer;
use super::{CASE, FREE};

/// Names the folder of the grounds for the process that is started.
const FOLDER: &str = "DIVVY_SANDBOX_FOLDER";

/// Number of the descriptor under which the started process has its socket: allowed inside, and not used by anything else.
const SOCKET: i32 = 50;
/// Numbers that are not allowed inside.
const HIGH: i32 = 100;

/// Memory that a case may use.
pub(super) const MEMORY_BYTES: u64 = 256 << 20;

pub(super) struct Grounds {
    folder: PathBuf,
    /// Dropped, and with it the folder, when the test ends.
    _kept: Option<tempfile::TempDir>,
}

impl Grounds {
    /// Makes the files, for a test.
    pub(super) fn new() -> Self {
        let kept = tempfile::tempdir().expect("a folder can be made");
        let grounds = Self {
            folder: kept.path().to_owned(),
            _kept: Some(kept),
        };
        fs::create_dir(grounds.granted()).expect("a folder can be made");
        fs::write(grounds.granted().join("file"), "granted").expect("a file can be written");
        fs::write(grounds.single(), "single").expect("a file can be written");
        std::os::unix::fs::symlink(grounds.single(), grounds.alias()).expect("a link can be made");
        fs::write(grounds.sent(), "sent").expect("a file can be written");
        fs::write(grounds.secret(), "secret").expect("a file can be written");
        std::os::unix::fs::symlink(grounds.secret(), grounds.granted().join("link")).expect("a link can be made");
        grounds
    }

    /// Those of the test that started this process.
    pub(super) fn inside() -> Self {
        Self {
            folder: std::env::var_os(FOLDER).expect("the test names its folder").into(),
            _kept: None,
        }
    }

    /// A folder that the process may read.
    pub(super) fn granted(&self) -> PathBuf {
        self.folder.join("granted")
    }

    /// A link to a file of its own, which the process may read.
    pub(super) fn alias(&self) -> PathBuf {
        self.folder.join("alias")
    }

    /// The file to which that link points.
    pub(super) fn single(&self) -> PathBuf {
        self.folder.join("single")
    }

    /// A file that it may not read.
    pub(super) fn secret(&self) -> PathBuf {
        self.folder.join("secret")
    }

    /// A file whose content is sent over the socket, as a file in memory.
    pub(super) fn sent(&self) -> PathBuf {
        self.folder.join("sent")
    }

    fn file_in_memory(&self) -> File {
        let memory =
            rustix::fs::memfd_create("sent", rustix::fs::MemfdFlags::CLOEXEC).expect("a file in memory can be made");
        let mut file = File::from(memory);
        let content = fs::read(self.sent()).expect("the file can be read");
        file.write_all(&content).expect("a file can be written");
        file
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            memory_bytes: MEMORY_BYTES,
            read: vec![self.granted(), self.alias()],
            ..Limits::default()
        }
    }

    /// The socket that the process inherited. The other end sends a descriptor of a file and reads what is sent.
    pub(super) fn socket(&self) -> UnixStream {
        // SAFETY: the test has put a socket there, and each process takes it at most once.
        unsafe { OwnedFd::from_raw_fd(SOCKET) }.into()
    }

    /// The command that tries a case.
    pub(super) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command
            .env_clear()
            .envs(sandbox::environment())
            .env(CASE, name)
            .env(FOLDER, &self.folder)
            .env("RUST_BACKTRACE", "1")
            .current_dir("/")
            .stdin(Stdio::null());
        command
    }

    /// Tries a case in a process of its own.
    pub(super) fn run(&self, name: &str, confined: bool) -> Answer {
        let (child, _socket) = self.start(name, confined);
        Answer::read(&child.wait_with_output().expect("the process can be waited for"))
    }

    /// Starts a process that tries a case, with the other end of its socket.
    pub(super) fn start(&self, name: &str, confined: bool) -> (Child, UnixStream) {
        let (here, there) = UnixStream::pair().expect("a pair of sockets can be made");
        super::libraries::send_descriptor(&here, &self.file_in_memory());
        let mut command = self.command(name);
        if !confined {
            command.env(FREE, "1");
        }
        let high = rustix::io::fcntl_dupfd_cloexec(&there, HIGH).expect("a descriptor can be duplicated");
        let there = high.as_raw_fd();
        let place = move || match duplicate(there) {
            true => Ok(()),
            false => Err(std::io::Error::last_os_error()),
        };
        // SAFETY: between fork and exec, only `dup2` is called, which is async-signal-safe.
        unsafe { command.pre_exec(place) };
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        (child.expect("this program can be started"), here)
    }
}

/// Puts a descriptor where the process expects its socket.
fn duplicate(descriptor: i32) -> bool {
    // SAFETY: nothing else has that number in a process that is about to start this program again.
    unsafe { libc::dup2(descriptor, SOCKET) == SOCKET }
}
