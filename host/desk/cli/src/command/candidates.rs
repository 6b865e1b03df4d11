//! Candidates of completions: clusters, bindings, policies and namespaces of the input that an unfinished command line names.
//!
//! A person waits for them, so a large input is not read, and a control plane must answer soon. An input that cannot be read gives no
//! candidates instead of an error: the command itself reports it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, Command};
use clap_complete::engine::ArgValueCompleter;
use divvy_client::listing::list;
use divvy_client::{ConnectionOptions, connect};
use divvy_command::completing::{offered, with_candidates as with_candidates_of_all};
use divvy_forecast::choice::zones;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Input, Manifests, ReadOptions, Validation};

/// Maximum bytes of all files that are read.
const BYTES_MAX: u64 = 32 << 20;

/// Maximum time for the answers of a control plane.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Maximum files of the folders of an input.
const FILES_MAX: usize = 10_000;

/// A command whose arguments have candidates, by the names of their values.
pub(super) fn with_candidates(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_candidates)
}

fn with_completer(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(|names| names.first());
    let find: fn(&str) -> Vec<String> = match name.map(|name| name.as_str()).unwrap_or_default() {
        "CLUSTERS" => clusters,
        "BINDING" => bindings,
        "PATTERN=COUNT" => |current| bindings(current).into_iter().map(|binding| binding + "=").collect(),
        "PATTERN|all" => |current| bindings(current).into_iter().chain(["all".to_owned()]).collect(),
        "KIND/NAME" => objects,
        "NAMESPACE" if argument.get_id() == "namespace" => |_| namespaces(),
        _ => return with_candidates_of_all(argument),
    };
    argument.add(ArgValueCompleter::new(move |current: &OsStr| {
        let Some(current) = current.to_str() else {
            return Vec::new();
        };
        offered(find(current), current)
    }))
}

/// Clusters by name, then by region, zone and provider, each of them once its key is typed.
fn clusters(current: &str) -> Vec<String> {
    let Some(manifests) = Typed::by_the_shell().manifests() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for cluster in &manifests.clusters {
        let cluster = &cluster.object;
        found.push(cluster.metadata.name.clone());
        let by_region = [
            ("region", cluster.spec.region.as_str()),
            ("provider", &cluster.spec.provider),
        ];
        let by_zone = zones(cluster).map(|zone| ("zone", zone));
        let groups = by_region
            .into_iter()
            .filter(|(_, name)| !name.is_empty())
            .chain(by_zone);
        found.extend(groups.map(|(key, name)| match current.contains('=') {
            true => format!("{key}={name}"),
            false => format!("{key}="),
        }));
    }
    found
}

/// Bindings as `KIND/NAME`; once something is typed, as `NAMESPACE/KIND/NAME` and `NAMESPACE/BINDING`, too.
fn bindings(current: &str) -> Vec<String> {
    let Some(mut manifests) = Typed::by_the_shell().manifests() else {
        return Vec::new();
    };
    let detected = manifests.detect(WorkloadKinds::default());
    let mut found = Vec::new();
    for binding in &detected.bindings {
        let resource = &binding.object.spec.resource;
        let workload = format!("{}/{}", resource.kind.to_lowercase(), resource.name);
        if !current.is_empty() {
            found.push(in_namespace(&resource.namespace, &workload));
            found.push(binding.key());
        }
        found.push(workload);
    }
    found
}

/// Policies and workloads, as `NAMESPACE/KIND/NAME`, or `KIND/NAME` without a namespace.
fn objects(_: &str) -> Vec<String> {
    let Some(manifests) = Typed::by_the_shell().manifests() else {
        return Vec::new();
    };
    let policies = manifests.policies.iter().map(|policy| &policy.object);
    let policies = policies.map(|policy| (&policy.kind, &policy.metadata.name, &policy.metadata.namespace));
    let bound = manifests.bindings.iter().map(|binding| &binding.object.spec.resource);
    let bound = bound.map(|resource| (&resource.kind, &resource.name, &resource.namespace));
    let all = policies.chain(bound);
    all.map(|(kind, name, namespace)| in_namespace(namespace, &format!("{}/{name}", kind.to_lowercase())))
        .collect()
}

fn in_namespace(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}/{name}"),
    }
}

fn namespaces() -> Vec<String> {
    let Some(mut manifests) = Typed::by_the_shell().manifests() else {
        return Vec::new();
    };
    let detected = manifests.detect(WorkloadKinds::default());
    let names = detected
        .bindings
        .iter()
        .map(|binding| binding.object.metadata.namespace.clone());
    names.filter(|name| !name.is_empty()).collect()
}

/// The input of a command line, as far as it is typed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Typed {
    /// Files and folders.
    paths: Vec<PathBuf>,
    kubeconfig: Option<PathBuf>,
    context: Option<String>,
}

impl Typed {
    /// The command line that the shell repeats after its own `--`.
    fn by_the_shell() -> Self {
        Self::on(std::env::args_os().skip_while(|word| word != "--").skip(1))
    }

    /// Finds the arguments that select the input. The line is unfinished, so clap would refuse it.
    fn on(words: impl Iterator<Item = OsString>) -> Self {
        let (mut typed, mut words) = (Self::default(), words.peekable());
        while let Some(word) = words.next() {
            let Some(word) = word.to_str() else { continue };
            let (option, attached) = match (word.split_once('='), word.strip_prefix("-f")) {
                (Some((option, value)), _) if option.starts_with("--") => (option, Some(value)),
                (_, Some(value)) if !value.is_empty() => ("-f", Some(value)),
                _ => (word, None),
            };
            if !matches!(option, "-f" | "--filename" | "--kubeconfig" | "--context") {
                continue;
            }
            let following = match attached {
                Some(value) => Some(OsString::from(value)),
                None => {
                    // bash splits words at `=`.
                    words.next_if(|word| word == "=");
                    words.next()
                }
            };
            let Some(value) = following else { continue };
            match option {
                "--kubeconfig" => typed.kubeconfig = Some(value.into()),
                "--context" => typed.context = value.into_string().ok(),
                // Standard input belongs to the command.
                _ if value == "-" => {}
                _ => typed.paths.push(value.into()),
            }
        }
        typed
    }

    /// Reads the input; `None` if there is none, or if it is too large.
    fn manifests(&self) -> Option<Manifests> {
        let mut inputs = self.live_lists().unwrap_or_default();
        let mut left = Left::default();
        if self.paths.iter().all(|path| left.takes(path)) {
            inputs.extend(self.paths.iter().cloned().map(Input::Path));
        }
        if inputs.is_empty() {
            return None;
        }
        let options = ReadOptions {
            workload_kinds: WorkloadKinds::default(),
            validation: Validation::Ignore,
            ..ReadOptions::default()
        };
        Some(divvy_manifests::read(&inputs, &mut io::empty(), &options))
    }

    /// The lists of a control plane, if the line names one that answers in time.
    fn live_lists(&self) -> Option<Vec<Input>> {
        if self.kubeconfig.is_none() && self.context.is_none() {
            return None;
        }
        let connection = ConnectionOptions::new(self.kubeconfig.clone(), self.context.clone(), "complete");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        let asked = async {
            let clients = connect(&connection).await.ok()?;
            list(&clients, None).await.ok()
        };
        // The timer belongs to the runtime, so it starts inside of it.
        let lists = runtime.block_on(async { tokio::time::timeout(ANSWER_MAX, asked).await });
        let lists = lists.ok().flatten()?.into_iter();
        Some(lists.map(|(name, text)| Input::Text(name.into(), text)).collect())
    }
}

/// What may still be read.
struct Left {
    bytes: u64,
    files: usize,
}

impl Default for Left {
    fn default() -> Self {
        Self {
            bytes: BYTES_MAX,
            files: FILES_MAX,
        }
    }
}

impl Left {
    /// Counts a file, or all files of a folder. Returns false if they are too many or too large, or if the path is neither.
    fn takes(&mut self, path: &Path) -> bool {
        let Ok(metadata) = path.metadata() else {
            return false;
        };
        let Some(files) = self.files.checked_sub(1) else {
            return false;
        };
        self.files = files;
        if metadata.is_dir() {
            let Ok(entries) = path.read_dir() else { return false };
            return entries.flatten().all(|entry| {
                // A link to a folder above would never end; the command reads it with care.
                entry.file_type().is_ok_and(|kind| kind.is_symlink()) || self.takes(&entry.path())
            });
        }
        // Reading a pipe would take its content from the command.
        let Some(bytes) = self.bytes.checked_sub(metadata.len()).filter(|_| metadata.is_file()) else {
            return false;
        };
        self.bytes = bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Typed {
        Typed::on(line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_input_is_found_in_an_unfinished_line() {
        let expected = Typed {
            paths: ["a", "b.yaml", "c", "d", "e"].map(PathBuf::from).into(),
            kubeconfig: Some("k".into()),
            context: Some("x".to_owned()),
        };
        let line = "divvy diff -f a --filename b.yaml -fc --filename=d --filename = e --kubeconfig k --context=x --drain eu -f";
        assert_eq!(typed(line), expected);
        assert_eq!(typed("divvy schedule -f - --profile p"), Typed::default());
    }

    #[test]
    fn a_large_file_is_not_read() {
        let file = tempfile::NamedTempFile::new().expect("a file can be made");
        assert!(Left::default().takes(file.path()));
        file.as_file().set_len(BYTES_MAX + 1).expect("the file can be enlarged");
        assert!(!Left::default().takes(file.path()));
        assert!(!Left::default().takes(Path::new("/dev/null")));
    }
}
