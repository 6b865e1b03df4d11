//! Files that are generated from types and committed: compared, or written if the environment says so.

use serde_json::Value;

use crate::artifacts::repository;

/// Set to write the files instead of comparing them.
const WRITE: &str = "DIVVY_WRITE_SCHEMAS";

/// Fails unless the file at a path in the repository is this text.
pub(crate) fn check(path: &str, text: &str) {
    let file = repository().join(path);
    if std::env::var_os(WRITE).is_some() {
        let folder = file.parent().expect("it is in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(&file, text).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(committed, text, "{path}: {WRITE}=1 writes it");
}

/// Fails unless the file at a path in the repository is this schema.
pub(crate) fn check_schema(path: &str, schema: &Value) {
    let text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    check(path, &(text + "\n"));
}
