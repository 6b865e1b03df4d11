//! The clusters as numbers: rows, the texts and sets that they share, and the compaction that drops unused ones.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::row::{Draft, ModelRow, Row};
use super::symbols::Symbols;

/// Not a symbol: marks a resource slot that no cluster uses.
pub(super) const NO_SYMBOL: u32 = u32::MAX;

/// Lists that many clusters share, each stored once: sets of API enablements, sets of resource models.
#[derive(Debug)]
pub(super) struct Shared<T> {
    pub(super) lists: Vec<Arc<[T]>>,
    numbers: HashMap<Arc<[T]>, u32>,
}

impl<T: Hash + Eq + Clone> Default for Shared<T> {
    fn default() -> Self {
        let mut shared = Self {
            lists: Vec::new(),
            numbers: HashMap::new(),
        };
        shared.number(&[]);
        shared
    }
}

impl<T: Hash + Eq + Clone> Shared<T> {
    /// The number of `list`, which is stored if it is new. The empty list has the number 0.
    fn number(&mut self, list: &[T]) -> u32 {
        if let Some(&number) = self.numbers.get(list) {
            return number;
        }
        let list: Arc<[T]> = list.into();
        let number = self.lists.len() as u32;
        self.lists.push(Arc::clone(&list));
        self.numbers.insert(list, number);
        number
    }
}

/// The resources that any cluster's summary names. A resource keeps its slot in the matrices while a cluster names it;
/// afterwards the slot is free for another resource.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// Symbol of the resource in each slot; [`NO_SYMBOL`] if the slot is free.
    pub(super) names: Vec<u32>,
    /// Number of clusters that name the resource in each slot.
    users: Vec<u32>,
}

impl Resources {
    pub(super) fn slot(&self, name: u32) -> Option<usize> {
        self.names.iter().position(|&known| known == name)
    }

    fn add(&mut self, row: &Row) {
        for &(name, _) in &row.resources {
            let slot = self.slot(name).or_else(|| self.slot(NO_SYMBOL)).unwrap_or_else(|| {
                self.names.push(name);
                self.users.push(0);
                self.names.len() - 1
            });
            self.names[slot] = name;
            self.users[slot] += 1;
        }
    }

    fn take_away(&mut self, row: &Row) {
        for &(name, _) in &row.resources {
            if let Some(slot) = self.slot(name) {
                self.users[slot] -= 1;
                if self.users[slot] == 0 {
                    self.names[slot] = NO_SYMBOL;
                }
            }
        }
    }
}

/// The sizes at which the next compaction is due.
#[derive(Debug, Default)]
struct Limits {
    symbols: usize,
    text: usize,
    sets: usize,
}

/// The rows, and the texts, resources and sets that they share.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) symbols: Symbols,
    pub(super) resources: Resources,
    pub(super) apis: Shared<(u32, u32)>,
    pub(super) models: Shared<ModelRow>,
    /// Sorted by name. Boxed, so that an insertion moves pointers.
    #[allow(clippy::vec_box, reason = "a row is 300 bytes, and insertion moves half of them")]
    pub(super) rows: Vec<Box<Row>>,
    /// Slots of the resources that the most recently changed row no longer has.
    pub(super) dropped: Vec<u32>,
    limits: Limits,
}

/// Effect of inserting or updating a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The cluster was already present and is unchanged.
    None,
    /// The row has changed, in these groups of columns.
    Row {
        /// Number of the row.
        row: usize,
        /// Groups of columns, as bits of [`group`](divvy_framework_abi::arena::group).
        groups: u64,
        /// True if the cluster also started or stopped being deleted.
        deletion: bool,
    },
    /// A row was added, so the numbers of later rows have changed.
    Rows,
}

impl Contents {
    pub(super) fn find(&self, name: &str) -> Result<usize, usize> {
        self.rows
            .binary_search_by(|row| self.symbols.bytes(row.name).cmp(name.as_bytes()))
    }

    /// Inserts or updates the cluster in a draft.
    pub(super) fn take(&mut self, name: &str, draft: &mut Draft) -> Change {
        draft.apis.sort_unstable();
        draft.apis.dedup();
        draft.row.api_set = self.apis.number(&draft.apis);
        draft.row.model_set = self.models.number(&draft.models);
        let row = &draft.row;
        match self.find(name) {
            Ok(number) => {
                let known = &mut self.rows[number];
                let groups = known.differences(row);
                if groups == 0 {
                    return Change::None;
                }
                let deletion = known.is_deleting() != row.is_deleting();
                self.dropped.clear();
                for (name, _) in &known.resources {
                    if !row.resources.iter().any(|(kept, _)| kept == name) {
                        self.dropped.extend(self.resources.slot(*name).map(|slot| slot as u32));
                    }
                }
                // Adding first ensures that a resource which stays keeps its slot.
                self.resources.add(row);
                self.resources.take_away(known);
                // Cloned, because the draft's lists have spare capacity that a row should not keep.
                **known = row.clone();
                Change::Row {
                    row: number,
                    groups,
                    deletion,
                }
            }
            Err(number) => {
                self.resources.add(row);
                self.rows.insert(number, Box::new(row.clone()));
                Change::Rows
            }
        }
    }

    /// Removes a cluster. Returns false if there was none.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let Ok(number) = self.find(name) else { return false };
        let row = self.rows.remove(number);
        self.resources.take_away(&row);
        true
    }

    /// True if so much has been added since the last compaction that half of the stored data may be garbage.
    pub(super) fn wants_compaction(&self) -> bool {
        self.symbols.len() > self.limits.symbols
            || self.symbols.text.len() > self.limits.text
            || self.apis.lists.len() + self.models.lists.len() > self.limits.sets
    }

    /// Drops every text and set that no cluster uses. All symbols and set numbers change, so every arena is invalid
    /// afterwards.
    pub(super) fn compact(&mut self) {
        let old = std::mem::take(&mut self.symbols);
        let apis = std::mem::take(&mut self.apis);
        let models = std::mem::take(&mut self.models);
        self.resources = Resources::default();
        // Everything in use is entered again under a new number, in the order of the rows; the rest is dropped.
        let mut new_symbols = vec![NO_SYMBOL; old.len()];
        let mut new_apis = vec![None; apis.lists.len()];
        let mut new_models = vec![None; models.lists.len()];
        let symbols = &mut self.symbols;
        let mut renumber = |symbol: &mut u32| {
            let new = &mut new_symbols[*symbol as usize];
            if *new == NO_SYMBOL {
                *new = symbols.intern_hashed(old.bytes(*symbol), old.hashes[*symbol as usize]);
            }
            *symbol = *new;
        };
        for row in &mut self.rows {
            row.visit_symbols(&mut renumber);
            let number = row.api_set as usize;
            row.api_set = *new_apis[number].get_or_insert_with(|| {
                let mut list = apis.lists[number].to_vec();
                for (group_version, kind) in &mut list {
                    renumber(group_version);
                    renumber(kind);
                }
                // Equal sets must be equal lists, and the new symbols sort differently.
                list.sort_unstable();
                self.apis.number(&list)
            });
            let number = row.model_set as usize;
            row.model_set = *new_models[number].get_or_insert_with(|| {
                let mut list = models.lists[number].to_vec();
                for (resource, _, _) in list.iter_mut().flat_map(|model| &mut model.ranges) {
                    renumber(resource);
                }
                self.models.number(&list)
            });
            self.resources.add(row);
        }
        self.limits = Limits {
            symbols: 2 * self.symbols.len() + 4096,
            text: 2 * self.symbols.text.len() + 65536,
            sets: 2 * (self.apis.lists.len() + self.models.lists.len()) + 64,
        };
    }
}
