//! A changed profile, table or plugin file becomes effective without a restart.
//!
//! The files are looked at every few seconds, through symbolic links, because a mounted ConfigMap is exchanged by
//! exchanging a link. A changed set is loaded beside the old one, tried on the last decisions, and takes its place between
//! two decisions. A set that cannot be loaded, or that fails where the old one does not, is refused, and the old one
//! stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::engine::ActiveProfile;
use crate::observe::{Metrics, ReloadResult};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_secs(2);

/// Loads the profile as at the start.
pub trait ProfileLoader: Send + Sync {
    /// Reads the profile, and finds, opens and constructs its plugins.
    ///
    /// # Errors
    ///
    /// Every problem, as a text for the log.
    fn load(&self) -> Result<ActiveProfile, String>;

    /// The profile's file, if it is not built in, and the files of the tables that it named when it was last read, even
    /// if it was refused then, so that a corrected table is noticed.
    fn files(&self) -> Vec<PathBuf>;
}

/// Outcome of the last decisions with a new set of plugins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// Decisions that were repeated.
    pub decisions: usize,
    /// Those with another result than under the old set.
    pub differences: usize,
    /// Why the set is refused; `None` if it decides from now on.
    pub refusal: Option<String>,
}

/// Looks at the files for ever, and hands each changed set to `apply`, which tries it.
pub async fn watch<Applied>(
    loader: Arc<dyn ProfileLoader>,
    mut current: ActiveProfile,
    metrics: Arc<Metrics>,
    mut apply: impl FnMut(ActiveProfile) -> Applied,
) where
    Applied: Future<Output = Option<Trial>>,
{
    let mut known = fingerprints(&files(&*loader, &current));
    let mut unsettled = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let seen = fingerprints(&files(&*loader, &current));
        if seen == known {
            unsettled = None;
            continue;
        }
        // A file that is being written changes again: it is loaded once it has been the same for an interval.
        if unsettled.as_ref() != Some(&seen) {
            unsettled = Some(seen);
            continue;
        }
        known = seen;
        let loading = Arc::clone(&loader);
        let loaded = tokio::task::spawn_blocking(move || loading.load()).await;
        let loaded = loaded.unwrap_or_else(|_| Err("the profile's loader panicked".to_owned()));
        let trial = match loaded {
            Ok(profile) => {
                let Some(trial) = apply(profile.clone()).await else {
                    return;
                };
                if trial.refusal.is_none() {
                    current = profile;
                    known = versions_loaded(known, &files(&*loader, &current));
                }
                trial
            }
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
            tracing::info!(
                decisions,
                differences,
                "the changed profile decides from now on; tried on the last decisions"
            );
        }
        Some(problem) => {
            metrics.reload(ReloadResult::Refused);
            tracing::error!(problem, "the changed profile is refused; the old one stays");
        }
    }
}

/// The profile's file, those of its tables, and the libraries of its plugins.
fn files(loader: &dyn ProfileLoader, current: &ActiveProfile) -> Vec<PathBuf> {
    let plugins = current
        .profile
        .plugins()
        .map(|plugin| plugin.library().path().to_owned());
    loader.files().into_iter().chain(plugins).collect()
}

/// Identity of a version of a file: the target of its links, its size, and its time.
type Fingerprint = Option<(PathBuf, u64, SystemTime)>;

fn fingerprints(files: &[PathBuf]) -> BTreeMap<PathBuf, Fingerprint> {
    files.iter().map(|file| (file.clone(), fingerprint(file))).collect()
}

/// The versions that were loaded: those that were seen before. A file that changed meanwhile is seen as changed next
/// time. For files that were not read before, the present version counts.
fn versions_loaded(seen: BTreeMap<PathBuf, Fingerprint>, files: &[PathBuf]) -> BTreeMap<PathBuf, Fingerprint> {
    let mut loaded = fingerprints(files);
    for (file, fingerprint) in seen {
        loaded.entry(file).and_modify(|known| *known = fingerprint);
    }
    loaded
}

fn fingerprint(file: &Path) -> Fingerprint {
    let target = std::fs::canonicalize(file).ok()?;
    let metadata = std::fs::metadata(&target).ok()?;
    Some((target, metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use divvy_scheduler::plan::PlanOptions;
    use divvy_scheduler::scheduler::{Profile, ProfileParts};
    use divvy_scheduler::strategy::Declarations;

    use super::*;

    #[test]
    fn an_exchanged_link_is_a_change() {
        let folder = std::env::temp_dir().join(format!("divvy-reload-{}", std::process::id()));
        let path = |name: &str| folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(path("one"), "same").unwrap();
        std::fs::write(path("two"), "same").unwrap();
        std::os::unix::fs::symlink(path("one"), path("link")).unwrap();
        let before = fingerprint(&path("link"));
        assert_eq!(fingerprint(&path("link")), before);
        std::os::unix::fs::symlink(path("two"), path("next")).unwrap();
        std::fs::rename(path("next"), path("link")).unwrap();
        assert_ne!(fingerprint(&path("link")), before);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(fingerprint(&path("link")), None);
    }

    /// Loads a profile that consists of a table, unless the table is broken.
    struct TableLoader {
        table: PathBuf,
        loads: Mutex<Vec<String>>,
    }

    impl ProfileLoader for TableLoader {
        fn load(&self) -> Result<ActiveProfile, String> {
            let text = std::fs::read_to_string(&self.table).map_err(|error| error.to_string())?;
            self.loads.lock().unwrap().push(text.clone());
            match text.starts_with("broken") {
                true => Err("the table is broken".to_owned()),
                false => Ok(profile()),
            }
        }

        fn files(&self) -> Vec<PathBuf> {
            vec![self.table.clone()]
        }
    }

    /// A profile without plugins.
    fn profile() -> ActiveProfile {
        let source = divvy_scheduler::profile::ProfileSource::parse("p.toml".into(), "[[profile]]\nname = 'p'\n");
        let configuration = source.profile(None).unwrap();
        let parts = ProfileParts {
            name: configuration.name.clone(),
            filters: Vec::new(),
            scores: Vec::new(),
            select: Vec::new(),
            strategies: BTreeMap::new(),
            unlisted: Default::default(),
            declarations: Declarations::default(),
            scheduler_name: String::new(),
            plan_options: PlanOptions::default(),
        };
        ActiveProfile::new(Arc::new(Profile::new(parts)), &configuration)
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_table_is_loaded_and_a_broken_one_leaves_the_old_profile_in_place() {
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
        let watching = tokio::spawn(watch(Arc::clone(&loader) as _, profile(), metrics, apply));
        for (text, expected) in [
            (None, (0, 0)),
            (Some("second, changed"), (1, 1)),
            (Some("broken by an editor"), (2, 1)),
            (None, (2, 1)),
            (Some("third, and corrected"), (3, 2)),
        ] {
            if let Some(text) = text {
                std::fs::write(&table, text).unwrap();
            }
            // Once to see the change, once more to see that it has settled.
            tokio::time::sleep(INTERVAL * 4).await;
            let loads = loader.loads.lock().unwrap().len();
            assert_eq!((loads, applied.load(Ordering::Relaxed)), expected, "{text:?}");
        }
        watching.abort();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_changes_while_it_is_loaded_is_loaded_again() {
        let folder = std::env::temp_dir().join(format!("divvy-reload-race-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = ["profile", "plugin", "gone"].map(|name| folder.join(name));
        for file in &files {
            std::fs::write(file, "first").unwrap();
        }
        let seen = fingerprints(&[files[0].clone(), files[2].clone()]);
        std::fs::write(&files[0], "changed meanwhile").unwrap();
        let now_used = [files[0].clone(), files[1].clone()];
        let known = versions_loaded(seen, &now_used);
        let present = fingerprints(&now_used);
        assert_ne!(known[&files[0]], present[&files[0]]);
        assert_eq!(known[&files[1]], present[&files[1]]);
        assert!(!known.contains_key(&files[2]));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
