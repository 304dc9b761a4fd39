//! Which differences of a track are real, and how sure each selection is.

use super::leader::{Draws, means, seed_stat};
use super::record::{Leader, Selection, Separation};
use super::score::Score;
use ktd_attribution::account::{Basis, Part, carino_weights, random_selections};
use ktd_attribution::metric::Undefined;
use ktd_attribution::model::FactorModel;
use ktd_bundle::summary::Metric;
use ktd_io::sha256::sha256_hex;
use ktd_stats::{
    Confidence, DEFAULT_MEAN_BLOCK_DAYS, DailyTable, RankIntervals, ReplicateSums, Sample, SeededAgent,
    StationaryBootstrap, Trials, block_length, deflated_sharpe, newey_west, pbo, probabilistic_sharpe,
    quantile, rank_intervals, reality_check, seeded_sums, separable_groups, sum_intervals, superior_ability,
};

/// Fewest days of a block of the cross-validation.
const PBO_BLOCK_DAYS: usize = 5;

/// The ranked agents of a track, each with its scores by seed.
pub(super) struct Ranked<'s> {
    /// Name and scores.
    pub(super) agents: Vec<(&'s str, Vec<&'s Score>)>,
}

/// Daily selection of one agent: linked within each seed, and plain.
struct Series {
    /// One a seed: daily selection times its Carino weight, which adds up to the linked selection.
    linked: Vec<Vec<f64>>,
    /// One a seed: daily selection.
    seeds: Vec<Vec<f64>>,
    /// Mean over seeds of the daily selection.
    plain: Vec<f64>,
}

impl Series {
    fn of(scores: &[&Score]) -> Self {
        let linked = scores.iter().map(|score| {
            let weights = carino_weights(score.attribution.returns());
            let daily = score.attribution.parts(Basis::Pre).daily(Part::Selection);
            daily.zip(weights).map(|(value, weight)| value * weight).collect()
        });
        let seeds: Vec<Vec<f64>> = scores
            .iter()
            .map(|score| score.attribution.selection(Basis::Pre))
            .collect();
        Self {
            linked: linked.collect(),
            plain: means(&seeds),
            seeds,
        }
    }

    fn varies(&self) -> bool {
        let first = self.plain.first().copied().unwrap_or(0.0);
        self.plain
            .iter()
            .any(|value| (value - first).abs() > f64::EPSILON * first.abs())
    }
}

/// Fills in selection and rank intervals of the leaders, which stand in the order of `ranked`; and says which of their
/// differences are real. `trials` are the daily Sharpe ratios of selection of every trial on the window.
pub(super) fn separate(
    ranked: &Ranked<'_>,
    leaders: &mut [Leader],
    (model, trials): (&FactorModel, &Sample<'_>),
    draws: Draws,
) -> Option<Separation> {
    let series: Vec<Series> = ranked
        .agents
        .iter()
        .map(|(_, scores)| Series::of(scores))
        .collect();
    let bootstrap = bootstrap(&series, draws);
    let sums = bootstrap
        .as_ref()
        .and_then(|bootstrap| sums(ranked, &series, bootstrap));
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
            selection.interval = interval
                .filter(|_| series.varies())
                .map(|interval| (interval.lower, interval.upper));
        }
        let rank = ranks.as_ref().and_then(|ranks| ranks.agents().get(place));
        leader.rank_interval = rank.map(|rank| (rank.lower, rank.upper));
        leader.first_share = rank.map(|rank| rank.probability_best);
    }
    Some(separation(ranked, &series, &ranks?, &bootstrap?))
}

/// One draw of days for all agents. Its mean block is the longest that the agents' own series ask for: shorter ones
/// would make intervals too narrow for someone.
fn bootstrap(series: &[Series], draws: Draws) -> Option<StationaryBootstrap> {
    let days = series.first()?.plain.len();
    let varying = series.iter().filter(|series| series.varies());
    let blocks = varying.filter_map(|series| {
        let sample = Sample::new("daily selection", &series.plain).ok()?;
        Some(block_length(&sample).days())
    });
    let mean_block = blocks.reduce(f64::max).unwrap_or(DEFAULT_MEAN_BLOCK_DAYS);
    StationaryBootstrap::new(days, mean_block, draws.replicates, draws.seed)
        .ok()
        .filter(|_| 1 < days)
}

/// Replicates of every agent's linked selection: days and, where there are several, seeds are drawn.
fn sums(ranked: &Ranked<'_>, series: &[Series], bootstrap: &StationaryBootstrap) -> Option<ReplicateSums> {
    let agents = ranked.agents.iter().zip(series).map(|((name, _), series)| {
        let columns: Vec<&[f64]> = series.linked.iter().map(Vec::as_slice).collect();
        Some(SeededAgent::new(
            stream(name),
            DailyTable::new("daily selection", &columns).ok()?,
        ))
    });
    let agents: Vec<SeededAgent> = agents.collect::<Option<_>>()?;
    seeded_sums(&agents, bootstrap).ok()
}

/// A stream of draws that is the agent's own, whoever else is on the board.
fn stream(name: &str) -> u64 {
    let digest = sha256_hex(name.as_bytes());
    u64::from_str_radix(digest.get(..16).unwrap_or_default(), 16).unwrap_or(0)
}

/// Linked selections of random portfolios: means over the seeds' own.
fn luck(scores: &[&Score], model: &FactorModel, draws: Draws) -> Vec<f64> {
    let nulls: Vec<Vec<f64>> = scores
        .iter()
        .map(|score| {
            // Seeds that traded alike are one portfolio: drawn apart, their mean would be steadier than luck is.
            let alike = scores.iter().find(|other| other.books == score.books);
            let seed = alike.unwrap_or(score).found.header.seed;
            let chance = (draws.null_portfolios, draws.seed ^ seed);
            random_selections(&score.books, &score.attribution, |day| model.day(day), chance)
        })
        .collect();
    means(&nulls)
}

#[expect(clippy::cast_precision_loss, reason = "portfolios are few")]
fn selection(series: &Series, luck: Vec<f64>, trials: &Sample<'_>) -> Selection {
    let wholes: Vec<Vec<f64>> = series.linked.iter().map(|days| vec![days.iter().sum()]).collect();
    let value = means(&wholes).first().copied().unwrap_or(0.0);
    let daily = Sample::new("daily selection", &series.plain);
    let luck = Some(luck).filter(|luck| !luck.is_empty() && series.varies());
    let band = luck.as_ref().and_then(|luck| {
        let sample = Sample::new("random selections", luck).ok()?;
        Some((quantile(&sample, 0.025).ok()?, quantile(&sample, 0.975).ok()?))
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
    series: &[Series],
    ranks: &RankIntervals,
    bootstrap: &StationaryBootstrap,
) -> Separation {
    let order = by_rank(ranks);
    // A tie is half a win for each, so that twins are as inseparable as can be.
    let win = |own: &usize, other: &usize| {
        let share = |own, other| ranks.win_probability(own, other).unwrap_or(0.0);
        f64::midpoint(share(*own, *other), 1.0 - share(*other, *own))
    };
    let groups = separable_groups(ranks, Confidence::P90).runs;
    let place_of = |agent: usize| order.iter().position(|place| *place == agent).unwrap_or(0);
    let varying: Vec<&Series> = series.iter().filter(|series| series.varies()).collect();
    let plain: Vec<&[f64]> = varying.iter().map(|series| series.plain.as_slice()).collect();
    let table = DailyTable::new("daily selection", &plain).ok();
    let constant = || Metric::missing("no agent's selection varies".to_owned());
    let reality = table
        .as_ref()
        .and_then(|table| ReplicateSums::of(table, bootstrap).ok())
        .map(|sums| Metric::of(reality_check(&sums).map(|check| check.p)));
    let spa = table
        .as_ref()
        .and_then(|table| superior_ability(table, bootstrap).ok()?.ok());
    Separation {
        agents: order
            .iter()
            .filter_map(|place| Some(ranked.agents.get(*place)?.0.to_owned()))
            .collect(),
        win_share: order
            .iter()
            .map(|own| order.iter().map(|other| win(own, other)).collect())
            .collect(),
        groups: groups
            .into_iter()
            .map(|run| run.into_iter().map(place_of).collect())
            .collect(),
        pbo: overfitting(&varying),
        reality_check_p: reality.unwrap_or_else(constant),
        spa_p: spa.map(|found| (found.p_lower, found.p_consistent, found.p_upper)),
    }
}

/// Places of the agents, best first.
fn by_rank(ranks: &RankIntervals) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks.agents().len()).collect();
    order.sort_by_key(|place| {
        (
            ranks.agents().get(*place).map_or(usize::MAX, |agent| agent.rank),
            *place,
        )
    });
    order
}

/// The probability that the best half by Sharpe ratio of selection is below the median elsewhere: over the distinct seeds
/// of all agents. Seeds that traded alike are one strategy, and one whose selection does not vary in some half of the
/// days, as that of an agent in cash for so long, has no ratio to compare.
fn overfitting(series: &[&Series]) -> Metric {
    let mut columns: Vec<&[f64]> = Vec::new();
    for seed in series.iter().flat_map(|series| &series.seeds) {
        if !columns.contains(&seed.as_slice()) {
            columns.push(seed);
        }
    }
    let days = columns.first().map_or(0, |column| column.len());
    let blocks = [16, 8, 4]
        .into_iter()
        .find(|blocks| blocks * PBO_BLOCK_DAYS <= days)
        .unwrap_or(2);
    loop {
        let Ok(table) = DailyTable::new("daily selection", &columns) else {
            return Metric::missing("no agent's selection varies in every half of the days".to_owned());
        };
        match pbo(&table, blocks) {
            Ok(Err(Undefined::ConstantStrategy { column })) if column < columns.len() => {
                columns.remove(column);
            }
            Ok(found) => return Metric::of(found.map(|found| found.probability)),
            Err(error) => return Metric::missing(error.to_string()),
        }
    }
}
