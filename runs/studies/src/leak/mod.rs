//! The one-switch benchmark and the audit of signals: files, runs over threads, reports.

mod around_stamp;
mod audit;
mod audit_panel;
mod bars;
mod benchmark;
mod check;
mod config;
mod grid;
mod instant_text;
mod manifest;
mod manifest_file;
mod manifest_text;
mod noise_bands;
mod page;
mod pictures;
mod planted_rates;
mod program_columns;
mod replay_audit;
mod report;
mod report_files;
mod report_rows;
mod report_tables;
mod run_file;
mod sanity;
mod signals;

pub use audit::{AuditDifference, AuditOptions, AuditedColumn, audit_manifest, audit_program};
pub use audit_panel::AuditPanel;
pub use bars::{MarketBars, market_bars};
pub use benchmark::{count_runs, run_grid};
pub use check::{CheckFinding, ExpectedGain, check_manifest, read_source_hints};
pub use config::{AdjustedFrom, LeakConfig, LeakUniverse, PriceFile, read_leak_config};
pub use grid::{LeakGrid, LeakSource};
pub use ktd_leakage::{FillRule, KnownAt, SessionInstant, SignalVerdict, SourceHint};
pub use manifest::{ColumnSource, DEFAULT_TIMEOUT_SECONDS, LeakManifest, ManifestColumn, ManifestCommand};
pub use manifest_text::manifest_text;
pub use page::leak_page;
pub use planted_rates::{PlantedRate, PlantedRates, RuleRate, planted_rates};
pub use program_columns::ProgramRunner;
pub use replay_audit::ColumnOutcome;
pub use report::{LeakReport, read_report};
pub use report_files::LEAK_FILES;
pub use report_rows::{ControlRow, CostRow, GainRow, LadderRow, ProfileRow, YearRow};
pub use report_tables::{
    controls_table, costs_table, gains_table, interventions_table, main_table, years_table,
};
pub use sanity::{SanityRow, sanity};
pub use signals::{AuditedSignal, SignalsFile, audit_signals, read_signals, read_weights};

#[cfg(test)]
mod audit_tests;
