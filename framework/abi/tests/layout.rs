//! The layout of everything that crosses the boundary, compared with `layout.txt`.
//!
//! A line of `layout.txt` never changes within a major version; lines are added at the end of a struct. The test of the C
//! header reads the same file. `UPDATE_LAYOUT=1 cargo test -p divvy-framework-abi` writes it anew.

use std::fmt::Write;
use std::mem::offset_of;

use divvy_framework_abi::arena::ColumnEntry;
use divvy_framework_abi::call::{
    AssignCall, BindingValueCall, CallHead, FilterCall, PrepareCall, ScoreCall, SelectCall, SnapshotValueCall,
};
use divvy_framework_abi::descriptor::{Descriptor, Library, PointDescriptor, StrategyDescriptor};
use divvy_framework_abi::reason::{FigureRow, Reason};
use divvy_framework_abi::row::{
    AffinityRow, BindingNames, ComponentRow, ExpressionRow, PairRow, PeerRow, RequestRow, RuleRow, RuleValueRow,
    SpreadConstraintRow, TableColumnRow, TargetRow, TolerationRow,
};
use divvy_framework_abi::section::PluginRecord;
use divvy_framework_abi::service::{ConstructCall, DescribeCall, Failure, Services};
use divvy_framework_abi::signature::Signature;
use divvy_framework_abi::sized::Head;
use divvy_framework_abi::text::{Span, Text};
use divvy_framework_abi::view::{CycleView, PlacementsView, PolicyView};

const GOLDEN: &str = include_str!("layout.txt");

/// Writes the fields of structs that cannot grow. A field that is left out does not compile.
macro_rules! rows {
    ($out:ident; $($name:ident { $($field:ident),+ $(,)? })+) => {$(
        $out.push_str(&head(stringify!($name), size_of::<$name>()));
        let _every_field = |row: $name| {
            let $name { $($field: _),+ } = row;
        };
        $(
            let size = size_of_field(|row: &$name| &row.$field);
            line(&mut $out, stringify!($field), offset_of!($name, $field), size);
        )+
    )+};
}

/// Writes the fields of structs that can grow.
macro_rules! sized {
    ($out:ident; $($name:ident)+) => {$(
        $out.push_str(&head(stringify!($name), size_of::<$name>()));
        for (field, offset, size) in $name::FIELDS.iter().filter(|(_, _, size)| *size > 0) {
            line(&mut $out, field, *offset, *size);
        }
        let (_, offset, size) = $name::FIELDS[$name::FIELDS.len() - 1];
        assert_eq!(offset + size, size_of::<$name>(), "the last field of {} ends at its size", stringify!($name));
    )+};
}

fn size_of_field<T, F>(_: impl Fn(&T) -> &F) -> usize {
    size_of::<F>()
}

fn head(name: &str, size: usize) -> String {
    format!("\nstruct {name} {size}\n")
}

fn line(out: &mut String, field: &str, offset: usize, size: usize) {
    writeln!(out, "  {field} {offset} {size}").expect("writing to a string succeeds");
}

fn structs() -> String {
    let mut out = String::from("# Size of each struct; offset and size of each field.\n");
    rows! {
        out;
        Head { size, kind }
        Text { start, length, hash }
        Span { start, length }
        ColumnEntry { first_word, bytes }
        TolerationRow { key, value, effect, operator, seconds }
        SpreadConstraintRow { label, field, reserved, minimum_groups, maximum_groups }
        AffinityRow { name, cluster_names, exclude, expressions }
        ExpressionRow { key, values, source, operator }
        RequestRow { resource, quantity }
        ComponentRow { name, replicas, requests }
        TargetRow { cluster, replicas }
        PeerRow { name, groups, targets }
        PairRow { key, value }
        RuleRow { list, origin, target, reserved, values }
        RuleValueRow { field, value }
        TableColumnRow { table, name, cell_type, scale }
        BindingNames {
            name, namespace, uid, resource_api_version, resource_kind, resource_namespace, resource_name, resource_uid,
            strategy,
        }
        FigureRow { name, value }
        CallHead { size, kind, cycle, policy, sink, prepared, snapshot_value, binding_value, valid_until }
        PluginRecord {
            magic, length, flags, abi_major, abi_minor, least_minor, reserved, language, sdk_version, name, version,
        }
    }
    sized! {
        out;
        CycleView PolicyView PlacementsView PrepareCall SnapshotValueCall BindingValueCall FilterCall ScoreCall SelectCall AssignCall Failure Services ConstructCall
        DescribeCall PointDescriptor StrategyDescriptor Descriptor Library Reason
    }
    out
}

/// Modules of constants with their sources, from which the names and the documented types are read.
const MODULES: [(&str, &str, &str); 24] = [
    ("sized", "kind", include_str!("../src/sized.rs")),
    ("arena", "flag", include_str!("../src/arena.rs")),
    ("arena", "effect", include_str!("../src/arena.rs")),
    ("arena", "condition", include_str!("../src/arena.rs")),
    ("arena", "group", include_str!("../src/arena.rs")),
    ("arena", "column", include_str!("../src/arena.rs")),
    ("row", "toleration_operator", include_str!("../src/row.rs")),
    ("row", "spread_field", include_str!("../src/row.rs")),
    ("row", "expression_source", include_str!("../src/row.rs")),
    ("row", "expression_operator", include_str!("../src/row.rs")),
    ("row", "cell_type", include_str!("../src/row.rs")),
    ("row", "peer_group", include_str!("../src/row.rs")),
    ("service", "failure", include_str!("../src/service.rs")),
    ("service", "text_kind", include_str!("../src/service.rs")),
    ("service", "level", include_str!("../src/service.rs")),
    ("service", "document", include_str!("../src/service.rs")),
    ("view", "flag", include_str!("../src/view.rs")),
    ("descriptor", "feature", include_str!("../src/descriptor.rs")),
    ("descriptor", "binding_part", include_str!("../src/descriptor.rs")),
    ("section", "record_flag", include_str!("../src/section.rs")),
    ("reason", "cause", include_str!("../src/reason.rs")),
    ("reason", "bound", include_str!("../src/reason.rs")),
    ("reason", "remainder", include_str!("../src/reason.rs")),
    ("reason", "decider", include_str!("../src/reason.rs")),
];

/// The names and the first words of the documentation of all constants of a module, in their order.
fn constants(source: &str, module: &str) -> Vec<(String, String)> {
    let start = source.find(&format!("pub mod {module} {{")).expect("the module exists");
    let body = source[start..].split("\n}\n").next().expect("a module ends");
    let mut documentation = String::new();
    let mut found = Vec::new();
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("/// ") {
            if documentation.is_empty() {
                text.clone_into(&mut documentation);
            }
        } else if let Some(rest) = line.strip_prefix("pub const ").filter(|rest| !rest.starts_with("fn ")) {
            let name = rest.split(':').next().expect("a constant has a type");
            found.push((name.to_owned(), std::mem::take(&mut documentation)));
        } else {
            documentation.clear();
        }
    }
    found
}

/// The value of every constant, by module and name. [`every_constant_is_listed`] checks that none is left out.
macro_rules! values {
    ($($file:ident::$module:ident { $($name:ident),+ $(,)? })+) => {
        &[$($((
            stringify!($file),
            stringify!($module),
            stringify!($name),
            divvy_framework_abi::$file::$module::$name as u64,
        ),)+)+]
    };
}

const VALUES: &[(&str, &str, &str, u64)] = values! {
    sized::kind {
        PREPARE, FILTER, SCORE, SELECT, ASSIGN, ESTIMATE, RESERVE, COMMIT, ROLLBACK, ASSIGN_JOINTLY, NARROW,
        SNAPSHOT_VALUE, BINDING_VALUE, CYCLE, POLICY, SERVICES, FAILURE, CONSTRUCT, DESCRIBE, REASON, PLACEMENTS, LIBRARY, DESCRIPTOR,
        POINT, STRATEGY,
    }
    arena::flag { DELETING, READY, COMPLETE_API_ENABLEMENTS, RESOURCE_SUMMARY }
    arena::effect { ANY, NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE, UNKNOWN }
    arena::condition { UNKNOWN, TRUE, FALSE }
    arena::group {
        NAMES, UID, FLAGS, LOCATION, LABELS, ANNOTATIONS, TAINTS, APIS, CONDITIONS, RESOURCES, MODELS, RAW, ALL, COUNT,
    }
    arena::column {
        NAME, NAME_HASH, FLAGS, REGION, PROVIDER, ZONE, ZONE_SPANS, ZONES, LABEL_SPANS, LABEL_KEYS, LABEL_VALUES,
        ANNOTATION_SPANS, ANNOTATION_KEYS, ANNOTATION_VALUES, TAINT_SPANS, TAINT_KEYS, TAINT_VALUES, TAINT_EFFECTS,
        TAINT_TIMES, API_SET, API_SET_SPANS, API_GROUP_VERSIONS, API_KINDS, CONDITION_SPANS, CONDITION_TYPES,
        CONDITION_STATUSES, CONDITION_REASONS, RESOURCE_NAMES, RESOURCE_ALLOCATABLE, RESOURCE_ALLOCATED,
        RESOURCE_ALLOCATING, RESOURCE_REMAINING, MODEL_SET, MODEL_SET_SPANS, MODEL_GRADES, MODEL_RANGE_SPANS,
        MODEL_RANGE_RESOURCES, MODEL_RANGE_MINIMUMS, MODEL_RANGE_MAXIMUMS, MODELING_SPANS, MODELING_GRADES,
        MODELING_COUNTS, SYMBOL_OFFSETS, SYMBOL_TEXT, SYMBOL_TABLE, SYMBOL_HASHES, SYMBOL_ROWS, RAW_SPANS, RAW_TEXT,
        UID, COUNT,
    }
    row::toleration_operator { EQUAL, EXISTS, UNKNOWN }
    row::spread_field { CLUSTER, REGION, ZONE, PROVIDER, LABEL, UNKNOWN }
    row::expression_source { LABEL, PROVIDER, REGION, ZONE, NOTHING }
    row::expression_operator { IN, NOT_IN, EXISTS, DOES_NOT_EXIST, GREATER_THAN, LESS_THAN, UNKNOWN }
    row::cell_type { INTEGER, DECIMAL, TEXT, BOOLEAN }
    row::peer_group { AFFINITY, ANTI_AFFINITY }
    service::failure {
        BINDING, INPUT, PLUGIN, UNSCHEDULABLE, PREFERENCES, CONFIGURATION, INTERNAL, PANIC, CONSTRUCTION, NOT_SERVED,
    }
    service::text_kind { REASON, EXPLANATION, NOTE }
    service::level { OFF, ERROR, WARN, INFO, DEBUG, TRACE }
    service::document { CONFIGURATION_SCHEMA, PREFERENCES_SCHEMA, RULE_LISTS, TABLES }
    view::flag { FRESH, WORKLOAD, EXPLAIN, NAMESPACED, DUPLICATED, IGNORE_SPREAD, TIME, POLICY_METADATA, WORKLOAD_METADATA }
    descriptor::feature {
        RAW_CLUSTERS, DUPLICATES, RESPECTS_CAPACITY, ORDER_INDEPENDENT, INERT, OWN_TIERS, NO_SPREAD,
        RULES_DECIDE_TIERS, LAST_TIER_OVERFLOWS, NO_PRIORITIES, METADATA, TIME, TABLES, PLACEMENTS, ENFORCES_SPREAD,
        ENFORCES_AFFINITY, ENFORCES_ANTI_AFFINITY, EACH_ALONE, ALL, OPTIONAL, ENFORCES,
    }
    descriptor::binding_part {
        LAST_RESULT, EVICTIONS, SPREAD_CONSTRAINTS, CLUSTER_AFFINITIES, AFFINITY_GROUP, ANTI_AFFINITY_GROUP, ALL,
    }
    section::record_flag { CERTIFIED, MUST_BE_KNOWN }
    reason::cause { OTHER, FULL_COUNT, PROPORTION, HIGHEST_AVERAGES, EVEN, PACKED, COUNT, FILLED, UNCHANGED, NOT_NEEDED, DRAINED, NO_SHARE, LISTED, BEYOND_MAXIMUM, GROUP_NOT_CHOSEN }
    reason::bound { NONE, CAPACITY, CAP, TIER, RULE }
    reason::remainder { NONE, SERVED, PASSED_OVER }
    reason::decider { NONE, WEIGHT, LAST, SCORE, FEWEST_LAST, MOST_LAST, POLICY_ORDER, NAME, TIE }
};

/// The documented type of a column: `u32`, `Span` or another, before the first space or colon.
fn column_type(documentation: &str) -> &str {
    documentation.split('`').nth(1).unwrap_or_default()
}

/// The name of a column's group.
fn group_name(column: u64) -> &'static str {
    let group = divvy_framework_abi::arena::GROUPS[column as usize];
    let mut groups = VALUES.iter().filter(|value| value.1 == "group");
    let found = groups.find(|value| value.3 == group);
    found.expect("every column is in one group").2
}

fn all_constants() -> String {
    let mut out = String::from("\n# Constants, and the types and groups of columns.\n");
    for (file, module, source) in MODULES {
        writeln!(out, "\nmodule {file}::{module}").expect("writing to a string succeeds");
        for (name, documentation) in constants(source, module) {
            let known = VALUES
                .iter()
                .find(|value| (value.0, value.1, value.2) == (file, module, name.as_str()));
            let value = known
                .unwrap_or_else(|| panic!("{file}::{module}::{name} is not in VALUES"))
                .3;
            let kind = match module {
                "column" if name != "COUNT" => format!(" {} {}", column_type(&documentation), group_name(value)),
                _ => String::new(),
            };
            writeln!(out, "  {name} {value}{kind}").expect("writing to a string succeeds");
        }
    }
    out
}

/// Writes the types of functions, and refuses to compile one that is not there.
macro_rules! functions {
    ($($module:ident::$name:ident),+ $(,)?) => {
        &[$((stringify!($name), <divvy_framework_abi::$module::$name as Signature>::TYPES),)+]
    };
}

/// Every type of functions, with the types of its arguments and, at last, of its result.
const FUNCTIONS: &[(&str, &[&str])] = functions![
    call::CallFunction,
    call::ReleaseFunction,
    service::LogLevelFunction,
    service::LogFunction,
    service::CountFunction,
    service::ObserveFunction,
    service::TextFunction,
    service::FailFunction,
    service::ExplainFunction,
    service::DocumentFunction,
    service::ConstructFunction,
    service::DestroyFunction,
    service::DescribeFunction,
];

fn all_functions() -> String {
    let mut out = String::from("\n# Functions: the types of the arguments, and of the result.\n\n");
    for (name, types) in FUNCTIONS {
        let (result, arguments) = types.split_last().expect("a function has a result");
        writeln!(out, "function {name}({}) -> {result}", arguments.join(", ")).expect("writing to a string succeeds");
    }
    out
}

/// Every field that holds a function has one of these types.
#[test]
fn every_type_of_functions_is_listed() {
    let sources = [
        include_str!("../src/call.rs"),
        include_str!("../src/descriptor.rs"),
        include_str!("../src/reason.rs"),
        include_str!("../src/service.rs"),
        include_str!("../src/view.rs"),
    ];
    let fields = sources.iter().flat_map(|source| source.split(": Function<").skip(1));
    let mut fields: Vec<&str> = fields.filter_map(|rest| rest.split('>').next()).collect();
    fields.sort_unstable();
    fields.dedup();
    let mut listed: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    assert_eq!(fields, listed);
}

/// The layout is written for targets with addresses of eight bytes; on others it is the same by construction.
#[test]
fn no_layout_and_no_number_changes() {
    let actual = structs() + &all_constants() + &all_functions();
    if std::env::var_os("UPDATE_LAYOUT").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layout.txt");
        std::fs::write(path, &actual).expect("the golden file can be written");
        return;
    }
    for (number, (expected, actual)) in (1..).zip(GOLDEN.lines().zip(actual.lines())) {
        assert_eq!(actual, expected, "line {number} of layout.txt");
    }
    assert_eq!(actual.lines().count(), GOLDEN.lines().count(), "lines of layout.txt");
}

/// The numbers that the test of the C header expects.
#[test]
fn single_constants_do_not_change() {
    use divvy_framework_abi::{ABI_VERSION, LEAST_MINOR, arena, section};
    assert_eq!((ABI_VERSION.to_string().as_str(), LEAST_MINOR), ("1.0", 0));
    assert_eq!((arena::MAGIC, arena::HEAD_WORDS), (0x706e_7379_7676_6964, 4));
    assert_eq!((arena::ABSENT, arena::NO_ROW), (i64::MIN, u32::MAX));
    assert_eq!(section::MAGIC, *b"DivvyABI");
}

#[test]
fn every_constant_is_listed() {
    let listed = VALUES.len();
    let declared: usize = MODULES
        .iter()
        .map(|(_, module, source)| constants(source, module).len())
        .sum();
    assert_eq!(listed, declared);
}

/// The four columns of the snapshots' writer and the readers rely on these types.
#[test]
fn every_column_documents_its_type() {
    let (_, _, source) = MODULES[5];
    for (name, documentation) in constants(source, "column") {
        let documented = column_type(&documentation);
        let is_known = ["u8", "u32", "u64", "i64", "Span"].contains(&documented);
        assert!(is_known || name == "COUNT", "{name}: {documentation}");
    }
}
