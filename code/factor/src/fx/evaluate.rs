//! Computes the steps of a definition, one after the other.

use super::calendar::{past_period, period_so_far, same_weekday};
use super::element::{Cells, all_hold, any_holds, between, binary, each, each_pair, unary, when};
use super::moments::pairs;
use super::node::{BarSeries, Node, NodeId, Scan};
use super::ordered::shares;
use super::past::{expanding, running, smoothed};
use super::rolling::{rolling, weighted};
use super::spread_divisor::SpreadDivisor;
use super::state::state;
use crate::bars::FactorBars;
use crate::fx_error::{FxError, FxFault};

/// The values of the result, one a row.
pub(super) fn evaluate(
    nodes: &[Node],
    result: NodeId,
    bars: &FactorBars,
    divisor: SpreadDivisor,
) -> Result<Vec<f64>, FxError> {
    let mut evaluation = Evaluation {
        bars,
        divisor,
        values: Vec::with_capacity(nodes.len()),
    };
    for node in nodes {
        let value = evaluation.value(node)?;
        evaluation.values.push(value);
    }
    Ok(evaluation.series(result))
}

struct Evaluation<'a> {
    bars: &'a FactorBars,
    divisor: SpreadDivisor,
    values: Vec<Cells>,
}

const NOTHING: &Cells = &Cells::Number(f64::NAN);

impl Evaluation<'_> {
    fn cells(&self, place: NodeId) -> &Cells {
        self.values.get(place).unwrap_or(NOTHING)
    }

    fn series(&self, place: NodeId) -> Vec<f64> {
        self.cells(place).series(self.bars.rows())
    }

    /// A function of a step's values, one a row, without a copy where they are a series already.
    fn with<T>(&self, place: NodeId, of: impl FnOnce(&[f64]) -> T) -> T {
        match self.cells(place) {
            Cells::Series(series) => of(series),
            Cells::Number(value) => of(&vec![*value; self.bars.rows()]),
        }
    }

    fn value(&self, node: &Node) -> Result<Cells, FxError> {
        Ok(match node {
            Node::Number(value) => Cells::Number(*value),
            Node::Missing => Cells::Number(f64::NAN),
            Node::Bars(series) => Cells::Series(self.bar_series(*series).to_vec()),
            Node::Negated(of) => each(self.cells(*of), |cell| -cell),
            Node::Between(sign, left, right) => between(*sign, self.cells(*left), self.cells(*right)),
            Node::Unary(kind, of) => unary(*kind, self.cells(*of)),
            Node::Binary(kind, left, right) => binary(*kind, self.cells(*left), self.cells(*right)),
            Node::All(of) => all_hold(of.iter().map(|place| self.cells(*place))),
            Node::Any(of) => any_holds(of.iter().map(|place| self.cells(*place))),
            Node::When(condition, chosen, other) => {
                when(self.cells(*condition), self.cells(*chosen), self.cells(*other))
            }
            Node::Lag(of, lag) => Cells::Series(self.lagged(*of, *lag)),
            Node::Delta(of, lag) => {
                let before = Cells::Series(self.lagged(*of, *lag));
                each_pair(self.cells(*of), &before, |now, then| now - then)
            }
            Node::Return(of, lag) => {
                let before = Cells::Series(self.lagged(*of, *lag));
                each_pair(self.cells(*of), &before, |now, then| now / then - 1.0)
            }
            Node::Scan(scan) => Cells::Series(self.scan(scan)?),
        })
    }

    /// What reads several rows.
    fn scan(&self, scan: &Scan) -> Result<Vec<f64>, FxError> {
        let days = self.bars.days();
        Ok(match scan {
            Scan::Rolling(kind, of, rows) => {
                self.with(*of, |series| rolling(*kind, series, *rows, self.divisor))
            }
            Scan::Share(kind, of, rows, share) => self.with(*of, |series| shares(*kind, series, *rows, *share)),
            Scan::Pair(kind, left, right, rows) => self.with(*left, |first| {
                self.with(*right, |second| pairs(*kind, first, second, *rows, self.divisor))
            }),
            Scan::Weighted(of, weights) => self.with(*of, |series| weighted(series, weights)),
            Scan::Smoothed { of, weight, at } => self.with(*of, |series| smoothed(series, *weight)).map_err(|row| {
                let hint = format!("row {row} has no value after the first one: a recursion needs all; fill the gap, for example with when(...)");
                FxError::new(FxFault::Gap, *at, "", hint)
            })?,
            Scan::Running(kind, of) => self.with(*of, |series| running(*kind, series)),
            Scan::Expanding(kind, of, least) => match of.as_slice() {
                [first, second] => self.with(*first, |first| {
                    self.with(*second, |second| expanding(*kind, first, Some(second), *least, self.divisor))
                }),
                [first, ..] => self.with(*first, |first| expanding(*kind, first, None, *least, self.divisor)),
                [] => Vec::new(),
            },
            Scan::State(kind, of) => match of.as_slice() {
                [first, second] => self.with(*first, |first| self.with(*second, |second| state(*kind, first, second))),
                [first, ..] => self.with(*first, |first| state(*kind, first, &[])),
                [] => Vec::new(),
            },
            Scan::PastPeriod(of, period, kind) => self.with(*of, |series| past_period(series, days, *period, *kind)),
            Scan::PeriodSoFar(of, period, kind) => {
                self.with(*of, |series| period_so_far(series, days, *period, *kind))
            }
            Scan::SameWeekday(of, least) => self.with(*of, |series| same_weekday(series, days, *least)),
        })
    }

    fn lagged(&self, of: NodeId, lag: usize) -> Vec<f64> {
        let rows = self.bars.rows();
        self.with(of, |series| {
            let missing = std::iter::repeat_n(f64::NAN, lag.min(rows));
            missing.chain(series.iter().copied()).take(rows).collect()
        })
    }

    fn bar_series(&self, series: BarSeries) -> &[f64] {
        match series {
            BarSeries::Open => self.bars.open(),
            BarSeries::High => self.bars.high(),
            BarSeries::Low => self.bars.low(),
            BarSeries::Close => self.bars.close(),
            BarSeries::Volume => self.bars.volume(),
        }
    }
}
