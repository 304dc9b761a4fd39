//! A vendor's invoice beside what was counted, day by day and model by model.

use crate::StudyError;
use crate::report::{Report, Section, Shown};
use crate::send_logs::each_send;
use chrono::NaiveDate;
use ktd_experiment::amount::Picodollars;
use ktd_io::whole_file::read_input;
use ktd_record::send_log::SendLine;
use ktd_view::draw::TableCell;
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// An invoice, or a usage export, against the private logs of sends below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct InvoiceComparison {
    /// The folder.
    pub folder: String,
    /// A line each day and model that either side names.
    pub lines: Vec<InvoiceLine>,
}

/// A day (UTC) and a model. Amounts in millionths of a millionth of a US dollar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct InvoiceLine {
    /// Such as `2026-11-02`.
    pub day: String,
    /// The model that was asked for.
    pub model: String,
    /// Requests that were sent.
    pub sends: u64,
    /// Sends whose cost nobody knows.
    pub unknown: u64,
    /// For replies whose tokens are known.
    pub paid_picodollars: u64,
    /// With all that may have been charged for the others.
    pub at_most_picodollars: u64,
    /// What the invoice says; none where it has no such line.
    pub billed_picodollars: Option<u64>,
    /// Whether the invoice lies between what was paid and the most, within a cent or one per cent.
    pub agrees: bool,
}

/// Line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Billed {
    day: String,
    model: String,
    usd: String,
}

/// How a day is written.
const DAY: &str = "%Y-%m-%d";

type Keyed<T> = BTreeMap<(String, String), T>;

/// Compares an invoice, a CSV file with the columns `day`, `model` and `usd`, with what was sent by the studies in a folder.
///
/// # Errors
/// [`StudyError`] for a file that is no such table, and a log that cannot be read.
pub fn compare_invoice(folder: &Path, invoice: &Path) -> Result<InvoiceComparison, StudyError> {
    let mut lines: Keyed<InvoiceLine> = BTreeMap::new();
    let line = |lines: &mut Keyed<InvoiceLine>, key: (String, String), add: &dyn Fn(&mut InvoiceLine)| {
        let (day, model) = key.clone();
        add(lines.entry(key).or_insert(InvoiceLine {
            day,
            model,
            sends: 0,
            unknown: 0,
            paid_picodollars: 0,
            at_most_picodollars: 0,
            billed_picodollars: None,
            agrees: false,
        }));
    };
    each_send(folder, |send| {
        // Of a program of a user's own its owner has the invoice.
        if send.base_url.is_empty() {
            return;
        }
        let day = send.at.chars().take("2026-11-02".len()).collect();
        line(&mut lines, (day, send.model.clone()), &|line| line.add(send));
    })?;
    for (key, amount) in billed(invoice)? {
        line(&mut lines, key, &|line| line.billed_picodollars = Some(amount.0));
    }
    let mut lines: Vec<InvoiceLine> = lines.into_values().collect();
    for line in &mut lines {
        line.agrees = line.is_met();
    }
    Ok(InvoiceComparison {
        folder: folder.display().to_string(),
        lines,
    })
}

fn billed(invoice: &Path) -> Result<Keyed<Picodollars>, StudyError> {
    let text = read_input(invoice)?;
    let wrong = |what: &dyn std::fmt::Display| {
        let hint = "write the columns day, model and usd: 2026-11-02,gpt-5.5,12.34";
        StudyError::input(format_args!("{}: {what}", invoice.display()), hint)
    };
    let mut billed: Keyed<Picodollars> = BTreeMap::new();
    for line in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let Billed { day, model, usd } = line.map_err(|error| wrong(&error))?;
        let parsed = NaiveDate::parse_from_str(&day, DAY);
        if !parsed.is_ok_and(|parsed| parsed.format(DAY).to_string() == day) {
            return Err(wrong(&format_args!("{day:?} is no day of the form YYYY-MM-DD")));
        }
        let amount = Picodollars::parse(usd.trim()).map_err(|error| wrong(&error))?;
        let sum = billed.entry((day, model)).or_default();
        *sum = sum.plus(amount);
    }
    if billed.is_empty() {
        return Err(wrong(&"it has no line"));
    }
    Ok(billed)
}

impl InvoiceLine {
    fn add(&mut self, send: &SendLine) {
        self.sends += 1;
        match send.cost_picodollars {
            None => self.unknown += 1,
            Some(cost) => {
                self.at_most_picodollars = self.at_most_picodollars.saturating_add(cost);
                if !send.is_most {
                    self.paid_picodollars = self.paid_picodollars.saturating_add(cost);
                }
            }
        }
    }

    fn is_met(&self) -> bool {
        const CENT: u64 = 10_000_000_000;
        let billed = self.billed_picodollars.unwrap_or(0);
        let slack = CENT.max(billed / 100);
        self.unknown == 0
            && self.paid_picodollars <= billed.saturating_add(slack)
            && billed <= self.at_most_picodollars.saturating_add(slack)
    }
}

impl InvoiceComparison {
    /// How many lines do not agree.
    #[must_use]
    pub fn disagreeing(&self) -> usize {
        self.lines.iter().filter(|line| !line.agrees).count()
    }

    /// What a person reads.
    #[must_use]
    pub fn report(&self) -> Report {
        let sum =
            |of: fn(&InvoiceLine) -> u64| Picodollars(self.lines.iter().map(of).fold(0, u64::saturating_add));
        let agreeing = self.lines.len() - self.disagreeing();
        let verdict = format!(
            "{agreeing} of {} lines agree: {} billed, {} paid for replies whose tokens are known, {} at most.",
            self.lines.len(),
            sum(|line| line.billed_picodollars.unwrap_or(0)),
            sum(|line| line.paid_picodollars),
            sum(|line| line.at_most_picodollars),
        );
        let money = |amount: u64| TableCell::Text(Picodollars(amount).to_string());
        let right = ktd_view::draw::Align::Right;
        let table = RowTable::new("Invoice", &self.lines)
            .text("day", |line| &line.day)
            .text("model", |line| &line.model)
            .count("sends", |line| line.sends)
            .column(("paid", right), |line| money(line.paid_picodollars))
            .column(("at most", right), |line| money(line.at_most_picodollars))
            .column(("billed", right), |line| {
                line.billed_picodollars.map_or(TableCell::Empty, money)
            })
            .text("agrees", |line| if line.agrees { "yes" } else { "no" })
            .table();
        Report {
            title: self.folder.clone(),
            verdict,
            notes: vec![
                "Days are UTC; a line agrees between paid and most, within a cent or one per cent."
                    .to_owned(),
            ],
            sections: vec![Section::new("Invoice").table("invoice", table, Shown::Everywhere)],
            ..Report::default()
        }
    }
}
