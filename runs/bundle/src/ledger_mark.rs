//! The account's totals at a close, from the line of its ledger.

use crate::event::Mark;
use crate::ledger::{ExecutionRecord, LedgerLine, PositionRecord};
use ktd_env::exchange::EventKind;

/// The totals of a step. They are counted and summed here alone, so that public record, metrics and boards agree.
#[must_use]
pub fn mark_of(line: &LedgerLine) -> Mark {
    let executions = || line.fills.iter().map(|fill| fill.execution);
    let values = || {
        executions().filter_map(|execution| match execution {
            ExecutionRecord::Filled {
                value_fen,
                is_clipped,
                ..
            } => Some((value_fen, is_clipped)),
            ExecutionRecord::Rejected { .. } => None,
        })
    };
    let (orders, filled) = (line.fills.len(), values().count());
    let delistings = line.events.iter();
    let is_delisting = |kind| match kind {
        EventKind::DelistingLastClose | EventKind::DelistingZero => true,
        EventKind::CorporateAction | EventKind::DividendTax => false,
    };
    let delistings = delistings.filter(|event| is_delisting(event.kind));
    let stale = line.positions.iter().filter(|position| 0 < position.stale_days);
    Mark {
        nav_fen: line.nav_fen,
        cash_fen: line.cash_fen,
        fees_fen: line.identity_fen.fees,
        traded_value_fen: values().map(|(value, _)| value).fold(0, i64::saturating_add),
        hhi_billionths: hhi_billionths(line.nav_fen, &line.positions),
        positions: line.positions.len(),
        filled,
        rejected: orders.saturating_sub(filled),
        clipped: values().filter(|(_, is_clipped)| *is_clipped).count(),
        delisted: delistings.count(),
        stale: stale.count(),
    }
}

/// Sum of squared weights in billionths, in integers so that it is the same everywhere.
fn hhi_billionths(nav_fen: i64, positions: &[PositionRecord]) -> u64 {
    const BILLION: i128 = 1_000_000_000;
    let nav = i128::from(nav_fen);
    // A ledger may be a stranger's, so that nothing here may overflow; what a program writes is far from it.
    let squares = positions
        .iter()
        .map(|position| {
            let value = i128::from(position.shares).saturating_mul(i128::from(position.mark_fen));
            value.saturating_mul(value)
        })
        .fold(0_i128, i128::saturating_add);
    let square = nav.saturating_mul(nav).max(1);
    // Values are at most about 1e15 fen, so the squares fit and the product needs the wider division below.
    let whole = squares / square;
    let rest = squares % square;
    let scaled = whole
        .saturating_mul(BILLION)
        .saturating_add(rest / (square / BILLION).max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::StepOutcome;
    use crate::ledger::{EventRecord, FillRecord, IdentityRecord};
    use ktd_env::exchange::{RejectCode, Side};

    fn position(mark_fen: i64, stale_days: u32) -> PositionRecord {
        PositionRecord {
            symbol: "SH600000".to_owned(),
            shares: 100,
            cost_fen: 1,
            mark_fen,
            stale_days,
        }
    }

    const fn fill(execution: ExecutionRecord) -> FillRecord {
        FillRecord {
            symbol: None,
            side: Side::Buy,
            requested: 100,
            execution,
            limit_open: None,
        }
    }

    const fn filled(value_fen: i64, is_clipped: bool) -> FillRecord {
        fill(ExecutionRecord::Filled {
            shares: 100,
            price_fen: 5,
            value_fen,
            fee_fen: 7,
            is_clipped,
        })
    }

    #[test]
    fn totals_are_those_of_the_line() {
        let event = |kind: EventKind| EventRecord {
            symbol: "SH600000".to_owned(),
            kind,
            shares_before: 1,
            shares_after: 0,
            factor_before: "1".to_owned(),
            factor_after: "1".to_owned(),
            price_fen: 1,
            cash_fen: 0,
        };
        let line = LedgerLine {
            step: 1,
            date: "2020-01-02".to_owned(),
            outcome: StepOutcome::Submitted,
            fills: vec![
                filled(500, false),
                filled(1_000, true),
                fill(ExecutionRecord::Rejected {
                    code: RejectCode::ALL[0],
                }),
            ],
            events: [
                EventKind::CorporateAction,
                EventKind::DividendTax,
                EventKind::DelistingZero,
            ]
            .map(event)
            .to_vec(),
            positions: vec![position(600_000, 0), position(200_000, 3)],
            lots: Vec::new(),
            cash_fen: 20_000_000,
            nav_fen: 100_000_000,
            identity_fen: IdentityRecord {
                price_pnl: 1,
                corporate_rounding: 2,
                fees: 15,
                delisting_loss: 4,
                dividend_tax: 0,
            },
        };
        let expected = Mark {
            nav_fen: 100_000_000,
            cash_fen: 20_000_000,
            fees_fen: 15,
            traded_value_fen: 1_500,
            // 0.36 + 0.04
            hhi_billionths: 400_000_000,
            positions: 2,
            filled: 2,
            rejected: 1,
            clipped: 1,
            delisted: 1,
            stale: 1,
        };
        assert_eq!(mark_of(&line), expected);
    }

    #[test]
    fn no_ledger_overflows() {
        let positions = [position(i64::MAX, 0), position(i64::MIN, 0)];
        assert_eq!(hhi_billionths(0, &positions), u64::MAX);
    }
}
