//! A reverse proxy in front of the API server that injects faults.
//!
//! It serves plain HTTP on the loopback interface and passes on everything else unchanged, including tokens and watches. Every
//! request meets the faults in their order; the first that hits it decides. Quotas and webhooks are faults, too: the proxy
//! answers as the API server does when Karmada's webhook refuses.

mod fault;
mod forward;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

pub use fault::{Effect, Fault, Frequency, Incoming};

use crate::users::{self, User};
use crate::{ControlPlane, Error};

/// A proxy. It stops when it is dropped, which breaks all connections.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    faults: Arc<Mutex<Faults>>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Faults {
    faults: Vec<(Fault, usize)>,
    random: Xoshiro256PlusPlus,
}

impl Faults {
    /// The effect on a request, if a fault hits it.
    fn hit(&mut self, incoming: &Incoming) -> Option<Effect> {
        for (fault, hits) in &mut self.faults {
            if !(fault.chooses)(incoming) {
                continue;
            }
            let is_hit = match fault.frequency {
                Frequency::Always => true,
                Frequency::Next(count) => *hits < count,
                Frequency::OneIn(count) => self.random.next_u64().is_multiple_of(count.max(1)),
            };
            if is_hit {
                *hits += 1;
                return Some(fault.effect.clone());
            }
        }
        None
    }
}

impl FaultProxy {
    /// Starts a proxy without faults in front of a control plane. `seed` decides which requests random faults hit.
    pub async fn start(control_plane: &ControlPlane, seed: u64) -> Result<Self, Error> {
        let address = "127.0.0.1:0";
        let listener = TcpListener::bind(address).await.map_err(Error::file(address))?;
        let address = listener.local_addr().map_err(Error::file(address))?;
        let upstream = users::anonymous_client(&control_plane.kubeconfig(users::ADMIN)).await?;
        let faults = Arc::new(Mutex::new(Faults {
            faults: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }));
        Ok(Self {
            address,
            server: tokio::spawn(serve(listener, upstream, Arc::clone(&faults))),
            faults,
        })
    }

    /// The address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes a user's kubeconfig that leads to the proxy, into a folder, and returns its path.
    pub fn kubeconfig(&self, user: User, folder: &Path) -> Result<PathBuf, Error> {
        let path = folder.join(format!("kubeconfig-{}-proxy-{}", user.name, self.address.port()));
        users::write_kubeconfig(&path, user, &self.url(), None)?;
        Ok(path)
    }

    /// Adds a fault. It acts on requests that arrive from now on.
    pub fn add(&self, fault: Fault) {
        self.locked(|faults| faults.faults.push((fault, 0)));
    }

    /// Removes all faults.
    pub fn clear(&self) {
        self.locked(|faults| faults.faults.clear());
    }

    /// The number of requests that each fault has hit, in the order in which they were added.
    pub fn hits(&self) -> Vec<usize> {
        self.locked(|faults| faults.faults.iter().map(|(_, hits)| *hits).collect())
    }

    fn locked<T>(&self, act: impl FnOnce(&mut Faults) -> T) -> T {
        act(&mut self.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Serves connections until the task is aborted, which ends them.
async fn serve(listener: TcpListener, upstream: Client, faults: Arc<Mutex<Faults>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let upstream = upstream.clone();
        let faults = Arc::clone(&faults);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let incoming = forward::incoming(&request);
                let effect = faults.lock().unwrap_or_else(PoisonError::into_inner).hit(&incoming);
                forward::answer(upstream.clone(), request, effect)
            });
            // A connection that breaks is what some faults are for.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        // Connections that have ended are forgotten.
        while connections.try_join_next().is_some() {}
    }
}
