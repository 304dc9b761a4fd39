//! One finished episode, read from its bundle, ready to be scored.

use super::day_books::day_books;
use super::forecast::{Forecast, forecasts};
use crate::bundle::BundlePaths;
use crate::bundle::chain::Lines;
use crate::bundle::event::ReadEvent;
use crate::bundle::header::Header;
use crate::bundle::ledger::LedgerLine;
use crate::bundle::open::{read_header, read_private};
use crate::bundle::summary::{EpisodeFold, Summary};
use crate::bundle::verify::{check_summary, read_summary};
use crate::error::RunError;
use crate::experiment::cells::days_between;
use ktd_attribution::account::DayBook;
use ktd_env::exchange::StepReport;
use ktd_env::{DayIndex, Fen, Market, TradeDate};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A finished episode's public part: enough to know what it is.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its bundle.
    pub root: PathBuf,
    /// Its header.
    pub header: Header,
}

impl Found {
    /// The header of the bundle in `root`.
    ///
    /// # Errors
    /// [`RunError`] when it is none.
    pub fn read(root: &Path) -> Result<Self, RunError> {
        let header = read_header(&BundlePaths::new(root))?;
        Ok(Self {
            root: root.to_owned(),
            header,
        })
    }

    /// Whether the episode has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        BundlePaths::new(&self.root).summary().exists()
    }

    /// Its trading days on a panel; `None` without its private part.
    ///
    /// # Errors
    /// [`RunError`] when the private part is damaged, or the panel does not cover the window.
    pub fn panel_days(&self, market: &Market) -> Result<Option<Vec<DayIndex>>, RunError> {
        let paths = BundlePaths::new(&self.root);
        if !paths.episode().exists() {
            return Ok(None);
        }
        let (private, _) = read_private(&paths, &self.header)?;
        let date = |text: &str| {
            TradeDate::parse(text).map_err(|error| RunError::damaged(&paths.episode(), error.to_string()))
        };
        let (first, last) = (date(&private.first_day)?, date(&private.last_day)?);
        days_between(&self.header.window.id, first, last, market).map(Some)
    }

    /// Where its panel was when it was made, where the bundle says so.
    #[must_use]
    pub fn panel(&self) -> Option<PathBuf> {
        let (private, _) = read_private(&BundlePaths::new(&self.root), &self.header).ok()?;
        private.panel.map(PathBuf::from)
    }
}

/// A finished episode with its days.
#[derive(Debug, Clone)]
pub struct Played {
    /// What it is, and where.
    pub found: Found,
    /// Its summary, checked against its files.
    pub summary: Summary,
    /// Its trading days.
    pub days: Vec<DayIndex>,
    /// Its account, day by day.
    pub books: Vec<DayBook>,
    /// What the exchange reported, day by day.
    pub reports: Vec<StepReport>,
    /// Stated confidences with what happened.
    pub forecasts: Vec<Forecast>,
    /// Names of the models that answered, as the provider says.
    pub served_models: BTreeSet<String>,
    /// Net asset values at the closes, CNY, after the initial cash.
    pub nav_cny: Vec<f64>,
    /// Cash before the first day, CNY.
    pub initial_cny: f64,
}

impl Played {
    /// Reads an episode and checks its files against its summary.
    ///
    /// # Errors
    /// [`RunError`] when a part is missing or damaged, a trading day is missing, or the panel is another one.
    pub fn read(found: Found, market: &Market) -> Result<Self, RunError> {
        let paths = BundlePaths::new(&found.root);
        let header = &found.header;
        let (_, key) = read_private(&paths, header)?;
        let summary = read_summary(&paths)?;
        check_summary(&paths, &summary, Some(&key))?;
        let days = found.panel_days(market)?.unwrap_or_default();
        let events: Vec<ReadEvent> = Lines::read(&paths.events())?.bodies(&paths.events())?;
        let initial = Fen(EpisodeFold::of(&events).initial_cash_fen);
        let lines: Vec<LedgerLine> = Lines::read(&paths.ledger())?.bodies(&paths.ledger())?;
        let (books, reports): (Vec<_>, Vec<_>) =
            day_books(&lines, (market, &days), initial, &paths.ledger())?
                .into_iter()
                .unzip();
        let forecasts = forecasts(&events, &reports, (market, &days));
        let served = events.iter().filter_map(|event| match event {
            ReadEvent::Turn { served_model, .. } => served_model.clone(),
            ReadEvent::EpisodeBegin { .. }
            | ReadEvent::StepBegin { .. }
            | ReadEvent::InfrastructureFault { .. }
            | ReadEvent::ToolCall { .. }
            | ReadEvent::ModelFault { .. }
            | ReadEvent::Decision { .. }
            | ReadEvent::Fills { .. }
            | ReadEvent::StepEnd { .. }
            | ReadEvent::EpisodeEnd { .. } => None,
        });
        Ok(Self {
            served_models: served.collect(),
            nav_cny: reports.iter().map(|report| report.nav.to_yuan()).collect(),
            initial_cny: initial.to_yuan(),
            found,
            summary,
            days,
            books,
            reports,
            forecasts,
        })
    }
}
