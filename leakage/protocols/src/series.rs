//! Years of daily portfolios behind each other, with their costs and figures.

use crate::panel::SessionMonth;
use crate::run::DayTrade;
use ktd_stats::Undefined;
use ktd_stats::moments::{Moments, count, mean};

/// Costs of a turnover of 1, in hundredths of a percent.
pub const COSTS_BPS: [f64; 5] = [0.0, 5.0, 10.0, 25.0, 50.0];
/// The cost of headline figures and leakage gains.
pub const HEADLINE_BPS: f64 = 5.0;

/// The test days of all years behind each other: holdings are carried over a year's end.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeSeries {
    days: Vec<DayTrade>,
    turnovers: Vec<f64>,
}

/// Figures of all test days of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeFigures {
    /// Annual ratio of mean and deviation at each of [`COSTS_BPS`].
    pub sharpe: [Result<f64, Undefined>; 5],
    /// Mean daily rank correlation of scores and labels; `None` without a day that has one.
    pub rank_ic: Option<f64>,
    /// Mean daily area under the receiver's curve; `None` without a day that has one.
    pub auc: Option<f64>,
    /// Mean daily turnover without the first day; `None` of one day.
    pub turnover: Option<f64>,
    /// The largest loss from a peak at 5 hundredths of a percent, the start being a peak.
    pub max_drawdown: f64,
    /// Test days.
    pub days: usize,
    /// Names held without a return.
    pub without_return: usize,
    /// The cost in hundredths of a percent at which the mean is 0; `None` of no turnover.
    pub break_even_bps: Option<f64>,
}

impl TradeSeries {
    /// Days of years, ascending.
    #[must_use]
    pub fn of(days: Vec<DayTrade>) -> Self {
        let before = std::iter::once(&[][..]).chain(days.iter().map(|day| &*day.picks));
        let turnovers = before
            .zip(&days)
            .map(|(before, day)| turnover(before, &day.picks))
            .collect();
        Self { days, turnovers }
    }

    /// The days.
    #[must_use]
    pub fn days(&self) -> &[DayTrade] {
        &self.days
    }

    /// What was bought and sold each day, as a share: 1 on the first, at most 2.
    #[must_use]
    pub fn turnovers(&self) -> &[f64] {
        &self.turnovers
    }

    /// Daily returns after costs.
    #[must_use]
    pub fn net(&self, cost_bps: f64) -> Vec<f64> {
        let days = self.days.iter().zip(&self.turnovers);
        days.map(|(day, turnover)| day.gross - turnover * cost_bps / 1e4)
            .collect()
    }

    /// The annual ratio of mean and deviation after costs.
    ///
    /// # Errors
    /// [`Undefined`] of fewer than two days and of returns that do not vary.
    pub fn sharpe(&self, cost_bps: f64) -> Result<f64, Undefined> {
        ratio(&self.net(cost_bps))
    }

    /// The annual ratio of each year, at the headline cost.
    #[must_use]
    pub fn yearly_sharpe(&self, months: &[SessionMonth]) -> Vec<(i32, Result<f64, Undefined>)> {
        let year = |day: &DayTrade| months.get(day.session).map_or(0, |month| month.year);
        let net: Vec<(i32, f64)> = self.days.iter().map(year).zip(self.net(HEADLINE_BPS)).collect();
        let years = net.chunk_by(|left, right| left.0 == right.0);
        let of_year = |days: &[(i32, f64)]| {
            let returns: Vec<f64> = days.iter().map(|(_, net)| *net).collect();
            days.first().map(|(year, _)| (*year, ratio(&returns)))
        };
        years.filter_map(of_year).collect()
    }

    /// All figures.
    #[must_use]
    pub fn figures(&self) -> TradeFigures {
        let of_days = |value: &dyn Fn(&DayTrade) -> Option<f64>| {
            mean(&self.days.iter().filter_map(value).collect::<Vec<f64>>())
        };
        let spent: f64 = self.turnovers.iter().sum();
        let earned: f64 = self.days.iter().map(|day| day.gross).sum();
        TradeFigures {
            sharpe: COSTS_BPS.map(|cost| self.sharpe(cost)),
            rank_ic: of_days(&|day| day.rank_ic),
            auc: of_days(&|day| day.auc),
            turnover: mean(self.turnovers.get(1..).unwrap_or(&[])),
            max_drawdown: max_drawdown(&self.net(HEADLINE_BPS)),
            days: self.days.len(),
            without_return: self.days.iter().map(|day| day.without_return).sum(),
            break_even_bps: (0.0 < spent).then(|| earned / spent * 1e4),
        }
    }
}

fn ratio(returns: &[f64]) -> Result<f64, Undefined> {
    let (days, need_days) = (returns.len(), 2);
    let moments = Moments::of(returns).ok_or(Undefined::TooFewDays { days, need_days })?;
    moments.annual_ratio(Undefined::ZeroVariance)
}

/// The sum of the absolute changes of equal weights; both ascend.
fn turnover(before: &[usize], picks: &[usize]) -> f64 {
    let weight = |picks: &[usize]| {
        if picks.is_empty() {
            0.0
        } else {
            1.0 / count(picks.len())
        }
    };
    let (old, new) = (weight(before), weight(picks));
    let kept = picks
        .iter()
        .filter(|name| before.binary_search(name).is_ok())
        .count();
    count(kept) * (new - old).abs() + count(picks.len() - kept) * new + count(before.len() - kept) * old
}

fn max_drawdown(returns: &[f64]) -> f64 {
    let (mut value, mut peak, mut largest) = (1.0, 1.0_f64, 0.0_f64);
    for earned in returns {
        value *= 1.0 + earned;
        peak = peak.max(value);
        largest = largest.max(1.0 - value / peak);
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(session: usize, picks: &[usize], gross: f64) -> DayTrade {
        DayTrade {
            session,
            picks: picks.to_vec(),
            gross,
            without_return: 0,
            rank_ic: Some(gross),
            auc: None,
        }
    }

    #[test]
    fn turnover_and_costs_by_hand() {
        let series = TradeSeries::of(vec![
            day(0, &[1, 2], 0.01),
            day(1, &[2, 3], -0.02),
            day(2, &[2], 0.03),
        ]);
        let expected = [1.0, 1.0, 1.0];
        for (found, by_hand) in series.turnovers().iter().zip(expected) {
            assert!((found - by_hand).abs() < 1e-15, "{found}");
        }
        assert!((series.net(50.0)[0] - 0.005).abs() < 1e-15);
        let figures = series.figures();
        assert!(
            (figures.max_drawdown - 0.0205).abs() < 1e-12,
            "{}",
            figures.max_drawdown
        );
        assert!((figures.break_even_bps.unwrap() - 200.0 / 3.0).abs() < 1e-9);
        assert!(figures.auc.is_none() && (figures.rank_ic.unwrap() - 0.02 / 3.0).abs() < 1e-15);
        let month = |year| SessionMonth { year, month: 1 };
        let years = series.yearly_sharpe(&[month(2020), month(2020), month(2021)]);
        assert_eq!((years[0].0, years[1].0), (2020, 2021));
        assert!(years[0].1.is_ok() && matches!(years[1].1, Err(Undefined::TooFewDays { .. })));
    }

    #[test]
    fn returns_that_do_not_vary_have_no_ratio() {
        let series = TradeSeries::of(vec![day(0, &[1], 0.0), day(1, &[1], 0.0)]);
        assert_eq!(series.sharpe(0.0), Err(Undefined::ZeroVariance));
    }
}
