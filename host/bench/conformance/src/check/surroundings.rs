//! The surroundings of a call, which it may neither read nor change: the environment, files, other processes, and the state of its own
//! process.
//!
//! A read of a file breaks the contract by itself. Nothing shows a read of the environment, so a second profile is constructed and decides
//! without it, and the decision must stay.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use divvy_scheduler::plugin::{Call, CallError, PluginInstance};
use divvy_witness::{ProcessState, Request, Witness};

use super::observed::{Observed, Observer, without_finding};
use super::{Check, Holds, Method, Stop};
use crate::subject::{Shown, Subject, described, differ};

/// The checks of a call's surroundings.
pub(super) fn checks() -> Vec<Check> {
    let prepared = |name, contract, prepare| Check {
        name,
        contract,
        takes_the_process: true,
        applies: |_| true,
        method: Method::Prepared(prepare),
    };
    vec![
        prepared(
            "surroundings",
            "no call opens a file or a socket, starts a process, or decides differently without the environment",
            surroundings,
        ),
        prepared(
            "process",
            "a call leaves its process as it was: directory, locale, signals, descriptors, rounding",
            process,
        ),
    ]
}

/// Records requests that calls make to the system.
struct Asked {
    witness: Witness,
    requests: Mutex<Vec<(Call, Request)>>,
}

impl Observer for Arc<Asked> {
    fn begins(&self) {
        self.witness.begin();
    }

    fn ends(&self, call: Call, error: Option<&CallError>) {
        let requests = self.witness.end();
        // A panic prints a backtrace, for which it reads the environment and files.
        if !matches!(error, Some(CallError::Panic { .. })) {
            let mut known = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            known.extend(requests.into_iter().map(|request| (call, request)));
        }
    }
}

impl Asked {
    fn install() -> Result<Arc<Self>, Stop> {
        let witness = Witness::install().map_err(|error| {
            let cause = &error.source;
            Stop::Impossible(format!("{error}: {cause}"))
        })?;
        Ok(Arc::new(Self {
            witness,
            requests: Mutex::new(Vec::new()),
        }))
    }

    /// Requests since this was last called.
    fn take(&self) -> Vec<(Call, Request)> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn surroundings(subject: &Subject) -> Result<Holds, Stop> {
    let asked = Asked::install()?;
    let observed = Observed::new(subject, Arc::clone(&asked))?;
    let configuration = subject.configuration();
    let granted = subject.granted().to_vec();
    let is_granted = move |request: &Request| {
        let path = request.path.as_ref();
        path.is_some_and(|path| granted.iter().any(|granted| Path::new(path).starts_with(granted)))
    };
    // The constructor runs once more, without the rest of the profile, whose libraries are files.
    let given = configuration.configuration_of(subject.plugin());
    asked.witness.begin();
    let _constructed = subject.with_instance(|instance| PluginInstance::construct(instance.library(), &given).is_ok());
    let requests = asked.witness.end();
    if let Some(request) = requests.into_iter().find(|request| !is_granted(request)) {
        return Err(Stop::from(format!("the constructor {request}")));
    }
    asked.witness.hide_environment(true);
    asked.witness.begin();
    let bare = Observed::new(subject, Arc::clone(&asked));
    asked.witness.end();
    asked.witness.hide_environment(false);
    let bare =
        bare.map_err(|error| Stop::from(format!("it cannot be constructed without the environment: {error}")))?;
    Ok(Box::new(move |subject, case| {
        let Ok(situation) = subject.read(case) else {
            return Ok(Shown::Nothing);
        };
        let (decision, shown) = observed.decide(&situation);
        let forbidden = asked.take().into_iter().find(|(_, request)| !is_granted(request));
        if let Some((call, request)) = forbidden {
            return Err(format!("{call} {request}"));
        }
        asked.witness.hide_environment(true);
        let bare = described(&bare.decide(&situation).0);
        asked.witness.hide_environment(false);
        asked.take();
        let plain = described(&decision);
        match differ(&plain, &bare) {
            true => Err(format!(
                "the decision depends on the environment: `{plain}`, without any variables `{bare}`"
            )),
            false => Ok(shown),
        }
    }))
}

/// Compares the state of the process before and after each call.
#[derive(Default)]
struct Changed {
    before: Mutex<Option<ProcessState>>,
    found: Mutex<Option<String>>,
}

/// Maximum number of changes in a message.
const NAMED: usize = 3;

impl Observer for Changed {
    fn begins(&self) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(ProcessState::now());
    }

    fn ends(&self, call: Call, _error: Option<&CallError>) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(before) = before else { return };
        let changes = before.changes(&ProcessState::now());
        if changes.is_empty() {
            return;
        }
        // Otherwise, neither the next call nor a smaller case would show the change.
        before.restore();
        let named: Vec<&str> = changes.iter().take(NAMED).map(String::as_str).collect();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get_or_insert_with(|| format!("{call} {}", named.join(", and ")));
    }
}

fn process(subject: &Subject) -> Result<Holds, Stop> {
    let observed = Observed::new(subject, Changed::default())?;
    Ok(without_finding(observed, |changed| &changed.found))
}
