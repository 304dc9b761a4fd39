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
    [last - 20, last - 19, last].map(|place| market.day_at(place).unwrap())
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
    let [before, _, last] = window(&market);
    let close = &market.indices()[0].close;
    let expected = close[last.index()] / close[before.index()] - 1.0;
    assert!(expected.abs() > 1e-3, "a window that moves: {expected}");
    assert_near(&board(scene(), &["out"]), "index SH009999", expected);
}

#[test]
fn buy_and_hold_returns_the_mean_of_its_members_less_one_fee() {
    // 5 basis points on what is bought at the first open; nothing is sold.
    const BUY_FEE: f64 = 0.0005;
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
