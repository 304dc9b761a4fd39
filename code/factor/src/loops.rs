//! Layer 4 by measure: what a function runs in Python for each further row, counted in runs of its own.

use crate::casts::float;
use crate::job::RunOutcome;
use crate::step_count::{CountFault, StepCount};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps of a row from which on a function loops. A call or a turn of a loop for each row is one; vectorised code takes none.
const LOOP_STEPS_A_ROW: f64 = 0.5;

/// What a function runs in Python for each row more.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopMeasure {
    /// Calls and turns of loops for each further row, to two digits.
    pub steps_a_row: f64,
    /// Those inside functions that a window calls: reported, and no loop.
    pub window_steps_a_row: f64,
    /// Why they say nothing; none where they do.
    pub fault: Option<CountFault>,
}

impl LoopMeasure {
    /// The measure of runs on series of two lengths.
    #[must_use]
    pub fn of(runs: [(usize, &RunOutcome); 2]) -> Self {
        let [(short, one), (long, other)] = runs.map(|(rows, outcome)| (rows, count_of(outcome)));
        let rows = float(long.saturating_sub(short).max(1));
        let slope = |one: u64, other: u64| {
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 steps fit a run")]
            let more = other as f64 - one as f64;
            (more / rows * 100.0).round() / 100.0
        };
        Self {
            steps_a_row: slope(one.steps, other.steps),
            window_steps_a_row: slope(one.window_steps, other.window_steps),
            fault: one.fault.or(other.fault),
        }
    }

    /// Whether it loops, or cannot be counted.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        self.fault.is_some() || LOOP_STEPS_A_ROW <= self.steps_a_row
    }
}

fn count_of(outcome: &RunOutcome) -> StepCount {
    let count = outcome.as_ref().ok().and_then(|column| column.count);
    count.unwrap_or(StepCount {
        steps: 0,
        window_steps: 0,
        fault: Some(CountFault::Failed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RunColumn;

    fn counted(steps: u64, window_steps: u64, fault: Option<CountFault>) -> RunOutcome {
        let mut column = RunColumn::new(Vec::new(), 0, true)?;
        column.count = Some(StepCount {
            steps,
            window_steps,
            fault,
        });
        Ok(column)
    }

    #[test]
    fn a_step_a_row_is_a_loop_and_steps_that_do_not_grow_are_none() {
        let measure = |short: &RunOutcome, long: &RunOutcome| LoopMeasure::of([(300, short), (900, long)]);
        let steady = measure(&counted(5_000, 0, None), &counted(5_010, 0, None));
        assert!(!steady.is_loop(), "{steady:?}");
        let looping = measure(&counted(5_000, 0, None), &counted(5_600, 0, None));
        assert!(looping.is_loop() && (looping.steps_a_row - 1.0).abs() < 1e-12);
        let window = measure(&counted(100, 3_000, None), &counted(100, 9_000, None));
        assert!(!window.is_loop() && (window.window_steps_a_row - 10.0).abs() < 1e-12);
        let hidden = measure(&counted(1, 0, None), &counted(1, 0, Some(CountFault::Tampered)));
        assert!(hidden.is_loop());
        let uncounted = RunColumn::new(Vec::new(), 0, true);
        assert_eq!(measure(&uncounted, &uncounted).fault, Some(CountFault::Failed));
    }
}
