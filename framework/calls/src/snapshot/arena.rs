//! An arena with spare room, so that a changed cluster can be written in place.
//!
//! A row's list (labels, taints, …) is rewritten in place if it fits; a longer one moves to the end of its columns. The
//! space it leaves behind is garbage until the arena is rebuilt, which happens when a column runs out of room. A
//! rebuild writes every row into an empty arena, so a row is always written in the same way.

use std::sync::Arc;

use bytemuck::Pod;
use divvy_framework_abi::arena::{ABSENT, ColumnEntry, HEAD_WORDS, MAGIC, NO_ROW, column};
use divvy_framework_abi::text::Span;
use divvy_framework_memory::Words;

use super::contents::Contents;
use super::history::Changes;
use super::row::Row;
use super::symbols;

/// The word of an arena's head that holds its generation.
const GENERATION: usize = 3;

/// A column had no room for a write. The arena is then only partly written and must be discarded.
#[derive(Debug)]
pub(super) struct Full;

/// A list per row: a column of spans, and the columns of entries that the spans point into, with the size of an entry.
struct List {
    spans: usize,
    columns: &'static [(usize, usize)],
    length: fn(&Row) -> usize,
}

/// Declares the lists of a row: the column of spans, then for each column of entries its type and how to get its value
/// from an entry.
macro_rules! lists {
    ($( $field:ident in $spans:ident { $( $column:ident: $type:ty = $value:expr, )+ } )+) => {
        const LISTS: &[List] = &[$(
            List {
                spans: column::$spans,
                columns: &[$( (column::$column, size_of::<$type>()), )+],
                length: |row| row.$field.len(),
            },
        )+];

        impl Writer<'_> {
            fn write_lists(&mut self, number: usize, row: &Row) -> Result<(), Full> {
                let mut list = 0;
                $(
                    let start = self.reserve(list, number, row.$field.len())?;
                    $( self.put::<$type>(column::$column, start, row.$field.iter().map($value)); )+
                    list += 1;
                )+
                debug_assert_eq!(list, LISTS.len());
                Ok(())
            }
        }
    };
}

lists! {
    zones in ZONE_SPANS {
        ZONES: u32 = |zone| *zone,
    }
    labels in LABEL_SPANS {
        LABEL_KEYS: u32 = |label| label.0,
        LABEL_VALUES: u32 = |label| label.1,
    }
    annotations in ANNOTATION_SPANS {
        ANNOTATION_KEYS: u32 = |annotation| annotation.0,
        ANNOTATION_VALUES: u32 = |annotation| annotation.1,
    }
    taints in TAINT_SPANS {
        TAINT_KEYS: u32 = |taint| taint.key,
        TAINT_VALUES: u32 = |taint| taint.value,
        TAINT_EFFECTS: u32 = |taint| taint.effect,
        TAINT_TIMES: i64 = |taint| taint.time_added,
    }
    conditions in CONDITION_SPANS {
        CONDITION_TYPES: u32 = |condition| condition.0,
        CONDITION_STATUSES: u32 = |condition| condition.1,
        CONDITION_REASONS: u32 = |condition| condition.2,
    }
    modelings in MODELING_SPANS {
        MODELING_GRADES: i64 = |modeling| modeling.0,
        MODELING_COUNTS: i64 = |modeling| modeling.1,
    }
    raw in RAW_SPANS {
        RAW_TEXT: u8 = |byte| *byte,
    }
}

/// Columns with one number per row.
const PER_ROW: [usize; 9] = [
    column::NAME,
    column::NAME_HASH,
    column::UID,
    column::FLAGS,
    column::REGION,
    column::PROVIDER,
    column::ZONE,
    column::API_SET,
    column::MODEL_SET,
];

/// The four resource matrices, in the order of a row's quantities.
const MATRICES: [usize; 4] = [
    column::RESOURCE_ALLOCATABLE,
    column::RESOURCE_ALLOCATED,
    column::RESOURCE_ALLOCATING,
    column::RESOURCE_REMAINING,
];

/// Capacity for a list with `used` entries: half as many again, plus a constant for short lists.
fn with_room(used: usize) -> usize {
    used + used / 2 + 64
}

/// Fill level of a list's columns.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    /// Entries from the start of the columns, including garbage.
    end: usize,
    /// Entries that rows point to.
    live: usize,
}

/// The part of an arena that its readers share.
#[derive(Debug)]
pub(super) struct Block {
    /// Plugins can read these words but not write to them.
    pub(super) words: Words,
    /// History of the changes of rows. Plugins do not see it: the host picks out the rows that matter to them.
    pub(super) changes: Changes,
}

/// An arena that follows the contents of a store.
#[derive(Debug)]
pub(super) struct RoomyArena {
    block: Arc<Block>,
    /// Size of each column in bytes, including spare room.
    capacity: [usize; column::COUNT],
    usage: [Usage; LISTS.len()],
    /// Rows that have changed since they were last written.
    stale: Vec<u32>,
    /// Matrix cells to clear, because their row no longer has the resource: row and slot of the resource.
    dropped: Vec<(u32, u32)>,
}

impl RoomyArena {
    /// Builds an arena from the whole store.
    pub(super) fn new(contents: &Contents, changes: &Changes) -> Self {
        let capacity = capacities(contents);
        let directory = column::COUNT * size_of::<ColumnEntry>() / size_of::<u64>();
        let mut next = HEAD_WORDS + directory;
        let mut head = vec![
            MAGIC,
            contents.rows.len() as u64,
            column::COUNT as u64,
            changes.version().generation(),
        ];
        for bytes in capacity {
            head.extend([next as u64, 0]);
            next += bytes.div_ceil(8);
        }
        // The system hands out zeroed pages, so the spare room costs nothing until it is written.
        let mut block = Words::zeroed(next);
        let words = block.as_mut_slice();
        words[..head.len()].copy_from_slice(&head);
        let mut usage = [Usage::default(); LISTS.len()];
        // Readers see columns of one value per row at their full size; lists and shared data grow as they are written.
        let mut writer = Writer {
            words,
            capacity: &capacity,
            usage: &mut usage,
        };
        for column in PER_ROW.into_iter().chain(LISTS.iter().map(|list| list.spans)) {
            writer.set_used(column, capacity[column]);
        }
        for matrix in MATRICES {
            writer.column::<i64>(matrix).fill(ABSENT);
        }
        let written = writer.write_shared(contents).and_then(|()| {
            for (number, row) in contents.rows.iter().enumerate() {
                writer.column(column::SYMBOL_ROWS)[row.name as usize] = number as u32;
                writer.write_row(number, contents)?;
            }
            Ok(())
        });
        debug_assert!(written.is_ok(), "the capacities are those of the contents");
        Self {
            block: Arc::new(Block {
                words: block,
                changes: changes.clone(),
            }),
            capacity,
            usage,
            stale: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Records that a row has changed and no longer has the resources in the `dropped` slots. Returns false if so much
    /// has changed that a rebuild is cheaper; the caller then discards the arena.
    pub(super) fn mark(&mut self, row: usize, dropped: &[u32], rows: usize) -> bool {
        let row = row as u32;
        if self.stale.last() != Some(&row) {
            self.stale.push(row);
        }
        self.dropped.extend(dropped.iter().map(|&slot| (row, slot)));
        self.stale.len().max(self.dropped.len() / 8) <= rows
    }

    /// True if no row has changed since the arena was written.
    pub(super) fn is_current(&self) -> bool {
        self.stale.is_empty()
    }

    /// The current arena, for readers. It is not written while any of them holds it.
    pub(super) fn share(&self) -> Arc<Block> {
        Arc::clone(&self.block)
    }

    /// Writes the rows that have changed. Returns `None`, without writing, if a reader holds the arena. After [`Full`],
    /// the arena must be discarded.
    pub(super) fn catch_up(&mut self, contents: &Contents, changes: &Changes) -> Option<Result<(), Full>> {
        let Block { words, changes: known } = Arc::get_mut(&mut self.block)?;
        let words = words.as_mut_slice();
        words[GENERATION] = changes.version().generation();
        known.catch_up(changes, &self.stale);
        let mut writer = Writer {
            words,
            capacity: &self.capacity,
            usage: &mut self.usage,
        };
        let (stale, dropped) = (self.stale.drain(..), self.dropped.drain(..));
        Some(writer.write_shared(contents).and_then(|()| {
            let rows = contents.rows.len();
            // Cleared before the rows are written, because a row may have regained a resource since it lost it.
            for (row, slot) in dropped {
                for matrix in MATRICES {
                    writer.set(matrix, slot as usize * rows + row as usize, ABSENT);
                }
            }
            for row in stale {
                writer.write_row(row as usize, contents)?;
            }
            Ok(())
        }))
    }
}

fn capacities(contents: &Contents) -> [usize; column::COUNT] {
    let rows = contents.rows.len();
    let mut capacity = [rows * 4; column::COUNT];
    capacity[column::NAME_HASH] = rows * 8;
    for list in LISTS {
        let entries: usize = contents.rows.iter().map(|row| (list.length)(row)).sum();
        // A list that no row has (annotations, JSON) usually stays unused.
        let entries = if entries == 0 { 0 } else { with_room(entries) };
        capacity[list.spans] = rows * size_of::<Span>();
        for &(column, size) in list.columns {
            capacity[column] = entries * size;
        }
    }
    let resources = contents.resources.names.len();
    let resources = resources + resources / 4 + 1;
    capacity[column::RESOURCE_NAMES] = resources * 4;
    for matrix in MATRICES {
        capacity[matrix] = resources * rows * 8;
    }
    let symbols = with_room(contents.symbols.len());
    capacity[column::SYMBOL_TEXT] = with_room(contents.symbols.text.len()) + 4096;
    capacity[column::SYMBOL_OFFSETS] = (symbols + 1) * 8;
    capacity[column::SYMBOL_HASHES] = symbols * 8;
    capacity[column::SYMBOL_ROWS] = symbols * 4;
    capacity[column::SYMBOL_TABLE] = (symbols * 2).next_power_of_two() * 4;
    let apis = &contents.apis.lists;
    capacity[column::API_SET_SPANS] = with_room(apis.len()) * size_of::<Span>();
    let entries = with_room(apis.iter().map(|set| set.len()).sum());
    capacity[column::API_GROUP_VERSIONS] = entries * 4;
    capacity[column::API_KINDS] = entries * 4;
    let models = || contents.models.lists.iter().flat_map(|set| set.iter());
    capacity[column::MODEL_SET_SPANS] = with_room(contents.models.lists.len()) * size_of::<Span>();
    let count = with_room(models().count());
    capacity[column::MODEL_GRADES] = count * 8;
    capacity[column::MODEL_RANGE_SPANS] = count * size_of::<Span>();
    let ranges = with_room(models().map(|model| model.ranges.len()).sum());
    capacity[column::MODEL_RANGE_RESOURCES] = ranges * 4;
    capacity[column::MODEL_RANGE_MINIMUMS] = ranges * 8;
    capacity[column::MODEL_RANGE_MAXIMUMS] = ranges * 8;
    capacity
}

/// Writes into an arena that no reader holds.
struct Writer<'a> {
    words: &'a mut [u64],
    capacity: &'a [usize; column::COUNT],
    usage: &'a mut [Usage; LISTS.len()],
}

impl Writer<'_> {
    /// Size of a column in bytes, as readers see it.
    fn used(&self, column: usize) -> usize {
        self.words[HEAD_WORDS + column * 2 + 1] as usize
    }

    fn set_used(&mut self, column: usize, bytes: usize) {
        self.words[HEAD_WORDS + column * 2 + 1] = bytes as u64;
    }

    /// A whole column, including spare room.
    #[inline]
    fn column<T: Pod>(&mut self, column: usize) -> &mut [T] {
        let first = self.words[HEAD_WORDS + column * 2] as usize;
        let words = &mut self.words[first..first + self.capacity[column].div_ceil(8)];
        bytemuck::cast_slice_mut(words)
    }

    /// Writes the value of a row into a column with one value per row.
    #[inline]
    fn set<T: Pod>(&mut self, column: usize, row: usize, value: T) {
        self.column(column)[row] = value;
    }

    /// Writes consecutive values, beginning at index `start`.
    #[inline]
    fn put<T: Pod>(&mut self, column: usize, start: usize, values: impl Iterator<Item = T>) {
        for (cell, value) in self.column(column)[start..].iter_mut().zip(values) {
            *cell = value;
        }
    }

    /// Appends values to a column that only grows.
    fn append<T: Pod>(&mut self, column: usize, values: impl Iterator<Item = T>) -> Result<(), Full> {
        let mut used = self.used(column) / size_of::<T>();
        let capacity = self.capacity[column] / size_of::<T>();
        let cells = &mut self.column::<T>(column)[..capacity];
        for value in values {
            *cells.get_mut(used).ok_or(Full)? = value;
            used += 1;
        }
        self.set_used(column, used * size_of::<T>());
        Ok(())
    }

    /// Appends a span of `length` entries that begins where the previous one ends.
    fn append_span(&mut self, column: usize, length: usize) -> Result<(), Full> {
        let known = self.used(column) / size_of::<Span>();
        let last = known.checked_sub(1).map(|last| self.column::<Span>(column)[last]);
        let start = last.map_or(0, |last| last.start + last.length);
        let length = length as u32;
        self.append(column, std::iter::once(Span { start, length }))
    }

    /// Reserves room for a row's list of `length` entries and returns the index of its first entry.
    fn reserve(&mut self, list: usize, row: usize, length: usize) -> Result<usize, Full> {
        let List { spans, columns, .. } = LISTS[list];
        let span = self.column::<Span>(spans)[row];
        let usage = &mut self.usage[list];
        let (old_start, old_length) = (span.start as usize, span.length as usize);
        // The last list of the columns can grow in place; any other list that grows moves to the end.
        let start = if length <= old_length || old_start + old_length == usage.end {
            old_start
        } else {
            usage.end
        };
        // Only JSON can outgrow the 32 bits of a span. Clusters beyond that limit are left without it.
        let length = if start + length > u32::MAX as usize { 0 } else { length };
        let (column, size) = columns[0];
        if length > 0 && (start + length) * size > self.capacity[column] {
            return Err(Full);
        }
        usage.live = usage.live + length - old_length;
        // Readers take an empty column to mean that no row has the list, so garbage must not keep it non-empty.
        usage.end = if usage.live == 0 {
            0
        } else {
            usage.end.max(start + length)
        };
        let end = usage.end;
        for &(column, size) in columns {
            self.set_used(column, end * size);
        }
        self.column::<Span>(spans)[row] = Span {
            start: start as u32,
            length: length as u32,
        };
        Ok(start)
    }

    /// Writes the shared texts, resource names and sets that are new since the last write.
    fn write_shared(&mut self, contents: &Contents) -> Result<(), Full> {
        self.write_symbols(contents)?;
        let rows = contents.rows.len();
        let names = &contents.resources.names;
        if names.len() * 4 > self.capacity[column::RESOURCE_NAMES] {
            return Err(Full);
        }
        self.put(column::RESOURCE_NAMES, 0, names.iter().copied());
        self.set_used(column::RESOURCE_NAMES, names.len() * 4);
        for matrix in MATRICES {
            self.set_used(matrix, names.len() * rows * 8);
        }
        // Sets are only ever appended, so those already in the arena are unchanged.
        let known = self.used(column::API_SET_SPANS) / size_of::<Span>();
        for set in &contents.apis.lists[known..] {
            self.append_span(column::API_SET_SPANS, set.len())?;
            self.append(column::API_GROUP_VERSIONS, set.iter().map(|api| api.0))?;
            self.append(column::API_KINDS, set.iter().map(|api| api.1))?;
        }
        let known = self.used(column::MODEL_SET_SPANS) / size_of::<Span>();
        for set in &contents.models.lists[known..] {
            self.append_span(column::MODEL_SET_SPANS, set.len())?;
            self.append(column::MODEL_GRADES, set.iter().map(|model| model.grade))?;
            for model in set.iter() {
                self.append_span(column::MODEL_RANGE_SPANS, model.ranges.len())?;
                let ranges = || model.ranges.iter();
                self.append(column::MODEL_RANGE_RESOURCES, ranges().map(|range| range.0))?;
                self.append(column::MODEL_RANGE_MINIMUMS, ranges().map(|range| range.1))?;
                self.append(column::MODEL_RANGE_MAXIMUMS, ranges().map(|range| range.2))?;
            }
        }
        Ok(())
    }

    fn write_symbols(&mut self, contents: &Contents) -> Result<(), Full> {
        let symbols = &contents.symbols;
        let known = self.used(column::SYMBOL_HASHES) / 8;
        if known == 0 {
            self.append(column::SYMBOL_OFFSETS, std::iter::once(0_u64))?;
        }
        let hashes = &symbols.hashes[known..];
        let text = self.used(column::SYMBOL_TEXT);
        self.append(column::SYMBOL_TEXT, symbols.text[text..].iter().copied())?;
        self.append(column::SYMBOL_OFFSETS, symbols.offsets[known + 1..].iter().copied())?;
        self.append(column::SYMBOL_HASHES, hashes.iter().copied())?;
        self.append(column::SYMBOL_ROWS, hashes.iter().map(|_| NO_ROW))?;
        // The table has its final size from the start, so no entry ever moves.
        let bytes = self.capacity[column::SYMBOL_TABLE];
        self.set_used(column::SYMBOL_TABLE, bytes);
        let table = &mut self.column(column::SYMBOL_TABLE)[..bytes / 4];
        for (symbol, &hash) in (known as u32..).zip(hashes) {
            symbols::enter(table, hash, symbol);
        }
        Ok(())
    }

    fn write_row(&mut self, number: usize, contents: &Contents) -> Result<(), Full> {
        let row = &*contents.rows[number];
        for (column, value) in [
            (column::NAME, row.name),
            (column::UID, row.uid),
            (column::FLAGS, row.flags),
            (column::REGION, row.region),
            (column::PROVIDER, row.provider),
            (column::ZONE, row.zone),
            (column::API_SET, row.api_set),
            (column::MODEL_SET, row.model_set),
        ] {
            self.set(column, number, value);
        }
        self.set(column::NAME_HASH, number, contents.symbols.hashes[row.name as usize]);
        self.write_lists(number, row)?;
        self.write_resources(number, contents);
        Ok(())
    }

    fn write_resources(&mut self, number: usize, contents: &Contents) {
        let rows = contents.rows.len();
        for (name, quantities) in &contents.rows[number].resources {
            if let Some(slot) = contents.resources.slot(*name) {
                for (matrix, quantity) in MATRICES.into_iter().zip(quantities) {
                    self.set(matrix, slot * rows + number, *quantity);
                }
            }
        }
    }
}
