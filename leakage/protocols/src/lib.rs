//! One-switch leakage: how much of a back-test is its protocol, and whether a signal leaks.
//!
//! A panel of bars becomes a [`LeakageBench`]: the features, labels and rows of all protocols. Each [`RunKey`] is then one
//! run, a pure function of the bench: a [`ModelFamily`] under a [`Switch`] for a horizon and a year. Years behind each other
//! are a [`TradeSeries`], and the difference from the reference's is a [`LeakageGain`]. Two interventions check that the
//! reference does not look ahead: [`suffix_check`] and [`mask_check`]. A user's own signal is audited against the returns
//! around its stamp ([`SignalAuditor`]): that can accuse and never acquit. A pipeline's declared contracts are checked by
//! [`check_contract`], and a column that was computed again on cut panels is judged by [`causality_report`].
//!
//! Source of every rule: docs/spec/leakage.md.
//!
//! Knows: statistics, learners. Never knows: the simulator's market, masks, agents, files, clocks, threads.

mod auc;
mod audit_sizes;
mod audited_signal;
mod bench;
mod causality;
mod contract;
mod drawn_market;
mod error;
mod feature_grid;
mod features;
mod gains;
mod graph;
mod instant;
mod key;
mod ladder;
mod later_correlation;
mod manifest;
mod mask_check;
mod panel;
mod planted_leak;
mod profile;
mod proofs;
mod record;
mod replay_panel;
mod replay_plan;
mod report;
mod report_rows;
mod ridge_model;
mod rolling;
mod rows;
mod run;
mod scaler;
mod schema;
mod scores;
mod sequences;
mod series;
mod settings;
mod shipped;
mod signal;
mod signal_audit;
mod sizes;
mod source_hints;
mod suffix;
mod switch;

pub use audit_sizes::{AuditSizeDesign, AuditSizes, DrawnSignal};
pub use audited_signal::AuditedSignal;
pub use bench::{LeakageBench, YearSplit, default_test_years};
pub use causality::{
    CausalityReport, CausalityVerdict, ColumnVerdict, FirstDifference, ReplayComparison, ReplayKind,
    ReplayRun, causality_report, compare_replay, judge_replays,
};
pub use contract::{
    AdjustedFrom, ContractFinding, ContractRule, FeatureContract, FeatureSource, GraphScope,
    PipelineContract, ScaleRows, UniverseRule, check_contract, switch_contract,
};
pub use error::LeakageError;
pub use feature_grid::FeatureGrid;
pub use gains::{LeakageGain, YearlyInference, yearly_inference};
pub use graph::{GraphWindow, PeerGraph, peer_graphs, peer_means};
pub use instant::SessionInstant;
pub use key::{ModelFamily, RunKey};
pub use ladder::{LadderRung, fill_ladder};
pub use later_correlation::{FORESIGHT_SESSIONS, LaterCorrelation, SignalPart};
pub use manifest::{FeatureKeys, LabelKeys, ManifestKeys, ProtocolKeys, Whole};
pub use mask_check::{MaskCheck, mask_check};
pub use panel::{BarField, BarGrid, SessionMonth};
pub use planted_leak::{LeakKind, PlantedLeak};
pub use profile::{PieceCorrelation, ReturnPiece, signal_profile};
pub use proofs::{LadderRow, LeakProofs, ProfileRow, SanityRow, interventions};
pub use record::LeakRun;
pub use replay_panel::{ReplayPanel, SessionDay, SuffixReplacement, TradedField};
pub use replay_plan::{PlannedReplay, replay_plan};
pub use report::{AskedGrid, LeakPanel, LeakReport};
pub use report_rows::{ControlRow, CostRow, GainRow, YearRow};
pub use ridge_model::RidgeModel;
pub use run::{DayTrade, SessionScores, YearRun};
pub use schema::{FEATURES, FeatureKind, FeatureSpec};
pub use series::{COSTS_BPS, HEADLINE_BPS, TradeFigures, TradeSeries};
pub use settings::LeakageSettings;
pub use shipped::{ShippedGain, shipped_gains};
pub use signal::{KnownAt, SignalGrid};
pub use signal_audit::{
    LeastLabel, PLANTED_SHARES, SignalAudit, SignalAuditor, SignalVerdict, SuspicionRule,
};
pub use sizes::{LeakSizeDesign, LeakSizes, PlantedDays, PlantedGain};
pub use source_hints::{SourceHint, source_hints};
pub use suffix::{SUFFIX_SESSIONS, SuffixCheck, SuffixPaths, suffix_check};
pub use switch::{FillRule, Switch};

#[cfg(test)]
mod acceptance_tests;
#[cfg(test)]
mod causality_battery_tests;
