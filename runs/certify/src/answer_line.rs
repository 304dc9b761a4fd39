//! An attacker's answer as a line, in real codes and dates.

use super::gold_line::{GoldLine, board_label, sector_label};
use crate::CertifyError;
use crate::language_attackers::LanguageAnswer;
use ktd_env::{DayIndex, Market, NameId, TradeDate};
use ktd_probes::{Comparison, ProbeAnswer, ProbeKind, Stretch};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Line of an attacker's answers, `answers/ATTACKER.jsonl.zst`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerLine {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// The attacker's guess; none where it did not answer.
    pub answer: Option<RecordedGuess>,
    /// Why it did not answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// Guess in real codes and dates. What is left out counts as not recovered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedGuess {
    /// Real codes of its five best stocks, best first. A guess that names no stock is an empty text: it keeps its rank.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stocks: Vec<String>,
    /// Its best day.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub day: Option<String>,
    /// That day's place in the panel's calendar, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<usize>,
    /// Its best sector.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sector: Option<String>,
    /// Its best board.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<String>,
    /// Whether two exhibits show the same stock, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub same_stock: Option<bool>,
    /// How sure it is, 0 to 1, where it says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<f64>,
}

/// Why an attacker of the database did not answer.
const COULD_NOT_READ: &str = "could not read the probe";

impl AnswerLine {
    /// The line of an answer of a database attacker.
    #[must_use]
    pub fn of(market: &Market, (kind, number): (ProbeKind, usize), answer: Option<&ProbeAnswer>) -> Self {
        Self {
            kind,
            number,
            answer: answer.map(|answer| RecordedGuess::of(market, answer)),
            reason: answer.is_none().then(|| COULD_NOT_READ.to_owned()),
        }
    }

    /// The line of what a language model answered.
    #[must_use]
    pub fn of_language(market: &Market, found: &LanguageAnswer) -> Self {
        Self {
            reason: found.reason.clone(),
            ..Self::of(market, (found.kind, found.number), found.answer(market).as_ref())
        }
    }

    /// The place of the stretch that holds the day that was answered.
    #[must_use]
    pub fn named_stretch(&self, stretches: &[Stretch]) -> Option<usize> {
        let place = self.answer.as_ref()?.place?;
        stretches.iter().position(|stretch| stretch.contains(&place))
    }

    /// Comparison of the answer with the key of its probe.
    #[must_use]
    pub fn compare(&self, gold: &GoldLine) -> Comparison {
        let answer = self.answer.as_ref();
        let is_answered = answer.is_some();
        if let Some(is_same) = gold.is_same() {
            return Comparison {
                is_answered,
                is_same: Some(answer.and_then(|answer| answer.same_stock) == Some(is_same)),
                ..Comparison::default()
            };
        }
        let Some(target) = gold.targets.first() else {
            return Comparison::default();
        };
        let is_target = |stock: &String| *stock == target.stock;
        let board = answer.and_then(|answer| answer.board.as_ref());
        Comparison {
            is_answered,
            guess: answer.and_then(|answer| answer.stocks.iter().position(is_target)),
            days_apart: answer
                .and_then(|answer| answer.place)
                .map(|place| place.abs_diff(target.place)),
            is_sector: target
                .sector
                .as_ref()
                .map(|sector| answer.and_then(|answer| answer.sector.as_ref()) == Some(sector)),
            is_board: board == Some(&target.board),
            is_same: None,
        }
    }
}

impl RecordedGuess {
    fn of(market: &Market, answer: &ProbeAnswer) -> Self {
        let code = |guess: &Option<NameId>| {
            guess
                .and_then(|name| market.name(name))
                .map(|info| info.ticker.reveal().to_owned())
                .unwrap_or_default()
        };
        Self {
            stocks: answer
                .guesses()
                .iter()
                .take(ProbeAnswer::MOST_NAMES)
                .map(code)
                .collect(),
            day: answer.day.and_then(|day| market.date(day)).map(TradeDate::reveal),
            place: answer.day.map(DayIndex::index),
            sector: sector_label(market, answer.sector),
            board: answer.board.map(|board| board_label(board).to_owned()),
            same_stock: answer.is_same,
            confidence: answer.confidence,
        }
    }
}

/// Whether answers are those of the probes of some keys, in order.
///
/// # Errors
/// [`CertifyError::File`] naming the first line that is not.
pub fn check_order(path: &Path, answers: &[AnswerLine], gold: &[GoldLine]) -> Result<(), CertifyError> {
    let differs = answers
        .iter()
        .zip(gold)
        .position(|(answer, gold)| answer.kind != gold.kind || answer.number != gold.number);
    let line = match differs {
        Some(place) => place + 1,
        None if answers.len() == gold.len() => return Ok(()),
        None => answers.len().min(gold.len()) + 1,
    };
    let asked = gold.get(line - 1).map_or_else(
        || "no probe is left".to_owned(),
        |gold| format!("{} probe {} was put", gold.kind.label(), gold.number),
    );
    let given = answers.get(line - 1).map_or_else(
        || "no answer is left".to_owned(),
        |answer| format!("the answer is to {} probe {}", answer.kind.label(), answer.number),
    );
    Err(CertifyError::damaged(
        path,
        format!("line {line}: {asked}, but {given}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gold_line::TargetLine;
    use ktd_probes::{Measure, RecoveryTally};
    use std::collections::BTreeMap;

    fn key(targets: &[(&str, usize)]) -> GoldLine {
        let target = |(stock, place): &(&str, usize)| TargetLine {
            stock: (*stock).to_owned(),
            day: String::new(),
            place: *place,
            board: "MAIN".to_owned(),
            sector: Some("banks".to_owned()),
        };
        GoldLine {
            kind: ProbeKind::Day,
            number: 0,
            stretch: 0,
            targets: targets.iter().map(target).collect(),
            chance: BTreeMap::new(),
            blind: BTreeMap::new(),
        }
    }

    fn line(answer: Option<RecordedGuess>) -> AnswerLine {
        AnswerLine {
            kind: ProbeKind::Day,
            number: 0,
            answer,
            reason: None,
        }
    }

    #[test]
    fn guesses_are_judged_by_rank_and_distance() {
        let answer = RecordedGuess {
            stocks: ["", "b", "a"].map(str::to_owned).to_vec(),
            place: Some(70),
            sector: Some("banks".to_owned()),
            board: Some("STAR".to_owned()),
            ..RecordedGuess::default()
        };
        let found = line(Some(answer)).compare(&key(&[("a", 50)]));
        let mut tally = RecoveryTally::default();
        tally.count(&found, 19);
        tally.count(&line(None).compare(&key(&[("a", 50)])), 19);
        let counted = Measure::ALL.map(|measure| (tally.asked(measure), tally.hits(measure)));
        assert_eq!(
            counted,
            [
                (2, 0),
                (2, 1),
                (2, 0),
                (2, 1),
                (2, 1),
                (2, 0),
                (2, 1),
                (2, 0),
                (0, 0)
            ]
        );
        assert_eq!((tally.probes, tally.answered), (2, 1));
    }

    #[test]
    fn a_linked_probe_asks_one_thing() {
        let answer = RecordedGuess {
            same_stock: Some(false),
            ..RecordedGuess::default()
        };
        let mut tally = RecoveryTally::default();
        tally.count(&line(Some(answer)).compare(&key(&[("a", 1), ("b", 2)])), 20);
        assert_eq!((tally.asked(Measure::Same), tally.hits(Measure::Same)), (1, 1));
        assert_eq!(tally.asked(Measure::Top1), 0);
    }

    #[test]
    fn a_missing_answer_is_named() {
        let gold = [key(&[("a", 1)])];
        let error = check_order(Path::new("x"), &[], &gold).unwrap_err().to_string();
        assert!(
            error.contains("day probe 0 was put, but no answer is left"),
            "{error}"
        );
    }
}
