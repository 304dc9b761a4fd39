//! A reviewer's reply: two marks and why they were given.

use crate::strict_json::StrictJson;
use std::fmt;

/// The highest mark; the lowest is 1.
const MARK_MAX: u8 = 10;

/// What keeps a reply from being a review: the reviewer's own mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewProblem {
    /// It is not one JSON object, each key once.
    NotJson,
    /// A mark, by its name, is missing, no whole number, or not from 1 to 10.
    Mark(&'static str),
    /// No reason is given.
    NoReason,
}

impl ReviewProblem {
    /// The stable name used in records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::Mark(_) => "bad_mark",
            Self::NoReason => "no_reason",
        }
    }
}

impl fmt::Display for ReviewProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson => formatter.write_str("the reply is not one JSON object that names each key once"),
            Self::Mark(name) => write!(formatter, "`{name}` must be a whole number from 1 to {MARK_MAX}"),
            Self::NoReason => {
                formatter.write_str("`strengths` and `weaknesses` must be texts, and one of them not empty")
            }
        }
    }
}

/// Marks of a program and the reasons for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewReply {
    /// Fidelity, 1 to 10.
    pub d1: u8,
    /// Risk, 1 to 10.
    pub d2: u8,
    /// What is good about the program.
    pub strengths: String,
    /// What is wrong with it.
    pub weaknesses: String,
    /// Departures from the form that leave no doubt of what is meant: a mark as a text, a fence round the object.
    pub repairs: usize,
}

impl ReviewReply {
    /// The review in a reply: the reply is one JSON object, or one fenced block that holds it. Further members are not read.
    ///
    /// # Errors
    /// [`ReviewProblem`] where it is none.
    pub fn parse(reply: &str) -> Result<Self, ReviewProblem> {
        let (text, was_fenced) = unfenced(reply.trim());
        let object = StrictJson::parse(text).map_err(|_| ReviewProblem::NotJson)?;
        if object.as_map().is_none() {
            return Err(ReviewProblem::NotJson);
        }
        let (d1, first) = mark(&object, "D1")?;
        let (d2, second) = mark(&object, "D2")?;
        let reason = |name: &str| {
            let text = object.get(name).and_then(StrictJson::as_text);
            text.map(|text| text.trim().to_owned())
                .ok_or(ReviewProblem::NoReason)
        };
        let (strengths, weaknesses) = (reason("strengths")?, reason("weaknesses")?);
        if strengths.is_empty() && weaknesses.is_empty() {
            return Err(ReviewProblem::NoReason);
        }
        Ok(Self {
            d1,
            d2,
            strengths,
            weaknesses,
            repairs: usize::from(was_fenced) + usize::from(first) + usize::from(second),
        })
    }
}

/// What a fence holds where the whole reply is one, and whether it is.
fn unfenced(reply: &str) -> (&str, bool) {
    let inner = reply
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .and_then(|rest| rest.split_once('\n'))
        .filter(|(kind, _)| matches!(kind.trim(), "" | "json" | "JSON"));
    inner.map_or((reply, false), |(_, inner)| (inner, true))
}

/// A mark, and whether it was a text.
fn mark(object: &StrictJson, name: &'static str) -> Result<(u8, bool), ReviewProblem> {
    let value = object.get(name).ok_or(ReviewProblem::Mark(name))?;
    let mut marks = 1..=MARK_MAX;
    let found = match (value.as_number(), value.as_text()) {
        (Some(number), _) => {
            let is_it = |mark: &u8| f64::from(*mark).to_bits() == number.to_bits();
            marks.find(is_it).map(|mark| (mark, false))
        }
        (None, Some(text)) => {
            let is_it = |mark: &u8| mark.to_string() == text.trim();
            marks.find(is_it).map(|mark| (mark, true))
        }
        (None, None) => None,
    };
    found.ok_or(ReviewProblem::Mark(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(d1: &str, d2: &str) -> String {
        format!("{{\"D1\": {d1}, \"D2\": {d2}, \"strengths\": \"clear\", \"weaknesses\": \"\"}}")
    }

    #[test]
    fn marks_are_whole_numbers_from_one_to_ten() {
        for (mark, found) in [("1", 1), ("10", 10), ("7", 7), ("7.0", 7)] {
            let read = ReviewReply::parse(&reply(mark, "2")).unwrap();
            assert_eq!((read.d1, read.d2, read.repairs), (found, 2, 0), "{mark}");
        }
        for mark in [
            "0", "11", "7.5", "-1", "true", "null", "\"8/10\"", "\"0\"", "\"7.5\"", "[8]", "1e1000",
        ] {
            let problem = ReviewReply::parse(&reply("3", mark)).unwrap_err();
            let wanted = if mark == "1e1000" {
                ReviewProblem::NotJson
            } else {
                ReviewProblem::Mark("D2")
            };
            assert_eq!(problem, wanted, "{mark}");
        }
    }

    #[test]
    fn a_mark_as_a_text_and_a_fence_are_repairs() {
        let read = ReviewReply::parse(&reply("\"8\"", "\" 9 \"")).unwrap();
        assert_eq!((read.d1, read.d2, read.repairs), (8, 9, 2));
        let fenced = format!("\n```json\n{}\n```\n", reply("4", "5"));
        let read = ReviewReply::parse(&fenced).unwrap();
        assert_eq!((read.d1, read.d2, read.repairs), (4, 5, 1));
    }

    #[test]
    fn what_is_no_review_is_named() {
        for (reply, problem) in [
            ("I would give it 8.", ReviewProblem::NotJson),
            ("[8, 8]", ReviewProblem::NotJson),
            ("{\"D1\": 8, \"D1\": 9, \"D2\": 1}", ReviewProblem::NotJson),
            ("{\"D1\": 8}", ReviewProblem::Mark("D2")),
            (
                "{\"D1\": 8, \"D2\": 8, \"strengths\": \" \", \"weaknesses\": \"\"}",
                ReviewProblem::NoReason,
            ),
            (
                "{\"D1\": 8, \"D2\": 8, \"strengths\": \"x\"}",
                ReviewProblem::NoReason,
            ),
            (
                "Here: {\"D1\": 8, \"D2\": 8, \"strengths\": \"x\", \"weaknesses\": \"y\"}",
                ReviewProblem::NotJson,
            ),
        ] {
            assert_eq!(ReviewReply::parse(reply), Err(problem), "{reply}");
            assert!(!problem.to_string().is_empty() && !problem.code().contains(' '));
        }
    }
}
