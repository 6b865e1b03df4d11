//! A changed profile, table or plugin file becomes effective without a restart.
//!
//! The files are checked every few seconds, through symbolic links, because a mounted ConfigMap is exchanged by exchanging a
//! link. A changed set is loaded beside the old one, tried on the last decisions, and replaces it between two decisions. A
//! set that cannot be loaded, or that fails where the old one does not, is refused, and the old one stays. It is tried again
//! when one of its files changes; a missing file counts as one that can change. A set is given up if a call of one of its
//! plugins does not return while it is loaded: its thread goes on, and another one loads the next set.

use std::sync::Arc;
use std::time::Duration;

pub use divvy_client::FileVersions;

use crate::engine::{ActiveProfile, Trial};
use crate::observe::{Metrics, ReloadResult};
use crate::watchdog::stuck_loading;

/// Time between two checks of the files.
const INTERVAL: Duration = Duration::from_secs(2);

/// Loads the profile as at the start.
pub trait ProfileLoader: Send + Sync {
    /// Reads the profile, and finds, opens and constructs its plugins. Adds the version of each file to `files` before it is
    /// read: the profile, its tables, and every file in which a plugin is searched for, even if it does not exist.
    ///
    /// # Errors
    ///
    /// Every problem, as a text for the log.
    fn load(&self, files: &mut FileVersions) -> Result<ActiveProfile, String>;
}

/// Profile and files that are watched for changes.
#[derive(Clone)]
pub struct Reloading {
    /// Loads the profile.
    pub loader: Arc<dyn ProfileLoader>,
    /// The files that the present profile was loaded from.
    pub files: FileVersions,
}

/// Checks the files forever, and passes each changed set to `apply`, which tries it. Gives a set up if a call of one of its
/// plugins does not return for `hang_limit` while it is loaded; never if there is no limit.
pub(crate) async fn watch<Applied>(
    reloading: Reloading,
    hang_limit: Option<Duration>,
    metrics: Arc<Metrics>,
    mut apply: impl FnMut(ActiveProfile) -> Applied,
) where
    Applied: Future<Output = Option<Trial>>,
{
    let Reloading {
        loader,
        files: mut known,
    } = reloading;
    let mut unsettled = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let seen = known.now();
        if seen == known {
            unsettled = None;
            continue;
        }
        // A file that is being written changes again: it is loaded once it has been the same for an interval.
        if unsettled.as_ref() != Some(&seen) {
            unsettled = Some(seen);
            continue;
        }
        let loading = Arc::clone(&loader);
        let before = divvy_attribution::in_progress();
        // A library that hangs while it is opened keeps the dynamic linker to itself, for which threads wait that start.
        if let Some(opening) = before.iter().find(|call| call.is_loading && call.plugin.is_empty()) {
            known = seen;
            let refusal = Some(format!("{opening}; nothing can be loaded before a restart"));
            report(
                &Trial {
                    refusal,
                    ..Trial::default()
                },
                &metrics,
            );
            continue;
        }
        let loaded = tokio::task::spawn_blocking(move || {
            let _marked = divvy_attribution::loading();
            let mut files = FileVersions::default();
            (loading.load(&mut files), files)
        });
        let loaded = tokio::select! {
            loaded = loaded => loaded.map_err(|_| "the profile's loader panicked".to_owned()),
            hanging = stuck_loading(&metrics, hang_limit, before, divvy_attribution::in_progress) => {
                Err(format!("{hanging}; its thread cannot be ended before the process"))
            }
        };
        let loaded = match loaded {
            Ok((loaded, files)) => {
                known = files;
                loaded
            }
            Err(problem) => {
                known = seen;
                Err(problem)
            }
        };
        let trial = match loaded {
            Ok(profile) => match apply(profile).await {
                Some(trial) => trial,
                None => return,
            },
            Err(problems) => Trial {
                refusal: Some(problems),
                ..Trial::default()
            },
        };
        report(&trial, &metrics);
    }
}

fn report(trial: &Trial, metrics: &Metrics) {
    let Trial {
        decisions,
        differences,
        refusal,
    } = trial;
    match refusal {
        None => {
            metrics.reload(ReloadResult::Applied);
            metrics.profile_waiting(false);
            tracing::info!(
                decisions,
                differences,
                "the changed profile decides from now on; tried on the last decisions"
            );
        }
        Some(problem) => {
            metrics.reload(ReloadResult::Refused);
            metrics.profile_waiting(true);
            tracing::error!(problem, "the changed profile is refused; the old one stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::Receiver;

    use divvy_scheduler::profile::PlanOptions;
    use divvy_scheduler::profile::{Profile, ProfileParts};
    use divvy_scheduler::strategy::Declarations;

    use super::*;

    /// Loads a profile that consists of a table, unless the table is broken.
    struct TableLoader {
        table: PathBuf,
        loads: Mutex<Vec<String>>,
    }

    impl ProfileLoader for TableLoader {
        fn load(&self, files: &mut FileVersions) -> Result<ActiveProfile, String> {
            files.note(&self.table);
            let text = std::fs::read_to_string(&self.table);
            self.loads
                .lock()
                .unwrap()
                .push(text.as_deref().unwrap_or_default().to_owned());
            let text = text.map_err(|error| error.to_string())?;
            match text.starts_with("broken") {
                true => Err("the table is broken".to_owned()),
                false => Ok(profile()),
            }
        }
    }

    /// A profile without plugins.
    fn profile() -> ActiveProfile {
        let source = divvy_profile::ProfileSource::parse("p.toml".into(), "[[profile]]\nname = 'p'\n");
        let configuration = source.profile(None).unwrap();
        let parts = ProfileParts {
            name: configuration.name.clone(),
            filters: Vec::new(),
            scores: Vec::new(),
            select: Vec::new(),
            pace: None,
            strategies: BTreeMap::new(),
            unlisted: Default::default(),
            declarations: Declarations::default(),
            scheduler_name: String::new(),
            plan_options: PlanOptions::default(),
        };
        ActiveProfile::new(Arc::new(Profile::new(parts)), &configuration).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_table_is_loaded_and_a_broken_or_missing_one_leaves_the_old_profile_in_place() {
        let folder = std::env::temp_dir().join(format!("divvy-reload-table-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let table = folder.join("carbon.csv");
        std::fs::write(&table, "first").unwrap();
        let loader = Arc::new(TableLoader {
            table: table.clone(),
            loads: Mutex::default(),
        });
        let applied = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&applied);
        let apply = move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Some(Trial::default()))
        };
        let metrics = Arc::new(Metrics::new("test", None));
        let mut files = FileVersions::default();
        files.note(&table);
        let reloading = Reloading {
            loader: Arc::clone(&loader) as _,
            files,
        };
        let watching = tokio::spawn(watch(reloading, None, metrics, apply));
        for (text, expected) in [
            (None, (0, 0)),
            (Some("second, changed"), (1, 1)),
            (Some("broken by an editor"), (2, 1)),
            (None, (2, 1)),
            (Some("third, and corrected"), (3, 2)),
            (Some(""), (4, 2)),
            (Some("fourth, and back"), (5, 3)),
        ] {
            match text {
                Some("") => std::fs::remove_file(&table).unwrap(),
                Some(text) => std::fs::write(&table, text).unwrap(),
                None => {}
            }
            // Once to see the change, once more to see that it has settled.
            tokio::time::sleep(INTERVAL * 4).await;
            let loads = loader.loads.lock().unwrap().len();
            assert_eq!((loads, applied.load(Ordering::Relaxed)), expected, "{text:?}");
        }
        watching.abort();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Loads a profile, unless the file says that its plugin hangs.
    struct HangingLoader {
        file: PathBuf,
        /// Says nothing as long as plugins hang.
        hangs: Mutex<Receiver<()>>,
    }

    impl ProfileLoader for HangingLoader {
        fn load(&self, files: &mut FileVersions) -> Result<ActiveProfile, String> {
            files.note(&self.file);
            if std::fs::read_to_string(&self.file).is_ok_and(|text| text.starts_with("hang")) {
                let _marked = divvy_attribution::Site::new("average", "its construction").enter();
                let _ended = self.hangs.lock().unwrap().recv();
            }
            Ok(profile())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_profile_whose_plugin_hangs_is_refused_and_the_next_one_is_loaded() {
        let folder = std::env::temp_dir().join(format!("divvy-reload-hang-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("plugin");
        std::fs::write(&file, "first").unwrap();
        let (end, hangs) = std::sync::mpsc::channel();
        let loader = HangingLoader {
            file: file.clone(),
            hangs: Mutex::new(hangs),
        };
        let mut files = FileVersions::default();
        files.note(&file);
        let reloading = Reloading {
            loader: Arc::new(loader),
            files,
        };
        let metrics = Arc::new(Metrics::new("test", None));
        let applied = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&applied);
        let apply = move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Some(Trial::default()))
        };
        let limit = Some(Duration::from_secs(20));
        let watching = tokio::spawn(watch(reloading, limit, Arc::clone(&metrics), apply));
        for (text, refused, expected) in [("hang", 1, 0), ("hang once more", 2, 0), ("now it does not", 2, 1)] {
            std::fs::write(&file, text).unwrap();
            // Time stands still while a thread is busy, so it is moved by hand.
            for _ in 0..60 {
                tokio::time::advance(Duration::from_secs(1)).await;
                std::thread::sleep(Duration::from_millis(5));
                tokio::task::yield_now().await;
            }
            let rendered = metrics.render();
            let line = format!("divvy_reloads_total{{result=\"refused\"}} {refused}\n");
            assert!(rendered.contains(&line), "{text}: {rendered}");
            assert_eq!(applied.load(Ordering::Relaxed), expected, "{text}");
        }
        watching.abort();
        drop(end);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_changes_while_it_is_loaded_is_loaded_again() {
        let folder = std::env::temp_dir().join(format!("divvy-reload-race-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, missing) = (folder.join("profile"), folder.join("plugin"));
        std::fs::write(&file, "first").unwrap();
        let mut known = FileVersions::default();
        known.note(&file);
        known.note(&missing);
        assert_eq!(known.now(), known);
        std::fs::write(&file, "changed meanwhile").unwrap();
        // The version from before it was read counts.
        known.note(&file);
        assert_ne!(known.now(), known);
        let known = known.now();
        std::fs::write(&missing, "here it is").unwrap();
        assert_ne!(known.now(), known);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
