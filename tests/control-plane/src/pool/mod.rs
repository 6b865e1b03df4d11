//! Control planes that several tests use, one after the other: starting one takes as much processor time as a short test.
//!
//! [`Pool::take`] empties a control plane that another test has returned, or starts one if there is none; so there are no more
//! than tests that run at once. One whose definitions of resources have changed is ended instead. Dropping [`Pooled`] returns it, unless
//! the test panics: then it is ended.
//!
//! No test can kill a server that another one gets: [`Pooled`] lends its [`ControlPlane`] for reading only, and what kills or
//! starts a process needs more. Tests of failing servers start their own, by [`ControlPlane::start`].

mod caches;
mod folder;
mod initial;

use std::collections::VecDeque;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::folder::Folder;
use self::initial::Initial;
use crate::{ControlPlane, Error};

/// Control planes that wait for their next test. They end with the process, however it ends.
#[derive(Debug, Default)]
pub struct Pool {
    /// The one that was returned first is the first one.
    free: Mutex<VecDeque<Member>>,
}

/// A control plane, and the state to which it is brought back.
#[derive(Debug)]
struct Member {
    control_plane: ControlPlane,
    initial: Initial,
    // Removed after the processes have ended, because fields are dropped in order.
    _folder: Folder,
}

/// A control plane of a pool, in use by one test.
#[derive(Debug)]
pub struct Pooled {
    pool: &'static Pool,
    /// Present until it is returned.
    member: Option<Member>,
}

impl Pool {
    /// The pool of all tests of this process.
    pub fn shared() -> &'static Self {
        static SHARED: Pool = Pool::new();
        &SHARED
    }

    /// An empty pool.
    pub const fn new() -> Self {
        Self {
            free: Mutex::new(VecDeque::new()),
        }
    }

    /// A control plane without anything of an earlier test, in its audit log, too. Its kubeconfigs are written to a folder, which is
    /// created if absent.
    ///
    /// Fails if something is left that cannot be removed. The control plane is ended then, and the next test gets another one.
    pub async fn take(&'static self, folder: &Path) -> Result<Pooled, Error> {
        let mut member = loop {
            // A statement of its own, so that the lock is not held while a control plane starts.
            let free = self.free().pop_front();
            let Some(mut member) = free else {
                break Member::start().await?;
            };
            if member.initial.restore(&member.control_plane).await? {
                break member;
            }
        };
        member.control_plane.hand_over(folder)?;
        Ok(Pooled {
            pool: self,
            member: Some(member),
        })
    }

    fn free(&self) -> MutexGuard<'_, VecDeque<Member>> {
        // A thread that panicked has left the list complete.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    async fn start() -> Result<Self, Error> {
        let folder = Folder::new()?;
        let control_plane = ControlPlane::start(folder.path()).await?;
        Ok(Self {
            initial: Initial::read(&control_plane).await?,
            control_plane,
            _folder: folder,
        })
    }
}

impl Deref for Pooled {
    type Target = ControlPlane;

    fn deref(&self) -> &ControlPlane {
        let member = self.member.as_ref().expect("it is returned only when it is dropped");
        &member.control_plane
    }
}

impl AsRef<ControlPlane> for Pooled {
    fn as_ref(&self) -> &ControlPlane {
        self
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        // What made a test fail may be the servers.
        let free = self.member.take().filter(|_| !std::thread::panicking());
        self.pool.free().extend(free);
    }
}
