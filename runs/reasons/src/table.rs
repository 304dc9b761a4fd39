//! The report as tables and as CSV.

use super::category::Category;
use super::hit::Hit;
use super::rate::{Rate, Rates, ReasonScope};
use super::report::{ReasonReport, ReasonRow};
use super::sentence::shown;
use crate::ReasonsError;
use ktd_experiment::mask_arm::arm_label;
use ktd_view::table::{Align, Column, Layout, Table, grouped};
use std::fmt::Write;

/// The tables, the quotations (up to `quote` of each row), and the notes.
#[must_use]
pub fn text(report: &ReasonReport, quote: usize, layout: Layout<'_>) -> String {
    let mut text = String::new();
    for (scope, title) in [
        (
            ReasonScope::Order,
            "Words per 1,000 order reasons that the model was not shown",
        ),
        (
            ReasonScope::Overall,
            "The same per 1,000 reasons for the whole step",
        ),
    ] {
        // Writing to a string cannot fail.
        writeln!(text, "{title}\n{}", table(report, scope).render_in(layout)).ok();
        writeln!(
            text,
            "What this meter finds of planted texts\n{}",
            detection(report).render_in(layout)
        )
        .ok();
    }
    text.push_str(
        "with any, low, high: share of reasons with at least one such word, and its Wilson 95 % interval\n\
         shown: words said back that the harness had told in the step, per 1,000; they are in no other column\n\
         planted texts: of each kind of words those that are found, with the Wilson 95 % interval of the share; of clean texts, \
         look-alikes and denials, which name nothing, those with a hit\n",
    );
    if report
        .rows
        .iter()
        .any(|row| row.rates.values().any(|rates| rates.reasons == 0))
    {
        text.push_str("n/a: there are no such reasons\n");
    }
    for note in &report.notes {
        writeln!(text, "note: {note}").ok();
    }
    if 0 < quote {
        quotations(&mut text, report, quote);
    }
    text
}

/// Recall by kind and false alarms, a row each, with what stands behind them.
fn detection(report: &ReasonReport) -> Table {
    let mut table = Table::new(&[
        ("planted", Align::Left),
        ("found", Align::Right),
        ("low", Align::Right),
        ("high", Align::Right),
    ]);
    let detection = &report.detection;
    for row in detection.recall.iter().chain(&detection.false_alarms) {
        table.row([
            row.kind.clone(),
            format!("{}/{}", row.found, row.planted),
            percent(row.interval.map(|(low, _)| low)),
            percent(row.interval.map(|(_, high)| high)),
        ]);
    }
    table
}

fn table(report: &ReasonReport, scope: ReasonScope) -> Table {
    let mut heads = vec![
        ("agent", Align::Left, 0),
        ("mode", Align::Left, 0),
        ("mask", Align::Left, 0),
        ("reasons", Align::Right, 1),
    ];
    heads.extend(Category::ALL.map(|category| (category.label(), Align::Right, 1)));
    heads.extend([
        ("with any", Align::Right, 0),
        ("low", Align::Right, 2),
        ("high", Align::Right, 2),
        ("shown", Align::Right, 2),
    ]);
    let mut table = Table::with_columns(heads.into_iter().map(Column::from));
    for row in &report.rows {
        let Some(rates) = row.rates.get(&scope) else {
            continue;
        };
        let mut cells = vec![
            shown(&row.agent),
            row.mode.label().to_owned(),
            format!(
                "{}/{}",
                arm_label(row.level, row.instruction),
                row.numeric.label()
            ),
            grouped(usize::try_from(rates.reasons).unwrap_or(usize::MAX)),
        ];
        cells.extend(
            rates
                .categories
                .values()
                .map(|rate| number(rate.per_1000.value, 1.0, 1)),
        );
        let (low, high) = rates.any.interval.unzip();
        cells.extend([rates.any.share.value, low, high].map(percent));
        cells.push(number(rates.any.shown_per_1000.value, 1.0, 1));
        table.row(cells);
    }
    table
}

fn number(value: Option<f64>, scale: f64, places: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{:.places$}", scale * value))
}

fn percent(share: Option<f64>) -> String {
    match share {
        Some(_) => format!("{} %", number(share, 100.0, 1)),
        None => "n/a".to_owned(),
    }
}

fn quotations(text: &mut String, report: &ReasonReport, most: usize) {
    for row in &report.rows {
        let mut of_row = report
            .hits
            .iter()
            .filter(|hit| !hit.is_shown && is_of(hit, row))
            .peekable();
        if of_row.peek().is_none() {
            continue;
        }
        // Writing to a string cannot fail.
        writeln!(
            text,
            "\n{}, {}, {}/{}",
            shown(&row.agent),
            row.mode.label(),
            arm_label(row.level, row.instruction),
            row.numeric.label()
        )
        .ok();
        for hit in of_row.by_ref().take(most) {
            let order = hit
                .order
                .map_or_else(|| "overall".to_owned(), |order| format!("order {order}"));
            let stock = hit.stock_id.as_ref().map(|stock| format!(" {}", shown(stock)));
            writeln!(
                text,
                "  {}: {} ({})\n    {}, step {}, {order}{}, bytes {} to {}",
                hit.category.label(),
                hit.quote.marked(),
                hit.source,
                hit.bundle,
                hit.step,
                stock.unwrap_or_default(),
                hit.bytes.0,
                hit.bytes.1
            )
            .ok();
        }
        match of_row.count() {
            0 => {}
            more => {
                writeln!(text, "  {more} more: --quote, or --json for all").ok();
            }
        }
    }
}

fn is_of(hit: &Hit, row: &ReasonRow) -> bool {
    (&hit.agent, &hit.mode, &hit.level, &hit.instruction, &hit.numeric)
        == (&row.agent, &row.mode, &row.level, &row.instruction, &row.numeric)
}

const COLUMNS: [&str; 15] = [
    "agent",
    "mode",
    "level",
    "numeric",
    "reason",
    "words",
    "episodes",
    "reasons",
    "hits",
    "per_1000",
    "reasons_with",
    "share",
    "low",
    "high",
    "shown",
];

/// One row a kind of words: unrounded numbers, empty where there is none.
///
/// # Errors
/// [`ReasonsError::Input`] when a cell cannot be written.
pub fn csv(report: &ReasonReport) -> Result<Vec<u8>, ReasonsError> {
    let failed =
        |error: String| ReasonsError::input(format!("cannot write CSV: {error}"), "report this defect");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(COLUMNS)
        .map_err(|error| failed(error.to_string()))?;
    for row in &report.rows {
        for (scope, rates) in &row.rates {
            let kinds = rates
                .categories
                .iter()
                .map(|(category, rate)| (category.label(), rate));
            for (words, rate) in kinds.chain([("any", &rates.any)]) {
                writer
                    .write_record(record(row, (*scope, rates), words, rate))
                    .map_err(|error| failed(error.to_string()))?;
            }
        }
    }
    writer.into_inner().map_err(|error| failed(error.to_string()))
}

fn record(row: &ReasonRow, (scope, rates): (ReasonScope, &Rates), words: &str, rate: &Rate) -> Vec<String> {
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let (low, high) = rate.interval.unzip();
    vec![
        row.agent.clone(),
        row.mode.label().to_owned(),
        arm_label(row.level, row.instruction).to_owned(),
        row.numeric.label().to_owned(),
        scope.label().to_owned(),
        words.to_owned(),
        row.episodes.to_string(),
        rates.reasons.to_string(),
        rate.hits.to_string(),
        optional(rate.per_1000.value),
        rate.reasons_with.to_string(),
        optional(rate.share.value),
        optional(low),
        optional(high),
        rate.shown.to_string(),
    ]
}
