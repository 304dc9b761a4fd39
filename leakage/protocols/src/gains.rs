//! Leakage gains: a figure under a protocol less the same figure under the reference.

use crate::panel::SessionMonth;
use crate::series::{COSTS_BPS, HEADLINE_BPS, TradeSeries};
use ktd_stats::moments::mean;
use ktd_stats::{Confidence, Interval, MeanContrasts, Sample, Zeros, student_t_quantile, wilcoxon};

/// Gains of one protocol over the reference, all else equal. A gain is `None` where a figure has no value.
#[derive(Debug, Clone, PartialEq)]
pub struct LeakageGain {
    /// Of the annual ratio at each of [`COSTS_BPS`].
    pub sharpe: [Option<f64>; 5],
    /// Of the mean daily rank correlation.
    pub rank_ic: Option<f64>,
    /// Of the mean daily area under the receiver's curve.
    pub auc: Option<f64>,
    /// Of the mean daily turnover.
    pub turnover: Option<f64>,
    /// Of the largest loss.
    pub max_drawdown: f64,
    /// Of the annual ratio at the headline cost within each year that has one under both.
    pub by_year: Vec<(i32, f64)>,
}

impl LeakageGain {
    /// The gains of a series over the reference's.
    #[must_use]
    pub fn of(series: &TradeSeries, clean: &TradeSeries, months: &[SessionMonth]) -> Self {
        let (found, reference) = (series.figures(), clean.figures());
        let less = |found: Option<f64>, reference: Option<f64>| Some(found? - reference?);
        let mut sharpe = [None; COSTS_BPS.len()];
        for (gain, (found, reference)) in sharpe.iter_mut().zip(found.sharpe.iter().zip(&reference.sharpe)) {
            *gain = less(found.as_ref().ok().copied(), reference.as_ref().ok().copied());
        }
        let clean_years = clean.yearly_sharpe(months);
        let of_year = |(year, ratio): (i32, Result<f64, _>)| {
            let (_, reference) = clean_years.iter().find(|(other, _)| *other == year)?;
            Some((year, ratio.ok()? - reference.as_ref().ok()?))
        };
        Self {
            sharpe,
            rank_ic: less(found.rank_ic, reference.rank_ic),
            auc: less(found.auc, reference.auc),
            turnover: less(found.turnover, reference.turnover),
            max_drawdown: found.max_drawdown - reference.max_drawdown,
            by_year: series
                .yearly_sharpe(months)
                .into_iter()
                .filter_map(of_year)
                .collect(),
        }
    }

    /// The gain of the annual ratio at the headline cost.
    #[must_use]
    pub const fn headline(&self) -> Option<f64> {
        let [_, headline, ..] = self.sharpe;
        headline
    }
}

/// How sure the gain of the annual ratio at the headline cost is, by days that both protocols share: the mean over seeds, to first
/// order in means and deviations (Ledoit and Wolf 2008), with Student's t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GainEstimate {
    /// The 95 % interval.
    pub(crate) interval: Interval,
    /// The two-sided p-value of no gain.
    pub(crate) p: f64,
    /// The smallest true gain that is told from none in nine of ten draws, at 5 % and by itself.
    pub(crate) detectable: f64,
}

impl GainEstimate {
    /// Of each seed's series under a protocol and under the reference; `None` where they do not differ, have no ratio, or are not
    /// of the same sessions.
    #[must_use]
    pub(crate) fn of(seeds: &[(&TradeSeries, &TradeSeries)]) -> Option<Self> {
        const POWER: f64 = 0.9;
        let sessions =
            |series: &TradeSeries| -> Vec<usize> { series.days().iter().map(|day| day.session).collect() };
        let own_days = sessions(seeds.first()?.0);
        let is_paired = |(own, clean): &(&TradeSeries, &TradeSeries)| {
            sessions(own) == own_days && sessions(clean) == own_days
        };
        if !seeds.iter().all(is_paired) {
            return None;
        }
        let ratio = |series: Vec<&TradeSeries>| {
            let net: Vec<Vec<f64>> = series.iter().map(|series| series.net(HEADLINE_BPS)).collect();
            let samples = net.iter().map(|net| Sample::new("daily returns", net));
            let samples: Vec<Sample<'_>> = samples.collect::<Result<_, _>>().ok()?;
            MeanContrasts::of_sharpe(&samples).ok()
        };
        let (own, clean) = seeds.iter().copied().unzip();
        let found = ratio(own)?.less(&ratio(clean)?).ok()?.estimate().ok()?;
        let reach = |above| student_t_quantile(above, found.freedom).ok();
        Some(Self {
            interval: found.interval(Confidence::P95).ok()?,
            p: found.p_two_sided(0.0).ok()?,
            detectable: found.standard_error * (reach(Confidence::P95.upper())? + reach(POWER)?),
        })
    }
}

/// Fewest years whose differences tell an interval of their mean.
const FEWEST_YEARS: usize = 5;

/// Inference from yearly gains; years share the market's trend, so that their number is always shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YearlyInference {
    /// Mean of the gains.
    pub mean: f64,
    /// Years above 0.
    pub positive: usize,
    /// Years.
    pub years: usize,
    /// Student's 95 % interval of the mean, by what years differ by; none below five years, and where they do not differ.
    pub interval: Option<Interval>,
    /// The exact one-sided p-value of the signed-rank test, zeros dropped; `None` where nothing else is left.
    pub p_greater: Option<f64>,
}

/// Mean, interval and test of yearly gains; `None` without a year, and where one is not finite.
#[must_use]
pub fn yearly_inference(gains: &[f64]) -> Option<YearlyInference> {
    let sample = Sample::new("gains", gains).ok()?;
    let test = wilcoxon(&sample, Zeros::Wilcox).ok()?;
    Some(YearlyInference {
        mean: mean(gains)?,
        positive: gains.iter().filter(|gain| 0.0 < **gain).count(),
        years: gains.len(),
        interval: (FEWEST_YEARS <= gains.len()).then(|| interval(&sample)).flatten(),
        p_greater: (0 < test.pairs).then_some(test.p_greater),
    })
}

fn interval(gains: &Sample<'_>) -> Option<Interval> {
    let mean = MeanContrasts::of_windows(gains).ok()?.estimate().ok()?;
    mean.interval(Confidence::P95).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_of_nine_years_and_none_at_all() {
        let gains: Vec<f64> = (1..=9).map(f64::from).collect();
        let found = yearly_inference(&gains).unwrap();
        assert!((found.p_greater.unwrap() - 0.001_953_125).abs() < 1e-15);
        assert_eq!((found.positive, found.years), (9, 9));
        // As scipy's `ttest_1samp` has it.
        let Interval { lower, upper } = found.interval.unwrap();
        assert!((lower - 2.894_915_862_4).abs() < 1e-9 && (upper - 7.105_084_137_6).abs() < 1e-9);
        let none = yearly_inference(&[0.0; 5]).unwrap();
        assert_eq!((none.p_greater, none.positive, none.interval), (None, 0, None));
        assert_eq!(yearly_inference(&[]), None);
        assert_eq!(yearly_inference(&gains[..4]).unwrap().interval, None);
    }
}
