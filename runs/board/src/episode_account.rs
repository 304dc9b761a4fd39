//! The account of a finished episode on its market: days, books and forecasts, ready to be scored.

use super::day_books::day_books;
use super::forecast::{OrderForecast, forecasts};
use super::order_tally::OrderTally;
use crate::BoardError;
use ktd_attribution::account::DayBook;
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::sent_settings::SentSettings;
use ktd_bundle::summary::{EpisodeFold, Summary};
use ktd_env::exchange::StepReport;
use ktd_env::{DayIndex, Fen, Market};
use std::collections::BTreeSet;

/// The account of a finished episode on its market.
#[derive(Debug, Clone)]
pub struct EpisodeAccount {
    /// Which bundle it is of.
    pub bundle: BundleRef,
    /// Its summary, checked against its files.
    pub summary: Summary,
    /// Its trading days.
    pub days: Vec<DayIndex>,
    /// Its account, day by day.
    pub books: Vec<DayBook>,
    /// Settings of generation as its requests name them.
    pub sent: SentSettings,
    /// What became of its orders.
    pub orders: OrderTally,
    /// What the exchange reported, day by day.
    pub reports: Vec<StepReport>,
    /// Stated confidences with what happened.
    pub forecasts: Vec<OrderForecast>,
    /// Names of the models that answered, as the provider says.
    pub served_models: BTreeSet<String>,
    /// Net asset values at the closes, CNY, after the initial cash.
    pub nav_cny: Vec<f64>,
    /// Cash before the first day, CNY.
    pub initial_cny: f64,
}

impl EpisodeAccount {
    /// The account of an episode whose files were read: nothing more is opened.
    ///
    /// # Errors
    /// [`BoardError`] without a private part, when a trading day is missing, or the panel is another one.
    pub fn of(episode: FinishedEpisode, market: &Market) -> Result<Self, BoardError> {
        let FinishedEpisode {
            opened,
            summary,
            events,
            sent,
            ledger,
        } = episode;
        let days = days(&opened, market)?;
        let bundle = opened.bundle;
        let initial = Fen(EpisodeFold::of(&events).initial_cash_fen);
        let path = BundlePaths::new(&bundle.root).ledger();
        let (books, reports): (Vec<_>, Vec<_>) = day_books(&ledger, (market, &days), initial, &path)?
            .into_iter()
            .unzip();
        let forecasts = forecasts(&events, &reports, (market, &days));
        Ok(Self {
            orders: OrderTally::of(&events, &reports),
            sent,
            served_models: events.into_iter().filter_map(served_model).collect(),
            nav_cny: reports.iter().map(|report| report.nav.to_yuan()).collect(),
            initial_cny: initial.to_yuan(),
            bundle,
            summary,
            days,
            books,
            reports,
            forecasts,
        })
    }
}

/// The books of a bundle's ledger alone: what its daily selection is computed from.
///
/// # Errors
/// [`BoardError`] when ledger or header is damaged, or the panel is another one.
pub(super) fn ledger_books(opened: &OpenedBundle, market: &Market) -> Result<Vec<DayBook>, BoardError> {
    let days = days(opened, market)?;
    let initial = opened.bundle.header.rules.rules()?.initial_cash;
    let path = BundlePaths::new(&opened.bundle.root).ledger();
    let books = day_books(&opened.ledger()?, (market, &days), initial, &path)?;
    Ok(books.into_iter().map(|(book, _)| book).collect())
}

fn days(opened: &OpenedBundle, market: &Market) -> Result<Vec<DayIndex>, BoardError> {
    let missing = || {
        let root = opened.bundle.root.display();
        BoardError::input(
            format!("{root} has no private part: its stocks and days cannot be named"),
            "ask the bundle's owner for private/, which `ktd publish` gives away; `ktd verify` checks what it can without",
        )
    };
    opened.panel_days(market)?.ok_or_else(missing)
}

/// The model that answered a turn, as the provider says.
fn served_model(event: ReadEvent) -> Option<String> {
    match event {
        ReadEvent::Turn { served_model, .. } => served_model,
        ReadEvent::EpisodeBegin { .. }
        | ReadEvent::StepBegin { .. }
        | ReadEvent::InfrastructureFault { .. }
        | ReadEvent::ToolCall { .. }
        | ReadEvent::ModelFault { .. }
        | ReadEvent::Decision { .. }
        | ReadEvent::Fills { .. }
        | ReadEvent::StepEnd { .. }
        | ReadEvent::EpisodeEnd { .. } => None,
    }
}
