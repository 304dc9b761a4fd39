//! Which differences of a track are real, and how sure each selection is.

use super::family_series::MemberSeries;
use super::record::{
    Bounds, LeaderboardRow, RankBounds, Resampling, Selection, Separation, SpaP, TurnedPair,
};
use super::row::seed_stat;
use super::score::ScoredEpisode;
use ktd_attribution::account::{
    Attribution, LuckSeed, WeightBasis, independent_decisions, random_selections,
};
use ktd_attribution::model::FactorModel;
use ktd_attribution::{
    RankSeparation, RankingTestError, RankingTests, SelectionSeries, selection_bootstrap, selection_sums,
};
use ktd_bundle::summary::Metric;
use ktd_io::sha256::sha256_hex;
use ktd_stats::moments::column_means;
use ktd_stats::{
    Confidence, RankInterval, RankIntervals, Sample, StationaryBootstrap, Trials, deflated_sharpe,
    newey_west, probabilistic_sharpe, quantile, rank_intervals, sum_intervals,
};

/// The ranked agents of a track, each with its scores by seed.
pub(super) struct Ranked<'s> {
    /// Name and scores.
    pub(super) agents: Vec<(&'s str, Vec<&'s ScoredEpisode>)>,
}

/// Fills in selection and rank intervals of the leaders, which stand in the order of `ranked`; and says which of their
/// differences are real. `trials` are the daily Sharpe ratios of selection of every trial on the window; `family` are the
/// selections under the other settings.
pub(super) fn separate(
    ranked: &Ranked<'_>,
    leaders: &mut [LeaderboardRow],
    (model, trials): (&FactorModel, &Sample<'_>),
    family: &[MemberSeries],
    draws: Resampling,
) -> Option<Separation> {
    let series: Vec<SelectionSeries> = ranked
        .agents
        .iter()
        .map(|(_, scores)| SelectionSeries::of(&attributions(scores)))
        .collect();
    let bootstrap = selection_bootstrap(&series, (draws.replicates, draws.seed));
    let streams: Vec<u64> = ranked.agents.iter().map(|(name, _)| stream(name)).collect();
    let resampled = |series: &[SelectionSeries]| selection_sums(&streams, series, bootstrap.as_ref()?);
    let sums = resampled(&series);
    let ranks = sums.as_ref().map(|sums| rank_intervals(sums, Confidence::P95));
    let intervals = sums.as_ref().map(|sums| sum_intervals(sums, Confidence::P95));
    let spans: Vec<RankIntervals> = family
        .iter()
        .filter_map(|member| Some(rank_intervals(&resampled(&member.agents)?, Confidence::P95)))
        .collect();
    for (place, (leader, series)) in leaders.iter_mut().zip(&series).enumerate() {
        let interval = intervals
            .as_ref()
            .and_then(|intervals| intervals.get(place)?.ok());
        let scores = ranked
            .agents
            .get(place)
            .map_or(&[][..], |(_, scores)| scores.as_slice());
        let luck = luck(scores, model, draws);
        leader.selection = Some(Selection {
            independent_decisions: decisions(scores),
            interval: interval.filter(|_| series.varies()).map(|interval| Bounds {
                low: interval.lower,
                high: interval.upper,
            }),
            ..selection(series, luck, trials)
        });
        let rank = ranks.as_ref().and_then(|ranks| ranks.agents().get(place));
        leader.rank_interval_default = rank.map(bounds);
        let others = spans.iter().filter_map(|ranks| ranks.agents().get(place));
        leader.rank_interval = rank.map(|rank| others.map(bounds).fold(bounds(rank), wider));
        leader.first_share = rank.map(|rank| rank.probability_best);
    }
    let turned = Turned {
        series: &series,
        family,
    };
    Some(separation(ranked, &turned, &ranks?, &bootstrap?))
}

pub(super) const fn bounds(rank: &RankInterval) -> RankBounds {
    RankBounds {
        low: rank.lower,
        high: rank.upper,
    }
}

pub(super) fn wider(own: RankBounds, other: RankBounds) -> RankBounds {
    RankBounds {
        low: own.low.min(other.low),
        high: own.high.max(other.high),
    }
}

/// Whose order hangs on a setting.
struct Turned<'f> {
    series: &'f [SelectionSeries],
    family: &'f [MemberSeries],
}

impl Turned<'_> {
    /// The settings under which the order of two agents is not that of the default.
    fn by(&self, one: usize, other: usize) -> Vec<&'static str> {
        let order = |series: &[SelectionSeries]| {
            let value = |place: usize| series.get(place).map_or(0.0, SelectionSeries::value);
            value(one).total_cmp(&value(other))
        };
        let default = order(self.series);
        let turned = self
            .family
            .iter()
            .filter(|member| order(&member.agents) != default);
        turned.map(|member| member.label).collect()
    }
}

pub(super) fn attributions<'s>(scores: &[&'s ScoredEpisode]) -> Vec<&'s Attribution> {
    scores.iter().map(|score| &score.attribution).collect()
}

/// A stream of draws that is the agent's own, whoever else is on the board.
pub(super) fn stream(name: &str) -> u64 {
    let digest = sha256_hex(name.as_bytes());
    u64::from_str_radix(digest.get(..16).unwrap_or_default(), 16).unwrap_or(0)
}

/// Independent decisions: the mean over seeds.
fn decisions(scores: &[&ScoredEpisode]) -> f64 {
    let each = scores
        .iter()
        .map(|score| vec![independent_decisions(&score.books)]);
    column_means(&each.collect::<Vec<_>>())
        .first()
        .copied()
        .unwrap_or(0.0)
}

/// Linked selections of random portfolios that trade as all seeds together.
fn luck(scores: &[&ScoredEpisode], model: &FactorModel, draws: Resampling) -> Vec<f64> {
    let seeds: Vec<LuckSeed<'_>> = scores
        .iter()
        .map(|score| (score.books.as_slice(), &score.attribution))
        .collect();
    let chance = (draws.null_portfolios, draws.seed);
    random_selections(&seeds, WeightBasis::HEADLINE, |day| model.day(day), chance)
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
        independent_decisions: 0.0,
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
    turned: &Turned<'_>,
    ranks: &RankIntervals,
    bootstrap: &StationaryBootstrap,
) -> Separation {
    let RankSeparation {
        order,
        win_share,
        groups,
        open,
    } = RankSeparation::of(ranks, &|own, other| !turned.by(own, other).is_empty());
    let tests = RankingTests::of(turned.series, bootstrap);
    let metric = |figure: Result<f64, RankingTestError>| match figure {
        Ok(value) => Metric::of(Ok(value)),
        Err(reason) => Metric::missing(reason.to_string()),
    };
    let name = |place: &usize| ranked.agents.get(*place).map(|(name, _)| (*name).to_owned());
    let pairs = order
        .iter()
        .enumerate()
        .flat_map(|(own, above)| order.iter().skip(own + 1).map(move |below| (above, below)));
    let turned_pairs = pairs.filter_map(|(above, below)| {
        let settings = turned.by(*above, *below);
        (!settings.is_empty()).then_some(TurnedPair {
            above: name(above)?,
            below: name(below)?,
            settings: settings.into_iter().map(str::to_owned).collect(),
        })
    });
    Separation {
        agents: order.iter().filter_map(name).collect(),
        turned: turned_pairs.collect(),
        settings: turned
            .family
            .iter()
            .map(|member| member.label.to_owned())
            .collect(),
        win_share,
        open,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Daily selections of `level` and a little noise that all share.
    fn series(level: f64) -> SelectionSeries {
        let daily: Vec<f64> = (0..60_u32).map(|day| level + f64::from(day % 7) * 1e-4).collect();
        SelectionSeries {
            linked: vec![daily.clone()],
            seeds: vec![daily.clone()],
            plain: daily,
        }
    }

    fn member(label: &'static str, levels: [f64; 3]) -> MemberSeries {
        MemberSeries {
            label,
            agents: levels.map(series).to_vec(),
        }
    }

    #[test]
    fn a_pair_that_a_setting_turns_is_not_separable() {
        let default = [0.03, 0.02, 0.01].map(series);
        let family = [
            member("the same order", [0.04, 0.02, 0.00]),
            member("the first two turned", [0.01, 0.02, 0.00]),
        ];
        let bootstrap = selection_bootstrap(&default, (200, 1)).unwrap();
        let sums = selection_sums(&[1, 2, 3], &default, &bootstrap).unwrap();
        let ranks = rank_intervals(&sums, Confidence::P95);
        let ranked = Ranked {
            agents: vec![("a", Vec::new()), ("b", Vec::new()), ("c", Vec::new())],
        };
        let of = |family: &[MemberSeries]| {
            let turned = Turned {
                series: &default,
                family,
            };
            separation(&ranked, &turned, &ranks, &bootstrap)
        };
        // The data alone separate all.
        let alone = of(&[]);
        assert!(alone.open.iter().flatten().all(|is_open| !is_open) && alone.turned.is_empty());
        assert_eq!(alone.groups, [vec![0], vec![1], vec![2]]);
        let spanned = of(&family);
        assert_eq!(spanned.open[0], [false, true, false]);
        assert_eq!(spanned.open[1], [true, false, false]);
        assert_eq!(spanned.groups, [vec![0, 1], vec![2]]);
        assert_eq!(
            spanned.turned,
            [TurnedPair {
                above: "a".to_owned(),
                below: "b".to_owned(),
                settings: vec!["the first two turned".to_owned()],
            }]
        );
        let wide = wider(RankBounds { low: 1, high: 1 }, RankBounds { low: 2, high: 2 });
        assert_eq!((wide.low, wide.high), (1, 2));
    }
}
