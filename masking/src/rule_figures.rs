//! The exchange's own numbers, which no mask hides: they belong to the run, not to a stock or a day.

use crate::Payload;
use ktd_env::exchange::Rules;

/// The figures of a set of rules as payloads. Nothing but [`Rules`] goes in, so nothing of a market comes out.
#[derive(Debug, Clone, Copy)]
pub struct RuleFigures<'a>(&'a Rules);

impl<'a> RuleFigures<'a> {
    /// The figures of these rules.
    #[must_use]
    pub const fn of(rules: &'a Rules) -> Self {
        Self(rules)
    }

    /// Cash before the first day, CNY, as text for a sentence: grouped, so that no six digits stand alone as a stock's
    /// code does.
    #[must_use]
    pub fn initial_cash_cny(&self) -> Payload {
        let digits = (self.0.initial_cash.0 / 100).to_string();
        let places = digits.len();
        let grouped = digits.char_indices().flat_map(|(place, digit)| {
            let starts_group = place > 0 && (places - place).is_multiple_of(3);
            starts_group.then_some(',').into_iter().chain([digit])
        });
        Payload::shown(grouped.collect::<String>() + &format!(".{:02}", self.0.initial_cash.0 % 100))
    }

    /// Largest weight of one name after a buy.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a weight in billionths stays far below 2^53"
    )]
    pub fn max_single_weight(&self) -> Payload {
        Payload::number(self.0.max_single_weight_billionths as f64 / 1e9, 9)
    }

    /// Most names held.
    #[must_use]
    pub fn max_positions(&self) -> Payload {
        Payload::integer(i64::from(self.0.max_positions))
    }

    /// Fee on buys, basis points of value.
    #[must_use]
    pub fn buy_bps(&self) -> Payload {
        Payload::integer(i64::from(self.0.buy_bps))
    }

    /// Fee on sells, basis points of value.
    #[must_use]
    pub fn sell_bps(&self) -> Payload {
        Payload::integer(i64::from(self.0.sell_bps))
    }

    /// Least fee of one order, CNY.
    #[must_use]
    pub fn min_fee_cny(&self) -> Payload {
        Payload::number(self.0.min_fee.to_yuan(), 2)
    }

    /// Least length of an order's reason in characters.
    #[must_use]
    pub fn min_reason_chars(&self) -> Payload {
        Payload::integer(i64::from(self.0.min_reason_chars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::Fen;

    #[test]
    fn figures_are_those_of_the_rules() {
        let rules = Rules::default();
        let figures = RuleFigures::of(&rules);
        let shown = [
            figures.initial_cash_cny(),
            figures.max_single_weight(),
            figures.max_positions(),
            figures.buy_bps(),
            figures.sell_bps(),
            figures.min_fee_cny(),
            figures.min_reason_chars(),
        ];
        let shown: Vec<String> = shown.iter().map(Payload::to_inline).collect();
        assert_eq!(shown, ["1,000,000.00", "0.2", "20", "5", "15", "5", "10"]);
    }

    #[test]
    fn the_cash_of_a_sentence_is_grouped_and_looks_like_no_code() {
        let shown = |fen| {
            let rules = Rules {
                initial_cash: Fen(fen),
                ..Rules::default()
            };
            RuleFigures::of(&rules).initial_cash_cny().to_inline()
        };
        assert_eq!(shown(60_000_000), "600,000.00");
        assert_eq!(shown(100_000_000), "1,000,000.00");
        assert_eq!(shown(77_777_777), "777,777.77");
        assert_eq!(shown(99), "0.99");
    }
}
