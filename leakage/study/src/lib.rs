//! The one-switch benchmark as a kind of study, and the audits of declared pipelines, columns and signals.
//!
//! Knows: the science of leakage, market data, values of formulas, the shape of a study. Never knows: a model at an endpoint, a
//! mask, threads of its units, how a record is kept.

mod audit;
mod audit_panel;
mod bars;
mod check;
mod config;
mod grid;
mod kind;
mod manifest;
mod notes;
mod page;
mod pictures;
mod planted_audit;
mod program_columns;
mod replay_audit;
mod report_tables;
mod sanity;
mod signals;
mod size_table;

pub use audit::{
    AuditDifference, AuditOptions, AuditedColumn, ColumnAudit, audit_manifest, audit_program, columns_audited,
};
pub use audit_panel::AuditPanel;
pub use bars::{MarketBars, market_bars};
pub use check::{CheckFinding, FileHint, ManifestCheck, check_manifest};
pub use config::{LeakConfig, LeakUniverse, PriceFile};
pub use grid::LeakSource;
pub use kind::{LeakFound, LeakStudy, LeakUnit, LeakWorld, read_leak_config};
pub use ktd_leakage::{AuditedSignal, ColumnVerdict, FillRule, KnownAt, SessionInstant};
pub use ktd_study::StudyError;
pub use manifest::{ColumnSource, DEFAULT_TIMEOUT_SECONDS, LeakManifest, ManifestColumn, ManifestCommand};
pub use planted_audit::{CleanRates, PlantedAudit, PlantedLeakRow, audit_planted};
pub use program_columns::ProgramRunner;
pub use replay_audit::ColumnOutcome;
pub use sanity::{Interventions, sanity};
pub use signals::{SignalsAudit, SignalsFile, audit_signals, read_signals, read_weights};
pub use size_table::{AuditSizeRow, LeakSizeReport, LeakSizeRow, leak_size_designs, leak_sizes};

#[cfg(test)]
mod audit_tests;
