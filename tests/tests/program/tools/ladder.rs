//! What each rung of the numeric ladder may show, and that lists are made from what is shown.

use crate::tools::fixture::{Fixture, answer, every_setting, rows, without_bands};
use crate::tools::snapshots::calls;
use ktd_env::NameId;
use ktd_env::factors::Factor;
use ktd_masking::{FactorScale, Level, Mask, Mode, Numeric};
use ktd_tools::{StepView, Tool, ToolContext, state};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const GRAINS: [(Numeric, f64); 2] = [(Numeric::RoundedTenth, 0.001), (Numeric::RoundedHalf, 0.005)];

fn is_multiple(value: f64, grain: f64) -> bool {
    ((value / grain).round() * grain - value).abs() < 1e-9
}

fn snapshot(context: &ToolContext<'_>, name: NameId, lookback: u32) -> Value {
    let id = context.mask.asset(name).to_inline();
    let arguments = format!(r#"{{"stock_id":"{id}","lookback":{lookback}}}"#);
    answer(context, "get_stock_snapshot", &arguments)
}

/// All prices of a name as shown, in the order of the bars.
fn prices(shown: &Value) -> Vec<f64> {
    let bars = rows(&shown["bars"]);
    let of_bar = |bar: &BTreeMap<String, Value>| {
        ["open", "high", "low", "close"].map(|column| bar.get(column).and_then(Value::as_f64))
    };
    bars.iter().flat_map(of_bar).flatten().collect()
}

#[test]
fn returns_between_rounded_prices_are_whole_steps_and_nothing_adds_up() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    for (numeric, grain) in GRAINS {
        let (mask, true_mask) = (
            fixture.mask(Level::Blinded, numeric),
            fixture.mask(Level::Blinded, Numeric::Rescaled),
        );
        let mut compared = 0;
        for name in as_of.members() {
            let rounded = prices(&snapshot(&fixture.context(&as_of, &mask), name, 60));
            let points = prices(&snapshot(&fixture.context(&as_of, &true_mask), name, 60));
            assert_eq!(rounded.len(), points.len());
            for ((shown, before), point) in rounded.iter().skip(1).zip(&rounded).zip(points.iter().skip(1)) {
                let steps = libm::log(shown / before) / libm::log1p(grain);
                assert!(
                    (steps - steps.round()).abs() < 0.3,
                    "{numeric:?}: {before} to {shown}"
                );
                // Half a step, and the last decimal of either.
                let off = libm::log(shown / point).abs();
                assert!(off < 0.5 * grain + 3e-4, "{numeric:?}: {shown} for {point}");
                compared += 1;
            }
        }
        assert!(1000 < compared);
    }
}

#[test]
fn what_is_no_price_is_rounded_to_the_grain_too() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    for (numeric, grain) in GRAINS {
        let mask = fixture.mask(Level::Blinded, numeric);
        let context = fixture.context(&as_of, &mask);
        let market = answer(&context, "get_market_context", "{}");
        let mut shown: Vec<f64> = [
            "return_1d",
            "return_5d",
            "return_20d",
            "return_60d",
            "volatility_20d",
            "drawdown_60d",
        ]
        .iter()
        .filter_map(|key| market["index"][key].as_f64())
        .collect();
        shown.extend(market["dispersion"].as_f64());
        for table in ["boards", "sectors"] {
            for row in rows(&market[table]) {
                shown.extend(
                    ["return_1d", "return_20d"]
                        .iter()
                        .filter_map(|key| row[*key].as_f64()),
                );
            }
        }
        for name in as_of.members() {
            let technicals = snapshot(&context, name, 1)["technicals"].clone();
            for key in [
                "return_5d",
                "return_20d",
                "return_60d",
                "ma_gap_20",
                "volatility_20",
                "drawdown_60",
            ] {
                shown.extend(technicals[key].as_f64());
            }
            let ratio = technicals["amount_ratio_5_20"].as_f64();
            assert!(
                ratio.is_none_or(|ratio| is_multiple(ratio, grain * 100.0)),
                "{technicals}"
            );
            let strength = technicals["rsi_14"].as_f64();
            assert!(
                strength.is_none_or(|strength| is_multiple(strength, grain * 1000.0)),
                "{technicals}"
            );
        }
        let account = answer(&context, "portfolio_state", "{}");
        shown.extend(account["last_step"]["nav_return"].as_f64());
        for row in rows(&account["account"]["holdings"]) {
            shown.extend(
                ["weight", "unrealised_return"]
                    .iter()
                    .filter_map(|key| row[*key].as_f64()),
            );
        }
        assert!(100 < shown.len());
        for value in shown {
            assert!(is_multiple(value, grain), "{numeric:?}: {value}");
        }
    }
}

/// Every number of a payload under its column or key; in a table of factors by row, under the row's label.
fn numbers(key: &str, value: &Value, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => found.push((key.to_owned(), number.as_f64().unwrap())),
        Value::Array(items) => {
            for item in items {
                numbers(key, item, found);
            }
        }
        Value::Object(members) if members.contains_key("columns") => {
            for row in rows(value) {
                let label = row.get("value").and_then(Value::as_str);
                for (column, cell) in &row {
                    numbers(label.unwrap_or(column), cell, found);
                }
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                numbers(key, member, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Every payload of a step, the tools' and the states'.
fn payloads(fixture: &Fixture, mask: &Mask) -> Vec<Value> {
    let as_of = fixture.as_of();
    let ids = fixture.ids(mask);
    fixture.view(&as_of, mask, |view| {
        let tools = Tool::ALL.into_iter();
        let mut payloads: Vec<Value> = tools
            .map(|tool| answer(view, tool.name(), &calls(&ids, tool, mask.numeric())))
            .collect();
        if let StepView::Market(context) = view {
            payloads.extend(as_of.names().map(|name| snapshot(context, name, 60)));
        }
        let every: Vec<String> = ["close", "weight", "unrealised_return"]
            .into_iter()
            .chain(Factor::ALL.map(Factor::name))
            .chain(ktd_env::factors::Technical::ALL.map(ktd_env::factors::Technical::name))
            .map(|name| format!("\"{name}\""))
            .collect();
        let arguments = format!(
            r#"{{"stock_ids":["{}"],"dimensions":[{}]}}"#,
            ids.join("\",\""),
            every.join(",")
        );
        payloads.push(answer(view, "compare_candidates", &arguments));
        let states = Mode::ALL.map(|mode| serde_json::from_str(&view.state(mode).to_json()).unwrap());
        payloads.extend(states);
        payloads
    })
}

/// Where values are hidden a number is a percentile, a rank, a band, a count or a coarse figure of the account: whatever else
/// there may be has a key that is not in this list. So no price, volume or return of a stock shows.
#[test]
fn ranked_and_banded_show_no_other_numbers() {
    const COUNTS: [&str; 7] = [
        "step",
        "order",
        "positions",
        "positions_left",
        "max_positions",
        "members",
        "within_bounds",
    ];
    const MONEY: [&str; 4] = ["nav", "cash", "value", "cash_shortfall"];
    const WEIGHTS: [&str; 8] = [
        "weight",
        "weight_now",
        "weight_after",
        "cash_weight",
        "largest_weight",
        "turnover",
        "hhi_now",
        "hhi_after",
    ];
    let fixture = Fixture::new();
    let mut keys: BTreeMap<Numeric, BTreeSet<String>> = BTreeMap::new();
    for (level, numeric) in every_setting() {
        if numeric.scale() == FactorScale::Values {
            continue;
        }
        let mask = fixture.mask(level, numeric);
        let mut found = Vec::new();
        for payload in payloads(&fixture, &mask) {
            numbers("", &payload, &mut found);
        }
        let ranked = numeric == Numeric::Ranked;
        for (key, value) in found {
            let is_whole = is_multiple(value, 1.0);
            let fits = match key.as_str() {
                "max_single_weight" => is_multiple(value - 0.2, 1.0),
                "target_weight_step" => is_multiple(value - if ranked { 0.005 } else { 0.01 }, 1.0),
                "members" | "within_bounds" | "stale_days" if !ranked => false,
                "stale_days" | "return_1d_rank" | "return_20d_rank" => ranked && is_whole && 1.0 <= value,
                "unrealised_return" => ranked && is_multiple(value, 0.05),
                "nav_return" => ranked && is_multiple(value, 0.01),
                key if COUNTS.contains(&key) => is_whole && 0.0 <= value,
                key if MONEY.contains(&key) => ranked && is_multiple(value, 10_000.0),
                "target_weight" => is_multiple(value, if ranked { 0.005 } else { 0.01 }),
                key if WEIGHTS.contains(&key) => is_multiple(value, 0.01),
                key if key.ends_with("pct") => {
                    ranked && (0.0..=100.0).contains(&value) && is_multiple(value, 0.1)
                }
                key if key.ends_with("band") => !ranked && (-2.0..=2.0).contains(&value) && is_whole,
                _ => false,
            };
            assert!(fits, "{numeric:?}: {key} is {value}");
            keys.entry(numeric).or_default().insert(key);
        }
    }
    // The test sees what it speaks of.
    assert!(
        keys[&Numeric::Ranked].contains("rsi_14_pct") && keys[&Numeric::Ranked].contains("return_20d_rank")
    );
    assert!(keys[&Numeric::Banded].contains("SKEW_band") && keys[&Numeric::Banded].contains("band"));
}

fn hide_trading(text: &str) -> bool {
    [
        "suspended",
        "at_limit",
        "\"st\"",
        "limit_state",
        "corporate_action",
        "sector",
        "members",
        "technicals",
        "bars",
    ]
    .iter()
    .all(|word| !text.contains(word))
}

#[test]
fn banded_tells_nothing_of_how_names_trade_and_ranked_does() {
    let fixture = Fixture::new();
    let texts = |numeric| -> String {
        let mask = fixture.mask(Level::Blinded, numeric);
        payloads(&fixture, &mask).iter().map(Value::to_string).collect()
    };
    assert!(hide_trading(&texts(Numeric::Banded)));
    assert!(!hide_trading(&texts(Numeric::Ranked)));
}

fn full_screen(bounds: &str) -> String {
    let tilts: Vec<String> = Factor::ALL
        .iter()
        .map(|factor| format!(r#"{{"factor":"{}","direction":"high"}}"#, factor.name()))
        .collect();
    format!(r#"{{"factors":[{}],"top_k":30{bounds}}}"#, tilts.join(","))
}

/// The suffix of what a screen scores, and the score of a missing one.
fn scored(numeric: Numeric) -> (&'static str, f64) {
    match numeric.scale() {
        FactorScale::Values => ("_z", 0.0),
        FactorScale::Percentiles => ("_pct", 50.0),
        FactorScale::Bands => unreachable!("a roster has laws of its own"),
    }
}

/// A screen's order, its bounds and the candidates of the other mode can be told from the shown cells and the aliases alone.
#[test]
fn lists_are_made_from_what_is_shown() {
    const TILTS: [(&str, f64); 3] = [("MOM_12_1", 2.0), ("RV_60", -1.0), ("SKEW", 0.5)];
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let tilts = r#""factors":[{"factor":"MOM_12_1","direction":"high","weight":2},{"factor":"RV_60","direction":"low"},
        {"factor":"SKEW","direction":"high","weight":0.5}],"top_k":30"#;
    for episode in 0..30 {
        for numeric in [Numeric::RoundedTenth, Numeric::RoundedHalf, Numeric::Ranked] {
            let mask = fixture.mask_of(&format!("episode {episode}"), numeric);
            let context = fixture.context(&as_of, &mask);
            let (suffix, middle) = scored(numeric);
            let screen = |bounds: &str| {
                let arguments = format!("{{{tilts}{bounds}}}");
                rows(&answer(&context, "screen_candidates", &arguments)["candidates"])
            };
            let number =
                |row: &BTreeMap<String, Value>, column: &str| row.get(column).and_then(Value::as_f64);
            let id = |row: &BTreeMap<String, Value>| row["stock_id"].as_str().unwrap().to_owned();
            let all = screen("");
            let mut expected = all.clone();
            expected.sort_by(|left, right| {
                let score = |row| -> f64 {
                    let part = |(factor, weight): &(&str, f64)| {
                        let shown = number(row, &format!("{factor}{suffix}"));
                        weight * (shown.unwrap_or(middle) - middle)
                    };
                    TILTS.iter().map(part).sum()
                };
                let raw = |row, (factor, weight): &(&str, f64)| {
                    number(row, factor).map_or(f64::NEG_INFINITY, |raw| raw * weight.signum())
                };
                let finer = TILTS.map(|tilt| raw(right, &tilt).total_cmp(&raw(left, &tilt)));
                let finer = finer
                    .into_iter()
                    .fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
                let by_score = (score(right) + 0.0).total_cmp(&(score(left) + 0.0));
                by_score.then(finer).then_with(|| id(left).cmp(&id(right)))
            });
            let ids = |rows: &[BTreeMap<String, Value>]| rows.iter().map(id).collect::<Vec<_>>();
            assert_eq!(ids(&all), ids(&expected), "{numeric:?}, episode {episode}");
            let least = if numeric == Numeric::Ranked { 40.0 } else { 0.0 };
            let bounded = screen(&format!(r#","bounds":[{{"factor":"SKEW","min":{least}}}]"#));
            let within = |row: &&BTreeMap<String, Value>| {
                number(row, &format!("SKEW{suffix}")).is_some_and(|shown| least <= shown)
            };
            let kept: Vec<_> = all.iter().filter(within).map(id).collect();
            assert_eq!(ids(&bounded), kept, "{numeric:?}, episode {episode}");
            assert!(kept.len() < all.len());
        }
    }
}

#[test]
fn candidates_of_a_factor_are_the_highest_shown() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    for episode in 0..30 {
        for numeric in [Numeric::RoundedTenth, Numeric::RoundedHalf, Numeric::Ranked] {
            let mask = fixture.mask_of(&format!("episode {episode}"), numeric);
            let context = fixture.context(&as_of, &mask);
            let screened = rows(&answer(&context, "screen_candidates", &full_screen(""))["candidates"]);
            let shown = state::candidates(&context).to_json();
            let candidates = rows(&serde_json::from_str(&shown).unwrap());
            for factor in Factor::ALL {
                let name = factor.name();
                let column = match scored(numeric).0 {
                    "_z" if factor == Factor::Illiq => format!("{name}_z"),
                    "_z" => name.to_owned(),
                    suffix => format!("{name}{suffix}"),
                };
                let best = screened
                    .iter()
                    .filter_map(|row| Some((row[&column].as_f64()?, row["stock_id"].as_str()?)))
                    .max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(left.1)));
                let told = candidates.iter().filter(|row| {
                    let top_of = row["top_of"].as_array().unwrap();
                    top_of.iter().any(|of| of == name)
                });
                let told: Vec<&str> = told.filter_map(|row| row["stock_id"].as_str()).collect();
                assert_eq!(told, [best.unwrap().1], "{numeric:?} {name}, episode {episode}");
            }
        }
    }
}

/// Where weights are rounded, targets on the grid alone are answered: a finer one would tell on which side of it the true
/// weight lies.
#[test]
fn targets_finer_than_what_is_shown_are_refused() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let toolbox = ktd_tools::Toolbox::new().unwrap();
    for numeric in without_bands() {
        let mask = fixture.mask(Level::Blinded, numeric);
        let context = fixture.context(&as_of, &mask);
        let [held, ..] = fixture.ids(&mask);
        let step = state::limits(&context).to_json();
        let step: Value = serde_json::from_str(&step).unwrap();
        let step = step["target_weight_step"].as_f64();
        assert_eq!(step.is_some(), Numeric::Rescaled < numeric);
        for weight in ["0.045", "0.046", "0.0455", "0.045001", "0"] {
            let takes = step.is_none_or(|step| is_multiple(weight.parse().unwrap(), step));
            let targets = format!(r#"{{"targets":[{{"stock_id":"{held}","target_weight":{weight}}}]}}"#);
            let answer = toolbox.call(&context, "risk_check", &targets);
            assert_eq!(
                answer.code,
                (!takes).then_some("off_step"),
                "{numeric:?} {weight}"
            );
            let order = format!(
                r#"{{"orders":[{{"stock_id":"{held}","side":"SELL","target_weight":{weight},"confidence":0.5,
                "reason":"as tried before"}}],"overall_reason":"x"}}"#
            );
            let code = ktd_tools::parse_action(&context, &order).map_err(|error| error.code());
            assert_eq!(code.err(), (!takes).then_some("off_step"), "{numeric:?} {weight}");
        }
    }
}

#[test]
fn raw_bounds_are_refused_where_raw_values_are_hidden() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let toolbox = ktd_tools::Toolbox::new().unwrap();
    for numeric in Numeric::ALL {
        let mask = fixture.mask(Level::Blinded, numeric);
        let arguments = full_screen(r#","bounds":[{"factor":"SKEW","scale":"raw","min":0}]"#);
        let answer = fixture.view(&as_of, &mask, |view| {
            toolbox.call(view, "screen_candidates", &arguments)
        });
        let expected = (numeric.scale() != FactorScale::Values).then_some("raw_value_hidden");
        assert_eq!(answer.code, expected, "{numeric:?}");
    }
}

/// The index beside the account's own return: at no rung and in no mode is it finer than the market's own figure, and where that
/// is hidden it is too.
#[test]
fn the_index_beside_the_account_is_the_markets_own_figure_or_none() {
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let mut shown = BTreeSet::new();
    for (level, numeric) in every_setting() {
        if numeric.scale() == FactorScale::Bands {
            continue;
        }
        let mask = fixture.mask(level, numeric);
        let context = fixture.context(&as_of, &mask);
        let market = answer(&context, "get_market_context", "{}")["index"]["return_1d"].clone();
        let parsed =
            |mode| -> Value { serde_json::from_str(&state::state(&context, mode).to_json()).unwrap() };
        let portfolio = answer(&context, "portfolio_state", "{}");
        for told in [
            &portfolio,
            &parsed(Mode::FixedCandidate),
            &parsed(Mode::OpenResearch),
        ] {
            assert!(told["last_step"].is_object());
            assert_eq!(
                told["last_step"]["price_index_return"], market,
                "{level:?} {numeric:?}"
            );
        }
        assert_eq!(
            parsed(Mode::MemoryOnly)["last_step"]["price_index_return"],
            Value::Null
        );
        if market.is_number() {
            shown.insert(numeric.label());
        }
    }
    assert_eq!(
        shown,
        BTreeSet::from(["exact", "rescaled", "rounded-0.1", "rounded-0.5"])
    );
}
