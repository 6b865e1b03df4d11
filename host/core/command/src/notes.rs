//! Notes folded by kind: of many that say the same about different objects, the first are shown and the rest is counted.
//!
//! A kind is the beginning of a note without names, numbers and places. Data for programs have every note.

use std::collections::BTreeMap;

use crate::text::plural;

/// Notes of one kind that are shown, if there are more.
const SHOWN: usize = 2;
/// Words of a note that make its kind.
const WORDS: usize = 5;

/// The notes, of each kind at most three; if there are more, two and their number, where the first one is.
pub fn folded(notes: &[String]) -> Vec<String> {
    let kinds: Vec<String> = notes.iter().map(|note| kind(note)).collect();
    let mut by_kind: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for (note, kind) in notes.iter().zip(&kinds) {
        by_kind.entry(kind).or_default().push(note);
    }
    let mut folded = Vec::new();
    for kind in &kinds {
        // Each kind once, where it is first.
        let Some(notes) = by_kind.remove(kind.as_str()) else {
            continue;
        };
        let shown = match notes.len() <= SHOWN + 1 {
            true => notes.len(),
            false => SHOWN,
        };
        folded.extend(notes.iter().take(shown).map(|note| (*note).clone()));
        let rest = notes.len() - shown;
        if rest > 0 {
            let like = plural(rest, "note is", "notes are");
            folded.push(format!("{rest} more {like} like this; `-o json` has all of them"));
        }
    }
    folded
}

/// The first words of a note that are the same for other objects.
fn kind(note: &str) -> String {
    let words: Vec<&str> = note.split_whitespace().collect();
    // `PropagationPolicy shop/web (web.yaml:5): names …`: the name and the place of an object.
    let (object, rest) = match words.as_slice() {
        [object, _, place, rest @ ..] if place.starts_with('(') && place.contains(':') => (Some(*object), rest),
        rest => (None, rest),
    };
    let is_general = |word: &&str| {
        let word = word.trim_end_matches([':', ';', ',', '.']);
        !word.contains(['`', '/', ':', '(']) && !word.chars().any(|character| character.is_ascii_digit())
    };
    let general = object.into_iter().chain(rest.iter().copied().filter(is_general));
    general.take(WORDS).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_kind_has_no_names_numbers_and_places() {
        for (one, other, is_same) in [
            (
                "PropagationPolicy shop/a (x.yaml:1): does nothing: no Deployment (apps/v1) is named `a`",
                "PropagationPolicy web/b (y.yaml:27): does nothing: no StatefulSet (apps/v1) is named `b`",
                false,
            ),
            (
                "PropagationPolicy shop/a (x.yaml:1): does nothing: no Deployment (apps/v1) is named `a`",
                "PropagationPolicy web/b (y.yaml:27): does nothing: no Deployment (apps/v1) is named `b`",
                true,
            ),
            (
                "ClusterPropagationPolicy web (x.yaml:1): names a cluster that does not exist: m1",
                "ClusterPropagationPolicy all (x.yaml:9): names a cluster that does not exist: m2",
                true,
            ),
            (
                "3 bindings tolerate the failure of `m1` for good and stay there",
                "12 bindings tolerate the failure of `m2` for good and stay there",
                true,
            ),
            (
                "3 bindings tolerate every NoExecute taint of `m1` and stay",
                "3 bindings leave `m1` only when a toleration runs out",
                false,
            ),
        ] {
            assert_eq!(kind(one) == kind(other), is_same, "{} | {}", kind(one), kind(other));
        }
    }

    #[test]
    fn many_notes_of_a_kind_are_counted_where_the_first_is() {
        let few = notes(&["`a` is cordoned", "`b` is cordoned", "`c` is cordoned", "nothing else"]);
        assert_eq!(folded(&few), few);
        let many = notes(&[
            "first of all",
            "`a` is cordoned",
            "something else",
            "`b` is cordoned",
            "`c` is cordoned",
            "`d` is cordoned",
        ]);
        let expected = notes(&[
            "first of all",
            "`a` is cordoned",
            "`b` is cordoned",
            "2 more notes are like this; `-o json` has all of them",
            "something else",
        ]);
        assert_eq!(folded(&many), expected);
    }
}
