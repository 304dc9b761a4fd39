//! `ktd data check`: the report on a panel, for people and for programs.

use super::checked_panel::symbol;
use super::panel_file::hash_text;
use super::preset_windows::windows_text;
use ktd_env::{DataReport, DividendCheck, Market, Price, Ticker, TradeDate};
use ktd_view::table::{Align, Table, grouped};
use std::fmt::Write;

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
    row("names that end early", ended_text(report));
    row(
        "price index",
        indices
            .first()
            .map_or_else(|| "missing".to_owned(), |code| (*code).to_owned()),
    );
    table.render()
}

/// How many names end early, and the first of them.
fn ended_text(report: &DataReport) -> String {
    let ended = &report.names_ended;
    let mut shown: Vec<String> = ended
        .worst
        .iter()
        .map(|(ticker, last)| format!("{} on {}", ticker.reveal(), last.reveal()))
        .collect();
    if shown.len() < ended.count {
        shown.push("...".to_owned());
    }
    match ended.count {
        0 => "0".to_owned(),
        count => format!("{} ({})", grouped(count), shown.join(", ")),
    }
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
                report
                    .absent_members
                    .iter()
                    .map(symbol)
                    .collect::<Vec<_>>()
                    .join(", ")
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
