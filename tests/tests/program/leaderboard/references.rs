//! The references' returns, computed again from the panel.

use super::*;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Bar, DayIndex, Market, NameId};

/// The panel of the scene.
fn market() -> Market {
    let config = SynthConfig {
        seed: 5,
        names: 90,
        days: 330,
    };
    generate(&config).unwrap()
}

/// First and last day of the window `long`, and the day before it.
fn window(market: &Market) -> [DayIndex; 3] {
    let last = market.calendar().len() - 1;
    [last - 43, last - 42, last].map(|place| market.day_at(place).unwrap())
}

fn assert_near(board: &Value, agent: &str, expected: f64) {
    for level in ["bright", "blinded"] {
        let found = total_return(leader(track(board, "long", level), agent));
        assert!(
            (found - expected).abs() < 1e-12,
            "{agent}: {found}, but {expected} by hand"
        );
    }
}

#[test]
fn the_index_returns_what_its_levels_say() {
    let market = market();
    let [_, first, last] = window(&market);
    let index = &market.indices()[0];
    // From the first open, where accounts buy.
    let expected = index.close[last.index()] / index.open[first.index()] - 1.0;
    assert!(expected.abs() > 1e-3, "a window that moves: {expected}");
    assert_near(&board(scene(), &["out"]), "price index SH009999", expected);
}

/// The mean total return of the members of the day before, by looking up one pair of prices after the other; of the first day from its
/// open, and nothing of a name that does not trade on it.
fn members_by_hand(market: &Market, days: &[DayIndex]) -> f64 {
    let mut grown = 1.0;
    for day in days {
        let before = day.before().unwrap();
        let date = market.date(before).unwrap();
        let daily: Vec<f64> = market
            .names()
            .filter(|(name, _)| market.is_member(*name, date))
            .filter_map(|(name, _)| {
                let mark = |day: DayIndex| market.bar(name, market.last_bar_day(name, day)?);
                let known = mark(before)?;
                if *day == days[0] {
                    let bar = market.bar(name, *day);
                    return Some(bar.map_or(0.0, |bar| {
                        bar.adjusted_close() / bar.adjusted(bar.open.unwrap()) - 1.0
                    }));
                }
                Some(mark(*day)?.adjusted_close() / known.adjusted_close() - 1.0)
            })
            .collect();
        grown *= 1.0 + daily.iter().sum::<f64>() / f64::from(u32::try_from(daily.len()).unwrap());
    }
    grown - 1.0
}

#[test]
fn excess_is_against_total_return_and_the_price_index_is_named_beside_it() {
    let market = market();
    let [_, first, last] = window(&market);
    let days: Vec<DayIndex> = (first.index()..=last.index())
        .map(|place| market.day_at(place).unwrap())
        .collect();
    let benchmark = members_by_hand(&market, &days);
    let board = board(scene(), &["out"]);
    assert_near(&board, "members' total return", benchmark);
    for level in ["bright", "blinded"] {
        let track = track(&board, "long", level);
        assert_eq!(track["benchmark_name"], "members' total return");
        assert_eq!(track["price_index_name"], "price index SH009999");
        let value = |figure: &Value| figure["value"].as_f64().unwrap();
        let index = value(&track["price_index_return"]);
        assert!((value(&track["benchmark_return"]) - benchmark).abs() < 1e-12);
        assert!((benchmark - index).abs() > 1e-4, "{benchmark} {index}");
        for agent in ["random", "hold", "buy-and-hold", "price index SH009999"] {
            let leader = leader(track, agent);
            let excess = |key: &str| leader["metrics"][key]["median"]["value"].as_f64();
            let own = total_return(leader);
            assert!(
                (excess("excess_return").unwrap() - (own - benchmark)).abs() < 1e-12,
                "{agent}"
            );
            let beside = excess("excess_return_price_index");
            // The price index has no excess over itself.
            assert_eq!(beside.is_none(), agent.starts_with("price index"));
            assert!(
                beside.is_none_or(|beside| (beside - (own - index)).abs() < 1e-12),
                "{agent}"
            );
        }
    }
}

#[test]
fn buy_and_hold_returns_the_mean_of_its_members_less_one_fee() {
    // 5 basis points and the transfer fee on what is bought at the first open; nothing is sold.
    const BUY_FEE: f64 = 0.00051;
    let market = market();
    let [before, first, last] = window(&market);
    let date = market.date(before).unwrap();
    let growth = |name: NameId| -> Option<f64> {
        let bought = market.bar(name, first).filter(Bar::trades_at_open)?;
        let marked = market.bar(name, market.last_bar_day(name, last)?)?;
        Some(marked.adjusted_close() / bought.adjusted(bought.open?))
    };
    let members = market
        .names()
        .map(|(name, _)| name)
        .filter(|name| market.is_member(*name, date));
    let growths: Vec<f64> = members.filter_map(growth).collect();
    let count = f64::from(u32::try_from(growths.len()).unwrap());
    assert!(60.0 < count, "{count}");
    let expected = growths.iter().sum::<f64>() / count - 1.0 - BUY_FEE;
    assert!(expected.abs() > 1e-3, "a window that moves: {expected}");
    assert_near(&board(scene(), &["out"]), "buy-and-hold", expected);
}
