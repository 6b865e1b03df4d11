//! No label is cut, leaves its box or covers another, wide and narrow, in print and in large letters; and bars say what is too much.

use std::path::Path;

use serde_json::{Value, json};

use super::browser::Browser;
use super::{commands, opened, pages};

/// Looks at the text of a page: `layout.js` says how.
const LABELS: &str = include_str!("layout.js");
const WIDTHS: [u32; 3] = [390, 768, 1400];
/// Of A4 between the margins of the style sheet.
const PAPER: u32 = 703;

/// Labels of a page that cannot be read, at all widths, in letters of two sizes, and on paper.
pub(crate) fn unreadable(browser: &mut Browser, file: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |browser: &mut Browser, what: String| {
        let labels = browser.evaluate(LABELS);
        let labels: Vec<String> = serde_json::from_value(labels).expect("a list of texts");
        found.extend(labels.into_iter().map(|label| format!("{what}: {label}")));
    };
    for letters in [16, 32] {
        browser.resize(WIDTHS[0], 900);
        browser.write_in(letters);
        browser.open(file);
        browser.evaluate("document.querySelectorAll('summary').forEach((summary) => summary.click())");
        for width in WIDTHS {
            browser.resize(width, 900);
            // A new size of the window takes the letters back.
            browser.write_in(letters);
            browser.evaluate("dispatchEvent(new Event('resize'))");
            look(browser, format!("{width} pixels, letters of {letters}"));
        }
    }
    browser.write_in(16);
    browser.resize(PAPER, 900);
    browser.appear("print", "light");
    look(browser, "print".to_owned());
    browser.appear("screen", "light");
    found
}

#[test]
fn no_label_is_cut() {
    for arguments in commands() {
        let (mut browser, _folder, file) = opened(&arguments);
        let found = unreadable(&mut browser, &file);
        assert!(found.is_empty(), "{arguments:?}: {found:#?}");
    }
}

/// The script that looks for labels sees one that is cut.
#[test]
fn a_label_that_is_cut_is_noticed() {
    let (mut browser, _folder, _) = opened(&commands()[0]);
    let labels = |browser: &mut Browser| browser.evaluate(LABELS).as_array().map_or(0, Vec::len);
    assert_eq!(labels(&mut browser), 0);
    for style in ["width = '30px'", "overflow = 'hidden'", "position = 'fixed'"] {
        let cut = format!(
            "document.querySelectorAll('.bar-name').forEach((name) => {{ name.style.whiteSpace = 'nowrap'; name.style.{style}; }})"
        );
        browser.evaluate(&cut);
    }
    assert!(labels(&mut browser) > 0);
}

/// A cluster of ten cores, of which some are used.
fn cluster(name: &str, used: u32) -> Value {
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
        "spec": {"syncMode": "Push", "region": "north"},
        "status": {
            "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
            "resourceSummary": {"allocatable": {"cpu": "10", "pods": "100"}, "allocated": {"cpu": used.to_string()}}
        }
    })
}

#[test]
fn bars_have_a_line_at_100_percent_and_a_colour_and_a_pattern_above_it() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let input = folder.path().join("fleet.json");
    let items = json!([cluster("half", 5), cluster("more", 12), cluster("twice", 45)]);
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(&input, list.to_string()).expect("the file can be written");
    let file = pages::page(&["schedule", "-f", &input.display().to_string()], folder.path());
    let mut browser = Browser::start();
    browser.open(&file);
    for scheme in ["light", "dark"] {
        browser.appear("screen", scheme);
        let bars = "[...document.querySelectorAll('#clusters .bar:not(.scale)')].map((bar) => {
            const track = bar.querySelector('.tracks').lastElementChild;
            const [whole, line] = [track, track.querySelector('.full')].map((node) => node.getBoundingClientRect());
            const part = (kind) => {
                const node = track.querySelector(`.part.${kind}`);
                if (!node) return null;
                const { left, width } = node.getBoundingClientRect();
                const { backgroundColor, backgroundImage } = getComputedStyle(node);
                const at = (x) => Math.round(((x - whole.left) / whole.width) * 200);
                return [at(left), at(left + width), backgroundColor, backgroundImage];
            };
            const middle = Math.round(((line.left + line.width / 2 - whole.left) / whole.width) * 200);
            return [bar.querySelector('.bar-name').textContent, middle, part('used'), part('over'), bar.querySelector('b').textContent];
        })";
        let bars = browser.evaluate(bars);
        let bars = bars.as_array().expect("bars").as_slice();
        let [half, more, twice] = bars else {
            panic!("three clusters: {bars:?}")
        };
        // Bars end at 200%, where the line of 100% is in the middle.
        for (bar, name, used, over, text) in [
            (half, "half", json!([0, 50]), Value::Null, "50% \u{2192} 50%"),
            (
                more,
                "more",
                json!([0, 100]),
                json!([100, 120]),
                "120% \u{2192} 120% over",
            ),
            (
                twice,
                "twice",
                json!([0, 100]),
                json!([100, 200]),
                "450% \u{2192} 450% over",
            ),
        ] {
            assert_eq!(bar[0], name);
            assert_eq!(bar[1], 100, "{scheme}, {bar}");
            let place = |part: &Value| part.as_array().map_or(Value::Null, |part| json!([part[0], part[1]]));
            assert_eq!(place(&bar[2]), used, "{scheme}, {bar}");
            assert_eq!(place(&bar[3]), over, "{scheme}, {bar}");
            assert_eq!(bar[4], text, "{scheme}, {bar}");
            if over.is_array() {
                assert_ne!(bar[2][2], bar[3][2], "the colours, {scheme}, {bar}");
                assert_eq!(bar[2][3], "none", "{scheme}, {bar}");
                assert!(
                    bar[3][3].as_str().is_some_and(|pattern| pattern.contains("gradient")),
                    "{scheme}, {bar}"
                );
            }
        }
    }
}
