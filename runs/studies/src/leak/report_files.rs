//! The files of a benchmark's report: JSON, CSV, Markdown and the page, all made of the same report.

use super::page::leak_page;
use super::report::LeakReport;
use super::report_rows::{CostRow, GainRow, YearRow};
use super::report_tables::{
    controls_table, costs_table, gains_table, interventions_table, ladder_table, main_table, profile_table,
    side_table, years_table,
};
use crate::StudyError;
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::json_bytes;
use ktd_view::draw::{Align, TableData};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files of a report beside report.json, in the order in which they are named to people.
pub const LEAK_FILES: [&str; 10] = [
    "index.html",
    "report.md",
    "gains.csv",
    "by_year.csv",
    "years.csv",
    "costs.csv",
    "profile.csv",
    "ladder.csv",
    "interventions.csv",
    "controls.csv",
];

impl LeakReport {
    /// Writes the report with its tables, its text, its page and what stands `beside` them, together.
    ///
    /// # Errors
    /// [`StudyError`] when a file cannot be written.
    pub fn write(&self, out: &Path, beside: Vec<(PathBuf, Vec<u8>)>) -> Result<(), StudyError> {
        let path = out.join("report.json");
        let mut files: Vec<(PathBuf, Vec<u8>)> = vec![(path.clone(), json_bytes(&path, self)?)];
        for name in LEAK_FILES {
            files.push((out.join(name), self.file(name)?));
        }
        files.extend(beside);
        Ok(replace_report(&files, &[])?)
    }

    fn file(&self, name: &str) -> Result<Vec<u8>, StudyError> {
        Ok(match name {
            "index.html" => leak_page(self).into_bytes(),
            "report.md" => self.markdown().into_bytes(),
            "gains.csv" => gains_csv(&self.gains).into_bytes(),
            "by_year.csv" => by_year_csv(&self.by_year).into_bytes(),
            "costs.csv" => costs_csv(&self.costs).into_bytes(),
            "years.csv" => crate::alpha_files::csv_bytes(&years_table(self, true))?,
            "profile.csv" => crate::alpha_files::csv_bytes(&profile_table(self))?,
            "ladder.csv" => crate::alpha_files::csv_bytes(&ladder_table(self))?,
            "interventions.csv" => crate::alpha_files::csv_bytes(&interventions_table(&self.interventions))?,
            _ => crate::alpha_files::csv_bytes(&controls_table(self))?,
        })
    }

    /// All tables as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let tables = [
            main_table(self),
            gains_table(self),
            years_table(self, true),
            costs_table(self, true),
            side_table(self),
            interventions_table(&self.interventions),
            controls_table(self),
            ladder_table(self),
        ];
        // The first says what was left out, also where nothing was run.
        let tables = tables.iter().enumerate();
        let tables = tables.filter(|(place, table)| *place == 0 || !table.rows.is_empty());
        let tables: Vec<String> = tables.map(|(_, table)| markdown_table(table)).collect();
        format!("# {}\n\n{}", escaped(&self.name), tables.join("\n"))
    }
}

/// A table as Markdown: its title as a heading, its notes as a list.
fn markdown_table(table: &TableData) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = table.columns.iter().map(|column| escaped(&column.head));
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    });
    let rows = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| escaped(&cell.on_page())).collect());
    let mut text = format!(
        "## {}\n\n{}{}",
        escaped(&table.title),
        line(heads.collect()),
        line(rules.collect())
    );
    text.extend(rows.map(line));
    if !table.notes.is_empty() {
        text.push('\n');
    }
    text.extend(table.notes.iter().map(|note| format!("- {}\n", escaped(note))));
    text
}

/// Text that ends no cell, opens no tag and sets no type.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '[' | ']' => {
                safe.push('\\');
                safe.push(character);
            }
            '<' => safe.push_str("&lt;"),
            '\n' | '\r' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn gains_csv(rows: &[GainRow]) -> String {
    let mut text = "model,horizon,protocol,seeds,days,sharpe,gain,gain_low,gain_high,rank_ic,auc,turnover,max_drawdown,break_even_bps,\
                    noise_band,rank_ic_gain,auc_gain,turnover_gain,max_drawdown_gain\n"
        .to_owned();
    for row in rows {
        let GainRow {
            model,
            horizon,
            protocol,
            seeds,
            days,
            ..
        } = row;
        let numbers = [
            row.sharpe,
            row.gain,
            row.gain_low,
            row.gain_high,
            row.rank_ic,
            row.auc,
            row.turnover,
            Some(row.max_drawdown),
            row.break_even_bps,
            row.noise_band,
            row.rank_ic_gain,
            row.auc_gain,
            row.turnover_gain,
            Some(row.max_drawdown_gain),
        ];
        let numbers = numbers.map(cell).join(",");
        // Writing to a string cannot fail.
        writeln!(text, "{model},{horizon},{protocol},{seeds},{days},{numbers}").ok();
    }
    text
}

fn by_year_csv(rows: &[YearRow]) -> String {
    let mut text = "model,horizon,protocol,year,gain\n".to_owned();
    for row in rows {
        for (year, gain) in &row.gains {
            writeln!(
                text,
                "{},{},{},{year},{gain}",
                row.model, row.horizon, row.protocol
            )
            .ok();
        }
    }
    text
}

fn costs_csv(rows: &[CostRow]) -> String {
    let mut text = "model,horizon,protocol,cost_bps,sharpe\n".to_owned();
    for row in rows {
        for (cost, ratio) in &row.sharpe {
            let run = format!("{},{},{}", row.model, row.horizon, row.protocol);
            writeln!(text, "{run},{cost},{}", cell(*ratio)).ok();
        }
    }
    text
}
