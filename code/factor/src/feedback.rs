//! What a model gets to know between two rounds: facts, which templates make text of.

use crate::accuracy::{AccuracyRules, DifferingRows};
use crate::bars::PanelDay;
use crate::gate::SafetyVerdict;
use crate::job::PanelChange;
use crate::panel::{FactorPanels, PanelKind};
use crate::reply::SourceProblem;
use crate::structure::Violation;
use crate::verdict::{CodeExecution, FactorVerdict, JudgeRule};

/// How much of a verdict is fed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedbackScope {
    /// Failures of layer 1 alone; any other ends the task.
    Execution,
    /// The first layer that is failed.
    Layers,
}

/// The first thing that is wrong with a function, without anything of the right answer.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedbackFacts {
    /// The reply held nothing to run.
    NoSource(SourceProblem),
    /// It did not run.
    Execution {
        /// The word of the reason.
        reason: &'static str,
        /// The class of the exception.
        class: Option<String>,
        /// Its message, masked of paths and cut.
        message: Option<String>,
        /// The line of the source.
        line: Option<usize>,
    },
    /// Two runs on the same data differ.
    Nondeterministic,
    /// It failed on a part of the data, or on changed later rows.
    PrefixError {
        /// The word of the reason.
        reason: &'static str,
        /// Whether rows were removed, not changed.
        were_removed: bool,
    },
    /// A value changed when later rows did.
    Leak {
        /// The day of the first value that changed, of a panel that no other source is run on.
        day: PanelDay,
        /// Whether the later rows were removed, not changed.
        were_removed: bool,
    },
    /// Values differ from the definition.
    Logic {
        /// The panel's rows and how many differ.
        rows: DifferingRows,
        /// The day of the first one.
        day: PanelDay,
    },
    /// It loops.
    Structure {
        /// Each violation of the published list with a line where it stands.
        violations: Vec<(Violation, u64)>,
        /// Calls and turns of loops that each further row takes.
        steps_a_row: f64,
    },
}

/// The most characters of a message that are fed back.
const MESSAGE_CHARACTERS: usize = 2_000;

impl FeedbackFacts {
    /// What is fed back after a round; none where the function passes, or where the scope ends the task.
    ///
    /// `differing` gives where the values on a panel differ from the right ones.
    #[must_use]
    pub fn of(
        verdict: &FactorVerdict,
        scope: FeedbackScope,
        panels: &FactorPanels,
        rules: &AccuracyRules,
        differing: impl Fn(PanelKind) -> Option<DifferingRows>,
    ) -> Option<Self> {
        match &verdict.execution {
            CodeExecution::NoSource(fault) => return Some(Self::NoSource(*fault)),
            CodeExecution::Failed { failure, .. } => {
                return Some(Self::Execution {
                    reason: failure.reason.code(),
                    class: failure.class.clone(),
                    message: failure.message.as_deref().map(without_paths),
                    line: failure.line,
                });
            }
            CodeExecution::Ran if scope == FeedbackScope::Execution => return None,
            CodeExecution::Ran => {}
        }
        if let Some(safety) = &verdict.safety
            && let Some(facts) = of_safety(safety, panels)
        {
            return Some(facts);
        }
        let wrong = PanelKind::JUDGED
            .into_iter()
            .filter(|panel| !verdict.is_right_on(*panel, JudgeRule::Strict, rules));
        for panel in wrong {
            if let Some(rows) = differing(panel)
                && let Some(day) = panels.bars(panel).days().get(rows.first)
            {
                return Some(Self::Logic { rows, day: *day });
            }
        }
        let is_loop = !verdict.is_vectorised_by(JudgeRule::Strict);
        let violations = verdict.structure.iter().flat_map(|report| &report.violations);
        is_loop.then(|| Self::Structure {
            violations: violations
                .flat_map(|(kind, lines)| lines.iter().map(|line| (*kind, *line)))
                .collect(),
            steps_a_row: verdict.loops.map_or(0.0, |loops| loops.steps_a_row),
        })
    }
}

fn of_safety(safety: &SafetyVerdict, panels: &FactorPanels) -> Option<FeedbackFacts> {
    let removed = |change: &PanelChange| matches!(change, PanelChange::Cut { .. });
    match safety {
        SafetyVerdict::Safe | SafetyVerdict::DoesNotRun { .. } => None,
        SafetyVerdict::Nondeterministic { .. } => Some(FeedbackFacts::Nondeterministic),
        SafetyVerdict::Leak(evidence) => {
            let day = panels.bars(evidence.panel).days().get(evidence.row)?;
            Some(FeedbackFacts::Leak {
                day: *day,
                were_removed: removed(&evidence.change),
            })
        }
        SafetyVerdict::NeedsRows { .. } => Some(FeedbackFacts::PrefixError {
            reason: safety.code(),
            were_removed: true,
        }),
        SafetyVerdict::PrefixError { change, failure, .. } => Some(FeedbackFacts::PrefixError {
            reason: failure.reason.code(),
            were_removed: removed(change),
        }),
    }
}

/// Whether a word is a place in memory, which differs from run to run.
fn is_address(word: &str) -> bool {
    word.strip_prefix("0x").is_some_and(|digits| {
        6 <= digits.len() && digits.chars().all(|character| character.is_ascii_hexdigit())
    })
}

/// A message without paths of files and places in memory, and not too long.
#[must_use]
pub fn without_paths(message: &str) -> String {
    let masked = message.split_inclusive(char::is_whitespace).map(|word| {
        let core = word.trim_matches(|character: char| !character.is_alphanumeric() && character != '/');
        if core.starts_with('/') && core.len() > 1 {
            word.replace(core, "PATH")
        } else if is_address(core) {
            word.replace(core, "ADDRESS")
        } else {
            word.to_owned()
        }
    });
    masked
        .collect::<String>()
        .chars()
        .take(MESSAGE_CHARACTERS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_masked_and_messages_cut() {
        let message = "No such file: '/srv/somebody/x.csv' in df['a/b']";
        assert_eq!(without_paths(message), "No such file: 'PATH' in df['a/b']");
        let message = "cannot add <function f at 0x7f3a01c2d5e0> to 0x10";
        assert_eq!(
            without_paths(message),
            "cannot add <function f at ADDRESS> to 0x10"
        );
        assert_eq!(without_paths(&"x".repeat(3_000)).len(), 2_000);
    }
}
