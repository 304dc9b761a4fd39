//! The metrics of decisions, and those of the account.

use crate::event::Mark;
use crate::summary::{AccountSummary, EpisodeFold, Metric, Metrics};
use ktd_attribution::metric::{
    Abstention, Daily, MetricError, NavPath, ParseFailure, StepKind, cash_ratio, max_drawdown, sharpe_ratio,
    total_return, turnover,
};
use ktd_env::Fen;

pub(crate) fn metrics(fold: &EpisodeFold) -> Metrics {
    let counters = &fold.counters;
    let outcomes = [
        (StepKind::Ordered, counters.submitted),
        (StepKind::VoluntaryHold, counters.hold),
        (StepKind::FallbackHold, counters.fallback),
        (StepKind::Uncovered, counters.uncovered),
    ];
    let abstention = Abstention::of(
        outcomes
            .into_iter()
            .flat_map(|(outcome, count)| std::iter::repeat_n(outcome, count)),
    );
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    // What could be read and broke a rule is no failure of form.
    let emissions = counters.submitted + counters.hold + counters.fallback;
    let share = |failed: usize| ParseFailure {
        valid: small(emissions.saturating_sub(failed)),
        exhausted: small(failed),
    };
    let unreadable = counters.fallback.saturating_sub(counters.rule_fallback);
    Metrics {
        days: fold.steps,
        abstention: Metric::of(abstention.rate()),
        parse_failure: Metric::of(share(unreadable).rate()),
        parse_failure_strict: Metric::of(share(unreadable + counters.repaired).rate()),
        rule_breach: Metric::of(share(counters.rule_fallback).rate()),
    }
}

pub(crate) fn account_summary(initial_cash_fen: i64, marks: &[Mark]) -> Result<AccountSummary, MetricError> {
    let yuan = |fen: i64| Fen(fen).to_yuan();
    let daily =
        |amount: fn(&Mark) -> i64| -> Vec<f64> { marks.iter().map(|mark| yuan(amount(mark))).collect() };
    let nav = daily(|mark| mark.nav_fen);
    let (cash, traded) = (daily(|mark| mark.cash_fen), daily(|mark| mark.traded_value_fen));
    let path = NavPath::new(yuan(initial_cash_fen), &nav)?;
    let traded: Daily<'_> = path.daily("traded value", &traded)?;
    let cash = path.daily("cash", &cash)?;
    let count = |count: fn(&Mark) -> usize| marks.iter().map(count).fold(0, usize::saturating_add);
    Ok(AccountSummary {
        final_nav_fen: marks.last().map_or(initial_cash_fen, |mark| mark.nav_fen),
        total_return: Metric::of(total_return(&path)),
        sharpe_ratio: Metric::of(sharpe_ratio(&path)),
        max_drawdown: Metric::of(max_drawdown(&path)),
        turnover: Metric::of(turnover(&traded)),
        hhi: mean(marks.iter().map(|mark| hhi(mark.hhi_billionths))),
        cash_ratio: Metric::of(cash_ratio(&cash)),
        fee_drag: Metric {
            value: Some(marks.iter().map(|mark| yuan(mark.fees_fen)).sum::<f64>() / path.initial()),
            reason: None,
        },
        orders_filled: count(|mark| mark.filled),
        orders_rejected: count(|mark| mark.rejected),
        orders_clipped: count(|mark| mark.clipped),
        delistings: count(|mark| mark.delisted),
        stale_name_days: count(|mark| mark.stale),
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "billionths of a share of NAV stay below 2^53"
)]
fn hhi(billionths: u64) -> f64 {
    billionths as f64 / 1.0e9
}

#[expect(clippy::cast_precision_loss, reason = "days stay far below 2^53")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> Metric {
    let count = values.len();
    if count == 0 {
        return Metric {
            value: None,
            reason: Some("no days".to_owned()),
        };
    }
    Metric {
        value: Some(values.sum::<f64>() / count as f64),
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ReadEvent, StepOutcome};

    /// A step that falls back after these refusals of submissions.
    fn fallback(step: usize, refusals: &[(&str, Option<&str>)]) -> Vec<ReadEvent> {
        let mut events = vec![ReadEvent::StepBegin {
            step,
            day: serde_json::Value::Null,
            as_of: serde_json::Value::Null,
        }];
        events.extend(refusals.iter().map(|(code, detail)| ReadEvent::ModelFault {
            step,
            code: (*code).to_owned(),
            detail: detail.map(str::to_owned),
        }));
        events.push(ReadEvent::Decision {
            step,
            outcome: StepOutcome::Fallback,
            orders: Vec::new(),
            overall_reason: None,
            is_repaired: false,
        });
        events
    }

    #[test]
    fn the_last_submission_says_whether_form_or_rule_failed() {
        let events = [
            fallback(1, &[("no_tool_call", None), ("rejected", Some("cash"))]),
            fallback(2, &[("rejected", Some("cash")), ("rejected", Some("missing"))]),
            fallback(3, &[("rejected", Some("lot")), ("arguments_malformed", None)]),
            fallback(4, &[("rejected", Some("max_single_weight"))]),
            fallback(5, &[]),
        ];
        let fold = EpisodeFold::of(events.iter().flatten());
        assert_eq!((fold.counters.fallback, fold.counters.rule_fallback), (5, 2));
        let metrics = metrics(&fold);
        assert_eq!(metrics.parse_failure.value, Some(0.6));
        assert_eq!(metrics.parse_failure_strict.value, Some(0.6));
        assert_eq!(metrics.rule_breach.value, Some(0.4));
        assert_eq!(metrics.abstention.value, Some(1.0));
    }
}
