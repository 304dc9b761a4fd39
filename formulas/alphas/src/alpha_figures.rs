//! The figures of an alpha over the days of a split, by name.

use crate::day_series::DaySeries;
use crate::day_table::DayTable;
use crate::evaluation::{AlphaEvaluation, EvaluationSplit};
use crate::figure_row::FigureRow;
use crate::portfolio::PortfolioTest;
use ktd_stats::moments::{count, mean};
use ktd_stats::{TRADING_DAYS_PER_YEAR, Undefined, line_fit};
use std::collections::BTreeMap;

impl AlphaEvaluation {
    /// Adds all figures; those of the label of the other kind have its name at their end.
    pub fn add_figures(&self, row: &mut FigureRow, other_label: &str) {
        row.put("days", Ok(count(self.daily.days.len())));
        row.put("left_out", Ok(count(self.daily.left_out)));
        row.put_all(
            &self.power,
            &[
                ("pps", |power| Ok(power.score)),
                ("ic", |power| Ok(power.ic)),
                ("rank_ic", |power| Ok(power.rank_ic)),
                ("icir", |power| power.ic_ratio),
                ("rank_icir", |power| power.rank_ic_ratio),
                ("nw_t", |power| power.rank_ic_t),
            ],
        );
        row.put_all(
            &self.other_power,
            &[
                (&format!("pps_{other_label}"), |power| Ok(power.score)),
                (&format!("ic_{other_label}"), |power| Ok(power.ic)),
                (&format!("rank_ic_{other_label}"), |power| Ok(power.rank_ic)),
            ],
        );
        row.put_all(&self.stability, &[("rre", |stability| Ok(stability.score))]);
        row.put_all(
            &self.portfolio,
            &[
                ("ar", |test| Ok(test.annual_return)),
                ("sr", |test| test.sharpe),
                ("mdd", |test| Ok(test.max_drawdown)),
                ("turnover", |test| test.turnover),
                ("without_label", |test| Ok(count(test.without_label))),
            ],
        );
        row.put_all(
            &self.with_costs,
            &[
                ("ar_10bps", |test| Ok(test.annual_return)),
                ("sr_10bps", |test| test.sharpe),
            ],
        );
        row.put_all(
            &self.net,
            &[
                ("ar_net", |test| Ok(test.annual_return)),
                ("sr_net", |test| test.sharpe),
            ],
        );
        let test = self.portfolio.as_ref().map_err(|reason| reason.code().to_owned());
        let break_even = test.map(PortfolioTest::break_even_bps);
        let break_even = break_even.and_then(|found| found.ok_or_else(|| NO_TRADE.to_owned()));
        row.put("break_even_bps", break_even);
    }

    /// The daily returns of its portfolio; none where it has none.
    #[must_use]
    pub fn returns(&self) -> DaySeries {
        daily_returns(&self.portfolio)
    }

    /// The same after the costs of the study.
    #[must_use]
    pub fn net_returns(&self) -> DaySeries {
        daily_returns(&self.net)
    }

    /// Weighted correlations by day, counted from a first one.
    #[must_use]
    pub fn scores(&self, beta: f64, first: usize) -> DaySeries {
        let days = self.daily.days.iter();
        days.map(|day| (day.day - first, beta * day.ic + (1.0 - beta) * day.rank_ic))
            .collect()
    }

    /// Mean correlations and the portfolio's return by the year of a day.
    #[must_use]
    pub fn by_year(&self, year: impl Fn(usize) -> String) -> Vec<(String, FigureRow)> {
        let mut years: BTreeMap<String, [Vec<f64>; 3]> = BTreeMap::new();
        for day in &self.daily.days {
            let [ics, rank_ics, _] = years.entry(year(day.day)).or_default();
            ics.push(day.ic);
            rank_ics.push(day.rank_ic);
        }
        for (day, earned) in self.returns() {
            let [_, _, returns] = years.entry(year(day)).or_default();
            returns.push(earned);
        }
        let row = |[ics, rank_ics, returns]: [Vec<f64>; 3]| {
            let mut row = FigureRow::default();
            row.put("days", Ok(count(ics.len())));
            row.put_mean("ic", &ics, "too_few_days");
            row.put_mean("rank_ic", &rank_ics, "too_few_days");
            let earned = mean(&returns).map(|mean| TRADING_DAYS_PER_YEAR * mean);
            row.put("ar", earned.ok_or_else(|| "too_few_days".to_owned()));
            row
        };
        years
            .into_iter()
            .map(|(year, values)| (year, row(values)))
            .collect()
    }
}

/// Why what does not trade has no cost at which it earns nothing.
const NO_TRADE: &str = "no_trade";

fn daily_returns(test: &Result<PortfolioTest, Undefined>) -> DaySeries {
    let test = test.as_ref().ok();
    let days = test.map(|test| test.days.iter().copied().zip(test.returns.iter().copied()));
    days.map(Iterator::collect).unwrap_or_default()
}

impl EvaluationSplit<'_> {
    /// The share of the members' cells that have a score.
    #[must_use]
    pub fn coverage(&self, scores: &DayTable) -> f64 {
        let on_day = |day: &usize| {
            let cells = scores.day(*day).iter().zip(self.members.day(*day));
            cells
                .filter(|(score, is_member)| **is_member && score.is_finite())
                .count()
        };
        count(self.days.iter().map(on_day).sum()) / count(self.members.cells(&self.days))
    }
}

/// The line of turnover on stability through alphas, and how many it is drawn through; each comes with whether it counts beside those that
/// are like it. Errors and p-value are of the line through those that count.
#[must_use]
pub fn stability_line<'r>(alphas: impl Iterator<Item = (&'r FigureRow, bool)>) -> (usize, FigureRow) {
    let point = |(row, counts): (&FigureRow, bool)| Some(((row.get("rre")?, row.get("turnover")?), counts));
    let points: Vec<((f64, f64), bool)> = alphas
        .filter_map(point)
        .filter(|((_, turnover), _)| 0.0 < *turnover)
        .collect();
    let of = |only_counted: bool| -> Vec<(f64, f64)> {
        let kept = points.iter().filter(|(_, counts)| *counts || !only_counted);
        kept.map(|(point, _)| *point).collect()
    };
    let mut row = FigureRow::default();
    row.put_all(
        &line_fit(&of(false)),
        &[
            ("slope", |fit| Ok(fit.slope)),
            ("intercept", |fit| Ok(fit.intercept)),
            ("r_squared", |fit| Ok(fit.r_squared)),
        ],
    );
    let counted = of(true);
    row.put("distinct", Ok(count(counted.len())));
    row.put_all(
        &line_fit(&counted),
        &[
            ("slope_error", |fit| Ok(fit.slope_error)),
            ("intercept_error", |fit| Ok(fit.intercept_error)),
            ("p", |fit| Ok(fit.p)),
        ],
    );
    (points.len(), row)
}
