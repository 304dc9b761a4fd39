//! The one-switch benchmark as a kind of study, and the audits of declared pipelines, columns and signals.
//!
//! Knows: the science of leakage, market data, values of formulas, the shape of a study. Never knows: a model at an endpoint, a
//! mask, threads of its units, how a record is kept.

mod around_stamp;
mod audit;
mod audit_panel;
mod bars;
mod check;
mod config;
mod grid;
mod instant_text;
mod kind;
mod manifest;
mod manifest_file;
mod manifest_text;
mod noise_bands;
mod page;
mod pictures;
mod planted_rates;
mod program_columns;
mod proofs;
mod replay_audit;
mod report;
mod report_rows;
mod report_tables;
mod run;
mod sanity;
mod signals;

pub use audit::{AuditDifference, AuditOptions, AuditedColumn, audit_manifest, audit_program};
pub use audit_panel::AuditPanel;
pub use bars::{MarketBars, market_bars};
pub use check::{CheckFinding, ExpectedGain, check_manifest, read_source_hints};
pub use config::{AdjustedFrom, LeakConfig, LeakUniverse, PriceFile};
pub use grid::{LeakGrid, LeakSource};
pub use kind::{LeakFound, LeakStudy, LeakUnit, LeakWorld, RunName, read_leak_config};
pub use ktd_leakage::{FillRule, KnownAt, SessionInstant, SignalVerdict, SourceHint};
pub use ktd_study::StudyError;
pub use manifest::{ColumnSource, DEFAULT_TIMEOUT_SECONDS, LeakManifest, ManifestColumn, ManifestCommand};
pub use manifest_text::manifest_text;
pub use noise_bands::NoisePanel;
pub use planted_rates::{PlantedRate, PlantedRates, RuleRate, planted_rates};
pub use program_columns::ProgramRunner;
pub use proofs::LeakProofs;
pub use replay_audit::ColumnOutcome;
pub use report::{LeakPanel, LeakReport};
pub use report_rows::{ControlRow, CostRow, GainRow, LadderRow, ProfileRow, YearRow};
pub use report_tables::{
    controls_table, costs_table, gains_table, interventions_table, main_table, years_table,
};
pub use run::LeakRun;
pub use sanity::{SanityRow, sanity};
pub use signals::{AuditedSignal, SignalsFile, audit_signals, read_signals, read_weights};

#[cfg(test)]
mod audit_tests;
