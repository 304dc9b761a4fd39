//! The gate on look-ahead: runs on bars whose future is cut off or replaced, by the plan of a secret.

use crate::box_runs::{PlannedRun, ProgramBox, SEED};
use crate::error::StrategyError;
use crate::run_outcome::LogsOutcome;
use crate::task::StrategyTask;
use ktd_strategy_code::{
    ActionWitness, CandidateLogs, FutureChange, GateSecret, LONG_RUN, LookAheadPlan, ReferenceRun,
    StrategyBars, acting_bars, acting_tokens, known_difference,
};

/// As many runs are asked for at once: a verdict may make later ones needless.
const AT_ONCE: usize = 16;

/// Why the gate is failed, namely the first run in which the past is told otherwise; and what it saw. The secret is the program's.
pub(crate) fn look_ahead(
    (opened, task): (&mut ProgramBox<'_>, &StrategyTask),
    (whole, reference): (&CandidateLogs, &ReferenceRun),
    secret: &GateSecret,
) -> Result<(Option<String>, ActionWitness), StrategyError> {
    let market = task.long();
    let reference = reference.traces.get(LONG_RUN).map(|tokens| acting_tokens(tokens));
    let acting = (&acting_bars(whole, market), &reference.unwrap_or_default());
    let plan = LookAheadPlan::draw(secret, market.times().len(), acting);
    for some in plan.changes.chunks(AT_ONCE) {
        let runs: Vec<PlannedRun> = some
            .iter()
            .map(|change| PlannedRun {
                market: plan.market(*change, market),
                seed: SEED,
                purpose: purpose(*change),
                is_scored: false,
            })
            .collect();
        let outcomes = opened.run_all(&runs)?;
        let mut judged = some.iter().zip(outcomes);
        let reason = judged.find_map(|(change, outcome)| leak(*change, whole, outcome, market));
        if let Some(reason) = reason {
            // What stayed says nothing once something did not.
            let witness = ActionWitness {
                witnessed: 0,
                ..plan.witness
            };
            return Ok((Some(reason), witness));
        }
    }
    Ok((None, plan.witness))
}

const fn purpose(change: FutureChange) -> &'static str {
    match change {
        FutureChange::Cut { .. } => "prefix",
        FutureChange::Replaced { .. } => "future",
    }
}

/// Why a run on changed bars shows that the program looks ahead.
fn leak(
    change: FutureChange,
    whole: &CandidateLogs,
    outcome: LogsOutcome,
    market: &StrategyBars,
) -> Option<String> {
    let place = match change {
        FutureChange::Cut { bars } => format!("{bars} bars"),
        FutureChange::Replaced { bars, .. } => format!("other bars after {bars}"),
    };
    let last = market.times().get(change.bars().checked_sub(1)?)?;
    match outcome {
        Ok(part) => {
            known_difference(whole, &part, last.as_str()).map(|difference| format!("{place}: {difference}"))
        }
        Err(fault) => Some(format!("prefix_error: {place}: {fault}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_outcome::RunFault;
    use ktd_strategy_code::DocumentId;

    #[test]
    fn a_run_that_fails_on_changed_bars_fails_the_gate() {
        let task = StrategyTask::drawn(DocumentId::S01, 7).unwrap();
        let change = FutureChange::Cut { bars: 50 };
        let fault = Err(RunFault::new("KeyError", "'x'"));
        assert_eq!(
            leak(change, &CandidateLogs::default(), fault, task.long()).unwrap(),
            "prefix_error: 50 bars: KeyError: 'x'"
        );
        let same = Ok(CandidateLogs::default());
        assert_eq!(leak(change, &CandidateLogs::default(), same, task.long()), None);
    }
}
