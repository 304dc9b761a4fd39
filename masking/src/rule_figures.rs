//! The exchange's own numbers, which no mask hides: they belong to the run, not to a stock or a day.

use crate::Payload;
use ktd_env::exchange::{AuctionCash, ByBoard, DividendTaxRule, FeeRule, LimitOpenRule, LimitRule, Rules};

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

    /// Which opens are at the price limit and what becomes of orders there, as sentences: those of the rule that the exchange
    /// fills by. No date stands in them, so that they say nothing of the window.
    #[must_use]
    pub fn price_limits(&self) -> Payload {
        let (exact, buffered) = (self.exact_limits(), distances(self.0.buffer_bp));
        let queue = match self.0.limit_open {
            LimitOpenRule::Queue => QUEUE,
            LimitOpenRule::Blocked => "",
        };
        let told = match self.0.limit {
            LimitRule::Exact => format!(
                "A buy does not fill when the open stands at the exchange's upper limit, a sell when at its lower. {exact}"
            ),
            LimitRule::Buffered => format!(
                "They are the paper's buffered limits, not the exchange's: a buy does not fill when the open stands at or \
                 above the upper one, a sell when at or below the lower. They lie {buffered} from the previous close on \
                 every date, for ST stocks too. {NEW_LISTINGS}"
            ),
            LimitRule::Strict => format!(
                "A buy does not fill when the open stands at or above the nearer of the exchange's upper limit and the \
                 paper's buffered limit, a sell when at or below the nearer lower one. {exact} The paper's buffered \
                 limits lie {buffered} from the previous close on every date."
            ),
        };
        Payload::shown(told + queue)
    }

    /// What pays for the buys of an open, and how much of a day's volume an order may be, as sentences.
    #[must_use]
    pub fn open_terms(&self) -> Payload {
        let cash = match self.0.auction_cash {
            AuctionCash::Before => {
                "Cash that you hold before the open alone pays for its buys, and each freezes its count at the upper limit, \
                 fee included."
            }
            AuctionCash::Shared => "Cash from sells pays for buys of the same open.",
        };
        let volume = self.0.max_volume_share.map_or_else(String::new, |share| {
            let millionths = u32::try_from(share.billionths() / 1_000).unwrap_or(u32::MAX);
            let most = Payload::number(f64::from(millionths) / 1e4, 4).to_inline();
            format!(" An order trades at most {most} % of the day's volume of its stock.")
        });
        Payload::shown(format!("{cash}{volume}"))
    }

    /// The exchange's own limits: both sides of each reform, since the day itself may be hidden.
    fn exact_limits(self) -> String {
        let (bp, rules) = (self.0.exact_bp, self.0);
        format!(
            "Limits are those of the day and lie {} from the previous close on MAIN ({} for ST stocks until their limit \
             became that of the board), {} on CHINEXT ({} before its reform), {} on STAR, {} on BSE. {NEW_LISTINGS}",
            percent(bp.main),
            percent(rules.exact_bp_st_main),
            percent(bp.chinext),
            percent(rules.exact_bp_chinext_old),
            percent(bp.star),
            percent(bp.bse),
        )
    }

    /// What a trade costs, as sentences without a date.
    #[must_use]
    pub fn fees(&self) -> Payload {
        let rules = self.0;
        let least = Payload::number(rules.min_fee.to_yuan(), 2).to_inline();
        let tax = match rules.dividend_tax {
            DividendTaxRule::Dated => DIVIDEND_TAX,
            DividendTaxRule::None => "",
        };
        let fees = match rules.fees {
            FeeRule::Paper => format!(
                "{} basis points of value on buys, {} on sells, at least {least} CNY each.",
                rules.buy_bps, rules.sell_bps
            ),
            FeeRule::Dated => format!(
                "{} basis points of value as commission, at least {least} CNY; stamp duty and transfer fee, as they are \
                 charged on the day, on top.",
                Payload::number(f64::from(rules.commission_tenth_bps) / 10.0, 1).to_inline()
            ),
        };
        Payload::shown(fees + tax)
    }

    /// Least length of an order's reason in characters.
    #[must_use]
    pub fn min_reason_chars(&self) -> Payload {
        Payload::integer(i64::from(self.0.min_reason_chars))
    }
}

const QUEUE: &str = " Such an order waits in the queue of the day, and fills at its limit if the price leaves it before the close.";
const DIVIDEND_TAX: &str =
    " A sale also pays the tax on dividends that its shares brought: less the longer they were held.";
const NEW_LISTINGS: &str = "The first trading days of a new listing may have none.";

fn distances(bp: ByBoard<u32>) -> String {
    let [main, chinext, star, bse] = [bp.main, bp.chinext, bp.star, bp.bse].map(percent);
    format!("{main} on MAIN, {chinext} on CHINEXT, {star} on STAR and {bse} on BSE")
}

/// Basis points as a percentage without needless places.
fn percent(bp: u32) -> String {
    let digits = format!("{}.{:02}", bp / 100, bp % 100);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::Fen;
    use ktd_env::exchange::VolumeShare;

    #[test]
    fn figures_are_those_of_the_rules() {
        let rules = Rules {
            dividend_tax: DividendTaxRule::None,
            ..Rules::default()
        };
        let figures = RuleFigures::of(&rules);
        let shown = [
            figures.initial_cash_cny(),
            figures.max_single_weight(),
            figures.max_positions(),
            figures.fees(),
            figures.min_reason_chars(),
        ];
        let shown: Vec<String> = shown.iter().map(Payload::to_inline).collect();
        assert_eq!(
            shown,
            [
                "1,000,000.00",
                "0.2",
                "20",
                "5 basis points of value as commission, at least 5 CNY; stamp duty and transfer fee, as they are charged on the day, \
                 on top.",
                "10"
            ]
        );
    }

    #[test]
    fn dated_fees_say_what_is_charged_on_top_and_no_day() {
        let rules = Rules {
            fees: FeeRule::Dated,
            commission_tenth_bps: 25,
            ..Rules::default()
        };
        let text = RuleFigures::of(&rules).fees().to_inline();
        assert_eq!(
            text,
            "2.5 basis points of value as commission, at least 5 CNY; stamp duty and transfer fee, as they are charged on \
             the day, on top. A sale also pays the tax on dividends that its shares brought: less the longer they were held."
        );
    }

    #[test]
    fn the_terms_of_an_open_are_those_of_the_rules() {
        let shared = RuleFigures::of(&Rules::default()).open_terms().to_inline();
        assert_eq!(shared, "Cash from sells pays for buys of the same open.");
        let rules = Rules {
            auction_cash: AuctionCash::Before,
            max_volume_share: VolumeShare::from_billionths(25_000_000),
            ..Rules::default()
        };
        let before = RuleFigures::of(&rules).open_terms().to_inline();
        assert!(before.starts_with("Cash that you hold before"), "{before}");
        assert!(
            before.ends_with("at most 2.5 % of the day's volume of its stock."),
            "{before}"
        );
    }

    #[test]
    fn the_limits_of_the_text_are_those_that_the_exchange_fills_by() {
        let text = |limit| {
            let rules = Rules {
                limit,
                limit_open: match limit {
                    LimitRule::Buffered => LimitOpenRule::Blocked,
                    LimitRule::Exact | LimitRule::Strict => LimitOpenRule::Queue,
                },
                ..Rules::default()
            };
            RuleFigures::of(&rules).price_limits().to_inline()
        };
        let exact = text(Rules::default().limit);
        for part in [
            "10 % from",
            "(5 % for ST",
            "20 % on CHINEXT (10 % before",
            "30 % on BSE",
        ] {
            assert!(exact.contains(part), "{part}: {exact}");
        }
        assert!(!exact.contains("buffer"), "{exact}");
        assert!(exact.contains("waits in the queue"), "{exact}");
        let buffered = text(LimitRule::Buffered);
        assert!(buffered.contains("the paper's buffered limits"), "{buffered}");
        assert!(buffered.contains("9.5 % on MAIN, 19.5 % on CHINEXT, 19.5 % on STAR and 29.5 % on BSE"));
        assert!(
            !buffered.contains("5 % for ST") && !buffered.contains("queue"),
            "{buffered}"
        );
        let strict = text(LimitRule::Strict);
        assert!(
            strict.contains("20 % on CHINEXT (10 %") && strict.contains("19.5 % on CHINEXT,"),
            "{strict}"
        );
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
