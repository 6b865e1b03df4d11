//! Durations on the command line.

use std::time::Duration;

/// Parses a duration such as `500ms`, `3s` or `5m`.
///
/// # Errors
///
/// What was expected.
pub fn parse(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a duration such as `500ms`, `3s` or `5m`".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "expected a duration such as `500ms`, `3s` or `5m`".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "5", "s", "5d", "-1s", "1e400s"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
