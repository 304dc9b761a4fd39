//! The smallest difference that the ranking over several windows together can detect.

use super::power::{POWER, WindowNoise};
use ktd_bundle::summary::Metric;
use ktd_env::DayIndex;
use ktd_experiment::panel_windows::Window;
use ktd_experiment::pooled_days::pooled_days;
use ktd_stats::moments::count;
use ktd_stats::student_t_quantile;
use schemars::JsonSchema;
use serde::Serialize;

/// Two-sided significance at which a board calls a pair separable.
pub const SEPARATION: f64 = 0.1;

/// What the pooled ranking can tell of two agents' selection a day, whose true difference is the same in all windows.
///
/// The estimator is the mean over windows of means over seeds and days, so its variance is that of the days of each window,
/// a mean over windows, over their number. Random portfolios stand in for agents; what windows truly differ by comes on top.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct PooledDesign {
    /// Windows that are pooled, by their last day; a day that several have counts in the first.
    pub windows: Vec<String>,
    /// Windows that are left out, because too few of their days are in no pooled window before.
    pub left_out: Vec<String>,
    /// Seeds of each cell.
    pub seeds: usize,
    /// Least difference of selection a day that is found, as a fraction, where the seeds of an agent hold the same names:
    /// they are one run then.
    pub least_difference_a_day: Metric,
    /// The same where each seed picks by itself.
    pub least_difference_of_independent_seeds: Metric,
}

impl PooledDesign {
    /// The pooling of windows with their noise, in the same order.
    #[must_use]
    pub fn of(windows: &[Window], noise: &[WindowNoise], seeds: usize) -> Self {
        let spans: Vec<(&str, &[DayIndex])> = windows
            .iter()
            .map(|window| (window.id.as_str(), window.days.as_slice()))
            .collect();
        let (pooled, left_out) = pooled_days(&spans);
        let id = |place: usize| Some(windows.get(place)?.id.clone());
        let pooled: Vec<(String, usize)> = pooled
            .iter()
            .filter_map(|found| Some((id(found.place)?, found.own())))
            .collect();
        let deviation = deviation(&pooled, noise);
        Self {
            least_difference_a_day: least(pooled.len(), &deviation, 1),
            least_difference_of_independent_seeds: least(pooled.len(), &deviation, seeds),
            windows: pooled.into_iter().map(|(id, _)| id).collect(),
            left_out: left_out.into_iter().filter_map(id).collect(),
            seeds,
        }
    }
}

/// Standard deviation of a window's mean daily difference of two random portfolios over the days that count in it: the root mean
/// square over the windows; the reason where one of them has none.
fn deviation(windows: &[(String, usize)], noise: &[WindowNoise]) -> Result<f64, String> {
    let mut squares = 0.0;
    for (id, days) in windows {
        let of_window = noise.iter().find(|noise| noise.window == *id);
        let daily = of_window.map(|noise| &noise.daily_difference_sd);
        let sd = daily.and_then(|daily| daily.value).ok_or_else(|| {
            let reason = daily.and_then(|daily| daily.reason.clone());
            reason.unwrap_or_else(|| format!("window {id} has no random portfolios"))
        })?;
        squares += sd * sd / count((*days).max(1));
    }
    Ok((squares / count(windows.len().max(1))).sqrt())
}

fn least(windows: usize, deviation: &Result<f64, String>, seeds: usize) -> Metric {
    if windows < 2 {
        return Metric::missing("a pooled ranking needs two windows with days of their own".to_owned());
    }
    let sd = match deviation {
        Ok(sd) => sd / count(seeds.max(1)).sqrt(),
        Err(reason) => return Metric::missing(reason.clone()),
    };
    // Student's over windows, as the ranking judges a pair; the quantile of the power is that of a shifted t, nearly.
    let freedom = count(windows - 1);
    let reach = |probability| student_t_quantile(probability, freedom);
    match reach(1.0 - SEPARATION / 2.0).and_then(|test| Ok(test + reach(POWER)?)) {
        Ok(reach) => Metric::of(Ok(reach * sd / count(windows).sqrt())),
        Err(error) => Metric::missing(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::KeyedStream;
    use ktd_env::synth::{SynthConfig, generate};
    use ktd_stats::{MeanContrasts, Sample};

    const DAYS: usize = 15;
    const DAILY_SD: f64 = 0.01;

    /// Windows one after the other, each with the same noise, and one around all of them.
    fn design(windows: usize, seeds: usize) -> PooledDesign {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 3,
            days: 200,
        })
        .unwrap();
        let window = |id: String, days: std::ops::Range<usize>| Window {
            drawn: None,
            id,
            days: days.map(|day| market.day_at(day).unwrap()).collect(),
        };
        let mut all = vec![window("around".to_owned(), 1..DAYS * windows + 1)];
        all.extend(
            (0..windows).map(|place| window(format!("w{place}"), DAYS * place + 1..DAYS * (place + 1) + 1)),
        );
        let luck = ktd_attribution::RandomPortfolios {
            members: 300,
            return_sd: 0.0,
            difference_sd: 0.0,
            daily_difference_sd: DAILY_SD,
        };
        let noise: Vec<WindowNoise> = all
            .iter()
            .map(|window| WindowNoise::of(window, Ok(luck)))
            .collect();
        PooledDesign::of(&all, &noise, seeds)
    }

    #[test]
    fn windows_that_share_days_are_counted_once() {
        let design = design(6, 4);
        assert_eq!(design.windows, ["w0", "w1", "w2", "w3", "w4", "w5"]);
        assert_eq!(design.left_out, ["around"]);
        // (2.015048 + 0.919544) x 0.01 / sqrt(15 x 6)
        let alike = design.least_difference_a_day.value.unwrap();
        assert!((alike - 0.003_093_3).abs() < 1e-6, "{alike}");
        let independent = design.least_difference_of_independent_seeds.value.unwrap();
        assert!((alike / independent - 2.0).abs() < 1e-12, "four seeds halve it");
    }

    #[test]
    fn one_window_is_no_pool() {
        let reason = design(1, 1).least_difference_a_day.reason.unwrap();
        assert!(reason.contains("two windows with days of their own"), "{reason}");
    }

    /// Share of simulated boards on which the pooled ranking tells two agents apart by the difference.
    fn found(windows: usize, difference: f64) -> f64 {
        const BOARDS: u32 = 1_000;
        let mut chance = KeyedStream::for_purpose(7, "boards of two agents");
        let mut is_found = || {
            let each: Vec<f64> = (0..windows)
                .map(|_| difference + DAILY_SD * chance.normal() / count(DAYS).sqrt())
                .collect();
            let mean = MeanContrasts::of_windows(&Sample::new("differences", &each).unwrap()).unwrap();
            let found = mean.estimate().unwrap();
            found.p_two_sided(0.0).unwrap() < SEPARATION && 0.0 < found.mean
        };
        let found = (0..BOARDS).filter(|_| is_found()).count();
        count(found) / f64::from(BOARDS)
    }

    /// On simulated boards the difference is found as often as is said, of two windows too, and half of it far more seldom.
    #[test]
    fn the_difference_is_found_as_often_as_is_said() {
        // Of two windows a difference that is found at all is a large one, and half of it is one, too.
        for (windows, of_half) in [(2, 0.55), (4, 0.45), (8, 0.4)] {
            let least = design(windows, 1).least_difference_a_day.value.unwrap();
            let (whole, half) = (found(windows, least), found(windows, least / 2.0));
            assert!((0.74..0.86).contains(&whole), "{windows}: {whole}");
            assert!(half < of_half, "{windows}: {half}");
        }
    }
}
