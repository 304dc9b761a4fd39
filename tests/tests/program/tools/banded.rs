//! Laws of the rungs that tell factors in bands: the same rows on every day under new ids, and nothing else, whoever asks.

use crate::tools::fixture::{Fixture, answer, rows};
use ktd_env::factors::{Factor, FactorConfig};
use ktd_env::{FactorTable, NameId};
use ktd_masking::{Level, Mode, Numeric, PERIOD_DAYS, ShownStock};
use ktd_tools::banded::{BandedState, Book};
use ktd_tools::{StepView, Toolbox};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const RUNGS: [Numeric; 2] = [Numeric::BandedFive, Numeric::Banded];

/// The fixture's market with factors of the whole window.
fn long_factors(fixture: &Fixture) -> FactorTable {
    let last = fixture.market.calendar().len() - 1;
    let (origin, last) = (
        fixture.window[0].before().unwrap(),
        fixture.market.day_at(last).unwrap(),
    );
    FactorTable::new(&fixture.market, &FactorConfig::KTD, origin, last).unwrap()
}

/// What an agent that holds nothing is answered so many trading days after the origin: every stock, and calls that search for
/// what is hidden. Ids are replaced by their places, which is all that a fresh draw of them leaves.
fn asked(
    fixture: &Fixture,
    factors: &FactorTable,
    numeric: Numeric,
    episode: &str,
    days: usize,
) -> (Vec<String>, String) {
    let origin = fixture.window[0].before().unwrap();
    let as_of = fixture
        .market
        .as_of(fixture.market.day_at(origin.index() + days).unwrap());
    let as_of = as_of.with_factors(factors);
    let mask = fixture.mask_of(episode, numeric);
    let state = BandedState::at(None, &mask, &as_of).unwrap();
    let day = mask.step_day(days + 1);
    let context = state.context(days + 1, (&mask, &fixture.rules, &fixture.limits), (&day, None));
    let view = StepView::Roster(&context);
    let toolbox = Toolbox::new().unwrap();
    let stocks = state.roster.stocks();
    let rows = stocks.iter().map(|stock| {
        let arguments = format!(r#"{{"stock_id":"{}"}}"#, stock.id());
        let text = answer(view, "get_stock_snapshot", &arguments).to_string();
        text.replace(stock.id(), "ID")
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    let [first, second] = [0, 1].map(|place| stocks[place].id());
    let mut searches = String::new();
    for (tool, arguments) in [
        ("get_market_context", "{}".to_owned()),
        ("portfolio_state", "{}".to_owned()),
        ("get_stock_snapshot", r#"{"stock_id":"asset_9999"}"#.to_owned()),
        ("get_stock_snapshot", r#"{"stock_id":"SH600519"}"#.to_owned()),
        (
            "risk_check",
            format!(
                r#"{{"targets":[{{"stock_id":"{first}","target_weight":0.01}},{{"stock_id":"{second}","target_weight":0.2}}]}}"#
            ),
        ),
        (
            "risk_check",
            format!(
                r#"{{"targets":[{{"stock_id":"{first}","target_weight":0.21}},{{"stock_id":"{second}","target_weight":0}}]}}"#
            ),
        ),
    ] {
        searches += &toolbox.call(view, tool, &arguments).payload.to_json();
    }
    searches += &view.state(Mode::OpenResearch).to_json();
    let searches = searches.replace(first, "FIRST").replace(second, "SECOND");
    (
        rows,
        searches.replace(&mask.step_day(days + 1).to_inline(), "DAY"),
    )
}

/// Any two days, any two keys: the same rows, and the same answers to what searches for more. So the whole of what an agent
/// sees hangs on neither, whatever it asks.
#[test]
fn no_answer_depends_on_the_day_or_on_the_stocks() {
    let fixture = Fixture::new();
    let factors = long_factors(&fixture);
    for numeric in RUNGS {
        let (rows, searches) = asked(&fixture, &factors, numeric, "one", 0);
        let groups: BTreeMap<&String, usize> = rows.iter().fold(BTreeMap::new(), |mut counts, row| {
            *counts.entry(row).or_default() += 1;
            counts
        });
        let sizes: BTreeSet<usize> = groups.values().copied().collect();
        assert_eq!(sizes.len(), 1, "groups of one size: {groups:?}");
        assert_eq!(groups.len(), if numeric == Numeric::Banded { 3 } else { 5 });
        for (episode, days) in [("one", 7), ("two", 0), ("two", 13), ("three", 25)] {
            let (other_rows, other_searches) = asked(&fixture, &factors, numeric, episode, days);
            assert_eq!(rows, other_rows, "{numeric:?} {episode} {days}");
            let step = format!("\"step\":{}", days + 1);
            assert_eq!(
                searches,
                other_searches.replace(&step, "\"step\":1"),
                "{numeric:?} {episode} {days}"
            );
        }
    }
}

/// The ids of every stock shown so many trading days after the origin, in the order of the roster.
fn ids(fixture: &Fixture, factors: &FactorTable, days: usize) -> Vec<(String, NameId)> {
    let origin = fixture.window[0].before().unwrap();
    let as_of = fixture
        .market
        .as_of(fixture.market.day_at(origin.index() + days).unwrap());
    let roster = fixture
        .mask_of("one", Numeric::Banded)
        .roster(&as_of.with_factors(factors))
        .unwrap();
    let shown = |stock: &ShownStock| (stock.id().to_owned(), stock.name());
    roster.stocks().iter().map(shown).collect()
}

#[test]
fn ids_stand_for_a_period_and_no_period_has_one_of_another() {
    let fixture = Fixture::new();
    let factors = long_factors(&fixture);
    let first = ids(&fixture, &factors, 0);
    assert_eq!(first, ids(&fixture, &factors, PERIOD_DAYS - 1));
    let second = ids(&fixture, &factors, PERIOD_DAYS);
    assert_eq!(first.len(), second.len());
    let known: BTreeSet<&String> = first.iter().map(|(id, _)| id).collect();
    assert!(second.iter().all(|(id, _)| !known.contains(id)));
    // The order of ids is no order of names: the same names do not stand in the same places.
    let same = first.iter().zip(&second).filter(|(one, other)| one.1 == other.1);
    assert!(same.count() * 3 < first.len());
}

/// A group is told by where a stock stands: over all stocks the shown bands agree with the true order.
#[test]
fn bands_lean_to_the_truth() {
    let fixture = Fixture::new();
    let factors = long_factors(&fixture);
    let origin = fixture.window[0].before().unwrap();
    let as_of = fixture.market.as_of(origin).with_factors(&factors);
    for numeric in RUNGS {
        let roster = fixture.mask_of("one", numeric).roster(&as_of).unwrap();
        let mut sum = 0.0;
        for factor in Factor::ALL {
            let stocks = roster.stocks().iter();
            let cells: Vec<(f64, f64)> = stocks
                .filter_map(|stock| {
                    Some((
                        as_of.factor(stock.name(), factor)?,
                        roster.band(stock, factor).value(),
                    ))
                })
                .collect();
            let (truth, shown): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
            sum += ktd_stats::spearman(&truth, &shown).unwrap().unwrap();
        }
        assert!(0.3 < sum / 9.0, "{numeric:?}: {sum}");
    }
}

/// Whole sells make room and free their weight wherever they stand; everything else is judged by what was ordered alone.
#[test]
fn a_book_keeps_the_rules_by_what_was_ordered() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let mask = fixture.mask(Level::Blinded, Numeric::Banded);
    let codes = fixture.view(&as_of, &mask, |view| {
        let StepView::Roster(context) = view else {
            unreachable!("bands are shown by a roster");
        };
        let account = answer(view, "portfolio_state", "{}");
        let held: Vec<Value> = rows(&account["account"]["holdings"])
            .into_iter()
            .map(|row| row["weight"].clone())
            .collect();
        assert_eq!(
            held,
            [0.12, 0.05, 0.0]
                .iter()
                .take(2)
                .map(|weight| Value::from(*weight))
                .collect::<Vec<_>>()
        );
        assert_eq!(account["account"]["cash_weight"], 0.83);
        let last = rows(&account["last_step"]["orders"]);
        last.iter()
            .map(|row| row["code"].as_str().unwrap_or("accepted").to_owned())
            .collect::<Vec<_>>()
            .into_iter()
            .chain([context.book.positions().len().to_string()])
            .collect::<Vec<String>>()
    });
    assert_eq!(
        codes,
        [
            "accepted",
            "side_mismatch",
            "not_held",
            "max_single_weight",
            "duplicate",
            "2"
        ]
    );
    assert_eq!(Book::default().cash_millionths(), 1_000_000);
}
