//! From bundles to a board.

use super::benchmark::{BenchmarkSeries, Benchmarks};
use super::by_agent::{ByAgent, ScoredAgent};
use super::conceal::{KnownDraws, concealed, missing_windows, unrepeatable};
use super::contrast::{contrasts, fill_memory_gaps};
use super::fitted::FittedModel;
use super::health;
use super::load::load;
use super::memory::cutoff_gaps;
use super::metric::BoardMetric;
use super::notes::{carried_over, missing_seeds, overlaps, track_notes};
use super::options::{BoardOptions, ProgressCallback};
use super::pooled::{TrackScores, pooled};
use super::record::{
    FactorVif, Leaderboard, LeaderboardRow, ModelRecord, PooledRanking, Resampling, Track, VifRound,
};
use super::reference::references;
use super::regime::regime;
use super::replayed_account::FeeRates;
use super::sensitivity::sensitivity;
use super::separation::separate;
use super::series::rounded;
use super::setting::Settings;
use super::size_cost;
use super::track_key::TrackKey;
use super::trials::Trials;
use crate::BoardError;
use ktd_bundle::bundle_set::BundleSet;
use ktd_env::exchange::{Rules, Side, fee_rate};
use ktd_env::{DayIndex, Market, Survivors, TradeDate};
use ktd_probes::judge::CertificationMark;
use ktd_stats::skill_ranks;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The form of `leaderboard.json`.
pub const BOARD_FORMAT: u32 = 13;

/// Makes a board of all finished episodes that were named, counting the others of their experiments as trials.
///
/// # Errors
/// [`BoardError`] when bundles of different protocols are named, a bundle is damaged, or the panel cannot be read.
pub fn build(
    findings: &BundleSet,
    options: &BoardOptions,
    tick: ProgressCallback<'_>,
) -> Result<Leaderboard, BoardError> {
    let inputs = load(findings, options, tick)?;
    let mut shown: Vec<&ScoredAgent> = inputs.agents.iter().collect();
    let known = KnownDraws::of(findings.named.iter().chain(&findings.siblings));
    let is_closed = known.is_closed(&shown);
    let conceals = is_closed && !options.shows_closed;
    if conceals {
        shown = unrepeatable(&shown, inputs.unfinished)?;
    }
    let context = BoardContext {
        market: &inputs.market,
        fitted: &inputs.fitted,
        settings: &inputs.settings,
        benchmarks: &inputs.benchmarks,
        trials: &inputs.trials,
        rules: inputs.first.header.rules.rules()?,
        draws: options.draws,
        marks: &options.marks,
        known: &known,
        conceals,
        unfinished: inputs.unfinished,
    };
    let mut board = context.board(&shown, inputs.protocol, inputs.notes)?;
    if conceals {
        board = concealed(board);
    }
    board.names_closed_windows = is_closed && !conceals;
    board.sealed()
}

fn nothing() -> BoardError {
    BoardError::input("there is no finished episode to rank", "run one with `ktd run`")
}

/// What a trade on paper costs on the first day of a window.
fn fee_rates(rules: &Rules, market: &Market, days: &[DayIndex]) -> FeeRates {
    let date = days.first().and_then(|day| market.date(*day));
    let rate = |side| date.map_or(0.0, |date| fee_rate(rules, side, date));
    FeeRates {
        buy_rate: rate(Side::Buy),
        sell_rate: rate(Side::Sell),
    }
}

/// What all tracks share.
struct BoardContext<'c> {
    market: &'c Market,
    fitted: &'c FittedModel,
    settings: &'c Settings,
    benchmarks: &'c Benchmarks,
    trials: &'c Trials,
    rules: Rules,
    draws: Resampling,
    marks: &'c BTreeMap<PathBuf, CertificationMark>,
    /// Draws whose days are known.
    known: &'c KnownDraws,
    /// Whether windows are closed, and their board must not tell where they lie.
    conceals: bool,
    /// Episodes that have not ended.
    unfinished: usize,
}

impl BoardContext<'_> {
    fn board(
        &self,
        shown: &[&ScoredAgent],
        protocol: super::record::Protocol,
        mut notes: Vec<String>,
    ) -> Result<Leaderboard, BoardError> {
        let mut groups: BTreeMap<TrackKey, ByAgent<'_>> = BTreeMap::new();
        for agent in shown {
            let first = agent.bundles.first().ok_or_else(nothing)?;
            let group = groups.entry(TrackKey::of(first, agent.days.len())).or_default();
            group.insert(agent.name(), agent);
        }
        let mut tracks = Vec::with_capacity(groups.len());
        for group in groups.values() {
            tracks.push(self.track(group)?);
        }
        fill_memory_gaps(&mut tracks);
        notes.extend(missing_seeds(&tracks));
        notes.extend(overlaps(&tracks));
        notes.extend(carried_over(&tracks));
        let bundles = || shown.iter().flat_map(|agent| &agent.bundles);
        notes.extend(missing_windows(bundles()));
        let pooled = self.pooled(&groups);
        let headline = groups.values().next().ok_or_else(nothing)?;
        let ranked = ranked(headline);
        let agents: Vec<&ScoredAgent> = tracks
            .first()
            .into_iter()
            .flat_map(|track| &track.leaders)
            .filter(|leader| leader.alpha_rank.is_some())
            .filter_map(|leader| ranked.get(leader.agent.as_str()).copied())
            .collect();
        let titles: BTreeSet<&str> = bundles()
            .map(|bundle| bundle.header.experiment.as_str())
            .collect();
        Ok(Leaderboard {
            format: BOARD_FORMAT,
            content_sha256: String::new(),
            title: titles.into_iter().collect::<Vec<_>>().join(", "),
            ktd: env!("CARGO_PKG_VERSION").to_owned(),
            protocol,
            model: model_record(self.fitted),
            resampling: self.draws,
            pooled,
            contrasts: contrasts(&tracks),
            cutoff_gaps: cutoff_gaps(&tracks),
            health: health::of(self.fitted, self.market)?,
            sensitivity: sensitivity(self.settings, &agents),
            names_closed_windows: false,
            unfinished: self.unfinished,
            tracks,
            notes,
        })
    }

    fn track(&self, group: &ByAgent<'_>) -> Result<Track, BoardError> {
        let ranked = ranked(group);
        let mut leaders: Vec<LeaderboardRow> = ranked.values().map(|agent| agent.score.row.clone()).collect();
        let bundles = || group.values().flat_map(|agent| &agent.bundles);
        let header = &bundles().next().ok_or_else(nothing)?.header;
        let days = window(group);
        let window_trials = self.trials.over(&days);
        let agents: Vec<&ScoredAgent> = ranked.values().copied().collect();
        let separation = separate(&agents, &mut leaders, &window_trials, self.settings, self.draws);
        rank(&mut leaders)?;
        size_cost::fill(&mut leaders, |agent| ranked.get(agent)?.score.cost_per_root_cny);
        leaders.extend(Self::unranked(group, &ranked));
        self.mark(&mut leaders, group);
        leaders.extend(references(
            self.market,
            &days,
            (&self.fitted.model, self.benchmarks),
            fee_rates(&self.rules, self.market, &days),
        ));
        let benchmark = self.benchmarks.total_return.over(&days);
        let price_index = self.benchmarks.price_index_over(&days);
        Ok(Track {
            window: header.window.id.clone(),
            level: header.mask.level,
            instruction: header.mask.instruction,
            numeric: header.mask.numeric,
            mode: header.mode,
            window_mark: self.known.window_mark(bundles())?,
            dates: days
                .iter()
                .filter_map(|day| self.market.date(*day))
                .map(TradeDate::reveal)
                .collect(),
            benchmark_name: self.benchmarks.total_return.name().to_owned(),
            benchmark_return: total(&benchmark),
            benchmark: curve(&benchmark),
            price_index_name: self
                .benchmarks
                .price_indices
                .first()
                .map(BenchmarkSeries::name)
                .map(str::to_owned),
            price_index_return: total(&price_index),
            price_index: curve(&price_index),
            regime: benchmark.as_ref().ok().and_then(|returns| regime(returns)),
            trials: window_trials.count,
            distinct_trials: window_trials.distinct,
            // Whoever owns all prices would find a window by the days on which an index has no value.
            notes: track_notes(
                (
                    &leaders,
                    Survivors::of(self.market, &days)
                        .text("this window")
                        .filter(|_| !self.conceals),
                ),
                benchmark.as_ref().err().filter(|_| !self.conceals),
                header.mask.instruction,
            ),
            leaders,
            separation,
        })
    }
}

impl BoardContext<'_> {
    /// The rankings over several windows together.
    fn pooled(&self, groups: &BTreeMap<TrackKey, ByAgent<'_>>) -> Vec<PooledRanking> {
        let tracks: Vec<TrackScores<'_, '_>> = groups.values().map(|group| TrackScores { group }).collect();
        pooled(&tracks, (self.market, self.settings), self.draws)
    }

    /// Gives each row what certificates say of its runs' mask.
    fn mark(&self, leaders: &mut [LeaderboardRow], group: &ByAgent<'_>) {
        for leader in leaders {
            let agent = group.get(leader.agent.as_str());
            let bundles = agent.into_iter().flat_map(|agent| &agent.bundles);
            let marks = bundles.map(|bundle| {
                self.marks
                    .get(&bundle.root)
                    .cloned()
                    .unwrap_or(CertificationMark::NONE)
            });
            leader.mask = Some(CertificationMark::of_row(marks));
        }
    }

    /// The rows without a rank: agents of whom nothing can be said, then controls.
    fn unranked(group: &ByAgent<'_>, ranked: &ByAgent<'_>) -> Vec<LeaderboardRow> {
        let others = group.iter().filter(|(agent, _)| !ranked.contains_key(*agent));
        let mut rows: Vec<LeaderboardRow> = others
            .map(|(_, agent)| LeaderboardRow {
                unranked_reason: agent.why_unranked().filter(|_| agent.cohort().is_ranked()),
                ..agent.score.row.clone()
            })
            .collect();
        rows.sort_by_key(|row| !row.cohort.is_ranked());
        rows
    }
}

fn window(group: &ByAgent<'_>) -> Vec<DayIndex> {
    group
        .values()
        .next()
        .map_or_else(Vec::new, |agent| agent.days.clone())
}

/// The growth of a series of returns; empty where it has none.
fn curve(returns: &Result<Vec<f64>, String>) -> Vec<f64> {
    let returns = returns.as_ref();
    returns.map_or_else(|_| Vec::new(), |returns| rounded(growth(returns)))
}

/// The agents that have a rank.
fn ranked<'s>(group: &ByAgent<'s>) -> ByAgent<'s> {
    let ranked = group.iter().filter(|(_, agent)| agent.has_rank());
    ranked.map(|(name, agent)| (*name, *agent)).collect()
}

/// Ranks by total return and by selection, and puts the best by selection first.
fn rank(leaders: &mut [LeaderboardRow]) -> Result<(), BoardError> {
    let returns: Vec<Option<f64>> = leaders
        .iter()
        .map(|leader| leader.metrics.get(&BoardMetric::TotalReturn)?.median.value)
        .collect();
    let selections: Vec<Option<f64>> = leaders
        .iter()
        .map(|leader| Some(leader.selection.as_ref()?.a_day))
        .collect();
    let ranks = skill_ranks(&returns, &selections)
        .map_err(|error| BoardError::input(error.to_string(), error.hint()))?;
    for (leader, rank) in leaders.iter_mut().zip(ranks) {
        leader.return_rank = rank.return_rank;
        leader.alpha_rank = rank.alpha_rank;
        leader.delta_rank = rank.delta_rank;
    }
    leaders.sort_by(|a, b| {
        let key = |leader: &LeaderboardRow| leader.alpha_rank.unwrap_or(usize::MAX);
        key(a).cmp(&key(b)).then_with(|| a.agent.cmp(&b.agent))
    });
    Ok(())
}

/// The total return of daily returns.
pub(super) fn total(benchmark: &Result<Vec<f64>, String>) -> ktd_bundle::summary::Metric {
    match benchmark {
        Ok(returns) => {
            let last = growth(returns).last().copied().unwrap_or(1.0);
            ktd_bundle::summary::Metric::of(Ok(last - 1.0))
        }
        Err(reason) => ktd_bundle::summary::Metric::missing(reason.clone()),
    }
}

fn growth(returns: &[f64]) -> Vec<f64> {
    let mut value = 1.0;
    let grown = |daily: &f64| {
        value *= 1.0 + daily;
        value
    };
    returns.iter().map(grown).collect()
}

pub(super) fn model_record(fitted: &FittedModel) -> ModelRecord {
    let screen = fitted.screen.as_ref();
    ModelRecord {
        configuration: fitted.model.config().fingerprint(),
        fit_sha256: fitted.sha256.clone(),
        styles: fitted
            .model
            .config()
            .styles
            .iter()
            .map(|style| style.name().to_owned())
            .collect(),
        calibration: fitted.calibration.clone(),
        vif_path: screen.map_or_else(Vec::new, |screen| {
            let step = |step: &ktd_attribution::model::VifStep| VifRound {
                vif: step
                    .inflations
                    .iter()
                    .map(|(style, vif)| FactorVif {
                        factor: style.name().to_owned(),
                        vif: *vif,
                    })
                    .collect(),
                dropped: step.dropped.map(|style| style.name().to_owned()),
            };
            screen.path.iter().map(step).collect()
        }),
        vif_threshold: screen.map_or(0.0, |screen| screen.threshold),
    }
}
