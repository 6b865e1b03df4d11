//! Memory that hostile inputs take, in a process of its own: the largest amount that it ever had.

use std::fs;

use divvy_manifests::{ReadOptions, read_text};

/// Bytes of each input.
const INPUT: usize = 1 << 20;
/// Maximum growth of the process while it reads one, beside others that were read before.
const BUDGET: u64 = 512 << 20;

/// Largest amount of memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.expect("a number of kibibytes") << 10
}

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// Aliases of one long text: in a list, and as annotations, which are kept.
fn long_anchor(item: impl Fn(usize) -> String, head: &str) -> String {
    let text = "x".repeat(INPUT / 2);
    let aliases: String = (0..20_000).map(item).collect();
    format!("{HEAD}  labels: {{a: &a {text}}}\n{head}{aliases}")
}

/// Many documents, each of which is as large with its aliases as one may be.
fn many_documents(separator: &str) -> String {
    let aliases: String = (0..1_500).map(|number| format!("    k{number}: *a\n")).collect();
    let text = "x".repeat(5_000);
    let document = |number: usize| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a{number}\n  labels: {{a: &a {text}}}\n  annotations:\n{aliases}{separator}\n"
        )
    };
    let length = document(0).len();
    (0..INPUT / length).map(document).collect()
}

/// A text of about this length.
fn repeated(part: &str) -> String {
    part.repeat(INPUT / part.len())
}

#[test]
fn no_input_takes_more_than_the_budget() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..6 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    for (name, text, expected) in [
        (
            "items",
            long_anchor(|_| "- *a\n".to_owned(), "data:\n"),
            "expand to more than 8388608 bytes",
        ),
        (
            "annotations",
            long_anchor(|number| format!("    k{number}: *a\n"), "  annotations:\n"),
            "expand to more than 8388608 bytes",
        ),
        ("documents", many_documents("---"), "expand to more than 67108864 bytes"),
        (
            "ends of documents",
            many_documents("..."),
            "expand to more than 8388608 bytes",
        ),
        (
            "nested aliases",
            repeated(&format!("{HEAD}{bomb}---\n")),
            "aliases expand",
        ),
        ("a flow of values", format!("{HEAD}data: [{}]\n", repeated("a,")), ""),
        ("equal keys", format!("{HEAD}data:\n{}", repeated(" a: 1\n")), "twice"),
        ("documents without a type", repeated("---\nx\n"), ""),
        ("broken JSON", repeated("{\"a\":[1,"), ""),
        ("anchors", format!("{HEAD}data:\n{}", repeated("- &a x\n")), ""),
    ] {
        let before = peak();
        let manifests = read_text("f.yaml", &text, &ReadOptions::default());
        let taken = peak().saturating_sub(before);
        assert!(taken < BUDGET, "{name}: {taken} bytes");
        let problems: Vec<String> = manifests.problems.iter().map(ToString::to_string).take(3).collect();
        let is_expected = problems.iter().any(|problem| problem.contains(expected));
        assert!(expected.is_empty() || is_expected, "{name}: {problems:?}");
        let located = manifests.problems.iter().all(|problem| problem.source_of.is_some());
        assert!(located, "{name}: a problem names no line");
    }
}
