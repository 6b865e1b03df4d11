//! Affinity matching: compiled once per binding, then a comparison of integers.
//!
//! The rule is Karmada's `util.ClusterMatches` (v1.19). A cluster matches if it is not excluded, the label selector and
//! the field selector match, and the list of names is empty or contains it. Zones are matched as a list: `In` is true
//! if any of the cluster's zones is among the values, `NotIn` if none is.

use divvy_framework_abi::arena::{Arena, column};
use divvy_framework_abi::row::{AffinityRow, ExpressionRow, expression_operator, expression_source};
use divvy_framework_abi::text::{Span, Text};

use super::Row;

/// A set of snapshot rows: one bit per cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// An empty set for `rows` clusters.
    #[inline]
    pub fn new(rows: usize) -> Self {
        Self {
            words: vec![0; rows.div_ceil(64)],
        }
    }

    /// Empties the set and resizes it for `rows` clusters. Allocates only if the set grows.
    pub fn reset(&mut self, rows: usize) {
        self.words.clear();
        self.words.resize(rows.div_ceil(64), 0);
    }

    /// Adds a row. A row beyond the capacity of the set is ignored.
    #[inline]
    pub fn insert(&mut self, row: Row) {
        let row = row.index();
        if let Some(word) = self.words.get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
    }

    /// True if the row is in the set.
    #[inline]
    pub fn contains(&self, row: Row) -> bool {
        let row = row.index();
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The rows, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        self.words.iter().enumerate().flat_map(|(position, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then(|| Row::from_index(position * 64 + bit))
            })
        })
    }
}

/// The tables that an affinity's spans point into.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct AffinityTables<'a> {
    /// String that contains all texts of the binding.
    pub pool: &'a str,
    /// Cluster names and selector values.
    pub texts: &'a [Text],
    /// Selector expressions.
    pub expressions: &'a [ExpressionRow],
}

/// An affinity, compiled against a snapshot.
#[derive(Debug, Clone)]
pub struct ClusterMatcher<'a> {
    arena: Arena<'a>,
    /// `None` if the affinity does not restrict names.
    names: Option<Rows>,
    exclude: Option<Rows>,
    expressions: Vec<Expression<'a>>,
    /// The label that the affinity requires, if it requires nothing else. Most affinities are that simple, and comparing the
    /// pair is much faster than interpreting the expression for each cluster.
    only_pair: Option<Pair<'a>>,
}

/// A label with one value.
#[derive(Debug, Clone, Copy)]
struct Pair<'a> {
    labels: Labels<'a>,
    key: u32,
    value: u32,
    /// Position of the label in the first cluster. Most clusters of a fleet have the same labels, in the same order.
    position: usize,
}

impl<'a> Pair<'a> {
    /// The label that an expression requires; `None` unless the expression is `In` with one value, and clusters have
    /// the key and the value.
    fn compile(arena: Arena<'a>, row: &ExpressionRow, tables: AffinityTables<'_>) -> Option<Self> {
        let ([value], expression_source::LABEL, expression_operator::IN) =
            (row.values.of(tables.texts), row.source, row.operator)
        else {
            return None;
        };
        let symbols = arena.symbols();
        let symbol = |text: &Text| symbols.find(text.read(tables.pool), text.hash);
        let (labels, key) = (Labels::new(arena), symbol(&row.key)?);
        Some(Self {
            labels,
            key,
            value: symbol(value)?,
            position: labels.position(0, key).unwrap_or(0),
        })
    }
}

/// A short list of rows, or a set if there are many.
#[derive(Debug, Clone)]
enum Rows {
    Few(Vec<Row>),
    Many(RowSet),
}

/// Maximum length of a list of names for which scanning beats allocating a set of all clusters.
const FEW: usize = 8;

impl Rows {
    #[inline]
    fn contains(&self, row: Row) -> bool {
        match self {
            Self::Few(rows) => rows.contains(&row),
            Self::Many(rows) => rows.contains(row),
        }
    }
}

#[derive(Debug, Clone)]
struct Expression<'a> {
    subject: Subject<'a>,
    operator: u32,
    /// Symbols of the values. Values that no cluster mentions are dropped: they match nothing.
    values: Vec<u32>,
    /// First value as an integer, for `Gt` and `Lt`.
    bound: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
enum Subject<'a> {
    /// The label with that key.
    Label(u32, Labels<'a>),
    /// One text per cluster; an empty one counts as absent.
    Field(&'a [u32]),
    /// A list of zones per cluster.
    Zones,
    /// A label or a field that no cluster has.
    Nothing,
    /// A kind of subject that this version does not know, which never matches.
    Unknown,
}

/// The label columns. Looked up once per binding, because finding a column costs more than reading a label in it.
#[derive(Debug, Clone, Copy)]
struct Labels<'a> {
    spans: &'a [Span],
    keys: &'a [u32],
    values: &'a [u32],
}

impl<'a> Labels<'a> {
    #[inline]
    fn new(arena: Arena<'a>) -> Self {
        Self {
            spans: arena.column(column::LABEL_SPANS),
            keys: arena.column(column::LABEL_KEYS),
            values: arena.column(column::LABEL_VALUES),
        }
    }

    /// Position of a label among those of that row.
    #[inline]
    fn position(&self, row: usize, key: u32) -> Option<usize> {
        let span = self.spans.get(row)?;
        span.of(self.keys).iter().position(|&candidate| candidate == key)
    }

    /// Symbol of the label's value in that row.
    #[inline]
    fn value(&self, row: usize, key: u32) -> Option<u32> {
        self.value_near(row, key, 0)
    }

    /// Symbol of the label's value in that row. Tries one position first, and searches only if another label is there.
    #[inline]
    fn value_near(&self, row: usize, key: u32, position: usize) -> Option<u32> {
        let span = self.spans.get(row)?;
        let near = (span.start as usize).wrapping_add(position);
        if position < span.length as usize && self.keys.get(near) == Some(&key) {
            return self.values.get(near).copied();
        }
        span.of(self.values).get(self.position(row, key)?).copied()
    }
}

/// The values of one label by row, for affinities that compare the same label in the same snapshot, as most lists of
/// weights do. The label is then looked up once per cluster instead of once per entry and cluster.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct LabelColumn {
    key: Option<u32>,
    /// Symbol of the value; [`NO_VALUE`] for a cluster without the label.
    values: Vec<u32>,
}

/// No symbol has this number.
const NO_VALUE: u32 = u32::MAX;

impl LabelColumn {
    /// Forgets the values. Call it before reading another snapshot.
    #[inline]
    pub fn forget(&mut self) {
        self.key = None;
    }

    /// The values of a pair's label in all rows.
    fn values(&mut self, pair: &Pair<'_>, rows: usize) -> &[u32] {
        if self.key != Some(pair.key) {
            self.key = Some(pair.key);
            self.values.clear();
            let value = |row| pair.labels.value_near(row, pair.key, pair.position).unwrap_or(NO_VALUE);
            self.values.extend((0..rows).map(value));
        }
        &self.values
    }
}

impl<'a> ClusterMatcher<'a> {
    /// Compiles an affinity against a snapshot. For hosts; plugins call
    /// [`Affinity::compile`](crate::binding::Affinity::compile).
    #[doc(hidden)]
    pub fn compile(arena: Arena<'a>, affinity: &AffinityRow, tables: AffinityTables<'_>) -> Self {
        let rows_of = |span: Span| {
            let names = span.of(tables.texts);
            let found = names
                .iter()
                .filter_map(|name| arena.row_hashed(name.read(tables.pool), name.hash))
                .map(|row| Row::from_index(row as usize));
            match names.len() {
                0 => None,
                1..=FEW => Some(Rows::Few(found.collect())),
                _ => {
                    let mut set = RowSet::new(arena.rows());
                    found.for_each(|row| set.insert(row));
                    Some(Rows::Many(set))
                }
            }
        };
        let rows = affinity.expressions.of(tables.expressions);
        let is_empty = |span: Span| span.of(tables.texts).is_empty();
        if let [only] = rows
            && is_empty(affinity.cluster_names)
            && is_empty(affinity.exclude)
            && let Some(pair) = Pair::compile(arena, only, tables)
        {
            return Self {
                arena,
                names: None,
                exclude: None,
                expressions: Vec::new(),
                only_pair: Some(pair),
            };
        }
        let expressions: Vec<Expression<'a>> = rows
            .iter()
            .map(|row| {
                let texts = row.values.of(tables.texts);
                Expression {
                    subject: match row.source {
                        expression_source::LABEL => arena
                            .symbol_hashed(row.key.read(tables.pool), row.key.hash)
                            .map_or(Subject::Nothing, |key| Subject::Label(key, Labels::new(arena))),
                        expression_source::PROVIDER => Subject::Field(arena.column(column::PROVIDER)),
                        expression_source::REGION => Subject::Field(arena.column(column::REGION)),
                        expression_source::ZONE => Subject::Zones,
                        expression_source::NOTHING => Subject::Nothing,
                        _ => Subject::Unknown,
                    },
                    operator: row.operator,
                    values: texts
                        .iter()
                        .filter_map(|text| arena.symbol_hashed(text.read(tables.pool), text.hash))
                        .collect(),
                    bound: texts.first().and_then(|text| text.read(tables.pool).parse().ok()),
                }
            })
            .collect();
        Self {
            arena,
            names: rows_of(affinity.cluster_names),
            exclude: rows_of(affinity.exclude),
            expressions,
            only_pair: None,
        }
    }

    /// True if the affinity restricts nothing, so that every cluster matches.
    #[inline]
    pub fn matches_all(&self) -> bool {
        self.names.is_none() && self.exclude.is_none() && self.expressions.is_empty() && self.only_pair.is_none()
    }

    /// True if the cluster in that row matches.
    #[inline]
    pub fn matches(&self, row: Row) -> bool {
        match &self.only_pair {
            Some(pair) => pair.labels.value_near(row.index(), pair.key, pair.position) == Some(pair.value),
            None => self.interpret(row),
        }
    }

    fn interpret(&self, row: Row) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(row))
            && !self.exclude.as_ref().is_some_and(|exclude| exclude.contains(row))
            && self
                .expressions
                .iter()
                .all(|expression| expression.holds(self.arena, row.index()))
    }

    /// Appends the rows of all matching clusters to `rows`, ascending.
    ///
    /// If the affinity lists names, only those clusters are examined.
    ///
    /// `column` keeps the values of the label for further affinities of the same snapshot.
    pub fn collect_rows(&self, column: &mut LabelColumn, rows: &mut Vec<Row>) {
        if let Some(pair) = &self.only_pair {
            let values = column.values(pair, self.arena.rows());
            return collect_equal(values, pair.value, rows, Row::from_index);
        }
        match &self.names {
            Some(Rows::Few(names)) => {
                let start = rows.len();
                rows.extend(names.iter().filter(|&&row| self.matches(row)));
                rows[start..].sort_unstable();
                dedup_from(rows, start);
            }
            Some(Rows::Many(names)) => rows.extend(names.iter().filter(|&row| self.matches(row))),
            None => rows.extend(
                (0..self.arena.rows())
                    .map(Row::from_index)
                    .filter(|&row| self.matches(row)),
            ),
        }
    }
}

/// Appends the rows in which a value occurs in a column, ascending, in the form that `to_row` gives them. No branch depends on a row,
/// because processors cannot predict which ones match.
#[doc(hidden)]
#[inline]
pub fn collect_equal<R: Copy>(column: &[u32], wanted: u32, rows: &mut Vec<R>, to_row: impl Fn(usize) -> R) {
    let start = rows.len();
    rows.resize(start + column.len(), to_row(0));
    let count = rows
        .get_mut(start..)
        .map_or(0, |slots| write_equal(column, wanted, slots, to_row));
    rows.truncate(start + count);
}

/// Writes the rows with a value to the beginning of `rows`, which should have as many entries as the column. Returns how many there are.
#[doc(hidden)]
#[inline]
pub fn write_equal<R>(column: &[u32], wanted: u32, rows: &mut [R], to_row: impl Fn(usize) -> R) -> usize {
    let mut end = 0;
    for (row, &value) in column.iter().enumerate() {
        // Never beyond the end: at most one row is written per value.
        if let Some(slot) = rows.get_mut(end) {
            *slot = to_row(row);
        }
        end += usize::from(value == wanted);
    }
    end
}

/// Removes consecutive duplicates from the tail of a list that begins at `start`.
fn dedup_from(rows: &mut Vec<Row>, start: usize) {
    let mut kept = start;
    for position in start..rows.len() {
        if kept == start || rows[kept - 1] != rows[position] {
            rows[kept] = rows[position];
            kept += 1;
        }
    }
    rows.truncate(kept);
}

impl Expression<'_> {
    #[inline]
    fn holds(&self, arena: Arena<'_>, row: usize) -> bool {
        let value = match self.subject {
            Subject::Label(key, labels) => labels.value(row, key),
            Subject::Field(values) => values.get(row).copied().filter(|&symbol| symbol != 0),
            Subject::Zones => return self.holds_for_zones(arena, row),
            Subject::Nothing => None,
            Subject::Unknown => return false,
        };
        match (self.operator, value) {
            (expression_operator::IN, Some(value)) => self.values.contains(&value),
            (expression_operator::NOT_IN, Some(value)) => !self.values.contains(&value),
            (expression_operator::NOT_IN | expression_operator::DOES_NOT_EXIST, None) => true,
            (expression_operator::EXISTS, Some(_)) => true,
            (expression_operator::GREATER_THAN, Some(value)) => self.compare(arena, value, |left, right| left > right),
            (expression_operator::LESS_THAN, Some(value)) => self.compare(arena, value, |left, right| left < right),
            _ => false,
        }
    }

    #[inline]
    fn compare(&self, arena: Arena<'_>, value: u32, holds: impl Fn(i64, i64) -> bool) -> bool {
        match (arena.text(value).parse(), self.bound) {
            (Ok(value), Some(bound)) => holds(value, bound),
            _ => false,
        }
    }

    #[inline]
    fn holds_for_zones(&self, arena: Arena<'_>, row: usize) -> bool {
        let zones: &[u32] = arena.span(column::ZONE_SPANS, row).of(arena.column(column::ZONES));
        let any_listed = || zones.iter().any(|zone| self.values.contains(zone));
        match self.operator {
            expression_operator::IN => any_listed(),
            expression_operator::NOT_IN => !any_listed(),
            expression_operator::EXISTS => !zones.is_empty(),
            expression_operator::DOES_NOT_EXIST => zones.is_empty(),
            _ => false,
        }
    }
}
