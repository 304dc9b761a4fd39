//! The published static scores of a source: counting rules of the paper, kept beside the measured ones and never ranked
//! alone. An empty file gets 8.15 and 8.8 of 10 by them.

use crate::indicators::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a source's syntax tree shows, counted without running it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent observations, no state")]
pub struct SourceFacts {
    /// Whether it imports Python's `random`.
    pub imports_random: bool,
    /// Whether it draws from numpy's global generator, or makes one without a seed, and never seeds one.
    pub is_unseeded: bool,
    /// Whether it asks for the time of day.
    pub reads_clock: bool,
    /// Calls of `shift` by a negative constant.
    pub negative_shifts: usize,
    /// Subscripts of a name plus a positive constant.
    pub future_indices: usize,
    /// Slices with a negative step.
    pub reversed_slices: usize,
    /// Calls of `rolling` without `min_periods`.
    pub open_rollings: usize,
    /// Words in it that speak of the future.
    pub future_words: Vec<String>,
    /// Numbers other than 0 and 1.
    pub numbers: usize,
    /// `if`, conditional expressions and conditions of comprehensions.
    pub conditionals: usize,
    /// Cyclomatic complexity of the whole source.
    pub cyclomatic_complexity: usize,
    /// Classes that it defines.
    pub classes: Vec<String>,
    /// Whether it imports numpy, pandas, scipy or talib.
    pub imports_libraries: bool,
    /// Whether it handles errors or missing values.
    pub handles_edges: bool,
    /// Lines that are not blank.
    pub lines: usize,
    /// Lines of comments and docstrings.
    pub comment_lines: usize,
}

/// What the scores need to know beside the source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperEvidence<'a> {
    /// Class that is run.
    pub class_name: &'a str,
    /// Whether there is a log of trades.
    pub has_trades: bool,
    /// Whether there is a log of bars.
    pub has_bars: bool,
    /// Required columns that are missing.
    pub missing_columns: usize,
    /// Share of required cells that are filled.
    pub completeness: f64,
    /// Words that a source of the document is expected to contain.
    pub keywords: &'a [String],
    /// Parameters of the document.
    pub parameters: usize,
}

/// The published scores, 0 to 10 each.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PaperScores {
    /// Determinism.
    pub determinism: f64,
    /// No look-ahead.
    pub no_leak: f64,
    /// Logs.
    pub logs: f64,
    /// Quality.
    pub quality: f64,
    /// D3, reliability: the four above, weighted.
    #[serde(rename = "D3")]
    pub d3: f64,
    /// Logic.
    pub logic: f64,
    /// No overfitting.
    pub no_overfit: f64,
    /// Generality.
    pub generality: f64,
    /// D4: the three above, weighted.
    #[serde(rename = "D4")]
    pub d4: f64,
}

/// Points off for a condition.
const fn off(holds: bool, points: f64) -> f64 {
    if holds { points } else { 0.0 }
}

const fn clipped(score: f64) -> f64 {
    score.clamp(0.0, 10.0)
}

impl PaperScores {
    /// The scores of a source, by the paper's rules.
    #[must_use]
    pub fn of(source: &str, facts: &SourceFacts, evidence: PaperEvidence<'_>) -> Self {
        let determinism = clipped(
            10.0 - off(facts.imports_random, 3.0) - off(facts.is_unseeded, 2.0) - off(facts.reads_clock, 2.0),
        );
        let no_leak = clipped(
            10.0 - 2.0 * count(facts.negative_shifts)
                - 2.0 * count(facts.future_indices)
                - off(facts.open_rollings > 0, 1.0),
        );
        let logs = clipped(
            10.0 - off(!evidence.has_trades, 3.0)
                - off(!evidence.has_bars, 2.0)
                - 0.5 * count(evidence.missing_columns),
        );
        let has_class = facts.classes.iter().any(|class| class == evidence.class_name);
        let few_comments = count(facts.comment_lines) < 0.05 * count(facts.lines);
        let quality =
            clipped(10.0 - off(facts.lines < 50, 2.0) - off(!has_class, 2.0) - off(few_comments, 1.0));
        let incomplete = off(evidence.completeness < 0.95, 2.0 * (0.95 - evidence.completeness));
        let lower = source.to_lowercase();
        let found = evidence
            .keywords
            .iter()
            .filter(|word| lower.contains(&word.to_lowercase()));
        let logic = clipped(10.0 - off(found.count() < 2, 3.0) - off(facts.numbers > 50, 1.0));
        let no_overfit =
            clipped(10.0 - off(facts.conditionals > 30, 2.0) - off(evidence.parameters > 20, 1.5));
        let generality = clipped(
            10.0 - off(facts.cyclomatic_complexity > 50, 2.0)
                + off(facts.imports_libraries, 1.0)
                + off(facts.handles_edges, 0.5),
        );
        Self {
            determinism,
            no_leak,
            logs,
            quality,
            d3: clipped(0.30 * determinism + 0.30 * no_leak + 0.25 * logs + 0.15 * quality - incomplete),
            logic,
            no_overfit,
            generality,
            d4: clipped(0.40 * logic + 0.30 * no_overfit + 0.30 * generality),
        }
    }
}
