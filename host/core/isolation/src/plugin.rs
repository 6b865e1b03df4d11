//! Plugins that a worker constructed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use divvy_framework_abi::service::level;
use divvy_framework_abi::{Address, PluginText};

use crate::call::IsolatedCall;
use crate::error::{IsolationError, Operation};
use crate::event::Event;
use crate::exchange::{loaded, read_events};
use crate::header::operation;
use crate::process::Process;
use crate::request::{Construction, LibraryRequest};
use crate::supervisor::{CONSTRUCTION, IsolatedLibrary, Worker, time_again, usual_deadline};
use crate::watch;

/// Processes of a worker that were ended while they were asked for nothing, of which the last one costs the next call.
const RESTS: u32 = 3;

/// Features of a constructed plugin, as bits of [`divvy_framework_abi::descriptor::feature`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constructed {
    /// Code that the constructor returned: 0, or a code of a failure, which the plugin handed over.
    pub code: u32,
    /// Features that the plugin requires with its configuration.
    pub required: u64,
    /// Features that the host may ignore.
    pub optional: u64,
}

/// The answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// 0, or the code of a failure, which the plugin handed over.
    pub code: u32,
    /// Number of the process that answered, among those of its worker.
    pub generation: u64,
}

/// A plugin in a worker. After the worker has ended, it is constructed again for the next call.
#[derive(Debug)]
pub struct IsolatedPlugin {
    worker: Arc<Worker>,
    library: LibraryRequest,
    /// Time for a call.
    deadline: Duration,
    configuration: String,
    /// Time that the constructor took at first.
    construction: OnceLock<Duration>,
    instance: Mutex<Option<Instance>>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Clone, Copy)]
struct Instance {
    generation: u64,
    address: u64,
}

/// Values that the plugin keeps in its worker.
#[derive(Debug, Default)]
struct Kept {
    next: usize,
    values: BTreeMap<usize, Value>,
    /// Values to drop with the next call.
    released: Vec<Value>,
}

#[derive(Debug, Clone, Copy)]
struct Value {
    generation: u64,
    address: u64,
    release: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has what the worker has printed since recorded in the plugin's log.
fn record_output(process: &Process, take: &mut dyn FnMut(Event<'_>) -> u32) {
    process.printed(&mut |line| {
        take(Event::Log(
            level::WARN,
            PluginText::new("output"),
            PluginText::new(line),
        ));
    });
}

impl IsolatedPlugin {
    /// A plugin of a library, which is not constructed yet.
    pub fn new(library: IsolatedLibrary, configuration: String) -> Self {
        Self {
            worker: library.worker,
            library: library.request,
            deadline: library.deadline.unwrap_or_else(usual_deadline),
            configuration,
            construction: OnceLock::new(),
            instance: Mutex::new(None),
            kept: Mutex::default(),
        }
    }

    /// The worker.
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Constructs the plugin. `take` gets what it hands over meanwhile.
    ///
    /// # Errors
    ///
    /// An [`IsolationError`] if the worker ends or hangs.
    pub fn construct(&self, level: u32, take: &mut dyn FnMut(Event<'_>) -> u32) -> Result<Constructed, IsolationError> {
        let process = self.worker.process()?;
        let mut instance = locked(&self.instance);
        let begun = Instant::now();
        let (constructed, address) = self.constructed(&process, level, CONSTRUCTION, take)?;
        let _known = self.construction.set(begun.elapsed());
        *instance = (constructed.code == 0).then_some(Instance {
            generation: process.generation,
            address,
        });
        Ok(constructed)
    }

    fn constructed(
        &self,
        process: &Process,
        level: u32,
        time: Duration,
        take: &mut dyn FnMut(Event<'_>) -> u32,
    ) -> Result<(Constructed, u64), IsolationError> {
        let construction = Construction {
            library: self.worker.number(process, &self.library, self.deadline)?,
            configuration: self.configuration.clone(),
        };
        let operation = Operation::Construct;
        let text =
            serde_json::to_string(&construction).map_err(|error| IsolationError::not_asked(operation, &error))?;
        let mut answer = None;
        let asked = process.ask(
            operation,
            time,
            &mut |exchange, _| {
                let header = exchange.header();
                header.operation.store(operation::CONSTRUCT, Ordering::Relaxed);
                header.level.store(level, Ordering::Relaxed);
                let mut filling = exchange.fill();
                filling.releases(&[])?;
                filling.text(&text)
            },
            &mut |exchange, (), events| {
                read_events(events, take).map_err(|_| "its events cannot be read")?;
                let header = exchange.header();
                let constructed = Constructed {
                    code: header.code.load(Ordering::Relaxed),
                    required: loaded(&header.required),
                    optional: loaded(&header.optional),
                };
                answer = Some((constructed, loaded(&header.instance)));
                Ok(())
            },
        );
        record_output(process, take);
        asked?;
        answer.ok_or_else(|| process.break_off("it gave no answer", Operation::Construct))
    }

    /// The plugin's instance in a process, constructed there if it is not yet.
    fn instance(
        &self,
        process: &Process,
        level: u32,
        take: &mut dyn FnMut(Event<'_>) -> u32,
    ) -> Result<u64, IsolationError> {
        // Held while the plugin is constructed, so that calls on other threads wait for it.
        let mut instance = locked(&self.instance);
        if let Some(known) = instance.filter(|known| known.generation == process.generation) {
            return Ok(known.address);
        }
        let first = self.construction.get().copied().unwrap_or_default();
        let time = time_again(first, self.deadline);
        let (constructed, address) = self.constructed(process, level, time, take)?;
        if constructed.code != 0 {
            // It was constructed from the same configuration before.
            return Err(IsolationError::NotOpened {
                message: format!(
                    "it could not be constructed again after its worker had ended: code {:#x}",
                    constructed.code
                ),
                hint: None,
            });
        }
        *instance = Some(Instance {
            generation: process.generation,
            address,
        });
        Ok(address)
    }

    /// Makes a call. `take` gets what the plugin hands over, and answers its texts by codes.
    ///
    /// A call during which the worker ended is made once more, alone and by a new process: another call may have been at fault, one
    /// that was made at the same time, or an earlier one that left the process broken. It is not if nothing can be expected of another
    /// process.
    ///
    /// # Errors
    ///
    /// An [`IsolationError`] if the worker ends, does not answer in time or breaks the protocol. The next call starts it again.
    pub fn call<C: IsolatedCall>(
        &self,
        call: &mut C,
        level: u32,
        take: &mut dyn FnMut(Event<'_>) -> u32,
    ) -> Result<Answered, IsolationError> {
        let first = {
            let _with_others = self.worker.calls.read().unwrap_or_else(PoisonError::into_inner);
            self.attempt(call, level, take)
        };
        match first {
            Err(error) if error.ended_worker() && !self.is_hopeless(&error) => {
                // Another worker may have what this one is short of.
                watch::look_at_all();
                let _alone = self.worker.calls.write().unwrap_or_else(PoisonError::into_inner);
                self.attempt(call, level, take)
            }
            answered => answered,
        }
    }

    /// True if another process of the worker can be expected to end as this one has.
    fn is_hopeless(&self, error: &IsolationError) -> bool {
        match error.is_of_rest() {
            true => self.worker.ended_at_rest.fetch_add(1, Ordering::Relaxed) % RESTS == RESTS - 1,
            false => error.is_lasting(),
        }
    }

    fn attempt<C: IsolatedCall>(
        &self,
        call: &mut C,
        level: u32,
        take: &mut dyn FnMut(Event<'_>) -> u32,
    ) -> Result<Answered, IsolationError> {
        let process = self.worker.process()?;
        let instance = self.instance(&process, level, take)?;
        let shared = process.share_chunks();
        let chunks = shared.map_err(|_| IsolationError::Died {
            ending: process.kill(),
            operation: Operation::Call,
        })?;
        let releases = self.releases(process.generation);
        let mut sent = *call;
        sent.hide_sink();
        self.resolve(&mut sent, process.generation);
        let mut code = 0;
        let asked = process.ask(
            Operation::Call,
            self.deadline,
            &mut |exchange, is_repeated| {
                let header = exchange.header();
                header.operation.store(operation::CALL, Ordering::Relaxed);
                header.instance.store(instance, Ordering::Relaxed);
                header.level.store(level, Ordering::Relaxed);
                header.chunks.store(chunks as u64, Ordering::Relaxed);
                let mut filling = exchange.fill();
                // They are gone if the worker has answered before.
                filling.releases(if is_repeated { &[] } else { &releases })?;
                let copy = filling.call(&sent)?;
                Ok((filling.finish(), copy))
            },
            &mut |exchange, (outputs, copy), events| {
                code = exchange.header().code.load(Ordering::Relaxed);
                let (answers, _) = read_events(events, take).map_err(|_| "its events cannot be read")?;
                match code {
                    0 => outputs.take(call, copy, &answers),
                    _ => outputs.take_of_failure(call, copy),
                }
                Ok(())
            },
        );
        record_output(&process, take);
        asked?;
        Ok(Answered {
            code,
            generation: process.generation,
        })
    }

    /// Values to release in a process. Those of earlier processes are gone.
    fn releases(&self, generation: u64) -> Vec<(u64, u64)> {
        let mut kept = locked(&self.kept);
        let released = kept.released.drain(..);
        released
            .filter(|value| value.generation == generation && value.release != 0)
            .map(|value| (value.address, value.release))
            .collect()
    }

    /// Replaces the names of kept values by the worker's own addresses; null for a value of an earlier process.
    fn resolve<C: IsolatedCall>(&self, call: &mut C, generation: u64) {
        let mut keeps = false;
        call.kept(|address| keeps |= !address.is_null());
        if !keeps {
            return;
        }
        let known = locked(&self.kept);
        call.kept(|address| {
            let value = known.values.get(&(address.get() as usize));
            let own = value.filter(|value| value.generation == generation);
            *address = Address::new(own.map_or(std::ptr::null_mut(), |own| own.address as *mut _));
        });
    }

    /// Keeps a value that a call returned, and the function that drops it: addresses of the process that answered. Returns the
    /// name by which calls get it, which is not an address in this process.
    pub fn keep(&self, generation: u64, value: Address, release: u64) -> Address {
        if value.is_null() {
            return Address::NULL;
        }
        let mut kept = locked(&self.kept);
        kept.next += 1;
        let name = kept.next;
        kept.values.insert(
            name,
            Value {
                generation,
                address: value.get() as u64,
                release,
            },
        );
        Address::new(name as *mut _)
    }

    /// True if a value is of the process that answers the next call.
    pub fn is_current(&self, name: Address) -> bool {
        if name.is_null() {
            return true;
        }
        let process = self.worker.running();
        let kept = locked(&self.kept);
        let value = kept.values.get(&(name.get() as usize));
        value.is_some_and(|value| process.is_some_and(|process| process.generation == value.generation))
    }

    /// Drops a kept value with the next call.
    pub fn release(&self, name: Address) {
        let mut kept = locked(&self.kept);
        if let Some(value) = kept.values.remove(&(name.get() as usize)) {
            kept.released.push(value);
        }
    }
}

impl Drop for IsolatedPlugin {
    fn drop(&mut self) {
        let Some(instance) = locked(&self.instance).take() else {
            return;
        };
        // A process that has ended has nothing to drop, and is not started for it.
        let Some(process) = self
            .worker
            .running()
            .filter(|process| process.generation == instance.generation)
        else {
            return;
        };
        let _dropped = process.ask(
            Operation::Call,
            self.deadline,
            &mut |exchange, _| {
                let header = exchange.header();
                header.operation.store(operation::DESTROY, Ordering::Relaxed);
                header.instance.store(instance.address, Ordering::Relaxed);
                exchange.fill().releases(&[])
            },
            &mut |_, (), _| Ok(()),
        );
    }
}
