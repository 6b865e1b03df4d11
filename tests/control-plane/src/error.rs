//! Errors of the fixture. A test only prints them.

use std::path::PathBuf;

/// A failure of the fixture, as opposed to one of the scheduler under test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A process did not start.
    #[error("cannot start {name}")]
    Spawn {
        /// Name of the process.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A process ended before it was ready.
    #[error("{name} ended early; its log {} ends with:\n{tail}", log.display())]
    Ended {
        /// Name of the process.
        name: String,
        /// The file with its output.
        log: PathBuf,
        /// The end of that file.
        tail: String,
    },
    /// A process did not become ready in time.
    #[error("{name} was not ready after {seconds} s; see {}", log.display())]
    NotReady {
        /// Name of the process.
        name: String,
        /// Time that it got.
        seconds: u64,
        /// The file with its output.
        log: PathBuf,
    },
    /// A process ignored SIGTERM.
    #[error("{name} was still running {seconds} s after SIGTERM")]
    Termination {
        /// Name of the process.
        name: String,
        /// Time that it got.
        seconds: u64,
    },
    /// The program of etcd and kube-apiserver could not be built.
    #[error("tests/control-plane/build failed:\n{output}")]
    Build {
        /// The output of the script.
        output: String,
    },
    /// A file could not be read or written.
    #[error("cannot access {}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A folder that no control plane runs in.
    #[error("no control plane was started in {}", path.display())]
    NotStarted {
        /// The folder.
        path: PathBuf,
    },
    /// A file has unexpected content.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
    /// The API server refused a request, or was unreachable.
    #[error("{action} failed")]
    Request {
        /// The purpose of the request.
        action: String,
        /// The cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// An object did not become what a test expects.
    #[error("{object} is not {expectation} after {seconds} s; it is\n{last}")]
    Expectation {
        /// Kind, namespace and name.
        object: String,
        /// The expected state.
        expectation: String,
        /// Time that it got.
        seconds: u64,
        /// The object as it was last.
        last: String,
    },
    /// A control plane could not be emptied.
    #[error("{count} objects of an earlier test are still there, or are not as they were before it: {}", keys.join(", "))]
    Leftover {
        /// Number of these objects.
        count: usize,
        /// The keys of some of them in etcd.
        keys: Vec<String>,
    },
    /// The scheduler broke rules that hold whatever fails.
    #[error("{}", violations.join("\n"))]
    Broken {
        /// The breaches, as sentences.
        violations: Vec<String>,
    },
    /// A kubeconfig could not be used.
    #[error("the kubeconfig {} is unusable", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Wraps an error of a request with its purpose.
    pub fn request(action: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let action = action.into();
        move |source| Self::Request {
            action,
            source: Box::new(source),
        }
    }

    /// The HTTP status with which the API server refused a request; `None` for any other error.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Request { source, .. } => match &**source {
                kube::Error::Api(status) => Some(status.code),
                _ => None,
            },
            _ => None,
        }
    }

    /// Wraps an error of a file with its path.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
