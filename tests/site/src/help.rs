//! `{{#help}}`: the pages of `divvy help`, from the file with which a test compares them.

/// File with the pages, in the repository.
pub(crate) const FILE: &str = "tests/command_line/help.txt";

/// A section for each command: its name as heading, and its page. Where `divvy help COMMAND` says more than `--help`, its page follows that
/// one and takes its place.
pub(crate) fn sections(text: &str) -> String {
    let mut pages: Vec<(String, &str)> = Vec::new();
    for page in text.split("$ divvy").skip(1) {
        let (line, help) = page.split_once('\n').unwrap_or((page, ""));
        if let Some(command) = line.strip_suffix(" --help") {
            pages.push((format!("divvy{command}"), help));
        } else if let Some(command) = line.strip_prefix(" help ") {
            let full = format!("divvy {command}");
            pages.retain(|(known, _)| *known != full);
            pages.push((full, help));
        }
    }
    let section = |(heading, help): (String, &str)| format!("## `{heading}`\n\n```text\n{}\n```\n\n", help.trim());
    pages.into_iter().map(section).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_command_has_a_section() {
        let text = "$ divvy --help\n\nUsage: divvy\n\n\n$ divvy diff --help\n\nShort\n\n$ divvy help diff\n\nLong\n\n$ divvy plugin list --help\n\nList\n";
        let expected = "## `divvy`\n\n```text\nUsage: divvy\n```\n\n## `divvy diff`\n\n```text\nLong\n```\n\n## `divvy plugin list`\n\n```text\nList\n```\n\n";
        assert_eq!(super::sections(text), expected);
    }
}
