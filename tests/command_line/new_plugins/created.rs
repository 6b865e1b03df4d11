//! A plugin as `divvy plugin new` creates it, outside the checkout, and the commands with which its author builds and tests it.
//!
//! `tests/programs` uses it, too: a plugin in C is built by make, which not every machine has.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tempfile::TempDir;

use crate::artifacts::{with_bundled_plugins, workspace};

/// Variables that cargo, make and a compiler need, beside those of the command itself.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

pub(crate) fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    run_with(arguments, &[])
}

pub(crate) fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(workspace().binary("divvy"));
    with_bundled_plugins(command.args(arguments));
    output(command, variables)
}

pub(crate) fn output(mut command: Command, variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    command.envs(
        PASSED_ON
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command
        .env("CARGO_NET_OFFLINE", "true")
        // As in the workspace: nobody debugs them.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-plugins"),
        )
        .envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().expect("the binary can be started");
    let text = |bytes| String::from_utf8(bytes).expect("divvy writes UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// A plugin in a folder outside the checkout.
pub(crate) struct New {
    pub(crate) folder: PathBuf,
    _turn: Option<MutexGuard<'static, ()>>,
    _parent: Arc<TempDir>,
}

impl New {
    #[track_caller]
    pub(crate) fn create(name: &str, arguments: &[&str]) -> Self {
        let parent = tempfile::tempdir().expect("a folder can be made");
        Self::create_in(Arc::new(parent), None, name, arguments)
    }

    /// A plugin in Rust in the folder of the one before, with the sources of the SDK that the first one brought: Cargo knows a crate by
    /// its path and the times of its files, so it compiles them once. A plugin has the folder until it is dropped.
    #[track_caller]
    pub(crate) fn in_rust(name: &str, point: &str) -> Self {
        static PARENT: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
        static TURN: Mutex<()> = Mutex::new(());
        let parent = {
            let mut shared = PARENT.lock().unwrap_or_else(PoisonError::into_inner);
            shared.upgrade().unwrap_or_else(|| {
                let parent = Arc::new(tempfile::tempdir().expect("a folder can be made"));
                *shared = Arc::downgrade(&parent);
                parent
            })
        };
        // A test that failed can leave a plugin whose sources are kept already.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let plugin = parent.path().join("plugin");
        let kept = parent.path().join("vendor");
        if plugin.exists() {
            if !kept.exists() {
                fs::rename(plugin.join("vendor"), &kept).expect("a folder can be moved");
            }
            fs::remove_dir_all(&plugin).expect("the folder can be removed");
        }
        let new = Self::create_in(parent, Some(turn), name, &["--point", point]);
        if kept.exists() {
            let vendor = new.folder.join("vendor");
            assert!(
                texts(&vendor) == texts(&kept),
                "plugins have different sources of the SDK"
            );
            fs::remove_dir_all(&vendor).expect("the folder can be removed");
            fs::rename(&kept, &vendor).expect("a folder can be moved");
        }
        new
    }

    #[track_caller]
    fn create_in(parent: Arc<TempDir>, turn: Option<MutexGuard<'static, ()>>, name: &str, arguments: &[&str]) -> Self {
        let folder = parent.path().join("plugin");
        let path = folder.to_str().expect("the path is UTF-8");
        let (exit, stdout, stderr) = run(&[&["plugin", "new", name, "--path", path], arguments].concat());
        assert_eq!((exit, stderr.as_str()), (Some(0), ""));
        assert!(
            stdout.starts_with(&format!("created the plugin `{name}` in {path}\n")),
            "{stdout}"
        );
        Self {
            folder,
            _turn: turn,
            _parent: parent,
        }
    }

    /// The plugin in C with this name. It is built in less than a second.
    #[track_caller]
    pub(crate) fn in_c(name: &str) -> Self {
        Self::create(name, &["--point=assign", "--language=c"])
    }

    pub(crate) fn path(&self) -> &str {
        self.folder.to_str().expect("the path is UTF-8")
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).expect("the file is there")
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).expect("the file can be written");
    }

    pub(crate) fn test(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        // The checks themselves have tests of their own.
        run(&[
            &["plugin", "test", self.path(), "--runs=20", "--clusters=100"],
            arguments,
        ]
        .concat())
    }

    /// Tests the plugin as it was created: everything passes.
    #[track_caller]
    pub(crate) fn passes(&self, cases: &[&str]) {
        let (exit, stdout, stderr) = self.test(&[]);
        assert_eq!(exit, Some(0), "{stdout}{stderr}");
        assert!(!stderr.contains("warning"), "{stderr}");
        let mut lines = stdout.lines();
        let library = lines.next().and_then(|line| line.strip_prefix("library "));
        let library = library.unwrap_or_else(|| panic!("{stdout}"));
        // The image is made of the file that was built: its folder is that of cargo, which the test sets.
        let image = self.read("Dockerfile");
        let copied = image
            .lines()
            .find_map(|line| line.strip_prefix("COPY ")?.strip_suffix(" /plugins/"));
        let copied = copied.and_then(|path| Path::new(path).file_name()?.to_str());
        let copied = copied.unwrap_or_else(|| panic!("{image}"));
        assert!(library.contains(&format!("/{copied} ")), "{copied}: {library}");
        for case in cases {
            assert_eq!(
                lines.next(),
                Some(format!("golden  {case}: ok").as_str()),
                "{stdout}{stderr}"
            );
        }
    }
}

/// All files in a folder and their texts.
fn texts(folder: &Path) -> BTreeMap<PathBuf, String> {
    let entries = walkdir::WalkDir::new(folder).into_iter();
    let files = entries
        .map(|entry| entry.expect("the folder can be read"))
        .filter(|entry| entry.file_type().is_file());
    files
        .map(|file| {
            let path = file.path().strip_prefix(folder).expect("the file is in the folder");
            let text = fs::read_to_string(file.path()).expect("the file can be read");
            (path.to_owned(), text)
        })
        .collect()
}
