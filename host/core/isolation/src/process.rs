//! A worker's process as its host sees it: started, asked, watched, ended.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::control::{self, Memory, MissingFacility, Start, Started};
use crate::deadline::Deadline;
use crate::error::{Ending, IsolationError, Operation};
use crate::exchange::{Exchange, TooSmall, wait};
use crate::header::state;
use crate::output::Output;
use crate::region::{LARGEST, Region};
use crate::request::LibraryRequest;
use crate::sandbox;
use crate::usage::Usage;
use crate::watch::{self, Activity, Excess, Seen, Watched};

/// Size of an exchange at first. Only pages that are written take memory.
const FIRST_BYTES: usize = 4 << 20;
/// Answers between two looks at how much memory a worker uses.
const ANSWERS_BETWEEN_LOOKS: u32 = 64;

/// Puts into an exchange what a worker needs. The flag is true if the worker has already done it once.
type Fill<'a, T> = dyn FnMut(&Exchange, bool) -> Result<T, TooSmall> + 'a;
/// Takes an answer from an exchange, with its events; otherwise what is wrong with it.
type Take<'a, T> = dyn FnMut(&Exchange, T, &[u8]) -> Result<(), &'static str> + 'a;

/// The program that is started as a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// Path of the program.
    pub path: PathBuf,
    /// Its arguments. With them it calls [`crate::worker::run`] and does nothing else.
    pub arguments: Vec<String>,
    /// Time for a call, unless a plugin has its own.
    pub deadline: Duration,
}

/// A worker that runs, or has run.
#[derive(Debug)]
pub(crate) struct Process {
    /// Number of the process among those of its worker.
    pub(crate) generation: u64,
    socket: OwnedFd,
    output: Output,
    id: Pid,
    end: Arc<End>,
    /// Number of chunks of snapshots that were sent to the worker. Locked while more are sent, so that each is sent once.
    chunks: Mutex<usize>,
    /// The same number, for reading without the lock.
    known_chunks: AtomicUsize,
    /// Exchanges that no call uses.
    idle: Mutex<Vec<Arc<Exchange>>>,
    /// Libraries that the worker has opened, by what was asked for, with the number that it gave each.
    pub(crate) libraries: Mutex<BTreeMap<LibraryRequest, u64>>,
    /// Facilities that this system lacks.
    pub(crate) missing: Vec<MissingFacility>,
    /// Bytes of memory that its plugins may use.
    memory: u64,
    answers: AtomicU32,
    activity: Activity,
    seen: Mutex<Seen>,
    /// What it was ended for, until an operation has failed for it.
    excess: Mutex<Option<Excess>>,
}

/// The end of a process, and the exchanges whose callers must be woken by it.
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

    /// Kills a process that has not ended. Its number is its own as long as the lock is held and no ending is set.
    fn kill(&self, id: Pid) {
        let ending = locked(&self.ending);
        if ending.is_none() {
            // It fails only for a process that has just ended.
            let _ended = kill_process(id, Signal::KILL);
        }
    }

    /// Sets the ending that `find` returns, after which the process's number may be that of another one.
    fn set(&self, find: impl FnOnce() -> Ending) {
        {
            let mut ending = locked(&self.ending);
            *ending = Some(find());
        }
        self.ended.notify_all();
        // Calls that begin after this find the ending.
        for exchange in locked(&self.exchanges).iter() {
            exchange.end();
        }
    }

    /// Waits for the end of a process that was killed or has closed its socket.
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
    /// Starts the program, and has it confine itself.
    pub(crate) fn start(
        program: &WorkerProgram,
        start: &Start,
        generation: u64,
        deadline: Duration,
    ) -> Result<Arc<Self>, IsolationError> {
        let failed = |error: std::io::Error| IsolationError::NotStarted {
            program: program.path.clone(),
            reason: error.to_string(),
            is_exhausted: matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::OutOfMemory
            ),
        };
        let message = control::written(start).map_err(|error| IsolationError::not_asked(Operation::Start, &error))?;
        let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| failed(error.into()))?;
        // A worker may stop to read what it is sent.
        for direction in [Timeout::Recv, Timeout::Send] {
            let limit = Some(Deadline::new(deadline).between_looks());
            set_socket_timeout(&socket, direction, limit).map_err(|error| failed(error.into()))?;
        }
        let (output, printing) = Output::new().map_err(failed)?;
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env_clear()
            .envs(sandbox::environment())
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(printing.try_clone().map_err(failed)?))
            .stderr(Stdio::from(printing));
        let end = Arc::new(End::default());
        let (started, result) = mpsc::channel();
        let watched = Arc::clone(&end);
        let watcher = std::thread::Builder::new().name("plugin-worker".to_owned());
        watcher
            .spawn(move || watch(command, &started, &watched))
            .map_err(failed)?;
        let id = match result.recv() {
            Ok(result) => result.map_err(failed)?,
            Err(_) => return Err(failed(std::io::ErrorKind::BrokenPipe.into())),
        };
        let mut process = Self {
            generation,
            socket,
            output,
            id,
            end,
            chunks: Mutex::new(0),
            known_chunks: AtomicUsize::new(0),
            idle: Mutex::default(),
            libraries: Mutex::default(),
            missing: Vec::new(),
            memory: start.memory,
            answers: AtomicU32::new(0),
            activity: Activity::default(),
            seen: Mutex::default(),
            excess: Mutex::default(),
        };
        process.missing = process.confine(&message, deadline)?;
        let process = Arc::new(process);
        let watched: Weak<dyn Watched> = Arc::<Self>::downgrade(&process);
        watch::begin(watched).map_err(failed)?;
        Ok(process)
    }

    /// Has the worker confine itself, which a [`Start`] asks for, and returns the facilities that are missing but not required.
    fn confine(&self, start: &[u8], deadline: Duration) -> Result<Vec<MissingFacility>, IsolationError> {
        let operation = Operation::Start;
        let mut time = Deadline::new(deadline);
        let mut answer =
            control::send(&self.socket, start, None).and_then(|()| control::receive::<Started>(&self.socket));
        // A process that was stopped and goes on is interrupted.
        while let Err(error) = &answer {
            let is_over = match error.kind() {
                std::io::ErrorKind::WouldBlock => time.is_over(|| self.usage()),
                kind => kind != std::io::ErrorKind::Interrupted,
            };
            if is_over {
                break;
            }
            answer = control::receive::<Started>(&self.socket);
        }
        match answer {
            Ok(Some((Started::Confined { missing }, _))) => Ok(missing),
            Ok(Some((Started::Refused { reason, hint }, _))) => Err(IsolationError::NotConfined { reason, hint }),
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
        self.end.kill(self.id);
        self.end.wait()
    }

    /// Ends a process that broke the protocol.
    pub(crate) fn break_off(&self, reason: &'static str, operation: Operation) -> IsolationError {
        self.kill();
        IsolationError::Protocol { reason, operation }
    }

    /// Sends the worker the chunks that it does not have, and returns the number that it has then.
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
            control::send(&self.socket, &control::written(&message)?, Some(chunk.file()))?;
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
        let message = control::written(&message).map_err(failed)?;
        // If the worker has ended, the next call finds out.
        let _sent = control::send(&self.socket, &message, Some(region.file()));
        let exchange = Arc::new(Exchange::new(region));
        locked(&self.end.exchanges).push(Arc::clone(&exchange));
        Ok(exchange)
    }

    /// Has the worker do something: `fill` puts into an exchange what it needs, and `take` takes the answer from it. Without room
    /// for the one, or for the events of the answer, it is done again with a larger exchange. The flag of `fill` is then true if the
    /// worker has already done it once.
    pub(crate) fn ask<T>(
        &self,
        operation: Operation,
        deadline: Duration,
        fill: &mut Fill<'_, T>,
        take: &mut Take<'_, T>,
    ) -> Result<(), IsolationError> {
        // Both are of all that is done for this answer, however often the worker is asked.
        let (mut time, _active) = (Deadline::new(deadline), self.activity.begin());
        let (mut bytes, mut is_repeated) = (FIRST_BYTES, false);
        loop {
            let exchange = self.exchange(bytes)?;
            let filled = match fill(&exchange, is_repeated) {
                Ok(filled) => filled,
                Err(TooSmall) if bytes >= LARGEST => return Err(IsolationError::TooLarge { bytes }),
                Err(TooSmall) => {
                    self.put_back(exchange);
                    bytes *= 2;
                    continue;
                }
            };
            exchange.ask();
            self.wait(&exchange, operation, &mut time)?;
            if exchange.lost_events() && bytes < LARGEST {
                // The plugin is asked once more, since its answer is incomplete.
                self.put_back(exchange);
                (bytes, is_repeated) = (bytes * 2, true);
                continue;
            }
            let events = exchange.events();
            let events = events.ok_or_else(|| self.break_off("more events than there is room for", operation))?;
            take(&exchange, filled, &events).map_err(|reason| self.break_off(reason, operation))?;
            self.put_back(exchange);
            return Ok(());
        }
    }

    /// An exchange is free for the next call. A large one gives its memory back.
    fn put_back(&self, exchange: Arc<Exchange>) {
        if exchange.region().bytes() > FIRST_BYTES {
            exchange.empty();
        }
        locked(&self.idle).push(exchange);
    }

    /// Ends the process if it has more memory or threads than it may.
    fn check_footprint(&self, operation: Operation) -> Result<(), IsolationError> {
        // A process that has ended is noticed elsewhere.
        let footprint = sandbox::footprint(self.number().unsigned_abs()).ok();
        match footprint.and_then(|footprint| watch::excess(footprint, self.memory)) {
            None => Ok(()),
            Some(excess) => {
                self.kill();
                Err(excess.error(operation))
            }
        }
    }

    /// Memory of exchanges that the worker has written to since they were last used.
    fn shared_excess(&self) -> Option<Excess> {
        if !self.activity.is_idle() {
            return None;
        }
        let exchanges = locked(&self.end.exchanges).clone();
        let allocated = exchanges.iter().map(|exchange| exchange.region().allocated());
        let common = exchanges.len().saturating_mul(FIRST_BYTES);
        let found = watch::shared_excess(allocated.sum(), common as u64);
        // A call that has begun since then has a right to more.
        found.filter(|_| self.activity.is_idle())
    }

    /// What the process was ended for since anyone asked.
    pub(crate) fn take_excess(&self) -> Option<Excess> {
        locked(&self.excess).take()
    }

    /// The error of an operation during which the process has ended.
    fn died(&self, ending: Ending, operation: Operation) -> IsolationError {
        match self.take_excess() {
            Some(excess) => excess.error(operation),
            None => IsolationError::Died { ending, operation },
        }
    }

    /// The process's number.
    fn number(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    fn usage(&self) -> Usage {
        Usage::of(self.number())
    }

    /// Takes what the process has printed, line by line.
    pub(crate) fn printed(&self, take: &mut dyn FnMut(&str)) {
        self.output.take(take);
    }

    /// Waits for the answer.
    fn wait(&self, exchange: &Exchange, operation: Operation, time: &mut Deadline) -> Result<(), IsolationError> {
        let turn = &exchange.header().state;
        loop {
            if let Some(ending) = self.end.ending() {
                return Err(self.died(ending, operation));
            }
            match turn.load(Ordering::Acquire) {
                state::ANSWERED => {
                    let answers = self.answers.fetch_add(1, Ordering::Relaxed);
                    return match answers % ANSWERS_BETWEEN_LOOKS {
                        0 => self.check_footprint(operation),
                        _ => Ok(()),
                    };
                }
                state::ASKED => {}
                // The process has ended, or the worker wrote a state that it must not write.
                _ => {
                    let ending = self.end.ending();
                    return Err(match ending {
                        Some(ending) => self.died(ending, operation),
                        None => self.break_off("the state of the exchange is unknown", operation),
                    });
                }
            }
            // The worker can wake this thread at any time, which puts no look off.
            if let Some(left) = time.until_look() {
                wait(turn, state::ASKED, Some(left));
                continue;
            }
            self.output.collect();
            self.check_footprint(operation)?;
            if !time.is_over(|| self.usage()) {
                continue;
            }
            return match self.kill() {
                // It ended by itself in the last moment.
                ending @ (Ending::Code(_) | Ending::Signal(4..=8 | 11)) => Err(self.died(ending, operation)),
                _ => Err(IsolationError::Late {
                    deadline: time.time(),
                    operation,
                }),
            };
        }
    }
}

impl Watched for Process {
    /// Whether or not the worker is asked for something. The next operation gets the error.
    fn look(&self) {
        if self.has_ended() {
            return;
        }
        let footprint = sandbox::footprint(self.number().unsigned_abs()).ok();
        let found = footprint
            .and_then(|footprint| watch::excess(footprint, self.memory))
            .or_else(|| self.shared_excess())
            .or_else(|| locked(&self.seen).look(self.number(), &self.activity));
        if let Some(found) = found {
            // Before the end, so that whoever notices the end finds the reason.
            *locked(&self.excess) = Some(found);
            self.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end.kill(self.id);
    }
}

/// Starts a process and waits for its end. The thread that starts a process must live as long as it, since the kernel ends a
/// worker with the thread that started it.
fn watch(mut command: Command, started: &Sender<std::io::Result<Pid>>, end: &End) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            end.set(|| Ending::Unknown);
            let _received = started.send(Err(error));
            return;
        }
    };
    let id = Pid::from_child(&child);
    // The other end of the socket is the child's alone from here on.
    drop(command);
    let _received = started.send(Ok(id));
    // The process is noticed first and forgotten by the system under the lock, so that no one kills another one with its number.
    let ended = loop {
        match waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            ended => break ended,
        }
    };
    match ended {
        Ok(_) => end.set(|| ending_of(child.wait())),
        // The call is forbidden, and the lock must not be held for as long as the process lives.
        Err(_) => {
            let status = child.wait();
            end.set(|| ending_of(status));
        }
    }
}
