//! The services that a plugin in a worker sees: what it hands over is written down for the host.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use divvy_framework_abi::reason::{FigureRow, Reason};
use divvy_framework_abi::service::{Failure, Services, level, limit, text_kind};
use divvy_framework_abi::sized::SizePrefixed;
use divvy_framework_abi::{Address, Function, PluginText, Pointer, Slice};

use super::quota::Quota;
use crate::event::{FIRST_PROVISIONAL, Writer};

/// Bytes that threads of a plugin's own may hand over between two calls.
const BACKGROUND_BYTES: usize = 64 << 10;

/// The most verbose level that the host recorded when it last asked for something.
static LEVEL: AtomicU32 = AtomicU32::new(level::OFF);

/// What is handed over on a thread that serves an exchange.
#[derive(Debug, Default)]
struct Recording {
    writer: Writer,
    /// Texts so far.
    texts: u32,
    quota: Quota,
    /// Number of the first reason beyond the limits, whose code the others get.
    further: Option<u32>,
    /// True during an operation.
    is_open: bool,
}

thread_local! {
    static RECORDING: RefCell<Recording> = RefCell::default();
}

/// The services of one instance.
pub(super) struct Context {
    /// What threads of the plugin's own handed over, which goes with the next call.
    background: Mutex<Writer>,
    table: Services,
}

impl Context {
    /// Services for an instance. A plugin can use them as long as the process lives.
    pub(super) fn new() -> &'static Self {
        let context = Box::leak(Box::new(Self {
            background: Mutex::new(Writer::new(BACKGROUND_BYTES)),
            table: Services::DEFAULT,
        }));
        let address = std::ptr::from_mut(context).cast();
        context.table = Services {
            context: Address::new(address),
            log_level: Function::new(log_level),
            log: Function::new(log),
            count: Function::new(count),
            text: Function::new(text),
            fail: Function::new(fail),
            observe: Function::new(observe),
            explain: Function::new(explain),
            ..Services::DEFAULT
        };
        context
    }

    pub(super) fn table(&'static self) -> Pointer<'static, Services> {
        Pointer::new(&self.table)
    }

    /// Writes on this thread during a call, and otherwise for the next call.
    fn write(&self, write: impl FnOnce(&mut Writer)) {
        self.write_within(|_| true, write);
    }

    /// As [`Self::write`], during a call only if it is within its quota.
    fn write_within(&self, is_within: impl FnOnce(&mut Quota) -> bool, write: impl FnOnce(&mut Writer)) {
        RECORDING.with_borrow_mut(|recording| match recording.is_open {
            true => {
                if is_within(&mut recording.quota) {
                    write(&mut recording.writer);
                }
            }
            false => write(&mut self.background.lock().unwrap_or_else(PoisonError::into_inner)),
        });
    }
}

/// Records what is handed over on this thread from now on, at most `capacity` bytes.
pub(super) fn begin(capacity: usize, level: u32) {
    LEVEL.store(level, Ordering::Relaxed);
    RECORDING.with_borrow_mut(|recording| {
        recording.writer.clear(capacity);
        recording.texts = 0;
        recording.quota = Quota::default();
        recording.further = None;
        recording.is_open = true;
    });
}

/// Writes what this process itself has to say.
pub(super) fn document(text: &str) {
    RECORDING.with_borrow_mut(|recording| recording.writer.document(text));
}

/// Ends the recording, to which what threads of the instance's own handed over is added. `take` gets the bytes, and how many were lost.
pub(super) fn end(context: Option<&Context>, take: impl FnOnce(&[u8], u64)) {
    RECORDING.with_borrow_mut(|recording| {
        recording.is_open = false;
        if let Some(context) = context {
            let mut background = context.background.lock().unwrap_or_else(PoisonError::into_inner);
            recording.writer.append(background.finish().0);
            background.clear(BACKGROUND_BYTES);
        }
        if let Some(left_out) = recording.quota.left_out() {
            recording.writer.left_out(left_out);
        }
        let (bytes, lost) = recording.writer.finish();
        take(bytes, lost);
    });
}

/// The sink of all calls: texts and failures belong to the thread.
pub(super) fn sink() -> Address {
    static SINK: u8 = 0;
    Address::of(&SINK)
}

unsafe extern "C" fn log_level(_context: *const c_void) -> u32 {
    LEVEL.load(Ordering::Relaxed)
}

unsafe extern "C" fn log(context: *const c_void, severity: u32, target: PluginText<'_>, message: PluginText<'_>) {
    // SAFETY: `new` made the context from a value that is never freed.
    let context = unsafe { &*context.cast::<Context>() };
    let most = limit::TEXT_BYTES as usize;
    let kept = [target, message].map(|text| text.bytes().len().min(most));
    let is_within = |quota: &mut Quota| quota.takes_log_record(kept[0] + kept[1]);
    context.write_within(is_within, |writer| {
        // What is cut here is cut with a remark by the host, as it is in its own process.
        let [target, message] = [target, message].map(|text| text.cut(limit::TEXT_BYTES + 4));
        writer.log(severity, target, message);
    });
}

/// The name of a metric. One that is too long stays so, and is not valid.
fn metric_name(name: PluginText<'_>) -> PluginText<'_> {
    name.cut(limit::FIGURE_NAME_BYTES + 4)
}

unsafe extern "C" fn count(context: *const c_void, name: PluginText<'_>, amount: u64) {
    // SAFETY: as for `log`.
    let context = unsafe { &*context.cast::<Context>() };
    context.write(|writer| writer.count(metric_name(name), amount));
}

unsafe extern "C" fn observe(context: *const c_void, name: PluginText<'_>, value: f64) {
    // SAFETY: as for `log`.
    let context = unsafe { &*context.cast::<Context>() };
    context.write(|writer| writer.observe(metric_name(name), value));
}

unsafe extern "C" fn text(_sink: *const c_void, kind: u32, row: u32, text: PluginText<'_>) -> u32 {
    RECORDING.with_borrow_mut(|recording| {
        // From another thread, it breaks the contract; the text is dropped.
        if !recording.is_open {
            return 0;
        }
        let is_reason = kind == text_kind::REASON;
        let kept = recording.quota.text(text);
        if !recording.quota.takes_text(kept.len()) {
            match recording.further {
                _ if !is_reason => return 0,
                Some(further) => return FIRST_PROVISIONAL.saturating_add(further),
                // The host leaves it out as well, and answers with the code that all further ones share.
                None => recording.quota.leaves_out_one_less(),
            }
            recording.further = Some(recording.texts);
        }
        recording.writer.text(kind, row, PluginText::from_bytes(&kept));
        let number = recording.texts;
        recording.texts += 1;
        match is_reason {
            true => FIRST_PROVISIONAL.saturating_add(number),
            false => 0,
        }
    })
}

unsafe extern "C" fn explain(_sink: *const c_void, reason: *const Reason<'_>) {
    // SAFETY: the plugin hands over a reason of its minor version.
    let Some(reason) = (unsafe { Reason::read(reason) }) else {
        return;
    };
    RECORDING.with_borrow_mut(|recording| {
        if !recording.is_open {
            return;
        }
        let figures = reason.figures.as_slice();
        let is_kept = |figure: &&FigureRow<'_>| figure.name.bytes().len() <= limit::FIGURE_NAME_BYTES as usize;
        let kept = figures.iter().take(limit::FIGURES as usize).filter(is_kept);
        let kept: Vec<FigureRow<'_>> = kept.copied().collect();
        let names: usize = kept.iter().map(|figure| figure.name.bytes().len()).sum();
        let text = recording.quota.text(reason.text);
        if recording.quota.takes_text(text.len().saturating_add(names)) {
            recording.quota.leaves_out_figures(figures.len() - kept.len());
            recording.writer.explain(&Reason {
                figures: Slice::new(&kept),
                text: PluginText::from_bytes(&text),
                ..reason
            });
        }
    });
}

unsafe extern "C" fn fail(_sink: *const c_void, failure: *const Failure<'_>) {
    // SAFETY: the plugin hands over a failure of its minor version.
    let Some(failure) = (unsafe { Failure::read(failure) }) else {
        return;
    };
    RECORDING.with_borrow_mut(|recording| {
        if recording.is_open {
            let [message, path, hint] =
                [failure.message, failure.path, failure.hint].map(|text| recording.quota.text(text));
            recording.writer.fail(&Failure {
                message: PluginText::from_bytes(&message),
                path: PluginText::from_bytes(&path),
                hint: PluginText::from_bytes(&hint),
                ..failure
            });
        }
    });
}
