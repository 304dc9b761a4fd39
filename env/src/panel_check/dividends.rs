//! Dividends against the factor: what an ex-day takes off the price, by the factor, and what was paid.

use super::{Check, Examples};
use crate::day::TradeDate;
use crate::market::{Bar, DayIndex, NameId, NameInfo};
use crate::ticker::Ticker;

/// An ex-day whose factor takes less off the price than its dividend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DividendMismatch {
    /// The name.
    pub ticker: Ticker,
    /// Day of the first bar without the dividend.
    pub date: TradeDate,
    /// What the panel says was paid, CNY a share.
    pub paid_yuan: f64,
    /// What the factor takes off the previous close, CNY a share.
    pub taken_yuan: f64,
}

/// How dividends and moves of the factor go together.
#[derive(Debug, Clone, PartialEq)]
pub struct DividendCheck {
    /// Ex-days with a dividend and a bar before them.
    pub ex_days: usize,
    /// Of these, factors that take less off the price than was paid: one of the two is wrong.
    pub mismatches: Examples<DividendMismatch>,
    /// Of these, factors that take more off: bonus shares or rights of the same day explain it, or the dividend is too small.
    pub beyond: usize,
    /// Moves of the factor without a dividend.
    pub moves_without: usize,
}

/// A reference price is a whole fen, so half of one each way is rounding.
const ROUNDING_YUAN: f64 = 0.01;
/// What is lost of a price where a source writes factors with six digits.
const FACTOR_DIGITS: f64 = 1e-5;

impl DividendCheck {
    pub(super) const fn new(examples: usize) -> Self {
        Self {
            ex_days: 0,
            mismatches: Examples::new(examples),
            beyond: 0,
            moves_without: 0,
        }
    }
}

impl Check<'_> {
    /// Holds the dividends between two bars of a name against what the factor moved.
    pub(super) fn dividends(&mut self, name: NameId, days: [DayIndex; 2], before: &Bar, bar: &Bar) {
        let [Some(from), Some(date)] = days.map(|day| self.market.date(day)) else {
            return;
        };
        let Some(NameInfo {
            ticker, dividends, ..
        }) = self.market.name(name)
        else {
            return;
        };
        let between = dividends
            .iter()
            .filter(|paid| from < paid.ex_day && paid.ex_day <= date);
        let paid_yuan: f64 = between.map(|paid| paid.yuan_per_share.to_f64()).sum();
        let found = &mut self.report.dividends;
        if paid_yuan <= 0.0 {
            found.moves_without += usize::from(before.factor != bar.factor);
            return;
        }
        found.ex_days += 1;
        let close = before.close.to_yuan();
        let taken_yuan = close * (1.0 - before.factor.to_f64() / bar.factor.to_f64());
        let tolerance = ROUNDING_YUAN + FACTOR_DIGITS * close;
        if taken_yuan + tolerance < paid_yuan {
            let mismatch = DividendMismatch {
                ticker: *ticker,
                date,
                paid_yuan,
                taken_yuan,
            };
            found.mismatches.add((paid_yuan - taken_yuan) / close, mismatch);
        } else if paid_yuan + tolerance < taken_yuan {
            found.beyond += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::DateSpan;
    use crate::decimal::Decimal;
    use crate::exchange::Rules;
    use crate::market::{CashDividend, MarketBuilder, PanelOptions, PriceBasis, RawBar, VolumeBasis};
    use crate::panel_check::{CheckOptions, DataReport, check_panel};

    const DAYS: [&str; 3] = ["2024-06-18", "2024-06-19", "2024-06-21"];

    /// Names with closes of 20.00 on the first day, each with its close and factor from the second on and its dividend.
    fn report(names: &[(&str, &str, &str, &str)]) -> DataReport {
        let mut builder = MarketBuilder::new(PanelOptions {
            basis: PriceBasis::Raw,
            volume: VolumeBasis::Real,
            has_factors: true,
            has_amounts: false,
            calendar: None,
        });
        let some = |text: &str| Decimal::parse(text).ok();
        let mut row = 1;
        for (code, close, factor, yuan) in names {
            let ticker = Ticker::parse(code).unwrap();
            for (place, day) in DAYS.into_iter().enumerate() {
                let (close, factor) = if place == 0 {
                    ("20", "1")
                } else {
                    (*close, *factor)
                };
                let bar = RawBar {
                    open: some(close),
                    high: some(close),
                    low: some(close),
                    close: some(close),
                    volume: some("1000"),
                    factor: some(factor),
                    ..RawBar::default()
                };
                row += 1;
                let date = TradeDate::parse(day).unwrap();
                builder.add_row("f.csv", row, ticker, date, &bar).unwrap();
            }
            let ex_day = TradeDate::parse(DAYS[1]).unwrap();
            let yuan_per_share = Decimal::parse(yuan).unwrap();
            let dividend = CashDividend {
                ex_day,
                yuan_per_share,
            };
            builder.set_dividend(ticker, dividend);
        }
        builder.declare_all_members();
        let options = CheckOptions {
            span: DateSpan::ALWAYS,
            examples: 9,
        };
        check_panel(&builder.build().unwrap().0, &Rules::default(), options)
    }

    #[test]
    fn a_dividend_that_its_factor_does_not_take_off_is_found() {
        let report = report(&[
            // 20.00 less 0.357 is a reference of 19.64, by which the factor was made.
            ("SZ000001", "19.64", "1.018330", "0.357"),
            // The same, quoted for ten shares.
            ("SZ000002", "19.64", "1.018330", "3.57"),
            // A dividend of which the factor knows nothing.
            ("SZ000004", "20", "1", "0.25"),
            // One new share for each, and 0.50: the reference is 9.75.
            ("SZ000005", "9.75", "2.051282", "0.5"),
            // A split alone.
            ("SZ000006", "10", "2", "0"),
        ]);
        let found = &report.dividends;
        let counts = (found.ex_days, found.beyond, found.moves_without);
        assert_eq!(counts, (4, 1, 1));
        let worst: Vec<(Ticker, f64)> = found
            .mismatches
            .worst
            .iter()
            .map(|wrong| (wrong.ticker, wrong.paid_yuan))
            .collect();
        let expected = [("SZ000002", 3.57), ("SZ000004", 0.25)];
        assert_eq!(
            worst,
            expected.map(|(code, paid)| (Ticker::parse(code).unwrap(), paid))
        );
        assert!(report.has_findings());
    }
}
