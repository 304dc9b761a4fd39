//! The two interventions on the panel of a benchmark.

use super::bars::unfit;
use super::grid::LeakSource;
use super::kind::read_leak_config;
use super::report_tables::interventions_table;
use crate::StudyError;
use ktd_leakage::{SanityRow, Switch, interventions};
use ktd_study::{Audited, Report, Section, Shown};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What two interventions find of the last test year at the first horizon.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interventions {
    /// Protocol by protocol.
    pub interventions: Vec<SanityRow>,
}

/// Replaces what lies after a cut, and masks the signal day's bar, on the panel of a benchmark's file: the clean protocol must
/// not move.
///
/// # Errors
/// [`StudyError`] for a file or a panel that cannot be read, and one that is too short.
pub fn sanity(file: &Path) -> Result<Audited, StudyError> {
    let config = read_leak_config(file)?;
    let source = LeakSource::read(&config, file.parent().unwrap_or_else(|| Path::new("")))?;
    // Both lists are checked when they are read: neither is empty.
    let (horizon, year) = (config.horizons.first(), source.years.last());
    let (horizon, year) = (horizon.copied().unwrap_or(1), year.copied().unwrap_or(0));
    let found = Interventions {
        interventions: interventions(&source.bench, (horizon, year)).map_err(unfit)?,
    };
    let moved = found
        .interventions
        .iter()
        .find(|row| row.protocol == Switch::Clean && 0 < row.suffix_cells_changed);
    let wrong = moved.map(|row| {
        let cells = row.suffix_cells_changed;
        StudyError::difference(
            format_args!("{cells} cells of the clean protocol read what lies after the cut"),
            "report this: it is a defect of the program",
        )
    });
    let verdict = wrong.as_ref().map_or_else(
        || "Nothing that lies after the cut is read under the clean protocol.".to_owned(),
        |wrong| format!("{wrong}."),
    );
    let table = interventions_table(&found.interventions);
    let report = Report {
        title: "Interventions".to_owned(),
        verdict,
        sections: vec![Section::new("Interventions").table("interventions", table, Shown::Everywhere)],
        ..Report::default()
    };
    Audited::new(&found, report, wrong)
}
