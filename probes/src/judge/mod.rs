//! Judgement of what attackers recovered: counts, rates with their bounds, positive controls, and the verdict.

mod baseline;
mod chance_parts;
mod class_verdict;
mod control;
mod count;
mod decimals;
mod detectable;
mod judgement;
mod known_stocks;
mod mark;
mod pass_odds;
mod rate;
mod settings;
mod summary;
mod thresholds;
mod verdict;
mod window_rate;

pub use baseline::BaselineCheck;
pub use chance_parts::{CHANCE_PARTS, ChanceParts};
pub use class_verdict::{ClassBound, ClassVerdict};
pub use control::{ControlRate, ControlSet, EXPECTED_OF_LANGUAGE, EXPECTED_RECOVERIES, ExpectedRecovery};
pub use count::{AttackerCounts, Counted, RANDOM, RecoveryCount, UnansweredCount};
pub use detectable::{DetectableShare, probes_needed};
pub use judgement::{AttackCounts, Judgement};
pub use known_stocks::KnownStocksVerdict;
pub use mark::{CertificateSummary, CertificationMark, CertificationStatus};
pub use pass_odds::PassOdds;
pub use rate::{AcceptanceCriteria, AcceptanceRule, RateInterval, RateStatus, RecoveryRate};
pub use settings::{DEFAULT_CONFIDENCE, JudgementSettings};
pub use summary::summary_of_refusals;
pub use thresholds::{ThresholdError, Thresholds, shows};
pub use verdict::{CertificateVerdict, Refusal, how_to_fix};
pub use window_rate::{WindowCount, WindowRate};
