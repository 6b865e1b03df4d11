//! The figures of a page are those of the JSON.

use serde_json::Value;

use super::browser::Browser;
use super::{commands, opened, pages};

/// A figure at the top of the page, as a number.
fn figure(browser: &mut Browser, name: &str) -> i64 {
    let text = browser.evaluate(&format!("document.querySelector('[data-figure={name}]').textContent"));
    number(text.as_str().unwrap_or_else(|| panic!("there is no figure `{name}`")))
}

/// A number as the page writes it.
fn number(text: &str) -> i64 {
    let plain: String = text
        .chars()
        .filter(|character| !matches!(character, ',' | '+' | '%'))
        .collect();
    let plain = plain.replace('\u{2212}', "-");
    plain.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

/// All rows of a table, by its caption, as texts. Turns every page of it.
fn rows(browser: &mut Browser, caption: &str) -> Vec<Vec<String>> {
    browser
        .evaluate("document.querySelectorAll('details:not([open]) > summary').forEach((summary) => summary.click())");
    let script = format!(
        "new Promise((done) => setTimeout(() => {{
            const table = [...document.querySelectorAll('table')].find((table) => table.caption.textContent.startsWith('{caption}'));
            const rows = [];
            for (;;) {{
                rows.push(...[...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
                const next = [...table.closest('.tabled').querySelectorAll('.pager button')].at(-1);
                if (!next || next.disabled) break;
                next.click();
            }}
            done(rows);
        }}, 50))"
    );
    let rows = browser.evaluate(&script);
    serde_json::from_value(rows).unwrap_or_else(|error| panic!("{caption}: {error}"))
}

fn sum(rows: &[Vec<String>], column: usize) -> i64 {
    let counts = rows
        .iter()
        .map(|row| row[column].as_str())
        .filter(|text| *text != "\u{2013}");
    counts.map(number).sum()
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn a_difference_adds_up_to_the_totals_of_the_json() {
    let arguments = &commands()[1];
    let document = pages::json(arguments);
    let (mut browser, _folder, _) = opened(arguments);
    let totals = &document["totals"];
    for name in [
        "lost",
        "newlyUnschedulable",
        "beyondCapacity",
        "moved",
        "added",
        "removed",
        "changed",
        "replicas",
    ] {
        assert_eq!(figure(&mut browser, name), count(&totals[name]), "{name}");
    }
    let of_clusters = |key: &str| -> i64 {
        let clusters = document["clusters"].as_array().expect("clusters");
        clusters.iter().map(|cluster| count(&cluster[key])).sum()
    };
    for caption in [
        "Clusters: ",
        "Replicas per region and namespace",
        "Bindings",
        "Replicas per binding and cluster",
    ] {
        let rows = rows(&mut browser, caption);
        let first = match caption {
            "Bindings" => 4,
            "Replicas per binding and cluster" => 3,
            _ => 2,
        };
        assert_eq!(sum(&rows, first), of_clusters("base"), "{caption}");
        assert_eq!(sum(&rows, first + 1), of_clusters("after"), "{caption}");
    }
    let flows = rows(&mut browser, "Replicas moved between regions");
    let between = |word: &str| {
        let rows = flows.iter().filter(|row| match word {
            "moved" => row[0] != "Added" && row[1] != "Removed",
            "added" => row[0] == "Added",
            _ => row[1] == "Removed",
        });
        rows.map(|row| number(&row[2])).sum::<i64>()
    };
    for word in ["moved", "added", "removed"] {
        assert_eq!(between(word), count(&totals[word]), "{word}");
    }
    let pairs = rows(&mut browser, "Pairs of clusters, attributed");
    assert_eq!(sum(&pairs, 4), count(&totals["moved"]));
}

#[test]
fn decisions_are_those_of_the_json() {
    let arguments = &commands()[0];
    let document = pages::json(arguments);
    let (mut browser, _folder, _) = opened(arguments);
    let bindings = document["bindings"].as_array().expect("a list");
    let targets = bindings
        .iter()
        .flat_map(|binding| binding["clusters"].as_array().expect("clusters"));
    let replicas: i64 = targets.map(|target| count(&target["replicas"])).sum();
    assert_eq!(figure(&mut browser, "replicas"), replicas);
    assert_eq!(count(&document["totals"]["replicas"]), replicas);
    let scheduled = bindings.iter().filter(|binding| binding["result"] == "Scheduled");
    assert_eq!(
        figure(&mut browser, "scheduled"),
        i64::try_from(scheduled.count()).expect("few")
    );
    let cells = rows(&mut browser, "Replicas per binding and cluster");
    for binding in bindings {
        for target in binding["clusters"].as_array().expect("clusters") {
            let (key, name) = (&binding["binding"], &target["name"]);
            let row = cells
                .iter()
                .find(|row| *key == row[0].as_str() && *name == row[1].as_str());
            let row = row.unwrap_or_else(|| panic!("{key} on {name} is missing"));
            assert_eq!(number(&row[4]), count(&target["replicas"]), "{row:?}");
            assert!(!row[6].is_empty() && row[6] != "no reason recorded", "{row:?}");
        }
    }
}

#[test]
fn headroom_is_that_of_the_json() {
    let arguments = &commands()[2];
    let document = pages::json(arguments);
    let (mut browser, _folder, _) = opened(arguments);
    let shown = rows(&mut browser, "Headroom");
    let bindings = document["bindings"].as_array().expect("bindings");
    assert_eq!(shown.len(), bindings.len());
    for binding in bindings {
        let row = shown.iter().find(|row| binding["binding"] == row[0].as_str());
        let row = row.unwrap_or_else(|| panic!("{binding} is missing"));
        match binding["most"].as_i64() {
            Some(most) => assert_eq!((number(&row[3]), number(&row[4])), (most, count(&binding["headroom"]))),
            None => assert_eq!(row[3], "any"),
        }
    }
}

/// The columns of costs of a table, by the name in each row.
fn shown_costs(rows: &[Vec<String>], column: usize) -> Vec<(&str, &str, &str)> {
    let cells = rows.iter().map(|cells| {
        let [name, from, to] = [0, column, column + 1].map(|index| cells[index].as_str());
        (name, from, to)
    });
    cells.collect()
}

/// `12.3400` of `12.340000`: the page rounds to four digits.
fn is_rounded(shown: &str, cost: &Value) -> bool {
    let exact: f64 = cost["perHour"].as_str().expect("a text").parse().expect("a number");
    let shown: f64 = shown.parse().expect("a number");
    (shown - exact).abs() < 0.000_051
}

#[test]
fn costs_are_those_of_the_json() {
    let priced = |arguments: &[&'static str]| [arguments, &["--profile", "examples/cost/profile.toml"]].concat();
    let arguments = priced(&commands()[1]);
    let document = pages::json(&arguments);
    let (mut browser, _folder, _) = opened(&arguments);
    let table = rows(&mut browser, "Clusters: ");
    let costs = shown_costs(&table, 5);
    let clusters = document["clusters"].as_array().expect("clusters");
    assert_eq!(costs.len(), clusters.len());
    for cluster in clusters {
        let shown = costs.iter().find(|(name, ..)| cluster["name"] == *name);
        let (_, from, to) = shown.unwrap_or_else(|| panic!("{cluster} is missing"));
        let expected = &cluster["cost"];
        assert!(is_rounded(from, &expected["base"]), "{cluster}: {from}");
        assert!(is_rounded(to, &expected["after"]), "{cluster}: {to}");
    }
    let text = browser.evaluate("document.body.textContent");
    let text = text.as_str().expect("a text");
    assert!(
        text.contains("cost: 40.3686 → 39.9146 USD per hour (−0.4540: ")
            && text.contains(" for 2 replicas removed, ")
            && text.contains(" for the others)"),
        "{text}"
    );
    assert!(text.contains("Cost before (USD per hour)"), "{text}");
    let arguments = priced(&commands()[2]);
    let document = pages::json(&arguments);
    let (mut browser, _folder, _) = opened(&arguments);
    let table = rows(&mut browser, "Headroom");
    let costs = shown_costs(&table, 5);
    for binding in document["bindings"].as_array().expect("bindings") {
        let shown = costs.iter().find(|(name, ..)| binding["binding"] == *name);
        let (_, now, most) = shown.unwrap_or_else(|| panic!("{binding} is missing"));
        assert!(is_rounded(now, &binding["cost"]["now"]), "{binding}: {now}");
        assert!(is_rounded(most, &binding["cost"]["most"]), "{binding}: {most}");
    }
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn chosen_clusters_are_shown_alone_and_moves_are_left_out() {
    let chosen = [&commands()[1][..], &["--cluster", "eu-*"]].concat();
    let (mut browser, _folder, _) = opened(&chosen);
    let clusters = rows(&mut browser, "Clusters: ");
    assert_eq!(clusters.len(), 4);
    assert!(
        clusters
            .iter()
            .all(|row| row[0].starts_with("eu-") && row[1] == "europe"),
        "{clusters:?}"
    );
    let moves = browser.evaluate("document.querySelector('#moves').textContent");
    assert!(
        moves.as_str().is_some_and(|moves| moves.contains("Moves are left out")),
        "{moves}"
    );
    // The verdict remains that on everything.
    let totals = &pages::json(&commands()[1])["totals"];
    assert_eq!(figure(&mut browser, "moved"), count(&totals["moved"]));
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// All figures and rows of the pages of tables are those of the JSON.
#[test]
fn tables_are_those_of_the_json() {
    let [.., each, survive, policies] = commands();
    let document = pages::json(&each);
    let (mut browser, _folder, _) = opened(&each);
    let losses = rows(&mut browser, "Losses");
    let failures = document["failures"].as_array().expect("a list");
    assert_eq!(losses.len(), failures.len());
    for (row, failure) in losses.iter().zip(failures) {
        assert_eq!(failure["name"], row[0].as_str());
        let shown = [2, 3, 4, 6, 7, 8, 10].map(|column| number(&row[column]));
        let keys = [
            "displaced",
            "rehomed",
            "removed",
            "lostElsewhere",
            "missing",
            "newlyUnschedulable",
            "beyondCapacity",
        ];
        assert_eq!(shown, keys.map(|key| count(&failure[key])), "{row:?}");
        // In the JSON, `lost` has both kinds of lost replicas.
        assert_eq!(number(&row[5]) + number(&row[6]), count(&failure["lost"]), "{row:?}");
    }
    assert_eq!(figure(&mut browser, "absorbed"), count(&document["totals"]["absorbed"]));
    let bars = browser.evaluate("document.querySelectorAll('.bar .full').length");
    assert_eq!(bars, failures.len(), "a line at 100% in every bar");

    let document = pages::json(&survive);
    let (mut browser, _folder, _) = opened(&survive);
    for name in ["hanging", "notSurviving", "surviving", "placed", "beyondCapacity"] {
        assert_eq!(figure(&mut browser, name), count(&document["totals"][name]), "{name}");
    }
    let shown = rows(&mut browser, "Workloads that do not survive");
    let bindings = document["bindings"].as_array().expect("a list");
    assert_eq!(shown.len(), bindings.len());
    for (row, binding) in shown.iter().zip(bindings) {
        let losses = binding["losses"].as_array().expect("a list");
        assert_eq!(binding["binding"], row[0].as_str());
        assert_eq!(number(&row[5]), i64::try_from(losses.len()).expect("few"));
    }

    let document = pages::json(&policies);
    let (mut browser, _folder, _) = opened(&policies);
    for name in ["errors", "warnings", "infos", "dead", "shadowed", "withoutPolicy"] {
        assert_eq!(figure(&mut browser, name), count(&document["totals"][name]), "{name}");
    }
    let shown = rows(&mut browser, "Policies");
    assert_eq!(shown.len(), document["policies"].as_array().map_or(0, Vec::len));
    let problems = browser.problems();
    assert!(problems.is_empty(), "{problems:#?}");
}
