//! Writes the columns of all clusters into one arena.

use bytemuck::Pod;
use divvy_framework_abi::arena::{ABSENT, ColumnEntry, HEAD_WORDS, MAGIC, NO_ROW, column};
use divvy_framework_abi::text::Span;

use super::store::{Row, Snapshot, SnapshotStore};

/// Collects columns and lays them out one after the other.
struct Writer {
    words: Vec<u64>,
}

impl Writer {
    fn new(rows: usize) -> Self {
        let directory = column::COUNT * size_of::<ColumnEntry>() / size_of::<u64>();
        let mut words = vec![0; HEAD_WORDS + directory];
        words[0] = MAGIC;
        words[1] = rows as u64;
        words[2] = column::COUNT as u64;
        Self { words }
    }

    fn write<T: Pod>(&mut self, column: usize, values: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let first = self.words.len();
        self.words.resize(first + bytes.len().div_ceil(8), 0);
        bytemuck::cast_slice_mut(&mut self.words[first..])[..bytes.len()].copy_from_slice(bytes);
        let entry = ColumnEntry {
            first_word: first as u64,
            bytes: bytes.len() as u64,
        };
        let place = HEAD_WORDS + column * 2;
        self.words[place..place + 2].copy_from_slice(bytemuck::cast_slice(&[entry]));
    }

    fn write_all<T: Pod>(&mut self, column: usize, values: impl Iterator<Item = T>) {
        self.write(column, &values.collect::<Vec<T>>());
    }

    /// A column of spans whose lengths are `lengths`, one after the other.
    fn write_spans(&mut self, column: usize, lengths: impl Iterator<Item = usize>) {
        let mut start = 0;
        self.write_all(
            column,
            lengths.map(|length| {
                let span = Span {
                    start,
                    length: length as u32,
                };
                start += length as u32;
                span
            }),
        );
    }
}

impl SnapshotStore {
    pub(super) fn assemble(&self) -> Snapshot {
        let rows = &self.rows;
        let mut writer = Writer::new(rows.len());
        self.write_identity(&mut writer);
        self.write_pairs(&mut writer);
        self.write_apis_and_conditions(&mut writer);
        self.write_resources(&mut writer);
        self.write_models(&mut writer);
        self.write_symbols(&mut writer);
        write_raw(rows, &mut writer);
        Snapshot::new(writer.words)
    }

    fn write_identity(&self, writer: &mut Writer) {
        let rows = &self.rows;
        let symbols = &self.symbols;
        writer.write_all(column::NAME, rows.iter().map(|row| row.name));
        writer.write_all(
            column::NAME_HASH,
            rows.iter().map(|row| symbols.hashes[row.name as usize]),
        );
        writer.write_all(column::UID, rows.iter().map(|row| row.uid));
        writer.write_all(column::FLAGS, rows.iter().map(|row| row.flags));
        writer.write_all(column::REGION, rows.iter().map(|row| row.region));
        writer.write_all(column::PROVIDER, rows.iter().map(|row| row.provider));
        writer.write_all(column::ZONE, rows.iter().map(|row| row.zone));
        writer.write_spans(column::ZONE_SPANS, rows.iter().map(|row| row.zones.len()));
        writer.write_all(column::ZONES, rows.iter().flat_map(|row| row.zones.iter().copied()));
    }

    fn write_pairs(&self, writer: &mut Writer) {
        let rows = &self.rows;
        writer.write_spans(column::LABEL_SPANS, rows.iter().map(|row| row.labels.len()));
        let labels = || rows.iter().flat_map(|row| row.labels.iter());
        writer.write_all(column::LABEL_KEYS, labels().map(|pair| pair.0));
        writer.write_all(column::LABEL_VALUES, labels().map(|pair| pair.1));
        writer.write_spans(column::ANNOTATION_SPANS, rows.iter().map(|row| row.annotations.len()));
        let annotations = || rows.iter().flat_map(|row| row.annotations.iter());
        writer.write_all(column::ANNOTATION_KEYS, annotations().map(|pair| pair.0));
        writer.write_all(column::ANNOTATION_VALUES, annotations().map(|pair| pair.1));
        writer.write_spans(column::TAINT_SPANS, rows.iter().map(|row| row.taints.len()));
        let taints = || rows.iter().flat_map(|row| row.taints.iter());
        writer.write_all(column::TAINT_KEYS, taints().map(|taint| taint.key));
        writer.write_all(column::TAINT_VALUES, taints().map(|taint| taint.value));
        writer.write_all(column::TAINT_EFFECTS, taints().map(|taint| taint.effect));
        writer.write_all(column::TAINT_TIMES, taints().map(|taint| taint.time_added));
    }

    fn write_apis_and_conditions(&self, writer: &mut Writer) {
        let rows = &self.rows;
        let sets = &self.apis.lists;
        writer.write_all(column::API_SET, rows.iter().map(|row| row.api_set));
        writer.write_spans(column::API_SET_SPANS, sets.iter().map(|set| set.len()));
        let apis = || sets.iter().flat_map(|set| set.iter());
        writer.write_all(column::API_GROUP_VERSIONS, apis().map(|api| api.0));
        writer.write_all(column::API_KINDS, apis().map(|api| api.1));
        writer.write_spans(column::CONDITION_SPANS, rows.iter().map(|row| row.conditions.len()));
        let conditions = || rows.iter().flat_map(|row| row.conditions.iter());
        writer.write_all(column::CONDITION_TYPES, conditions().map(|condition| condition.0));
        writer.write_all(column::CONDITION_STATUSES, conditions().map(|condition| condition.1));
        writer.write_all(column::CONDITION_REASONS, conditions().map(|condition| condition.2));
    }

    fn write_resources(&self, writer: &mut Writer) {
        let count = self.rows.len();
        let mut matrices = [(); 4].map(|()| vec![ABSENT; self.resources.len() * count]);
        for (place, row) in self.rows.iter().enumerate() {
            for resource in &row.resources {
                let cell = resource.resource as usize * count + place;
                matrices[0][cell] = resource.allocatable;
                matrices[1][cell] = resource.allocated;
                matrices[2][cell] = resource.allocating;
                matrices[3][cell] = resource.remaining;
            }
        }
        writer.write(column::RESOURCE_NAMES, &self.resources);
        writer.write(column::RESOURCE_ALLOCATABLE, &matrices[0]);
        writer.write(column::RESOURCE_ALLOCATED, &matrices[1]);
        writer.write(column::RESOURCE_ALLOCATING, &matrices[2]);
        writer.write(column::RESOURCE_REMAINING, &matrices[3]);
    }

    fn write_models(&self, writer: &mut Writer) {
        let rows = &self.rows;
        let sets = &self.models.lists;
        let models = || sets.iter().flat_map(|set| set.iter());
        let ranges = || models().flat_map(|model| model.ranges.iter());
        writer.write_all(column::MODEL_SET, rows.iter().map(|row| row.model_set));
        writer.write_spans(column::MODEL_SET_SPANS, sets.iter().map(|set| set.len()));
        writer.write_all(column::MODEL_GRADES, models().map(|model| model.grade));
        writer.write_spans(column::MODEL_RANGE_SPANS, models().map(|model| model.ranges.len()));
        writer.write_all(column::MODEL_RANGE_RESOURCES, ranges().map(|range| range.0));
        writer.write_all(column::MODEL_RANGE_MINIMUMS, ranges().map(|range| range.1));
        writer.write_all(column::MODEL_RANGE_MAXIMUMS, ranges().map(|range| range.2));
        writer.write_spans(column::MODELING_SPANS, rows.iter().map(|row| row.modelings.len()));
        let modelings = || rows.iter().flat_map(|row| row.modelings.iter());
        writer.write_all(column::MODELING_GRADES, modelings().map(|modeling| modeling.0));
        writer.write_all(column::MODELING_COUNTS, modelings().map(|modeling| modeling.1));
    }

    fn write_symbols(&self, writer: &mut Writer) {
        let symbols = &self.symbols;
        let mut row_of_symbol = vec![NO_ROW; symbols.len()];
        for (place, row) in self.rows.iter().enumerate() {
            row_of_symbol[row.name as usize] = place as u32;
        }
        writer.write(column::SYMBOL_OFFSETS, &symbols.offsets);
        writer.write(column::SYMBOL_TEXT, &symbols.text);
        writer.write(column::SYMBOL_TABLE, &symbols.table);
        writer.write(column::SYMBOL_HASHES, &symbols.hashes);
        writer.write(column::SYMBOL_ROWS, &row_of_symbol);
    }
}

fn write_raw(rows: &[Row], writer: &mut Writer) {
    if rows.iter().all(|row| row.raw.is_none()) {
        return;
    }
    let mut text = Vec::new();
    let mut offsets = vec![0_u64];
    for row in rows {
        text.extend_from_slice(row.raw.as_deref().unwrap_or("").as_bytes());
        offsets.push(text.len() as u64);
    }
    writer.write(column::RAW_OFFSETS, &offsets);
    writer.write(column::RAW_TEXT, &text);
}
