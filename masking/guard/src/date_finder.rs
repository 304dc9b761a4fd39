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
const BEFORE_A_TIME: &str = "in|since|by|of|from|during|until|till|through|throughout|before|after|early|late|mid|last|next|this|year|the|back to|post|pre|circa|calendar|autumn|spring|summer|winter|as of|up to|in both|ended|ending";
/// What a year names: with one of these behind it, four digits are a year and no size.
const OF_A_YEAR: &str = "crash|crisis|bubble|boom|bust|rally|bull|bear|market|lockdown|pandemic|outbreak|epidemic|sell-?off|stimulus|tariff|trade|slump|panic|turmoil|meltdown|recovery|rebound|reopening|deleveraging|correction|episode|analogue?|playbook|style|vintage|era|cycle|season|annual|interim|results|earnings|policy|crackdown|circuit|peak|trough|bottom|lows|highs";
/// The same behind a Chinese year of two digits: `10年` alone is a span.
const OF_A_CHINESE_YEAR: &str = "初|底|末|春|夏|秋|冬|股灾|牛市|熊市|大牛|大熊|大跌|暴跌|崩盘|危机|金融|疫情|贸易|熔断|去杠杆|抱团|核心资产";
/// What stands behind a Chinese month that is one of the calendar, and no span of months.
const OF_A_CHINESE_MONTH: &str = "初|上旬|中旬|下旬|中|底|末|以来|里|间|行情|开始|至|到";

/// Patterns with the places `YEAR`, `MONTH`, `NAME`, `CDIGIT`, `CNUMBER`, `BEFORE` and `BEHIND` filled in from above. Where
/// there is a group `w`, it is the date; the rest says that it is one.
const PATTERNS: &[&str] = &[
    // 2024-03-15, 2024/3/15, 2024.03.15, 2024-03-15T09:30
    "(?<y>YEAR)[-/.](?<m>[0-9]{1,2})[-/.](?<d>[0-9]{1,2})(?:T[0-9:.]+Z?)?",
    // 6/24/19 and 24/6/19: one part is no month, so that averages of 5/10/20 days are none
    "(?:(?<m>1[0-2]|0?[1-9])/(?<d>1[3-9]|2[0-9]|3[01])/(?<y>[01][0-9]|2[0-9]))",
    "(?:(?<d>1[3-9]|2[0-9]|3[01])/(?<m>1[0-2]|0?[1-9])/(?<y>[01][0-9]|2[0-9]))",
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
    // 2021年报, 2021三季报
    "(?<y>YEAR) ?(?:年报|年度报告|年?(?:中报|半年报|一季报|三季报|业绩))",
    // 08年, 15年股灾, 20年初; 一五年, 二〇年; 10年 is a span
    "(?<w>(?<y>0[0-9])年)",
    "(?<w>(?<y>[0-2][0-9])年)(?:BEHIND_CHINESE_YEAR)",
    "(?<w>(?<y>[〇零]CDIGIT|一[五六七八九]|二[〇零])年)",
    // 2024年上半年, 2024上半年
    "(?<y>YEAR) ?年? ?(?<h>[上下])半年",
    // 24年3月
    "(?<y>[0-9]{2})年(?<m>[0-9]{1,2})月(?:份|(?<d>[0-9]{1,2})[日号])?",
    // 3月15日, 3月份
    "(?<m>[0-9]{1,2}) ?月(?:份| ?(?<d>[0-9]{1,2}) ?[日号])",
    // 6月以来, 9月底
    "(?<w>(?<m>1[0-2]|[1-9]) ?月)(?:BEHIND_CHINESE_MONTH)",
    "(?<w>(?<m>CNUMBER)月)(?:BEHIND_CHINESE_MONTH)",
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
    // 15 Sep, 3 Jan
    "(?<d>[0-9]{1,2}) (?<mon>Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)",
    // In May, last March, mid-Feb
    "(?:(?i:in|since|by|of|from|during|until|till|through|before|after|early|late|mid|last|next|this|to|between|and))[ -](?<w>(?<mon>March|May|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec))",
    // the March low, May's rally
    "(?:[Tt]he )(?<w>(?<mon>March|May)) (?i:low|high|rally|sell-?off|crash|quarter|peak|bottom|trough|rebound|meeting|announcement|holiday|data|reading)",
    "(?<w>(?<mon>March|May)'s)",
    // spring 2020, summer of 2015
    "(?i)(?:spring|summer|autumn|fall|winter)(?: of)?,? (?<y>YEAR)",
    // the 2010s
    "(?<y>YEAR)s",
    // January; the two that are words of other kinds are left to the patterns above
    "(?<mon>January|February|April|June|July|August|September|October|November|December)",
    // Q1 2024, Q1/2024, Q1'24, Q1 FY24
    "(?i)Q(?<q>[1-4])(?:[-/ ]?(?:of )?(?:FY ?)?(?<y>YEAR)|(?:'| ?FY ?)[0-9]{2})",
    // 2024Q1, 2024 Q1, 2024-Q1, 2024年Q1, 1Q24, 1Q2024, 21Q3
    "(?i)(?:(?<y>YEAR)[-/ 年]?Q(?<q>[1-4])|[1-4]Q[ ']?(?:YEAR|[0-9]{2})|[0-2][0-9]Q[1-4])",
    // H1 2024, 2024H1, 1H24
    "(?i)(?:H(?<h>[12])[-/ ]?(?<y>YEAR)|YEAR[-/ ]?H[12]|[12]H[ ']?(?:YEAR|[0-9]{2}))",
    // first quarter of 2024, FY2024, FY24
    "(?i)(?:(?:first|second|third|fourth|last|1st|2nd|3rd|4th)[- ](?:quarter|half)(?: of)?,? (?<y>YEAR)|FY ?'?(?:YEAR|[0-9]{2}))",
    // in 2015, the 2015 crash, since 2015-2016
    "(?i)(?:BEFORE)[ -](?<w>(?<y>YEAR)(?:[-/](?:YEAR|[0-9]{2}))?)",
    // between 2018 and 2020, from 2018 to 2020
    "(?i)(?:between|from|over) (?<w>(?<y>YEAR)) ?(?:and|to|through|-) ?YEAR",
    "(?i)(?:between|from|over|in) (?:YEAR)(?:,| and| to| or| through| ?-) ?(?<w>(?<y>YEAR))",
    // 2018-2020, 2015/16
    "(?<y>YEAR)(?:[-/]YEAR|/[0-2][0-9])",
    // 2015 crash, 2020-style
    "(?i)(?<w>(?<y>YEAR))(?:-| |'s )(?:BEHIND)",
    // 2017 was, 2018 saw
    "(?<w>(?<y>YEAR)) (?:was|were|saw|had|taught|proved|showed|ended|began|started|looks|looked)",
    // early '15, the '08 crisis
    "(?i)(?:BEFORE)[ -](?<w>'(?<y>[0-2][0-9]))",
];

/// A number behind one of these is a size, and no year: `price of 2015`.
const MEASURES: &[&str] = &[
    "price",
    "nav",
    "level",
    "value",
    "count",
    "total",
    "number",
    "volume",
    "close",
    "score",
    "size",
    "lot",
    "target",
    "average",
    "mean",
    "sum",
    "high",
    "low",
    "quantity",
    "position",
    "median",
    "threshold",
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
                .replace("BEHIND_CHINESE_YEAR", OF_A_CHINESE_YEAR)
                .replace("BEHIND_CHINESE_MONTH", OF_A_CHINESE_MONTH)
                .replace("BEHIND", OF_A_YEAR)
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
                let period = Period::of(&groups)
                    .filter(|_| stands_alone(text, &whole.range(), &part) && !is_span(text, &whole.range()));
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

/// Whether what looks like a date is a span of months (`近3月以来`) or a size (`price of 2015`).
fn is_span(text: &Folded, whole: &Range<usize>) -> bool {
    let (before, _, after) = text.around(whole);
    let (before, after) = (before.trim_end(), after.trim_start());
    let word = before
        .rsplit(|character: char| !character.is_ascii_alphabetic())
        .next();
    let is_measure =
        word.is_some_and(|word| MEASURES.iter().any(|measure| measure.eq_ignore_ascii_case(word)));
    is_measure
        || after.starts_with("level")
        || after.starts_with("mark ")
        || before.ends_with(['近', '过', '去', '前', '每', '第', '个', '满', '数', '几'])
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
            ("close of 6/24/2019", "6/24/2019"),
            ("close of 6/24/19", "6/24/19"),
            ("二〇二一年的抱团", "二〇二一年"),
            ("15年股灾", "15年"),
            ("一五年的顶", "一五年"),
            ("9月底以来", "9月"),
            ("a 2015 crash again", "2015"),
            ("from 2018-2020", "2018-2020"),
            ("spring of 2020", "spring of 2020"),
            ("early '15", "'15"),
            ("on 15 Sep", "15 Sep"),
            ("2021三季报", "2021三季报"),
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
            "averages of 5/10/20 days",
            "price of 2015",
            "近3月以来",
            "过去10年",
            "a score of 2010",
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
