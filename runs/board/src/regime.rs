//! What market a window was, by the returns of its benchmark alone: no agent, price or day outside of it is read.

use super::record::{MarketRegime, WindowRegime};

/// The rule, as the hash of a board's metrics names it.
pub(super) const REGIME_RULE: &str = "regime = bull: benchmark gains 0.05 or more, and its largest drawdown or more; bear: \
                                      it loses 0.05 or more; sideways: else\n";

/// The gain of a bull market and the loss of a bear market, at least.
const LEAST_MOVE: f64 = 0.05;

/// The regime of daily returns; none of no day.
pub(super) fn regime(returns: &[f64]) -> Option<WindowRegime> {
    let (mut value, mut highest, mut max_drawdown) = (1.0_f64, 1.0_f64, 0.0_f64);
    for daily in returns {
        value *= 1.0 + daily;
        highest = highest.max(value);
        max_drawdown = max_drawdown.max(1.0 - value / highest);
    }
    let total_return = value - 1.0;
    let regime = if total_return <= -LEAST_MOVE {
        MarketRegime::Bear
    } else if LEAST_MOVE <= total_return && max_drawdown <= total_return {
        MarketRegime::Bull
    } else {
        MarketRegime::Sideways
    };
    (!returns.is_empty()).then_some(WindowRegime {
        regime,
        total_return,
        max_drawdown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmark_alone_says_what_market_it_was() {
        let of = |returns: &[f64]| regime(returns).map(|found| found.regime);
        assert_eq!(of(&[0.02, 0.02, 0.02]), Some(MarketRegime::Bull));
        assert_eq!(of(&[-0.02, -0.02, -0.02]), Some(MarketRegime::Bear));
        assert_eq!(
            of(&[0.02, -0.01, 0.02]),
            Some(MarketRegime::Sideways),
            "it gains too little"
        );
        // It gains 8 %, but fell by a fifth on the way: no trend to ride.
        assert_eq!(of(&[0.35, -0.20]), Some(MarketRegime::Sideways));
        assert_eq!(
            of(&[-0.20, 0.40]),
            Some(MarketRegime::Sideways),
            "it gains 12 % after a fall of 20 %"
        );
        assert_eq!(of(&[]), None);
        let found = regime(&[0.10, -0.05]).unwrap();
        assert!((found.total_return - 0.045).abs() < 1e-12 && (found.max_drawdown - 0.05).abs() < 1e-12);
    }
}
