//! The report on a panel, for programs.

use super::panel_file::hash_text;
use super::preset_windows::{PresetWindow, WindowDocument, preset_windows};
use ktd_env::{DataReport, Examples, Market, Ticker, YearCoverage};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The report for programs. Prices are in fen.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckedPanel {
    content_hash: String,
    usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_day: Option<String>,
    /// Trading days.
    days: usize,
    names: usize,
    names_by_board: BTreeMap<&'static str, usize>,
    bars: usize,
    member_days: usize,
    member_days_with_bar: usize,
    members_without_rows: Vec<String>,
    years: Vec<CheckedYear>,
    prices_in_source: u64,
    /// Prices that are no whole fen.
    prices_off_grid: u64,
    #[serde(flatten)]
    findings: PanelFindings,
    /// Windows of the article.
    windows: Vec<WindowDocument>,
    /// What the panel cannot support.
    unsupported: Vec<&'static str>,
    notes: Vec<String>,
}

/// What is odd in a panel.
#[derive(Debug, JsonSchema, Serialize)]
struct PanelFindings {
    bars_without_trading: usize,
    days_without_bar: usize,
    names_ended: usize,
    price_index_days_missing: usize,
    days_with_limit: usize,
    limit_breaches_from_the_open: usize,
    factor_moves: usize,
    ill_formed_bars: Found<FoundBar>,
    limit_breaches: Found<FoundBreach>,
    factor_jumps: Found<FoundJump>,
    ex_days_with_dividend: usize,
    dividends_below_the_factor: usize,
    factor_moves_without_dividend: usize,
    dividends_above_the_factor: Found<FoundDividend>,
    weekend_sessions: Found<String>,
    session_gaps: Found<FoundGap>,
    holes: Found<FoundHole>,
}

/// A year of a panel.
#[derive(Debug, JsonSchema, Serialize)]
struct CheckedYear {
    year: i32,
    days: usize,
    bars: usize,
    member_days: usize,
    member_days_with_bar: usize,
}

/// What was found, and the worst of it, worst first.
#[derive(Debug, JsonSchema, Serialize)]
struct Found<T> {
    count: usize,
    worst: Vec<T>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FoundBar {
    symbol: String,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_fen: Option<i64>,
    high_fen: i64,
    low_fen: i64,
    close_fen: i64,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FoundBreach {
    symbol: String,
    date: String,
    column: &'static str,
    price_fen: i64,
    /// The close before, as the exchange adjusts it.
    reference_fen: i64,
    limit_fen: i64,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FoundJump {
    symbol: String,
    date: String,
    adjusted_return_percent: f64,
    declared_percent: f64,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FoundDividend {
    symbol: String,
    date: String,
    paid_yuan: f64,
    taken_yuan: f64,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FoundGap {
    before: String,
    after: String,
    days: i32,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FoundHole {
    symbol: String,
    after: String,
    trading_days: usize,
}

impl<T> Found<T> {
    fn of<E>(examples: &Examples<E>, show: impl Fn(&E) -> T) -> Self {
        Self {
            count: examples.count,
            worst: examples.worst.iter().map(show).collect(),
        }
    }
}

impl CheckedPanel {
    /// What a check found of a panel.
    #[must_use]
    pub fn of(market: &Market, report: &DataReport) -> Self {
        let (member_days, member_days_with_bar) = report.member_days();
        let grid = market.price_grid();
        let boards = report.names_by_board.iter();
        Self {
            content_hash: hash_text(market.content_hash()),
            usable: report.is_usable(),
            first_day: report.span.map(|span| span.start.reveal()),
            last_day: report.span.map(|span| span.end.reveal()),
            days: report.days,
            names: report.names,
            names_by_board: boards.map(|(board, count)| (board.label(), *count)).collect(),
            bars: report.bars,
            member_days,
            member_days_with_bar,
            members_without_rows: report.absent_members.iter().map(symbol).collect(),
            years: report.years.iter().map(CheckedYear::of).collect(),
            prices_in_source: grid.prices,
            prices_off_grid: grid.off_grid,
            findings: PanelFindings::of(report),
            windows: preset_windows(market)
                .iter()
                .map(PresetWindow::document)
                .collect(),
            unsupported: report.unsupported.iter().map(|rule| rule.text()).collect(),
            notes: market.notes().to_vec(),
        }
    }
}

impl PanelFindings {
    fn of(report: &DataReport) -> Self {
        Self {
            bars_without_trading: report.bars_without_trading,
            days_without_bar: report.days_without_bar,
            names_ended: report.names_ended.count,
            price_index_days_missing: report.price_index_days_missing,
            days_with_limit: report.days_with_limit,
            limit_breaches_from_the_open: report.breaches_from_the_open,
            factor_moves: report.factor_moves,
            ill_formed_bars: Found::of(&report.ill_formed, |bar| FoundBar {
                symbol: symbol(&bar.ticker),
                date: bar.date.reveal(),
                open_fen: bar.open.map(|open| open.0),
                high_fen: bar.high.0,
                low_fen: bar.low.0,
                close_fen: bar.close.0,
            }),
            limit_breaches: Found::of(&report.breaches, |breach| FoundBreach {
                symbol: symbol(&breach.ticker),
                date: breach.date.reveal(),
                column: breach.column,
                price_fen: breach.price.0,
                reference_fen: breach.reference.0,
                limit_fen: breach.limit.0,
            }),
            factor_jumps: Found::of(&report.factor_jumps, |jump| FoundJump {
                symbol: symbol(&jump.ticker),
                date: jump.date.reveal(),
                adjusted_return_percent: jump.adjusted_return_percent,
                declared_percent: jump.declared_percent,
            }),
            ex_days_with_dividend: report.dividends.ex_days,
            dividends_below_the_factor: report.dividends.beyond,
            factor_moves_without_dividend: report.dividends.moves_without,
            dividends_above_the_factor: Found::of(&report.dividends.mismatches, |found| FoundDividend {
                symbol: symbol(&found.ticker),
                date: found.date.reveal(),
                paid_yuan: found.paid_yuan,
                taken_yuan: found.taken_yuan,
            }),
            weekend_sessions: Found::of(&report.weekend_sessions, |day| day.reveal()),
            session_gaps: Found::of(&report.session_gaps, |gap| FoundGap {
                before: gap.before.reveal(),
                after: gap.after.reveal(),
                days: gap.days,
            }),
            holes: Found::of(&report.holes, |hole| FoundHole {
                symbol: symbol(&hole.ticker),
                after: hole.after.reveal(),
                trading_days: hole.trading_days,
            }),
        }
    }
}

impl CheckedYear {
    const fn of(year: &YearCoverage) -> Self {
        Self {
            year: year.year,
            days: year.days,
            bars: year.bars,
            member_days: year.member_days,
            member_days_with_bar: year.member_days_with_bar,
        }
    }
}

pub(super) fn symbol(ticker: &Ticker) -> String {
    ticker.reveal().to_owned()
}
