//! What import understood of its sources, before anything is written.

use super::columns::{Column, Layout, SourceRow};
use super::units::Unit;
use ktd_env::{Decimal, TradeDate};
use ktd_view::table::{Align, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// Sources of one form: whose they are, and what was taken from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceForm {
    /// Vendor and call, or `long file`.
    pub form: String,
    /// How many files there are.
    pub files: usize,
    /// The first of them.
    pub first_file: String,
    /// The columns that are read.
    pub columns: Vec<TakenColumn>,
    /// The columns that are not.
    pub unread: Vec<String>,
    /// What to know before its prices are used.
    pub caveat: Option<&'static str>,
    has_row: bool,
}

/// A column that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenColumn {
    column: Column,
    /// Its name in the file; empty where it has none, as an index.
    pub head: String,
    unit: Unit,
    /// Its value in the first row, in shares, yuan and the panel's spelling.
    pub first: String,
}

impl SourceForm {
    /// What a layout of a file takes, before a row is read.
    pub(super) fn of(layout: &Layout, file: &str) -> Self {
        let mut columns: Vec<TakenColumn> = layout
            .places
            .iter()
            .map(|(column, place)| TakenColumn::new(*column, &place.head, place.unit))
            .collect();
        if layout.stock.is_some() {
            columns.insert(
                1.min(columns.len()),
                TakenColumn::new(Column::Symbol, CODE_OF_FILE, Unit::default()),
            );
        }
        Self {
            form: layout.form.map_or("long file", |form| form.name).to_owned(),
            files: 1,
            first_file: file.to_owned(),
            columns,
            unread: layout.unknown.clone(),
            caveat: layout.form.and_then(|form| form.caveat),
            has_row: false,
        }
    }

    /// Whether files of both are one form, read alike.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let alike = |(one, two): (&TakenColumn, &TakenColumn)| {
            (one.column, &one.head, one.unit) == (two.column, &two.head, two.unit)
        };
        self.form == other.form
            && self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(alike)
    }

    /// Keeps the first row.
    pub(super) fn see(&mut self, row: &SourceRow<'_>) {
        if !self.has_row {
            self.has_row = true;
            for taken in &mut self.columns {
                taken.first = shown(row, taken.column);
            }
        }
    }

    /// A column's name in the file and its unit.
    pub(super) fn taken(&self, column: Column) -> Option<(&str, Unit)> {
        let taken = self.columns.iter().find(|taken| taken.column == column)?;
        Some((&taken.head, taken.unit))
    }

    /// The form for programs.
    #[must_use]
    pub fn document(&self) -> SourceDocument {
        let columns = self.columns.iter().map(|taken| ColumnDocument {
            field: taken.column.label(),
            column: taken.head.clone(),
            unit: taken.unit.names(taken.column).1,
            first_row: taken.first.clone(),
        });
        SourceDocument {
            form: self.form.clone(),
            files: self.files,
            first_file: self.first_file.clone(),
            columns: columns.collect(),
            columns_not_read: self.unread.clone(),
            caveat: self.caveat,
        }
    }
}

/// Sources of one form, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SourceDocument {
    /// Vendor and call, or `long file`.
    form: String,
    files: usize,
    first_file: String,
    columns: Vec<ColumnDocument>,
    columns_not_read: Vec<String>,
    /// What to know before its prices are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    caveat: Option<&'static str>,
}

/// A column that is read.
#[derive(Debug, JsonSchema, Serialize)]
struct ColumnDocument {
    /// What it is of the panel.
    field: &'static str,
    /// Its name in the file; empty where it has none.
    column: String,
    unit: &'static str,
    /// Its value in the first row, in shares, yuan and the panel's spelling.
    first_row: String,
}

impl TakenColumn {
    fn new(column: Column, head: &str, unit: Unit) -> Self {
        Self {
            column,
            head: head.to_owned(),
            unit,
            first: String::new(),
        }
    }
}

const CODE_OF_FILE: &str = "(the file's name or its line of codes)";

/// What was understood, a table a form, and what is missing.
#[must_use]
pub fn forms_text(forms: &[SourceForm], missing: &[String]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for form in forms {
        let files = if form.files == 1 {
            "file"
        } else {
            "files, the first"
        };
        writeln!(text, "{}: {} {files} {}", form.form, form.files, form.first_file).ok();
        let heads = ["field", "column", "unit", "first row"].map(|head| (head, Align::Left));
        let mut table = Table::new(&heads);
        for taken in &form.columns {
            let unit = taken.unit.names(taken.column).1.to_owned();
            table.row([
                taken.column.label().to_owned(),
                taken.head.clone(),
                unit,
                taken.first.clone(),
            ]);
        }
        for line in table.render().lines() {
            writeln!(text, "  {line}").ok();
        }
        if !form.unread.is_empty() {
            writeln!(text, "  not read: {}", form.unread.join(", ")).ok();
        }
        if let Some(caveat) = form.caveat {
            writeln!(text, "  note: {caveat}").ok();
        }
    }
    if !missing.is_empty() {
        text.push_str("Missing, and what that turns off\n");
        for line in missing {
            writeln!(text, "  {line}").ok();
        }
    }
    text
}

fn shown(row: &SourceRow<'_>, column: Column) -> String {
    let bar = &row.bar;
    let decimal = |value: Option<Decimal>| value.map(|value| value.to_string());
    let float = |value: Option<f64>| value.map(|value| value.to_string());
    let flag = |is_set: bool| Some(if is_set { "yes" } else { "no" }.to_owned());
    let text = match column {
        Column::Date => Some(row.date.reveal()),
        Column::Symbol => Some(row.ticker.reveal().to_owned()),
        Column::Open => decimal(bar.open),
        Column::High => decimal(bar.high),
        Column::Low => decimal(bar.low),
        Column::Close => decimal(bar.close),
        Column::Volume => decimal(bar.volume),
        Column::Amount => float(bar.amount_cny),
        Column::Factor | Column::FactorSince => decimal(bar.factor),
        Column::AdjustedClose => decimal(row.adjusted_close),
        Column::Suspended => flag(bar.suspended),
        Column::Trading => flag(!bar.suspended),
        Column::St => row.st.and_then(flag),
        Column::Listed => row.listed.map(TradeDate::reveal),
        Column::Sector => row.sector.map(str::to_owned),
        Column::ChangePercent | Column::ChangeRatio => float(bar.change_percent),
        Column::Dividend => decimal(row.dividend),
        Column::AdjustFlag => Some("as traded".to_owned()),
        Column::Bonus | Column::Score => None,
    };
    text.unwrap_or_default()
}
