//! The other side: the process that opens libraries and answers for their plugins.
//!
//! The first message on standard input, a socket, says how the process must confine itself. None of the plugin's code runs
//! before that. Each further one hands over memory. Every exchange has a thread, which waits for its turn.

mod memory;
mod quota;
mod serve;
mod services;

use std::os::fd::AsFd;

use divvy_loader::PluginFile;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::control::{self, Memory, MissingFacility, Start, Started};
use crate::header::Layout;
use crate::sandbox::{self, Limits};

/// Reason why a worker ended before its host wanted it to.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Standard input is not the socket of a host.
    #[error("this command is run by divvy itself, to have a plugin in a process of its own")]
    NotStartedByHost,
    /// The host's messages cannot be read.
    #[error("the host's messages cannot be read: {0}")]
    Control(#[from] std::io::Error),
}

/// Serves the host whose socket is standard input, until it closes it.
///
/// # Errors
///
/// A [`WorkerError`] if there is no host, or if its messages cannot be read.
pub fn run() -> Result<(), WorkerError> {
    let stdin = std::io::stdin();
    let socket = stdin.as_fd();
    if rustix::net::sockopt::socket_type(socket) != Ok(rustix::net::SocketType::SEQPACKET) {
        return Err(WorkerError::NotStartedByHost);
    }
    // SAFETY: nothing in this process has opened a descriptor yet: the command has only read its arguments.
    unsafe { sandbox::close_inherited(&[0, 1, 2]) }.map_err(std::io::Error::other)?;
    // The host may be killed; its workers must not outlive it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(std::io::Error::from)?;
    let Some((start, _)) = control::receive::<Start>(socket)? else {
        return Ok(());
    };
    let confined = confine(&start);
    let is_confined = matches!(confined, Started::Confined { .. });
    control::send(socket, &control::written(&confined)?, None)?;
    if !is_confined {
        return Ok(());
    }
    while let Some((message, file)) = control::receive::<Memory>(socket)? {
        let Some(file) = file else {
            return Err(WorkerError::Control(std::io::ErrorKind::InvalidData.into()));
        };
        match message {
            Memory::Chunk { address, bytes } => memory::map_chunk(&file, address, bytes)?,
            Memory::Exchange { address, bytes } => {
                memory::map_exchange(&file, address, bytes)?;
                let layout = Layout::new(address, bytes);
                std::thread::Builder::new()
                    .name("plugin".to_owned())
                    // As large as the main thread's, on which a plugin in the host's process may run.
                    .stack_size(8 << 20)
                    .spawn(move || serve::serve(layout))?;
            }
        }
    }
    Ok(())
}

/// Gives up everything that a plugin does not need.
fn confine(start: &Start) -> Started {
    // Files in memory cannot be made later.
    for library in start.libraries.iter().filter(|library| library.is_copied) {
        if let Err(error) = PluginFile::read(&library.path).and_then(|file| file.keep_copy()) {
            return Started::Refused {
                reason: error.to_string(),
                hint: error.hint(),
            };
        }
    }
    let libraries = start.libraries.iter().map(|library| library.path.clone());
    let read = libraries.chain(start.read.iter().cloned()).collect();
    let limits = Limits {
        memory_bytes: start.memory,
        read,
        ..Limits::default()
    };
    match sandbox::confine(&limits) {
        Ok(confinement) => Started::Confined {
            missing: confinement.missing().iter().map(MissingFacility::from).collect(),
        },
        Err(error) => Started::Refused {
            reason: error.to_string(),
            hint: error.hint().map(ToOwned::to_owned),
        },
    }
}
