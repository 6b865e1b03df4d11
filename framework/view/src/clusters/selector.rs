//! A selector of clusters that a plugin makes itself, for instance from its preferences.

use divvy_framework_abi::row::{AffinityRow, ExpressionRow, expression_source};
use divvy_framework_abi::text::{Span, Text};

use super::{AffinityTables, ClusterMatcher, Clusters};
use crate::words::{SelectorField, SelectorOperator};

/// Selects clusters as an affinity of the policy does: by names, labels and fields. Without requirements, it selects every cluster.
///
/// It owns its texts, so a plugin can keep it in the [value](crate::binding) that it makes for a binding.
///
/// ```
/// use divvy_framework_view::clusters::{ClusterSelector, Clusters, Row};
/// use divvy_framework_view::words::SelectorOperator;
///
/// /// Rows of the clusters of the gold tier.
/// fn gold(clusters: &Clusters<'_>) -> Vec<Row> {
///     let mut selector = ClusterSelector::default();
///     selector.label("tier", SelectorOperator::In, ["gold"]);
///     let matcher = selector.compile(clusters);
///     clusters.rows().filter(|row| matcher.matches(*row)).collect()
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ClusterSelector {
    pool: String,
    names: Vec<Text>,
    excluded: Vec<Text>,
    values: Vec<Text>,
    expressions: Vec<ExpressionRow>,
}

impl ClusterSelector {
    /// Selects only these clusters, in addition to those named before.
    pub fn names<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) -> &mut Self {
        for name in names {
            let name = self.text(name.as_ref());
            self.names.push(name);
        }
        self
    }

    /// Excludes these clusters.
    pub fn exclude<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) -> &mut Self {
        for name in names {
            let name = self.text(name.as_ref());
            self.excluded.push(name);
        }
        self
    }

    /// Adds a requirement on a label.
    pub fn label<T: AsRef<str>>(
        &mut self,
        key: &str,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let key = self.text(key);
        self.expression(expression_source::LABEL, key, operator, values)
    }

    /// Adds a requirement on a field.
    pub fn field<T: AsRef<str>>(
        &mut self,
        field: SelectorField,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        self.expression(field.code(), Text::EMPTY, operator, values)
    }

    /// True if it has requirements on labels, so a change of labels alone may change the selection.
    pub fn reads_labels(&self) -> bool {
        let mut expressions = self.expressions.iter();
        expressions.any(|expression| expression.source == expression_source::LABEL)
    }

    /// Names passed to [`Self::names`] that no cluster has.
    pub fn unknown_names<'a>(&'a self, clusters: &Clusters<'_>) -> impl Iterator<Item = &'a str> {
        let arena = clusters.arena();
        let names = self.names.iter().map(|name| (name.read(&self.pool), name.hash));
        names
            .filter(move |&(name, hash)| arena.row_hashed(name, hash).is_none())
            .map(|(name, _)| name)
    }

    /// Compiles the selector into a matcher of rows. Compile once per snapshot, not once per cluster.
    pub fn compile<'a>(&self, clusters: &Clusters<'a>) -> ClusterMatcher<'a> {
        let (names, excluded) = (self.names.len(), self.excluded.len());
        let texts = [&self.names[..], &self.excluded, &self.values].concat();
        let mut expressions = self.expressions.clone();
        for expression in &mut expressions {
            expression.values.start += (names + excluded) as u32;
        }
        let affinity = AffinityRow {
            name: Text::EMPTY,
            cluster_names: span(0, names),
            exclude: span(names, excluded),
            expressions: span(0, expressions.len()),
        };
        let tables = AffinityTables {
            pool: &self.pool,
            texts: &texts,
            expressions: &expressions,
        };
        ClusterMatcher::compile(clusters.arena(), &affinity, tables)
    }

    fn expression<T: AsRef<str>>(
        &mut self,
        source: u32,
        key: Text,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let start = self.values.len();
        for value in values {
            let value = self.text(value.as_ref());
            self.values.push(value);
        }
        self.expressions.push(ExpressionRow {
            key,
            values: span(start, self.values.len() - start),
            source,
            operator: operator.code(),
        });
        self
    }

    fn text(&mut self, text: &str) -> Text {
        let start = self.pool.len();
        self.pool.push_str(text);
        Text {
            start: start as u32,
            length: text.len() as u32,
            hash: divvy_framework_abi::hash::hash_text(text),
        }
    }
}

fn span(start: usize, length: usize) -> Span {
    Span {
        start: start as u32,
        length: length as u32,
    }
}
