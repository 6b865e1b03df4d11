//! Rows of tables that a plugin refuses, found when a profile is loaded.
//!
//! A plugin checks its tables where it makes its value for a snapshot. So the host makes it once for clusters that are made up,
//! one per key of each table, and every row is read before the first decision.

use std::sync::Arc;

use divvy_framework_abi::Slice;
use divvy_framework_abi::sized::kind;
use divvy_framework_abi::view::CycleView;
use divvy_framework_calls::snapshot::SnapshotStore;
use divvy_framework_calls::tables::TableKey;
use divvy_profile::table::LoadedTable;

use super::RegistryError;
use super::provided::ProvidedTables;
use super::tables::TableUses;
use crate::plugin::{CallError, PluginInstance, RefusedRow, ValueTables};

/// The first row that each plugin refuses. Any other failure is left to the first decision, because it may be due to the
/// clusters.
pub(super) fn refused_rows(
    plugins: &[Arc<PluginInstance>],
    uses: &TableUses,
    tables: &ProvidedTables,
) -> Vec<RegistryError> {
    let serving = plugins
        .iter()
        .filter(|plugin| plugin.library().serves(kind::SNAPSHOT_VALUE));
    serving.filter_map(|plugin| refused_row(plugin, uses, tables)).collect()
}

fn refused_row(plugin: &PluginInstance, uses: &TableUses, provided: &ProvidedTables) -> Option<RegistryError> {
    let (_, columns) = provided.of(plugin.number())?;
    let loaded = |declared: &str| -> Option<&LoadedTable> {
        let name = uses.table_name(plugin.number(), declared)?;
        provided.tables().iter().find(|table| table.name() == name)
    };
    let mut store = SnapshotStore::new();
    for table in uses.declared_names(plugin.number()).filter_map(loaded) {
        let contents = table.contents();
        for (number, key) in contents.keys().enumerate() {
            let name = format!("{} {number}", table.name());
            match contents.key() {
                TableKey::Cluster => store.upsert(key, |_| {}),
                TableKey::Region => store.upsert(&name, |cluster| _ = cluster.region(key)),
                TableKey::Provider => store.upsert(&name, |cluster| _ = cluster.provider(key)),
                TableKey::Label(label) => store.upsert(&name, |cluster| _ = cluster.label(label, key)),
            }
        }
    }
    let snapshot = store.snapshot();
    let cells = columns.resolve(&snapshot, None);
    let view = CycleView {
        snapshot: Slice::new(snapshot.words()),
        ..CycleView::DEFAULT
    };
    let view = columns.seen_in(view, &cells);
    let seen = ValueTables {
        number: provided.number(),
        groups: columns.groups(),
    };
    let answer = plugin.snapshot_value(&snapshot, seen, &view);
    plugin.forget_snapshot_value();
    let Err(CallError::Table(row)) = answer else {
        return None;
    };
    let RefusedRow {
        table,
        cluster,
        number,
        column,
        message,
        hint,
        ..
    } = *row;
    let table = loaded(&table)?;
    let cluster = snapshot.clusters().iter().find(|known| known.name() == cluster)?;
    Some(RegistryError::Table {
        table: table.name().to_owned(),
        error: Box::new(table.refused(&cluster, number, &column, (message, hint))),
    })
}
