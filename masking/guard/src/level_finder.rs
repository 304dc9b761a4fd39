//! Levels of a market index: `3,300 points`, `the index near 5100`, `跌破3000点`.

use crate::folded::Folded;
use crate::numbers::{is_counted, is_part_of_number};
use crate::pattern_error::PatternError;
use regex::Regex;
use std::ops::Range;

const NUMBER: &str = "[1-9][0-9]?,?[0-9]{3}(?:\\.[0-9]{1,2})?";
/// What has a level, in both languages.
const INDEX: &str = "(?i:index|indices|benchmark|composite|market|broad market|csi ?[0-9]{3,4}|hs ?300|sse|szse|shanghai|shenzhen|chinext|star ?50|hang seng|a-?shares?)";
const CHINESE_INDEX: &str = "(?:大盘|指数|沪指|深指|上证|深证|沪深300|深成指|成指|创业板指?|创指|科创50|科创板|中证[0-9]+|恒指|恒生|A股|市场|股指)";
const AT: &str = "(?i:at|near|around|about|roughly|nearly|clears?|tops?|topped|above|below|under|over|past|to|towards?|from|of|hits?|hitting|reach(?:es|ed|ing)?|breaks?|broke|breaking|cross(?:es|ed|ing)?|holds?|holding|tests?|testing|through|beyond|reclaim(?:s|ed|ing)?|lost|loses|stands?|trading|sits?|capped at|capped by|floor of|ceiling of)";
const CHINESE_AT: &str = "(?:在|于|至|到|站上|跌破|突破|失守|守住|逼近|重回|收复|跌至|涨至|升至|冲上|冲击|跌穿|回到|接近|重返|攻上|围绕|下探|测试|约|为|报|收报|收于|跌到|涨到)";

/// Patterns with the places `NUMBER`, `INDEX`, `CINDEX`, `AT` and `CAT` filled in from above; `w` is the level.
const PATTERNS: [&str; 8] = [
    // 3,300 points, 3000-point mark
    "(?<w>(?<n>NUMBER)[ -]?(?i:points?|pts))",
    // the 3,000 mark, 3000 handle
    "(?i:the|psychological|key) (?<w>(?<n>NUMBER)) (?i:mark|handle|threshold|level|line|area|zone|barrier)",
    // 3300点, 3000点关口, 3000关口
    "(?<w>(?<n>NUMBER) ?(?:点|整数关口?|关口|大关))",
    // 三千点, 3千点
    "(?<w>[一二三四五六1-6]千(?:[一二三四五六七八九1-9]百?)?点)",
    // the index near 5100, CSI 300 is back above 4,000
    "INDEX[^0-9.,;!?。，；]{0,32}?AT (?:the |roughly |about |around |nearly )?(?<w>(?<n>NUMBER))",
    // 上证指数在3000附近, 大盘跌破2800
    "CINDEX[^0-9。；！？]{0,8}?CAT(?:了)?(?<w>(?<n>NUMBER))",
    // 大盘2635见底
    "CINDEX(?<w>(?<n>NUMBER))(?:见底|见顶|附近|一线|关口|上方|下方|以上|以下|左右|得而复失|企稳|反弹)",
    // at 3000 on the Shanghai index
    "(?<w>(?<n>NUMBER)) (?i:on|for) (?i:the )?INDEX",
];

/// A level in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLevel {
    /// Bytes of the folded text.
    pub part: Range<usize>,
    /// The level, index points; `None` where it is written in Chinese digits.
    pub points: Option<f64>,
}

/// Finder of index levels in folded texts.
#[derive(Debug)]
pub struct LevelFinder(Vec<Regex>);

impl LevelFinder {
    /// A finder of all patterns.
    ///
    /// # Errors
    /// [`PatternError`] when a pattern is invalid.
    pub fn new() -> Result<Self, PatternError> {
        let compile = |pattern: &&str| {
            let filled = pattern
                .replace("NUMBER", NUMBER)
                .replace("CINDEX", CHINESE_INDEX)
                .replace("INDEX", INDEX)
                .replace("CAT", CHINESE_AT)
                .replace("AT ", &format!("{AT} "));
            Regex::new(&filled).map_err(|source| PatternError {
                what: "levels",
                source,
            })
        };
        PATTERNS.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// Every level, those inside others too.
    #[must_use]
    pub fn find(&self, text: &Folded) -> Vec<FoundLevel> {
        let mut found = Vec::new();
        for groups in self
            .0
            .iter()
            .flat_map(|pattern| pattern.captures_iter(text.plain()))
        {
            let (Some(whole), Some(level)) = (groups.get(0), groups.name("w")) else {
                continue;
            };
            let part = level.range();
            let (before, _, after) = text.around(&part);
            let is_sample = [" in the s", " of data", " of return", " in a s"]
                .iter()
                .any(|rest| after.starts_with(rest));
            let is_size = is_sample
                || is_counted(after)
                || is_part_of_number(before, after)
                || before.ends_with(['¥', '$', '+']);
            let points = groups
                .name("n")
                .and_then(|number| number.as_str().replace(',', "").parse().ok());
            if text.is_whole(&whole.range()) && text.is_whole(&part) && !is_size {
                found.push(FoundLevel { part, points });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(levels: &LevelFinder, text: &str) -> Option<String> {
        let folded = Folded::of(text);
        let longest = levels
            .find(&folded)
            .into_iter()
            .max_by_key(|level| level.part.len())?;
        Some(text[folded.own_bytes(&longest.part)].to_owned())
    }

    #[test]
    fn levels_of_an_index_are_found_and_sizes_are_none() {
        let levels = LevelFinder::new().unwrap();
        for (text, level) in [
            ("back at 3,300 points", "3,300 points"),
            ("the index near 5100", "5100"),
            ("CSI 300 is back above 4,012.5", "4,012.5"),
            ("a 3000-point mark", "3000-point"),
            ("the 3,000 mark", "3,000"),
            ("跌破3000点", "3000点"),
            ("三千点保卫战", "三千点"),
            ("大盘站上3400", "3400"),
        ] {
            assert_eq!(found(&levels, text).as_deref(), Some(level), "{text}");
        }
        for text in [
            "rose 200 basis points",
            "over 1000 data points",
            "the index fell 2.5 % in 20 days; cut 2000 shares",
            "index members at 1000 shares",
            "市场买入3000股",
            "weights of 1000 names",
            "beat the market by 300 points",
            "1000 points in the sample",
        ] {
            assert_eq!(found(&levels, text), None, "{text}");
        }
    }
}
