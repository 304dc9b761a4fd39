//! What programs earn on real bars, beside the reference.

use crate::audit::{broken_trace, misplaced_row};
use crate::bars::{AssetBars, BarTime, StrategyBars};
use crate::book::INITIAL_CAPITAL;
use crate::candidate::CandidateLogs;
use crate::earnings::{FillPrice, RunEarnings};
use crate::equity_check::unaccounted_equity;
use crate::figures::COSTS_BPS;
use crate::hash::sha256_hex;
use crate::indicators::count;
use crate::parameters::{ParameterValue, Parameters};
use crate::reference::{DocumentId, run_reference};
use crate::session_returns::session_returns;
use chrono::{Days, NaiveDate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The split that no model ever sees a figure of.
const TEST: &str = "test";
/// The parameter that names the stamp of a session's last bar.
const SESSION_END: &str = "session_end";

/// What a run earned at one fill.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillRow {
    /// Total return at each of the costs, 0 to 20 basis points a side.
    pub returns: [f64; COSTS_BPS.len()],
    /// Sharpe ratio without costs.
    pub sharpe: Option<f64>,
    /// Deepest drawdown without costs.
    pub max_drawdown: f64,
    /// Closed trades.
    pub trades: usize,
    /// Share of trades with a profit.
    pub win_rate: Option<f64>,
    /// Value traded a year over mean equity.
    pub turnover: f64,
    /// Cost at which the trades earn nothing.
    pub break_even_bps: Option<f64>,
}

/// What a run earned at both fills.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarnedRow {
    /// At the close that gave the signal.
    pub own_close: FillRow,
    /// At the open after.
    pub next_open: FillRow,
    /// Profit over capital that the own close pretends.
    pub pretended: f64,
}

/// A program and the reference on one series of real bars.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RealRow {
    /// `train` or `test`.
    pub split: String,
    /// Symbols of the series.
    pub symbols: Vec<String>,
    /// Its bars.
    pub bars: usize,
    /// What the program earned.
    pub program: Option<EarnedRow>,
    /// Why it earned nothing that can be counted.
    pub fault: Option<String>,
    /// What the reference earned with the card's parameters.
    pub reference: Option<EarnedRow>,
    /// Why a reference of one's own earned nothing that can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_fault: Option<String>,
}

/// One iteration on real bars.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RealVersion {
    /// Its number, from 0.
    pub iteration: usize,
    /// Series by split; none for a program that does not run on the long run.
    pub rows: Vec<RealRow>,
    /// Returns by session of the test split, the mean over the series that have a bar on it, at the next open and without costs;
    /// none where a series of it cannot be counted.
    pub test_returns: Option<Vec<f64>>,
    /// Why the strategy has no series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
}

/// What runs beside a program on real bars.
#[derive(Debug)]
pub enum RealReference {
    /// A strategy of the benchmark.
    BuiltIn(DocumentId),
    /// A program of one's own: its logs on each series, or why it has none.
    Program(Vec<Result<CandidateLogs, String>>),
    /// Nothing.
    None,
}

/// One series of real bars as programs see it: on weekdays from the first day of the scenarios on, so that a program cannot know of
/// which year they are.
#[derive(Debug)]
pub struct RealMarket {
    split: &'static str,
    symbols: Vec<String>,
    /// Its sessions, in order; programs see others.
    days: Vec<String>,
    bars: StrategyBars,
}

impl RealMarket {
    /// A series of some symbols in a split.
    #[must_use]
    pub fn new(split: &'static str, symbols: Vec<String>, bars: StrategyBars) -> Self {
        let mut days: Vec<String> = bars.times().iter().map(|time| time.day().to_owned()).collect();
        days.dedup();
        Self {
            split,
            symbols,
            days,
            bars: undated(bars),
        }
    }

    /// Its bars as programs see them.
    #[must_use]
    pub const fn bars(&self) -> &StrategyBars {
        &self.bars
    }

    /// SHA-256 over everything that programs are given of some series.
    #[must_use]
    pub fn hash_of(markets: &[Self]) -> String {
        let mut bytes = Vec::new();
        for own in markets {
            bytes.extend(format!("{}\0{}\0", own.split, own.symbols.join("\0")).bytes());
            for (symbol, bars) in &own.bars.assets {
                bytes.extend(format!("{symbol}\0{}\0", bars.len()).bytes());
                bytes.extend(bars.times.iter().flat_map(|time| time.as_str().bytes()));
                let columns = [&bars.open, &bars.high, &bars.low, &bars.close, &bars.volume];
                for column in columns.into_iter().chain(bars.further.values()) {
                    bytes.extend(column.iter().flat_map(|value| value.to_bits().to_le_bytes()));
                }
            }
        }
        sha256_hex(&bytes)
    }

    /// Returns by session of a program; none where they cannot be counted.
    fn returns(&self, logs: &CandidateLogs) -> Option<Vec<f64>> {
        let returns = session_returns(logs, &self.bars, INITIAL_CAPITAL).ok()?;
        (returns.len() == self.days.len()).then_some(returns)
    }

    /// What a program's logs earned.
    fn earned(&self, outcome: Result<CandidateLogs, String>) -> Result<EarnedRow, String> {
        let earned = outcome.and_then(|logs| RunEarnings::of_candidate(&logs, &self.bars, INITIAL_CAPITAL));
        earned.and_then(|earned| EarnedRow::of(&earned))
    }

    /// Logs that can be counted, or why there are none.
    fn counted(&self, outcome: Result<CandidateLogs, String>) -> Result<CandidateLogs, String> {
        outcome.and_then(|logs| uncountable(&logs, &self.bars).map_or(Ok(logs), Err))
    }

    /// What a strategy of the benchmark earned.
    fn built_in(&self, id: DocumentId, parameters: &Parameters) -> Result<EarnedRow, String> {
        let logs =
            run_reference(id, parameters, &self.bars, INITIAL_CAPITAL).map_err(|error| error.to_string())?;
        let earned = RunEarnings::of_reference(&logs, &self.bars, INITIAL_CAPITAL);
        EarnedRow::of(&earned.ok_or_else(|| format!("{id} has no bar"))?)
    }

    fn row(
        &self,
        outcome: Result<CandidateLogs, String>,
        reference: Option<Result<EarnedRow, String>>,
    ) -> RealRow {
        let earned = self.earned(outcome);
        let reference = reference.transpose();
        RealRow {
            split: self.split.to_owned(),
            symbols: self.symbols.clone(),
            bars: self.bars.times().len(),
            fault: earned.as_ref().err().cloned(),
            program: earned.ok(),
            reference_fault: reference.as_ref().err().cloned(),
            reference: reference.ok().flatten(),
        }
    }
}

impl RealVersion {
    /// What an iteration came to on these series: a program's logs on each, or why it has none, and the reference with the values of
    /// its card.
    ///
    /// # Errors
    /// A sentence where a reference of the benchmark cannot run on a series.
    pub fn of(
        iteration: usize,
        (markets, outcomes): (&[RealMarket], Vec<Result<CandidateLogs, String>>),
        (reference, parameters): (RealReference, &Parameters),
    ) -> Result<Self, String> {
        let mut beside: Vec<Option<Result<EarnedRow, String>>> = match reference {
            RealReference::None => Vec::new(),
            RealReference::BuiltIn(id) => {
                let earned = markets
                    .iter()
                    .map(|own| own.built_in(id, parameters).map(Ok).map(Some));
                earned.collect::<Result<_, String>>()?
            }
            RealReference::Program(outcomes) => {
                let earned = markets.iter().zip(outcomes);
                earned
                    .map(|(own, outcome)| Some(own.earned(own.counted(outcome))))
                    .collect()
            }
        };
        beside.resize_with(markets.len(), || None);
        let mut returns = Some(SplitReturns::default());
        let mut rows = Vec::with_capacity(markets.len());
        for ((own, outcome), beside) in markets.iter().zip(outcomes).zip(beside) {
            let outcome = own.counted(outcome);
            if own.split == TEST {
                let counted = outcome.as_ref().ok().and_then(|logs| own.returns(logs));
                returns = returns
                    .zip(counted)
                    .map(|(sums, counted)| sums.with(&own.days, &counted));
            }
            rows.push(own.row(outcome, beside));
        }
        Ok(Self {
            rows,
            test_returns: returns.and_then(SplitReturns::means),
            ..Self::without(iteration, None)
        })
    }

    /// An iteration without a series, and why the strategy has none; no reason for a program that does not run.
    #[must_use]
    pub const fn without(iteration: usize, absent: Option<String>) -> Self {
        Self {
            iteration,
            rows: Vec::new(),
            test_returns: None,
            absent,
        }
    }
}

/// Why the logs of a run cannot be counted; `None` where every figure of them can be traced to trades and bars. The equity is
/// the program's own word, and a program may find out that its bars are none of the scenarios that its logs are judged on.
fn uncountable(logs: &CandidateLogs, market: &StrategyBars) -> Option<String> {
    misplaced_row(&logs.bars, market)
        .or_else(|| broken_trace(logs, market, INITIAL_CAPITAL).map(|broken| broken.to_string()))
        .or_else(|| unaccounted_equity(logs, market, INITIAL_CAPITAL))
}

/// Sums of returns and how many there are, by day.
#[derive(Debug, Default)]
struct SplitReturns(BTreeMap<String, (f64, usize)>);

impl SplitReturns {
    /// With another series.
    fn with(mut self, days: &[String], returns: &[f64]) -> Self {
        for (day, change) in days.iter().zip(returns) {
            let (sum, count) = self.0.entry(day.clone()).or_default();
            *sum += change;
            *count += 1;
        }
        self
    }

    /// Means, in the order of the days; none without a day.
    fn means(self) -> Option<Vec<f64>> {
        let means: Vec<f64> = self
            .0
            .into_values()
            .map(|(sum, days)| sum / count(days))
            .collect();
        (!means.is_empty()).then_some(means)
    }
}

impl EarnedRow {
    /// The row of earnings.
    ///
    /// # Errors
    /// A sentence for earnings that are no finite number, as after an equity of 0.
    fn of(earnings: &RunEarnings) -> Result<Self, String> {
        let at = |fill: FillPrice| {
            let free = earnings.free(fill);
            FillRow {
                returns: earnings.at(fill).each_ref().map(|figures| figures.total_return),
                sharpe: free.sharpe.filter(|sharpe| sharpe.is_finite()),
                max_drawdown: free.max_drawdown,
                trades: free.trades,
                win_rate: free.win_rate,
                turnover: free.turnover,
                break_even_bps: free.break_even_bps,
            }
        };
        let row = Self {
            own_close: at(FillPrice::OwnClose),
            next_open: at(FillPrice::NextOpen),
            pretended: earnings.pretended,
        };
        let fills = [&row.own_close, &row.next_open];
        let is_finite = fills.iter().all(|fill| {
            let figures = [
                fill.max_drawdown,
                fill.turnover,
                fill.break_even_bps.unwrap_or(0.0),
            ];
            fill.returns
                .iter()
                .chain(&figures)
                .all(|figure| figure.is_finite())
        });
        if is_finite && row.pretended.is_finite() {
            Ok(row)
        } else {
            Err("the figures are not finite: the equity or a price reaches 0".to_owned())
        }
    }
}

/// Parameters with the end of the sessions that the bars have, where the document names one.
#[must_use]
pub fn with_session_end(parameters: &Parameters, session_end: &str) -> Parameters {
    Parameters::new(parameters.iter().map(|(name, value)| {
        let own = (name == SESSION_END).then(|| ParameterValue::Text(session_end.to_owned()));
        (name.to_owned(), own.unwrap_or_else(|| value.clone()))
    }))
}

/// The same bars, each session on a weekday of its own from Monday, 2021-01-04, on: the first day of the scenarios too, so that it
/// does not tell both apart.
fn undated(market: StrategyBars) -> StrategyBars {
    let monday = NaiveDate::from_ymd_opt(2021, 1, 4).unwrap_or_default();
    let mut sessions = 0;
    let mut before = String::new();
    let times: Vec<BarTime> = market
        .times()
        .iter()
        .filter_map(|time| {
            if time.day() != before {
                sessions += u64::from(!before.is_empty());
                time.day().clone_into(&mut before);
            }
            let day = monday.checked_add_days(Days::new(sessions / 5 * 7 + sessions % 5))?;
            BarTime::parse(&format!("{}T{}:00", day.format("%Y-%m-%d"), time.clock()))
        })
        .collect();
    let assets = market.assets.into_iter().map(|(symbol, bars)| {
        let times = times.clone();
        (symbol, AssetBars { times, ..bars })
    });
    StrategyBars {
        assets: assets.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::StrategyDocument;
    use crate::logs::{PositionState, StrategyLogs};
    use crate::scenario::{LONG_RUN, scenarios};

    #[test]
    fn returns_of_a_day_are_the_mean_over_the_series_that_have_it() {
        let days = |days: &[&str]| days.iter().map(|day| (*day).to_owned()).collect::<Vec<String>>();
        let returns = SplitReturns::default()
            .with(&days(&["2025-01-02", "2025-01-06"]), &[0.25, 0.5])
            .with(&days(&["2025-01-03", "2025-01-06"]), &[-0.5, 0.25]);
        assert_eq!(returns.means(), Some(vec![0.25, -0.5, 0.375]));
        assert_eq!(SplitReturns::default().means(), None);
    }

    /// The long run of a document without its dates, and what its reference logs.
    fn long_run(id: DocumentId) -> (StrategyDocument, StrategyBars, StrategyLogs) {
        let document = StrategyDocument::built_in(id).unwrap();
        let parameters = document.default_parameters();
        let drawn = scenarios(id, &parameters, 7).unwrap();
        let long = drawn.into_iter().find(|scenario| scenario.name == LONG_RUN);
        let market = undated(long.unwrap().market);
        let logs = run_reference(id, &parameters, &market, INITIAL_CAPITAL).unwrap();
        (document, market, logs)
    }

    #[test]
    fn logs_count_where_bars_and_trades_bear_them_out_as_those_of_every_reference() {
        for id in DocumentId::ALL {
            let (document, market, logs) = long_run(id);
            let of = |logs: &StrategyLogs| {
                uncountable(&CandidateLogs::of_reference(logs, &document.columns), &market)
            };
            assert_eq!(of(&logs), None, "{id}");
            // An equity of its own, with no trade and nothing held.
            let mut made_up = logs.clone();
            made_up.trades.clear();
            let mut equity = INITIAL_CAPITAL;
            for row in &mut made_up.bars {
                equity *= 1.001;
                row.equity = equity;
                row.exposure = 0.0;
                row.state = PositionState::Flat;
            }
            let found = of(&made_up).unwrap();
            assert!(found.contains("the logged trades make it"), "{id}: {found}");
            let mut short = logs.clone();
            short.bars.remove(1);
            assert!(of(&short).unwrap().contains("rows for"), "{id}");
        }
    }

    #[test]
    fn sessions_keep_their_order_and_lose_their_dates() {
        let stamp = |text: &str| BarTime::parse(text).unwrap();
        let times = [
            "2025-01-02T09:45:00",
            "2025-01-02T15:00:00",
            "2025-01-03T09:45:00",
            "2025-02-11T09:45:00",
        ];
        let bars = AssetBars {
            times: times.map(stamp).to_vec(),
            close: vec![1.0, 2.0, 3.0, 4.0],
            ..AssetBars::default()
        };
        let market = StrategyBars {
            assets: vec![("A".to_owned(), bars)],
        };
        let made = undated(market);
        let times: Vec<&str> = made.times().iter().map(BarTime::as_str).collect();
        assert_eq!(
            times,
            [
                "2021-01-04T09:45:00",
                "2021-01-04T15:00:00",
                "2021-01-05T09:45:00",
                "2021-01-06T09:45:00"
            ]
        );
        assert_eq!(made.assets[0].1.close, [1.0, 2.0, 3.0, 4.0]);
    }
}
