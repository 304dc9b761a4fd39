//! Answers against the market itself, computed here a second time.

use crate::tools::fixture::{Fixture, answer, rows};
use ktd_env::exchange::Account;
use ktd_env::factors::{Factor, FactorConfig};
use ktd_env::{AsOf, Board, DaysBack, FactorTable, NameId, Ticker};
use ktd_masking::{Level, Mask, Numeric};
use ktd_tools::ToolContext;
use serde_json::Value;
use std::collections::BTreeMap;

/// The texts of a list cell; none where the column is left out.
fn labels<'a>(row: &'a BTreeMap<String, Value>, column: &str) -> Vec<&'a str> {
    let items = row.get(column).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn name_of(fixture: &Fixture, cell: &Value) -> NameId {
    fixture
        .market
        .find(Ticker::parse(cell.as_str().unwrap()).unwrap())
        .unwrap()
}

const SCREEN: &str = r#"{"factors":[{"factor":"RV_60","direction":"low","weight":2},
    {"factor":"MOM_12_1","direction":"high"}],"top_k":30}"#;

#[test]
fn a_screen_ranks_all_members_by_its_score() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let mask = fixture.mask(Level::Bright, Numeric::Exact);
    let shown = answer(&fixture.context(&as_of, &mask), "screen_candidates", SCREEN);
    let ranked = rows(&shown["candidates"]);
    assert_eq!(ranked.len(), as_of.members().count());
    let mut before = f64::INFINITY;
    for row in &ranked {
        let name = name_of(&fixture, &row["stock_id"]);
        let z = |factor| as_of.factor_z(name, factor);
        let score = z(Factor::Mom12_1).unwrap_or(0.0) - 2.0 * z(Factor::Rv60).unwrap_or(0.0);
        assert!(score <= before, "{score} {before}");
        before = score;
        let missing = labels(row, "missing").len();
        let expected = [Factor::Mom12_1, Factor::Rv60]
            .into_iter()
            .filter(|factor| z(*factor).is_none())
            .count();
        assert_eq!(missing, expected);
    }
    let some_missing = ranked.iter().any(|row| !labels(row, "missing").is_empty());
    assert!(some_missing, "the fixture has a name too young for a factor");
}

#[test]
fn equal_scores_are_ranked_by_raw_values() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let mask = fixture.mask(Level::Bright, Numeric::Exact);
    let mut ties = 0;
    for (direction, sign) in [("high", 1.0), ("low", -1.0)] {
        for factor in Factor::ALL {
            let screen = format!(
                r#"{{"factors":[{{"factor":"{}","direction":"{direction}"}}],"top_k":30}}"#,
                factor.name()
            );
            let shown = answer(&fixture.context(&as_of, &mask), "screen_candidates", &screen);
            let values: Vec<(f64, f64)> = rows(&shown["candidates"])
                .iter()
                .map(|row| name_of(&fixture, &row["stock_id"]))
                .filter_map(|name| Some((as_of.factor_z(name, factor)?, as_of.factor(name, factor)?)))
                .collect();
            for pair in values.windows(2) {
                if pair[0].0.to_bits() == pair[1].0.to_bits() {
                    ties += 1;
                    assert!(sign * pair[1].1 <= sign * pair[0].1, "{factor:?} {pair:?}");
                }
            }
        }
    }
    assert!(0 < ties, "the fixture has clipped scores");
}

/// Whether a close stands at a limit of the day, for names whose limit is plain: no ST, no ex-day, no new listing.
fn plain_limit(as_of: &AsOf<'_>, name: NameId) -> Option<(bool, bool)> {
    let (bar, before) = (as_of.bar(name, DaysBack(0))?, as_of.bar_before_last(name)?);
    let is_new = as_of.bars(name, 7).len() < 7;
    if is_new || as_of.is_st(name) || bar.factor != before.factor {
        return None;
    }
    let percent = match as_of.board(name) {
        Board::Main => 10,
        Board::ChiNext | Board::Star => 20,
        Board::Bse => 30,
    };
    let limit = |percent: i64| (before.close.0 * percent + 50).div_euclid(100);
    Some((
        bar.close.0 >= limit(100 + percent),
        bar.close.0 <= limit(100 - percent),
    ))
}

#[test]
fn flags_and_breadth_agree_with_the_bars() {
    let mut fixture = Fixture::new();
    fixture.account = Account::with_cash(fixture.rules.initial_cash);
    let mask = fixture.mask(Level::Bright, Numeric::Exact);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for day in 240..300 {
        let day = fixture.market.day_at(day).unwrap();
        let factors = FactorTable::new(&fixture.market, &FactorConfig::KTD, day, day).unwrap();
        let as_of = fixture.market.as_of(day).with_factors(&factors);
        let context = ToolContext {
            last_step: None,
            ..fixture.context(&as_of, &mask)
        };
        let shown = rows(&answer(&context, "screen_candidates", SCREEN)["candidates"]);
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for row in &shown {
            let name = name_of(&fixture, &row["stock_id"]);
            let flags = labels(row, "flags");
            let trades = as_of.bar(name, DaysBack(0)).is_some_and(|bar| 0 < bar.volume);
            assert_eq!(flags.contains(&"suspended"), !trades);
            assert_eq!(flags.contains(&"st"), as_of.is_st(name));
            if let Some((up, down)) = plain_limit(&as_of, name).filter(|_| trades) {
                assert_eq!(up, flags.contains(&"at_limit_up"));
                assert_eq!(down, flags.contains(&"at_limit_down"));
            }
            for flag in flags {
                *seen.entry(flag.to_owned()).or_default() += 1;
                *counted.entry(flag.to_owned()).or_default() += 1;
            }
        }
        let breadth = answer(&context, "get_market_context", "{}")["breadth"].clone();
        for flag in ["suspended", "at_limit_up", "at_limit_down"] {
            assert_eq!(
                breadth[flag].as_u64(),
                Some(counted.get(flag).copied().unwrap_or(0)),
                "{flag}"
            );
        }
        let parts = ["advancers", "decliners", "unchanged", "suspended"];
        let sum: u64 = parts.iter().map(|part| breadth[part].as_u64().unwrap()).sum();
        assert!(sum <= breadth["members"].as_u64().unwrap());
    }
    for flag in ["suspended", "at_limit_up", "at_limit_down"] {
        assert!(
            seen.contains_key(flag),
            "no day of the fixture has a name that is {flag}: {seen:?}"
        );
    }
}

#[test]
fn a_risk_check_spends_what_its_orders_cost() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let mask: Mask = fixture.mask(Level::Bright, Numeric::Exact);
    let [held, _, free, _] = fixture.ids(&mask);
    let arguments = format!(
        r#"{{"targets":[{{"stock_id":"{held}","target_weight":0}},{{"stock_id":"{free}","target_weight":0.04}}]}}"#
    );
    let shown = answer(&fixture.context(&as_of, &mask), "risk_check", &arguments);
    let mut cash = fixture.account.cash.to_yuan();
    let mut traded = 0.0;
    for row in rows(&shown["plan"]) {
        let name = name_of(&fixture, &row["stock_id"]);
        let close = as_of.last_bar(name).unwrap().1.close.to_yuan();
        let value = close * row["shares_to_trade"].as_f64().unwrap();
        let fen = |bps: f64| (value * bps / 10_000.0 * 100.0).round() / 100.0;
        cash += match row["side"].as_str().unwrap() {
            "BUY" => -(value + fen(5.0).max(5.0)),
            _ => value - fen(15.0).max(5.0),
        };
        traded += value;
    }
    let projected = &shown["projected"];
    assert!(
        (projected["cash"].as_f64().unwrap() - cash).abs() < 0.006,
        "{projected} {cash}"
    );
    let turnover = traded / fixture.account.nav.to_yuan();
    assert!((projected["turnover"].as_f64().unwrap() - turnover).abs() < 0.000_051);
    assert_eq!(
        projected["positions"].as_u64(),
        Some(fixture.account.holdings.len() as u64)
    );
}

/// Rescaled answers tell the same story: ratios of points are those of the true prices.
#[test]
fn points_keep_the_ratios_of_prices() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let closes = |numeric| -> Vec<f64> {
        let mask = fixture.mask(Level::Bright, numeric);
        let [id, ..] = fixture.ids(&mask);
        let arguments = format!(r#"{{"stock_id":"{id}","lookback":60}}"#);
        let shown = answer(&fixture.context(&as_of, &mask), "get_stock_snapshot", &arguments);
        rows(&shown["bars"])
            .iter()
            .map(|row| row["close"].as_f64().unwrap())
            .collect()
    };
    let (exact, rescaled) = (closes(Numeric::Exact), closes(Numeric::Rescaled));
    assert_eq!(exact.len(), 60);
    let (last_exact, last_rescaled) = (exact[59], rescaled[59]);
    for (exact, rescaled) in exact.iter().zip(&rescaled) {
        let ratio = (exact / last_exact) / (rescaled / last_rescaled);
        assert!((ratio - 1.0).abs() < 0.001, "{exact} {rescaled}");
    }
}

/// Bars tell how long ago they were only where trading days are missing between them.
#[test]
fn bars_with_a_gap_count_their_days() {
    let fixture = Fixture::new();
    let mask = fixture.mask(Level::Bright, Numeric::Exact);
    let (mut with_gap, mut without) = (0, 0);
    for day in 280..300 {
        let day = fixture.market.day_at(day).unwrap();
        let factors = FactorTable::new(&fixture.market, &FactorConfig::KTD, day, day).unwrap();
        let as_of = fixture.market.as_of(day).with_factors(&factors);
        let context = ToolContext {
            last_step: None,
            ..fixture.context(&as_of, &mask)
        };
        for name in as_of.members() {
            let arguments = format!(r#"{{"stock_id":"{}"}}"#, mask.asset(name).to_inline());
            let shown = rows(&answer(&context, "get_stock_snapshot", &arguments)["bars"]);
            let ago: Vec<u64> = as_of
                .bars(name, 10)
                .iter()
                .map(|(of, _)| (day.index() - of.index().index()) as u64)
                .collect();
            let told: Vec<u64> = shown
                .iter()
                .filter_map(|row| row.get("days_ago")?.as_u64())
                .collect();
            if ago.iter().rev().copied().eq(0..10) {
                without += 1;
                assert!(told.is_empty(), "{told:?}");
            } else {
                with_gap += 1;
                assert_eq!(told, ago);
            }
        }
    }
    assert!(0 < with_gap && 0 < without, "{with_gap} {without}");
}
