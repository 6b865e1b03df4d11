//! The text of a scrape.
//!
//! Bucket bounds are labels, and labels are compared as text: `1e-5` and `1e-05` are different series. Prometheus 2 does not
//! normalise them, so they are written as its Go library writes them, and Karmada's and Divvy's series can be added up.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// Encodes everything in the registry.
pub(super) fn render(registry: &Registry) -> String {
    let mut text = String::new();
    if encode(&mut text, registry).is_err() {
        // Writing to a string does not fail, and our collectors pass on nothing else.
        tracing::error!("the metrics cannot be encoded");
        return String::from("# EOF\n");
    }
    with_bounds_as_in_go(&text)
}

const BOUND: &str = "le=\"";

fn with_bounds_as_in_go(text: &str) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find(BOUND) {
        let (before, after) = rest.split_at(position + BOUND.len());
        rewritten.push_str(before);
        let (bound, after) = after.split_once('"').unwrap_or((after, ""));
        match bound.parse::<f64>() {
            Ok(number) if number.is_finite() => rewritten.push_str(&as_in_go(number)),
            _ => rewritten.push_str(bound),
        }
        rewritten.push('"');
        rest = after;
    }
    rewritten.push_str(rest);
    rewritten
}

/// A number like Go's `strconv.FormatFloat(number, 'g', -1, 64)`: an exponent of at least two digits below 1e-4.
fn as_in_go(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent @ ..-4) => format!("{digits}e-{:02}", -exponent),
        Ok(exponent @ 21..) => format!("{digits}e+{exponent}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_go() {
        for (number, text) in [
            (0.001, "0.001"),
            (16.384, "16.384"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000_015_000_000_000_000_002, "1.5000000000000002e-05"),
            (0.000_000_1, "1e-07"),
            (1.0, "1"),
            (1e21, "1e+21"),
        ] {
            assert_eq!(as_in_go(number), text);
        }
    }

    #[test]
    fn only_bounds_are_rewritten() {
        let text = "a_bucket{le=\"1e-5\",b=\"1e-5\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 1e-5\n";
        let expected = "a_bucket{le=\"1e-05\",b=\"1e-5\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 1e-5\n";
        assert_eq!(with_bounds_as_in_go(text), expected);
    }
}
