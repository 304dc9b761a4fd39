//! Which differences of a track are real, and how sure each selection is.

use super::by_agent::ScoredAgent;
use super::record::{
    Bounds, LeaderboardRow, RankBounds, Resampling, Selection, Separation, SpaP, TurnedPair,
};
use super::row::seed_stat;
use super::setting::Settings;
use super::trials::{WindowTrials, decide_enough};
use ktd_attribution::{
    RankSeparation, RankingTestError, RankingTests, SelectionSeries, selection_interval, selection_means,
};
use ktd_bundle::summary::Metric;
use ktd_stats::{
    Confidence, RankSet, RankSets, Rotations, Sample, Trials, deflated_sharpe, newey_west,
    probabilistic_sharpe, quantile,
};

/// Selections of one track's ranked agents under one member of the family, in the order of the agents.
struct MemberSeries {
    /// What the member changes.
    label: &'static str,
    /// One an agent.
    agents: Vec<SelectionSeries>,
}

/// Fills in selection and rank intervals of the leaders, which stand in the order of the `ranked` agents; and says which differences
/// are real of those that decided often enough. `trials` are all of the window.
pub(super) fn separate(
    ranked: &[&ScoredAgent],
    leaders: &mut [LeaderboardRow],
    trials: &WindowTrials,
    settings: &Settings,
    draws: Resampling,
) -> Option<Separation> {
    let series: Vec<SelectionSeries> = ranked.iter().map(|agent| agent.score.series()).collect();
    for ((leader, series), agent) in leaders.iter_mut().zip(&series).zip(ranked) {
        leader.selection = Some(Selection {
            independent_decisions: agent.score.decisions.independent,
            interval: selection_interval(series).map(|interval| Bounds {
                low: interval.lower,
                high: interval.upper,
            }),
            ..selection(series, &agent.score.luck, trials)
        });
    }
    let tested: Vec<usize> = (0..ranked.len())
        .filter(|place| {
            let agent = ranked.get(*place);
            agent.is_some_and(|agent| decide_enough(&[agent.score.decisions]))
        })
        .collect();
    let of_tested = || tested.iter().filter_map(|place| ranked.get(*place));
    let turned = Turned {
        series: of_tested().map(|agent| agent.score.series()).collect(),
        family: settings
            .family
            .iter()
            .map(|(label, place)| MemberSeries {
                label,
                agents: of_tested()
                    .filter_map(|agent| agent.score.under(*place))
                    .collect(),
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
    let open = ranked.len() - tested.len();
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
    let names: Vec<&str> = of_tested().map(|agent| agent.name()).collect();
    let tests = RankingTests::of(&turned.series, &trials.tested, (draws.replicates, draws.seed));
    Some(separation(&names, &turned, &ranks, &tests))
}

/// Ranks of selections; `None` of nobody, and below two days.
fn rank_sets(series: &[SelectionSeries], draws: Resampling) -> Option<RankSets> {
    let table = selection_means(series)?;
    let rotations = Rotations::new(table.contrasts(), draws.replicates, draws.seed);
    RankSets::of(&table, Confidence::P95, &rotations).ok()
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

#[expect(clippy::cast_precision_loss, reason = "portfolios are few")]
fn selection(series: &SelectionSeries, luck: &[f64], trials: &WindowTrials) -> Selection {
    let a_day = series.a_day();
    let daily = Sample::new("daily selection", &series.plain);
    let luck = Some(luck).filter(|luck| !luck.is_empty() && series.varies());
    let band = luck.and_then(|luck| {
        let sample = Sample::new("random selections", luck).ok()?;
        Some(Bounds {
            low: quantile(&sample, 0.025).ok()?,
            high: quantile(&sample, 0.975).ok()?,
        })
    });
    let share = |luck: &[f64]| {
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
        null_mean: luck.map(|luck| luck.iter().sum::<f64>() / luck.len() as f64),
        null_percentile: luck.map(share),
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
