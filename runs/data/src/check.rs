//! `ktd data check`: the report on a panel, for people and for programs.

use super::panel_file::hash_text;
use super::preset_windows::{PresetWindow, preset_windows, windows_text};
use ktd_env::{DataReport, DividendCheck, Examples, Market, Price, Ticker, TradeDate};
use ktd_view::table::{Align, Table, grouped};
use serde_json::{Value, json};
use std::fmt::Write;

/// The report as JSON.
#[must_use]
pub fn report_json(market: &Market, report: &DataReport) -> Value {
    let (member_days, member_days_with_bar) = report.member_days();
    let grid = market.price_grid();
    json!({
        "content_hash": hash_text(market.content_hash()),
        "usable": report.is_usable(),
        "first_day": report.span.map(|span| span.start.reveal()),
        "last_day": report.span.map(|span| span.end.reveal()),
        "days": report.days,
        "names": report.names,
        "names_by_board": report.names_by_board.iter().map(|(board, count)| (board.label(), *count)).collect::<std::collections::BTreeMap<_, _>>(),
        "bars": report.bars,
        "member_days": member_days,
        "member_days_with_bar": member_days_with_bar,
        "members_without_rows": codes(&report.absent_members),
        "years": years_json(report),
        "prices_in_source": grid.prices,
        "prices_off_grid": grid.off_grid,
        "bars_without_trading": report.bars_without_trading,
        "days_without_bar": report.days_without_bar,
        "names_ended": report.names_ended,
        "price_index_days_missing": report.price_index_days_missing,
        "days_with_limit": report.days_with_limit,
        "limit_breaches_from_the_open": report.breaches_from_the_open,
        "factor_moves": report.factor_moves,
        "ill_formed_bars": findings(&report.ill_formed, |bar| json!({
            "symbol": bar.ticker.reveal(),
            "date": bar.date.reveal(),
            "open_fen": bar.open.map(|open| open.0),
            "high_fen": bar.high.0,
            "low_fen": bar.low.0,
            "close_fen": bar.close.0,
        })),
        "limit_breaches": findings(&report.breaches, |breach| json!({
            "symbol": breach.ticker.reveal(),
            "date": breach.date.reveal(),
            "column": breach.column,
            "price_fen": breach.price.0,
            "reference_fen": breach.reference.0,
            "limit_fen": breach.limit.0,
        })),
        "factor_jumps": findings(&report.factor_jumps, |jump| json!({
            "symbol": jump.ticker.reveal(),
            "date": jump.date.reveal(),
            "adjusted_return_percent": jump.adjusted_return_percent,
            "declared_percent": jump.declared_percent,
        })),
        "ex_days_with_dividend": report.dividends.ex_days,
        "dividends_below_the_factor": report.dividends.beyond,
        "factor_moves_without_dividend": report.dividends.moves_without,
        "dividends_above_the_factor": findings(&report.dividends.mismatches, |found| json!({
            "symbol": found.ticker.reveal(),
            "date": found.date.reveal(),
            "paid_yuan": found.paid_yuan,
            "taken_yuan": found.taken_yuan,
        })),
        "weekend_sessions": findings(&report.weekend_sessions, |date| json!(date.reveal())),
        "session_gaps": findings(&report.session_gaps, |gap| json!({
            "before": gap.before.reveal(),
            "after": gap.after.reveal(),
            "days": gap.days,
        })),
        "holes": findings(&report.holes, |hole| json!({
            "symbol": hole.ticker.reveal(),
            "after": hole.after.reveal(),
            "trading_days": hole.trading_days,
        })),
        "windows": preset_windows(market).iter().map(PresetWindow::to_json).collect::<Vec<_>>(),
        "unsupported": report.unsupported.iter().map(|rule| rule.text()).collect::<Vec<_>>(),
        "notes": market.notes(),
    })
}

fn years_json(report: &DataReport) -> Vec<Value> {
    report
        .years
        .iter()
        .map(|year| {
            json!({
                "year": year.year,
                "days": year.days,
                "bars": year.bars,
                "member_days": year.member_days,
                "member_days_with_bar": year.member_days_with_bar,
            })
        })
        .collect()
}

fn findings<T>(examples: &Examples<T>, show: impl Fn(&T) -> Value) -> Value {
    json!({
        "count": examples.count,
        "worst": examples.worst.iter().map(show).collect::<Vec<_>>(),
    })
}

fn codes(tickers: &[Ticker]) -> Vec<&str> {
    tickers.iter().map(Ticker::reveal).collect()
}

/// The report as text.
#[must_use]
pub fn report_text(market: &Market, report: &DataReport) -> String {
    let mut text = summary(market, report);
    text.push_str(&coverage(report));
    text.push_str(&problems(report));
    text.push_str(&windows_text(market));
    if !report.unsupported.is_empty() {
        text.push_str("\nWhat the panel cannot support\n");
        for rule in &report.unsupported {
            line(&mut text, format_args!("  {}", rule.text()));
        }
    }
    if !market.notes().is_empty() {
        text.push_str("\nNotes of the import\n");
        for note in market.notes() {
            line(&mut text, format_args!("  {note}"));
        }
    }
    text
}

fn line(text: &mut String, shown: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    writeln!(text, "{shown}").ok();
}

fn summary(market: &Market, report: &DataReport) -> String {
    let span = report.span.map_or_else(
        || "none".to_owned(),
        |span| format!("{} to {}", span.start.reveal(), span.end.reveal()),
    );
    let boards: Vec<String> = report
        .names_by_board
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(board, count)| format!("{} {}", board.label(), grouped(*count)))
        .collect();
    let indices: Vec<&str> = market.indices().iter().map(|index| index.code.as_str()).collect();
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut row = |head: &str, cell: String| table.row([head.to_owned(), cell]);
    row("content hash", hash_text(market.content_hash()));
    row("trading days", format!("{} ({span})", grouped(report.days)));
    row(
        "names",
        format!("{} ({})", grouped(report.names), boards.join(", ")),
    );
    row("bars", grouped(report.bars));
    row("bars without trading", grouped(report.bars_without_trading));
    row(
        "days without a bar",
        format!(
            "{} between a name's first and last bar",
            grouped(report.days_without_bar)
        ),
    );
    row("names that end early", grouped(report.names_ended));
    row(
        "price index",
        indices
            .first()
            .map_or_else(|| "missing".to_owned(), |code| (*code).to_owned()),
    );
    table.render()
}

fn coverage(report: &DataReport) -> String {
    let mut table = Table::new(&[
        ("year", Align::Left),
        ("days", Align::Right),
        ("bars", Align::Right),
        ("member-days", Align::Right),
        ("with a bar", Align::Right),
        ("share", Align::Right),
    ]);
    for year in &report.years {
        table.row([
            year.year.to_string(),
            grouped(year.days),
            grouped(year.bars),
            grouped(year.member_days),
            grouped(year.member_days_with_bar),
            share(year.member_days_with_bar, year.member_days),
        ]);
    }
    let (all, with_bar) = report.member_days();
    table.row([
        "all".to_owned(),
        grouped(report.days),
        grouped(report.bars),
        grouped(all),
        grouped(with_bar),
        share(with_bar, all),
    ]);
    let mut text = format!("\nCoverage\n{}", table.render());
    if !report.absent_members.is_empty() {
        line(
            &mut text,
            format_args!(
                "members without rows: {}",
                codes(&report.absent_members).join(", ")
            ),
        );
    }
    text
}

/// A share in percent with two decimals, rounded down so that only a whole is 100.00 %.
fn share(part: usize, whole: usize) -> String {
    match (part.saturating_mul(10_000)).checked_div(whole) {
        Some(basis) => format!("{}.{:02} %", basis / 100, basis % 100),
        None => "-".to_owned(),
    }
}

fn yuan(price: Price) -> String {
    format!("{}.{:02}", price.0 / 100, price.0 % 100)
}

fn problems(report: &DataReport) -> String {
    let mut text = String::from("\nFindings\n");
    let mut any = false;
    let mut section = |count: usize, what: &str, table: &Table| {
        if count > 0 {
            any = true;
            line(&mut text, format_args!("{} {what}", grouped(count)));
            for row in table.render().lines() {
                line(&mut text, format_args!("  {row}"));
            }
        }
    };
    section(
        report.ill_formed.count,
        "bars with low above or high below another price",
        &ill_formed_table(report),
    );
    section(
        report.breaches.count,
        &format!(
            "highs and lows beyond the limit on {} days of names that have one, {} after an open beyond it (worst first)",
            grouped(report.days_with_limit),
            grouped(report.breaches_from_the_open)
        ),
        &breach_table(report),
    );
    section(
        report.factor_jumps.count,
        &format!(
            "days whose total return is not the declared change, by more than 0.5 points ({} factor moves; worst first)",
            grouped(report.factor_moves)
        ),
        &jump_table(report),
    );
    section(
        report.dividends.mismatches.count,
        &dividends_said(&report.dividends),
        &dividend_table(report),
    );
    section(
        report.weekend_sessions.count,
        "sessions on a weekend",
        &weekend_table(report),
    );
    section(
        report.session_gaps.count,
        "gaps of more than 11 days between sessions",
        &gap_table(report),
    );
    section(
        report.holes.count,
        "runs of more than 20 trading days without a bar",
        &hole_table(report),
    );
    section(
        report.price_index_days_missing,
        "days on which the price index has no close",
        &Table::new(&[("", Align::Left)]),
    );
    if !any {
        text.push_str("none\n");
    }
    text
}

fn dividends_said(check: &DividendCheck) -> String {
    format!(
        "of {} ex-days pay more than the factor takes off the price; on {} it takes off more, as bonus shares and rights do, and {} moves have no dividend (worst first)",
        grouped(check.ex_days),
        grouped(check.beyond),
        grouped(check.moves_without)
    )
}

fn cell(ticker: Ticker) -> String {
    ticker.reveal().to_owned()
}

fn keyed(ticker: Ticker, date: TradeDate) -> [String; 2] {
    [cell(ticker), date.reveal()]
}

fn ill_formed_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[
        ("symbol", Align::Left),
        ("date", Align::Left),
        ("open", Align::Right),
        ("high", Align::Right),
        ("low", Align::Right),
        ("close", Align::Right),
    ]);
    for bar in &report.ill_formed.worst {
        let open = bar.open.map_or_else(|| "-".to_owned(), yuan);
        let prices = [open, yuan(bar.high), yuan(bar.low), yuan(bar.close)];
        table.row(keyed(bar.ticker, bar.date).into_iter().chain(prices));
    }
    table
}

fn breach_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[
        ("symbol", Align::Left),
        ("date", Align::Left),
        ("column", Align::Left),
        ("price", Align::Right),
        ("reference", Align::Right),
        ("limit", Align::Right),
    ]);
    for breach in &report.breaches.worst {
        let cells = [
            breach.column.to_owned(),
            yuan(breach.price),
            yuan(breach.reference),
            yuan(breach.limit),
        ];
        table.row(keyed(breach.ticker, breach.date).into_iter().chain(cells));
    }
    table
}

fn dividend_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[
        ("symbol", Align::Left),
        ("date", Align::Left),
        ("paid", Align::Right),
        ("taken off", Align::Right),
    ]);
    for found in &report.dividends.mismatches.worst {
        let cells = [found.paid_yuan, found.taken_yuan].map(|yuan| format!("{yuan:.4}"));
        table.row(keyed(found.ticker, found.date).into_iter().chain(cells));
    }
    table
}

fn weekend_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[("date", Align::Left)]);
    for date in &report.weekend_sessions.worst {
        table.row([date.reveal()]);
    }
    table
}

fn gap_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[
        ("before", Align::Left),
        ("after", Align::Left),
        ("days", Align::Right),
    ]);
    for gap in &report.session_gaps.worst {
        table.row([gap.before.reveal(), gap.after.reveal(), gap.days.to_string()]);
    }
    table
}

fn hole_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[
        ("symbol", Align::Left),
        ("after", Align::Left),
        ("trading days", Align::Right),
    ]);
    for hole in &report.holes.worst {
        table.row([cell(hole.ticker), hole.after.reveal(), grouped(hole.trading_days)]);
    }
    table
}

fn jump_table(report: &DataReport) -> Table {
    let mut table = Table::new(&[
        ("symbol", Align::Left),
        ("date", Align::Left),
        ("total return", Align::Right),
        ("declared", Align::Right),
    ]);
    for jump in &report.factor_jumps.worst {
        let cells = [
            format!("{:.2} %", jump.adjusted_return_percent),
            format!("{:.2} %", jump.declared_percent),
        ];
        table.row(keyed(jump.ticker, jump.date).into_iter().chain(cells));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_rounded_up_to_a_whole() {
        assert_eq!(share(163_749, 164_400), "99.60 %");
        assert_eq!(share(99_999, 100_000), "99.99 %");
        assert_eq!(share(3, 3), "100.00 %");
        assert_eq!(share(0, 0), "-");
    }
}
