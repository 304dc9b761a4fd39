//! Trading strategies that models write from a document: reference strategies to measure them against, gates on their logs,
//! drift between versions, scores, reviews, earnings on real bars.
//!
//! A strategy sees bars and gives two logs, of trades and of bars. Money is in units of account as f64, by contract of the
//! benchmark: fractions of shares are allowed, and nothing of it touches an exchange.
//!
//! Knows: `env` (keyed streams), `stats` (correlations, ratios), `sandbox` (limits and syntax trees). Never knows: processes, files, models, prompts, the exchange of episodes.

mod arena;
mod arena_record;
mod audit;
mod bar_traces;
mod bars;
mod book;
mod bradley_terry;
mod breaches;
mod built_in;
mod candidate;
mod canonical;
mod card;
mod contract;
mod control;
mod document;
mod drift;
mod earnings;
mod edit_distance;
mod equity_check;
mod figures;
mod gate_secret;
mod gates;
mod goal;
mod hash;
mod indicators;
mod iteration;
mod jackknife;
#[cfg(test)]
#[expect(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a table for its reader, of small whole sizes"
)]
mod ladder;
mod likeness;
mod lint;
mod logs;
mod look_ahead;
mod look_ahead_plan;
mod mean_fidelity;
mod measured_scores;
mod next_open;
mod ordinal_alpha;
mod paper_scores;
mod parameters;
mod patch;
mod python_number;
mod rank_correlation;
mod real_rows;
mod reference;
mod repetition;
mod reply;
mod review_reply;
mod reviewer_bias;
mod reviewer_flags;
mod rows;
mod scenario;
mod session_returns;
mod sizes;
mod source_facts;
mod strategy_id;
mod stress;
mod strict_json;
mod stripped_card;
mod stripped_source;
mod submission;
mod submission_report;
#[cfg(test)]
mod test_runs;
mod trace;
mod trade_hash;
mod trials;
mod version_chain;
mod version_drift;

pub use arena::{Arena, ArenaRow, Review, review_order};
pub use arena_record::{
    ArenaRecord, MakerRow, ProgramKey, ReviewEvent, ReviewScore, ReviewerRow, ReviewsFound,
};
pub use audit::{
    BAR_COLUMNS, BrokenTrace, TRADE_COLUMNS, broken_trace, completeness, misplaced_row, missing_columns,
};
pub use bar_traces::{BarTrace, MarketTrace, ReferenceRun, TRACE_LETTERS, equity_of};
pub use bars::{AssetBars, BarTime, StrategyBars};
pub use book::INITIAL_CAPITAL;
pub use breaches::{BreachKind, BreachReport, ConstraintBreach};
pub use built_in::{document_json, document_text};
pub use candidate::{CandidateLogs, CandidateTable, LOG_ROWS_MAX, LogCell};
pub use card::{CARD_BYTES_MAX, CardCheck, StrategyCard};
pub use contract::StrategyContract;
pub use control::{CONTROL_DOCUMENT, ControlKind};
pub use document::{DocumentParameter, ParameterFreedom, ParameterType, StrategyDocument};
pub use drift::{DriftVerdict, PublishedDrift, scenarios_moved_away};
pub use earnings::{FillPrice, RunEarnings};
pub use equity_check::unaccounted_equity;
pub use figures::{COSTS_BPS, EquityCurve, RunFigures, curve_after_costs, profit_at_next_open};
pub use gate_secret::GateSecret;
pub use gates::{Gate, GateResults, NOT_REACHED};
pub use goal::StrategyGoal;
pub use iteration::{ITERATIONS_MAX, IterationState, VersionScores, ranked_version};
pub use likeness::RunLikeness;
pub use lint::{LintFinding, ScenarioOutcome, lint_document, values_at_bounds};
pub use logs::{AuditRow, BarSignal, PositionState, StrategyLogs, TradeRow, TradeSide};
pub use look_ahead::{LogDifference, known_difference};
pub use look_ahead_plan::{ActionWitness, FutureChange, LookAheadPlan, acting_bars};
pub use mean_fidelity::{DrawnFidelity, MeanFidelity};
pub use measured_scores::{FidelityEvidence, ReliabilityEvidence, RiskEvidence};
pub use ordinal_alpha::ordinal_alpha;
pub use paper_scores::{PaperEvidence, PaperScores, SourceFacts};
pub use parameters::{ParameterValue, Parameters};
pub use patch::{PATCH_LINES_MAX, PatchSize};
pub use rank_correlation::{RankCorrelation, rank_correlation};
pub use real_rows::{EarnedRow, FillRow, RealMarket, RealReference, RealRow, RealVersion, with_session_end};
pub use reference::{DocumentId, ReferenceError, run_reference};
pub use repetition::{REPETITION_SEEDS, repetition_difference};
pub use reply::{ReplyProblem, StrategyReply};
pub use review_reply::{ReviewProblem, ReviewReply};
pub use reviewer_bias::ReviewerBias;
pub use reviewer_flags::{ReviewerFlags, ReviewerState};
pub use rows::{NO_REFERENCE, SubmissionRows, VersionRow};
pub use scenario::{
    LONG_RUN, Scenario, ScenarioError, fired_rules, named_as, read_scenarios, scenario_answers, scenarios,
};
pub use session_returns::session_returns;
pub use sizes::{StrategySizeDesign, StrategySizes};
pub use source_facts::source_facts;
pub use strategy_id::StrategyId;
pub use stress::Stress;
pub use strict_json::StrictJson;
pub use stripped_card::stripped_card;
pub use stripped_source::stripped_source;
pub use submission::StrategySubmission;
pub use submission_report::{RunEvidence, StressOutcome, SubmissionReport};
pub use trace::{acting_tokens, candidate_tokens, tokens_hash, trace_distance, trace_tokens};
pub use trade_hash::{is_close, trade_hash};
pub use trials::{DeflatedRatio, StrategyTrials, TriedVersions};
pub use version_chain::{DriftRule, SubmissionVersion, VersionChain, VersionJudge};
pub use version_drift::{StrategyTraces, StrategyVersion, TraceDistances, VersionDrift, trace_distances};
