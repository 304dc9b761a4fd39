//! What holds for every order: small spaces in full, large ones by chance.

use super::*;
use crate::day::TradeDate;
use crate::decimal::Decimal;
use crate::market::{
    CashDividend, DayIndex, Market, MarketBuilder, NameId, PanelOptions, PriceBasis, RawBar, VolumeBasis,
};
use crate::money::{Fen, Price, Shares};
use crate::ticker::{Board, Ticker};
use proptest::prelude::*;

/// One day of one name: open and close in fen, volume, factor in tenths.
#[derive(Debug, Clone, Copy)]
struct Day {
    open_fen: u32,
    close_fen: u32,
    volume: u32,
    factor_tenths: u32,
}

impl Day {
    const fn flat(fen: u32) -> Self {
        Self {
            open_fen: fen,
            close_fen: fen,
            volume: 1000,
            factor_tenths: 10,
        }
    }
}

fn decimal(fen: u32, places: u32) -> Option<Decimal> {
    Decimal::parse(&format!("{fen}e-{places}")).ok()
}

/// A market of consecutive dates; `None` is a day without a row.
fn market(names: &[(&str, Vec<Option<Day>>)]) -> Market {
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: true,
        has_amounts: false,
        calendar: Some((0..12).filter_map(date).collect()),
    });
    for (code, days) in names {
        let ticker = Ticker::parse(code).unwrap();
        for (place, day) in days.iter().enumerate() {
            let Some(day) = day else { continue };
            let bar = RawBar {
                open: decimal(day.open_fen, 2),
                close: decimal(day.close_fen, 2),
                volume: decimal(day.volume, 0),
                factor: decimal(day.factor_tenths, 1),
                ..RawBar::default()
            };
            builder
                .add_row("f", 1, ticker, date(place).unwrap(), &bar)
                .unwrap();
            let dividend = CashDividend {
                ex_day: date(place).unwrap(),
                yuan_per_share: decimal(day.open_fen % 700, 4).unwrap(),
            };
            builder.set_dividend(ticker, dividend);
        }
    }
    builder.declare_all_members();
    builder.build().unwrap().0
}

/// Dates from 2024-03-01 on, weekends included: the exchange asks the panel's calendar alone.
fn date(place: usize) -> Option<TradeDate> {
    TradeDate::from_days_since_epoch(19_783 + i32::try_from(place).unwrap())
}

const CODES: [(Board, &str); 4] = [
    (Board::Main, "SZ000001"),
    (Board::ChiNext, "SZ300750"),
    (Board::Star, "SH688981"),
    (Board::Bse, "BJ430047"),
];

fn find(market: &Market, code: &str) -> NameId {
    market.find(Ticker::parse(code).unwrap()).unwrap()
}

fn step_one(rules: &Rules, market: &Market, account: Account, orders: &[Order]) -> StepReport {
    let day = TradingDay::new(market, market.day_at(1).unwrap()).unwrap();
    step(rules, account, orders, &day).unwrap().1
}

/// Every board, limit rule, side, place of the open, holding and share count near the edges of the grid, against the
/// sentences of docs/spec/exchange.md spelt out one by one.
#[test]
fn every_board_side_limit_and_holding() {
    // Buffer and exact limit of a close of 10.00 by board.
    let limits = [
        (1095, 1100, 905, 900),
        (1195, 1200, 805, 800),
        (1195, 1200, 805, 800),
        (1295, 1300, 705, 700),
    ];
    for ((board, code), (buffer_up, exact_up, buffer_down, exact_down)) in CODES.into_iter().zip(limits) {
        for open_fen in [buffer_up - 1, buffer_up, exact_up - 1, exact_up, exact_up + 1]
            .into_iter()
            .chain([
                buffer_down + 1,
                buffer_down,
                exact_down + 1,
                exact_down,
                exact_down - 1,
                1000,
            ])
        {
            let days = vec![Some(Day::flat(1000)), Some(Day::flat(open_fen))];
            let market = market(&[(code, days)]);
            for limit in [LimitRule::Buffered, LimitRule::Exact, LimitRule::Strict] {
                let rules = Rules {
                    limit,
                    no_limit_beyond: false,
                    max_single_weight_billionths: 1_000_000_000,
                    ..Rules::default()
                };
                let (up, down) = match limit {
                    LimitRule::Buffered | LimitRule::Strict => {
                        (buffer_up <= open_fen, open_fen <= buffer_down)
                    }
                    LimitRule::Exact => (exact_up <= open_fen, open_fen <= exact_down),
                };
                for held in [0, 21, 100, 199, 321] {
                    for quantity in [1, 21, 99, 100, 101, 121, 199, 200, 201, 321, 400] {
                        for side in [Side::Buy, Side::Sell] {
                            let want = expected(board, side, quantity, held, up, down);
                            let made = outcome(&rules, &market, code, side, quantity, held);
                            assert_eq!(
                                made, want,
                                "{board:?} {side:?} {quantity} of {held}, open {open_fen}, {limit:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

fn outcome(
    rules: &Rules,
    market: &Market,
    code: &str,
    side: Side,
    quantity: i64,
    held: i64,
) -> Result<i64, RejectCode> {
    let name = find(market, code);
    let mut account = Account::with_cash(Fen(100_000_000));
    if held > 0 {
        let cost = Fen::ZERO;
        account.holdings.push(Holding {
            name,
            shares: Shares(held),
            cost,
        });
        account.nav = Price(1000)
            .times(Shares(held))
            .and_then(|value| account.nav.plus(value))
            .unwrap();
    }
    let order = Order {
        name: Some(name),
        side,
        quantity: Quantity::Shares(Shares(quantity)),
    };
    match step_one(rules, market, account, &[order]).fills[0].execution {
        Execution::Filled { quantity, .. } => Ok(quantity.0),
        Execution::Rejected(code) => Err(code),
    }
}

fn expected(
    board: Board,
    side: Side,
    quantity: i64,
    held: i64,
    up: bool,
    down: bool,
) -> Result<i64, RejectCode> {
    let is_lot = match board {
        Board::Main | Board::ChiNext => quantity % 100 == 0,
        Board::Star => quantity >= 200,
        Board::Bse => quantity >= 100,
    };
    let has_odd_part = match board {
        Board::Main | Board::ChiNext => (held - quantity) % 100 == 0,
        Board::Star | Board::Bse => quantity == held,
    };
    match side {
        Side::Sell if held == 0 => Err(RejectCode::NotHeld),
        Side::Sell if quantity > held => Err(RejectCode::Oversell),
        Side::Sell if !is_lot && !has_odd_part => Err(RejectCode::Lot),
        Side::Sell if down => Err(RejectCode::LimitDown),
        Side::Buy if !is_lot => Err(RejectCode::Lot),
        Side::Buy if up => Err(RejectCode::LimitUp),
        Side::Buy | Side::Sell => Ok(quantity),
    }
}

fn arbitrary_day() -> impl Strategy<Value = Option<Day>> {
    let day = (0..4_u32, 80..140_u32, 80..140_u32, 0..5_u32, 8..13_u32).prop_map(
        |(odd, open, close, volume, factor_tenths)| Day {
            open_fen: if odd == 0 { 0 } else { open },
            close_fen: close,
            volume: volume * 100,
            factor_tenths,
        },
    );
    prop_oneof![1 => Just(None), 5 => day.prop_map(Some)]
}

fn arbitrary_days() -> impl Strategy<Value = Vec<Option<Day>>> {
    prop::collection::vec(arbitrary_day(), 12).prop_map(|mut days| {
        // Every name has a row somewhere, or it would not be in the panel.
        days[0] = days[0].or(Some(Day::flat(100)));
        days
    })
}

/// Name, side, and either a share count or a weight.
type Wish = (usize, bool, bool, u32);

fn order(market: &Market, (place, buy, by_weight, amount): Wish) -> Order {
    let weight = Decimal::parse(&format!("{}e-4", amount % 2500)).unwrap();
    Order {
        name: CODES.get(place).map(|(_, code)| find(market, code)),
        side: if buy { Side::Buy } else { Side::Sell },
        quantity: if by_weight {
            Quantity::TargetWeight(TargetWeight::new(weight).unwrap())
        } else {
            Quantity::Shares(Shares(i64::from(amount) + 1))
        },
    }
}

fn arbitrary_orders() -> impl Strategy<Value = Vec<Vec<Wish>>> {
    let wish = (0..5_usize, any::<bool>(), any::<bool>(), 0..60_000_u32);
    let lots = wish.prop_map(|(place, buy, by_weight, amount)| {
        let round = if amount % 3 == 0 {
            amount
        } else {
            amount / 100 * 100 + 99
        };
        (place, buy, by_weight, round)
    });
    prop::collection::vec(prop::collection::vec(lots, 0..6), 11)
}

fn run(market: &Market, wishes: &[Vec<Wish>], cash: i64) -> Vec<StepReport> {
    let rules = Rules {
        delist_after_days: 3,
        max_positions: 3,
        ..Rules::default()
    };
    let mut account = Account::with_cash(Fen(cash));
    let mut reports = Vec::new();
    for (place, wishes) in wishes.iter().enumerate() {
        let day: DayIndex = market.day_at(place + 1).unwrap();
        let orders: Vec<Order> = wishes.iter().map(|wish| order(market, *wish)).collect();
        let held: Vec<Holding> = account.holdings.clone();
        let (after, report) = step(&rules, account, &orders, &TradingDay::new(market, day).unwrap()).unwrap();
        assert_eq!(report.fills.len(), orders.len());
        check_ledger(&after, &report);
        check_sells(&held, &report);
        account = after;
        reports.push(report);
    }
    reports
}

fn check_ledger(after: &Account, report: &StepReport) {
    assert!(Fen::ZERO <= after.cash);
    let value = Fen::total(report.positions.iter().map(|position| position.value)).unwrap();
    assert_eq!(
        (after.cash, after.nav),
        (report.cash, report.cash.plus(value).unwrap())
    );
    assert_eq!(after.holdings.len(), report.positions.len());
    for (held, position) in after.holdings.iter().zip(&report.positions) {
        assert_eq!((held.name, held.shares), (position.name, position.shares));
        let lots = after.lots.iter().filter(|lot| lot.name == held.name);
        assert_eq!(lots.map(|lot| lot.shares.0).sum::<i64>(), held.shares.0);
        assert!(0 < held.shares.0);
        assert_eq!(position.value, position.mark.times(position.shares).unwrap());
    }
}

/// Shares bought today are never sold today: whatever is sold was held before the open.
fn check_sells(held: &[Holding], report: &StepReport) {
    for fill in report.fills.iter().filter(|fill| fill.side == Side::Sell) {
        if let Execution::Filled { quantity, .. } = fill.execution {
            let before = held.iter().find(|held| Some(held.name) == fill.name).unwrap();
            let is_action = |event: &&CorporateEvent| event.kind == EventKind::CorporateAction;
            let mut actions = report.events.iter().filter(is_action);
            let grown = actions.find(|event| event.name == before.name);
            let sellable = grown.map_or(before.shares, |event| event.shares_after);
            assert!(quantity <= sellable);
        }
    }
}

/// A report without the places of names, which another name shifts.
fn told(market: &Market, report: &StepReport) -> String {
    let code = |name: NameId| format!("{:?}", market.name(name).unwrap().ticker.bytes());
    let fills: Vec<_> = report
        .fills
        .iter()
        .map(|fill| (fill.name.map(code), fill.side, fill.requested, fill.execution))
        .collect();
    let positions: Vec<_> = report
        .positions
        .iter()
        .map(|held| (code(held.name), held.shares, held.mark, held.stale_days))
        .collect();
    let events: Vec<_> = report
        .events
        .iter()
        .map(|event| {
            (
                code(event.name),
                event.kind,
                event.shares_after,
                event.price,
                event.cash,
            )
        })
        .collect();
    format!(
        "{fills:?}{positions:?}{events:?}{:?}{:?}",
        report.cash, report.identity
    )
}

proptest! {
    /// The ledger's invariants, on markets with halts, ex-days, missing opens and ends of rows.
    #[test]
    fn the_ledger_holds(
        days in prop::collection::vec(arbitrary_days(), 4),
        wishes in arbitrary_orders(),
        cash in 1_000..10_000_000_i64,
    ) {
        let names: Vec<_> = CODES.iter().map(|(_, code)| *code).zip(days).collect();
        run(&market(&names), &wishes, cash);
    }

    /// Names that nobody trades change nothing, wherever among the codes they stand; nor does the order of the names.
    #[test]
    fn unrelated_names_change_nothing(
        days in prop::collection::vec(arbitrary_days(), 7),
        wishes in arbitrary_orders(),
    ) {
        let alone: Vec<_> = CODES.iter().map(|(_, code)| *code).zip(days.clone()).collect();
        let others = ["BJ430001", "SH600000", "SZ301000"];
        let mut together: Vec<_> = others.into_iter().zip(days.into_iter().skip(4)).collect();
        together.extend(alone.iter().rev().cloned());
        let (small, large) = (market(&alone), market(&together));
        for (left, right) in run(&small, &wishes, 5_000_000).iter().zip(run(&large, &wishes, 5_000_000)) {
            prop_assert_eq!(told(&small, left), told(&large, &right));
        }
    }
}
