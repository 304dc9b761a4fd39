//! Traces of a version as its record keeps them: signals and positions as letters, exposures, and the equity of the long run.

use crate::bars::StrategyBars;
use crate::candidate::CandidateLogs;
use crate::likeness::RunLikeness;
use crate::scenario::LONG_RUN;
use crate::trace::candidate_tokens;
use crate::version_drift::StrategyTraces;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The greatest exposure and the greatest equity that a record holds; what is beyond counts as this much.
const GREATEST: f64 = 1e15;

/// The letters of a signal, and of a position.
const SIGNALS: [(&str, char); 6] = [
    ("NONE", '.'),
    ("LONG", 'L'),
    ("SHORT", 'S'),
    ("ADD", 'A'),
    ("REBALANCE", 'R'),
    ("EXIT", 'X'),
];
const POSITIONS: [(&str, char); 3] = [("FLAT", '_'), ("LONG", '+'), ("SHORT", '-')];
/// What the letters of a trace mean.
pub const TRACE_LETTERS: &str =
    "signals: . none, L long, S short, A add, R rebalance, X exit; positions: _ flat, + long, - short";

/// What a reference does on all bars of a task.
#[derive(Debug, Clone, Default)]
pub struct ReferenceRun {
    /// Its traces.
    pub traces: StrategyTraces,
    /// Equity after each bar of the long run.
    pub equity: Vec<f64>,
    /// Its logs.
    pub logs: BTreeMap<String, CandidateLogs>,
}

impl ReferenceRun {
    /// Adds what it did on the bars of this name.
    pub fn add(&mut self, name: &str, logs: CandidateLogs) {
        if name == LONG_RUN {
            self.equity = equity_of(&logs);
        }
        self.traces.insert(name.to_owned(), candidate_tokens(&logs.bars));
        self.logs.insert(name.to_owned(), logs);
    }

    /// How alike a version is to it on the bars of this name; none without a reference.
    #[must_use]
    pub fn likeness(
        &self,
        (name, market): (&str, &StrategyBars),
        version: &CandidateLogs,
    ) -> Option<RunLikeness> {
        let own = self.logs.get(name)?;
        Some(RunLikeness::of(own, version, market))
    }
}

/// What a program did on the bars of one market, one value a bar.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarTrace {
    /// A letter a signal; `?` for a word that no document has.
    pub signals: String,
    /// A letter a position.
    pub positions: String,
    /// Tenths of the equity that are invested, half up; none where the log says no number.
    pub exposure: Vec<Option<i64>>,
    /// Equity after the bar in whole units of account; of the long run alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equity: Vec<Option<i64>>,
}

/// What the reference strategy and a version did on the bars of one market.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarketTrace {
    /// The scenario, or the long run.
    pub market: String,
    /// The reference strategy, with the parameters of the version's card.
    pub reference: BarTrace,
    /// The version; without bars where it does not run on this market.
    pub version: BarTrace,
}

impl BarTrace {
    /// The trace of a program's tokens, without its equity.
    #[must_use]
    pub fn of(tokens: &[String]) -> Self {
        let read: Vec<(char, char, Option<i64>)> = tokens.iter().map(|token| token_parts(token)).collect();
        Self {
            signals: read.iter().map(|(signal, _, _)| signal).collect(),
            positions: read.iter().map(|(_, position, _)| position).collect(),
            exposure: read.iter().map(|(_, _, exposure)| *exposure).collect(),
            equity: Vec::new(),
        }
    }

    fn with_equity(self, equity: impl Iterator<Item = f64>) -> Self {
        let equity = equity.map(|equity| whole(equity.round())).collect();
        Self { equity, ..self }
    }
}

impl MarketTrace {
    /// Bars of the longer trace.
    #[must_use]
    pub fn bars(&self) -> usize {
        let lengths =
            [&self.reference, &self.version].map(|trace| trace.signals.len().max(trace.equity.len()));
        lengths.into_iter().max().unwrap_or(0)
    }

    /// The traces of a version on all markets: the scenarios by name, then the long run with its equity. Without a reference its
    /// traces are empty.
    #[must_use]
    pub fn of_version(
        reference: &ReferenceRun,
        (version, long_run): (&StrategyTraces, &CandidateLogs),
    ) -> Vec<Self> {
        let names: BTreeSet<&String> = reference.traces.keys().chain(version.keys()).collect();
        let scenarios = names.into_iter().map(String::as_str);
        let names = scenarios.filter(|name| *name != LONG_RUN).chain([LONG_RUN]);
        let of = |traces: &StrategyTraces, name: &str| {
            traces
                .get(name)
                .map_or_else(BarTrace::default, |tokens| BarTrace::of(tokens))
        };
        let markets = names.map(|name| {
            let (reference_trace, version) = (of(&reference.traces, name), of(version, name));
            let (reference, version) = if name == LONG_RUN {
                let own = equity_of(long_run);
                (
                    reference_trace.with_equity(reference.equity.iter().copied()),
                    version.with_equity(own.into_iter()),
                )
            } else {
                (reference_trace, version)
            };
            Self {
                market: name.to_owned(),
                reference,
                version,
            }
        });
        markets.collect()
    }
}

/// Letters of signal and position, and tenths of exposure, of a token `bar|signal|position|exposure`.
fn token_parts(token: &str) -> (char, char, Option<i64>) {
    let parts: Vec<&str> = token.split('|').collect();
    let [_, signal, position, exposure] = parts.as_slice() else {
        // A word of the program holds the separator: no document has such a word.
        return ('?', '?', None);
    };
    let exposure = exposure
        .parse()
        .ok()
        .and_then(|exposure: f64| whole((exposure * 10.0).round()));
    (letter(signal, &SIGNALS), letter(position, &POSITIONS), exposure)
}

/// The letter of a word; `?` for what no document has.
fn letter(word: &str, letters: &[(&str, char)]) -> char {
    let known = letters.iter().find(|(name, _)| *name == word);
    known.map_or('?', |(_, letter)| *letter)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number within 10^15, both ways"
)]
fn whole(value: f64) -> Option<i64> {
    (!value.is_nan()).then(|| value.clamp(-GREATEST, GREATEST) as i64)
}

/// Equity after each bar; no number where the log says none.
#[must_use]
pub fn equity_of(logs: &CandidateLogs) -> Vec<f64> {
    let bars = &logs.bars;
    let rows = 0..bars.len();
    rows.map(|row| bars.number("equity", row).unwrap_or(f64::NAN))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traces(long: &[&str]) -> StrategyTraces {
        let tokens = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let short = tokens(&["0|NONE|FLAT|0.0"]);
        [(LONG_RUN.to_owned(), tokens(long)), ("zigzag".to_owned(), short)]
            .into_iter()
            .collect()
    }

    #[test]
    fn a_trace_is_letters_tenths_and_whole_units() {
        let reference = traces(&["0|NONE|FLAT|0.0", "1|LONG|LONG|1.0"]);
        let program = traces(&[
            "0|BUY|LONG|?",
            "1|LONG|SHORT|0.9",
            "2|a|b|FLAT|0.0",
            "3|EXIT|FLAT|inf",
        ]);
        let made = MarketTrace::of_version(
            &ReferenceRun {
                traces: reference,
                equity: vec![100_000.4, f64::NAN],
                ..ReferenceRun::default()
            },
            (&program, &CandidateLogs::default()),
        );
        let names: Vec<&str> = made.iter().map(|trace| trace.market.as_str()).collect();
        assert_eq!(names, ["zigzag", LONG_RUN]);
        let long = made.last().unwrap();
        assert_eq!(
            (long.reference.signals.as_str(), long.reference.positions.as_str()),
            (".L", "_+")
        );
        assert_eq!(long.reference.equity, [Some(100_000), None]);
        assert_eq!(
            (long.version.signals.as_str(), long.version.positions.as_str()),
            ("?L?X", "+-?_")
        );
        assert_eq!(
            long.version.exposure,
            [None, Some(9), None, Some(1_000_000_000_000_000)]
        );
        let text = serde_json::to_string(made.first().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<MarketTrace>(&text).unwrap(), made[0]);
        assert!(!text.contains("equity"), "{text}");
    }
}
