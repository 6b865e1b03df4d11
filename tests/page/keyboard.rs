//! Everything that a mouse can do, a keyboard can.

use serde_json::{Value, json};

use super::{commands, opened};

const ARROW_RIGHT: u32 = 39;
const ARROW_DOWN: u32 = 40;
const ENTER: u32 = 13;
const END: u32 = 35;
const DELETE: u32 = 46;

#[test]
fn a_heat_map_is_walked_by_arrow_keys_and_says_why() {
    let (mut browser, _folder, _) = opened(&commands()[1]);
    browser.evaluate("document.querySelector('#bindings .cell[tabindex=\"0\"]').focus()");
    let focused = "document.activeElement.getAttribute('aria-label')";
    let first = browser.evaluate(focused);
    browser.press("ArrowDown", ARROW_DOWN);
    browser.press("ArrowRight", ARROW_RIGHT);
    let second = browser.evaluate(focused);
    assert_ne!(first, second);
    // One cell of each heat map is in the tab order.
    let stops = browser.evaluate("document.querySelectorAll('#bindings .cell[tabindex=\"0\"]').length");
    assert_eq!(stops, 1);
    let title = browser.evaluate("document.querySelector('#bindings .why h3').textContent");
    let (title, second) = (title.as_str().unwrap_or_default(), second.as_str().unwrap_or_default());
    let (binding, cluster) = title.split_once(" on ").expect("a binding on a cluster");
    assert!(
        second.starts_with(&format!("{binding}, {cluster}: ")),
        "{title}: {second}"
    );
    browser.press("End", END);
    let label = browser.evaluate(focused);
    let last = browser.evaluate("document.querySelector('#bindings .grid').getAttribute('aria-colcount')");
    let column = browser.evaluate("document.activeElement.getAttribute('aria-colindex')");
    assert_eq!(column, last, "{label}");
}

#[test]
fn every_cell_has_an_explanation() {
    let (mut browser, _folder, _) = opened(&commands()[0]);
    let script = "(() => {
        const found = [];
        document.querySelectorAll('#bindings .cell').forEach((cell) => {
            cell.click();
            const facts = [...document.querySelectorAll('#bindings .why dd')].map((fact) => fact.textContent);
            found.push([document.querySelector('#bindings .why h3').textContent, facts[3]]);
        });
        return found;
    })()";
    let found = browser.evaluate(script);
    let found = found.as_array().expect("a list");
    // Seven bindings on twelve clusters.
    assert_eq!(found.len(), 84);
    for cell in found {
        let why = cell[1].as_str().unwrap_or_default();
        assert!(!why.is_empty() && why != "no reason recorded", "{cell}");
    }
}

#[test]
fn a_table_sorts_by_its_headers() {
    let (mut browser, _folder, _) = opened(&commands()[1]);
    let header = "document.querySelectorAll('#moves table th[scope=col]')[4]";
    browser.evaluate(&format!("{header}.querySelector('button').focus()"));
    let column =
        "[...document.querySelectorAll('#moves table tbody tr')].map((row) => Number(row.cells[4].textContent))";
    for (expected, sign) in [("descending", -1), ("ascending", 1)] {
        browser.press("Enter", ENTER);
        assert_eq!(browser.evaluate(&format!("{header}.ariaSort")), expected);
        let values = browser.evaluate(column);
        let values: Vec<i64> = serde_json::from_value(values).expect("numbers");
        assert!(
            values.len() > 3 && values.is_sorted_by(|left, right| sign * left <= sign * right),
            "{values:?}"
        );
    }
}

/// What a reader types stays in the heat map and in both tables, and nothing else does.
#[test]
fn bindings_are_filtered_by_typing() {
    let (mut browser, _folder, _) = opened(&commands()[1]);
    browser.evaluate("document.querySelectorAll('#bindings summary').forEach((summary) => summary.click())");
    let names = "new Promise((done) => setTimeout(() => {
        const texts = (where) => [...new Set([...document.querySelectorAll(`#bindings ${where}`)].map((name) => name.textContent))];
        done([texts('.grid .line .name'), texts('details:nth-of-type(1) tbody th'), texts('details:nth-of-type(2) tbody th'), texts('.remark[role=status]')]);
    }, 400))";
    let before = browser.evaluate(names);
    let count = |names: &Value| names.as_array().map_or(0, Vec::len);
    // The second table shows its first rows.
    assert_eq!([0, 1, 2].map(|index| count(&before[index])), [5, 7, 5], "{before}");
    browser.evaluate("document.querySelector('#bindings input[type=search]').focus()");
    browser.write("Search");
    let found = browser.evaluate(names);
    for index in 0..3 {
        assert_eq!(found[index], json!(["shop/search-deployment"]), "{found}");
    }
    assert_eq!(found[3][0], "1 binding of 7, 7 clusters of 12.");
    // A name of which nothing changes is said to be there.
    browser.evaluate("document.activeElement.select()");
    browser.write("nightly");
    let found = browser.evaluate(names);
    assert_eq!(found[0], json!([]));
    assert_eq!(found[1], json!(["shop/nightly-report-job"]));
    assert_eq!(
        found[3][0],
        "0 bindings of 7, 0 clusters of 12. 1 binding of this name does not change."
    );
    browser.evaluate("document.activeElement.select()");
    browser.press("Delete", DELETE);
    assert_eq!(browser.evaluate(names), before);
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}
