//! Growth with the number of files, counted and not timed.

use std::path::PathBuf;

use super::Reader;
use crate::ReadOptions;

#[test]
fn files_that_are_no_lists_cost_nothing_for_each_earlier_object() {
    let options = ReadOptions::default();
    let mut reader = Reader::new(&options);
    for number in 0..500 {
        let file = PathBuf::from(format!("{number}.yaml"));
        let text = match number % 3 {
            0 => format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}}}\n"),
            1 => format!("{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c{number}\"}}}}"),
            // An `items` that is not the list of a list.
            _ => format!(
                "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"items\":[],\"metadata\":{{\"name\":\"c{number}\"}}}}"
            ),
        };
        assert!(!reader.list(&file, &mut text.as_bytes()), "{text}");
        reader.text(&file, &text);
    }
    assert_eq!(reader.looked_through(), 0);
    assert_eq!(reader.finish().resources.len(), 500);
}
