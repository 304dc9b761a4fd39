//! The board's tables: the same cells for the terminal, for CSV and for whoever reads either.

mod cell;
mod contrasts;
mod exposures;
mod metrics;
mod profile;
mod ranking;
mod split;

pub use cell::Cell;
pub use metrics::{Form, METRICS};

use super::record::{Board, Track};
use crate::BoardError;
use ktd_view::table::{Align, Table};
use std::fmt::Write;

/// Which table; the numbers are those of KTD-Fin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
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
}

impl Kind {
    /// All tables, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Ranking,
        Self::Profile,
        Self::Metrics,
        Self::Split,
        Self::Exposures,
        Self::Contrasts,
    ];

    /// The word by which the command line and files name it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ranking => "ranking",
            Self::Profile => "table3",
            Self::Metrics => "table4",
            Self::Split => "table5",
            Self::Exposures => "table8",
            Self::Contrasts => "table11",
        }
    }

    /// The table of a word or of KTD-Fin's number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.label() == text || kind.label().strip_prefix("table") == Some(text))
    }

    /// Whether there is one a track; else one for the whole board.
    #[must_use]
    pub const fn is_per_track(self) -> bool {
        matches!(
            self,
            Self::Ranking | Self::Metrics | Self::Split | Self::Exposures
        )
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// What it shows.
    pub title: String,
    /// Column heads.
    pub columns: Vec<(String, Align)>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

impl Sheet {
    /// A table of the board; `track` where there is one a track, `basis` for the split (`pre`, `post`, `two`).
    #[must_use]
    pub fn of(board: &Board, kind: Kind, track: &Track, basis: &str) -> Self {
        match kind {
            Kind::Ranking => ranking::sheet(track),
            Kind::Profile => profile::sheet(board),
            Kind::Metrics => metrics::sheet(track),
            Kind::Split => split::sheet(board, track, basis),
            Kind::Exposures => exposures::sheet(board, track),
            Kind::Contrasts => contrasts::sheet(board),
        }
    }

    fn new(title: String, columns: &[(&str, Align)]) -> Self {
        Self {
            title,
            columns: columns
                .iter()
                .map(|(head, align)| ((*head).to_owned(), *align))
                .collect(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The table as text, with its title above and its notes below.
    #[must_use]
    pub fn text(&self) -> String {
        let heads: Vec<(&str, Align)> = self
            .columns
            .iter()
            .map(|(head, align)| (head.as_str(), *align))
            .collect();
        let mut table = Table::new(&heads);
        let mut reasons: Vec<&str> = Vec::new();
        for row in &self.rows {
            table.row(row.iter().map(|cell| cell.shown(&mut reasons)));
        }
        let mut text = format!("{}\n{}", self.title, table.render());
        for (place, reason) in reasons.iter().enumerate() {
            // Writing to a string cannot fail.
            writeln!(text, "n/a{}: {reason}", place + 1).ok();
        }
        for note in &self.notes {
            writeln!(text, "note: {note}").ok();
        }
        text
    }

    /// The table as CSV with unrounded numbers; a missing number is empty.
    ///
    /// # Errors
    /// [`BoardError::Input`] when it cannot be written, which memory alone could cause.
    pub fn csv(&self) -> Result<Vec<u8>, BoardError> {
        let failed =
            |error: String| BoardError::input(format!("cannot write CSV: {error}"), "report this defect");
        let mut writer = csv::Writer::from_writer(Vec::new());
        let heads = self.columns.iter().map(|(head, _)| head);
        writer
            .write_record(heads)
            .map_err(|error| failed(error.to_string()))?;
        for row in &self.rows {
            let cells = row.iter().map(Cell::raw);
            writer
                .write_record(cells)
                .map_err(|error| failed(error.to_string()))?;
        }
        writer.into_inner().map_err(|error| failed(error.to_string()))
    }
}

/// What a ranking is of, in words.
fn described(track: &Track) -> String {
    format!(
        "window {}, {} days, {}/{}, {}",
        track.window,
        track.dates.len(),
        track.level,
        track.numeric,
        track.mode
    )
}
