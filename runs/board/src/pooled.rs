//! Agents ranked over several windows together.

use super::by_agent::{ByAgent, ScoredAgent};
use super::record::{
    Bounds, Cohort, PooledRanking, PooledRow, PooledSeparation, PooledSpan, Resampling, TurnedPair,
};
use super::separation::{bounds, wider};
use super::setting::Settings;
use super::trials::{Decisions, decide_enough};
use ktd_attribution::{RankSeparation, SelectionSeries, pooled_selection};
use ktd_bundle::bundle_ref::BundleRef;
use ktd_env::{DayIndex, Market, TradeDate};
use ktd_experiment::mask_arm::MaskArm;
use ktd_experiment::pooled_days::{PooledDays, pooled_days};
use ktd_masking::Mode;
use ktd_stats::{Confidence, MeanTable, RankSets, Rotations};
use std::collections::BTreeSet;

/// One track.
pub(super) struct TrackScores<'t, 's> {
    /// All its agents.
    pub(super) group: &'t ByAgent<'s>,
}

impl<'s> TrackScores<'_, 's> {
    fn first(&self) -> Option<&'s ScoredAgent> {
        self.group.values().next().copied()
    }

    fn bundle(&self) -> Option<&'s BundleRef> {
        self.first()?.bundles.first()
    }

    fn window(&self) -> &'s str {
        self.bundle().map_or("", |bundle| &bundle.header.window.id)
    }

    fn days(&self) -> &'s [DayIndex] {
        self.first().map_or(&[], |agent| agent.days.as_slice())
    }

    /// An agent's selections under the default, and under the setting at a place: the same where it held nothing.
    fn series(&self, agent: &str, setting: Option<usize>) -> Option<SelectionSeries> {
        let agent = self.group.get(agent)?;
        let of_setting = setting
            .filter(|_| agent.has_rank())
            .and_then(|place| agent.score.under(place));
        of_setting.or_else(|| Some(agent.score.series()))
    }
}

/// The pooled rankings of every mask and mode that has two windows apart, in the order of the tracks.
pub(super) fn pooled(
    tracks: &[TrackScores<'_, '_>],
    (market, settings): (&Market, &Settings),
    draws: Resampling,
) -> Vec<PooledRanking> {
    let kind = |track: &TrackScores<'_, '_>| {
        let header = &track.bundle()?.header;
        Some((header.mask.arm(), header.mode))
    };
    let mut kinds = Vec::new();
    for found in tracks.iter().filter_map(kind) {
        if !kinds.contains(&found) {
            kinds.push(found);
        }
    }
    let ranking = |own| {
        let all: Vec<_> = tracks.iter().filter(|track| kind(track) == Some(own)).collect();
        let (pool, left_out) = Pool::of(&all);
        (1 < pool.windows.len()).then(|| pool.ranking(own, left_out, (market, settings, draws)))
    };
    kinds.into_iter().filter_map(ranking).collect()
}

/// A window of a pool, and which of its days count in it.
struct PooledWindow<'p, 't, 's> {
    track: &'p TrackScores<'t, 's>,
    days: PooledDays,
}

impl PooledWindow<'_, '_, '_> {
    /// An agent's selections on the days that count.
    fn series(&self, agent: &str, setting: Option<usize>) -> Option<SelectionSeries> {
        Some(self.track.series(agent, setting)?.of_days(&self.days.counts))
    }
}

/// The windows of one mask and mode, each with days of its own.
struct Pool<'p, 't, 's> {
    windows: Vec<PooledWindow<'p, 't, 's>>,
}

impl<'p, 't, 's> Pool<'p, 't, 's> {
    /// The pool of some tracks, and the windows that are left out.
    fn of(tracks: &[&'p TrackScores<'t, 's>]) -> (Self, Vec<String>) {
        let spans: Vec<(&str, &[DayIndex])> = tracks
            .iter()
            .map(|track| (track.window(), track.days()))
            .collect();
        let (pooled, left_out) = pooled_days(&spans);
        let window = |days: PooledDays| {
            let track = *tracks.get(days.place)?;
            Some(PooledWindow { track, days })
        };
        let name = |place: usize| Some(tracks.get(place)?.window().to_owned());
        let pool = Self {
            windows: pooled.into_iter().filter_map(window).collect(),
        };
        (pool, left_out.into_iter().filter_map(name).collect())
    }

    fn ranking(
        &self,
        (arm, mode): (MaskArm, Mode),
        left_out: Vec<String>,
        (market, settings, draws): (&Market, &Settings, Resampling),
    ) -> PooledRanking {
        let (whole, lacking): (Vec<&str>, Vec<&str>) = self.agents().into_iter().partition(|agent| {
            // Where it held nothing its selection is 0; where it played a part nothing is known.
            let is_whole = |agent: &&ScoredAgent| agent.why_incomplete().is_none();
            let mut windows = self.windows.iter();
            windows.all(|window| window.track.group.get(agent).is_some_and(is_whole))
                && self.decides_enough(agent)
        });
        let means = self.means(&whole, None);
        let ranks = means.as_ref().and_then(|means| rank_sets(means, draws));
        let family: Vec<(&'static str, RankSets)> = settings
            .family
            .iter()
            .filter_map(|(label, place)| {
                Some((*label, rank_sets(&self.means(&whole, Some(*place))?, draws)?))
            })
            .collect();
        let mut rows: Vec<PooledRow> = whole
            .iter()
            .chain(&lacking)
            .map(|agent| self.row(agent))
            .collect();
        if let (Some(means), Some(ranks)) = (&means, &ranks) {
            fill(&mut rows, (means, ranks), &family);
        }
        rows.sort_by_key(|row| row.rank.unwrap_or(usize::MAX));
        PooledRanking {
            level: arm.settings.level,
            instruction: arm.instruction,
            numeric: arm.settings.numeric,
            mode,
            windows: self.windows.iter().map(|window| span(window, market)).collect(),
            left_out,
            rows,
            separation: ranks.map(|ranks| separation(&whole, &ranks, &family)),
        }
    }

    /// Whether an agent decided often enough over all windows that something may be concluded.
    fn decides_enough(&self, agent: &str) -> bool {
        let of_window =
            |window: &PooledWindow<'_, '_, 's>| Some(window.track.group.get(agent)?.score.decisions);
        let windows: Vec<Decisions> = self.windows.iter().filter_map(of_window).collect();
        decide_enough(&windows)
    }

    /// Agents that have a rank in some window.
    fn agents(&self) -> BTreeSet<&'s str> {
        let each = self.windows.iter().flat_map(|window| window.track.group.iter());
        let ranked = each.filter(|(_, agent)| agent.has_rank());
        ranked.map(|(agent, _)| *agent).collect()
    }

    fn means(&self, agents: &[&str], setting: Option<usize>) -> Option<MeanTable> {
        let windows: Vec<Vec<SelectionSeries>> = self
            .windows
            .iter()
            .map(|window| agents.iter().map(|agent| window.series(agent, setting)).collect())
            .collect::<Option<_>>()?;
        pooled_selection(&windows)
    }

    /// A row without ranks.
    fn row(&self, agent: &str) -> PooledRow {
        let lacks = self
            .windows
            .iter()
            .filter(|window| !window.track.group.contains_key(agent));
        let scored = self
            .windows
            .iter()
            .find_map(|window| window.track.group.get(agent));
        let a_day = |window: &PooledWindow<'_, '_, '_>| Some(window.series(agent, None)?.a_day());
        PooledRow {
            agent: agent.to_owned(),
            cohort: scored.map_or(Cohort::Model, |scored| scored.cohort()),
            rank: None,
            missing: lacks.map(|window| window.track.window().to_owned()).collect(),
            selection_a_day: None,
            interval: None,
            rank_interval: None,
            rank_interval_default: None,
            first_share: None,
            by_window: self.windows.iter().map(a_day).collect(),
        }
    }
}

fn rank_sets(means: &MeanTable, draws: Resampling) -> Option<RankSets> {
    let rotations = Rotations::new(means.contrasts(), draws.replicates, draws.seed);
    RankSets::of(means, Confidence::P95, &rotations).ok()
}

/// Fills in what windows say of the rows that have all of them, which stand first and in the order of the means.
fn fill(
    rows: &mut [PooledRow],
    (means, ranks): (&MeanTable, &RankSets),
    family: &[(&'static str, RankSets)],
) {
    let found = ranks.agents().iter().zip(means.columns());
    for (place, (row, (rank, mean))) in rows.iter_mut().zip(found).enumerate() {
        let others = family.iter().filter_map(|(_, ranks)| ranks.agents().get(place));
        let interval = mean
            .estimate()
            .ok()
            .and_then(|found| found.interval(Confidence::P95).ok());
        row.rank = Some(rank.rank);
        row.selection_a_day = Some(mean.mean());
        row.interval = interval.map(|interval| Bounds {
            low: interval.lower,
            high: interval.upper,
        });
        row.rank_interval_default = Some(bounds(rank));
        row.rank_interval = Some(others.map(bounds).fold(bounds(rank), wider));
        // Who is alone is first of nobody.
        row.first_share = (1 < ranks.agents().len()).then_some(rank.first_share);
    }
}

fn separation(agents: &[&str], ranks: &RankSets, family: &[(&'static str, RankSets)]) -> PooledSeparation {
    let order_of = |ranks: &RankSets, one: usize, other: usize| {
        let rank = |place: usize| ranks.agents().get(place).map(|agent| agent.rank);
        rank(one).cmp(&rank(other))
    };
    let turned = |one: usize, other: usize| -> Vec<String> {
        let default = order_of(ranks, one, other);
        let turned = family
            .iter()
            .filter(|(_, ranks)| order_of(ranks, one, other) != default);
        turned.map(|(label, _)| (*label).to_owned()).collect()
    };
    let found = RankSeparation::of(ranks, &|one, other| !turned(one, other).is_empty());
    let name = |place: &usize| agents.get(*place).map(|agent| (*agent).to_owned());
    let places = found.order.iter().enumerate();
    let pairs =
        places.flat_map(|(own, above)| found.order.iter().skip(own + 1).map(move |below| (above, below)));
    let turned_pairs = pairs.filter_map(|(above, below)| {
        let settings = turned(*above, *below);
        (!settings.is_empty()).then_some(TurnedPair {
            above: name(above)?,
            below: name(below)?,
            settings,
        })
    });
    PooledSeparation {
        agents: found.order.iter().filter_map(name).collect(),
        turned: turned_pairs.collect(),
        win_share: found.win_share,
        open: found.open,
        groups: found.groups,
    }
}

fn span(window: &PooledWindow<'_, '_, '_>, market: &Market) -> PooledSpan {
    let days = window.track.days();
    let date = |day: Option<&DayIndex>| {
        let date = day.and_then(|day| market.date(*day));
        date.map_or_else(String::new, TradeDate::reveal)
    };
    PooledSpan {
        window: window.track.window().to_owned(),
        first: date(days.first()),
        last: date(days.last()),
        days: window.days.own(),
        counted_before: days.len() - window.days.own(),
    }
}
