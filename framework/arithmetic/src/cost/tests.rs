//! Costs by hand, at their limits, and compared with fractions of larger integers.

use proptest::prelude::*;

use super::{Amounts, Cost, CostError, InvalidCost, Priced, Prices};

const GIB: i64 = 1 << 30;

fn prices(cpu: i64, memory: i64, gpu: i64) -> Prices {
    Prices {
        cpu: Some(cpu),
        memory: Some(memory),
        gpu: Some(gpu),
    }
}

fn amounts(cpu: i64, memory: i64, gpu: i64) -> Amounts {
    let requests = [("cpu", cpu), ("memory", memory), ("gpu", gpu)].into_iter();
    requests.fold(Amounts::default(), |amounts, (resource, quantity)| {
        amounts.with(resource, quantity, "gpu")
    })
}

#[test]
fn a_cost_is_the_sum_of_amounts_times_prices() {
    let prices = prices(30_000, 4_000, 2_500_000);
    for (amounts, expected) in [
        (amounts(1000, 0, 0), "0.0300"),
        (amounts(0, GIB, 0), "0.0040"),
        (amounts(0, 0, 1), "2.5000"),
        (amounts(2500, 3 * GIB / 2, 2), "5.0810"),
        (Amounts::default(), "0.0000"),
    ] {
        assert_eq!(prices.cost(amounts).unwrap().to_string(), expected, "{amounts:?}");
    }
}

#[test]
fn a_third_of_a_price_is_not_lost_in_a_sum() {
    // A thousandth of a CPU at 0.000001: rounded, a thousand of them would cost nothing.
    let cost = prices(1, 0, 0).cost(amounts(1, 0, 0)).unwrap();
    assert_eq!(format!("{cost:.6}"), "0.000000");
    assert_eq!(format!("{:.6}", cost.times(1000).unwrap()), "0.000001");
    let byte = prices(0, 1, 0).cost(amounts(0, 1, 0)).unwrap();
    assert_eq!(byte.times(GIB), prices(0, 1, 0).cost(amounts(0, GIB, 0)).ok());
}

#[test]
fn only_the_prices_of_what_is_requested_are_needed() {
    let known = Prices {
        cpu: Some(30_000),
        ..Prices::default()
    };
    assert!(known.cost(amounts(500, 0, 0)).is_ok());
    let error = known.cost(amounts(500, 1, 0)).unwrap_err();
    assert_eq!(error, CostError::Missing { priced: Priced::Memory });
    assert_eq!(error.to_string(), "no price per GiB hour");
    let error = prices(0, 0, -2_500_000).cost(amounts(500, 1, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the price per GPU hour is -2.5000, expected at least 0"
    );
    assert!(prices(0, 0, -1).cost(amounts(500, 1, 0)).is_ok());
}

#[test]
fn amounts_are_read_by_the_names_of_resources() {
    let requests = [
        ("cpu", 500),
        ("memory", 7),
        ("nvidia.com/gpu", 2),
        ("amd.com/gpu", 9),
        ("ephemeral-storage", 9),
        ("cpu", -3),
    ];
    let read = requests.iter().fold(Amounts::default(), |read, (resource, quantity)| {
        read.with(resource, *quantity, "nvidia.com/gpu")
    });
    assert_eq!(read, amounts(500, 7, 2));
    assert!(!read.is_nothing());
    assert!(Amounts::default().with("pods", 1, "nvidia.com/gpu").is_nothing());
    let set = read.with_each(amounts(100, 1, 0), 3).with_each(read, -1);
    assert_eq!(set, amounts(800, 10, 2));
}

#[test]
fn nothing_overflows() {
    let most = amounts(i64::MAX, i64::MAX, i64::MAX);
    let many = Amounts::default().with_each(amounts(i64::MAX, 1, 0), i64::MAX);
    let many = many.with_each(many, i64::MAX);
    assert_eq!(prices(1, 0, 0).cost(many), Err(CostError::TooLarge));
    assert_eq!(prices(0, 0, 0).cost(many), Ok(Cost::ZERO));
    assert_eq!(prices(i64::MAX, 0, 0).cost(most), Err(CostError::TooLarge));
    assert_eq!(prices(0, 0, i64::MAX).cost(most), Err(CostError::TooLarge));
    assert_eq!(prices(0, 0, 0).cost(most), Ok(Cost::ZERO));
    assert_eq!(Cost::MAX.plus(Cost::MAX), None);
    assert_eq!(
        Cost::ZERO.minus(Cost::MAX).and_then(|least| least.minus(Cost::MAX)),
        None
    );
    assert_eq!(Cost::MAX.times(2), None);
    assert_eq!(Cost::MAX.times(i64::MAX), None);
    assert_eq!(Cost::MAX.percent_of(Cost::MAX), 100);
    assert_eq!(Cost::ZERO.percent_of(Cost::ZERO), 100);
    assert_eq!(
        CostError::TooLarge.to_string(),
        format!("a cost is more than {}", Cost::MAX)
    );
}

#[test]
fn a_printed_cost_is_rounded_half_away_from_zero() {
    let cost = |text: &str| text.parse::<Cost>().unwrap();
    let minus = |text: &str| Cost::ZERO.minus(cost(text)).unwrap();
    for (cost, expected) in [
        (cost("0.00105"), "0.0011"),
        (cost("0.001"), "0.0010"),
        (cost("0.000999"), "0.00100"),
        (cost("0.00005"), "0.000050"),
        (cost("0.00004994"), "0.000050"),
        (cost("0.000000001"), "0.000000001"),
        (minus("0.0000001"), "-0.00000010"),
        (Cost::ZERO, "0.0000"),
        (cost("1.99995"), "2.0000"),
        (minus("1.99995"), "-2.0000"),
        (minus("0.00001"), "-0.000010"),
    ] {
        assert_eq!(cost.to_string(), expected);
    }
    assert_eq!(format!("{:.0}|{:.1}", cost("2.5"), cost("2.25")), "3|2.3");
    assert_eq!(
        format!("{:>8.2}|{:<8.2}|", cost("2.5"), cost("2.5")),
        "    2.50|2.50    |"
    );
    assert_eq!(
        format!(
            "{:+}|{:+}|{:+}|{:+}",
            cost("2.5"),
            minus("2.5"),
            Cost::ZERO,
            cost("0.00001")
        ),
        "+2.5000|-2.5000|0.0000|+0.000010"
    );
    assert_eq!(format!("{:.40}", cost("0.123456789")), "0.123456789");
}

#[test]
fn a_written_cost_is_read_exactly_or_refused() {
    assert_eq!(
        "0.030".parse().ok(),
        prices(30_000, 0, 0).cost(amounts(1000, 0, 0)).ok()
    );
    for (text, expected) in [
        ("", InvalidCost::NotANumber),
        ("1.", InvalidCost::NotANumber),
        (".5", InvalidCost::NotANumber),
        ("-1", InvalidCost::NotANumber),
        ("1e3", InvalidCost::NotANumber),
        ("NaN", InvalidCost::NotANumber),
        ("0.0000000001", InvalidCost::TooManyDigits),
        ("99999999999999999999999", InvalidCost::TooLarge),
        ("999999999999999999999999999999999999999999", InvalidCost::TooLarge),
    ] {
        assert_eq!(text.parse::<Cost>(), Err(expected), "{text}");
    }
}

proptest! {
    /// The same cost, in parts of a thousandth of a CPU times a byte.
    #[test]
    fn costs_are_exact(
        (cpu, memory, gpu) in (0..1_i64 << 40, 0..1_i64 << 40, 0..1_i64 << 40),
        (cpus, bytes, gpus) in (0..1_i64 << 20, 0..1_i64 << 40, 0..64_i64),
        replicas in 0..1000_i64,
    ) {
        let cost = prices(cpu, memory, gpu).cost(amounts(cpus, bytes, gpus)).unwrap();
        let product = |price: i64, amount: i64| i128::from(price) * i128::from(amount);
        let expected = product(cpu, cpus) * i128::from(GIB) + product(memory, bytes) * 1000
            + product(gpu, gpus) * 1000 * i128::from(GIB);
        // Eight of those parts are one of a cost, because 1000 × 2³⁰ is eight times the least common multiple.
        prop_assert_eq!(cost.0 * 8, expected);
        let mut sum = Cost::ZERO;
        for _ in 0..replicas {
            sum = sum.plus(cost).unwrap();
        }
        prop_assert_eq!(cost.times(replicas), Some(sum));
    }

    /// Nine digits are printed and read without a loss.
    #[test]
    fn what_is_printed_can_be_read_again(whole in 0..1_u64 << 60, fraction in 0..1_000_000_000_u32) {
        let text = format!("{whole}.{fraction:09}");
        let cost: Cost = text.parse().unwrap();
        prop_assert_eq!(format!("{cost:.9}"), text);
    }

    /// The smaller of two costs has a percentage from 0 to 100 of the larger one, in their order.
    #[test]
    fn percentages_keep_the_order(cheapest in 0..1_i64 << 50, more in 0..1_i64 << 50, most in 0..1_i64 << 50) {
        let cost = |price| prices(price, 0, 0).cost(amounts(1000, 0, 0)).unwrap();
        let (first, second, third) = (cost(cheapest), cost(cheapest + more), cost(cheapest + more + most));
        prop_assert!((0..=100).contains(&first.percent_of(second)));
        prop_assert!(first.percent_of(second) >= first.percent_of(third));
    }
}
