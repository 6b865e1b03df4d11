//! `{{#help}}`: the pages of `--help`, from the file with which a test compares them.

/// File with the pages, in the repository.
pub(crate) const FILE: &str = "tests/command_line/help.txt";

/// A section for each command: its name as heading, and its page.
pub(crate) fn sections(text: &str) -> String {
    let mut sections = String::new();
    let pages = text.split("$ divvy").skip(1);
    for page in pages {
        let Some((command, help)) = page.split_once(" --help\n") else {
            continue;
        };
        let heading = format!("divvy{command}");
        sections.push_str(&format!("## `{heading}`\n\n```text\n{}\n```\n\n", help.trim()));
    }
    sections
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_command_has_a_section() {
        let text = "$ divvy --help\n\nUsage: divvy\n\n\n$ divvy plugin list --help\n\nList\n";
        let expected = "## `divvy`\n\n```text\nUsage: divvy\n```\n\n## `divvy plugin list`\n\n```text\nList\n```\n\n";
        assert_eq!(super::sections(text), expected);
    }
}
