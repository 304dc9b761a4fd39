//! The invented trading calendar: weekdays from 2022-01-04 less a few fixed holidays.

use crate::day::TradeDate;
use chrono::{Datelike, Days, NaiveDate, Weekday};

/// One trading day with the parts of its date that yearly events hang on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session {
    pub(super) date: TradeDate,
    pub(super) year: i32,
    pub(super) month: u32,
    pub(super) day: u32,
}

/// The first `count` trading days.
pub(super) fn sessions(count: usize) -> Vec<Session> {
    NaiveDate::from_ymd_opt(2022, 1, 4)
        .into_iter()
        .flat_map(|first| first.iter_days())
        .filter(|&date| is_session(date))
        .filter_map(|date| {
            Some(Session {
                date: TradeDate::from_days_since_epoch(date.to_epoch_days())?,
                year: date.year(),
                month: date.month(),
                day: date.day(),
            })
        })
        .take(count)
        .collect()
}

/// A weekday outside the holidays: New Year's Day, the Spring Festival week (Monday to Friday from February's first
/// Monday, an invention: the real one follows the moon), 1-3 May, and the National Day week of 1-7 October.
fn is_session(date: NaiveDate) -> bool {
    if matches!(date.weekday(), Weekday::Sat | Weekday::Sun) {
        return false;
    }
    let monday = date - Days::new(u64::from(date.weekday().num_days_from_monday()));
    let is_spring_festival = monday.month() == 2 && monday.day() <= 7;
    let is_fixed_holiday = matches!((date.month(), date.day()), (1, 1) | (5, 1..=3) | (10, 1..=7));
    !(is_spring_festival || is_fixed_holiday)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holidays_leave_gaps_and_weekends_do_not_trade() {
        let sessions = sessions(800);
        assert_eq!(sessions.len(), 800);
        assert_eq!(Ok(sessions[0].date), TradeDate::parse("2022-01-04"));
        assert!(sessions.iter().all(|session| !session.date.is_weekend()));
        let gaps = |year: i32, month: u32| {
            sessions
                .windows(2)
                .filter(|pair| pair[1].year == year && pair[1].month == month)
                .map(|pair| pair[1].date.days_since_epoch() - pair[0].date.days_since_epoch())
                .max()
                .unwrap()
        };
        for year in [2022, 2023, 2024] {
            assert!(gaps(year, 2) >= 10, "Spring Festival of {year}");
            assert!(gaps(year, 10) >= 7, "National Day of {year}");
            assert!(gaps(year, 3) <= 3, "an ordinary month of {year}");
        }
    }
}
