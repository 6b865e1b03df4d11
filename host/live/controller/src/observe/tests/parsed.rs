//! A parser of the OpenMetrics text format, as far as it is used here. It panics at anything that the format does not
//! allow.

use std::collections::{BTreeMap, BTreeSet};

/// A line: name, labels, value.
type Sample = (String, BTreeMap<String, String>, f64);

/// A text that was parsed: metric families with their types, and samples.
pub(super) struct Parsed {
    families: BTreeMap<String, String>,
    samples: Vec<Sample>,
}

/// Parses the text and panics at anything that the format does not allow.
pub(super) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed {
        families: BTreeMap::new(),
        samples: Vec::new(),
    };
    let body = text.strip_suffix("# EOF\n").expect("the text ends with `# EOF`");
    let mut helps = BTreeSet::new();
    for line in body.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').expect("a help text");
            assert!(!text.is_empty() && helps.insert(name.to_owned()), "{line}");
        } else if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').expect("a type");
            assert!(helps.contains(name), "{name} has no help text");
            let previous = parsed.families.insert(name.to_owned(), kind.to_owned());
            assert!(previous.is_none(), "{name} occurs twice");
        } else {
            parsed.samples.push(sample(line));
        }
    }
    for (name, _, _) in &parsed.samples {
        assert!(parsed.family_of(name).is_some(), "{name} has no type");
    }
    parsed
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
    let value = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    let Some((name, labels)) = series.split_once('{') else {
        return (series.to_owned(), BTreeMap::new(), value);
    };
    let labels = labels
        .strip_suffix('}')
        .unwrap_or_else(|| panic!("labels do not end: {line}"));
    let labels = labels.split(',').filter(|label| !label.is_empty()).map(|label| {
        let (name, value) = label.split_once('=').unwrap_or_else(|| panic!("no label: {line}"));
        let value = value.trim_matches('"');
        (name.to_owned(), value.to_owned())
    });
    (name.to_owned(), labels.collect(), value)
}

impl Parsed {
    fn family_of(&self, sample: &str) -> Option<&str> {
        let bases = ["", "_total", "_bucket", "_sum", "_count", "_info"].map(|suffix| sample.strip_suffix(suffix));
        bases.into_iter().flatten().find_map(|base| {
            let (name, _) = self.families.get_key_value(base)?;
            Some(name.as_str())
        })
    }

    /// The value of the series with exactly these labels.
    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let wanted: BTreeMap<String, String> = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let found = self
            .samples
            .iter()
            .find(|(known, labels, _)| known == name && *labels == wanted);
        found.map(|(_, _, value)| *value)
    }

    pub(super) fn bounds(&self, name: &str) -> Vec<String> {
        let bucket = format!("{name}_bucket");
        let buckets = self.samples.iter().filter(|(known, _, _)| *known == bucket);
        buckets.map(|(_, labels, _)| labels["le"].clone()).collect()
    }

    /// The family of a name as queries use it: with the suffix that its type requires.
    pub(super) fn exposes(&self, name: &str) -> bool {
        let suffixes: [(&str, &[&str]); 4] = [
            ("counter", &["_total"]),
            ("gauge", &[""]),
            ("histogram", &["_bucket", "_count", "_sum"]),
            ("info", &["_info"]),
        ];
        suffixes.iter().any(|(kind, suffixes)| {
            suffixes.iter().any(|suffix| {
                let family = name.strip_suffix(suffix).and_then(|family| self.families.get(family));
                family.is_some_and(|known| known == kind)
            })
        })
    }

    /// Every family under the name that a person looks for.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let names = self.families.iter().map(|(name, kind)| match kind.as_str() {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.clone(),
        });
        names.collect()
    }
}
