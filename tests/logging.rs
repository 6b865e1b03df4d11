//! Events of a plugin reach the host's `tracing` under a target of the plugin's own, with their level and the binding. Events
//! that no subscriber wants are not even formatted.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

/// Records the events of plugins, each as one line, up to a level that can be changed.
#[derive(Debug, Clone, Default)]
struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
    level: Arc<AtomicU8>,
}

impl Recorder {
    /// Records events up to this level from now on.
    fn want(&self, level: LevelFilter) {
        let number = LEVELS.iter().position(|known| *known == level);
        let number = u8::try_from(number.expect("it is a level")).expect("there are few levels");
        self.level.store(number, Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().expect("recording does not panic"))
    }
}

const LEVELS: [LevelFilter; 3] = [LevelFilter::OFF, LevelFilter::INFO, LevelFilter::TRACE];

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let wanted = LEVELS[usize::from(self.level.load(Ordering::Relaxed))];
        metadata.target().starts_with("divvy::plugin") && *metadata.level() <= wanted
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LEVELS[usize::from(self.level.load(Ordering::Relaxed))])
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} {}", event.metadata().level(), event.metadata().target()));
        event.record(&mut line);
        self.lines.lock().expect("recording does not panic").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("writing to a string succeeds");
    }
}

/// A single test, because the level applies to the whole process.
#[test]
fn events_of_plugins_reach_the_host_and_cost_nothing_when_they_are_not_wanted() {
    let host = Host::extending("assign = ['faulty']");
    let decide = |fault: &str| {
        host.told([
            cluster("a", 9).into(),
            binding("web", 2)
                .strategy("Faulty")
                .annotation("faulty.example/fault", fault)
                .into(),
        ])
    };
    let formatted = |times: u32| {
        let told = decide("report how often it formatted");
        assert_eq!(told, format!("Error: plugin `faulty` failed: formatted {times} times"));
    };
    let recorder = Recorder::default();
    let record =
        |start: &str| format!(r#"{start} plugin="faulty" binding="default/web" module="divvy_fixture_faulty""#);
    let information = record(r#"INFO divvy::plugin::faulty message=prepared "nothing" answer=42"#);
    tracing::subscriber::with_default(recorder.clone(), || {
        recorder.want(LevelFilter::OFF);
        assert_eq!(decide("log"), "a=2");
        assert_eq!(recorder.take(), Vec::<String>::new());
        formatted(0);

        recorder.want(LevelFilter::INFO);
        assert_eq!(decide("log"), "a=2");
        assert_eq!(recorder.take(), [information.as_str()]);
        formatted(0);

        // The level can change at any time, and the plugin is notified.
        recorder.want(LevelFilter::TRACE);
        assert_eq!(decide("log"), "a=2");
        let details = record("DEBUG divvy::plugin::faulty message=details value=loud");
        assert_eq!(recorder.take(), [information.as_str(), &details]);
        formatted(1);

        recorder.want(LevelFilter::OFF);
        assert_eq!(decide("log"), "a=2");
        assert_eq!(recorder.take(), Vec::<String>::new());
        formatted(1);

        panics_are_logged(&recorder, &decide);
    });
}

/// A panic in a call has its backtrace in the log at the level of debugging. A panic in a destructor, which has no call to
/// fail, is in the log at once.
fn panics_are_logged(recorder: &Recorder, decide: &dyn Fn(&str) -> String) {
    recorder.want(LevelFilter::INFO);
    assert!(decide("panic in prepare").contains("prepare panicked"));
    assert_eq!(recorder.take(), Vec::<String>::new());

    recorder.want(LevelFilter::TRACE);
    assert!(decide("panic in prepare").contains("prepare panicked"));
    let lines = recorder.take();
    let [line] = lines.as_slice() else {
        panic!("not one record: {lines:?}");
    };
    let start = "DEBUG divvy::plugin::faulty message=panicked: prepare panicked (at ";
    assert!(line.starts_with(start), "{line}");
    assert!(
        line.contains("divvy_fixture_faulty"),
        "a frame of the plugin is missing: {line}"
    );
    assert!(line.contains("faulty/src/lib.rs"), "{line}");
    assert!(line.contains(r#" binding="default/web""#), "{line}");

    recorder.want(LevelFilter::INFO);
    assert_eq!(decide("panic in the state's destructor"), "a=2");
    let lines = recorder.take();
    let start = "ERROR divvy::plugin::faulty message=panicked while a value was dropped: the state panicked in its \
                 destructor (at ";
    assert!(lines.len() == 1 && lines[0].starts_with(start), "{lines:?}");

    drop(Host::extending(
        "assign = ['faulty']\nplugin.faulty.configuration.panic-on-drop = true",
    ));
    let lines = recorder.take();
    let start = "ERROR divvy::plugin::faulty message=panicked while the plugin was dropped: the plugin panicked in its \
                 destructor (at ";
    assert!(lines.len() == 1 && lines[0].starts_with(start), "{lines:?}");
    assert!(!lines[0].contains("binding="), "{lines:?}");
}
