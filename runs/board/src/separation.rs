//! Which differences of a track are real, and how sure each selection is.

use super::record::{Bounds, LeaderboardRow, RankBounds, Resampling, Selection, Separation, SpaP};
use super::row::seed_stat;
use super::score::ScoredEpisode;
use ktd_attribution::account::{Attribution, random_selections};
use ktd_attribution::model::FactorModel;
use ktd_attribution::{
    RankSeparation, RankingTestError, RankingTests, SelectionSeries, selection_bootstrap, selection_sums,
};
use ktd_bundle::summary::Metric;
use ktd_io::sha256::sha256_hex;
use ktd_stats::moments::column_means;
use ktd_stats::{
    Confidence, RankIntervals, Sample, StationaryBootstrap, Trials, deflated_sharpe, newey_west,
    probabilistic_sharpe, quantile, rank_intervals, sum_intervals,
};

/// The ranked agents of a track, each with its scores by seed.
pub(super) struct Ranked<'s> {
    /// Name and scores.
    pub(super) agents: Vec<(&'s str, Vec<&'s ScoredEpisode>)>,
}

/// Fills in selection and rank intervals of the leaders, which stand in the order of `ranked`; and says which of their
/// differences are real. `trials` are the daily Sharpe ratios of selection of every trial on the window.
pub(super) fn separate(
    ranked: &Ranked<'_>,
    leaders: &mut [LeaderboardRow],
    (model, trials): (&FactorModel, &Sample<'_>),
    draws: Resampling,
) -> Option<Separation> {
    let series: Vec<SelectionSeries> = ranked
        .agents
        .iter()
        .map(|(_, scores)| SelectionSeries::of(&attributions(scores)))
        .collect();
    let bootstrap = selection_bootstrap(&series, (draws.replicates, draws.seed));
    let streams: Vec<u64> = ranked.agents.iter().map(|(name, _)| stream(name)).collect();
    let sums = bootstrap
        .as_ref()
        .and_then(|bootstrap| selection_sums(&streams, &series, bootstrap));
    let ranks = sums.as_ref().map(|sums| rank_intervals(sums, Confidence::P95));
    let intervals = sums.as_ref().map(|sums| sum_intervals(sums, Confidence::P95));
    for (place, (leader, series)) in leaders.iter_mut().zip(&series).enumerate() {
        let interval = intervals
            .as_ref()
            .and_then(|intervals| intervals.get(place)?.ok());
        let luck = luck(
            ranked.agents.get(place).map_or(&[], |(_, scores)| scores),
            model,
            draws,
        );
        leader.selection = Some(selection(series, luck, trials));
        if let Some(selection) = &mut leader.selection {
            selection.interval = interval.filter(|_| series.varies()).map(|interval| Bounds {
                low: interval.lower,
                high: interval.upper,
            });
        }
        let rank = ranks.as_ref().and_then(|ranks| ranks.agents().get(place));
        leader.rank_interval = rank.map(|rank| RankBounds {
            low: rank.lower,
            high: rank.upper,
        });
        leader.first_share = rank.map(|rank| rank.probability_best);
    }
    Some(separation(ranked, &series, &ranks?, &bootstrap?))
}

fn attributions<'s>(scores: &[&'s ScoredEpisode]) -> Vec<&'s Attribution> {
    scores.iter().map(|score| &score.attribution).collect()
}

/// A stream of draws that is the agent's own, whoever else is on the board.
fn stream(name: &str) -> u64 {
    let digest = sha256_hex(name.as_bytes());
    u64::from_str_radix(digest.get(..16).unwrap_or_default(), 16).unwrap_or(0)
}

/// Linked selections of random portfolios: means over the seeds' own.
fn luck(scores: &[&ScoredEpisode], model: &FactorModel, draws: Resampling) -> Vec<f64> {
    let nulls: Vec<Vec<f64>> = scores
        .iter()
        .map(|score| {
            // Seeds that traded alike are one portfolio: drawn apart, their mean would be steadier than luck is.
            let alike = scores.iter().find(|other| other.books == score.books);
            let seed = alike.unwrap_or(score).bundle.header.seed;
            let chance = (draws.null_portfolios, draws.seed ^ seed);
            random_selections(&score.books, &score.attribution, |day| model.day(day), chance)
        })
        .collect();
    column_means(&nulls)
}

#[expect(clippy::cast_precision_loss, reason = "portfolios are few")]
fn selection(series: &SelectionSeries, luck: Vec<f64>, trials: &Sample<'_>) -> Selection {
    let value = series.value();
    let daily = Sample::new("daily selection", &series.plain);
    let luck = Some(luck).filter(|luck| !luck.is_empty() && series.varies());
    let band = luck.as_ref().and_then(|luck| {
        let sample = Sample::new("random selections", luck).ok()?;
        Some(Bounds {
            low: quantile(&sample, 0.025).ok()?,
            high: quantile(&sample, 0.975).ok()?,
        })
    });
    let share = |luck: &Vec<f64>| {
        let below = luck.iter().filter(|null| **null < value).count();
        below as f64 / luck.len() as f64
    };
    let invalid = || Metric::missing("the daily selection is no number".to_owned());
    let trials = Trials::of_sharpes(trials);
    Selection {
        value,
        interval: None,
        newey_west_t: daily.as_ref().map_or_else(
            |_| invalid(),
            |daily| Metric::of(newey_west(daily, None).map(|found| found.t)),
        ),
        null_band: band,
        null_mean: luck
            .as_ref()
            .map(|luck| luck.iter().sum::<f64>() / luck.len() as f64),
        null_percentile: luck.as_ref().map(share),
        psr: median_over(&series.seeds, |daily| {
            Metric::of(probabilistic_sharpe(daily, 0.0).map(|found| found.probability))
        }),
        dsr: median_over(&series.seeds, |daily| match &trials {
            Ok(trials) => {
                Metric::of(deflated_sharpe(daily, trials).map(|found| found.against_best.probability))
            }
            Err(error) => Metric::missing(error.to_string()),
        }),
    }
}

/// The median over seeds: a trial is one seed, and a mean of many would be steadier than any trial.
fn median_over(seeds: &[Vec<f64>], figure: impl Fn(&Sample<'_>) -> Metric) -> Metric {
    let figures: Vec<Metric> = seeds
        .iter()
        .map(|daily| match Sample::new("daily selection", daily) {
            Ok(daily) => figure(&daily),
            Err(error) => Metric::missing(error.to_string()),
        })
        .collect();
    seed_stat(figures.iter()).median
}

fn separation(
    ranked: &Ranked<'_>,
    series: &[SelectionSeries],
    ranks: &RankIntervals,
    bootstrap: &StationaryBootstrap,
) -> Separation {
    let RankSeparation {
        order,
        win_share,
        groups,
    } = RankSeparation::of(ranks);
    let tests = RankingTests::of(series, bootstrap);
    let metric = |figure: Result<f64, RankingTestError>| match figure {
        Ok(value) => Metric::of(Ok(value)),
        Err(reason) => Metric::missing(reason.to_string()),
    };
    let agents = order
        .iter()
        .filter_map(|place| Some(ranked.agents.get(*place)?.0.to_owned()));
    Separation {
        agents: agents.collect(),
        win_share,
        groups,
        pbo: metric(tests.overfitting),
        reality_check_p: metric(tests.reality_check_p),
        spa_p: tests.superior_ability.map(|found| SpaP {
            lower: found.p_lower,
            consistent: found.p_consistent,
            upper: found.p_upper,
        }),
    }
}
