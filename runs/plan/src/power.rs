//! The smallest difference a design can detect.

use super::window::{overlaps, pairable};
use ktd_attribution::{RandomPortfolios, RandomPortfoliosError};
use ktd_bundle::summary::Metric;
use ktd_env::KeyedStream;
use ktd_experiment::panel_windows::Window;
use ktd_stats::moments::count;
use ktd_stats::{PairedDesign, PairedTest, SimulatedPower, minimum_p};
use schemars::JsonSchema;
use serde::Serialize;

/// Two-sided significance that a difference shall reach.
pub const SIGNIFICANCE: f64 = 0.05;
/// Probability with which a true difference shall be found.
pub const POWER: f64 = 0.8;
/// Seed of the experiments that are simulated for it.
const POWER_SEED: u64 = 1;

/// What luck does in one window, and what its days alone can tell of two agents.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct WindowNoise {
    /// The window.
    pub window: String,
    /// Its trading days.
    pub days: usize,
    /// Members that trade at its first open, where there is luck.
    pub members: Option<usize>,
    /// Standard deviation of a random portfolio's return, as a fraction.
    pub return_sd: Metric,
    /// Standard deviation of the difference between two.
    pub difference_sd: Metric,
    /// Standard deviation of their daily difference.
    pub daily_difference_sd: Metric,
    /// Least difference of window returns that a t test of daily differences finds: a sum of daily returns.
    pub least_difference_by_days: Metric,
}

/// What a comparison of two agents over the windows can tell.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Pairing {
    /// The windows that are pairs.
    pub windows: Vec<String>,
    /// Windows that contain others, and so are no pairs beside them.
    pub left_out: Vec<String>,
    /// Pairs of windows that share days: they tell less than windows apart.
    pub overlaps: Vec<[String; 2]>,
    /// The smallest two-sided p-value of the exact Wilcoxon test.
    pub smallest_p: f64,
    /// A note where no outcome could be significant.
    pub underpowered: Option<String>,
    /// Standard deviation of the difference between two random portfolios: the root mean square over the windows.
    pub difference_sd: Metric,
    /// Least true difference of window returns that the exact test finds, differences being normal.
    pub least_difference: Metric,
    /// The same by the normal approximation, which promises too much of few pairs.
    pub least_difference_approximate: Metric,
    /// The power that the exact test has at the approximate difference; `null` where it is not simulated.
    pub power_at_approximate: Option<f64>,
}

impl WindowNoise {
    /// The noise of a window.
    #[must_use]
    pub fn of(window: &Window, luck: Result<RandomPortfolios, RandomPortfoliosError>) -> Self {
        let days = window.days.len();
        let part = |part: fn(&RandomPortfolios) -> f64| match &luck {
            Ok(luck) => known(part(luck)),
            Err(error) => Metric::missing(error.to_string()),
        };
        let daily_difference_sd = part(|luck| luck.daily_difference_sd);
        let least = least(days, &daily_difference_sd, PairedTest::Mean);
        Self {
            window: window.id.clone(),
            days,
            members: luck.ok().map(|luck| luck.members),
            return_sd: part(|luck| luck.return_sd),
            difference_sd: part(|luck| luck.difference_sd),
            daily_difference_sd,
            least_difference_by_days: Metric {
                value: least.value.map(|a_day| a_day * count(days)),
                ..least
            },
        }
    }
}

impl Pairing {
    /// The pairing of windows with their noise, in the same order.
    #[must_use]
    pub fn of(windows: &[Window], noise: &[WindowNoise]) -> Self {
        let pairs = pairable(windows);
        let is_pair = |id: &str| pairs.iter().any(|window| window.id == id);
        let difference_sd = pooled(noise.iter().filter(|noise| is_pair(&noise.window)));
        let test = PairedTest::SignedRank;
        let approximate = least(pairs.len(), &difference_sd, test);
        let mut stream = KeyedStream::for_purpose(POWER_SEED, "power of the Wilcoxon test");
        let exact = SimulatedPower::of(pairs.len(), SIGNIFICANCE, || stream.normal());
        let underpowered = PairedDesign::new(pairs.len(), 0.0, SIGNIFICANCE, POWER, test)
            .ok()
            .and_then(|design| design.underpowered());
        Self {
            left_out: windows
                .iter()
                .filter(|window| !is_pair(&window.id))
                .map(|window| window.id.clone())
                .collect(),
            overlaps: overlaps(&pairs),
            smallest_p: minimum_p(pairs.len()),
            underpowered: underpowered.map(|underpowered| underpowered.to_string()),
            least_difference: exact_least(exact.as_ref(), &difference_sd, &approximate),
            power_at_approximate: deviations(&approximate, &difference_sd)
                .and_then(|deviations| Some(exact?.at(deviations))),
            least_difference_approximate: approximate,
            difference_sd,
            windows: pairs.into_iter().map(|window| window.id.clone()).collect(),
        }
    }
}

/// The least difference that the exact test finds; the approximate one where it is not simulated.
fn exact_least(exact: Option<&SimulatedPower>, deviation: &Metric, approximate: &Metric) -> Metric {
    match (exact, deviation.value) {
        (Some(exact), Some(sd)) => known(exact.least_deviations(POWER) * sd),
        (None, _) | (_, None) => approximate.clone(),
    }
}

/// A difference in standard deviations, where there are any.
fn deviations(difference: &Metric, deviation: &Metric) -> Option<f64> {
    let (difference, sd) = difference.value.zip(deviation.value)?;
    (0.0 < sd).then(|| difference / sd)
}

/// The root mean square of the windows' deviations; missing where one of them is.
fn pooled<'a>(noise: impl Iterator<Item = &'a WindowNoise>) -> Metric {
    let (mut squares, mut windows) = (0.0, 0);
    for noise in noise {
        let Some(sd) = noise.difference_sd.value else {
            return noise.difference_sd.clone();
        };
        squares += sd * sd;
        windows += 1;
    }
    if windows == 0 {
        return Metric::missing("there is no window".to_owned());
    }
    known((squares / count(windows)).sqrt())
}

/// The least mean difference a pair that so many pairs find, where their deviation is known.
fn least(pairs: usize, deviation: &Metric, test: PairedTest) -> Metric {
    let Some(sd) = deviation.value else {
        return deviation.clone();
    };
    let design = PairedDesign::new(pairs, sd, SIGNIFICANCE, POWER, test);
    match design {
        Ok(design) => Metric::of(design.minimum_difference()),
        Err(error) => Metric::missing(error.to_string()),
    }
}

const fn known(value: f64) -> Metric {
    Metric {
        value: Some(value),
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    /// Windows of ten days, one after the other, with this deviation of differences.
    fn design(count: usize, sd: f64) -> (Vec<Window>, Vec<WindowNoise>) {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 3,
            days: 200,
        })
        .unwrap();
        let luck = RandomPortfolios {
            members: 300,
            return_sd: sd / 2.0_f64.sqrt(),
            difference_sd: sd,
            daily_difference_sd: sd / 10.0_f64.sqrt(),
        };
        let window = |place: usize| Window {
            drawn: None,
            id: format!("w{place}"),
            days: (0..10)
                .map(|day| market.day_at(10 * place + day + 1).unwrap())
                .collect(),
        };
        let windows: Vec<Window> = (0..count).map(window).collect();
        let noise = windows
            .iter()
            .map(|window| WindowNoise::of(window, Ok(luck)))
            .collect();
        (windows, noise)
    }

    #[test]
    fn ten_windows_find_a_deviation_and_the_approximation_says_nine_tenths() {
        let (windows, noise) = design(10, 0.04);
        let pairing = Pairing::of(&windows, &noise);
        assert_eq!((pairing.smallest_p, pairing.underpowered), (2.0 / 1024.0, None));
        // (1.959964 + 0.841621) x 0.04 / sqrt(10 x 3 / pi)
        let approximate = pairing.least_difference_approximate.value.unwrap();
        assert!((approximate - 0.036_264).abs() < 1e-6, "{approximate}");
        let least = pairing.least_difference.value.unwrap();
        assert!((0.040..0.042).contains(&least), "{least}");
        assert!((0.68..0.73).contains(&pairing.power_at_approximate.unwrap()));
    }

    #[test]
    fn five_windows_cannot_be_significant_and_say_so() {
        let (windows, noise) = design(5, 0.04);
        let pairing = Pairing::of(&windows, &noise);
        assert!(
            pairing
                .underpowered
                .unwrap()
                .starts_with("underpowered: with 5 pairs")
        );
        assert!(SIGNIFICANCE < pairing.smallest_p);
    }

    #[test]
    fn one_window_is_read_by_its_days_alone() {
        let (windows, noise) = design(1, 0.04);
        let pairing = Pairing::of(&windows, &noise);
        assert_eq!(pairing.least_difference.value, None);
        assert!(pairing.least_difference.reason.unwrap().contains("pairs"));
        // 2.801585 x 0.04 / sqrt(10) / sqrt(10) a day, times ten days.
        let by_days = noise[0].least_difference_by_days.value.unwrap();
        assert!((by_days - 2.801_585 * 0.04).abs() < 1e-6, "{by_days}");
    }

    #[test]
    fn without_luck_nothing_is_known_of_what_can_be_found() {
        let (windows, mut noise) = design(8, 0.04);
        noise[3] = WindowNoise::of(
            &windows[3],
            Err(RandomPortfoliosError::TooFewMembers { members: 7 }),
        );
        let pairing = Pairing::of(&windows, &noise);
        for metric in [&pairing.least_difference, &noise[3].least_difference_by_days] {
            assert!(metric.value.is_none() && metric.reason.as_ref().unwrap().starts_with("7 members"));
        }
        assert_eq!(pairing.underpowered, None);
    }
}
