//! An account that is restored from its ledger goes on as the one that never stopped.

use crate::event::StepOutcome;
use crate::ledger::LedgerLine;
use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TradingDay, step};
use ktd_env::{
    CashDividend, Decimal, Fen, Market, MarketBuilder, PanelOptions, PriceBasis, RawBar, Shares, Ticker,
    TradeDate, VolumeBasis,
};
use std::path::Path;

const CODES: [&str; 2] = ["SH600000", "SZ300750"];
const DAYS: [&str; 6] = [
    "2024-01-02",
    "2024-01-03",
    "2024-01-04",
    "2024-03-05",
    "2024-03-06",
    "2024-03-07",
];
/// Shares bought or sold of each code on each day after the first.
const TRADES: [[i64; 2]; 5] = [[300, 200], [500, 0], [0, 300], [-400, -100], [-400, -400]];

fn market() -> Market {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: false,
        has_amounts: false,
        calendar: None,
    });
    let decimal = |text: &str| Decimal::parse(text).unwrap();
    for code in CODES.map(|code| Ticker::parse(code).unwrap()) {
        for day in DAYS.map(|day| TradeDate::parse(day).unwrap()) {
            let bar = RawBar {
                open: Some(decimal("10")),
                close: Some(decimal("10")),
                volume: Some(decimal("1000000")),
                ..RawBar::default()
            };
            builder.add_row("rows", 1, code, day, &bar).unwrap();
            let dividend = CashDividend {
                ex_day: day,
                yuan_per_share: decimal("0.037"),
            };
            builder.set_dividend(code, dividend);
        }
    }
    builder.declare_all_members();
    builder.build().unwrap().0
}

#[test]
fn a_restored_account_goes_on_to_the_same_bytes() {
    let (market, rules) = (market(), Rules::default());
    let mut account = Account::with_cash(Fen(100_000_000));
    let mut taxed = Fen::ZERO;
    for (place, trades) in TRADES.into_iter().enumerate() {
        let orders: Vec<Order> = market
            .names()
            .zip(trades)
            .filter(|(_, shares)| *shares != 0)
            .map(|((name, _), shares)| Order {
                name: Some(name),
                side: if 0 < shares { Side::Buy } else { Side::Sell },
                quantity: Quantity::Shares(Shares(shares.abs())),
            })
            .collect();
        let day = TradingDay::new(&market, market.day_at(place + 1).unwrap()).unwrap();
        let (after, report) = step(&rules, account, &orders, &day).unwrap();
        assert_eq!(report.filled_count(), orders.len());
        taxed = taxed.plus(report.identity.dividend_tax).unwrap();
        let line = LedgerLine::of(
            &market,
            place + 1,
            DAYS[place + 1].to_owned(),
            StepOutcome::Submitted,
            &after,
            &report,
        );
        let read: LedgerLine = serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap();
        let (restored, again) = read.restore(&market, Path::new("ledger.jsonl")).unwrap();
        assert_eq!((&restored, &again), (&after, &report));
        account = restored;
    }
    assert!(Fen::ZERO < taxed && account.lots.is_empty(), "{taxed:?}");
}

/// Lots of a forged ledger are never more than what is held.
#[test]
fn lots_beyond_what_is_held_are_damage() {
    let text = |lots: &str| {
        format!(
            r#"{{"step":1,"date":"2024-01-03","outcome":"submitted","fills":[],"events":[],
                "positions":[{{"symbol":"SH600000","shares":100,"cost_fen":0,"mark_fen":1000,"stale_days":0}}],
                "lots":[{lots}],"cash_fen":0,"nav_fen":100000,
                "identity_fen":{{"price_pnl":0,"corporate_rounding":0,"fees":0,"delisting_loss":0}}}}"#
        )
    };
    let restored = |lots: &str| {
        let line: LedgerLine = serde_json::from_str(&text(lots)).unwrap();
        line.restore(&market(), Path::new("ledger.jsonl")).is_ok()
    };
    let lot = |symbol: &str, shares: i64, day: &str, fen: i64| {
        format!(r#"{{"symbol":"{symbol}","acquired":"{day}","shares":{shares},"dividends_fen":[0,0,{fen}]}}"#)
    };
    assert!(restored("") && restored(&lot("SH600000", 100, "2024-01-02", 5)));
    for wrong in [
        lot("SH600000", 101, "2024-01-02", 0),
        lot("SH600000", 0, "2024-01-02", 0),
        lot("SH600000", 100, "2024-01-02", -1),
        lot("SH600000", 100, "soon", 0),
        lot("SZ300750", 100, "2024-01-02", 0),
        [
            lot("SH600000", 60, "2024-01-02", 0),
            lot("SH600000", 60, "2024-01-02", 0),
        ]
        .join(","),
    ] {
        assert!(!restored(&wrong), "{wrong}");
    }
}
