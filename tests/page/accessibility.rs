//! Barriers, as far as axe-core finds them: WCAG 2.2 at level AA, in light and dark, wide and narrow.

use divvy_built::repository;
use ring::digest::SHA256;

use super::{commands, opened};

fn axe() -> String {
    let folder = repository().join("tests/page/axe");
    let sums = std::fs::read_to_string(folder.join("SHA256")).expect("there are sums");
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").expect("a sum and a name");
        let bytes = std::fs::read(folder.join(name)).expect("the file is there");
        let digest: String = ring::digest::digest(&SHA256, &bytes)
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(digest, sum, "{name} is not that of the package");
    }
    std::fs::read_to_string(folder.join("axe.min.js")).expect("the script is there")
}

#[test]
fn no_page_has_a_barrier() {
    let axe = axe();
    for arguments in commands() {
        let (mut browser, _folder, _) = opened(&arguments);
        browser.evaluate("document.querySelectorAll('summary').forEach((summary) => summary.click())");
        browser.evaluate("document.querySelector('.grid .cell')?.click()");
        browser.evaluate(&axe);
        for (scheme, width) in [("light", 1400), ("dark", 1400), ("light", 390), ("dark", 390)] {
            browser.appear("screen", scheme);
            browser.resize(width, 900);
            let run = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
                .then(({violations, passes}) => ({
                    passes: passes.length,
                    violations: violations.map(({id, help, nodes}) => [id, help, nodes.slice(0, 3).map(({html, any}) =>
                        [html.slice(0, 300), any.map(({message}) => message)])]),
                }))";
            let found = browser.evaluate(run);
            assert!(
                found["passes"].as_u64().is_some_and(|passes| passes > 20),
                "axe looked at nothing: {found}"
            );
            let violations = found["violations"].as_array().expect("a list");
            assert!(
                violations.is_empty(),
                "{arguments:?}, {scheme}, {width}: {violations:#?}"
            );
        }
    }
}
