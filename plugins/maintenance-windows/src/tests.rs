//! Named cases, and properties of every table of windows.

use divvy_framework::testing::{ClusterBuilder, RowBuilder, Scenario, TableBuilder};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use crate::MaintenanceWindows;
use crate::maintenance_windows::{Answer, EVALUATED, MINUTE, Span, Window};

const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// 2026-03-14T02:00:00Z, a Saturday.
const BEGINS: i64 = 1_773_453_600_000;
const ENDS: i64 = BEGINS + 4 * HOUR;

const PLUGIN: MaintenanceWindows = MaintenanceWindows { lead: 0 };

/// All columns without rows, for clusters by region.
fn table() -> TableBuilder {
    TableBuilder::new("windows")
        .by_region()
        .with_several_rows()
        .times("announced", &[])
        .times("begins", &[])
        .times("ends", &[])
        .weekly("weekly", &[])
        .booleans("evict", &[])
        .texts("announced-by", &[])
}

fn once() -> RowBuilder {
    RowBuilder::new().time("begins", BEGINS).time("ends", ENDS)
}

/// `a` has replicas, `b` has none; both are in the region with windows. `c` is elsewhere.
fn scenario(rows: impl IntoIterator<Item = RowBuilder>, time: i64) -> Scenario {
    let table = rows.into_iter().fold(table(), |table, row| table.row("eu", row));
    Scenario::new()
        .cluster(ClusterBuilder::new("a").region("eu").last(3))
        .cluster(ClusterBuilder::new("b").region("eu"))
        .cluster(ClusterBuilder::new("c").region("us").last(1))
        .table(table)
        .time(time)
}

/// What happens to `a` and `b`, and until when.
fn answer(
    plugin: &MaintenanceWindows,
    rows: impl IntoIterator<Item = RowBuilder>,
    time: i64,
) -> (&'static str, Option<i64>) {
    let scenario = scenario(rows, time);
    let feasible = scenario.feasible_checked(plugin).expect("it decides");
    let cordoned = scenario.cordoned(plugin).expect("it decides");
    let names: Vec<&str> = feasible.iter().map(String::as_str).collect();
    let kind = match (names.as_slice(), cordoned.as_slice()) {
        (["a", "b", "c"], []) => "open",
        (["a", "c"], [cordoned]) if cordoned == "a" => "cordoned",
        (["c"], []) => "emptied",
        other => panic!("{other:?}"),
    };
    (kind, scenario.valid_until())
}

#[test]
fn a_window_counts_from_its_announcement_to_its_end() {
    let announced = BEGINS - DAY;
    let rows = |evict: bool| [once().time("announced", announced).boolean("evict", evict)];
    for (time, kept, emptied) in [
        (announced - 1, ("open", Some(announced)), ("open", Some(announced))),
        (announced, ("cordoned", Some(ENDS)), ("cordoned", Some(BEGINS))),
        (BEGINS - 1, ("cordoned", Some(ENDS)), ("cordoned", Some(BEGINS))),
        (BEGINS, ("cordoned", Some(ENDS)), ("emptied", Some(ENDS))),
        (ENDS - 1, ("cordoned", Some(ENDS)), ("emptied", Some(ENDS))),
        (ENDS, ("open", None), ("open", None)),
    ] {
        assert_eq!(answer(&PLUGIN, rows(false), time), kept, "{time}");
        // For `b`, which has nothing to keep, the beginning changes nothing, but for `a` it does.
        assert_eq!(answer(&PLUGIN, rows(true), time), emptied, "{time}");
    }
    // Without an announcement, the configuration decides.
    let plugin = MaintenanceWindows { lead: 30 * MINUTE };
    for (time, expected) in [
        (BEGINS - 30 * MINUTE - 1, ("open", Some(BEGINS - 30 * MINUTE))),
        (BEGINS - 30 * MINUTE, ("cordoned", Some(ENDS))),
        (ENDS, ("open", None)),
    ] {
        assert_eq!(answer(&plugin, [once()], time), expected, "{time}");
        assert_eq!(
            answer(&plugin, [once().time("announced", BEGINS)], BEGINS - 1).0,
            "open"
        );
    }
}

#[test]
fn a_window_that_ends_in_the_year_9999_has_no_end() {
    // 9999-12-31T23:59:59Z.
    let rows = || {
        [RowBuilder::new()
            .time("begins", BEGINS)
            .time("ends", 253_402_300_799_000)]
    };
    assert_eq!(answer(&PLUGIN, rows(), BEGINS), ("cordoned", None));
    let rejected = scenario(rows(), BEGINS)
        .rejections_checked(&PLUGIN)
        .expect("it decides");
    let expected = "cluster(s) take no further replicas for good: maintenance from 2026-03-14T02:00:00Z";
    assert!(format!("{rejected:?}").contains(expected), "{rejected:?}");
}

/// A table can have 100,000 rows for one cluster.
#[test]
fn many_windows_are_evaluated_once_and_again_only_where_they_change() {
    const ROWS: usize = 10_000;
    let weekly = |number: usize| {
        let minute = number % (20 * 60);
        let (from, until) = (minute / 60, minute % 60);
        let text = format!("Mon-Sun {from:02}:{until:02}-{:02}:{until:02} UTC", from + 2);
        RowBuilder::new().weekly("weekly", &text)
    };
    let evaluated = |scenario: &Scenario| {
        EVALUATED.set(0);
        scenario.feasible(&PLUGIN).expect("it decides");
        EVALUATED.get()
    };
    let once = evaluated(&scenario((0..ROWS).map(weekly), BEGINS));
    // For a binding with replicas in the region and for one without; what changes is looked at again, but not all for each change.
    assert!((2 * ROWS..8 * ROWS).contains(&once), "{once}");
}

#[test]
fn an_answer_holds_until_any_window_changes() {
    let weekly = |begins: i64, ends: i64| Window {
        span: Span::Once {
            announced: None,
            begins,
            ends,
        },
        evicts: false,
    };
    let windows = [weekly(10, 30), weekly(20, 40)];
    let answer = |time: i64| Answer::new(&windows, 0, true, time);
    // At 20, the other window is named, although the cluster stays closed until 40.
    assert_eq!(answer(12).changes, Some(40));
    for (time, holds) in [(11, false), (12, true), (19, true), (20, false)] {
        assert_eq!(answer(12).holds_at(time), holds, "{time}");
    }
    assert_ne!(answer(12).standing, answer(20).standing);
    for time in 12..20 {
        assert_eq!(
            (answer(time).standing, answer(time).changes),
            (answer(12).standing, answer(12).changes)
        );
    }
    assert!(answer(40).holds_at(i64::MAX) && answer(40).changes.is_none());
}

#[test]
fn a_weekly_window_recurs() {
    let rows = || [RowBuilder::new().weekly("weekly", "Sat 03:00-07:00 +01:00")];
    let lead = MaintenanceWindows { lead: HOUR };
    for week in [0, 7 * DAY] {
        assert_eq!(
            answer(&PLUGIN, rows(), BEGINS + week - 1),
            ("open", Some(BEGINS + week))
        );
        assert_eq!(answer(&PLUGIN, rows(), BEGINS + week), ("cordoned", Some(ENDS + week)));
        assert_eq!(
            answer(&PLUGIN, rows(), ENDS + week),
            ("open", Some(BEGINS + week + 7 * DAY))
        );
        assert_eq!(
            answer(&lead, rows(), BEGINS + week - HOUR),
            ("cordoned", Some(ENDS + week))
        );
        assert_eq!(
            answer(&lead, rows(), ENDS + week),
            ("open", Some(BEGINS + week + 7 * DAY - HOUR))
        );
    }
    let always = || [RowBuilder::new().weekly("weekly", "Mon-Sun 00:00-24:00 UTC")];
    assert_eq!(answer(&PLUGIN, always(), BEGINS), ("cordoned", None));
}

#[test]
fn windows_that_overlap_or_meet_are_one_answer() {
    let second = || RowBuilder::new().time("begins", ENDS).time("ends", ENDS + HOUR);
    let evicting = || once().boolean("evict", true);
    assert_eq!(
        answer(&PLUGIN, [once(), second()], BEGINS),
        ("cordoned", Some(ENDS + HOUR))
    );
    assert_eq!(answer(&PLUGIN, [second(), evicting()], BEGINS), ("emptied", Some(ENDS)));
    assert_eq!(
        answer(&PLUGIN, [second(), evicting()], ENDS),
        ("cordoned", Some(ENDS + HOUR))
    );
    let longer = || {
        RowBuilder::new()
            .time("begins", BEGINS - HOUR)
            .time("ends", ENDS + HOUR)
    };
    assert_eq!(
        answer(&PLUGIN, [evicting(), longer()], BEGINS - 1),
        ("cordoned", Some(BEGINS))
    );
}

#[test]
fn the_reason_names_end_and_announcement_with_figures() {
    let row = once()
        .time("announced", BEGINS - DAY)
        .text("announced-by", "storage team");
    let scenario = scenario([row], BEGINS);
    let rejections = scenario.rejections_checked(&PLUGIN).expect("it decides");
    let text = "cluster(s) take no further replicas until 2026-03-14T06:00:00Z: maintenance from 2026-03-14T02:00:00Z, announced \
                by storage team";
    assert_eq!(rejections, [("b".to_owned(), text.to_owned())]);
    let (_, explanation) = scenario.feasible_explained(&PLUGIN).expect("it decides");
    for (index, (row, reason)) in explanation.details.iter().enumerate() {
        assert_eq!((*row, reason.to_string().as_str()), (index, text));
        let figures: Vec<(&str, i64)> = reason.figures().collect();
        assert_eq!(
            figures,
            [("announced", BEGINS - DAY), ("begins", BEGINS), ("ends", ENDS)]
        );
    }
    assert_eq!(explanation.details.len(), 2);
    let evicting = self::scenario([once().boolean("evict", true)], BEGINS);
    let rejections = evicting.rejections_checked(&PLUGIN).expect("it decides");
    let text = "cluster(s) are emptied until 2026-03-14T06:00:00Z: maintenance from 2026-03-14T02:00:00Z";
    assert_eq!(rejections.len(), 2);
    assert!(rejections.iter().all(|(_, reason)| reason == text), "{rejections:?}");
    let always = self::scenario([RowBuilder::new().weekly("weekly", "Mon-Sun 00:00-24:00 UTC")], BEGINS);
    let rejections = always.rejections_checked(&PLUGIN).expect("it decides");
    assert!(
        rejections[0].1.contains(" take no further replicas for good: "),
        "{rejections:?}"
    );
}

#[test]
fn rows_that_make_no_sense_are_refused() {
    let weekly = || RowBuilder::new().weekly("weekly", "Sat 22:00-06:00 UTC");
    for (row, expected) in [
        (RowBuilder::new(), ": expected `weekly`, or `begins` and `ends`"),
        (
            weekly().time("begins", 1),
            ", column `begins`: expected none beside `weekly`",
        ),
        (
            weekly().time("ends", 1),
            ", column `ends`: expected none beside `weekly`",
        ),
        (
            weekly().time("announced", 1),
            ", column `announced`: expected none beside `weekly`",
        ),
        (
            RowBuilder::new().time("begins", 1),
            ", column `ends`: expected a time, because the window has `begins`",
        ),
        (
            RowBuilder::new().time("ends", 1),
            ", column `begins`: expected a time, because the window has `ends`",
        ),
        (
            RowBuilder::new().time("begins", 2).time("ends", 2),
            ", column `ends`: expected a time after the window begins",
        ),
        (
            once().time("announced", BEGINS + 1),
            ", column `announced`: expected a time before the window begins",
        ),
    ] {
        let failure = scenario([once(), row], BEGINS)
            .feasible(&PLUGIN)
            .expect_err("the row makes no sense");
        assert_eq!(
            failure.to_string(),
            format!("the table `windows` for cluster `a`, row 1{expected}")
        );
    }
}

#[test]
fn without_rows_nothing_limits_the_answer() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .table(table())
        .time(BEGINS);
    assert_eq!(scenario.feasible_checked(&PLUGIN), Ok(vec!["a".to_owned()]));
    assert_eq!(scenario.valid_until(), None);
}

/// A window within about two days of the begin.
fn window() -> impl Strategy<Value = RowBuilder> {
    let once = (-40_i64..40, 1_i64..40, any::<bool>(), proptest::option::of(0_i64..30)).prop_map(
        |(begins, length, evict, announced)| {
            let begins = BEGINS + begins * HOUR;
            let row = RowBuilder::new()
                .time("begins", begins)
                .time("ends", begins + length * HOUR)
                .boolean("evict", evict);
            match announced {
                Some(before) => row.time("announced", begins - before * HOUR),
                None => row,
            }
        },
    );
    let weekly = (0_usize..7, 0_u32..24, 1_u32..24, any::<bool>()).prop_map(|(day, start, length, evict)| {
        let day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][day];
        let text = format!("{day} {start:02}:00-{:02}:00 UTC", (start + length) % 24);
        RowBuilder::new().weekly("weekly", &text).boolean("evict", evict)
    });
    prop_oneof![once, weekly]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Purpose: between now and the time until which it holds, the answer is the same in every hour, and then another. So `run`
    /// decides exactly when something changes.
    #[test]
    fn the_answer_holds_exactly_as_long_as_it_says(
        rows in proptest::collection::vec(window(), 1..4),
        lead in 0_i64..30,
        now in -60_i64..60,
    ) {
        let plugin = MaintenanceWindows { lead: lead * HOUR };
        let now = BEGINS + now * HOUR;
        let (kind, until) = answer(&plugin, rows.clone(), now);
        let end = until.unwrap_or(now + 20 * DAY);
        prop_assert!(end > now);
        let mut time = now;
        while time < end.min(now + DAY) {
            prop_assert_eq!(answer(&plugin, rows.clone(), time), (kind, until));
            time += HOUR;
        }
        if let Some(until) = until {
            prop_assert_eq!(answer(&plugin, rows.clone(), until - 1), (kind, Some(until)));
            prop_assert!(answer(&plugin, rows, until).0 != kind);
        }
    }
}
