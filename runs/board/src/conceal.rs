//! What a board may say of windows that are not opened: nothing by which whoever owns all prices could find them.
//!
//! A window is closed where its days were drawn and its mask is not opened by a publication. A series of prices or values finds it,
//! and so does a figure of the whole window with enough digits, the rows of agents that anybody can run, and every hash over days.
//! Left are the ranks over ten windows or more of those whose choices nobody can repeat, by selection in whole basis points a day.

use super::by_agent::ScoredAgent;
use super::record::{
    Bounds, Cohort, Leaderboard, LeaderboardRow, ModelHealth, PooledRanking, PooledRow, Track, WindowMark,
};
use crate::BoardError;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::summary::Metric;
use ktd_record::draw_number::drawn_with;
use ktd_record::signer_mark::FINGERPRINT_DIGITS;
use ktd_view::draw::counted;
use std::collections::{BTreeMap, BTreeSet};

/// Draws whose days somebody else may know, by their commitments.
#[derive(Debug, Default)]
pub(super) struct KnownDraws {
    /// Those of which a record tells the days: an arm that shows them, in whatever experiment.
    shown: BTreeSet<String>,
    /// Those of which a publication gave the key.
    opened: BTreeSet<String>,
}

impl KnownDraws {
    /// What these bundles tell.
    pub(super) fn of<'b>(bundles: impl Iterator<Item = &'b BundleRef>) -> Self {
        let mut known = Self::default();
        for BundleRef { header, signer, .. } in bundles {
            let Some(draw) = &header.window.draw else {
                continue;
            };
            if draw.is_shown || !header.mask.level.hides_days() {
                known.shown.insert(draw.commitment.clone());
            }
            if signer.fingerprint.is_some() {
                known.opened.insert(draw.commitment.clone());
            }
        }
        known
    }

    /// The mark of the episodes of one masked window, the worst of all; `None` where the mask shows days anyway.
    ///
    /// # Errors
    /// [`BoardError`] for a number that is not of who it says.
    pub(super) fn window_mark<'s>(
        &self,
        bundles: impl Iterator<Item = &'s BundleRef>,
    ) -> Result<Option<WindowMark>, BoardError> {
        let masked = bundles.filter(|bundle| bundle.header.mask.level.hides_days());
        let marks = masked.map(|BundleRef { header, signer, .. }| {
            let draw = header.window.draw.as_ref();
            let Some(draw) = draw.filter(|draw| !self.shown.contains(&draw.commitment)) else {
                return Ok(WindowMark::Public);
            };
            let with = drawn_with(draw, signer.fingerprint.as_deref())?;
            Ok(with.map_or(WindowMark::DrawnByOperator, WindowMark::DrawnWith))
        });
        let marks: Vec<WindowMark> = marks.collect::<Result<_, BoardError>>()?;
        Ok(marks.into_iter().max())
    }

    /// Whether a masked window of these episodes is closed: drawn, and known to nobody else.
    pub(super) fn is_closed(&self, shown: &[&ScoredAgent]) -> bool {
        let masked = shown
            .iter()
            .flat_map(|agent| &agent.bundles)
            .filter(|bundle| bundle.header.mask.level.hides_days());
        let mut draws = masked.filter_map(|bundle| bundle.header.window.draw.as_ref());
        draws.any(|draw| !self.shown.contains(&draw.commitment) && !self.opened.contains(&draw.commitment))
    }
}

/// What a reader must know of a draw of which some windows are not here: whoever shows the rest may have chosen.
pub(super) fn missing_windows<'s>(shown: impl Iterator<Item = &'s BundleRef>) -> Vec<String> {
    let mut places: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for draw in shown.filter_map(|bundle| bundle.header.window.draw.as_ref()) {
        places.entry(&draw.commitment).or_default().insert(draw.place);
    }
    let note = |(commitment, places): (&str, BTreeSet<usize>)| {
        let last = places.last().copied().unwrap_or(0).min(MOST_PLACES);
        let missing: Vec<String> = (1..=last)
            .filter(|place| !places.contains(place))
            .map(|place| format!("d{place:02}"))
            .collect();
        let draw = commitment.get(..FINGERPRINT_DIGITS).unwrap_or(commitment);
        (!missing.is_empty()).then(|| {
            format!(
                "of the draw {draw} these windows are not here, and whoever left them out may have chosen: {}",
                missing.join(", ")
            )
        })
    };
    places.into_iter().filter_map(note).collect()
}

/// Places of a draw that are looked at: a stranger's header may name any.
const MOST_PLACES: usize = 1_000;

/// The agents whose decisions nobody can make again: those of built-in agents and controls follow from the days.
///
/// # Errors
/// [`BoardError`] where there are none, and where they are of more than one draw.
pub(super) fn unrepeatable<'s>(
    shown: &[&'s ScoredAgent],
    unfinished: usize,
) -> Result<Vec<&'s ScoredAgent>, BoardError> {
    let is_theirs = |agent: &&&ScoredAgent| !agent.bundles.iter().any(|bundle| bundle.header.agent.is_ours());
    let draw = |bundle: &BundleRef| {
        let draw = bundle.header.window.draw.as_ref();
        draw.map(|draw| draw.commitment.clone())
    };
    let bundles = shown.iter().flat_map(|agent| &agent.bundles);
    let draws: BTreeSet<Option<String>> = bundles.map(draw).collect();
    if 1 < draws.len() {
        return Err(BoardError::input(
            "windows that are not opened stand beside others: what they share with those would tell where they lie",
            "name the results of one draw alone, or pass --real for a board that nobody else may see",
        ));
    }
    let left: Vec<&ScoredAgent> = shown.iter().filter(is_theirs).copied().collect();
    if left.is_empty() && 0 < unfinished {
        let count = counted(unfinished, "episode");
        return Err(BoardError::input(
            format!(
                "these windows are not opened, and no agent that may be ranked has finished one: {count} have not ended"
            ),
            "go on with `ktd run FILE` until they have, or pass --real for a board that nobody else may see",
        ));
    }
    if left.is_empty() {
        return Err(BoardError::input(
            "these windows are not opened, and nothing is left to rank: figures of built-in agents and controls would find them",
            "publish with --open-mask and rank what is published, or pass --real for a board that nobody else may see",
        ));
    }
    Ok(left)
}

/// Why a figure is not there.
pub(crate) const CLOSED: &str = "hidden until the window is opened";

/// Whether figures are left out of a board because its windows are not opened.
pub(crate) fn is_concealed(board: &Leaderboard) -> bool {
    board.model.fit_sha256 == CLOSED
}

fn hidden() -> Metric {
    Metric::missing(CLOSED.to_owned())
}

/// Windows that are ranked together before they are opened, at least: five agents that hold one style group each, which
/// anybody can value on all days, give away a window's day in six of ten cases by figures of one window, in one of twelve by
/// those of ten together (`tests/scripts/closed_board.py`).
const LEAST_POOLED: usize = 10;

/// The note of a board over closed windows.
const NOTE: &str = "the windows are not opened: days are numbers; series, benchmarks, references, built-in agents, controls and \
                    figures of a window are left out; agents are ranked over ten windows or more, in whole basis points a day";

/// The board without what would find a closed window.
pub(super) fn concealed(board: Leaderboard) -> Leaderboard {
    let mut board = Leaderboard {
        contrasts: Vec::new(),
        cutoff_gaps: Vec::new(),
        sensitivity: Vec::new(),
        health: ModelHealth {
            dates: Vec::new(),
            r_squared: Vec::new(),
            names: Vec::new(),
            imputed: Vec::new(),
            thin_days: 0,
            factors: Vec::new(),
        },
        tracks: board.tracks.into_iter().map(concealed_track).collect(),
        pooled: board.pooled.into_iter().filter_map(concealed_pooled).collect(),
        ..board
    };
    CLOSED.clone_into(&mut board.model.fit_sha256);
    board.model.calibration = None;
    board.notes.push(NOTE.to_owned());
    board
}

fn concealed_track(track: Track) -> Track {
    let days = track.dates.len();
    let leaders = track
        .leaders
        .into_iter()
        .filter(|row| row.cohort != Cohort::Reference);
    let mut leaders: Vec<LeaderboardRow> = leaders.map(concealed_row).collect();
    leaders.sort_by(|one, other| one.agent.cmp(&other.agent));
    Track {
        dates: (1..=days).map(|day| format!("day {day}")).collect(),
        benchmark_return: hidden(),
        benchmark: Vec::new(),
        price_index_return: hidden(),
        price_index: Vec::new(),
        regime: None,
        leaders,
        separation: None,
        ..track
    }
}

fn concealed_row(row: LeaderboardRow) -> LeaderboardRow {
    let has_rank = row.alpha_rank.is_some();
    LeaderboardRow {
        orders: None,
        metrics: BTreeMap::new(),
        return_rank: None,
        alpha_rank: None,
        delta_rank: None,
        rank_interval: None,
        rank_interval_default: None,
        unranked_reason: if has_rank {
            Some(CLOSED.to_owned())
        } else {
            row.unranked_reason
        },
        first_share: None,
        attribution: None,
        selection: None,
        size_cost: None,
        exposures: Vec::new(),
        daily_exposures: Vec::new(),
        curves: None,
        reliability: None,
        memory_gap: None,
        unattributed_reason: Some(CLOSED.to_owned()),
        ..row
    }
}

/// What all windows together may tell. An agent may trade in one of them alone, so nothing is left that has no size: an order
/// within a basis point, a share of wins.
fn concealed_pooled(pooled: PooledRanking) -> Option<PooledRanking> {
    if pooled.windows.len() < LEAST_POOLED {
        return None;
    }
    let mut windows = pooled.windows;
    for window in &mut windows {
        window.first.clear();
        window.last.clear();
    }
    // Their order was that of their days.
    windows.sort_by(|one, other| one.window.cmp(&other.window));
    let mut rows: Vec<PooledRow> = pooled.rows.into_iter().map(concealed_pooled_row).collect();
    let points = |row: &PooledRow| {
        row.selection_a_day
            .map(|a_day| (a_day / BASIS_POINT).round() + 0.0)
    };
    let key = |row: &PooledRow| (row.rank.is_none(), points(row).map_or(0.0, |points| 0.0 - points));
    rows.sort_by(|one, other| {
        let (one_key, other_key) = (key(one), key(other));
        let by_points = one_key
            .0
            .cmp(&other_key.0)
            .then(one_key.1.total_cmp(&other_key.1));
        by_points.then_with(|| one.agent.cmp(&other.agent))
    });
    let all: Vec<Option<f64>> = rows.iter().map(points).collect();
    for (row, own) in rows.iter_mut().zip(&all) {
        // Equal figures share the best of their ranks.
        row.rank = row
            .rank
            .and(all.iter().position(|other| other == own))
            .map(|before| before + 1);
    }
    Some(PooledRanking {
        rows,
        left_out: Vec::new(),
        windows,
        separation: None,
        ..pooled
    })
}

/// An agent that lacks windows has figures of fewer than are enough.
fn concealed_pooled_row(mut row: PooledRow) -> PooledRow {
    let is_whole = row.rank.is_some();
    row.selection_a_day = row.selection_a_day.filter(|_| is_whole).map(whole_basis_points);
    row.interval = row.interval.filter(|_| is_whole).map(|bounds| Bounds {
        low: whole_basis_points(bounds.low),
        high: whole_basis_points(bounds.high),
    });
    row.rank_interval_default = None;
    row.first_share = None;
    row.by_window.fill(None);
    row.missing.sort();
    row
}

const BASIS_POINT: f64 = 1e-4;

fn whole_basis_points(a_day: f64) -> f64 {
    // Adding 0 drops the sign of a figure that is rounded to it.
    (a_day / BASIS_POINT).round() * BASIS_POINT + 0.0
}
