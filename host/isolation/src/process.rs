//! A worker's process as its host sees it: started, asked, watched, ended.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use divvy_attribution::ThreadUsage;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::control::{self, Memory, Start, Started};
use crate::error::{Ending, IsolationError, Operation};
use crate::exchange::{Exchange, TooSmall, wait};
use crate::header::state;
use crate::region::{LARGEST, Region};
use crate::supervisor::{LibraryRequest, WorkerProgram};

/// Size of an exchange at first. Only pages that are written take memory.
const FIRST_BYTES: usize = 4 << 20;
/// Looks at a worker within its deadline. Looks are counted rather than time, so that a machine that was paused has seen nothing
/// hang.
const LOOKS: u32 = 20;
/// Answers between two looks at how much memory a worker uses.
const ANSWERS_BETWEEN_LOOKS: u32 = 64;
/// Memory that a worker may use beyond its plugins', for itself.
const OWN_MEMORY: u64 = 64 << 20;
/// Deadlines for which a worker is let be if it was ready to run all the time and got no processor.
const PATIENCE: u32 = 10;

/// Puts into an exchange what a worker needs. It is told whether the worker has done it before.
type Fill<'a, T> = dyn FnMut(&Exchange, bool) -> Result<T, TooSmall> + 'a;
/// Takes an answer from an exchange, with its events; otherwise what is wrong with it.
type Take<'a, T> = dyn FnMut(&Exchange, T, &[u8]) -> Result<(), &'static str> + 'a;

/// A worker that runs, or has run.
#[derive(Debug)]
pub(crate) struct Process {
    /// Number of the process among those of its worker.
    pub(crate) generation: u64,
    socket: OwnedFd,
    handle: OwnedFd,
    id: u32,
    end: Arc<End>,
    /// Chunks of snapshots that the worker was told about. Held while more are sent, so that each is sent once.
    chunks: Mutex<usize>,
    /// The same number, to be read without waiting.
    known_chunks: AtomicUsize,
    /// Exchanges that no thread uses.
    idle: Mutex<Vec<Arc<Exchange>>>,
    /// Libraries that the worker has opened, by what was asked for, with the number that it gave each.
    pub(crate) libraries: Mutex<BTreeMap<LibraryRequest, u64>>,
    /// Facilities that this system lacks.
    pub(crate) missing: Vec<String>,
    /// Bytes of memory that its plugins may use.
    memory: u64,
    answers: AtomicU32,
}

/// Whether and how a process has ended, and who has to know.
#[derive(Debug, Default)]
struct End {
    ending: Mutex<Option<Ending>>,
    ended: Condvar,
    exchanges: Mutex<Vec<Arc<Exchange>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl End {
    fn ending(&self) -> Option<Ending> {
        *locked(&self.ending)
    }

    fn set(&self, ending: Ending) {
        *locked(&self.ending) = Some(ending);
        self.ended.notify_all();
        // Those who ask after this find the ending.
        for exchange in locked(&self.exchanges).iter() {
            exchange.end();
        }
    }

    /// Waits for the end, which was brought about.
    fn wait(&self) -> Ending {
        let ending = locked(&self.ending);
        let waited = self.ended.wait_while(ending, |ending| ending.is_none());
        waited
            .unwrap_or_else(PoisonError::into_inner)
            .unwrap_or(Ending::Unknown)
    }
}

fn ending_of(status: std::io::Result<ExitStatus>) -> Ending {
    let Ok(status) = status else { return Ending::Unknown };
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, Some(signal)) => Ending::Signal(signal),
        (None, None) => Ending::Unknown,
    }
}

impl Process {
    /// Starts the program, and has it confined.
    pub(crate) fn start(
        program: &WorkerProgram,
        start: &Start,
        generation: u64,
        deadline: Duration,
    ) -> Result<Arc<Self>, IsolationError> {
        let failed = |error: std::io::Error| IsolationError::NotStarted {
            program: program.path.clone(),
            reason: error.to_string(),
        };
        let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| failed(error.into()))?;
        rustix::net::sockopt::set_socket_timeout(&socket, rustix::net::sockopt::Timeout::Recv, Some(deadline))
            .map_err(|error| failed(error.into()))?;
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env_clear()
            .envs(divvy_sandbox::environment())
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(std::io::stderr()));
        let end = Arc::new(End::default());
        let (started, result) = mpsc::channel();
        let watched = Arc::clone(&end);
        let watcher = std::thread::Builder::new().name("plugin-worker".to_owned());
        watcher
            .spawn(move || watch(command, &started, &watched))
            .map_err(failed)?;
        let (id, handle) = match result.recv() {
            Ok(result) => result.map_err(failed)?,
            Err(_) => return Err(failed(std::io::ErrorKind::BrokenPipe.into())),
        };
        let mut process = Self {
            generation,
            socket,
            handle,
            id,
            end,
            chunks: Mutex::new(0),
            known_chunks: AtomicUsize::new(0),
            idle: Mutex::default(),
            libraries: Mutex::default(),
            missing: Vec::new(),
            memory: start.memory,
            answers: AtomicU32::new(0),
        };
        process.missing = process.confine(start, deadline)?;
        Ok(Arc::new(process))
    }

    /// Has the worker confine itself, and returns the facilities that are missing but not required.
    fn confine(&self, start: &Start, deadline: Duration) -> Result<Vec<String>, IsolationError> {
        let operation = Operation::Start;
        let sent = control::send(&self.socket, start, None);
        let answer = sent.and_then(|()| control::receive::<Started>(&self.socket));
        match answer {
            Ok(Some((Started::Confined { missing }, _))) => Ok(missing),
            Ok(Some((Started::Refused { reason }, _))) => Err(IsolationError::NotConfined { reason }),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                self.kill();
                Err(IsolationError::Late { deadline, operation })
            }
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                Err(self.break_off("it sent no answer", operation))
            }
            Ok(None) | Err(_) => Err(IsolationError::Died {
                ending: self.kill(),
                operation,
            }),
        }
    }

    /// True if the process has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.end.ending().is_some()
    }

    /// Ends the process, and returns how it has ended.
    pub(crate) fn kill(&self) -> Ending {
        // It fails only if the process has ended.
        let _ended = pidfd_send_signal(&self.handle, Signal::KILL);
        self.end.wait()
    }

    /// Ends a process that broke the protocol.
    pub(crate) fn break_off(&self, reason: &'static str, operation: Operation) -> IsolationError {
        self.kill();
        IsolationError::Protocol { reason, operation }
    }

    /// Tells the worker of chunks that it does not know, and returns how many it knows then.
    pub(crate) fn share_chunks(&self) -> std::io::Result<usize> {
        let count = divvy_framework_memory::chunk_count();
        if self.known_chunks.load(Ordering::Acquire) >= count {
            return Ok(count);
        }
        let mut known = locked(&self.chunks);
        for chunk in divvy_framework_memory::chunks(*known)? {
            let message = Memory::Chunk {
                address: chunk.read_address(),
                bytes: chunk.bytes(),
            };
            control::send(&self.socket, &message, Some(chunk.file()))?;
            *known += 1;
        }
        self.known_chunks.store(*known, Ordering::Release);
        Ok(*known)
    }

    /// An exchange of at least `bytes` bytes that no other thread uses.
    fn exchange(&self, bytes: usize) -> Result<Arc<Exchange>, IsolationError> {
        {
            let mut idle = locked(&self.idle);
            // One that is too small stays for smaller calls.
            let found = idle.iter().position(|exchange| exchange.region().bytes() >= bytes);
            if let Some(found) = found {
                return Ok(idle.swap_remove(found));
            }
        }
        let failed = |error: std::io::Error| IsolationError::Unavailable {
            reason: format!("memory to share with a worker cannot be made: {error}"),
        };
        let region = Region::new(bytes.max(FIRST_BYTES)).map_err(failed)?;
        let message = Memory::Exchange {
            address: region.address(),
            bytes: region.bytes(),
        };
        // If the worker has ended, whoever asks it finds out.
        let _sent = control::send(&self.socket, &message, Some(region.file()));
        let exchange = Arc::new(Exchange::new(region));
        locked(&self.end.exchanges).push(Arc::clone(&exchange));
        Ok(exchange)
    }

    /// Has the worker do something: `fill` puts into an exchange what it needs, and `take` takes the answer from it. Both are
    /// called again with a larger exchange if there was no room for the one or for the answer's events. `fill` is told whether the
    /// worker has done it before.
    pub(crate) fn ask<T>(
        &self,
        operation: Operation,
        deadline: Duration,
        fill: &mut Fill<'_, T>,
        take: &mut Take<'_, T>,
    ) -> Result<(), IsolationError> {
        let (mut bytes, mut is_repeated) = (FIRST_BYTES, false);
        loop {
            let exchange = self.exchange(bytes)?;
            let filled = match fill(&exchange, is_repeated) {
                Ok(filled) => filled,
                Err(TooSmall) if bytes >= LARGEST => return Err(IsolationError::TooLarge { bytes }),
                Err(TooSmall) => {
                    locked(&self.idle).push(exchange);
                    bytes *= 2;
                    continue;
                }
            };
            exchange.ask();
            self.wait(&exchange, operation, deadline)?;
            if exchange.lost_events() && bytes < LARGEST {
                // The plugin is asked once more, since its answer is incomplete.
                locked(&self.idle).push(exchange);
                (bytes, is_repeated) = (bytes * 2, true);
                continue;
            }
            let events = exchange.events();
            let events = events.ok_or_else(|| self.break_off("more events than there is room for", operation))?;
            take(&exchange, filled, &events).map_err(|reason| self.break_off(reason, operation))?;
            locked(&self.idle).push(exchange);
            return Ok(());
        }
    }

    /// Ends the process if it uses more memory than it may. The kernel's limit does not count what was written and then made
    /// read-only.
    fn check_memory(&self, operation: Operation) -> Result<(), IsolationError> {
        // A process that has ended is noticed elsewhere.
        let Ok(bytes) = divvy_sandbox::memory_used(self.id) else {
            return Ok(());
        };
        if bytes <= self.memory.saturating_add(OWN_MEMORY) {
            return Ok(());
        }
        self.kill();
        Err(IsolationError::Memory {
            bytes,
            limit: self.memory,
            operation,
        })
    }

    /// Waits for the answer.
    fn wait(&self, exchange: &Exchange, operation: Operation, deadline: Duration) -> Result<(), IsolationError> {
        let turn = &exchange.header().state;
        let (mut looks, mut starved) = (0, 0);
        let mut used = None;
        loop {
            if let Some(ending) = self.end.ending() {
                return Err(IsolationError::Died { ending, operation });
            }
            match turn.load(Ordering::Acquire) {
                state::ANSWERED => {
                    let answers = self.answers.fetch_add(1, Ordering::Relaxed);
                    return match answers % ANSWERS_BETWEEN_LOOKS {
                        0 => self.check_memory(operation),
                        _ => Ok(()),
                    };
                }
                state::ASKED => {}
                // The process has ended, or the worker made this up.
                _ => {
                    let ending = self.end.ending();
                    return Err(match ending {
                        Some(ending) => IsolationError::Died { ending, operation },
                        None => self.break_off("the state of the exchange is unknown", operation),
                    });
                }
            }
            if wait(turn, state::ASKED, Some(deadline / LOOKS)) {
                continue;
            }
            self.check_memory(operation)?;
            looks += 1;
            if looks < LOOKS {
                continue;
            }
            let now = Usage::of(self.id);
            let has_starved = Usage::has_starved(used.replace(now), now, deadline);
            if has_starved && starved < PATIENCE {
                (looks, starved) = (0, starved + 1);
                continue;
            }
            return match self.kill() {
                // It ended by itself in the last moment.
                ending @ (Ending::Code(_) | Ending::Signal(4..=8 | 11)) => {
                    Err(IsolationError::Died { ending, operation })
                }
                _ => Err(IsolationError::Late { deadline, operation }),
            };
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = pidfd_send_signal(&self.handle, Signal::KILL);
    }
}

/// Starts a process and waits for its end. The thread that starts a process must live as long as it, since the kernel ends a
/// worker with the thread that started it.
fn watch(mut command: Command, started: &Sender<std::io::Result<(u32, OwnedFd)>>, end: &End) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            end.set(Ending::Unknown);
            let _received = started.send(Err(error));
            return;
        }
    };
    // The other end of the socket is the child's alone from here on.
    drop(command);
    let opened = Pid::from_raw(child.id().cast_signed())
        .ok_or(rustix::io::Errno::SRCH)
        .and_then(|id| pidfd_open(id, PidfdFlags::empty()));
    let is_watched = opened.is_ok();
    let _received = started.send(opened.map(|handle| (child.id(), handle)).map_err(Into::into));
    if !is_watched {
        let _killed = child.kill();
    }
    end.set(ending_of(child.wait()));
}

/// What a process has used, and whether it could use more.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// Processor time, in hundredths of a second.
    ticks: u64,
    /// True if a thread is ready to run.
    is_ready: bool,
}

impl Usage {
    /// Usage of a process; nothing if it has ended.
    fn of(id: u32) -> Self {
        let mut usage = Self {
            ticks: 0,
            is_ready: false,
        };
        let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else {
            return usage;
        };
        for thread in threads.flatten() {
            let Ok(text) = std::fs::read_to_string(thread.path().join("stat")) else {
                continue;
            };
            if let Some(thread) = ThreadUsage::read(&text) {
                // A thread that waits for the disk is about to be ready.
                usage.is_ready |= matches!(thread.state, 'R' | 'D');
                usage.ticks += thread.ticks;
            }
        }
        usage
    }

    /// True if the process was ready to run, and got the processor for less than half of the time between two looks.
    fn has_starved(before: Option<Self>, now: Self, between: Duration) -> bool {
        // The first look only says what was used since the process started, which is at least what it used since it was asked.
        let used = now.ticks - before.map_or(0, |before| before.ticks.min(now.ticks));
        now.is_ready && u128::from(used) * 10 < between.as_millis() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_ready_but_gets_no_processor_has_starved() {
        let usage = |ticks, is_ready| Usage { ticks, is_ready };
        let second = Duration::from_secs(1);
        assert!(Usage::has_starved(Some(usage(500, true)), usage(510, true), second));
        assert!(!Usage::has_starved(Some(usage(500, true)), usage(590, true), second));
        // It waits for something that does not come.
        assert!(!Usage::has_starved(Some(usage(500, false)), usage(500, false), second));
        assert!(!Usage::has_starved(None, usage(99, true), second));
    }

    #[test]
    fn the_usage_of_this_process_is_found() {
        let own = Usage::of(std::process::id());
        assert!(own.is_ready);
    }
}
