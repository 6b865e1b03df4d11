//! Hours that recur on days of the week, by the local time of a zone, and the instants at which an occurrence begins and ends.
//!
//! The host resolves the zone when it reads a table, so a plugin needs no zone database: it sees the zone's offsets from UTC.

use divvy_framework_abi::row::{OffsetRow, WeeklyRow};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// More than the largest difference between local time and UTC, in seconds. Offsets are below 26 hours.
const OFFSET_MAX: i64 = 30 * 3_600;

/// Bound of times for which occurrences are computed, in seconds before and after 1970: about 270,000 years.
const SECONDS_MAX: i64 = 8_640_000_000_000;

/// Days that are searched for the next occurrence. A change of the clocks can remove one, but not those of two weeks.
const SEARCHED_DAYS: i64 = 16;

/// Consecutive days without a gap after which hours count as endless.
const ENDLESS_DAYS: i64 = 8;

/// Hours of a week, such as Monday to Friday from 22:00 to 06:00 in Berlin.
///
/// An occurrence lasts from the first instant at which the zone's clocks have reached its start to the last at which they have
/// not reached its end. So clocks that are put forward past its start or its end make it begin or end with the change, an
/// occurrence that lies within the skipped hour does not take place, and clocks that are put back are within it both times.
/// Occurrences that follow each other without a gap count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weekly<'a> {
    row: WeeklyRow,
    offsets: &'a [OffsetRow],
}

/// A period of time, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// First millisecond.
    pub begins: i64,
    /// First millisecond after it; `i64::MAX` if it does not end.
    pub ends: i64,
}

impl Period {
    /// True if it includes a point in time.
    pub const fn contains(self, milliseconds: i64) -> bool {
        self.begins <= milliseconds && milliseconds < self.ends
    }
}

impl<'a> Weekly<'a> {
    /// Hours by their row and all offsets that rows refer to. For the SDK and the host.
    #[doc(hidden)]
    pub fn new(row: WeeklyRow, offsets: &'a [OffsetRow]) -> Self {
        Self {
            row,
            offsets: row.offsets.of(offsets),
        }
    }

    /// The occurrence that includes a point in time; `None` if there is none then.
    pub fn at(&self, milliseconds: i64) -> Option<Period> {
        let now = seconds(milliseconds)?;
        let today = self.day(now);
        // One that began on the day before may not be over yet.
        let found = (today - 2..=today + 1)
            .filter_map(|day| self.occurrence(day))
            .find(|(begins, ends)| *begins <= now && now < *ends)?;
        let (mut begins, mut ends) = found;
        for day in (today - ENDLESS_DAYS..=today + 1).rev() {
            if let Some((earlier, until)) = self.occurrence(day)
                && earlier < begins
                && until >= begins
            {
                begins = earlier;
            }
        }
        for day in today - 2..=today + ENDLESS_DAYS {
            if let Some((from, later)) = self.occurrence(day)
                && from <= ends
                && later > ends
            {
                ends = later;
            }
        }
        let is_endless = ends - now > (ENDLESS_DAYS - 1) * DAY;
        Some(Period {
            begins: begins.saturating_mul(1_000),
            ends: if is_endless {
                i64::MAX
            } else {
                ends.saturating_mul(1_000)
            },
        })
    }

    /// The first occurrence that begins after a point in time; `None` if there is none.
    pub fn after(&self, milliseconds: i64) -> Option<Period> {
        let now = seconds(milliseconds)?;
        let today = self.day(now);
        // The seconds of `now` are rounded down, so an occurrence that begins in the same second counts as begun.
        let begins = (today - 1..=today + SEARCHED_DAYS)
            .filter_map(|day| self.occurrence(day))
            .map(|(begins, _)| begins)
            .filter(|begins| *begins > now)
            .min()?;
        self.at(begins.saturating_mul(1_000))
    }

    /// The local day of a point in time, in days since 1970.
    fn day(&self, utc: i64) -> i64 {
        let offset = self.bounds(self.segment(utc)).map_or(0, |(_, _, offset)| offset);
        (utc + offset).div_euclid(DAY)
    }

    /// First and last second of the occurrence that begins on a local day; `None` if there is none on it.
    fn occurrence(&self, day: i64) -> Option<(i64, i64)> {
        // Day 0 was a Thursday.
        let weekday = (day + 3).rem_euclid(7);
        if self.row.days >> weekday & 1 == 0 {
            return None;
        }
        let local = |minute: u32| day * DAY + i64::from(minute) * 60;
        let begins = self.first_not_before(local(self.row.start));
        let ends = self.last_before(local(self.row.end));
        (begins < ends).then_some((begins, ends))
    }

    /// The first instant at which the local time is at least `local`.
    fn first_not_before(&self, local: i64) -> i64 {
        let mut index = self.segment(local - OFFSET_MAX);
        loop {
            let Some((from, until, offset)) = self.bounds(index) else {
                return local;
            };
            let instant = from.max(local - offset);
            if instant < until {
                return instant;
            }
            index += 1;
        }
    }

    /// The first instant after the last one at which the local time is less than `local`.
    fn last_before(&self, local: i64) -> i64 {
        let mut index = self.segment(local + OFFSET_MAX);
        loop {
            let Some((from, until, offset)) = self.bounds(index) else {
                return local;
            };
            let instant = until.min(local - offset);
            if instant > from {
                return instant;
            }
            match index.checked_sub(1) {
                Some(before) => index = before,
                None => return local - offset,
            }
        }
    }

    /// Index of the offset that is in force at an instant.
    fn segment(&self, utc: i64) -> usize {
        let after = self.offsets.partition_point(|offset| from(offset) <= utc);
        after.saturating_sub(1)
    }

    /// First second of an offset, first second of the next one, and the offset.
    fn bounds(&self, index: usize) -> Option<(i64, i64, i64)> {
        let offset = self.offsets.get(index)?;
        let from_second = if index == 0 { i64::MIN } else { from(offset) };
        let until = self.offsets.get(index + 1).map_or(i64::MAX, from);
        // An offset that no zone has would move a day out of the days that are searched.
        Some((from_second, until, offset.seconds.clamp(-OFFSET_MAX, OFFSET_MAX)))
    }
}

fn from(offset: &OffsetRow) -> i64 {
    offset.from.div_euclid(1_000)
}

/// A point in time in seconds; `None` if it is too far away.
fn seconds(milliseconds: i64) -> Option<i64> {
    let seconds = milliseconds.div_euclid(1_000);
    (-SECONDS_MAX..=SECONDS_MAX).contains(&seconds).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use divvy_framework_abi::text::Span;

    use super::*;

    const HOUR: i64 = 3_600_000;
    const WEEKDAYS: u32 = 0b1_1111;
    const ALL_DAYS: u32 = 0b111_1111;
    /// 2026-03-29T01:00:00Z, a Sunday: clocks in Berlin go from 02:00 to 03:00.
    const FORWARD: i64 = 1_774_746_000_000;
    /// 2026-10-25T01:00:00Z, a Sunday: clocks in Berlin go from 03:00 back to 02:00.
    const BACK: i64 = 1_792_890_000_000;

    fn berlin() -> [OffsetRow; 4] {
        [
            OffsetRow {
                from: i64::MIN,
                seconds: 3_600,
            },
            OffsetRow {
                from: 1_743_296_400_000,
                seconds: 7_200,
            },
            OffsetRow {
                from: 1_761_440_400_000,
                seconds: 3_600,
            },
            OffsetRow {
                from: FORWARD,
                seconds: 7_200,
            },
        ]
    }

    fn offsets() -> Vec<OffsetRow> {
        let mut offsets = berlin().to_vec();
        offsets.push(OffsetRow {
            from: BACK,
            seconds: 3_600,
        });
        offsets
    }

    fn weekly(days: u32, start: (u32, u32), end: (u32, u32), offsets: &[OffsetRow]) -> Weekly<'_> {
        let row = WeeklyRow {
            days,
            start: start.0 * 60 + start.1,
            end: end.0 * 60 + end.1,
            reserved: 0,
            offsets: Span {
                start: 0,
                length: offsets.len() as u32,
            },
        };
        Weekly::new(row, offsets)
    }

    fn period(begins: i64, ends: i64) -> Option<Period> {
        Some(Period { begins, ends })
    }

    #[test]
    fn an_occurrence_begins_and_ends_by_local_time() {
        let offsets = offsets();
        // Monday to Friday from 22:00 to 06:00. Friday, 2026-03-13, 21:00Z is 22:00 in Berlin.
        let night = weekly(WEEKDAYS, (22, 0), (30, 0), &offsets);
        let friday = 1_773_435_600_000;
        assert_eq!(night.at(friday - 1), None);
        assert_eq!(night.at(friday), period(friday, friday + 8 * HOUR));
        assert_eq!(night.at(friday + 8 * HOUR - 1), period(friday, friday + 8 * HOUR));
        assert_eq!(night.at(friday + 8 * HOUR), None);
        let monday = friday + 72 * HOUR;
        assert_eq!(night.after(friday), period(monday, monday + 8 * HOUR));
        assert_eq!(night.after(friday - 1), period(friday, friday + 8 * HOUR));
        // In summer, 22:00 is 20:00Z.
        let tuesday = 1_783_454_400_000;
        assert_eq!(night.at(tuesday), period(tuesday, tuesday + 8 * HOUR));
    }

    #[test]
    fn hours_that_the_clocks_skip_are_left_out() {
        let offsets = offsets();
        let sunday = |start, end| weekly(1 << 6, start, end, &offsets).after(FORWARD - 12 * HOUR);
        // From 02:30, which does not exist, to 04:00: it begins with the change.
        assert_eq!(sunday((2, 30), (4, 0)), period(FORWARD, FORWARD + HOUR));
        // To 02:30: it ends with the change.
        assert_eq!(sunday((1, 0), (2, 30)), period(FORWARD - HOUR, FORWARD));
        // Around it, the night is an hour shorter.
        assert_eq!(sunday((1, 0), (5, 0)), period(FORWARD - HOUR, FORWARD + 2 * HOUR));
        // Within it: not on this Sunday, but on the next, when 02:15 is 00:15Z.
        let next = FORWARD + 7 * 24 * HOUR - 45 * 60_000;
        assert_eq!(sunday((2, 15), (2, 45)), period(next, next + HOUR / 2));
    }

    #[test]
    fn hours_that_the_clocks_repeat_count_twice() {
        let offsets = offsets();
        let sunday = |start, end| weekly(1 << 6, start, end, &offsets).after(BACK - 12 * HOUR);
        // 02:30 is at 00:30Z and at 01:30Z.
        assert_eq!(sunday((2, 30), (4, 0)), period(BACK - HOUR / 2, BACK + 2 * HOUR));
        assert_eq!(sunday((1, 0), (2, 30)), period(BACK - 2 * HOUR, BACK + HOUR / 2));
        assert_eq!(sunday((2, 15), (2, 45)), period(BACK - 45 * 60_000, BACK + 45 * 60_000));
    }

    #[test]
    fn occurrences_without_a_gap_are_one() {
        let offsets = offsets();
        let weekend = weekly(0b110_0000, (0, 0), (24, 0), &offsets);
        // Saturday, 2026-03-28, 00:00 in Berlin is 23:00Z; the weekend has 47 hours.
        let saturday = FORWARD - 26 * HOUR;
        let whole = period(saturday, saturday + 47 * HOUR);
        assert_eq!(weekend.at(saturday), whole);
        assert_eq!(weekend.at(FORWARD + 3 * HOUR), whole);
        assert_eq!(weekend.after(saturday - 1), whole);
        let always = weekly(ALL_DAYS, (0, 0), (24, 0), &offsets);
        assert_eq!(always.at(FORWARD).map(|period| period.ends), Some(i64::MAX));
        assert_eq!(weekly(0, (0, 0), (24, 0), &offsets).at(FORWARD), None);
        assert_eq!(weekly(0, (0, 0), (24, 0), &offsets).after(FORWARD), None);
    }

    /// Compared with the definition, minute by minute: a minute is within an occurrence if its local time is, or if the clocks
    /// show such times both before and after it.
    #[test]
    fn every_minute_around_a_change_is_as_defined() {
        let offsets = offsets();
        for (start, end) in [
            ((2, 30), (4, 0)),
            ((1, 0), (2, 30)),
            ((2, 15), (2, 45)),
            ((22, 0), (30, 0)),
            ((0, 0), (24, 0)),
        ] {
            let weekly = weekly(ALL_DAYS & !1, start, end, &offsets);
            for change in [FORWARD, BACK] {
                for minute in -3_000..3_000 {
                    let time = change + minute * 60_000;
                    let offset = if (FORWARD..BACK).contains(&time) { 7_200 } else { 3_600 };
                    let local = time / 1_000 + offset;
                    let shows = (-1..=0).any(|back| {
                        let day = local.div_euclid(DAY) + back;
                        let is_on = (ALL_DAYS & !1) >> (day + 3).rem_euclid(7) & 1 == 1;
                        let minute = (local - day * DAY) / 60;
                        let start = i64::from(start.0 * 60 + start.1);
                        is_on && (start..i64::from(end.0 * 60 + end.1)).contains(&minute)
                    });
                    let found = weekly.at(time);
                    // Where the clocks do not show a time of an occurrence, they may do so before and after.
                    assert!(!shows || found.is_some(), "{start:?} {time}");
                    let is_repeated = (BACK - HOUR..BACK + HOUR).contains(&time);
                    assert!(shows || is_repeated || found.is_none(), "{start:?} {time}");
                    assert!(found.is_none_or(|found| found.contains(time)));
                    if found.is_none() {
                        let next = weekly.after(time).expect("there is one on most days");
                        assert!(weekly.at(next.begins - 1).is_none() && weekly.at(next.begins) == Some(next));
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_times_have_no_occurrence() {
        let offsets = [OffsetRow {
            from: 5,
            seconds: i64::MAX,
        }];
        let weekly = weekly(ALL_DAYS, (0, 0), (12, 0), &offsets);
        for time in [i64::MIN, i64::MAX, 0, -1] {
            let _ = (weekly.at(time), weekly.after(time));
        }
        let without = weekly_without_offsets();
        assert!(without.at(HOUR).is_some());
        assert_eq!(without.at(i64::MAX), None);
    }

    /// A damaged row, whose offsets are missing, is read as UTC.
    fn weekly_without_offsets() -> Weekly<'static> {
        weekly(ALL_DAYS, (0, 0), (12, 0), &[])
    }
}
