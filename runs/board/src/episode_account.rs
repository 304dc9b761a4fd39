//! The account of a finished episode on its market: days, books and forecasts, ready to be scored.

use super::day_books::LedgerDays;
use super::forecast::OrderForecast;
use super::order_tally::OrderTally;
use super::reading::RecordReading;
use crate::BoardError;
use ktd_attribution::account::DayBook;
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::recorded_files::RecordObserver;
use ktd_bundle::sent_settings::SentSettings;
use ktd_bundle::summary::Summary;
use ktd_env::exchange::{ChargedTrade, Execution, Rules, StepReport, fee};
use ktd_env::{DayIndex, Fen, Market};
use ktd_record::RecordError;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Weights at the closes, by the market's row of each name held.
    pub weights: Vec<BTreeMap<usize, f64>>,
    /// Stated confidences with what happened.
    pub forecasts: Vec<OrderForecast>,
    /// Calls of the tool that submits during research.
    pub early_submissions: usize,
    /// Names of the models that answered, as the provider says.
    pub served_models: BTreeSet<String>,
    /// What its trades would have cost under the schedule of fees that its rules do not name, CNY.
    pub other_fees_cny: f64,
    /// Tax on dividends, CNY.
    pub dividend_tax: DividendTax,
    /// Net asset values at the closes, CNY, after the initial cash.
    pub nav_cny: Vec<f64>,
    /// Cash before the first day, CNY.
    pub initial_cny: f64,
}

/// Tax on dividends, CNY.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DividendTax {
    /// What sales paid.
    Paid(f64),
    /// What it could be at most where it is not taken: the rules take none, or the panel has no dividends.
    AtMost(f64),
}

impl DividendTax {
    fn add(&mut self, report: &StepReport) {
        match self {
            Self::Paid(cny) => *cny += report.identity.dividend_tax.to_yuan(),
            Self::AtMost(cny) => *cny += report.dividend_tax_at_most().to_yuan(),
        }
    }
}

/// What the record said so far.
struct AccountObserver<'m> {
    market: &'m Market,
    reading: RecordReading,
    ledger: LedgerDays<'m>,
    books: Vec<DayBook>,
    orders: OrderTally,
    weights: Vec<BTreeMap<usize, f64>>,
    forecasts: Vec<OrderForecast>,
    /// Its rules with the other schedule of fees.
    other_schedule: Rules,
    other_fees_cny: f64,
    dividend_tax: DividendTax,
    nav_cny: Vec<f64>,
}

impl RecordObserver for AccountObserver<'_> {
    fn event(&mut self, event: ReadEvent) {
        self.reading.add(event);
    }

    fn ledger_line(&mut self, line: LedgerLine) -> Result<(), RecordError> {
        if self.books.is_empty() {
            self.ledger.begin(Fen(self.reading.initial_cash_fen));
        }
        let (day, book, report) = self.ledger.take(&line)?;
        self.orders.add_report(&report);
        self.other_fees_cny += self.other_fees(day, &report);
        self.dividend_tax.add(&report);
        let confidences = self.reading.confidences.get(&line.step);
        let confidences = confidences.map_or(&[][..], Vec::as_slice);
        let fills = report.fills.iter();
        let forecast = |fill| OrderForecast::of(line.step, fill, confidences, (self.market, day));
        self.forecasts.extend(fills.filter_map(forecast));
        let nav = report.nav.to_yuan();
        let positions = report.positions.iter();
        let weights = positions.map(|held| (held.name.index(), held.value.to_yuan() / nav));
        self.weights.push(weights.collect());
        self.nav_cny.push(nav);
        self.books.push(book);
        Ok(())
    }
}

impl AccountObserver<'_> {
    /// What the trades of a day would have cost under the other schedule, CNY. What no account counts is left out.
    fn other_fees(&self, day: DayIndex, report: &StepReport) -> f64 {
        let Some(date) = self.market.date(day) else {
            return 0.0;
        };
        let fees = report.fills.iter().filter_map(|fill| {
            let Execution::Filled { quantity, value, .. } = fill.execution else {
                return None;
            };
            let trade = ChargedTrade {
                side: fill.side,
                shares: quantity,
                value,
                venue: self.market.venue(fill.name?),
                date,
            };
            fee(&self.other_schedule, &trade).ok()
        });
        fees.map(Fen::to_yuan).sum()
    }
}

impl EpisodeAccount {
    /// The account of an episode, whose files are read and checked.
    ///
    /// # Errors
    /// [`BoardError`] without a private part, when a file or a trading day is missing or damaged, or the panel is another one.
    pub fn read(opened: OpenedBundle, market: &Market) -> Result<Self, BoardError> {
        let days = days(&opened, market)?;
        let path = BundlePaths::new(&opened.bundle.root).ledger();
        let rules = opened.bundle.header.rules.rules()?;
        let is_taxed = rules.tax_dividends(market);
        let mut observer = AccountObserver {
            market,
            reading: RecordReading::default(),
            ledger: LedgerDays::new((market, &days), Fen(0), path),
            books: Vec::with_capacity(days.len()),
            orders: OrderTally::default(),
            weights: Vec::with_capacity(days.len()),
            forecasts: Vec::new(),
            other_schedule: Rules {
                fees: rules.fees.other(),
                ..rules
            },
            other_fees_cny: 0.0,
            dividend_tax: if is_taxed {
                DividendTax::Paid(0.0)
            } else {
                DividendTax::AtMost(0.0)
            },
            nav_cny: Vec::with_capacity(days.len()),
        };
        let episode = FinishedEpisode::read(opened, &mut observer)?;
        let (bundle, summary) = (episode.opened.bundle, episode.summary);
        observer.ledger.check_complete()?;
        observer.orders.add_fed_back(&observer.reading.fed_back);
        let reading = observer.reading;
        Ok(Self {
            initial_cny: Fen(reading.initial_cash_fen).to_yuan(),
            early_submissions: reading.early_submissions,
            served_models: reading.served_models,
            sent: episode.sent,
            orders: observer.orders,
            other_fees_cny: observer.other_fees_cny,
            dividend_tax: observer.dividend_tax,
            nav_cny: observer.nav_cny,
            books: observer.books,
            weights: observer.weights,
            forecasts: observer.forecasts,
            bundle,
            summary,
            days,
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
    let mut ledger = LedgerDays::new((market, &days), initial, path);
    let mut books = Vec::with_capacity(days.len());
    opened.each_ledger_line(|line| {
        books.push(ledger.take(&line)?.1);
        Ok(())
    })?;
    ledger.check_complete()?;
    Ok(books)
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
