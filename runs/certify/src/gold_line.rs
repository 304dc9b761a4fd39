//! The answer key of a probe as a line, in real codes and dates.

use crate::CertifyError;
use ktd_env::{Board, Market, Ticker, TradeDate};
use ktd_probes::judge::ChanceParts;
use ktd_probes::{Gold, Measure, ProbeKind, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Line of an answer key, `private/gold.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldLine {
    /// The probe's kind.
    pub kind: ProbeKind,
    /// Its place among the probes of its kind, from 0.
    pub number: usize,
    /// Place of the stretch that it was drawn from.
    #[serde(default)]
    pub stretch: usize,
    /// What is behind each exhibit.
    pub targets: Vec<TargetLine>,
    /// What the attacker `random` recovers of each measure that is asked, in parts of [`CHANCE_PARTS`](ktd_probes::judge::CHANCE_PARTS): exact
    /// expectations. Whoever gives a set leaves it out.
    #[serde(default)]
    pub chance: BTreeMap<Measure, u64>,
    /// The same of the best guess that looks at nothing but the board: what all others are measured against.
    #[serde(default)]
    pub blind: BTreeMap<Measure, u64>,
}

/// Target of an exhibit: the stock and the day behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetLine {
    /// Its real code.
    pub stock: String,
    /// The as-of day of the last step shown.
    pub day: String,
    /// The day's place in the panel's calendar, from 0, so that distances can be counted without the panel. It and what
    /// follows come from the panel: whoever gives a set leaves them out.
    #[serde(default)]
    pub place: usize,
    /// The stock's board.
    #[serde(default)]
    pub board: String,
    /// The stock's sector, where the panel has sectors.
    #[serde(default)]
    pub sector: Option<String>,
}

/// The name that a board has in files.
#[must_use]
pub fn board_label(board: Board) -> &'static str {
    board.label()
}

/// The sector at a place of the panel's list.
#[must_use]
pub fn sector_label(market: &Market, sector: Option<u16>) -> Option<String> {
    market.sectors().get(usize::from(sector?)).cloned()
}

impl GoldLine {
    /// The line of an answer key, with what chance recovers.
    #[must_use]
    pub fn of(
        market: &Market,
        (kind, number): (ProbeKind, usize),
        gold: &Gold,
        chance: &ChanceParts,
    ) -> Self {
        let target = |target: &Target| TargetLine {
            stock: market
                .name(target.name)
                .map(|info| info.ticker.reveal().to_owned())
                .unwrap_or_default(),
            day: market.date(target.day).map(TradeDate::reveal).unwrap_or_default(),
            place: target.day.index(),
            board: board_label(target.board).to_owned(),
            sector: sector_label(market, target.sector),
        };
        Self {
            kind,
            number,
            stretch: gold.stretch,
            targets: gold.targets.iter().map(target).collect(),
            chance: chance.random.clone(),
            blind: chance.blind.clone(),
        }
    }

    /// Whether the two exhibits of a linked probe show the same stock; `None` of any other probe.
    #[must_use]
    pub fn is_same(&self) -> Option<bool> {
        match self.targets.as_slice() {
            [first, second] => Some(first.stock == second.stock),
            [] | [_] | [_, _, ..] => None,
        }
    }

    /// The answer key of the line on a panel.
    ///
    /// # Errors
    /// [`CertifyError::File`] naming the line whose stock or day the panel has not.
    pub fn gold(&self, path: &Path, line: usize, market: &Market) -> Result<Gold, CertifyError> {
        let wrong = |what: String| CertifyError::damaged(path, format!("line {line}: {what}"));
        let target = |target: &TargetLine| {
            let ticker = Ticker::parse(&target.stock).map_err(|error| wrong(error.to_string()))?;
            let name = market
                .find(ticker)
                .ok_or_else(|| wrong(format!("the panel has no {}", target.stock)))?;
            let date = TradeDate::parse(&target.day).map_err(|error| wrong(error.to_string()))?;
            let day = market
                .day(date)
                .ok_or_else(|| wrong(format!("{} is no trading day of the panel", target.day)))?;
            Ok(Target {
                name,
                day,
                board: market.board(name),
                sector: market.name(name).and_then(|info| info.sector),
            })
        };
        Ok(Gold {
            stretch: self.stretch,
            targets: self
                .targets
                .iter()
                .map(target)
                .collect::<Result<_, CertifyError>>()?,
        })
    }
}

/// Whether lines are the answer keys of so many probes of each kind, in order.
///
/// # Errors
/// [`CertifyError::File`] naming the first line that is not.
pub fn check_order(
    path: &Path,
    lines: &[GoldLine],
    counts: &BTreeMap<ProbeKind, usize>,
) -> Result<(), CertifyError> {
    let expected = ProbeKind::ALL
        .into_iter()
        .flat_map(|kind| (0..counts.get(&kind).copied().unwrap_or(0)).map(move |number| (kind, number)));
    let mut expected = expected.enumerate();
    for (place, line) in lines.iter().enumerate() {
        let wrong = |what: String| CertifyError::damaged(path, format!("line {}: {what}", place + 1));
        let Some((_, (kind, number))) = expected.next() else {
            return Err(wrong(format!(
                "{} probe {} is not in the set",
                line.kind.label(),
                line.number
            )));
        };
        if line.kind != kind || line.number != number {
            return Err(wrong(format!(
                "it is of {} probe {}, not of {} probe {number}",
                line.kind.label(),
                line.number,
                kind.label()
            )));
        }
        let targets = if kind == ProbeKind::Linked { 2 } else { 1 };
        if line.targets.len() != targets {
            return Err(wrong(format!(
                "it has {} targets, not {targets}",
                line.targets.len()
            )));
        }
    }
    match expected.next() {
        None => Ok(()),
        Some((place, (kind, number))) => {
            let what = format!("line {}: {} probe {number} has no line", place + 1, kind.label());
            Err(CertifyError::damaged(path, what))
        }
    }
}
