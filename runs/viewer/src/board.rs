//! A board as its own file tells it: what the pages lay beside episodes.

use crate::ViewerError;
use crate::entry::EpisodeContent;
use crate::plain_files::check_all;
use crate::slug::plain;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::read_bounded;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The most that a board may hold to be shown: 256 MiB.
const BOARD_LIMIT_BYTES: u64 = 256 << 20;

/// What pages show of a leaderboard. Returns and weights are shares; a value by day is one a session of the window.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Board {
    pub(crate) title: String,
    pub(crate) model: StyleNames,
    pub(crate) tracks: Vec<Track>,
    /// Whether it tells of windows that are not opened: its own page has their days.
    #[serde(default)]
    pub(crate) names_closed_windows: bool,
}

/// Names of the factor model's styles.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StyleNames {
    pub(crate) styles: Vec<String>,
}

/// Agents that are ranked against each other: one window, one mask, one decision mode.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Track {
    pub(crate) window: String,
    pub(crate) level: String,
    /// Whose instructions were shown, where the mask had others than its own.
    #[serde(default)]
    pub(crate) instruction: Value,
    pub(crate) numeric: String,
    pub(crate) mode: String,
    pub(crate) dates: Vec<String>,
    pub(crate) benchmark_name: String,
    /// Value of one CNY by day.
    #[serde(default)]
    pub(crate) benchmark: Vec<f64>,
    pub(crate) price_index_name: Option<String>,
    /// Value of one CNY by day.
    #[serde(default)]
    pub(crate) price_index: Vec<f64>,
    pub(crate) leaders: Vec<TrackRow>,
}

/// An agent of a track.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TrackRow {
    pub(crate) agent: String,
    cohort: String,
    pub(crate) seeds: Vec<u64>,
    pub(crate) return_rank: Option<u64>,
    pub(crate) alpha_rank: Option<u64>,
    pub(crate) rank_interval: Option<Between>,
    pub(crate) attribution: Option<Bases>,
    pub(crate) unattributed_reason: Option<String>,
    pub(crate) selection: Option<Selection>,
    pub(crate) reliability: Option<Reliability>,
    /// By style, a value a day; none on days that could not be fitted.
    #[serde(default)]
    pub(crate) daily_exposures: Vec<Vec<Option<f64>>>,
    pub(crate) curves: Option<Curves>,
    #[serde(default)]
    metrics: RowMetrics,
}

/// Of the figures over seeds, what tells whose they are.
#[derive(Debug, Clone, Default, Deserialize)]
struct RowMetrics {
    total_return: Option<SeedValues>,
}

/// A figure, a value a seed that has one.
#[derive(Debug, Clone, Deserialize)]
struct SeedValues {
    #[serde(default)]
    median: Known,
    #[serde(default)]
    values: Vec<f64>,
}

/// Two bounds.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Between {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A number, or nothing where it has none.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(crate) struct Known {
    #[serde(default)]
    pub(crate) value: Option<f64>,
}

/// The split of a return by the basis that ranks.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Bases {
    pub(crate) two: Linked,
}

/// A split linked over days.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Linked {
    pub(crate) carino: Parts,
}

/// Parts of a return that add up to it; market, style and selection are none where no day could be fitted.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Parts {
    pub(crate) common: Option<f64>,
    pub(crate) styles: Vec<f64>,
    pub(crate) style: Option<f64>,
    pub(crate) selection: Option<f64>,
    pub(crate) execution: f64,
    pub(crate) slip: f64,
    pub(crate) cost: f64,
    pub(crate) corporate: f64,
    pub(crate) unattributed: f64,
    pub(crate) portfolio: f64,
}

/// What was selected, and what luck alone selects.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Selection {
    pub(crate) a_day: f64,
    pub(crate) interval: Option<Between>,
    pub(crate) null_band: Option<Between>,
    pub(crate) null_percentile: Option<f64>,
    #[serde(default)]
    pub(crate) newey_west_t: Known,
    #[serde(default)]
    pub(crate) dsr: Known,
    pub(crate) independent_decisions: Option<f64>,
}

/// Stated confidence against what happened.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Reliability {
    pub(crate) orders: u64,
    #[serde(default)]
    pub(crate) ece: Known,
    #[serde(default)]
    pub(crate) brier: Known,
    #[serde(default)]
    pub(crate) bins: Vec<ConfidenceBin>,
}

/// Orders of like confidence.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ConfidenceBin {
    pub(crate) orders: u64,
    pub(crate) confidence: Option<f64>,
    pub(crate) accuracy: Option<f64>,
}

/// Means over seeds by day: the value of one CNY, and what each part added so far.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Curves {
    pub(crate) nav: Vec<f64>,
    pub(crate) common: Vec<f64>,
    pub(crate) style: Vec<f64>,
    pub(crate) selection: Vec<f64>,
    pub(crate) other: Vec<f64>,
}

impl Board {
    /// The board in a folder.
    ///
    /// # Errors
    /// [`ViewerError`] when its file cannot be read, is a link, or is no board.
    pub(crate) fn read(folder: &Path) -> Result<Self, ViewerError> {
        let path = folder.join("leaderboard.json");
        check_all(std::slice::from_ref(&path))?;
        let bytes = read_bounded(&path, BOARD_LIMIT_BYTES)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            ViewerError::damaged(&path, format!("it is no board of this version of ktd ({error})"))
        })
    }

    /// Each row with its track, in the order of the board.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Track, &TrackRow)> {
        let tracks = self.tracks.iter();
        tracks.flat_map(|track| track.leaders.iter().map(move |row| (track, row)))
    }

    /// The row of an address.
    pub(crate) fn row(&self, slug: &str) -> Option<(&Track, &TrackRow)> {
        self.rows().find(|(track, row)| row.slug(track) == slug)
    }

    /// Whether real days of a window stand behind the switch alone: a mask hides them from any row, so that no other row tells them.
    pub(crate) fn hides_days(&self, window: &str) -> bool {
        let mut own = self.tracks.iter().filter(|track| track.window == window);
        own.any(|track| track.hides_days() && track.names_days())
    }

    /// Whether it ranks an episode, wherever that lies: one of an experiment of its title, with a return that its row has.
    pub(crate) fn ranks(&self, content: &EpisodeContent) -> bool {
        let mut titles = self.title.split(", ");
        let is_its_own = titles.any(|title| title == content.header.experiment);
        is_its_own
            && self
                .row_of(content)
                .is_some_and(|(_, row)| row.has_return_of(content))
    }

    /// The row that an episode is part of.
    pub(crate) fn row_of(&self, content: &EpisodeContent) -> Option<(&Track, &TrackRow)> {
        self.rows().find(|(track, row)| row.holds(track, content))
    }
}

/// Returns that are this close are the same.
const RETURN_GAP: f64 = 1e-9;
/// Hexadecimal digits that tell rows apart which read the same.
const SLUG_DIGITS: usize = 8;

impl Track {
    /// Its mask: level, instructions where they are another's, and how numbers are shown.
    pub(crate) fn mask(&self, between: &str) -> String {
        let parts = [
            Some(self.level.as_str()),
            self.instruction.as_str(),
            Some(&self.numeric),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(between)
    }

    /// Whether the mask hides days; a level of which nothing is known does.
    fn hides_days(&self) -> bool {
        !["bright", "stock-blind"].contains(&self.level.as_str())
    }

    /// Whether the board names the days, and does not number them as it does of a window that is not opened.
    pub(crate) fn names_days(&self) -> bool {
        !self.dates.is_empty() && !self.is_closed()
    }

    /// Whether the board leaves out what would find its window, which is not opened.
    pub(crate) fn is_closed(&self) -> bool {
        self.dates.first().is_some_and(|date| date.starts_with("day "))
    }
}

impl TrackRow {
    /// What its agent is, in the word of a board's own page.
    pub(crate) fn cohort(&self) -> &str {
        match self.cohort.as_str() {
            "builtin" => "built-in",
            cohort => cohort,
        }
    }

    /// Its name in addresses: as its episodes are called, without the seed.
    pub(crate) fn slug(&self, track: &Track) -> String {
        let mask = track.mask("-");
        let name = [self.agent.as_str(), &track.window, &mask, &track.mode].join("__");
        let plain = plain(&name);
        if plain == name {
            return plain;
        }
        // What was cut off or replaced tells rows apart.
        let digits: String = sha256_hex(name.as_bytes()).chars().take(SLUG_DIGITS).collect();
        format!("{plain}.{digits}")
    }

    /// Its return as the board's own tables have it, the median over seeds; that of a reference, too, which holds nothing to split.
    pub(crate) fn total_return(&self) -> Option<f64> {
        self.metrics.total_return.as_ref()?.median.value
    }

    /// Whether the return of an episode is one of its own, as far as both are known: another run of the same cell has another.
    fn has_return_of(&self, content: &EpisodeContent) -> bool {
        let account = content.summary().and_then(|summary| summary.account.as_ref());
        let own = account.and_then(|account| account.total_return.value);
        let known = self.metrics.total_return.as_ref();
        own.zip(known)
            .is_none_or(|(own, known)| known.values.iter().any(|value| (value - own).abs() < RETURN_GAP))
    }

    /// Whether an episode is one of its runs.
    pub(crate) fn holds(&self, track: &Track, content: &EpisodeContent) -> bool {
        let header = &content.header;
        header.agent.id == self.agent
            && header.window.id == track.window
            && header.mask.level.label() == track.level
            && same(&header.mask.instruction, &track.instruction)
            && header.mask.numeric.label() == track.numeric
            && header.mode.label() == track.mode
            && self.seeds.contains(&header.seed)
    }
}

fn same(one: &impl serde::Serialize, other: &Value) -> bool {
    serde_json::to_value(one).is_ok_and(|one| one == *other)
}
