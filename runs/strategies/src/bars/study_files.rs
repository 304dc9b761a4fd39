//! The files of a study on real bars: every run, and the tables.

use super::study::{BarRun, BarStudy};
use super::study_tables::study_tables;
use crate::error::StrategyError;
use ktd_io::whole_file::json_bytes;
use ktd_io::whole_folder::write_report;
use ktd_strategy_code::{COSTS_BPS, FillPrice, RunEarnings, RunFigures};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::{Value, json};
use std::path::Path;

/// Files beside `study.json`: what the own close pretends, costs, figures, and every run.
pub const STUDY_FILES: [&str; 4] = ["fills.csv", "costs.csv", "figures.csv", "runs.csv"];

impl BarStudy {
    /// The study for programs: every run with every figure.
    #[must_use]
    pub fn value(&self) -> Value {
        let left = self.left_out.iter().map(|left| {
            json!({"strategy": left.strategy.label(), "split": left.split, "no_data": left.no_data,
                   "too_short": left.too_short})
        });
        let splits = self.splits.iter();
        json!({
            "panel_blake3": self.source,
            "splits": splits.map(|[name, start, end]| json!({"split": name, "start": start, "end": end})).collect::<Vec<_>>(),
            "costs_bps": COSTS_BPS,
            "left_out": left.collect::<Vec<_>>(),
            "runs": self.runs.iter().map(run_value).collect::<Vec<_>>(),
        })
    }

    /// Writes `study.json` and the tables into a folder, together.
    ///
    /// # Errors
    /// [`StrategyError`] when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), StrategyError> {
        let path = folder.join("study.json");
        let mut files = vec![("study.json".to_owned(), json_bytes(&path, &self.value())?)];
        let tables = study_tables(self).into_iter().chain([self.run_table()]);
        for (name, table) in STUDY_FILES.iter().zip(tables) {
            files.push(((*name).to_owned(), csv(&table).into_bytes()));
        }
        Ok(write_report(folder, files, &[])?)
    }

    /// A row a run, fill and cost.
    fn run_table(&self) -> TableData {
        let heads = [
            ("strategy", Left),
            ("split", Left),
            ("series", Left),
            ("bars", Right),
            ("fill", Left),
            ("cost_bps", Right),
            ("total_return", Right),
            ("sharpe", Right),
            ("max_drawdown", Right),
            ("trades", Right),
            ("win_rate", Right),
            ("turnover", Right),
            ("break_even_bps", Right),
            ("pretended", Right),
        ];
        let rows = self.runs.iter().flat_map(|run| {
            FillPrice::ALL.into_iter().flat_map(move |fill| {
                let figures = run.earnings.at(fill).iter().zip(COSTS_BPS);
                figures.map(move |(figures, bps)| run_row(run, (fill, bps), figures))
            })
        });
        TableData::new("Runs", heads).with_rows(rows)
    }
}

fn run_row(run: &BarRun, (fill, bps): (FillPrice, f64), figures: &RunFigures) -> Vec<TableCell> {
    let number = TableCell::Fine;
    vec![
        TableCell::Text(run.strategy.label().to_owned()),
        TableCell::Text(run.split.to_owned()),
        TableCell::Text(run.symbols.join(" ")),
        TableCell::Count(run.bars),
        TableCell::Text(fill.label().to_owned()),
        number(bps),
        number(figures.total_return),
        TableCell::optional(figures.sharpe, number),
        number(figures.max_drawdown),
        TableCell::Count(figures.trades),
        TableCell::optional(figures.win_rate, number),
        number(figures.turnover),
        TableCell::optional(figures.break_even_bps, number),
        number(run.earnings.pretended),
    ]
}

fn run_value(run: &BarRun) -> Value {
    json!({
        "strategy": run.strategy.label(), "split": run.split, "symbols": run.symbols, "bars": run.bars,
        "earnings": earnings_value(&run.earnings),
    })
}

/// Earnings for programs: at each fill, the figures of each cost.
pub(super) fn earnings_value(earnings: &RunEarnings) -> Value {
    let at = |fill| earnings.at(fill).iter().map(figures_value).collect::<Vec<_>>();
    json!({
        "own_close": at(FillPrice::OwnClose),
        "next_open": at(FillPrice::NextOpen),
        "pretended": earnings.pretended,
        "pretended_bps": earnings.pretended_bps,
    })
}

fn figures_value(figures: &RunFigures) -> Value {
    json!({
        "sessions": figures.sessions, "total_return": figures.total_return, "sharpe": figures.sharpe,
        "max_drawdown": figures.max_drawdown, "trades": figures.trades, "win_rate": figures.win_rate,
        "traded_value": figures.traded_value, "turnover": figures.turnover, "break_even_bps": figures.break_even_bps,
    })
}

/// A table as CSV; a cell with a comma, a quote or a line end is quoted.
fn csv(table: &TableData) -> String {
    let cell = |text: &String| {
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.clone()
        }
    };
    let line = |record: Vec<String>| record.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    table.records().map(line).collect()
}
