//! Listening, and an orderly end.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Confirmations, Insight, answers};

/// Time for requests under way after the server was asked to end. A client that reads slowly must not delay the exit.
const GRACE: Duration = Duration::from_secs(1);

/// A server that cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, not ours, or privileged.
    #[error("cannot listen on {address} for probes and metrics")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// Connections can no longer be accepted.
    #[error("the server for probes and metrics failed")]
    Serve(#[source] io::Error),
}

/// A server that listens.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on an address. Port 0 means any free port. From now on, connections wait to be served. `[::]` means every address of
    /// IPv6 and IPv4, or of IPv4 alone if there is no IPv6.
    ///
    /// # Errors
    ///
    /// A [`ServeError::Listen`].
    pub(crate) async fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let failure = |source| ServeError::Listen { address, source };
        let listener = match TcpListener::bind(address).await {
            Err(_) if address.ip() == IpAddr::from(Ipv6Addr::UNSPECIFIED) => {
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await
            }
            bound => bound,
        };
        let listener = listener.map_err(failure)?;
        let address = listener.local_addr().map_err(failure)?;
        Ok(Self { listener, address })
    }

    /// The address that it listens on.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled. Confirmations go to `confirmations`, which must answer each. Requests under way are then
    /// answered for at most one more second.
    ///
    /// # Errors
    ///
    /// A [`ServeError::Serve`]. Kubernetes restarts a process whose probes go unanswered, so the caller should end.
    pub(crate) async fn run(
        self,
        insight: Arc<dyn Insight>,
        confirmations: Confirmations,
        stop: CancellationToken,
    ) -> Result<(), ServeError> {
        let ending = stop.clone();
        let router = answers::router(insight, confirmations).into_make_service_with_connect_info::<SocketAddr>();
        let serving =
            axum::serve(self.listener, router).with_graceful_shutdown(async move { ending.cancelled().await });
        let grace = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            ended = async { serving.await } => ended.map_err(ServeError::Serve),
            () = grace => Ok(()),
        }
    }
}
