//! Quantities: tables first, then properties.

use proptest::prelude::*;

use super::{Quantity, QuantityErrorKind};

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_suffix_has_its_value() {
    for (text, nano) in [
        ("0", 0),
        ("1n", 1),
        ("1u", 1_000),
        ("1m", 1_000_000),
        ("1", 1_000_000_000),
        ("1k", 1_000_000_000_000),
        ("1M", 10_i128.pow(15)),
        ("1G", 10_i128.pow(18)),
        ("1T", 10_i128.pow(21)),
        ("1P", 10_i128.pow(24)),
        ("1E", 10_i128.pow(27)),
        ("1Ki", 1_024 * 10_i128.pow(9)),
        ("1Mi", (1 << 20) * 10_i128.pow(9)),
        ("1Gi", (1 << 30) * 10_i128.pow(9)),
        ("1Ti", (1 << 40) * 10_i128.pow(9)),
        ("1Pi", (1 << 50) * 10_i128.pow(9)),
        ("1Ei", (1 << 60) * 10_i128.pow(9)),
        ("1e3", 10_i128.pow(12)),
        ("1E3", 10_i128.pow(12)),
        ("1E+3", 10_i128.pow(12)),
        ("5e-3", 5_000_000),
        ("+1.5", 1_500_000_000),
        ("-1.5", -1_500_000_000),
        (".5", 500_000_000),
        ("5.", 5_000_000_000),
        ("0.5Mi", (1 << 19) * 10_i128.pow(9)),
        ("1.25Ki", 1_280 * 10_i128.pow(9)),
        ("00012", 12_000_000_000),
        ("0e999999999999999999999", 0),
    ] {
        assert_eq!(quantity(text).as_nano(), nano, "{text}");
    }
}

#[test]
fn what_is_finer_than_a_billionth_is_rounded_away_from_zero() {
    for (text, nano) in [
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.0000000001", 1_000_000_001),
        ("1.0000000000", 1_000_000_000),
        ("1e-1000", 1),
        ("1e-99999999999999999999", 1),
        ("0.00000000000000000000000000000000000000001", 1),
        ("0.0000000000000000000000001Ki", 1),
    ] {
        assert_eq!(quantity(text).as_nano(), nano, "{text}");
    }
}

#[test]
fn binary_quantities_are_capped_as_in_kubernetes() {
    for text in [
        "8Ei",
        "9223372036854775807Ki",
        "99999999999999999999999999999999999999999999Gi",
    ] {
        assert_eq!(quantity(text).value(), i64::MAX, "{text}");
        assert_eq!(quantity(text), Quantity::from_units(i64::MAX), "{text}");
    }
    assert_eq!(quantity("-8Ei").value(), -i64::MAX);
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, kind) in [
        ("", QuantityErrorKind::NoDigits),
        ("-", QuantityErrorKind::NoDigits),
        (".", QuantityErrorKind::NoDigits),
        ("Gi", QuantityErrorKind::NoDigits),
        ("1K", QuantityErrorKind::Suffix),
        ("1 Gi", QuantityErrorKind::Suffix),
        (" 1", QuantityErrorKind::NoDigits),
        ("1GB", QuantityErrorKind::Suffix),
        ("1e", QuantityErrorKind::Suffix),
        ("1e+", QuantityErrorKind::Suffix),
        ("1e1.5", QuantityErrorKind::Suffix),
        ("1.2.3", QuantityErrorKind::Suffix),
        ("--1", QuantityErrorKind::NoDigits),
        ("1ki", QuantityErrorKind::Suffix),
        ("1\u{0}", QuantityErrorKind::Suffix),
        ("½", QuantityErrorKind::NoDigits),
        ("1e1000", QuantityErrorKind::OutOfRange),
        ("1e9223372036854775807", QuantityErrorKind::OutOfRange),
        ("1000000000000000000E", QuantityErrorKind::OutOfRange),
    ] {
        assert_eq!(
            text.parse::<Quantity>().map_err(|error| error.kind),
            Err(kind),
            "{text:?}"
        );
    }
    let message = "10 GB".parse::<Quantity>().map_err(|error| error.to_string());
    assert_eq!(
        message,
        Err(
            "`10 GB` is not a quantity: unknown suffix, expected `n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, \
             `E`, `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei` or an exponent like `e3`"
                .to_owned()
        )
    );
}

#[test]
fn values_round_up_and_saturate() {
    for (text, value, milli) in [
        ("1", 1, 1_000),
        ("1500m", 2, 1_500),
        ("1m", 1, 1),
        ("1u", 1, 1),
        ("1n", 1, 1),
        ("-1500m", -2, -1_500),
        ("-1n", -1, -1),
        ("100m", 1, 100),
        ("1Gi", 1 << 30, (1 << 30) * 1_000),
        ("9E", 9_000_000_000_000_000_000, i64::MAX),
        ("100E", i64::MAX, i64::MAX),
        ("-100E", i64::MIN, i64::MIN),
    ] {
        assert_eq!(
            (quantity(text).value(), quantity(text).milli_value()),
            (value, milli),
            "{text}"
        );
    }
}

#[test]
fn sums_and_differences_are_exact() {
    let free = quantity("308")
        .checked_sub(quantity("103987m"))
        .map(Quantity::milli_value);
    assert_eq!(free, Some(204_013));
    let owed = quantity("1Gi")
        .checked_sub(quantity("2Gi"))
        .map(|left| left.to_string());
    assert_eq!(owed.as_deref(), Some("-1Gi"));
    let sum = quantity("0").checked_add(quantity("512Mi")).map(|sum| sum.to_string());
    assert_eq!(sum.as_deref(), Some("512Mi"));
    let largest = Quantity {
        nano: i128::MAX,
        ..Quantity::ZERO
    };
    assert_eq!(largest.checked_add(quantity("1n")), None);
}

#[test]
fn quantities_print_canonically() {
    for (text, canonical) in [
        ("0Gi", "0"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1536Mi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.0001Ki", "102400u"),
        ("1.5Gi", "1536Mi"),
        ("100000k", "100M"),
        ("12e6", "12e6"),
        ("12000e3", "12e6"),
        ("5e0", "5"),
    ] {
        assert_eq!(quantity(text).to_string(), canonical, "{text}");
    }
}

#[test]
fn json_numbers_are_quantities_too() {
    for (json, nano) in [
        ("2", 2_000_000_000),
        ("0.5", 500_000_000),
        ("-1", -1_000_000_000),
        ("18446744073709551615", 18_446_744_073_709_551_615_000_000_000),
        ("1e3", 1_000_000_000_000),
        ("\"250m\"", 250_000_000),
    ] {
        let read: Result<Quantity, _> = serde_json::from_str(json);
        assert_eq!(read.map(Quantity::as_nano).ok(), Some(nano), "{json}");
    }
    for json in ["true", "null", "[]", "{}", "\"\"", "1e300"] {
        assert!(serde_json::from_str::<Quantity>(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn printing_and_reading_gives_the_same_amount(nano in -(10_i128.pow(36))..10_i128.pow(36)) {
        let written = Quantity { nano, ..Quantity::ZERO };
        prop_assert_eq!(quantity(&written.to_string()), written);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,60}") {
        let _ = text.parse::<Quantity>();
    }

    #[test]
    fn no_almost_quantity_makes_the_reader_panic(
        text in "[+-]?[0-9]{0,45}\\.?[0-9]{0,45}(n|u|m|k|M|Ki|Ei|e[+-]?[0-9]{1,25})?"
    ) {
        if let Ok(read) = text.parse::<Quantity>() {
            prop_assert_eq!(quantity(&read.to_string()), read);
        }
    }

    #[test]
    fn binary_fractions_are_exact_to_the_billionth(whole in 0_u32..1000, fraction in 0_u32..1_000_000) {
        let written = quantity(&format!("{whole}.{fraction:06}Mi")).as_nano();
        let exact = (i128::from(whole) * 1_000_000 + i128::from(fraction)) * (1 << 20) * 1_000;
        prop_assert_eq!(written, exact);
    }
}
