//! Dates in folded text, in the spellings people and machines use.

use crate::digits::Run;

/// Year, month, day; day 0 is a month alone.
pub(crate) type Day = (u32, u32, u32);

/// A date as the calendar spells it.
pub(crate) fn parse_day(text: &str) -> Option<Day> {
    let mut parts = text.split('-').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// Short and long names of the months in lower case, in their order.
pub(crate) const MONTHS: [(&str, &str); 12] = [
    ("jan", "january"),
    ("feb", "february"),
    ("mar", "march"),
    ("apr", "april"),
    ("may", "may"),
    ("jun", "june"),
    ("jul", "july"),
    ("aug", "august"),
    ("sep", "september"),
    ("oct", "october"),
    ("nov", "november"),
    ("dec", "december"),
];

/// All dates that a text spells with these runs of digits: `2024-04-01`, `2024/4/1`, `2024.04.01`, `20240401`, `2024年4月1日`, `1/4/2024`,
/// `1 April 2024`, `April 1, 2024`, `2024 Apr 1`; and a year with a month alone (day 0): `2024-04`, `2024/04`,
/// `202404` is none, `2024年4月`, `April 2024`.
pub(crate) fn dates_in(runs: &[Run<'_>]) -> Vec<Day> {
    let mut days = Vec::new();
    for run in runs {
        days.extend(compact(run));
        days.extend(chinese_month(run));
        days.extend(english_month(run));
    }
    for window in runs.windows(2) {
        if let [year, month] = window {
            days.extend(numeric_month(year, month));
        }
    }
    for window in runs.windows(3) {
        if let [first, second, third] = window {
            days.extend(separated(first, second, third));
        }
    }
    days
}

/// `20240401`.
fn compact(run: &Run<'_>) -> Option<Day> {
    let number = |from: usize, to: usize| run.digits.get(from..to).and_then(|part| part.parse().ok());
    (run.digits.len() == 8 && !run.is_decimal_part())
        .then(|| valid(number(0, 4), number(4, 6), number(6, 8)))
        .flatten()
}

/// `2024-04-01` and its like, and the same from the other end: `01/04/2024`, in either order of day and month.
fn separated(first: &Run<'_>, second: &Run<'_>, third: &Run<'_>) -> Vec<Day> {
    let (left, right) = (second.between.trim(), third.between.trim());
    let is_separator = |text: &str| matches!(text, "-" | "/" | "." | "年" | "月");
    if !is_separator(left) || !is_separator(right) {
        return Vec::new();
    }
    let year = |run: &Run<'_>| run.number(4).filter(|_| run.digits.len() == 4);
    let forward = valid(year(first), second.number(2), third.number(2));
    let day_first = valid(year(third), second.number(2), first.number(2));
    let month_first = valid(year(third), first.number(2), second.number(2));
    [forward, day_first, month_first].into_iter().flatten().collect()
}

/// `2024-04`, `2024/04`: two digits, so that a fraction or a small range is none.
fn numeric_month(year: &Run<'_>, month: &Run<'_>) -> Option<Day> {
    let is_month =
        year.digits.len() == 4 && month.digits.len() == 2 && matches!(month.between.trim(), "-" | "/");
    is_month
        .then(|| valid(year.number(4), month.number(2), Some(0)))
        .flatten()
}

fn valid(year: Option<u32>, month: Option<u32>, day: Option<u32>) -> Option<Day> {
    let (year, month, day) = (year?, month?, day?);
    ((1980..=2100).contains(&year) && (1..=12).contains(&month) && day <= 31).then_some((year, month, day))
}

/// `2024年4月`.
fn chinese_month(year: &Run<'_>) -> Option<Day> {
    let rest = year.after.trim_start().strip_prefix('年')?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(2).collect();
    let ends = rest.get(digits.len()..)?.trim_start().starts_with('月');
    (year.digits.len() == 4 && ends)
        .then(|| valid(year.number(4), digits.parse().ok(), Some(0)))
        .flatten()
}

/// A four-digit year within three words after an English month's name, or directly before one.
fn english_month(year: &Run<'_>) -> Option<Day> {
    const WORDS_BACK: usize = 3;
    if year.digits.len() != 4 || year.is_decimal_part() {
        return None;
    }
    let words = |text| str::split(text, |character: char| !character.is_ascii_alphanumeric());
    let mut before = words(year.before)
        .rev()
        .filter(|word| !word.is_empty())
        .take(WORDS_BACK);
    let after = || words(year.after).find(|word| !word.is_empty());
    let month = before.find_map(month_of).or_else(|| after().and_then(month_of))?;
    valid(year.number(4), Some(month), Some(0))
}

/// The month of its short or long name, not of a word that merely begins like it (`march` and `marked`).
fn month_of(word: &str) -> Option<u32> {
    let is_month = |(short, long): &(&str, &str)| word == *short || word == *long;
    let place = if word == "sept" {
        Some(8)
    } else {
        MONTHS.iter().position(is_month)
    };
    place.and_then(|place| u32::try_from(place + 1).ok())
}
