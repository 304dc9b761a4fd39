//! The words that records and documents have for variants. They are derived from the names in the source, and records outlive names.

use ktd_kit::workspace_root;
use strum::VariantNames;

const LIST: &str = "tests/tests/rules/words.txt";

macro_rules! words {
    ($($type:ty,)+) => {
        [$((stringify!($type), <$type as VariantNames>::VARIANTS)),+]
    };
}

/// A variant that is renamed keeps its word, by `#[strum(serialize = "..")]`; `UPDATE=1` writes the list for one that is new.
#[test]
fn words_of_records_are_those_of_the_list() {
    let words = words![
        ktd_agents::Normalised,
        ktd_agents::StopReason,
        ktd_agents::ThinkingPolicy,
        ktd_agents::TransportError,
        ktd_agents::Verdict,
        ktd_agents::FaultKind,
        ktd_agents::Wire,
        ktd_stats::Undefined,
        ktd_factor_code::FailureReason,
        ktd_factor_code::PanelKind,
        ktd_factor_code::ReplyFlag,
        ktd_factor_code::FactorCategory,
        ktd_factor_code::FailureClass,
        ktd_sandbox::JobResult,
        ktd_sandbox::ResultFault,
        ktd_sandbox::JobStatus,
        ktd_strategy_code::BreachKind,
        ktd_strategy_code::DriftVerdict,
        ktd_strategy_code::Gate,
        ktd_strategy_code::IterationState,
        ktd_strategy_code::BarSignal,
        ktd_strategy_code::DocumentId,
        ktd_strategy_code::ReviewerState,
        ktd_strategy_code::Stress,
        ktd_env::exchange::EventKind,
        ktd_env::exchange::RejectCode,
        ktd_env::Board,
        ktd_alphas::NoiseMode,
        ktd_alphas::TrialFault,
        ktd_expressions::FormulaFault,
        ktd_leakage::ContractRule,
        ktd_leakage::ModelFamily,
        ktd_leakage::LeakKind,
        ktd_leakage::TradedField,
        ktd_leakage::SignalVerdict,
        ktd_leakage::Switch,
        ktd_probes::AttackerClass,
        ktd_probes::judge::ControlSet,
        ktd_probes::judge::RateStatus,
        ktd_probes::ProbeKind,
        ktd_probes::Measure,
        ktd_board::Cohort,
        ktd_board::ContrastMetric,
        ktd_tools::order::OrderProblem,
    ];
    let lines = words.map(|(of, words)| format!("{of}: {}\n", words.join(" ")));
    let path = workspace_root().join(LIST);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, lines.concat()).unwrap();
    }
    let listed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        listed.lines().collect::<Vec<_>>(),
        lines.concat().lines().collect::<Vec<_>>()
    );
}
