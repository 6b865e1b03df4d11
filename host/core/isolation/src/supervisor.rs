//! Workers: processes for libraries, each started when it is needed and again after it has ended.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use divvy_loader::LibraryDescription;
use divvy_loader::shown::one_line;

use crate::control::{MissingFacility, Start};
use crate::error::{IsolationError, Operation};
use crate::exchange::{read_events, try_futex};
use crate::header::operation;
use crate::process::{Process, WorkerProgram};
use crate::request::{LibraryRequest, Opened, WorkerLibrary};
use crate::watch;

/// Time for opening the library, and for constructing a plugin.
pub(crate) const CONSTRUCTION: Duration = Duration::from_secs(30);
/// Multiple of the time that opening or constructing took at first, within which it must be done again.
const AGAIN: u32 = 4;
/// Time within which a process may always open and construct again, which a plugin with a short deadline needs on a busy machine.
const LEAST_AGAIN: Duration = Duration::from_secs(5);
/// Times that a process is started again after the system had nothing left for it.
const FURTHER_STARTS: u32 = 20;
/// Time between two of them.
const BETWEEN_STARTS: Duration = Duration::from_millis(50);

/// Longest message of a worker, in characters.
const MESSAGE_CHARACTERS: usize = 4 << 10;

/// Time for doing something again that took `first` before, for a plugin with this deadline for a call. A call waits for it.
pub(crate) fn time_again(first: Duration, deadline: Duration) -> Duration {
    let time = first.saturating_mul(AGAIN).max(deadline).max(LEAST_AGAIN);
    time.min(CONSTRUCTION)
}

static PROGRAM: OnceLock<WorkerProgram> = OnceLock::new();

/// Names the program of all workers of this process. Only the first call counts.
pub fn set_program(program: WorkerProgram) {
    let _known = PROGRAM.set(program);
}

/// True if this process can start workers, because [`set_program`] was called.
pub fn has_program() -> bool {
    PROGRAM.get().is_some()
}

/// What a worker may open, read and use.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Libraries that it may open.
    pub libraries: Vec<WorkerLibrary>,
    /// Files and folders that its plugins may read, besides these libraries and those of the system.
    pub read: Vec<PathBuf>,
    /// Bytes of memory that the worker may have.
    pub memory: u64,
}

/// A library that a worker has opened.
#[derive(Debug, Clone)]
pub struct IsolatedLibrary {
    /// What was asked of the worker.
    pub request: LibraryRequest,
    /// The worker.
    pub worker: Arc<Worker>,
    /// Time for a call; that of the [`WorkerProgram`] if absent.
    pub deadline: Option<Duration>,
}

/// A process that opens libraries and constructs their plugins. It is started when it is needed, and again after it has ended.
#[derive(Debug)]
pub struct Worker {
    pub(crate) options: WorkerOptions,
    state: Mutex<State>,
    /// Held by every call: shared with others, or alone.
    pub(crate) calls: RwLock<()>,
    /// The longest time that opening a library took when it was first opened.
    opening: Mutex<Duration>,
    /// Number of its processes that were ended while they were asked for nothing.
    pub(crate) ended_at_rest: AtomicU32,
}

#[derive(Debug, Default)]
struct State {
    process: Option<Arc<Process>>,
    started: u64,
}

impl Worker {
    /// A worker, which is not started yet.
    ///
    /// # Errors
    ///
    /// [`IsolationError::Unavailable`] if this system or this process cannot start workers.
    pub fn new(options: WorkerOptions) -> Result<Arc<Self>, IsolationError> {
        divvy_framework_memory::protection().map_err(|unprotected| IsolationError::Unavailable {
            reason: unprotected.reason,
        })?;
        try_futex().map_err(|error| IsolationError::Unavailable {
            reason: format!("processes cannot wait for each other by a futex: {error}"),
        })?;
        program()?;
        Ok(Arc::new(Self {
            options,
            state: Mutex::default(),
            calls: RwLock::default(),
            opening: Mutex::default(),
            ended_at_rest: AtomicU32::new(0),
        }))
    }

    /// The worker's process, started if there is none.
    pub(crate) fn process(&self) -> Result<Arc<Process>, IsolationError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = state.process.as_ref().filter(|process| !process.has_ended()) {
            return Ok(Arc::clone(process));
        }
        let start = Start {
            libraries: self.options.libraries.clone(),
            read: self.options.read.clone(),
            memory: self.options.memory,
        };
        // One that was ended while it was asked for nothing has failed, although no call has.
        if let Some(excess) = state.process.take().and_then(|process| process.take_excess()) {
            return Err(excess.error(Operation::Rest));
        }
        state.started += 1;
        let mut started = Process::start(program()?, &start, state.started, CONSTRUCTION);
        for _ in 0..FURTHER_STARTS {
            if !matches!(started, Err(IsolationError::NotStarted { is_exhausted: true, .. })) {
                break;
            }
            // Another worker may have what is missing, and more than it may have.
            watch::look_at_all();
            std::thread::sleep(BETWEEN_STARTS);
            started = Process::start(program()?, &start, state.started, CONSTRUCTION);
        }
        let process = started?;
        state.process = Some(Arc::clone(&process));
        Ok(process)
    }

    /// The worker's process, if it runs.
    pub(crate) fn running(&self) -> Option<Arc<Process>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.process.clone().filter(|process| !process.has_ended())
    }

    /// Facilities that this system lacks, so that the worker is confined less than it could be; empty before it was started.
    pub fn missing(&self) -> Vec<MissingFacility> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .process
            .as_ref()
            .map_or_else(Vec::new, |process| process.missing.clone())
    }

    /// Opens the library in the worker, and returns what a plugin in it says about itself.
    ///
    /// # Errors
    ///
    /// An [`IsolationError`] if the worker cannot open the library, or ends or hangs while it does.
    pub fn open(&self, request: &LibraryRequest) -> Result<LibraryDescription, IsolationError> {
        let process = self.process()?;
        let begun = Instant::now();
        let (number, description) = self.opened(&process, request, CONSTRUCTION)?;
        {
            let mut longest = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
            *longest = begun.elapsed().max(*longest);
        }
        let mut libraries = process.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        libraries.insert(request.clone(), number);
        Ok(description)
    }

    /// The number that a process gave to a library, which it opens if it has not yet. `deadline` is that of a call.
    pub(crate) fn number(
        &self,
        process: &Process,
        request: &LibraryRequest,
        deadline: Duration,
    ) -> Result<u64, IsolationError> {
        let mut libraries = process.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = libraries.get(request) {
            return Ok(*number);
        }
        let first = *self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, _) = self.opened(process, request, time_again(first, deadline))?;
        libraries.insert(request.clone(), number);
        Ok(number)
    }

    fn opened(
        &self,
        process: &Process,
        request: &LibraryRequest,
        time: Duration,
    ) -> Result<(u64, LibraryDescription), IsolationError> {
        let operation = Operation::Open;
        let text = serde_json::to_string(request).map_err(|error| IsolationError::not_asked(operation, &error))?;
        let mut answer = None;
        process.ask(
            operation,
            time,
            &mut |exchange, _| {
                exchange.header().operation.store(operation::OPEN, Ordering::Relaxed);
                let mut filling = exchange.fill();
                filling.releases(&[])?;
                filling.text(&text)
            },
            &mut |_, (), events| {
                let (_, documents) = read_events(events, &mut |_| 0).map_err(|_| "its events cannot be read")?;
                let document = documents.first().ok_or("it described no library")?;
                answer = Some(serde_json::from_str::<Opened>(document).map_err(|_| "its description cannot be read")?);
                Ok(())
            },
        )?;
        match answer {
            Some(Opened::Library { number, description }) => Ok((number, *description)),
            Some(Opened::Refused { message, hint }) => Err(IsolationError::NotOpened {
                message: said(&message),
                hint: hint.as_deref().map(said),
            }),
            None => Err(process.break_off("it described no library", Operation::Open)),
        }
    }
}

/// What a worker says of a library, whose code may have run and said it: one line of a length that fits into a message.
fn said(text: &str) -> String {
    let line = text.chars().take(MESSAGE_CHARACTERS).collect::<String>();
    one_line(&line).into_owned()
}

/// Time for a call of a plugin that has none of its own.
pub(crate) fn usual_deadline() -> Duration {
    program().map_or(CONSTRUCTION, |program| program.deadline)
}

fn program() -> Result<&'static WorkerProgram, IsolationError> {
    PROGRAM.get().ok_or_else(|| IsolationError::Unavailable {
        reason: "this program names no worker".to_owned(),
    })
}
