//! The tables of true sizes of what a report of gains and the audit of a signal conclude.

use crate::StudyError;
use ktd_io::parallel::in_parallel;
use ktd_leakage::{AuditSizeDesign, AuditSizes, LeakSizeDesign, LeakSizes, PlantedDays};
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;

/// How often reports of gains and audits of signals were wrong about what is planted, design by design.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct LeakSizeReport {
    /// Draws of each design; less where models are fitted and signals audited.
    pub draws: u32,
    /// The seed of all.
    pub seed: u64,
    /// One a design of `leak run`.
    pub gains: Vec<LeakSizeRow>,
    /// One a design of `leak audit --signals` and `--weights`.
    pub audits: Vec<AuditSizeRow>,
}

/// Reports of one design. Figures are shares, and none of what a design does not have.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct LeakSizeRow {
    /// Test years.
    pub years: usize,
    /// Seeds of each model.
    pub seeds: usize,
    /// How their days are drawn.
    pub days: &'static str,
    /// What they came to.
    #[serde(flatten)]
    pub found: LeakSizes,
}

/// Audits of one design. Figures are shares.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct AuditSizeRow {
    /// Years of the market.
    pub years: usize,
    /// What the signal is, in words.
    pub signal: String,
    /// Whether it reads what it cannot know.
    pub leaks: bool,
    /// Audits.
    pub audits: u32,
    /// Those that said `suspect`.
    pub suspect: Option<f64>,
    /// Those that said `unusual`.
    pub unusual: Option<f64>,
}

/// How many designs there are.
#[must_use]
pub fn leak_size_designs() -> usize {
    LeakSizeDesign::all().len() + AuditSizeDesign::all().len()
}

/// Plants what every design says and counts; `tick` is called after each design.
///
/// # Errors
/// [`StudyError`] for a market that is none; there is none among those drawn.
pub fn leak_sizes(
    (draws, seed): (u32, u64),
    threads: usize,
    tick: &(dyn Fn() + Sync),
) -> Result<LeakSizeReport, StudyError> {
    let gains = in_parallel(&LeakSizeDesign::all(), threads, |design| {
        let found = design.sizes(draws, seed);
        tick();
        found.map(|found| gain_row(*design, found))
    });
    let audits = in_parallel(&AuditSizeDesign::all(), threads, |design| {
        let found = design.sizes(draws, seed);
        tick();
        found.map(|found| audit_row(*design, found))
    });
    Ok(LeakSizeReport {
        draws,
        seed,
        gains: gains
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(StudyError::invalid)?,
        audits: audits
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(StudyError::invalid)?,
    })
}

fn gain_row(design: LeakSizeDesign, found: LeakSizes) -> LeakSizeRow {
    LeakSizeRow {
        years: design.years,
        seeds: design.seeds,
        days: match design.days {
            PlantedDays::Even => "even",
            PlantedDays::Spells => "spells",
            PlantedDays::Fitted => "fitted models",
        },
        found,
    }
}

fn audit_row(design: AuditSizeDesign, found: AuditSizes) -> AuditSizeRow {
    AuditSizeRow {
        years: design.years,
        signal: design.signal.words(),
        leaks: design.signal.leaks(),
        audits: found.audits,
        suspect: found.suspect,
        unusual: found.unusual,
    }
}

fn percent(value: Option<f64>) -> TableCell {
    TableCell::optional(value, TableCell::Percent)
}

impl LeakSizeReport {
    /// The table of all designs of `leak run`.
    #[must_use]
    pub fn gains_table(&self) -> TableData {
        let title = format!(
            "`leak run`, true sizes over {} reports a row: intervals hold 95 %, of nothing at most 5 % are told",
            self.draws
        );
        RowTable::new(title, &self.gains)
            .count("years", |own| own.years)
            .count("seeds", |own| own.seeds)
            .text("days", |own| own.days)
            .count("reports", |own| usize::try_from(own.found.reports).unwrap_or(0))
            .ratio("one gain of", |own| Some(own.found.planted))
            .column(("95 % interval holds", Right), |own| percent(own.found.interval))
            .column(("nothing: p <= .05", Right), |own| percent(own.found.alone))
            .column(("any star on nothing", Right), |own| percent(own.found.any_star))
            .column(("years' 95 % holds 0", Right), |own| {
                percent(own.found.years_interval)
            })
            .column(("years' p <= .05", Right), |own| percent(own.found.years_alone))
            .column(("gain: p <= .05", Right), |own| percent(own.found.told_alone))
            .column(("gain: star", Right), |own| percent(own.found.told))
            .table()
    }

    /// The table of all designs of the audit of a signal.
    #[must_use]
    pub fn audits_table(&self) -> TableData {
        RowTable::new("`leak audit` of signals and weights, verdicts", &self.audits)
            .count("years", |own| own.years)
            .text("signal", |own| &own.signal)
            .text("leaks", |own| if own.leaks { "yes" } else { "no" })
            .count("audits", |own| usize::try_from(own.audits).unwrap_or(0))
            .column(("suspect", Right), |own| percent(own.suspect))
            .column(("unusual", Right), |own| percent(own.unusual))
            .table()
    }
}
