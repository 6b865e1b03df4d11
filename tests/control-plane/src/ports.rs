//! Ports of the loopback interface for servers that are told where to listen.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

use crate::Error;

/// Ports that only servers use. Those that Linux gives to connections, from 32768 on (`ip_local_port_range`), may be taken at any time between
/// the choice of a port and the start of its server, and while the server is down.
const RANGE: Range<u16> = 20_000..32_000;

/// The ports of a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// kube-apiserver.
    pub api_server: u16,
    /// etcd, for clients.
    pub etcd: u16,
    /// etcd, for its peers, of which there are none.
    pub etcd_peer: u16,
}

impl Ports {
    /// Three ports that nothing listens on.
    pub fn free() -> Result<Self, Error> {
        Ok(Self {
            api_server: free()?,
            etcd: free()?,
            etcd_peer: free()?,
        })
    }
}

/// A port that nothing listens on, and that this process has not chosen before, unless it has chosen all of them.
pub fn free() -> Result<u16, Error> {
    static CHOSEN: AtomicU32 = AtomicU32::new(0);
    let length = u32::from(RANGE.end - RANGE.start);
    // Processes that run at once begin far from each other.
    let first = std::process::id().wrapping_mul(2_654_435_761) % length;
    let mut refused = None;
    for _ in 0..length {
        let position = (first + CHOSEN.fetch_add(1, Ordering::Relaxed) % length) % length;
        // Below the length of a range of ports.
        let port = RANGE.start + u16::try_from(position).unwrap_or_default();
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(_) => return Ok(port),
            Err(error) => refused = Some(error),
        }
    }
    let cause = refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into());
    Err(Error::file("127.0.0.1")(cause))
}
