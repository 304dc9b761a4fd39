//! Which differences of a track are real, and how sure each selection is.

use super::family_series::MemberSeries;
use super::record::{
    Bounds, LeaderboardRow, RankBounds, Resampling, Selection, Separation, SpaP, TurnedPair,
};
use super::row::seed_stat;
use super::score::ScoredEpisode;
use super::trials::{WindowTrials, decide_enough};
use ktd_attribution::account::{
    Attribution, DayBook, Peers, WeightBasis, independent_decisions, random_selections,
};
use ktd_attribution::model::FactorModel;
use ktd_attribution::{
    RankSeparation, RankingTestError, RankingTests, SelectionSeries, selection_interval, selection_means,
};
use ktd_bundle::summary::Metric;
use ktd_stats::moments::column_means;
use ktd_stats::{
    Confidence, RankSet, RankSets, Rotations, Sample, Trials, deflated_sharpe, newey_west,
    probabilistic_sharpe, quantile,
};

/// The ranked agents of a track, each with its scores by seed.
pub(super) struct Ranked<'s> {
    /// Name and scores.
    pub(super) agents: Vec<(&'s str, Vec<&'s ScoredEpisode>)>,
}

/// Fills in selection and rank intervals of the leaders, which stand in the order of `ranked`; and says which differences are real
/// of those that decided often enough. `trials` are all of the window; `family` are the selections under the other settings.
pub(super) fn separate(
    ranked: &Ranked<'_>,
    leaders: &mut [LeaderboardRow],
    (model, trials): (&FactorModel, &WindowTrials),
    family: &[MemberSeries],
    draws: Resampling,
) -> Option<Separation> {
    let series: Vec<SelectionSeries> = ranked
        .agents
        .iter()
        .map(|(_, scores)| SelectionSeries::of(&attributions(scores)))
        .collect();
    for ((leader, series), (_, scores)) in leaders.iter_mut().zip(&series).zip(&ranked.agents) {
        leader.selection = Some(Selection {
            independent_decisions: decisions(scores),
            interval: selection_interval(series).map(|interval| Bounds {
                low: interval.lower,
                high: interval.upper,
            }),
            ..selection(series, luck(scores, model, draws), trials)
        });
    }
    let tested: Vec<usize> = (0..ranked.agents.len())
        .filter(|place| ranked.decides_enough(*place))
        .collect();
    let of_tested = |all: &[SelectionSeries]| -> Vec<SelectionSeries> {
        tested
            .iter()
            .filter_map(|place| all.get(*place).cloned())
            .collect()
    };
    let turned = Turned {
        series: of_tested(&series),
        family: family
            .iter()
            .map(|member| MemberSeries {
                label: member.label,
                agents: of_tested(&member.agents),
            })
            .collect(),
    };
    let ranks = rank_sets(&turned.series, draws)?;
    let spans: Vec<RankSets> = turned
        .family
        .iter()
        .filter_map(|member| rank_sets(&member.agents, draws))
        .collect();
    // Ranks are of all: who is not tested may stand anywhere among those who are.
    let open = ranked.agents.len() - tested.len();
    for (own, place) in tested.iter().enumerate() {
        let (Some(leader), Some(rank)) = (leaders.get_mut(*place), ranks.agents().get(own)) else {
            continue;
        };
        let others = spans.iter().filter_map(|ranks| ranks.agents().get(own));
        leader.rank_interval_default = Some(among(bounds(rank), open));
        leader.rank_interval = Some(among(others.map(bounds).fold(bounds(rank), wider), open));
        // Who is alone is first of nobody.
        leader.first_share = (open == 0 && 1 < tested.len()).then_some(rank.first_share);
    }
    let names: Vec<&str> = tested
        .iter()
        .filter_map(|place| Some(ranked.agents.get(*place)?.0))
        .collect();
    let tests = RankingTests::of(&turned.series, &trials.tested, (draws.replicates, draws.seed));
    Some(separation(&names, &turned, &ranks, &tests))
}

/// Ranks of selections; `None` of nobody, and below two days.
fn rank_sets(series: &[SelectionSeries], draws: Resampling) -> Option<RankSets> {
    let table = selection_means(series)?;
    let rotations = Rotations::new(table.contrasts(), draws.replicates, draws.seed);
    RankSets::of(&table, Confidence::P95, &rotations).ok()
}

impl Ranked<'_> {
    /// Whether an agent decided often enough for a test.
    fn decides_enough(&self, place: usize) -> bool {
        let scores = self
            .agents
            .get(place)
            .map_or(&[][..], |(_, scores)| scores.as_slice());
        decide_enough(&[scores.iter().map(|score| score.books.as_slice()).collect()])
    }
}

pub(super) const fn bounds(rank: &RankSet) -> RankBounds {
    RankBounds {
        low: rank.lower,
        high: rank.upper,
    }
}

/// Ranks among the tested as ranks among these and so many others, of whom nothing is concluded.
const fn among(tested: RankBounds, others: usize) -> RankBounds {
    RankBounds {
        high: tested.high + others,
        ..tested
    }
}

pub(super) fn wider(own: RankBounds, other: RankBounds) -> RankBounds {
    RankBounds {
        low: own.low.min(other.low),
        high: own.high.max(other.high),
    }
}

/// Whose order hangs on a setting.
struct Turned {
    series: Vec<SelectionSeries>,
    family: Vec<MemberSeries>,
}

impl Turned {
    /// The settings under which the order of two agents is not that of the default.
    fn by(&self, one: usize, other: usize) -> Vec<&'static str> {
        let order = |series: &[SelectionSeries]| {
            let value = |place: usize| series.get(place).map_or(0.0, SelectionSeries::a_day);
            value(one).total_cmp(&value(other))
        };
        let default = order(&self.series);
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

/// Selections a day of random portfolios that trade as all seeds together.
fn luck(scores: &[&ScoredEpisode], model: &FactorModel, draws: Resampling) -> Vec<f64> {
    let seeds: Vec<&[DayBook]> = scores.iter().map(|score| score.books.as_slice()).collect();
    let chance = (draws.null_portfolios, draws.seed);
    random_selections(
        &seeds,
        (WeightBasis::HEADLINE, Peers::Alike),
        |day| model.day(day),
        chance,
    )
}

#[expect(clippy::cast_precision_loss, reason = "portfolios are few")]
fn selection(series: &SelectionSeries, luck: Vec<f64>, trials: &WindowTrials) -> Selection {
    let a_day = series.a_day();
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
        let below = luck.iter().filter(|null| **null < a_day).count();
        below as f64 / luck.len() as f64
    };
    let invalid = || Metric::missing("the daily selection is no number".to_owned());
    let trials = Trials::without_skill(trials.distinct, series.plain.len());
    Selection {
        a_day,
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
        dsr: median_over(&series.seeds, |daily| {
            Metric::of(deflated_sharpe(daily, &trials).map(|found| found.against_best.probability))
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

fn separation(names: &[&str], turned: &Turned, ranks: &RankSets, tests: &RankingTests) -> Separation {
    let RankSeparation {
        order,
        win_share,
        groups,
        open,
    } = RankSeparation::of(ranks, &|own, other| !turned.by(own, other).is_empty());
    let metric = |figure: Result<f64, RankingTestError>| match figure {
        Ok(value) => Metric::of(Ok(value)),
        Err(reason) => Metric::missing(reason.to_string()),
    };
    let name = |place: &usize| names.get(*place).map(|name| (*name).to_owned());
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

    /// Daily selections of `level`, and noise of the agent's own that is far below the distance of levels.
    fn series(level: f64) -> SelectionSeries {
        let noise = |day: u32| f64::from((day * day) % 7) * 1e-4 * (1.0 + level);
        let daily: Vec<f64> = (0..60_u32).map(|day| level + noise(day)).collect();
        SelectionSeries {
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
        let family = vec![
            member("the same order", [0.04, 0.02, 0.00]),
            member("the first two turned", [0.01, 0.02, 0.00]),
        ];
        let draws = Resampling {
            replicates: 200,
            seed: 1,
            null_portfolios: 0,
        };
        let ranks = rank_sets(&default, draws).unwrap();
        let tests = RankingTests::of(&default, &[], (200, 1));
        let of = |family: Vec<MemberSeries>| {
            let turned = Turned {
                series: default.to_vec(),
                family,
            };
            separation(&["a", "b", "c"], &turned, &ranks, &tests)
        };
        // The data alone separate all.
        let alone = of(Vec::new());
        assert!(alone.open.iter().flatten().all(|is_open| !is_open) && alone.turned.is_empty());
        assert_eq!(alone.groups, [vec![0], vec![1], vec![2]]);
        let spanned = of(family);
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
        // Alone among four, of whom three decided too little, it may have any rank.
        let alone = among(RankBounds { low: 1, high: 1 }, 3);
        assert_eq!((alone.low, alone.high), (1, 4));
    }
}
