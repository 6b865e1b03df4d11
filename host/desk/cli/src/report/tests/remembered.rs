//! Decisions that a running scheduler remembers.

use divvy_client::explanation::Answer;
use serde_json::json;

use super::super::account;
use super::rendered;

#[test]
fn a_remembered_decision_is_wrapped_at_the_width_of_the_terminal() {
    let names: Vec<String> = (1..=20).map(|number| format!("member-{number}")).collect();
    let answer = json!({
        "decidedAt": "2026-01-01T00:00:00Z",
        "because": "its placement changed",
        "strategy": "Average",
        "outcome": {"clusters": [{"name": "m1", "replicas": 3}]},
        "affinity": "",
        "failedGroups": [],
        "notes": [],
        "held": {"waits": false, "parts": [
            {"cluster": "m1", "binding": "shop/web", "since": "2026-01-01T00:00:00Z", "resources": ["cpu 2", "pods 4"]},
        ], "further": 3},
        "last": [{"name": "m1", "replicas": 1}],
        "candidates": [{
            "name": "m1",
            "score": 0,
            "fitsNow": 4,
            "last": 1,
            "tier": 1,
            "replicas": 3,
            "candidate": true,
            "reasons": [{"plugin": "average", "cause": "even", "text": "capacity 5: 3 each"}],
        }],
        "furtherCandidates": 900,
        "rejected": [
            {"plugin": "taints", "reason": "had a taint", "count": 22, "clusters": names},
            {"plugin": "selector", "reason": "feasible, but not selected", "count": 7, "clusters": []},
        ],
    });
    let answer = answer.to_string();
    let answer = Answer::read(answer.as_bytes()).expect("an explanation");
    let whole = rendered(|out| account::write(&answer, None, out));
    let expected = format!(
        "\
decided at 2026-01-01T00:00:00Z, because its placement changed; strategy Average
  m1: 3 (+2)
taken by other results and not reported yet:
  m1: cpu 2, pods 4 by shop/web since 2026-01-01T00:00:00Z
  and 3 more
candidates:
  m1: score 0, fits now 4, last 1, tier 1, assigned 3
    capacity 5: 3 each
  and 900 more without replicas; `divvy schedule --kubeconfig FILE --explain` lists all
not chosen:
  22 had a taint (taints): {} and 2 more
  7 feasible, but not selected (selector)
",
        names.join(", ")
    );
    assert_eq!(whole, expected);
    let narrow = rendered(|out| account::write(&answer, Some(40), out));
    assert!(narrow.lines().all(|line| line.len() <= 40), "{narrow}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&whole));
}

#[test]
fn a_move_of_another_process_is_explained_without_its_decision() {
    let answer = Answer::read(br#"{"move": "it waits"}"#).expect("a move");
    let expected = "it was decided before this scheduler started or loaded its profile\nmove: it waits\n";
    assert_eq!(rendered(|out| account::write(&answer, None, out)), expected);
    let error = Answer::read(b"{}").expect_err("neither");
    assert_eq!(error.to_string(), "missing field `decidedAt` at line 1 column 2");
}
