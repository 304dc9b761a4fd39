//! What a date in a text stands for: a day, a month, a quarter, a year; with or without its year.

use crate::dates::MONTHS;
use regex::Captures;
use std::ops::RangeInclusive;

/// A stretch of the calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    year: Option<u32>,
    months: RangeInclusive<u32>,
    day: Option<u32>,
}

/// Years that a reason may speak of.
const YEARS: RangeInclusive<u32> = 1980..=2049;

impl Period {
    /// What the groups of a date pattern say; `None` for no date, such as a thirteenth month.
    ///
    /// Groups: `y` year, `m` month, `mon` its English name, `d` day, `q` quarter, `h` half. Numbers may be Chinese.
    pub(crate) fn of(groups: &Captures<'_>) -> Option<Self> {
        let text = |name: &str| groups.name(name).map(|group| group.as_str());
        // A group that is there and no number makes the whole no date.
        let within = |name: &str, range: RangeInclusive<u32>| match text(name) {
            None => Some(None),
            Some(text) => number(text).filter(|number| range.contains(number)).map(Some),
        };
        let year = match text("y") {
            None => None,
            Some(year) => Some(full_year(number(year)?).filter(|year| YEARS.contains(year))?),
        };
        let (day, month) = (within("d", 1..=31)?, within("m", 1..=12)?);
        let (quarter, half) = (within("q", 1..=4)?, within("h", 1..=2)?);
        let month = month.or_else(|| text("mon").and_then(month_of));
        let months = match (month, quarter, half) {
            (Some(month), ..) => month..=month,
            (None, Some(quarter), _) => quarter * 3 - 2..=quarter * 3,
            (None, None, Some(half)) => half * 6 - 5..=half * 6,
            (None, None, None) => 1..=12,
        };
        Some(Self { year, months, day })
    }

    /// Whether a day, as (year, month, day), is in it.
    #[must_use]
    pub fn has(&self, (year, month, day): (u32, u32, u32)) -> bool {
        self.year.is_none_or(|own| own == year)
            && self.months.contains(&month)
            && self.day.is_none_or(|own| own == day)
    }
}

fn full_year(year: u32) -> Option<u32> {
    match year {
        0..50 => Some(2000 + year),
        50..100 => Some(1900 + year),
        1000.. => Some(year),
        100..1000 => None,
    }
}

fn month_of(name: &str) -> Option<u32> {
    let head = name.get(..3)?.to_ascii_lowercase();
    let place = MONTHS.iter().position(|(short, _)| *short == head)?;
    u32::try_from(place).ok().map(|place| place + 1)
}

/// A number in ASCII digits, or in Chinese ones: `二〇二四`, `十五`, `二十一`; `上` and `下` are a year's halves.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok();
    }
    let digit = |character: char| {
        let place = "〇一二三四五六七八九"
            .chars()
            .position(|digit| digit == character);
        let place = place.or(match character {
            '零' | '○' => Some(0),
            '上' => Some(1),
            '下' => Some(2),
            _ => character
                .to_digit(10)
                .and_then(|digit| usize::try_from(digit).ok()),
        })?;
        u32::try_from(place).ok()
    };
    if let Some((tens, ones)) = text.split_once('十') {
        let part = |text: &str, empty: u32| match text.chars().next() {
            None => Some(empty),
            Some(character) => digit(character),
        };
        return Some(part(tens, 1)? * 10 + part(ones, 0)?);
    }
    text.chars().try_fold(0_u32, |value, character| {
        value.checked_mul(10)?.checked_add(digit(character)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_scripts() {
        for (text, expected) in [
            ("2024", Some(2024)),
            ("二〇二四", Some(2024)),
            ("二零二四", Some(2024)),
            ("十", Some(10)),
            ("十五", Some(15)),
            ("二十", Some(20)),
            ("三十一", Some(31)),
            ("下", Some(2)),
            ("x", None),
            ("99999999999", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn years_of_two_digits() {
        assert_eq!(
            [24, 99, 2024, 202].map(full_year),
            [Some(2024), Some(1999), Some(2024), None]
        );
        assert_eq!(
            [month_of("Sept"), month_of("may"), month_of("xyz")],
            [Some(9), Some(5), None]
        );
    }
}
