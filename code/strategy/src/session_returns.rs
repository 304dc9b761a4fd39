//! Returns by session of a run whose orders wait for the next open.

use crate::bars::{BarTime, StrategyBars};
use crate::candidate::CandidateLogs;
use crate::earnings::ParsedLogs;
use crate::next_open::moved_to_next_open;
use std::collections::BTreeMap;

/// Returns of each session of a market, in order, without costs and with every fill at the next open. A session that the log of
/// bars leaves out keeps the equity before it; rows of other days count in no session.
///
/// # Errors
/// A sentence for logs that cannot be counted, and for an equity that is 0 or below before the last session.
pub fn session_returns(
    logs: &CandidateLogs,
    market: &StrategyBars,
    capital: f64,
) -> Result<Vec<f64>, String> {
    let parsed = ParsedLogs::of(logs)?;
    let (_, curve) = moved_to_next_open(&parsed.trades, &parsed.curve, market, &parsed.adds);
    let mut ends: BTreeMap<&str, f64> = BTreeMap::new();
    for (time, equity) in &curve {
        ends.insert(time.day(), *equity);
    }
    let mut sessions: Vec<&str> = market.times().iter().map(BarTime::day).collect();
    sessions.dedup();
    let mut before = capital;
    sessions
        .into_iter()
        .map(|day| {
            let equity = ends.get(day).copied().unwrap_or(before);
            let change = equity / before - 1.0;
            if before <= 0.0 || !change.is_finite() {
                return Err(format!("the equity before {day} is {before}: there is no return"));
            }
            before = equity;
            Ok(change)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::INITIAL_CAPITAL;
    use crate::candidate::CandidateTable;
    use crate::earnings::{FillPrice, RunEarnings};
    use crate::reference::DocumentId;
    use crate::test_runs::long_run;

    #[test]
    fn returns_compound_to_the_total_at_the_next_open() {
        for id in [DocumentId::S01, DocumentId::S04, DocumentId::S06] {
            let (document, market, logs) = long_run(id);
            let logs = CandidateLogs::of_reference(&logs, &document.columns);
            let returns = session_returns(&logs, &market, INITIAL_CAPITAL).unwrap();
            let earned = RunEarnings::of_candidate(&logs, &market, INITIAL_CAPITAL).unwrap();
            let free = earned.free(FillPrice::NextOpen);
            assert_eq!(returns.len(), free.sessions, "{id}");
            let grown: f64 = returns.iter().map(|change| 1.0 + change).product();
            assert!((grown - 1.0 - free.total_return).abs() < 1e-9, "{id}");
        }
    }

    #[test]
    fn a_session_that_is_left_out_has_no_return_and_none_is_counted_after_ruin() {
        let (document, market, mut logs) = long_run(DocumentId::S01);
        let day = logs.bars[5].time.day().to_owned();
        logs.bars.remove(5);
        let short = CandidateLogs::of_reference(&logs, &document.columns);
        let returns = session_returns(&short, &market, INITIAL_CAPITAL).unwrap();
        assert_eq!(returns.len(), market.times().len());
        assert!(returns[5].abs() < 1e-15, "{day}");
        for row in &mut logs.bars {
            row.equity = -1.0;
        }
        let ruined = CandidateLogs::of_reference(&logs, &document.columns);
        let error = session_returns(&ruined, &market, INITIAL_CAPITAL).unwrap_err();
        assert!(error.contains("there is no return"), "{error}");
        let empty = CandidateLogs {
            bars: CandidateTable::default(),
            ..ruined
        };
        let returns = session_returns(&empty, &market, INITIAL_CAPITAL).unwrap();
        assert!(returns.iter().all(|change| change.abs() < 1e-15));
    }
}
