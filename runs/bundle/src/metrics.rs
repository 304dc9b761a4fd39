//! The account's metrics, computed from the events.

use crate::summary::{EpisodeFold, Metric, Metrics};
use ktd_attribution::metric::{
    Abstention, Daily, MetricError, NavPath, ParseFailure, StepKind, cash_ratio, max_drawdown, sharpe_ratio,
    total_return, turnover,
};
use ktd_env::Fen;

pub(crate) fn metrics(fold: &EpisodeFold) -> Result<Metrics, MetricError> {
    let yuan = |fen: i64| Fen(fen).to_yuan();
    let nav: Vec<f64> = fold.marks.iter().map(|mark| yuan(mark.nav_fen)).collect();
    let cash: Vec<f64> = fold.marks.iter().map(|mark| yuan(mark.cash_fen)).collect();
    let traded: Vec<f64> = fold
        .marks
        .iter()
        .map(|mark| yuan(mark.traded_value_fen))
        .collect();
    let path = NavPath::new(yuan(fold.initial_cash_fen), &nav)?;
    let traded: Daily<'_> = path.daily("traded value", &traded)?;
    let cash = path.daily("cash", &cash)?;
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
    let parse_failure = ParseFailure {
        valid: small(counters.submitted + counters.hold),
        exhausted: small(counters.fallback),
    };
    let strict = ParseFailure {
        valid: small((counters.submitted + counters.hold).saturating_sub(counters.repaired)),
        exhausted: small(counters.fallback + counters.repaired),
    };
    Ok(Metrics {
        days: nav.len(),
        final_nav_fen: fold
            .marks
            .last()
            .map_or(fold.initial_cash_fen, |mark| mark.nav_fen),
        total_return: Metric::of(total_return(&path)),
        sharpe_ratio: Metric::of(sharpe_ratio(&path)),
        max_drawdown: Metric::of(max_drawdown(&path)),
        turnover: Metric::of(turnover(&traded)),
        hhi: mean(fold.marks.iter().map(|mark| hhi(mark.hhi_billionths))),
        cash_ratio: Metric::of(cash_ratio(&cash)),
        abstention: Metric::of(abstention.rate()),
        parse_failure: Metric::of(parse_failure.rate()),
        parse_failure_strict: Metric::of(strict.rate()),
        fee_drag: Metric {
            value: Some(fold.marks.iter().map(|mark| yuan(mark.fees_fen)).sum::<f64>() / path.initial()),
            reason: None,
        },
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
