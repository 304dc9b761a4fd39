//! The tax on dividends, worked out by hand: one name at CNY 10.00, one order a day.

use super::*;
use crate::day::TradeDate;
use crate::decimal::Decimal;
use crate::market::{CashDividend, Market, MarketBuilder, PanelOptions, PriceBasis, RawBar, VolumeBasis};
use crate::money::{Fen, Shares};
use crate::ticker::Ticker;

/// A trading day: its date, the factor, the dividend of that ex-day in CNY a share, and the shares bought or sold at its open.
type Day<'d> = (&'d str, &'d str, &'d str, i64);

fn date(text: &str) -> TradeDate {
    TradeDate::parse(text).unwrap()
}

fn market(days: &[Day<'_>]) -> Market {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: false,
        calendar: None,
    });
    let ticker = Ticker::parse("SH600000").unwrap();
    for (day, factor, dividend, _) in days {
        let bar = RawBar {
            open: Decimal::parse("10").ok(),
            close: Decimal::parse("10").ok(),
            volume: Decimal::parse("1000000").ok(),
            factor: Decimal::parse(factor).ok(),
            ..RawBar::default()
        };
        builder.add_row("f", 1, ticker, date(day), &bar).unwrap();
        let dividend = CashDividend {
            ex_day: date(day),
            yuan_per_share: Decimal::parse(dividend).unwrap(),
        };
        builder.set_dividend(ticker, dividend);
    }
    builder.declare_all_members();
    builder.build().unwrap().0
}

/// The account after the days, and the tax of each in fen.
fn run(rules: &Rules, days: &[Day<'_>]) -> (Account, Vec<i64>) {
    let market = market(days);
    let mut account = Account::with_cash(Fen(100_000_000));
    let mut taxes = Vec::new();
    for (place, (.., shares)) in days.iter().enumerate().skip(1) {
        let order = Order {
            name: market.names().next().map(|(name, _)| name),
            side: if 0 < *shares { Side::Buy } else { Side::Sell },
            quantity: Quantity::Shares(Shares(shares.abs())),
        };
        let orders = if *shares == 0 { vec![] } else { vec![order] };
        let day = TradingDay::new(&market, market.day_at(place).unwrap()).unwrap();
        let (after, report) = step(rules, account, &orders, &day).unwrap();
        assert_eq!(report.filled_count(), orders.len(), "day {place}");
        let of_events = report
            .events
            .iter()
            .filter(|event| event.kind == EventKind::DividendTax);
        let of_events: i64 = of_events.map(|event| -event.cash.0).sum();
        assert_eq!(report.identity.dividend_tax.0, of_events);
        taxes.push(of_events);
        account = after;
    }
    (account, taxes)
}

/// 1,000 shares bought, CNY 0.50 a share at the ex-day, all sold: CNY 500 before tax.
#[test]
fn the_rate_is_that_of_the_holding_time_and_of_the_record_day() {
    for (bought, recorded, ex_day, sold, tax) in [
        // A month and a year are those of the calendar, the last day included.
        ("2024-01-08", "2024-01-12", "2024-01-15", "2024-02-08", 10_000),
        ("2024-01-08", "2024-01-12", "2024-01-15", "2024-02-09", 5_000),
        ("2024-01-08", "2024-01-12", "2024-01-15", "2025-01-08", 5_000),
        ("2024-01-08", "2024-01-12", "2024-01-15", "2025-01-09", 0),
        ("2024-01-31", "2024-02-01", "2024-02-02", "2024-02-29", 10_000),
        ("2024-01-31", "2024-02-01", "2024-02-02", "2024-03-01", 5_000),
        // The schedule is that of the record day, whenever the shares were bought and sold.
        ("2014-09-01", "2015-09-07", "2015-09-08", "2016-09-01", 2_500),
        ("2014-09-01", "2015-09-08", "2015-09-09", "2016-09-01", 0),
        ("2015-08-24", "2015-09-07", "2015-09-08", "2015-09-10", 10_000),
        ("2010-01-04", "2012-12-31", "2013-01-02", "2013-01-04", 5_000),
        ("2010-01-04", "2013-01-04", "2013-01-07", "2013-01-08", 2_500),
        ("2012-12-20", "2012-12-31", "2013-01-02", "2013-01-04", 5_000),
        ("2012-12-20", "2013-01-04", "2013-01-07", "2013-01-08", 10_000),
    ] {
        let days = [
            ("2009-12-31", "1", "0", 0),
            (bought, "1", "0", 1_000),
            (recorded, "1", "0", 0),
            (ex_day, "1", "0.5", 0),
            (sold, "1", "0", -1_000),
        ];
        let (account, taxes) = run(&Rules::default(), &days);
        assert_eq!(taxes, [0, 0, 0, tax], "{bought} {ex_day} {sold}");
        assert_eq!(account.lots, []);
        let untaxed = Rules {
            dividend_tax: DividendTaxRule::None,
            ..Rules::default()
        };
        let (other, taxes) = run(&untaxed, &days);
        assert_eq!((taxes, other.cash.0), (vec![0; 4], account.cash.0 + tax));
    }
}

/// The oldest shares are sold first, each with its own part of what it brought; a split carries the lots.
#[test]
fn shares_are_sold_first_in_first_out() {
    let days = [
        ("2024-01-02", "1", "0", 0),
        ("2024-01-03", "1", "0", 300),
        ("2024-03-01", "1", "0", 500),
        // 300 shares bring CNY 37.037 and 500 bring CNY 61.728.
        ("2024-03-11", "1", "0.12345678", 0),
        // Two months and some days: 10 % of CNY 24.69, two thirds of the first lot.
        ("2024-03-12", "1", "0", -200),
        // Shares double: 200 of the first lot, 1,000 of the second.
        ("2024-03-13", "2", "0", 0),
        // The day of an ex-day bears its dividend to those who held before, not to who buys at its open.
        ("2024-03-14", "2", "0.01", 100),
        // The rest of the first lot: 10 % of CNY 12.35 and of CNY 2.00. 400 of the second within its month: 20 % of CNY 24.69 and
        // of CNY 4.00.
        ("2024-03-15", "2", "0", -600),
        // The rest of the second after a month: 10 % of CNY 37.04 and of CNY 6.00; nothing on the third.
        ("2024-04-02", "2", "0", -700),
    ];
    let (account, taxes) = run(&Rules::default(), &days);
    assert_eq!(account.lots, []);
    // The dividends of a lot are one sum by schedule: 1,435 and 2,869, then 4,304 fen.
    assert_eq!(taxes, [0, 0, 0, 247, 0, 0, 144 + 574, 430]);
}

/// Fractions of a split are paid out, and lots still add up to what is held.
#[test]
fn lots_add_up_to_what_is_held() {
    let days = [
        ("2024-01-02", "1", "0", 0),
        ("2024-01-03", "1", "0", 100),
        ("2024-01-04", "1", "0", 100),
        ("2024-01-05", "1.0333", "0.3", 0),
        ("2024-01-08", "1.0339", "0.3", 100),
        ("2024-01-09", "1.1007", "0.3", -206),
    ];
    let (account, _) = run(&Rules::default(), &days);
    let lots: Vec<i64> = account.lots.iter().map(|lot| lot.shares.0).collect();
    assert_eq!(lots.iter().sum::<i64>(), account.holdings[0].shares.0);
    assert_eq!(lots.len(), 2);
}
