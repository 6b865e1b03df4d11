//! Completions as shells ask for them, and man pages.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{divvy, run};
use crate::artifacts::repository;
use crate::shell::in_shell;

/// What a shell is offered for the last word of a line, one candidate per line, each with its help after a tab.
fn offered(line: &[&str]) -> Vec<String> {
    let fleet = repository().join("examples/fleet");
    let fleet = fleet.to_str().expect("the path is UTF-8");
    let words = line.iter().map(|word| if *word == "FLEET" { fleet } else { word });
    let words: Vec<&str> = ["--", "divvy"].into_iter().chain(words).collect();
    // fish takes the last word for the one to complete.
    let output = divvy(&words).env("DIVVY_COMPLETE", "fish").output();
    let output = output.expect("the binary can be started");
    assert!(
        output.status.success(),
        "{line:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line:?}");
    let text = String::from_utf8(output.stdout).expect("candidates are UTF-8");
    let candidates = text.lines().map(|line| line.split('\t').next().unwrap_or_default());
    candidates.map(str::to_owned).collect()
}

#[test]
fn clusters_are_those_of_the_input() {
    assert_eq!(
        offered(&["diff", "-f", "FLEET", "--drain", "eu-"]),
        [
            "eu-aws-frankfurt",
            "eu-azure-amsterdam",
            "eu-gcp-belgium",
            "eu-onprem-paris"
        ]
    );
    let groups = offered(&["headroom", "-f", "FLEET", "--cordon", ""]);
    for group in ["region=", "zone=", "provider=", "us-gcp-iowa"] {
        assert!(groups.iter().any(|offer| offer == group), "{groups:?}");
    }
    assert_eq!(
        offered(&[
            "schedule",
            "--filename=tests-do-not-have-this",
            "-f",
            "FLEET",
            "--cluster",
            "region=e"
        ]),
        Vec::<String>::new(),
        "the command would refuse this input"
    );
    assert_eq!(
        offered(&["schedule", "-f", "FLEET", "--cluster", "region=e"]),
        ["region=europe"]
    );
}

#[test]
fn bindings_are_those_of_the_input_in_every_form() {
    assert_eq!(
        offered(&["schedule", "-f", "FLEET", "deployment/se"]),
        ["deployment/search"]
    );
    assert_eq!(
        offered(&["schedule", "-f", "FLEET", "shop/se"]),
        ["shop/search-deployment", "shop/session-store-statefulset"]
    );
    assert_eq!(
        offered(&["diff", "-f", "FLEET", "--replicas", "job/"]),
        ["job/nightly-report="]
    );
    assert_eq!(offered(&["diff", "-f", "FLEET", "--reschedule", "a"]), ["all"]);
    assert_eq!(
        offered(&["diff", "-f", "FLEET", "--delete", "shop/propagationpolicy/se"]),
        ["shop/propagationpolicy/search", "shop/propagationpolicy/session-store"]
    );
    assert_eq!(offered(&["schedule", "-f", "FLEET", "-n", "s"]), ["shop"]);
}

#[test]
fn profiles_are_built_in_ones_files_and_those_in_a_file() {
    assert_eq!(offered(&["schedule", "--profile", "kar"]), ["karmada", "karmada-alpha"]);
    let file = repository().join("examples/cost/profile.toml");
    let file = file.to_str().expect("the path is UTF-8");
    let folder = file.strip_suffix("profile.toml").expect("it is the file's name");
    let offers = offered(&["diff", "--base", folder]);
    assert_eq!(offers, [file], "no tables");
    let offers = offered(&["diff", "--base", &format!("{file}#c")]);
    assert_eq!(offers, [format!("{file}#carbon"), format!("{file}#cost")]);
}

#[test]
fn nothing_is_offered_where_the_input_is_missing_and_no_files_for_a_strategy() {
    assert_eq!(offered(&["diff", "--drain", ""]), Vec::<String>::new());
    assert_eq!(offered(&["diff", "-f", "-", "--drain", ""]), Vec::<String>::new());
    assert_eq!(offered(&["schedule", "--strategy", ""]), Vec::<String>::new());
    // A control plane that does not answer is no error.
    assert_eq!(
        offered(&["diff", "--kubeconfig", "/nothing", "--drain", ""]),
        Vec::<String>::new()
    );
}

/// A kubeconfig for an API server in this process, which lists two clusters and nothing else, or never answers.
fn control_plane(folder: &tempfile::TempDir, answers: bool) -> PathBuf {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for connection in listener.incoming().map_while(Result::ok) {
            if !answers {
                kept.push(connection);
                continue;
            }
            let mut lines = BufReader::new(&connection).lines().map_while(Result::ok);
            let Some(request) = lines.next() else { continue };
            // A request without a body ends with an empty line.
            for _line in lines.take_while(|line| !line.is_empty()) {}
            let items = match request.contains("/clusters?") {
                true => r#"{"metadata":{"name":"live-1"}},{"metadata":{"name":"live-2"}}"#,
                false => "",
            };
            let body = format!(r#"{{"kind":"List","apiVersion":"v1","metadata":{{}},"items":[{items}]}}"#);
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            // The client may have given up.
            let _written = write!(&connection, "{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        }
    });
    let file = folder.path().join("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: it\n\
         clusters: [{{name: it, cluster: {{server: 'http://{address}'}}}}]\n\
         users: [{{name: it, user: {{}}}}]\n\
         contexts: [{{name: it, context: {{cluster: it, user: it}}}}]\n"
    );
    std::fs::write(&file, text).expect("the file can be written");
    file
}

#[test]
fn a_control_plane_is_asked_and_has_two_seconds() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let timed = |answers: bool| {
        let file = control_plane(&folder, answers);
        let began = Instant::now();
        let file = file.to_str().expect("the path is UTF-8");
        (
            offered(&["diff", "--kubeconfig", file, "--drain", "live"]),
            began.elapsed(),
        )
    };
    let (offers, busy) = timed(true);
    assert_eq!(offers, ["live-1", "live-2"]);
    let (offers, waited) = timed(false);
    assert_eq!(offers, Vec::<String>::new());
    // A request of any other command has four and a half seconds. How busy the machine is does not count.
    assert!(waited.saturating_sub(busy) < Duration::from_secs(4), "{waited:?}");
}

#[test]
fn bash_completes_with_the_script() {
    let script = r#"
        source <(divvy completions bash)
        COMP_WORDS=(divvy diff -f examples/fleet --drain eu-)
        COMP_CWORD=5 COMP_TYPE=9
        _clap_complete_divvy divvy eu- --drain
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    assert_eq!(
        in_shell("bash", &["--norc", "-c"], script),
        "eu-aws-frankfurt\neu-azure-amsterdam\neu-gcp-belgium\neu-onprem-paris\n"
    );
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let pages = folder.path().join("man1");
    // Each program writes its own, as a release has them do.
    let folder_of_pages = pages.to_str().expect("the path is UTF-8");
    for command in [&["man-pages"][..], &["plugin", "man-pages"], &["run", "--man-pages"]] {
        let (exit, stdout, stderr) = run(&[command, &[folder_of_pages]].concat());
        assert_eq!(
            (exit, stdout.as_str(), stderr.as_str()),
            (Some(0), "", ""),
            "{command:?}"
        );
    }
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (name, heading, option) in [
        ("divvy.1", "divvy", "color"),
        ("divvy-diff.1", "divvy\\-diff", "drain"),
        ("divvy-plugin-verify.1", "divvy\\-plugin\\-verify", "runs"),
    ] {
        let page = page(name);
        assert!(
            page.contains(&format!(".TH {heading} 1")) || page.contains(".TH"),
            "{page}"
        );
        assert!(
            page.contains(&format!("\\-\\-{option}")),
            "{name} has no --{option}: {page}"
        );
        assert!(page.contains("Exit codes") || name != "divvy-diff.1", "{page}");
    }
    // Every command that help lists, and none that it hides.
    let help = std::fs::read_to_string(repository().join("tests/command_line/help.txt")).expect("it can be read");
    let commands = help
        .lines()
        .filter_map(|line| line.strip_prefix("$ ")?.strip_suffix(" --help"));
    let mut expected: Vec<String> = commands.map(|command| command.replace(' ', "-") + ".1").collect();
    let entries = std::fs::read_dir(&pages).expect("the folder can be listed");
    let mut written: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    expected.sort();
    written.sort();
    assert_eq!(written, expected);
}

#[test]
fn man_pages_are_not_written_into_a_file() {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    let (exit, _, stderr) = run(&["man-pages", file.path().to_str().expect("the path is UTF-8")]);
    assert_eq!(exit, Some(2));
    assert!(
        stderr.starts_with("error: the man pages cannot be written to `"),
        "{stderr}"
    );
}
