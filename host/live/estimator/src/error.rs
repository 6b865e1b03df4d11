//! Errors of a call to one estimator. Each costs one cluster one estimate, and is reported with the cluster's name.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use crate::address::LookupError;
use crate::wording::causes;

/// A call that brought no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The estimator's address is not known.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A certificate or key cannot be read or used.
    #[error("cannot use the certificates for the estimator at `{address}`: {cause}")]
    Certificates {
        /// Address of the estimator.
        address: String,
        /// The TLS library's message.
        cause: String,
    },
    /// A file with a certificate or key cannot be read.
    #[error("cannot read `{}`: {cause}", path.display())]
    File {
        /// Path from the options.
        path: PathBuf,
        /// The operating system's message.
        cause: String,
    },
    /// No address accepts a connection.
    #[error("cannot connect to the estimator: {causes}")]
    Connect {
        /// Each address with its cause.
        causes: String,
    },
    /// The deadline passed.
    #[error("no answer from the estimator within {} ms", deadline.as_millis())]
    Deadline {
        /// Time that one call may take, connecting included.
        deadline: Duration,
    },
    /// The connection broke, or the estimator refused.
    #[error("the estimator failed with {code:?}: {message}")]
    Status {
        /// The gRPC status.
        code: tonic::Code,
        /// The estimator's message.
        message: String,
    },
    /// A count below -1, which has no meaning.
    #[error("the estimator answered {count}, expected a count or -1")]
    Count {
        /// The answer.
        count: i32,
    },
}

impl CallError {
    /// True if the error is about this request, so that other requests may succeed: the breaker does not count it.
    ///
    /// `Unimplemented` is the answer of an older estimator to a method that it does not have.
    pub(crate) fn concerns_request(&self) -> bool {
        use tonic::Code::{InvalidArgument, Unimplemented};
        matches!(
            self,
            Self::Status {
                code: Unimplemented | InvalidArgument,
                ..
            }
        )
    }
}

/// The estimator's message, or the failure of TLS that ended the connection.
fn message(status: &tonic::Status) -> String {
    match status.source() {
        Some(source) => causes(source),
        None => status.message().to_owned(),
    }
}

impl From<tonic::Status> for CallError {
    fn from(status: tonic::Status) -> Self {
        Self::Status {
            code: status.code(),
            message: message(&status),
        }
    }
}
