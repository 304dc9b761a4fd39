//! What a submission came to: gates with their reasons, traces, stress, breaches, scores of both kinds.

use crate::audit::{
    COMPLETENESS_MIN, broken_trace, completeness, misplaced_row, missing_columns, traced_share,
};
use crate::bar_traces::MarketTrace;
use crate::bars::StrategyBars;
use crate::book::INITIAL_CAPITAL;
use crate::breaches::BreachReport;
use crate::candidate::CandidateLogs;
use crate::card::CardCheck;
use crate::contract::StrategyContract;
use crate::document::StrategyDocument;
use crate::gates::{Gate, GateResults};
use crate::jackknife::jackknife_reach;
use crate::likeness::RunLikeness;
use crate::look_ahead_plan::ActionWitness;
use crate::measured_scores::{FidelityEvidence, ReliabilityEvidence, RiskEvidence};
use crate::paper_scores::{PaperEvidence, PaperScores, SourceFacts};
use crate::parameters::Parameters;
use crate::stress::Stress;
use crate::trade_hash::candidate_trade_hash;
use crate::version_drift::{StrategyTraces, TraceDistances};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run on distorted bars.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RunEvidence {
    /// Trades that they hold.
    pub trades: usize,
    /// Hash of its trades, for display.
    pub trade_hash: String,
    /// Share of required cells that are filled.
    pub completeness: f64,
    /// Share of the logs that can be traced to bars and prices.
    pub traced: f64,
    /// What cannot be traced.
    pub untraceable: Option<String>,
    /// Required columns that are missing.
    pub missing_columns: Vec<String>,
    /// Actions and broken constraints of the long run.
    pub breaches: BreachReport,
    /// Runs on distorted bars.
    pub stress: Vec<StressOutcome>,
    /// How it was handed its bars.
    #[serde(default, skip_serializing_if = "StrategyContract::is_default")]
    pub contract: StrategyContract,
    /// Actions of the long run below which D2 and D3 say nothing: half as many as the reference has, and one at least.
    pub least_actions: usize,
    /// What the gate on look-ahead saw; none where it searches for nothing, and in records that are older than it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<ActionWitness>,
}

impl StressOutcome {
    /// What became of a run on distorted bars: its logs, or why it gave none. It is passed where it has a row a bar and every equity
    /// is a number above 0.
    #[must_use]
    pub fn of(
        stress: Stress,
        outcome: &Result<CandidateLogs, String>,
        (market, document, parameters): (&StrategyBars, &StrategyDocument, &Parameters),
    ) -> Self {
        match outcome {
            Ok(logs) => Self {
                stress,
                has_ended: true,
                problem: misplaced_row(&logs.bars, market).or_else(|| equity_problem(logs)),
                breaches: BreachReport::of(logs, market, document, parameters),
            },
            Err(fault) => Self {
                stress,
                has_ended: false,
                problem: Some(fault.clone()),
                breaches: BreachReport::default(),
            },
        }
    }
}

/// The first bar whose equity is no number above 0.
fn equity_problem(logs: &CandidateLogs) -> Option<String> {
    let is_sound = |row: &usize| {
        let equity = logs.bars.number("equity", *row);
        equity.is_some_and(|equity| equity.is_finite() && equity > 0.0)
    };
    let row = (0..logs.bars.len()).find(|row| !is_sound(row))?;
    Some(format!("the equity in row {row} is no number above 0"))
}

impl RunEvidence {
    /// What the logs of the long run and the runs on distorted bars show; one action is enough.
    #[must_use]
    pub fn of(
        logs: &CandidateLogs,
        (market, document, parameters): (&StrategyBars, &StrategyDocument, &Parameters),
        stress: Vec<StressOutcome>,
        contract: StrategyContract,
    ) -> Self {
        let broken = || broken_trace(logs, market, INITIAL_CAPITAL).map(|broken| broken.to_string());
        Self {
            trade_hash: candidate_trade_hash(&logs.trades),
            completeness: completeness(logs, document),
            traced: traced_share(logs, market, INITIAL_CAPITAL),
            untraceable: misplaced_row(&logs.bars, market).or_else(broken),
            missing_columns: missing_columns(logs, document),
            breaches: BreachReport::of(logs, market, document, parameters),
            trades: logs.trades.len(),
            stress,
            contract,
            least_actions: 1,
            witness: None,
        }
    }

    /// Why the gate on the logs is failed.
    #[must_use]
    pub fn audit_problem(&self) -> Option<String> {
        if self.completeness < COMPLETENESS_MIN {
            return Some(format!(
                "{:.4} of the required cells are filled, at least {COMPLETENESS_MIN} must be",
                self.completeness
            ));
        }
        self.untraceable.clone()
    }

    /// What D2 is made of: sums over the long run and the stress runs.
    fn risk(&self) -> RiskEvidence {
        let all = || std::iter::once(&self.breaches).chain(self.stress.iter().map(|stress| &stress.breaches));
        RiskEvidence {
            judged_bars: all()
                .map(|report| report.actions + report.broken_without_action)
                .sum(),
            broken_bars: all().map(BreachReport::broken_bars).sum(),
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
            traced: self.traced,
            stress_ended: self.stress.iter().filter(|stress| stress.has_ended).count(),
            stress_runs: self.stress.len(),
        }
    }
}

/// A submission, judged.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
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
    /// Its traces; none where it does not run, and in a result, which has them as letters.
    #[serde(default, skip_serializing_if = "StrategyTraces::is_empty")]
    pub traces: StrategyTraces,
    /// What it does bar by bar, and the reference; none where it does not run.
    pub markets: Vec<MarketTrace>,
    /// How alike it is to the reference over all bars of each draw of scenarios and long run; none where there is no reference, or
    /// where it does not run.
    pub likeness: Vec<RunLikeness>,
    /// Distances of its traces to the reference, 1 where it does not run; none where there is no reference.
    pub distances: TraceDistances,
}

impl SubmissionReport {
    /// What D1 is made of.
    #[must_use]
    pub fn fidelity(&self, has_drifted: bool) -> FidelityEvidence {
        FidelityEvidence {
            checks_held: self.checks.iter().filter(|check| check.holds).count(),
            checks: self.checks.len(),
            distances: self.distances.values().copied().collect(),
            likeness: self.alike(None),
            has_drifted,
        }
    }

    /// How alike it is to the reference over all draws, without one of them; none of none.
    #[must_use]
    pub fn alike(&self, without: Option<usize>) -> Option<RunLikeness> {
        RunLikeness::of_draws(&self.likeness, without)
    }

    /// D1 without each of the draws of scenarios: what its bounds are made of.
    #[must_use]
    pub fn fidelity_by_draw(&self, has_drifted: bool) -> Vec<f64> {
        let without = (0..self.likeness.len()).map(|draw| {
            let fidelity = FidelityEvidence {
                likeness: self.alike(Some(draw)),
                ..self.fidelity(has_drifted)
            };
            fidelity.score()
        });
        without.collect()
    }

    /// 95 % bounds of D1 over draws of scenarios and long run; none below two draws.
    #[must_use]
    pub fn fidelity_bounds(&self, has_drifted: bool) -> Option<(f64, f64)> {
        let reach = jackknife_reach(&self.fidelity_by_draw(has_drifted))?;
        let score = self.fidelity(has_drifted).score();
        Some(((score - reach).max(0.0), (score + reach).min(1.0)))
    }

    /// What D2 is made of; none for a program that does not run, which scores 0.
    #[must_use]
    pub fn risk(&self) -> Option<RiskEvidence> {
        self.run.as_ref().map(RunEvidence::risk)
    }

    /// What D3 is made of; none for a program that does not run, which scores 0.
    #[must_use]
    pub fn reliability(&self) -> Option<ReliabilityEvidence> {
        self.run.as_ref().map(|run| run.reliability(&self.gates))
    }

    /// D1, D2 and D3 as measured, each 0 to 1; D1 is 0 for a version that has drifted. A program that hardly acts breaks nothing and
    /// leaks nothing: its D2 and D3 are none.
    #[must_use]
    pub fn measured(&self, has_drifted: bool) -> [Option<f64>; 3] {
        let run = self.run.as_ref();
        let is_idle = run.is_some_and(|run| run.breaches.actions < run.least_actions);
        let acting = |score: f64| (!is_idle).then_some(score);
        [
            Some(self.fidelity(has_drifted).score()),
            acting(self.risk().map_or(0.0, RiskEvidence::score)),
            acting(self.reliability().map_or(0.0, ReliabilityEvidence::score)),
        ]
    }

    /// The published static scores; `None` where the source was not looked at.
    #[must_use]
    pub fn paper(&self, source: &str, document: &StrategyDocument) -> Option<PaperScores> {
        let run = self.run.as_ref();
        let evidence = PaperEvidence {
            class_name: &self.class_name,
            has_trades: run.is_some(),
            has_bars: run.is_some(),
            missing_columns: run.map_or(0, |run| run.missing_columns.len()),
            completeness: run.map_or(1.0, |run| run.completeness),
            keywords: &document.keywords,
            parameters: document.parameters.len(),
        };
        Some(PaperScores::of(source, self.facts.as_ref()?, evidence))
    }

    /// What stands beside the verdict of a gate: why it is failed, or what was seen of a program that passes.
    #[must_use]
    pub fn gate_note(&self, gate: Gate) -> Option<String> {
        let witness = || {
            let run = self.run.as_ref()?;
            match run.contract {
                StrategyContract::Run => run.witness.as_ref().map(ToString::to_string),
                StrategyContract::Step => Some("contract `step`: no later bar was given".to_owned()),
            }
        };
        let witness = (gate == Gate::AntiLeak).then(witness).flatten();
        let reason = self.gates.reason(gate).map(str::to_owned);
        match (reason, witness) {
            (Some(reason), Some(witness)) => Some(format!("{reason} ({witness})")),
            (reason, witness) => reason.or(witness),
        }
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
