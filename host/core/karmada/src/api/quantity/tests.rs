//! Quantities: tables first, then properties.

use proptest::prelude::*;

use super::{Quantity, QuantityErrorKind};

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_suffix_has_its_value() {
    let nano = 10_i128.pow(9);
    for (text, expected) in [
        ("0", 0),
        ("1n", 1),
        ("1u", 1_000),
        ("1m", 1_000_000),
        ("1", nano),
        ("1.5", 1_500_000_000),
        ("+1.5", 1_500_000_000),
        ("-1.5", -1_500_000_000),
        (".5", 500_000_000),
        ("5.", 5 * nano),
        ("5e-3", 5_000_000),
        ("1E+3", 1_000 * nano),
        ("0.5Mi", (1 << 19) * nano),
        ("1.25Ki", 1_280 * nano),
        ("00012", 12 * nano),
        ("0e999999999999999999999", 0),
        // Anything finer than a billionth is rounded away from zero.
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.0000000001", nano + 1),
        ("1.0000000000", nano),
        ("1e-1000", 1),
        ("1e-99999999999999999999", 1),
        ("0.00000000000000000000000000000000000000001", 1),
        ("0.0000000000000000000000001Ki", 1),
    ] {
        assert_eq!(quantity(text).as_nano(), expected, "{text}");
    }
    for (exponent, suffixes) in (1..).zip([
        ["k", "Ki", "e3"],
        ["M", "Mi", "E6"],
        ["G", "Gi", "e9"],
        ["T", "Ti", "E12"],
        ["P", "Pi", "e15"],
        ["E", "Ei", "E18"],
    ]) {
        let [decimal, binary, written] = suffixes.map(|suffix| quantity(&format!("1{suffix}")).as_nano());
        let expected = 1_000_i128.pow(exponent) * nano;
        assert_eq!(
            (decimal, written, binary),
            (expected, expected, 1_024_i128.pow(exponent) * nano),
            "{suffixes:?}"
        );
    }
}

#[test]
fn binary_quantities_are_capped_as_in_kubernetes() {
    let capped = Quantity::from_units(i64::MAX);
    for text in [
        "8Ei",
        "9223372036854775807Ki",
        "99999999999999999999999999999999999999999999Gi",
    ] {
        assert_eq!((quantity(text), quantity(text).value()), (capped, i64::MAX), "{text}");
    }
    assert_eq!(quantity("-8Ei").value(), -i64::MAX);
}

#[test]
fn errors_say_what_is_wrong() {
    for (kind, texts) in [
        (QuantityErrorKind::NoDigits, &["", "-", ".", "Gi", " 1", "--1", "½"][..]),
        (
            QuantityErrorKind::Suffix,
            &["1K", "1 Gi", "1GB", "1e", "1e+", "1e1.5", "1.2.3", "1ki", "1\u{0}"],
        ),
        (
            QuantityErrorKind::OutOfRange,
            &["1e1000", "1e9223372036854775807", "1000000000000000000E"],
        ),
    ] {
        for text in texts {
            let found = text.parse::<Quantity>().map_err(|error| error.kind);
            assert_eq!(found, Err(kind), "{text:?}");
        }
    }
    let message = "10 GB"
        .parse::<Quantity>()
        .expect_err("`GB` is not a suffix")
        .to_string();
    assert_eq!(
        message,
        "`10 GB` is not a quantity: unknown suffix, expected `n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, \
         `E`, `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei` or an exponent like `e3`"
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
        let found = (quantity(text).value(), quantity(text).milli_value());
        assert_eq!(found, (value, milli), "{text}");
    }
}

#[test]
fn sums_and_differences_are_exact() {
    let printed = |result: Option<Quantity>| result.map(|result| result.to_string());
    for (left, right, sum, difference) in [
        ("308", "103987m", "411987m", "204013m"),
        ("1Gi", "2Gi", "3Gi", "-1Gi"),
        ("0", "512Mi", "512Mi", "-512Mi"),
    ] {
        let (left, right) = (quantity(left), quantity(right));
        assert_eq!(printed(left.checked_add(right)).as_deref(), Some(sum));
        assert_eq!(printed(left.checked_sub(right)).as_deref(), Some(difference));
    }
    let nano = i128::MAX;
    assert_eq!(Quantity { nano, ..Quantity::ZERO }.checked_add(quantity("1n")), None);
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
