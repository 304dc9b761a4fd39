//! What an open at a limit, cash and volume do to an order: one trading day of few names.

use super::*;
use crate::day::TradeDate;
use crate::decimal::Decimal;
use crate::market::{Market, MarketBuilder, PanelOptions, PriceBasis, RawBar, VolumeBasis};
use crate::money::{Fen, Shares};
use crate::ticker::Ticker;

/// A name that closed at CNY 10.00: open, high and low of the trading day in fen, and its volume.
type Quote<'q> = (&'q str, [u32; 3], u32);
/// Code, side and shares.
type Ask<'a> = (&'a str, Side, i64);

fn fen(price: u32) -> Option<Decimal> {
    Decimal::parse(&format!("{price}e-2")).ok()
}

fn market(quotes: &[Quote<'_>]) -> Market {
    let days = [TradeDate::of(2024, 6, 3), TradeDate::of(2024, 6, 4)];
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: false,
        has_amounts: false,
        calendar: Some(days.to_vec()),
    });
    for (code, [open, high, low], volume) in quotes {
        for (day, [open, high, low]) in days.into_iter().zip([[1000; 3], [*open, *high, *low]]) {
            let bar = RawBar {
                open: fen(open),
                high: fen(high),
                low: fen(low),
                close: fen(open),
                volume: Decimal::parse(&volume.to_string()).ok(),
                ..RawBar::default()
            };
            builder
                .add_row("f", 1, Ticker::parse(code).unwrap(), day, &bar)
                .unwrap();
        }
    }
    builder.declare_all_members();
    builder.build().unwrap().0
}

/// What becomes of orders of an account with so much cash and 1,000 shares of each name.
fn fills(rules: &Rules, quotes: &[Quote<'_>], asked: &[Ask<'_>], cash: i64) -> Vec<Fill> {
    let market = market(quotes);
    let holdings: Vec<Holding> = market
        .names()
        .map(|(name, _)| Holding {
            name,
            shares: Shares(1_000),
            cost: Fen::ZERO,
        })
        .collect();
    let held = i64::try_from(holdings.len()).unwrap() * 1_000_000;
    let account = Account {
        cash: Fen(cash),
        holdings,
        lots: Vec::new(),
        nav: Fen(cash + held),
    };
    let rules = Rules {
        max_single_weight_billionths: 1_000_000_000,
        ..rules.clone()
    };
    let orders: Vec<Order> = asked
        .iter()
        .map(|(code, side, shares)| Order {
            name: market.find(Ticker::parse(code).unwrap()),
            side: *side,
            quantity: Quantity::Shares(Shares(*shares)),
        })
        .collect();
    let day = TradingDay::new(&market, market.day_at(1).unwrap()).unwrap();
    step(&rules, account, &orders, &day).unwrap().1.fills
}

fn traded(fill: &Fill) -> Result<i64, RejectCode> {
    match fill.execution {
        Execution::Filled { quantity, .. } => Ok(quantity.0),
        Execution::Rejected(code) => Err(code),
    }
}

const MAIN: &str = "SH600000";
const OTHER: &str = "SZ000001";

#[test]
fn an_order_at_its_limit_fills_where_the_price_leaves_it() {
    let blocked = Rules {
        limit_open: LimitOpenRule::Blocked,
        ..Rules::default()
    };
    for (prices, side, met, queued, refused) in [
        (
            [1100, 1100, 1099],
            Side::Buy,
            Some(LimitOpen::Left),
            true,
            RejectCode::LimitUp,
        ),
        (
            [1100, 1100, 1100],
            Side::Buy,
            Some(LimitOpen::Sealed),
            false,
            RejectCode::LimitUp,
        ),
        (
            [900, 901, 900],
            Side::Sell,
            Some(LimitOpen::Left),
            true,
            RejectCode::LimitDown,
        ),
        (
            [900, 900, 900],
            Side::Sell,
            Some(LimitOpen::Sealed),
            false,
            RejectCode::LimitDown,
        ),
        ([1100, 1100, 1100], Side::Sell, None, true, RejectCode::LimitDown),
        ([900, 900, 900], Side::Buy, None, true, RejectCode::LimitUp),
    ] {
        for (rules, fills_at_limit) in [(&Rules::default(), queued), (&blocked, queued && met.is_none())] {
            let fill = fills(rules, &[(MAIN, prices, 9_000)], &[(MAIN, side, 200)], 10_000_000)[0];
            assert_eq!(fill.limit_open, met, "{side:?} {prices:?}");
            let want = if fills_at_limit { Ok(200) } else { Err(refused) };
            assert_eq!(traded(&fill), want, "{side:?} {prices:?} {:?}", rules.limit_open);
        }
    }
}

#[test]
fn an_open_beyond_the_limit_proves_that_there_is_none() {
    let held_to_it = Rules {
        no_limit_beyond: false,
        ..Rules::default()
    };
    for (open, side, refused) in [
        (1101, Side::Buy, RejectCode::LimitUp),
        (899, Side::Sell, RejectCode::LimitDown),
    ] {
        let one = |rules: &Rules| {
            fills(
                rules,
                &[(MAIN, [open; 3], 9_000)],
                &[(MAIN, side, 200)],
                10_000_000,
            )[0]
        };
        let (free, bound) = (one(&Rules::default()), one(&held_to_it));
        assert_eq!(
            (traded(&free), free.limit_open),
            (Ok(200), Some(LimitOpen::Beyond))
        );
        assert_eq!(
            (traded(&bound), bound.limit_open),
            (Err(refused), Some(LimitOpen::Sealed))
        );
    }
}

/// 1,000 shares at CNY 10.00 are sold, and CNY 11,000 are at hand: 1,000 shares more would cost the upper limit, CNY 11.00,
/// and a fee.
#[test]
fn buys_are_paid_before_the_open_or_by_its_sells() {
    let quotes = [(MAIN, [1000; 3], 90_000), (OTHER, [1000; 3], 90_000)];
    let asked = [(OTHER, Side::Buy, 1_000), (MAIN, Side::Sell, 1_000)];
    let with = |auction_cash, cash| {
        let rules = Rules {
            auction_cash,
            ..Rules::default()
        };
        let made = fills(&rules, &quotes, &asked, cash);
        [traded(&made[0]), traded(&made[1])]
    };
    assert_eq!(with(AuctionCash::Shared, 0), [Ok(900), Ok(1_000)]);
    assert_eq!(with(AuctionCash::Before, 0), [Err(RejectCode::Cash), Ok(1_000)]);
    // The fee of CNY 11,000 is 550 fen of commission and 11 of transfer fee.
    assert_eq!(with(AuctionCash::Before, 1_100_560), [Ok(900), Ok(1_000)]);
    assert_eq!(with(AuctionCash::Before, 1_100_561), [Ok(1_000), Ok(1_000)]);
}

/// What one bid has frozen, another cannot use, though both fill below their limits, and though one of them does not fill.
#[test]
fn a_bid_freezes_its_count_at_the_upper_limit() {
    let rules = Rules {
        auction_cash: AuctionCash::Before,
        ..Rules::default()
    };
    for (first_open, first) in [(1000, Ok(1_000)), (1100, Err(RejectCode::LimitUp))] {
        let quotes = [(MAIN, [first_open; 3], 90_000), (OTHER, [1000; 3], 90_000)];
        let asked = [(MAIN, Side::Buy, 1_000), (OTHER, Side::Buy, 1_000)];
        let made = fills(&rules, &quotes, &asked, 2_000_000);
        assert_eq!([traded(&made[0]), traded(&made[1])], [first, Ok(800)]);
    }
}

#[test]
fn an_order_trades_at_most_its_share_of_the_days_volume() {
    let rules = Rules {
        max_volume_share: VolumeShare::from_billionths(100_000_000),
        ..Rules::default()
    };
    for (volume, shares, want) in [
        (10_000, 1_000, Ok(1_000)),
        (9_999, 1_000, Ok(900)),
        (999, 1_000, Err(RejectCode::Volume)),
    ] {
        for side in Side::ALL {
            let made = fills(
                &rules,
                &[(MAIN, [1000; 3], volume)],
                &[(MAIN, side, shares)],
                10_000_000,
            );
            assert_eq!(traded(&made[0]), want, "{side:?} {volume}");
        }
    }
    let control = Rules::default().of_control();
    assert_eq!(control.max_volume_share, rules.max_volume_share);
}
