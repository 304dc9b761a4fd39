//! Rules that change with the date: two trading days of one name, the second one dated.

use super::*;
use crate::day::{DateSpan, TradeDate};
use crate::decimal::Decimal;
use crate::market::{Market, MarketBuilder, PanelOptions, PriceBasis, RawBar, VolumeBasis};
use crate::money::{AmountTooLarge, Fen, Price, Shares};
use crate::ticker::Ticker;

/// One name that closes at CNY 10.00 on the day before `date` with factor 1, and opens at `open` on it.
#[derive(Clone, Copy)]
struct Case<'c> {
    code: &'c str,
    date: &'c str,
    is_st: bool,
    open: &'c str,
    factor: &'c str,
}

impl<'c> Case<'c> {
    const fn plain(code: &'c str, date: &'c str, open: &'c str) -> Self {
        Self {
            code,
            date,
            is_st: false,
            open,
            factor: "1",
        }
    }
}

fn date(text: &str) -> TradeDate {
    TradeDate::parse(text).unwrap()
}

fn market(case: &Case<'_>) -> Market {
    let days = [date(case.date).day_before(), date(case.date)];
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: false,
        calendar: Some(days.to_vec()),
    });
    let ticker = Ticker::parse(case.code).unwrap();
    for (day, (price, factor)) in days.into_iter().zip([("10.00", "1"), (case.open, case.factor)]) {
        let bar = RawBar {
            open: Decimal::parse(price).ok(),
            close: Decimal::parse(price).ok(),
            volume: Decimal::parse("1000").ok(),
            factor: Decimal::parse(factor).ok(),
            ..RawBar::default()
        };
        builder.add_row("f", 1, ticker, day, &bar).unwrap();
    }
    if case.is_st {
        let [start, end] = days;
        builder.add_st(ticker, DateSpan { start, end });
    }
    builder.declare_all_members();
    builder.build().unwrap().0
}

/// What becomes of an order of 200 shares by an account that holds 1000.
fn trade(rules: &Rules, market: &Market, side: Side) -> Execution {
    trade_shares(rules, market, side, (200, 1000)).unwrap()
}

fn trade_shares(
    rules: &Rules,
    market: &Market,
    side: Side,
    (shares, held): (i64, i64),
) -> Result<Execution, AmountTooLarge> {
    let (name, _) = market.names().next().unwrap();
    let account = Account {
        cash: Fen(10_000_000),
        holdings: vec![Holding {
            name,
            shares: Shares(held),
            cost: Fen::ZERO,
        }],
        lots: Vec::new(),
        nav: Fen(10_000_000 + held * 1000),
    };
    let order = Order {
        name: Some(name),
        side,
        quantity: Quantity::Shares(Shares(shares)),
    };
    let day = TradingDay::new(market, market.day_at(1).unwrap()).unwrap();
    Ok(step(rules, account, &[order], &day)?.1.fills[0].execution)
}

/// CNY 10 a share: 2^53 fen are some nine trillion shares.
#[test]
fn an_account_beyond_counting_is_refused_and_an_order_beyond_it_rejected() {
    let market = market(&Case::plain("SH600000", "2019-06-03", "10.00"));
    let most = (1 << 53) / 1000 - 10_000_000 / 1000;
    let rules = Rules::default();
    assert!(is_filled(
        trade_shares(&rules, &market, Side::Sell, (200, most)).unwrap()
    ));
    assert_eq!(
        trade_shares(&rules, &market, Side::Sell, (200, most + 1_000)),
        Err(AmountTooLarge)
    );
    for shares in [i64::MAX - i64::MAX % 100, 100 << 50] {
        let heavy = trade_shares(&rules, &market, Side::Buy, (shares, 1_000));
        assert_eq!(heavy, Ok(Execution::Rejected(RejectCode::MaxSingleWeight)));
    }
}

fn is_filled(execution: Execution) -> bool {
    matches!(execution, Execution::Filled { .. })
}

#[test]
fn the_default_limits_are_those_of_board_status_and_date() {
    // The upper limit of a close of 10.00 in fen: the open at it does not fill a buy, the fen below does.
    for (code, date, is_st, up) in [
        ("SH600000", "2019-06-03", false, 1100),
        ("SH600000", "2019-06-03", true, 1050),
        ("SZ000001", "2026-07-03", true, 1050),
        ("SZ000001", "2026-07-06", true, 1100),
        ("SZ000001", "2026-07-06", false, 1100),
        ("SZ300750", "2020-08-21", false, 1100),
        ("SZ300750", "2020-08-24", false, 1200),
        ("SZ300750", "2024-06-03", true, 1200),
        ("SH688981", "2020-08-21", false, 1200),
        ("SH688981", "2024-06-03", true, 1200),
        ("BJ430047", "2024-06-03", false, 1300),
    ] {
        let down = 2000 - up;
        for (fen, side, fills) in [
            (up - 1, Side::Buy, true),
            (up, Side::Buy, false),
            (up, Side::Sell, true),
            (down + 1, Side::Sell, true),
            (down, Side::Sell, false),
            (down, Side::Buy, true),
        ] {
            let open = format!("{}.{:02}", fen / 100, fen % 100);
            let case = Case {
                is_st,
                ..Case::plain(code, date, &open)
            };
            let made = trade(&Rules::default(), &market(&case), side);
            assert_eq!(
                is_filled(made),
                fills,
                "{code} {date} ST {is_st} {side:?} at {fen}: {made:?}"
            );
        }
    }
}

#[test]
fn the_limits_that_tools_show_are_those_that_the_exchange_fills_by() {
    for limit in [LimitRule::Exact, LimitRule::Buffered, LimitRule::Strict] {
        let rules = Rules {
            limit,
            no_limit_beyond: false,
            ..Rules::default()
        };
        for (code, date, is_st) in [
            ("SZ000001", "2024-06-03", true),
            ("SZ000001", "2026-07-06", true),
            ("SZ300750", "2020-08-21", false),
        ] {
            let at = |fen: i64| {
                let open = format!("{}.{:02}", fen / 100, fen % 100);
                market(&Case {
                    is_st,
                    ..Case::plain(code, date, &open)
                })
            };
            let shown = at(1000);
            let (name, _) = shown.names().next().unwrap();
            let limits =
                PriceLimits::of_next_day(&rules, &shown.as_of(shown.day_at(0).unwrap()), name).unwrap();
            let (Price(up), Price(down)) = (limits.up(), limits.down());
            let filled = |fen, side| is_filled(trade(&rules, &at(fen), side));
            assert!(
                filled(up - 1, Side::Buy) && !filled(up, Side::Buy),
                "{limit:?} {code} {up}"
            );
            assert!(
                filled(down + 1, Side::Sell) && !filled(down, Side::Sell),
                "{limit:?} {code} {down}"
            );
        }
    }
}

fn charged(code: &str, day: &str, side: Side) -> Fen {
    let trade = ChargedTrade {
        side,
        shares: Shares(10_000),
        value: Fen(100_000_000),
        venue: Ticker::parse(code).unwrap().venue(),
        date: date(day),
    };
    let rules = Rules {
        fees: FeeRule::Dated,
        ..Rules::default()
    };
    fee(&rules, &trade).unwrap()
}

#[test]
fn dated_fees_are_commission_stamp_duty_and_transfer_fee_of_the_day() {
    // On CNY 1,000,000 in 10,000 shares a basis point is 10,000 fen; commission is 5 of them.
    for (code, day, buy, sell) in [
        (
            "SZ000001",
            "1997-05-09",
            50_000 + 300_000 + 2_550,
            50_000 + 300_000 + 2_550,
        ),
        (
            "SZ000001",
            "1997-05-10",
            50_000 + 500_000 + 2_550,
            50_000 + 500_000 + 2_550,
        ),
        (
            "SZ000001",
            "1998-06-12",
            50_000 + 400_000 + 2_550,
            50_000 + 400_000 + 2_550,
        ),
        (
            "SZ000001",
            "2001-11-16",
            50_000 + 200_000 + 2_550,
            50_000 + 200_000 + 2_550,
        ),
        (
            "SZ000001",
            "2005-01-24",
            50_000 + 100_000 + 2_550,
            50_000 + 100_000 + 2_550,
        ),
        (
            "SZ000001",
            "2007-05-30",
            50_000 + 300_000 + 2_550,
            50_000 + 300_000 + 2_550,
        ),
        (
            "SZ000001",
            "2008-04-24",
            50_000 + 100_000 + 2_550,
            50_000 + 100_000 + 2_550,
        ),
        (
            "SZ000001",
            "2008-09-18",
            50_000 + 100_000 + 2_550,
            50_000 + 100_000 + 2_550,
        ),
        ("SZ000001", "2008-09-19", 50_000 + 2_550, 50_000 + 100_000 + 2_550),
        ("SH600000", "2015-07-31", 50_000 + 300, 50_000 + 100_000 + 300),
        ("SZ000001", "2015-07-31", 50_000 + 2_550, 50_000 + 100_000 + 2_550),
        ("SH600000", "2015-08-01", 50_000 + 2_000, 50_000 + 100_000 + 2_000),
        ("SZ300750", "2022-04-28", 50_000 + 2_000, 50_000 + 100_000 + 2_000),
        ("BJ430047", "2022-04-28", 50_000 + 2_500, 50_000 + 100_000 + 2_500),
        ("BJ430047", "2022-04-29", 50_000 + 1_000, 50_000 + 100_000 + 1_000),
        ("SH688981", "2023-08-27", 50_000 + 1_000, 50_000 + 100_000 + 1_000),
        ("SH688981", "2023-08-28", 50_000 + 1_000, 50_000 + 50_000 + 1_000),
    ] {
        assert_eq!(charged(code, day, Side::Buy), Fen(buy), "{code} {day}");
        assert_eq!(charged(code, day, Side::Sell), Fen(sell), "{code} {day}");
    }
}

#[test]
fn the_least_fee_is_the_commissions_alone_under_dated_fees() {
    let rules = |fees| Rules {
        fees,
        ..Rules::default()
    };
    let market = market(&Case::plain("SZ000001", "2024-06-03", "10.00"));
    let paid = |fees| match trade(&rules(fees), &market, Side::Sell) {
        Execution::Filled { fee, .. } => fee,
        Execution::Rejected(code) => panic!("{code:?}"),
    };
    // CNY 2,000: the flat rate is 300 fen; stamp duty 100 fen, transfer fee 2 fen.
    assert_eq!(paid(FeeRule::Paper), Fen(500));
    assert_eq!(paid(FeeRule::Dated), Fen(500 + 100 + 2));
}

/// Shares traded, or the code of the rejection.
fn traded(rules: &Rules, case: &Case<'_>, side: Side, order: (i64, i64)) -> Result<(i64, bool), RejectCode> {
    match trade_shares(rules, &market(case), side, order).unwrap() {
        Execution::Filled {
            quantity, clipped, ..
        } => Ok((quantity.0, clipped)),
        Execution::Rejected(code) => Err(code),
    }
}

#[test]
fn shares_decided_before_an_ex_day_are_carried_through_it() {
    let as_decided = Rules {
        ex_day_orders: ExDayOrders::AsDecided,
        ..Rules::default()
    };
    let split = Case {
        factor: "2",
        ..Case::plain("SZ000001", "2024-06-03", "5.00")
    };
    let scaled = Rules::default();
    for (side, order, want, unscaled) in [
        // The value that was decided is what trades, whatever the share count has become.
        (Side::Buy, (200, 1000), Ok((400, false)), Ok((200, false))),
        (Side::Sell, (200, 1000), Ok((400, false)), Ok((200, false))),
        // All of a holding stays all of it.
        (Side::Sell, (1000, 1000), Ok((2000, false)), Ok((1000, false))),
    ] {
        assert_eq!(traded(&scaled, &split, side, order), want, "{side:?} {order:?}");
        assert_eq!(
            traded(&as_decided, &split, side, order),
            unscaled,
            "{side:?} {order:?}"
        );
    }
    // A dividend of 2 %: 1,020 shares are cut down to round lots.
    let dividend = Case {
        factor: "1.02",
        ..Case::plain("SZ000001", "2024-06-03", "9.80")
    };
    assert_eq!(
        traded(&scaled, &dividend, Side::Buy, (1000, 0)),
        Ok((1000, false))
    );
    assert_eq!(
        traded(&scaled, &dividend, Side::Sell, (300, 1000)),
        Ok((300, false))
    );
    assert_eq!(
        traded(&scaled, &dividend, Side::Sell, (1000, 1000)),
        Ok((1020, false))
    );
    // What is left is below the least count: the order ends with the code of the grid.
    let merged = Case {
        factor: "0.5",
        ..Case::plain("SZ000001", "2024-06-03", "20.00")
    };
    assert_eq!(
        traded(&scaled, &merged, Side::Buy, (100, 0)),
        Err(RejectCode::Lot)
    );
    assert_eq!(
        traded(&scaled, &merged, Side::Sell, (100, 1000)),
        Err(RejectCode::Lot)
    );
    assert_eq!(traded(&scaled, &merged, Side::Sell, (100, 100)), Ok((50, false)));
}
