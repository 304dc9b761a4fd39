//! `ktd simulate`, profile `ktd`: orders in, fills, days, positions and events out.

use super::orders::{Batches, read_orders};
use super::unknown_symbols::{MissedStock, unknown_symbols};
use crate::SimulateError;
use ktd_data::import::ImportProgress;
use ktd_data::{ImportOptions, import, is_panel, load_panel};
use ktd_env::exchange::{Account, Execution, Fill, LimitOpen, Order, Rules, StepReport, TradingDay, step};
use ktd_env::{DateSpan, DayIndex, Market, NameId, PriceBasis, Ticker};
use ktd_experiment::nearest::with_nearest;
use ktd_experiment::rules_config::{RulesConfig, config_date};
use ktd_io::whole_file::{IfExists, check_writable, read_input};
use ktd_io::whole_folder::write_report;
use ktd_tools::order::OrderText;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What to run and where its files go.
#[derive(Debug, Clone)]
pub struct SimulateOptions {
    /// A panel file, or a source that `ktd data import` reads.
    pub panel: PathBuf,
    /// Basis of a source's prices.
    pub basis: Option<PriceBasis>,
    /// Membership for a source.
    pub universe: Option<PathBuf>,
    /// The order file.
    pub orders: PathBuf,
    /// The configuration, JSON; without it the default rules over all days but the panel's first.
    pub config: Option<PathBuf>,
    /// The directory for the results.
    pub out: PathBuf,
    /// Whether files of an earlier run are replaced.
    pub overwrite: IfExists,
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulateSummary {
    /// Trading days run.
    pub days: usize,
    /// Orders that traded, clipped ones included.
    pub fills: usize,
    /// Orders rejected.
    pub rejected: usize,
    /// Opens at the limit of an order's side.
    pub limit_opens: LimitOpens,
    /// Net asset value at the last close, fen.
    pub nav_fen: i64,
    /// Symbols of orders that the panel does not have.
    pub unknown_symbols: Vec<MissedStock>,
    /// Stocks of the panel.
    #[serde(skip)]
    pub stocks: usize,
}

/// Opens at a limit, by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LimitOpens {
    /// The price left the limit later on the day.
    pub left: usize,
    /// It stayed there all day.
    pub sealed: usize,
    /// The open lay beyond the exchange's limit.
    pub beyond: usize,
}

impl LimitOpens {
    fn add(&mut self, report: &StepReport) {
        self.left += report.limit_open_count(LimitOpen::Left);
        self.sealed += report.limit_open_count(LimitOpen::Sealed);
        self.beyond += report.limit_open_count(LimitOpen::Beyond);
    }
}

/// The window and the rules of a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimulateConfig {
    /// First and last day, both included; `None` for all days but the panel's first.
    pub window: Option<DateSpan>,
    /// The exchange's rules.
    pub rules: Rules,
}

impl SimulateConfig {
    /// Reads the JSON of a configuration file.
    ///
    /// # Errors
    /// [`SimulateError`] for an unknown or missing key or an impossible value.
    pub fn parse(text: &str) -> Result<Self, SimulateError> {
        let fail = |error: serde_json::Error| {
            SimulateError::invalid(format_args!("config: {}", with_nearest(&error.to_string())))
                .with_hint("keys: window_start, window_end and those of the exchange; decimals in quotes")
        };
        let mut keys: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text).map_err(fail)?;
        keys.remove("profile");
        let mut date = |key: &str| match keys.remove(key) {
            Some(serde_json::Value::String(date)) => Ok(config_date(key, &date)?),
            Some(_) => Err(SimulateError::input(
                format_args!("config: {key} must be a date in quotes"),
                "write it as \"2024-04-01\"",
            )),
            None => Err(SimulateError::input(
                format_args!("config: the key {key} is missing"),
                "add it with a date, as \"2024-04-01\"",
            )),
        };
        let window = DateSpan {
            start: date("window_start")?,
            end: date("window_end")?,
        };
        if window.end < window.start {
            return Err(SimulateError::input(
                "config: window_end is before window_start",
                "exchange the two days",
            ));
        }
        let rules: RulesConfig = serde_json::from_value(keys.into()).map_err(fail)?;
        Ok(Self {
            window: Some(window),
            rules: rules.rules()?,
        })
    }
}

/// Runs an order file and writes `fills.csv`, `daily.csv`, `positions.csv` and `events.csv`.
///
/// # Errors
/// [`SimulateError`] for bad input, before anything is written.
pub fn simulate(
    options: &SimulateOptions,
    progress: &mut dyn ImportProgress,
) -> Result<SimulateSummary, SimulateError> {
    let config = match &options.config {
        Some(path) => {
            let text = read_input(path)?;
            SimulateConfig::parse(&text)?
        }
        None => SimulateConfig::default(),
    };
    let batches = read_orders(&options.orders, config.rules.min_reason_chars)?;
    let market = load_market(options, progress)?;
    let days = match config.window {
        Some(window) => window_days(&market, window)?,
        None => market.days_within(DateSpan::ALWAYS).into_iter().skip(1).collect(),
    };
    check_order_days(&market, &days, &batches)?;
    let files = RESULT_FILES.map(|name| options.out.join(name));
    for file in &files {
        if options.out.is_dir() {
            check_writable(file, options.overwrite)?;
        }
    }
    let (tables, summary) = run(&config.rules, &market, &days, &batches)?;
    let files = RESULT_FILES.map(str::to_owned).into_iter().zip(tables.finish()?);
    write_report(&options.out, files.collect(), &[])?;
    Ok(summary)
}

const RESULT_FILES: [&str; 4] = ["fills.csv", "daily.csv", "positions.csv", "events.csv"];

fn load_market(
    options: &SimulateOptions,
    progress: &mut dyn ImportProgress,
) -> Result<Market, SimulateError> {
    if is_panel(&options.panel)? {
        if options.basis.is_some() || options.universe.is_some() {
            return Err(
                SimulateError::invalid("a panel file brings its own basis and universe")
                    .with_hint("drop --basis and --universe, or pass the source instead of the panel"),
            );
        }
        return Ok(load_panel(&options.panel)?);
    }
    let import_options = ImportOptions {
        sources: vec![options.panel.clone()],
        basis: options.basis,
        universe: options.universe.clone(),
        ..ImportOptions::default()
    };
    Ok(import(&import_options, progress)?.market)
}

/// The window's trading days; the panel must reach back one day before them.
fn window_days(market: &Market, window: DateSpan) -> Result<Vec<DayIndex>, SimulateError> {
    let days = market.days_within(window);
    let reveal = |date: Option<&ktd_env::TradeDate>| date.map(|date| date.reveal()).unwrap_or_default();
    let outside = |what: &str| {
        SimulateError::invalid(format_args!(
            "the window {} to {} {what}: the panel runs from {} to {}",
            window.start.reveal(),
            window.end.reveal(),
            reveal(market.calendar().first()),
            reveal(market.calendar().last()),
        ))
        .with_hint("choose a window inside the panel, at least one trading day after its first")
    };
    let first = days.first().ok_or_else(|| outside("holds no trading day"))?;
    if first.before().is_none() {
        return Err(outside("has no as-of day before it"));
    }
    if market.calendar().last().is_some_and(|last| *last < window.end) {
        return Err(outside("ends after the panel"));
    }
    Ok(days)
}

fn check_order_days(market: &Market, days: &[DayIndex], batches: &Batches) -> Result<(), SimulateError> {
    for date in batches.keys() {
        if market.day(*date).is_none_or(|day| !days.contains(&day)) {
            return Err(SimulateError::invalid(format_args!(
                "orders are dated {}, which is no trading day of the window",
                date.reveal()
            ))
            .with_hint("date each batch by the day at whose open it trades"));
        }
    }
    Ok(())
}

fn run(
    rules: &Rules,
    market: &Market,
    days: &[DayIndex],
    batches: &Batches,
) -> Result<(Tables, SimulateSummary), SimulateError> {
    let mut account = Account::with_cash(rules.initial_cash);
    let mut tables = Tables::new();
    let mut summary = SimulateSummary {
        nav_fen: account.nav.0,
        unknown_symbols: unknown_symbols(market, batches),
        stocks: market.names().count(),
        ..SimulateSummary::default()
    };
    for day in days {
        let (Some(quotes), Some(date)) = (TradingDay::new(market, *day), market.date(*day)) else {
            continue;
        };
        let texts = batches.get(&date).map_or(&[][..], Vec::as_slice);
        let orders: Vec<Order> = texts.iter().map(|text| resolve(market, text)).collect();
        let (after, report) = step(rules, account, &orders, &quotes).map_err(|error| {
            SimulateError::input(format_args!("{}: {error}", date.reveal()), error.hint())
        })?;
        account = after;
        summary.days += 1;
        summary.fills += report.filled_count();
        summary.rejected += report.rejected_count();
        summary.limit_opens.add(&report);
        summary.nav_fen = report.nav.0;
        tables.add_day(market, &date.reveal(), texts, &report);
    }
    Ok((tables, summary))
}

/// An order with its symbol looked up; a symbol the panel does not have stays unresolved.
#[must_use]
pub fn resolve(market: &Market, text: &OrderText) -> Order {
    Order {
        name: Ticker::parse(&text.symbol)
            .ok()
            .and_then(|ticker| market.find(ticker)),
        side: text.side,
        quantity: text.quantity,
    }
}

/// The four result files in the making.
struct Tables([csv::Writer<Vec<u8>>; 4]);

const HEADS: [&[&str]; 4] = [
    &[
        "date",
        "seq",
        "symbol",
        "side",
        "requested",
        "quantity",
        "price_fen",
        "value_fen",
        "fee_fen",
        "status",
        "code",
    ],
    &[
        "date",
        "cash_fen",
        "holdings_value_fen",
        "nav_fen",
        "fees_fen",
        "n_fills",
        "n_rejected",
    ],
    &["date", "symbol", "shares", "mark_fen", "value_fen", "stale_days"],
    &[
        "date",
        "symbol",
        "kind",
        "shares_before",
        "shares_after",
        "factor_before",
        "factor_after",
        "price_fen",
        "cash_fen",
    ],
];

impl Tables {
    fn new() -> Self {
        Self(HEADS.map(|head| {
            let mut table = csv::WriterBuilder::new().from_writer(Vec::new());
            // Writing into memory cannot fail.
            table.write_record(head).ok();
            table
        }))
    }

    fn add_day(&mut self, market: &Market, date: &str, texts: &[OrderText], report: &StepReport) {
        let [fills, daily, positions, events] = &mut self.0;
        for (fill, text) in report.fills.iter().zip(texts) {
            fills.write_record(fill_record(date, text, fill)).ok();
        }
        let record = [
            date.to_owned(),
            report.cash.0.to_string(),
            report.holdings_value.0.to_string(),
            report.nav.0.to_string(),
            report.identity.fees.0.to_string(),
            report.filled_count().to_string(),
            report.rejected_count().to_string(),
        ];
        daily.write_record(record).ok();
        for position in &report.positions {
            let record = [
                date.to_owned(),
                code(market, position.name),
                position.shares.0.to_string(),
                position.mark.0.to_string(),
                position.value.0.to_string(),
                position.stale_days.to_string(),
            ];
            positions.write_record(record).ok();
        }
        for event in &report.events {
            let record = [
                date.to_owned(),
                code(market, event.name),
                event.kind.label().to_owned(),
                event.shares_before.0.to_string(),
                event.shares_after.0.to_string(),
                event.factor_before.to_string(),
                event.factor_after.to_string(),
                event.price.0.to_string(),
                event.cash.0.to_string(),
            ];
            events.write_record(record).ok();
        }
    }

    fn finish(self) -> Result<[Vec<u8>; 4], SimulateError> {
        let [fills, daily, positions, events] = self.0.map(|table| {
            table
                .into_inner()
                .map_err(|error| SimulateError::io("write", Path::new("a table"))(error.into_error()))
        });
        Ok([fills?, daily?, positions?, events?])
    }
}

fn fill_record(date: &str, text: &OrderText, fill: &Fill) -> [String; 11] {
    let (quantity, price, value, fee, status, code) = match fill.execution {
        Execution::Filled {
            quantity,
            price,
            value,
            fee,
            clipped,
        } => {
            let status = if clipped { "clipped" } else { "filled" };
            (quantity.0, price.0, value.0, fee.0, status, "")
        }
        Execution::Rejected(code) => (0, 0, 0, 0, "rejected", code.code()),
    };
    [
        date.to_owned(),
        (fill.position + 1).to_string(),
        text.symbol.clone(),
        fill.side.label().to_owned(),
        fill.requested.0.to_string(),
        quantity.to_string(),
        price.to_string(),
        value.to_string(),
        fee.to_string(),
        status.to_owned(),
        code.to_owned(),
    ]
}

fn code(market: &Market, name: NameId) -> String {
    market
        .name(name)
        .map(|info| info.ticker.reveal().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_and_turned_windows_are_refused() {
        let window = r#""window_start": "2024-04-01", "window_end": "2024-06-05""#;
        assert!(SimulateConfig::parse(&format!("{{{window}}}")).is_ok());
        for (text, part) in [
            (format!(r#"{{{window}, "colour": 1}}"#), "unknown field `colour`"),
            (r#"{"window_start": "2024-04-01"}"#.to_owned(), "window_end"),
            (
                r#"{"window_start": "2024-04-01", "window_end": "2024-03-01"}"#.to_owned(),
                "before",
            ),
            ("[]".to_owned(), "config"),
        ] {
            let failure = SimulateConfig::parse(&text).unwrap_err();
            assert!(failure.to_string().contains(part), "{text}: {failure}");
        }
    }
}
