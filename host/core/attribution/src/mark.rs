//! Marks: what a thread says about the code that it calls.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::slot::{Slot, slot};

/// A step that code of a library takes: a plugin, and what it is called for.
#[derive(Debug)]
pub struct Site {
    plugin: &'static str,
    step: &'static str,
}

/// A library is opened. Its plugin is not known for certain yet; the mark has its path.
static OPENING: Site = Site {
    plugin: "",
    step: "its initialisation",
};

/// The process ends, and libraries run their exit handlers and destructors.
static ENDING: Site = Site {
    plugin: "",
    step: "an exit handler",
};

impl Site {
    /// The step of a plugin: its extension point, or words such as `its construction`. Equal ones are one value, which lives as long as the
    /// process: there are few plugins, and a profile that is loaded again has the same.
    pub fn new(plugin: &str, step: &'static str) -> &'static Self {
        static KNOWN: Mutex<BTreeMap<(&'static str, &'static str), &'static Site>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = known.get(&(plugin, step)) {
            return site;
        }
        let plugin: &'static str = plugin.to_owned().leak();
        let site: &'static Self = Box::leak(Box::new(Self { plugin, step }));
        known.insert((plugin, step), site);
        site
    }

    /// Marks this thread as being in the step, until the answer is dropped. Steps of one thread do not nest: the inner one counts, and
    /// ends the mark.
    #[inline]
    pub fn enter(&'static self) -> Entered {
        let slot = slot();
        slot.enter(self);
        Entered(slot)
    }

    /// Name of the plugin; empty for a library that is opened or that ends.
    pub fn plugin(&self) -> &'static str {
        self.plugin
    }

    /// The step.
    pub fn step(&self) -> &'static str {
        self.step
    }
}

/// A thread is in a step of a plugin.
#[derive(Debug)]
#[must_use]
pub struct Entered(&'static Slot);

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The calls of this thread concern something.
#[derive(Debug)]
#[must_use]
pub struct Subject(&'static Slot);

impl Drop for Subject {
    #[inline]
    fn drop(&mut self) {
        self.0.forget_subject();
    }
}

/// The calls of this thread are about this binding, until the answer is dropped. Long names are cut.
#[inline]
pub fn binding(namespace: &str, name: &str) -> Subject {
    let slot = slot();
    slot.set_subject(namespace.as_bytes(), name.as_bytes());
    Subject(slot)
}

/// A library is being opened.
#[derive(Debug)]
#[must_use]
pub struct Opening {
    _entered: Entered,
    _path: Subject,
}

/// Marks this thread as opening a library, until the answer is dropped.
pub fn opening(path: &Path) -> Opening {
    let slot = slot();
    slot.set_subject(&[], tail(path.as_os_str().as_bytes()));
    let path = Subject(slot);
    Opening {
        _entered: OPENING.enter(),
        _path: path,
    }
}

/// The end of a path that is too long.
fn tail(path: &[u8]) -> &[u8] {
    &path[path.len().saturating_sub(crate::slot::NAME_BYTES)..]
}

/// This thread loads a profile beside the one that decides.
#[derive(Debug)]
#[must_use]
pub struct Loading(&'static Slot);

impl Drop for Loading {
    fn drop(&mut self) {
        self.0.set_loading(false);
    }
}

/// Marks the calls of this thread as those of a profile that is loaded, so that one that hangs holds up no decision. Until the answer
/// is dropped.
pub fn loading() -> Loading {
    let slot = slot();
    slot.set_loading(true);
    Loading(slot)
}

/// Marks this thread as running what libraries do when the process ends, for good.
pub(crate) fn ending() {
    let slot = slot();
    slot.forget_subject();
    slot.enter(&ENDING);
}
