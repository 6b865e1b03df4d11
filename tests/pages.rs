//! The pages of the site and the README: every command that they show runs, and prints what they say.
//!
//! The blocks of a page run in their order, in a folder of their own with a link `examples` to the repository's:
//!
//! - A block after `<!-- file: NAME -->` is written to a file of that name.
//! - A `console` block has commands after `$ `, each followed by what it prints on either stream. A command that fails is followed by
//!   `$ echo $?`, with its exit code.
//! - A `sh` block runs, and must succeed. After `<!-- not run: REASON -->` it does not, but its arguments of `divvy` must exist; after
//!   `<!-- ci: NAME -->` it is run by `.ci/run`.
//!
//! `SNAPSHOTS=overwrite` accepts what the commands print.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use divvy_site::markdown::{Block, blocks};
use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, Data};
use walkdir::WalkDir;

use crate::artifacts::{plugin, repository, workspace};

/// The README and all pages of the site, by their path in the repository.
pub(crate) fn pages() -> Vec<String> {
    let entries = WalkDir::new(repository().join("docs")).sort_by_file_name().into_iter();
    let files = entries.map(|entry| entry.expect("`docs` can be listed").into_path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    let shown = files.map(|file| {
        let shown = file.strip_prefix(repository()).expect("it is in the repository");
        shown.to_string_lossy().into_owned()
    });
    [String::from("README.md")].into_iter().chain(shown).collect()
}

/// Pages whose blocks another test runs.
const ELSEWHERE: [&str; 1] = ["docs/which-division.md"];

/// A command of a page in its folder: its exit code, and what it prints on both streams.
fn run(script: &str, folder: &Path) -> (i32, String) {
    let divvy = workspace().binary("divvy").parent().expect("a binary is in a folder");
    let plugins: PathBuf = plugin("duplicated")
        .parent()
        .expect("a library is in a folder")
        .to_owned();
    let path: OsString =
        std::env::join_paths([divvy, Path::new("/usr/bin"), Path::new("/bin")]).expect("no folder has a colon");
    let output = Command::new("bash")
        .args(["-uo", "pipefail", "-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("DIVVY_PLUGIN_PATH", plugins)
        .stdin(Stdio::null())
        .output()
        .expect("bash can be started");
    let code = output.status.code().expect("a shell ends with a code");
    (code, String::from_utf8(output.stdout).expect("divvy writes UTF-8"))
}

/// The commands of a block of a console, without their output. A command goes on after a line that ends in `\`.
fn commands(code: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in code.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        } else if goes_on && let Some(command) = commands.last_mut() {
            command.push('\n');
            command.push_str(line);
        } else {
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

/// The lines of a console block with what its commands print now.
fn console(page: &str, code: &str, folder: &Path) -> String {
    let (mut text, mut last) = (String::new(), 0);
    let commands = commands(code);
    assert!(!commands.is_empty(), "{page}: a console without a command:\n{code}");
    for command in commands {
        let asks = command == "echo $?";
        assert!(
            asks || last == 0,
            "{page}: `$ echo $?` is missing after the command that ends with {last}:\n{text}"
        );
        // The question is answered by another shell.
        let script = if asks { format!("echo {last}") } else { command.clone() };
        let (code, printed) = run(&script, folder);
        last = code;
        text.push_str(&format!("$ {command}\n{printed}"));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    assert_eq!(last, 0, "{page}: `$ echo $?` is missing at the end of:\n{text}");
    text
}

/// Runs the blocks of a page. Returns the page with what they print now, and the number of commands.
fn executed(page: &str, text: &str) -> (String, usize) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::os::unix::fs::symlink(repository().join("examples"), folder.path().join("examples"))
        .expect("a link can be made");
    let (mut made, mut count, mut written) = (String::new(), 0, 0);
    for Block {
        range,
        language,
        code,
        comment,
    } in blocks(text)
    {
        if let Some(file) = comment.strip_prefix("file: ") {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().expect("it is in the folder")).expect("the folder can be made");
            fs::write(file, code).expect("the file can be written");
        } else if language == "console" {
            let printed = console(page, &code, folder.path());
            count += commands(&code).len();
            let original = text.get(range.clone()).unwrap_or_default();
            let end = if original.ends_with('\n') { "\n" } else { "" };
            made.push_str(text.get(written..range.start).unwrap_or_default());
            made.push_str(&format!("```console\n{printed}```{end}"));
            written = range.end;
        } else if language == "sh" && !comment.starts_with("not run: ") && !comment.starts_with("ci: ") {
            let (exit, printed) = run(&format!("set -e\n{code}"), folder.path());
            assert_eq!(exit, 0, "{page}: {code}{printed}");
            count += 1;
        }
    }
    made.push_str(text.get(written..).unwrap_or_default());
    (made, count)
}

#[test]
fn every_command_of_a_page_prints_what_the_page_says() {
    let mut count = 0;
    for page in pages().iter().filter(|page| !ELSEWHERE.contains(&page.as_str())) {
        let file = repository().join(page);
        let text = fs::read_to_string(&file).expect("the page can be read");
        let (made, commands) = executed(page, &text);
        count += commands;
        let assert = Assert::new().action_env(DEFAULT_ACTION_ENV);
        let compared = assert.try_eq(Some(page), made.into(), Data::read_from(&file, None).raw());
        compared.unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(count > 30, "only {count} commands were found");
}

#[test]
fn a_page_that_says_something_else_is_noticed() {
    let text =
        "<!-- file: a/b.txt -->\n```text\nc\n```\n\n```console\n$ cat a/b.txt; \\\n  false\nd\n$ echo $?\n0\n```\n";
    let (made, count) = executed("a page", text);
    assert_eq!(count, 2);
    assert_eq!(made, text.replace("\nd\n", "\nc\n").replace("\n0\n", "\n1\n"));
}
