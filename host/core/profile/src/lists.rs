//! The lists of plugins in a profile that extends another: what is inherited, removed, replaced and added.
//!
//! A list without [`INHERITED`] replaces the inherited one. With it, the inherited entries are inserted there:
//! `"!name"` removes one of them, and an entry that names one of them replaces it in its position. Every entry keeps its
//! [`Origin`], so that a message can point to the line in which it is written.

use divvy_spanned::names;

use super::model::{ProfileConfiguration, ScoreEntry};

/// The entry that represents all entries of the extended profile.
pub(super) const INHERITED: &str = "...";
/// Start of an entry that removes an inherited one.
const REMOVED: char = '!';

/// Location of an entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Name of the profile.
    pub profile: String,
    /// True if that profile is built in.
    pub is_built_in: bool,
    /// Index in the list as it is written there.
    pub index: usize,
}

impl Origin {
    fn is_of_same_profile(&self, other: &Self) -> bool {
        (&self.profile, self.is_built_in) == (&other.profile, other.is_built_in)
    }
}

/// An entry of a list of plugins, and its origin.
#[derive(Debug, Clone)]
struct Written<E> {
    entry: E,
    origin: Origin,
}

/// An entry of a list of plugins.
trait Entry: Clone {
    /// Name of the plugin, [`INHERITED`], or a name after [`REMOVED`].
    fn name(&self) -> &str;
}

impl Entry for String {
    fn name(&self) -> &str {
        self
    }
}

impl Entry for ScoreEntry {
    fn name(&self) -> &str {
        &self.plugin
    }
}

impl<E: Entry> Entry for Written<E> {
    fn name(&self) -> &str {
        self.entry.name()
    }
}

/// Problem with an entry of a list.
#[derive(Debug)]
pub(super) struct InvalidEntry {
    /// Key of the list.
    pub(super) list: &'static str,
    /// Index in the list as it is written.
    pub(super) index: usize,
    /// The problem.
    pub(super) reason: String,
    /// Suggested fix, if one is known.
    pub(super) hint: Option<String>,
}

/// The lists of one profile.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    filters: Option<Vec<Written<String>>>,
    scores: Option<Vec<Written<ScoreEntry>>>,
    select: Option<Vec<Written<String>>>,
    assign: Option<Vec<Written<String>>>,
}

impl Lists {
    /// The lists as `profile` writes them.
    pub(super) fn written_in(profile: &ProfileConfiguration, is_built_in: bool) -> Self {
        let name = profile.name.as_str();
        Self {
            filters: written(name, is_built_in, profile.filters.as_deref()),
            scores: written(name, is_built_in, profile.scores.as_deref()),
            select: written(name, is_built_in, profile.select.as_deref()),
            assign: written(name, is_built_in, profile.assign.as_deref()),
        }
    }

    /// These lists with those of the extended profile filled in, and every entry that is invalid. `base` is `None` if the profile
    /// extends none.
    pub(super) fn over(self, base: Option<&Self>) -> (Self, Vec<InvalidEntry>) {
        let mut invalid = Vec::new();
        let lists = Self {
            filters: merged("filters", self.filters, base.map(|base| &base.filters), &mut invalid),
            scores: merged("scores", self.scores, base.map(|base| &base.scores), &mut invalid),
            select: merged("select", self.select, base.map(|base| &base.select), &mut invalid),
            assign: merged("assign", self.assign, base.map(|base| &base.assign), &mut invalid),
        };
        (lists, invalid)
    }

    /// Writes these lists into the profile.
    pub(super) fn put_into(&self, profile: &mut ProfileConfiguration) {
        profile.filters = entries(self.filters.as_deref());
        profile.scores = entries(self.scores.as_deref());
        profile.select = entries(self.select.as_deref());
        profile.assign = entries(self.assign.as_deref());
    }

    /// The location of the entry at `index` of the list with this key.
    pub(super) fn origin(&self, list: &str, index: usize) -> Option<&Origin> {
        let names = match list {
            "filters" => &self.filters,
            "select" => &self.select,
            "assign" => &self.assign,
            "scores" => return Some(&self.scores.as_ref()?.get(index)?.origin),
            _ => return None,
        };
        Some(&names.as_ref()?.get(index)?.origin)
    }
}

fn written<E: Entry>(profile: &str, is_built_in: bool, entries: Option<&[E]>) -> Option<Vec<Written<E>>> {
    let entries = entries?.iter().enumerate().map(|(index, entry)| Written {
        entry: entry.clone(),
        origin: Origin {
            profile: profile.to_owned(),
            is_built_in,
            index,
        },
    });
    Some(entries.collect())
}

fn entries<E: Entry>(written: Option<&[Written<E>]>) -> Option<Vec<E>> {
    Some(written?.iter().map(|written| written.entry.clone()).collect())
}

/// A list with the inherited entries filled in, and without the marks that refer to inherited entries, even invalid ones.
fn merged<E: Entry>(
    list: &'static str,
    own: Option<Vec<Written<E>>>,
    base: Option<&Option<Vec<Written<E>>>>,
    invalid: &mut Vec<InvalidEntry>,
) -> Option<Vec<Written<E>>> {
    let Some(own) = own else {
        return base.cloned().flatten();
    };
    let base = base.map(|base| base.as_deref().unwrap_or(&[]));
    report_invalid(list, &own, base, invalid);
    let first = own.iter().position(|entry| entry.name() == INHERITED);
    let inherited = if first.is_some() { base.unwrap_or(&[]) } else { &[] };
    let is_kept = |entry: &&Written<E>| !own.iter().any(|own| removed(own.name()) == Some(entry.name()));
    let mut inherited: Vec<Written<E>> = inherited.iter().filter(is_kept).cloned().collect();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (index, entry) in own.into_iter().enumerate() {
        if entry.name() == INHERITED || removed(entry.name()).is_some() {
            continue;
        }
        // Only the first entry of a name replaces the inherited one. A second one is kept, and is reported as listed
        // twice.
        let is_replaceable =
            |known: &&mut Written<E>| known.name() == entry.name() && !known.origin.is_of_same_profile(&entry.origin);
        match inherited.iter_mut().find(is_replaceable) {
            Some(known) => *known = entry,
            None if first.is_some_and(|first| first < index) => after.push(entry),
            None => before.push(entry),
        }
    }
    Some(before.into_iter().chain(inherited).chain(after).collect())
}

fn removed(name: &str) -> Option<&str> {
    name.strip_prefix(REMOVED)
}

fn report_invalid<E: Entry>(list: &'static str, own: &[E], base: Option<&[E]>, invalid: &mut Vec<InvalidEntry>) {
    let first = own.iter().position(|entry| entry.name() == INHERITED);
    for (index, entry) in own.iter().enumerate() {
        let problem = match removed(entry.name()) {
            None if entry.name() == INHERITED => invalid_mark(base.is_some(), first == Some(index)),
            None => None,
            Some(removed) => invalid_removal(removed, base, first.is_some()),
        };
        invalid.extend(problem.map(|(reason, hint)| InvalidEntry {
            list,
            index,
            reason,
            hint,
        }));
    }
}

type Problem = (String, Option<String>);

fn invalid_mark(extends: bool, is_first: bool) -> Option<Problem> {
    match (extends, is_first) {
        (false, _) => {
            let reason = format!("`{INHERITED}` stands for inherited entries, but the profile extends none");
            Some((reason, Some("add `extends = \"default\"`".to_owned())))
        }
        (true, false) => Some((
            format!("a second `{INHERITED}`"),
            Some("leave one of them out".to_owned()),
        )),
        (true, true) => None,
    }
}

fn invalid_removal<E: Entry>(name: &str, base: Option<&[E]>, is_inheriting: bool) -> Option<Problem> {
    let entry = format!("{REMOVED}{name}");
    let Some(base) = base else {
        let reason = format!("`{entry}` removes an inherited entry, but the profile extends none");
        return Some((reason, Some("leave it out".to_owned())));
    };
    if !is_inheriting {
        let reason = format!("`{entry}` removes an inherited entry, but this list inherits none");
        return Some((
            reason,
            Some(format!("add `\"{INHERITED}\"` where the inherited entries go")),
        ));
    }
    if base.iter().any(|known| known.name() == name) {
        return None;
    }
    let known: Vec<String> = base.iter().map(|known| known.name().to_owned()).collect();
    let reason = format!("`{entry}` removes an entry that is not inherited");
    Some((reason, names::hint(name, &known)))
}
