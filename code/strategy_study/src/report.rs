//! What a submission came to: gates with their reasons, traces, stress, breaches, scores of both kinds.

use crate::bar_traces::MarketTrace;
use crate::score_evidence::{MeasuredEvidence, PublishedEvidence};
use ktd_strategy_code::{
    BreachReport, CandidateLogs, CardCheck, FidelityEvidence, Gate, GateResults, PaperScores,
    ReliabilityEvidence, RiskEvidence, SourceFacts, StrategyDocument, StrategyTraces, Stress, TraceDistances,
};
use serde::{Deserialize, Serialize};

/// A run on distorted bars.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct StressOutcome {
    /// How they are distorted.
    pub stress: Stress,
    /// Whether the run gave logs.
    pub has_ended: bool,
    /// Why it is not passed.
    pub problem: Option<String>,
    /// Actions and broken constraints.
    pub breaches: BreachReport,
}

/// What the runs of a program showed.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct RunEvidence {
    /// Logs of the long run; none where a verdict is taken up that an earlier run left.
    #[serde(skip)]
    pub logs: CandidateLogs,
    /// Trades that they hold.
    pub trades: usize,
    /// Hash of its trades, for display.
    pub trade_hash: String,
    /// Share of required cells that are filled.
    pub completeness: f64,
    /// What cannot be traced.
    pub untraceable: Option<String>,
    /// Required columns that are missing.
    pub missing_columns: Vec<String>,
    /// Actions and broken constraints of the long run.
    pub breaches: BreachReport,
    /// Runs on distorted bars.
    pub stress: Vec<StressOutcome>,
}

impl RunEvidence {
    /// What D2 is made of: sums over the long run and the stress runs.
    fn risk(&self) -> RiskEvidence {
        let all = || std::iter::once(&self.breaches).chain(self.stress.iter().map(|stress| &stress.breaches));
        RiskEvidence {
            actions: all().map(|report| report.actions).sum(),
            breaches: all().map(|report| report.breaches.len()).sum(),
            logged_breaches: all().map(BreachReport::logged).sum(),
            stress_passed: self
                .stress
                .iter()
                .filter(|stress| stress.problem.is_none())
                .count(),
            stress_runs: self.stress.len(),
        }
    }

    fn reliability(&self, gates: &GateResults) -> ReliabilityEvidence {
        ReliabilityEvidence {
            is_deterministic: gates.is_passed(Gate::Determ),
            is_free_of_leaks: gates.is_passed(Gate::AntiLeak),
            completeness: self.completeness,
            is_traceable: self.untraceable.is_none(),
            stress_ended: self.stress.iter().filter(|stress| stress.has_ended).count(),
            stress_runs: self.stress.len(),
        }
    }
}

/// A submission, judged.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct SubmissionReport {
    /// The six gates.
    pub gates: GateResults,
    /// Checks of the card; none where it is no card.
    pub checks: Vec<CardCheck>,
    /// What the source shows; `None` where it was not looked at.
    pub facts: Option<SourceFacts>,
    /// The class that the card names.
    pub class_name: String,
    /// What its runs showed; `None` where it does not run.
    pub run: Option<RunEvidence>,
    /// Its traces; none where it does not run.
    pub traces: StrategyTraces,
    /// What it does bar by bar, and the reference; none where it does not run.
    pub markets: Vec<MarketTrace>,
    /// Distances of its traces to the reference, 1 where it does not run; none where there is no reference.
    pub distances: TraceDistances,
}

impl SubmissionReport {
    /// What D1, D2 and D3 are made of.
    #[must_use]
    pub fn measured_evidence(&self) -> MeasuredEvidence {
        MeasuredEvidence {
            fidelity: FidelityEvidence {
                checks_held: self.checks.iter().filter(|check| check.holds).count(),
                checks: self.checks.len(),
                distances: self.distances.values().copied().collect(),
                has_drifted: false,
            },
            risk: self.run.as_ref().map(RunEvidence::risk),
            reliability: self.run.as_ref().map(|run| run.reliability(&self.gates)),
        }
    }

    /// What the published static scores are made of; `None` where the source was not looked at.
    #[must_use]
    pub fn published_evidence(&self, document: &StrategyDocument) -> Option<PublishedEvidence> {
        let run = self.run.as_ref();
        Some(PublishedEvidence {
            facts: self.facts.clone()?,
            class_name: self.class_name.clone(),
            has_logs: run.is_some(),
            missing_columns: run.map_or(0, |run| run.missing_columns.len()),
            completeness: run.map_or(1.0, |run| run.completeness),
            keywords: document.keywords.clone(),
            parameters: document.parameters.len(),
        })
    }

    /// D2, risk, from 0 to 1: over the long run and the stress runs; 0 where it does not run.
    #[must_use]
    pub fn risk(&self) -> f64 {
        let [_, risk, _] = self.measured(false);
        risk
    }

    /// D1, D2 and D3 as measured.
    #[must_use]
    pub fn measured(&self, has_drifted: bool) -> [f64; 3] {
        self.measured_evidence().scores(has_drifted)
    }

    /// The published static scores; `None` where the source was not looked at.
    #[must_use]
    pub fn paper(&self, source: &str, document: &StrategyDocument) -> Option<PaperScores> {
        Some(self.published_evidence(document)?.scores(source))
    }

    /// Static warnings of look-ahead, which decide nothing.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let Some(facts) = &self.facts else {
            return Vec::new();
        };
        let counted = [
            (facts.negative_shifts, "shifts by a negative constant"),
            (facts.future_indices, "indices of a name plus a constant"),
            (facts.reversed_slices, "slices with a negative step"),
            (facts.open_rollings, "rolling windows without min_periods"),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let words = facts.future_words.iter().map(|word| format!("the word {word:?}"));
        counted
            .map(|(count, what)| format!("{count} {what}"))
            .chain(words)
            .collect()
    }
}
