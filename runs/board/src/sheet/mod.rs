//! The board's tables.

pub(crate) mod comparability;
mod contrasts;
mod exposures;
pub(crate) mod front;
pub(crate) mod memory;
mod metrics;
pub(crate) mod pooled;
mod profile;
mod ranking;
pub(crate) mod rejects;
pub(crate) mod seeds;
mod split;

pub use metrics::{CellForm, METRICS};

/// What a reader of separated pairs must know: no correction is made for their number.
pub(crate) const PER_PAIR: &str =
    "each pair is judged by itself: of ten pairs that do not differ, luck tells one apart";
pub(crate) use pooled::points;
pub(crate) use ranking::rank_cell;

use super::conceal::CLOSED;
use super::record::{Leaderboard, LeaderboardRow, PooledRanking, SeedStat, Track, UNSPLIT};
use ktd_attribution::account::WeightBasis;
use ktd_bundle::summary::Metric;
use ktd_view::draw::{TableCell, TableData};

/// Which table; the numbers are those of KTD-Fin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// Ranks over several windows together.
    Pooled,
    /// What each agent selected in each of those windows.
    ByWindow,
    /// Ranks by selection with their uncertainty, memory gap, coverage and faults.
    Ranking,
    /// Table 3: decision mode by mask.
    Profile,
    /// Table 4: the ten metrics with excess, alpha rank and delta rank.
    Metrics,
    /// Table 5: where the return came from.
    Split,
    /// Table 8: exposures to the styles, by agent and cohort.
    Exposures,
    /// Table 11: bright against blinded.
    Contrasts,
    /// The ten metrics over seeds: medians and quartiles.
    Seeds,
    /// Orders that the exchange rejected, by agent and code.
    Rejects,
    /// What must be equal before rows are compared.
    Comparability,
    /// Memory gaps before, across and after each model's training cutoff.
    Memory,
}

impl TableKind {
    /// All tables, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::Pooled,
        Self::ByWindow,
        Self::Ranking,
        Self::Profile,
        Self::Metrics,
        Self::Split,
        Self::Exposures,
        Self::Contrasts,
        Self::Seeds,
        Self::Rejects,
        Self::Comparability,
        Self::Memory,
    ];

    /// The word by which the command line and files name it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ranking => "ranking",
            Self::Pooled => "pooled",
            Self::ByWindow => "by-window",
            Self::Profile => "table3",
            Self::Metrics => "table4",
            Self::Split => "table5",
            Self::Exposures => "table8",
            Self::Contrasts => "table11",
            Self::Seeds => "seeds",
            Self::Rejects => "rejects",
            Self::Comparability => "comparability",
            Self::Memory => "memory",
        }
    }

    /// The table of a word or of KTD-Fin's number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_named = |kind: &Self| {
            let label = kind.label();
            label == text || label.strip_prefix("table") == Some(text) || kind.subject() == Some(text)
        };
        Self::ALL.into_iter().find(is_named)
    }

    /// What a table with one of KTD-Fin's numbers is of.
    const fn subject(self) -> Option<&'static str> {
        Some(match self {
            Self::Profile => "profile",
            Self::Metrics => "metrics",
            Self::Split => "split",
            Self::Exposures => "exposures",
            Self::Contrasts => "contrasts",
            Self::Pooled
            | Self::ByWindow
            | Self::Ranking
            | Self::Seeds
            | Self::Rejects
            | Self::Comparability
            | Self::Memory => return None,
        })
    }

    /// Whether it is of several windows together.
    #[must_use]
    pub const fn is_pooled(self) -> bool {
        matches!(self, Self::Pooled | Self::ByWindow)
    }

    /// Whether there is one a track; else one for the whole board.
    #[must_use]
    pub const fn is_per_track(self) -> bool {
        matches!(
            self,
            Self::Ranking
                | Self::Metrics
                | Self::Split
                | Self::Exposures
                | Self::Seeds
                | Self::Rejects
                | Self::Comparability
        )
    }
}

/// A table of the board; `track` where there is one a track, `basis` for the split.
#[must_use]
pub fn table(board: &Leaderboard, kind: TableKind, track: &Track, basis: WeightBasis) -> TableData {
    match kind {
        TableKind::Ranking => ranking::table(track),
        TableKind::Pooled => of_pooled(board, track, pooled::ranks),
        TableKind::ByWindow => of_pooled(board, track, pooled::windows),
        TableKind::Profile => profile::table(board),
        TableKind::Metrics => metrics::table(track),
        TableKind::Split => split::table(board, track, basis),
        TableKind::Exposures => exposures::table(board, track),
        TableKind::Contrasts => contrasts::table(board),
        TableKind::Seeds => seeds::table(track),
        TableKind::Rejects => rejects::table(track),
        TableKind::Comparability => comparability::table(track),
        TableKind::Memory => memory::table(board),
    }
}

/// The pooled ranking of a track's mask and mode; none where two windows do not lie apart.
#[must_use]
pub fn pooled_ranking<'b>(board: &'b Leaderboard, track: &Track) -> Option<&'b PooledRanking> {
    board.pooled.iter().find(|pooled| pooled.is_of(track))
}

/// A table of that ranking.
fn of_pooled(board: &Leaderboard, track: &Track, table: fn(&PooledRanking) -> TableData) -> TableData {
    pooled_ranking(board, track).map_or_else(pooled::none, table)
}

/// A metric in this form.
pub(crate) fn metric_cell(metric: &Metric, form: CellForm) -> TableCell {
    let missing = || TableCell::Missing(metric.reason.clone().unwrap_or_else(|| "not known".to_owned()));
    metric.value.map_or_else(missing, form)
}

/// What selection added up to over the window, or why it is no figure.
pub(crate) fn selection_cell(leader: &LeaderboardRow) -> TableCell {
    match leader.linked_selection() {
        Some(selection) => TableCell::Change(selection),
        None if leader.attribution.is_some() => TableCell::Missing(UNSPLIT.to_owned()),
        None => TableCell::Empty,
    }
}

/// Why a row lacks a metric: those of a window that is not opened are hidden.
pub(crate) fn lacking(leader: &LeaderboardRow) -> TableCell {
    TableCell::Missing(if leader.unattributed_reason.as_deref() == Some(CLOSED) {
        CLOSED.to_owned()
    } else {
        format!("not defined for a {}", leader.cohort.label())
    })
}

/// The median of a figure over seeds.
fn stat_cell(stat: Option<&SeedStat>, form: CellForm) -> TableCell {
    stat.map_or(TableCell::Empty, |stat| metric_cell(&stat.median, form))
}

/// How an agent was forced; empty where it was not asked.
pub(crate) fn force(leader: &LeaderboardRow) -> TableCell {
    TableCell::Text(leader.force.map_or("", |level| level.label()).to_owned())
}

/// What a ranking is of, in words.
fn described(track: &Track) -> String {
    let market = track.regime.map_or_else(String::new, |regime| {
        format!(", {} market", regime.regime.label())
    });
    let mark = track
        .window_mark
        .as_ref()
        .map_or_else(String::new, |mark| format!("; {mark}"));
    format!(
        "window {}, {} days{market}, {}/{}, {}{mark}",
        track.window,
        track.dates.len(),
        track.level_label(),
        track.numeric.label(),
        track.mode.label()
    )
}
