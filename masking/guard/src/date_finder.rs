//! Dates of the calendar, in the spellings of people and machines. Labels such as `day_+12` are none.

use crate::folded::Folded;
use crate::numbers::{is_counted, is_part_of_number};
use crate::pattern_error::PatternError;
use crate::period::Period;
use regex::Regex;
use std::ops::Range;

const YEAR: &str = "(?:19|20)[0-9]{2}";
const MONTH: &str = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
/// The same as names are written: `may` and `march` are words of other kinds.
const MONTH_NAME: &str = "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?";
const CHINESE_DIGIT: &str = "[〇零○一二三四五六七八九]";
const CHINESE_NUMBER: &str = "[一二三四五六七八九十]{1,3}";
const BEFORE_A_TIME: &str = "in|since|by|of|from|during|until|till|through|throughout|before|after|early|late|mid|last|next|this|year|the|back to";

/// Patterns with the places `YEAR`, `MONTH`, `NAME`, `CDIGIT`, `CNUMBER` and `BEFORE` filled in from above. Where there
/// is a group `w`, it is the date; the rest says that it is one.
const PATTERNS: [&str; 24] = [
    // 2024-03-15, 2024/3/15, 2024.03.15
    "(?<y>YEAR)[-/.](?<m>[0-9]{1,2})[-/.](?<d>[0-9]{1,2})",
    // 15/03/2024 in either order of day and month: as good as its year
    "[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?<y>YEAR)",
    // 2024-03, 2024/03
    "(?<y>YEAR)[-/](?<m>0[1-9]|1[0-2])",
    // 20240315
    "(?<y>YEAR)(?<m>0[1-9]|1[0-2])(?<d>0[1-9]|[12][0-9]|3[01])",
    // 2024年, 2024年3月, 2024年3月15日
    "(?<y>YEAR) ?年(?: ?(?<m>[0-9]{1,2}) ?月(?:份| ?(?<d>[0-9]{1,2}) ?[日号])?)?",
    // 2024年第一季度
    "(?<y>YEAR) ?年? ?第?(?<q>[一二三四1-4])季度?",
    // 2024年上半年, 2024上半年
    "(?<y>YEAR) ?年? ?(?<h>[上下])半年",
    // 24年3月
    "(?<y>[0-9]{2})年(?<m>[0-9]{1,2})月(?:份|(?<d>[0-9]{1,2})[日号])?",
    // 3月15日, 3月份
    "(?<m>[0-9]{1,2}) ?月(?:份| ?(?<d>[0-9]{1,2}) ?[日号])",
    // 二〇二四年三月十五日
    "(?<y>[一二]CDIGIT{3})年(?:(?<m>CNUMBER)月(?:份|(?<d>CNUMBER)[日号])?)?",
    // 三月十五日, 三月份
    "(?<m>CNUMBER)月(?:份|(?<d>CNUMBER)[日号])",
    // March 2024, mar. 2024, March of 2024
    "(?i)(?<mon>MONTH)[.,]? ?(?:of )?(?<y>YEAR)",
    // March 15, 2024; Mar 15th 2024
    "(?i)(?<mon>MONTH)[.]? (?:the )?(?<d>[0-9]{1,2})(?:st|nd|rd|th)?,? (?<y>YEAR)",
    // 15 March 2024, 15th of March, 2024, 15-Mar-2024
    "(?i)(?<d>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)?[- ](?<mon>MONTH)[.,]?[- ]?(?<y>YEAR)",
    // Mar-24, Mar'24
    "(?<mon>NAME)['-](?<y>[0-9]{2})",
    // March 15, May 3rd
    "(?<mon>NAME)[.]? (?:the )?(?<d>[0-9]{1,2})(?:st|nd|rd|th)?",
    // 15th of March, 3rd May
    "(?<d>[0-9]{1,2})(?:(?:st|nd|rd|th)(?: of)?| of) (?<mon>NAME)",
    // In May, last March
    "(?:(?i:in|since|by|of|from|during|until|till|through|before|after|early|late|mid|last|next|this))[ -](?<w>(?<mon>March|May))",
    // January; the two that are words of other kinds are left to the patterns above
    "(?<mon>January|February|April|June|July|August|September|October|November|December)",
    // Q1 2024, Q1/2024, Q1'24, Q1 FY24
    "(?i)Q(?<q>[1-4])(?:[-/ ]?(?:of )?(?:FY ?)?(?<y>YEAR)|(?:'| ?FY ?)[0-9]{2})",
    // 2024Q1, 2024 Q1, 2024-Q1, 2024年Q1, 1Q24, 1Q2024
    "(?i)(?:(?<y>YEAR)[-/ 年]?Q(?<q>[1-4])|[1-4]Q[ ']?(?:YEAR|[0-9]{2}))",
    // H1 2024, 2024H1, 1H24
    "(?i)(?:H(?<h>[12])[-/ ]?(?<y>YEAR)|YEAR[-/ ]?H[12]|[12]H[ ']?(?:YEAR|[0-9]{2}))",
    // first quarter of 2024, FY2024, FY24
    "(?i)(?:(?:first|second|third|fourth|1st|2nd|3rd|4th)[- ](?:quarter|half)(?: of)? (?<y>YEAR)|FY ?'?(?:YEAR|[0-9]{2}))",
    // in 2015, the 2015 crash, since 2015-2016
    "(?i)(?:BEFORE)[ -](?<w>(?<y>YEAR)(?:[-/](?:YEAR|[0-9]{2}))?)",
];

/// A date in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDate {
    /// Bytes of the folded text.
    pub part: Range<usize>,
    /// The days it stands for.
    pub period: Period,
}

/// Finder of dates in folded texts.
#[derive(Debug)]
pub struct DateFinder(Vec<Regex>);

impl DateFinder {
    /// A finder of all patterns.
    ///
    /// # Errors
    /// [`PatternError`] when a pattern is invalid.
    pub fn new() -> Result<Self, PatternError> {
        let compile = |pattern: &&str| {
            let filled = pattern
                .replace("YEAR", YEAR)
                .replace("MONTH", MONTH)
                .replace("NAME", MONTH_NAME)
                .replace("CDIGIT", CHINESE_DIGIT)
                .replace("CNUMBER", CHINESE_NUMBER)
                .replace("BEFORE", BEFORE_A_TIME);
            Regex::new(&filled).map_err(|source| PatternError {
                what: "dates",
                source,
            })
        };
        PATTERNS.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// Every date, those inside others too.
    #[must_use]
    pub fn find(&self, text: &Folded) -> Vec<FoundDate> {
        let mut found = Vec::new();
        for pattern in &self.0 {
            for groups in pattern.captures_iter(text.plain()) {
                let Some(whole) = groups.get(0) else { continue };
                let part = groups.name("w").unwrap_or(whole).range();
                let period = Period::of(&groups).filter(|_| stands_alone(text, &whole.range(), &part));
                found.extend(period.map(|period| FoundDate { part, period }));
            }
        }
        found
    }
}

/// Whether a date is no part of a longer word or number, and counts nothing (`in 2000 shares`).
fn stands_alone(text: &Folded, whole: &Range<usize>, part: &Range<usize>) -> bool {
    let (before, _, after) = text.around(whole);
    text.is_whole(whole) && text.is_whole(part) && !is_part_of_number(before, after) && !is_counted(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest date in a text.
    fn found(dates: &DateFinder, text: &str) -> Option<String> {
        let folded = Folded::of(text);
        let longest = dates
            .find(&folded)
            .into_iter()
            .max_by_key(|date| date.part.len())?;
        Some(text[folded.own_bytes(&longest.part)].to_owned())
    }

    #[test]
    fn dates_in_the_spellings_of_people() {
        let dates = DateFinder::new().unwrap();
        for (text, date) in [
            ("sold on 2024-03-15 at the open", "2024-03-15"),
            ("(2024/3/15)", "2024/3/15"),
            ("as in 2024.03.15.", "2024.03.15"),
            ("15/03/2024", "15/03/2024"),
            ("the 20240315 close", "20240315"),
            ("data to 2024-03", "2024-03"),
            ("在2024年3月15日公布", "2024年3月15日"),
            ("２０２４年３月", "２０２４年３月"),
            ("2024年第一季度", "2024年第一季度"),
            ("2024年上半年", "2024年上半年"),
            ("24年3月以来", "24年3月"),
            ("3月15日前", "3月15日"),
            ("三月十五日", "三月十五日"),
            ("二〇二四年三月", "二〇二四年三月"),
            ("since March 2024", "March 2024"),
            ("since march 2024", "march 2024"),
            ("May 2024 was weak", "May 2024"),
            ("on May 15, 2024", "May 15, 2024"),
            ("on 15 May 2024", "15 May 2024"),
            ("Mar-24", "Mar-24"),
            ("the low of May 15", "May 15"),
            ("as in May", "May"),
            ("September is weak", "September"),
            ("Q1 2024", "Q1 2024"),
            ("2024Q1", "2024Q1"),
            ("1Q24 numbers", "1Q24"),
            ("H1 2024", "H1 2024"),
            ("FY24", "FY24"),
            ("first quarter of 2024", "first quarter of 2024"),
            ("like the 2015 crash", "2015"),
            ("in 2015-2016", "2015-2016"),
            ("the second half of 2024", "second half of 2024"),
        ] {
            assert_eq!(found(&dates, text).as_deref(), Some(date), "{text}");
        }
    }

    #[test]
    fn what_is_no_date() {
        let dates = DateFinder::new().unwrap();
        for text in [
            "it may rise 15 % and may 5 more",
            "May rise soon",
            "march higher",
            "day_+12 after day_-1",
            "asset_2024 and sector_03",
            "buy 2024 shares",
            "invest in 2000 shares",
            "of 2000 names",
            "close 2024.03 and 1.2024-03",
            "price 20240315.5",
            "weight 0.2024",
            "in 2024.5 points",
            "2024-13-45",
            "3个月",
            "近3月",
            "10年",
            "Q1 of the sort",
            "trojan 2024",
            "May 15 % be enough",
            "top 10 may fall",
            "a 2024 % rise",
        ] {
            assert_eq!(found(&dates, text), None, "{text}");
        }
    }

    #[test]
    fn a_date_knows_its_days() {
        let dates = DateFinder::new().unwrap();
        for (text, day, is_in) in [
            ("2024-03-15", (2024, 3, 15), true),
            ("2024-03-15", (2024, 3, 16), false),
            ("March 2024", (2024, 3, 1), true),
            ("Q1 2024", (2024, 4, 1), false),
            ("2024年下半年", (2024, 7, 1), true),
            ("3月15日", (2019, 3, 15), true),
            ("in 2024", (2024, 12, 31), true),
        ] {
            let folded = Folded::of(text);
            let longest = dates
                .find(&folded)
                .into_iter()
                .max_by_key(|date| date.part.len())
                .unwrap();
            assert_eq!(longest.period.has(day), is_in, "{text}");
        }
    }
}
