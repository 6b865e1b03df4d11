//! The order of the modules of a folder: each uses those below it alone, so that no circle needs to be understood at once.
//!
//! Paths are read from the sources, in `use` and elsewhere. A path that leaves the folder is the business of a folder above. The
//! folder's own file (`lib.rs`, `main.rs`, `mod.rs`) is above all of its modules, and tests may use everything.
//!
//! A module that is a folder is one room, unless the folder is listed itself. Two are not, for the same reason: the files of
//! `controller/src/engine` are the methods of one state machine, and those of `controller/src/run` the threads of one loop.

use super::{SourceFile, check_none, files};

/// The modules of each folder, the lowest first. Those of one line do not use each other.
const HOUSES: [(&str, &[&str]); 17] = [
    (
        "framework/spanned/src",
        &[
            "chunks names path strict unique",
            "diagnostic node",
            "words",
            "fault",
            "deserializer json toml yaml",
            "decode",
        ],
    ),
    (
        "framework/view/src",
        &["reason weekly words", "clusters", "binding tables"],
    ),
    (
        "framework/calls/src",
        &["binding metrics pace snapshot stated", "cycle placements rules tables"],
    ),
    (
        "host/live/estimator/src",
        &[
            "address breaker kubernetes message wording",
            "error request",
            "answers call connection estimate",
            "estimators",
        ],
    ),
    (
        "host/core/command/src",
        &[
            // Words, and arguments of several commands.
            "allocator closed connection duration exit seed style text time",
            "notes",
            "completing errors escaping layout progress",
            // Streams.
            "console form grid man_pages reading",
            // The profile, and the program around a command.
            "log_lines",
            "chosen_profile ends libraries logging",
            "additional worker",
            "program setup",
        ],
    ),
    (
        "host/core/isolation/src",
        &[
            "usage",
            "deadline error event header output region request sandbox",
            "call control watch",
            "observed",
            "exchange",
            "messages process",
            "supervisor",
            "plugin",
            "worker",
        ],
    ),
    (
        "host/desk/page/src",
        &[
            "digest figure flow number packed texts",
            "explanations table",
            "content",
            "data headline",
            "sheet",
            "render",
        ],
    ),
    ("host/desk/cli/src", &["report", "command"]),
    (
        "host/desk/cli/src/report",
        &[
            "locations",
            "binding_errors clusters profile reasons warnings",
            "costs",
            "entry",
            "account explanation loads plan",
            "forecast policies",
            "cluster_views headroom losses rebalance survive",
            "page structured totals",
            "sheets table",
            // The formats of `-o`.
            "format",
        ],
    ),
    (
        "host/desk/cli/src/command",
        &[
            // Arguments that commands share, and what they mean.
            "help output programs reasons tables",
            "origin",
            "input",
            "candidates choosing clusters desk effects moving record",
            // The commands.
            "completions explain profile replay schedule",
            "bench carry_out missing_clusters",
            "diff",
            "headroom policies rebalance survive",
        ],
    ),
    ("host/bench/cli/src", &["report", "command"]),
    ("host/live/cli/src", &["estimators loading logging", "run"]),
    (
        "host/live/controller/src",
        &[
            "condition guard objects outage queue refusals",
            "lease lookup",
            "holdings",
            "observe",
            "assumed decision estimates placements serve watch watchdog",
            "explanations takings",
            "store",
            "write",
            "panel",
            "engine",
            "events reload",
            "run",
        ],
    ),
    (
        "host/core/scheduler/src",
        &[
            "guard input search",
            "fleet placements",
            "plugin",
            "strategy",
            "profile",
            "cost plan",
            "cycle",
            "decide",
            "decision moves",
        ],
    ),
    (
        "host/core/loader/src",
        &[
            "features file_names lists ownership shown tables",
            "unbuilt",
            "error",
            "file functions opening",
            "description linking",
            "descriptors",
            "library",
            "loader",
            "inspection missing",
            "directories",
        ],
    ),
    (
        "host/desk/forecast/src",
        &[
            // What is asked, and of what.
            "count glob labels plans situation",
            "choice eviction future movement",
            "change cost missing selection",
            // What several questions report.
            "planned",
            "document",
            "load notes sums violations",
            "capacity cluster_view gone",
            // The questions.
            "failures forecast headroom policies rebalance",
            "latent survive",
            // All documents.
            "schemas verdict",
        ],
    ),
    (
        "host/bench/conformance/src",
        &[
            "case chance names",
            "moves schema shrink",
            "subject",
            "preferences",
            "generate",
            "edges",
            "check",
            "supervise",
        ],
    ),
];

/// The levels of a folder's modules.
struct House<'a> {
    /// Path of the folder.
    folder: &'a str,
    levels: Vec<Vec<&'a str>>,
}

impl<'a> House<'a> {
    fn new(folder: &'a str, levels: &[&'a str]) -> Self {
        let levels = levels.iter().map(|level| level.split(' ').collect());
        Self {
            folder,
            levels: levels.collect(),
        }
    }

    /// Level of a module.
    fn level(&self, module: &str) -> Option<usize> {
        self.levels.iter().position(|level| level.contains(&module))
    }

    /// The module of the folder that a file belongs to; `None` for the folder's own file.
    fn room<'path>(&self, path: &'path str) -> Option<&'path str> {
        let inside = path.strip_prefix(self.folder)?.strip_prefix('/')?;
        let room = inside.split('/').next()?.trim_end_matches(".rs");
        (!["lib", "main", "mod"].contains(&room)).then_some(room)
    }

    /// What is wrong with a file: a room that is not listed, or a path that leads up.
    fn broken(&self, file: &SourceFile) -> Vec<String> {
        let Some(room) = self.room(&file.path) else {
            return Vec::new();
        };
        let Some(level) = self.level(room) else {
            return vec![format!("{}: `{room}` is not listed in tests/walls/rooms.rs", file.path)];
        };
        let here = module(&file.path);
        // The path of the folder as a module.
        let root = module(&format!("{}/mod.rs", self.folder));
        let used = paths(file).into_iter().filter_map(|path| {
            let resolved = resolved(&here, &path)?;
            let inside = resolved.strip_prefix(root.as_slice())?;
            let first = inside.first()?;
            let is_below = first == room || self.level(first).is_some_and(|other| other < level);
            (!is_below).then(|| format!("{}: `{room}` uses `{}`", file.path, path.join("::")))
        });
        used.collect()
    }
}

/// The path of a file's module inside its crate.
fn module(path: &str) -> Vec<String> {
    let (_, inside) = path.split_once("/src/").unwrap_or(("", ""));
    let mut names: Vec<String> = inside
        .trim_end_matches(".rs")
        .split('/')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    names.pop_if(|name| ["lib", "main", "mod"].contains(&name.as_str()));
    names
}

/// A path from the crate's root; `None` if it is not one of this crate.
fn resolved(here: &[String], path: &[String]) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&here[..0], &path[1..]),
        "super" => (&here[..here.len().checked_sub(supers)?], &path[supers..]),
        _ => return None,
    };
    Some(base.iter().chain(rest).cloned().collect())
}

/// The paths in a file that begin with `crate` or `super`, without those of its tests.
fn paths(file: &SourceFile) -> Vec<Vec<String>> {
    let code: String = file.code().map(|(_, line)| format!("{line}\n")).collect();
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    for beginning in ["crate::", "super::"] {
        for (at, _) in code.match_indices(beginning) {
            let is_whole = |before: char| !before.is_alphanumeric() && !"_:$".contains(before);
            if code[..at].chars().next_back().is_none_or(is_whole) {
                tree(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Adds the paths of a tree such as `super::{grid::Grid, style}`, after `before`. Returns what follows it.
fn tree<'code>(code: &'code str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'code str {
    let length = before.len();
    let mut rest = code.trim_start();
    loop {
        if let Some(mut items) = rest.strip_prefix('{') {
            loop {
                items = tree(items, before, found).trim_start();
                match items.strip_prefix(',') {
                    Some(more) => items = more,
                    None => break,
                }
            }
            before.truncate(length);
            return items.strip_prefix('}').unwrap_or(items);
        }
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !name.is_empty() && name != "self" {
            before.push(name.to_owned());
        }
        match after.strip_prefix("::") {
            Some(more) => rest = more,
            None => {
                found.push(before.clone());
                before.truncate(length);
                // What may follow the last name: `as` with another.
                let end = after.find([',', '}', ';', '\n']).unwrap_or(after.len());
                return &after[end..];
            }
        }
    }
}

#[test]
fn a_module_uses_those_below_it_alone() {
    for (folder, levels) in HOUSES {
        let house = House::new(folder, levels);
        let mut sources = files(&[folder], &[".rs"]);
        sources.retain(|file| !file.path.ends_with("/tests.rs") && !file.path.contains("/tests/"));
        assert!(sources.len() > 3, "the sources of {folder} were not found");
        let rooms: Vec<&str> = house.levels.iter().flatten().copied().collect();
        let is_there = |room: &&&str| sources.iter().any(|file| house.room(&file.path) == Some(room));
        let missing: Vec<&&str> = rooms.iter().filter(|room| !is_there(room)).collect();
        assert!(missing.is_empty(), "{folder} has no {missing:?}");
        let broken = sources.iter().flat_map(|file| house.broken(file));
        check_none(
            broken.collect(),
            &format!("a module of {folder} uses only those on an earlier line of tests/walls/rooms.rs"),
        );
    }
}

#[test]
fn paths_are_read_from_trees_and_expressions() {
    let file = |text: &str| SourceFile {
        path: "host/desk/cli/src/report/table.rs".to_owned(),
        text: text.to_owned(),
    };
    let joined = |text: &str| -> Vec<String> { paths(&file(text)).iter().map(|path| path.join("::")).collect() };
    assert_eq!(
        joined("use super::{self, grid::{Cell, Grid as Table}, style};\nuse std::io;\n"),
        ["super", "super::grid::Cell", "super::grid::Grid", "super::style"]
    );
    assert_eq!(
        joined("pub(crate) fn a() { crate::exit::b(super::text::c()) }"),
        ["crate::exit::b", "super::text::c"]
    );
    assert_eq!(joined("use super::super::style;"), ["super::super::style"]);
    assert!(joined("// use crate::command;\nuse other_crate::name;").is_empty());
    assert!(joined("#[cfg(test)]\nmod tests {\n    use crate::command;\n}").is_empty());
}

#[test]
fn an_arrow_up_is_found() {
    let house = House::new("host/desk/cli/src/report", &["style", "grid text", "table"]);
    let broken = |name: &str, text: &str| {
        house.broken(&SourceFile {
            path: format!("host/desk/cli/src/report/{name}"),
            text: text.to_owned(),
        })
    };
    assert!(broken("grid.rs", "use super::style;\nuse crate::exit::Exit;").is_empty());
    assert!(broken("grid/cell.rs", "use super::Grid;\nuse super::super::style;").is_empty());
    assert!(broken("mod.rs", "use table::write;\nuse crate::report::table;").is_empty());
    for text in [
        "use super::table;",
        "use crate::report::text;",
        "use super::{style, table::Row};",
        "use super::Name;",
    ] {
        assert_eq!(broken("grid.rs", text).len(), 1, "{text}");
    }
    assert_eq!(broken("grid/cell.rs", "use super::super::table::Row;").len(), 1);
    assert_eq!(broken("new.rs", "").len(), 1);
}
