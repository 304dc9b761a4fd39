//! One finished episode, read from its bundle, ready to be scored.

use super::day_books::day_books;
use super::forecast::{Forecast, forecasts};
use crate::BoardError;
use ktd_attribution::account::DayBook;
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::Found;
use ktd_bundle::chain::Lines;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::open::read_private;
use ktd_bundle::summary::{EpisodeFold, Summary};
use ktd_bundle::summary_file::{check_summary, read_summary};
use ktd_env::exchange::StepReport;
use ktd_env::{DayIndex, Fen, Market};
use std::collections::BTreeSet;

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
    /// [`BoardError`] when a part is missing or damaged, a trading day is missing, or the panel is another one.
    pub fn read(found: Found, market: &Market) -> Result<Self, BoardError> {
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
