//! What a model can and cannot find out by formulas.

use crate::{AskedFormulas, StepView, Tool, ToolContext, ToolLimits, Toolbox};
use ktd_env::exchange::{Account, Rules};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Bar, DayIndex, Market, Price};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric};
use serde_json::{Value, json};

const AS_OF: usize = 280;

/// The place of the first as-of day of the episode.
const ORIGIN: usize = AS_OF - 10;

fn limits() -> ToolLimits {
    ToolLimits {
        expressions: true,
        ..ToolLimits::default()
    }
}

/// A market whose volumes are divisible by all that they are divided by below.
fn market() -> Market {
    let market = generate(&SynthConfig {
        seed: 5,
        names: 25,
        days: 300,
    })
    .unwrap();
    let first = market.day_at(0).unwrap();
    market.replaced_from(
        first,
        |_, _, bar| {
            Some(Bar {
                volume: bar.volume * 60,
                ..bar
            })
        },
        |_, level| level,
    )
}

/// The same market in which each stock has other prices and shares: every price times a number of its own, every number of
/// shares divided by it.
fn with_other_levels(market: &Market) -> Market {
    let first = market.day_at(0).unwrap();
    let places: Vec<_> = market.names().map(|(name, _)| name).collect();
    market.replaced_from(
        first,
        |name, _, bar| {
            let place = places.iter().position(|known| *known == name).unwrap();
            let times = [3_u32, 2, 5, 1, 4][place % 5];
            let price = |price: Price| Price(price.0 * i64::from(times));
            Some(Bar {
                open: bar.open.map(price),
                high: price(bar.high),
                low: price(bar.low),
                close: price(bar.close),
                volume: bar.volume / u64::from(times),
                ..bar
            })
        },
        |_, level| level,
    )
}

fn mask(market: &Market, numeric: Numeric) -> Mask {
    mask_on(market, numeric, AS_OF)
}

/// The mask of an episode whose tenth step has the as-of day at this place.
fn mask_on(market: &Market, numeric: Numeric, as_of: usize) -> Mask {
    let window: Vec<DayIndex> = (as_of - 9..as_of + 11)
        .filter_map(|day| market.day_at(day))
        .collect();
    let frame = EpisodeFrame {
        market,
        window: &window,
        initial_cash: Rules::default().initial_cash,
    };
    let settings = MaskSettings {
        level: Level::Blinded,
        numeric,
    };
    Mask::new(settings, &MaskKey::from_bytes([3; 32]), &frame).unwrap()
}

/// The answers to some calls of a step, one after the other.
fn answers(market: &Market, numeric: Numeric, arguments: &[Value]) -> Vec<Value> {
    answers_on(market, (numeric, AS_OF), arguments)
}

fn answers_on(market: &Market, (numeric, place): (Numeric, usize), arguments: &[Value]) -> Vec<Value> {
    let mask = mask_on(market, numeric, place);
    let (rules, limits) = (Rules::default(), limits());
    let account = Account::with_cash(rules.initial_cash);
    let as_of = market.as_of(market.day_at(place).unwrap());
    let context = ToolContext {
        as_of: &as_of,
        account: &account,
        mask: &mask,
        rules: &rules,
        limits: &limits,
        last_step: None,
        step: 10,
    };
    let toolbox = Toolbox::of(&limits).unwrap();
    let mut asked = AskedFormulas::default();
    let call = |arguments: &Value| {
        let (view, name) = (StepView::from(&context), Tool::ScreenByExpression.name());
        let answer = toolbox.call_after(view, name, &arguments.to_string(), &mut asked);
        let told = serde_json::from_str(&answer.payload.to_json()).unwrap();
        assert_eq!(answer.ok, answer.code.is_none());
        told
    };
    arguments.iter().map(call).collect()
}

fn asked(market: &Market, numeric: Numeric, expression: &str) -> Value {
    let arguments = json!({ "expression": expression, "side": "high", "top_k": 30 });
    answers(market, numeric, &[arguments]).remove(0)
}

fn code(answer: &Value) -> &str {
    answer["errors"][0]["error"].as_str().unwrap_or_default()
}

const WITH_FORMULAS: [Numeric; 4] = [
    Numeric::Exact,
    Numeric::Rescaled,
    Numeric::RoundedTenth,
    Numeric::RoundedHalf,
];

/// Formulas of an attacker who is after levels: fields as they are, and thresholds on them as a bisection sets them.
fn attacks() -> Vec<String> {
    let fields = [
        "close", "open", "high", "low", "vwap", "adjclose", "volume", "amount", "change",
    ];
    let mut formulas: Vec<String> = fields.iter().map(|field| format!("${field}")).collect();
    for field in fields {
        let mut level = 0.0143;
        for _ in -8..28 {
            formulas.push(format!("If(${field}>{level},1,0)"));
            level *= 1.7;
        }
    }
    for formula in [
        "$close*$volume",
        "$amount/$volume",
        "$amount/$volume-$vwap",
        "Log($close)+Log($volume)",
        "Mean($volume,0)",
        "Sum($amount,240)",
        "Max($high,240)-Min($low,240)",
        "Delta($close,1)",
        "Std($close,60)",
        "Cov($close,$volume,30)",
        "Greater($close,$volume)",
        "Quantile($amount,60,0.9)",
        "Power($close,3)-$vwap",
        "Count($close,0)",
    ] {
        formulas.push(formula.to_owned());
    }
    formulas
}

#[test]
fn no_formula_reads_a_price_a_number_of_shares_or_where_they_stand_among_others() {
    let (market, other) = (market(), with_other_levels(&market()));
    let day = market.day_at(AS_OF).unwrap();
    let closes = |market: &Market| -> Vec<Price> {
        let bars = market.names().filter_map(|(name, _)| market.bar(name, day));
        bars.map(|bar| bar.close).collect()
    };
    assert_ne!(closes(&market), closes(&other));
    for numeric in WITH_FORMULAS {
        for formula in attacks() {
            let (one, two) = (
                asked(&market, numeric, &formula),
                asked(&other, numeric, &formula),
            );
            assert_eq!(one, two, "{numeric:?}: {formula}");
            assert_eq!(code(&one), "", "{numeric:?}: {formula}: {one}");
            if !formula.contains('(') {
                assert_eq!(one["with_value"], one["members"], "{numeric:?}: {formula}");
            }
        }
    }
}

/// The same market with the prices of every stock so that its lowest is this many fen, or a little less.
fn with_lowest(market: &Market, fen: i64) -> Market {
    let first = market.day_at(0).unwrap();
    let lowest = |name| {
        let lows = (0..market.calendar().len()).filter_map(|day| market.bar(name, market.day_at(day)?));
        lows.map(|bar| bar.low.0).min().unwrap()
    };
    let lowest: Vec<_> = market.names().map(|(name, _)| (name, lowest(name))).collect();
    market.replaced_from(
        first,
        |name, _, bar| {
            let (_, lowest) = lowest.iter().find(|(known, _)| *known == name).unwrap();
            let price = |price: Price| Price((price.0 * fen + lowest / 2) / lowest);
            Some(Bar {
                open: bar.open.map(price),
                high: price(bar.high),
                low: price(bar.low),
                close: price(bar.close),
                ..bar
            })
        },
        |_, level| level,
    )
}

/// Real prices are whole fen: the smallest change of a price below 5 yuan would be more than one step of a grid of 0.1 %.
#[test]
fn no_smallest_change_of_a_price_tells_its_level_above_two_yuan() {
    let (dear, cheap) = (with_lowest(&market(), 100_000), with_lowest(&market(), 210));
    for field in ["close", "open", "high", "low"] {
        let change = format!("Abs(Delta(Log(${field}),1))");
        let least = format!("Min(If({change}>0.0005,{change},1),239)");
        for numeric in WITH_FORMULAS {
            for step in 1..12 {
                let formula = format!("If({least}>{},1,0)", 0.000_9 * f64::from(step));
                let answer = asked(&dear, numeric, &formula);
                assert_eq!(answer, asked(&cheap, numeric, &formula), "{numeric:?}: {formula}");
                assert_eq!(answer["with_value"], answer["members"], "{numeric:?}: {formula}");
            }
        }
    }
}

#[test]
fn a_change_is_over_the_close_before_it_whatever_number_of_rows_is_read() {
    let market = market();
    let first = market.day_at(0).unwrap();
    let gap = [AS_OF - 3, AS_OF - 1].map(|place| market.day_at(place).unwrap());
    let suspended = market.replaced_from(
        first,
        |_, day, bar| (!gap.contains(&day)).then_some(bar),
        |_, level| level,
    );
    for market in [&market, &suspended] {
        for formula in ["$change", "$change*2", "Std($change,5)", "Sum($change,1)"] {
            let answer = asked(market, Numeric::Exact, formula);
            assert_eq!(answer["with_value"], answer["members"], "{formula}: {answer}");
        }
    }
    for formula in ["Ref($change,1)", "Delta($change,1)", "Std($change,2)"] {
        let answer = asked(&market, Numeric::Exact, formula);
        assert_eq!(answer["with_value"], answer["members"], "{formula}: {answer}");
    }
    for threshold in ["0-0.0307", "0-0.0123", "0.0004", "0.0119", "0.0313"] {
        let sum = |change: &str| {
            let formula = format!("If(Sum({change},5)>{threshold},1,0)");
            asked(&market, Numeric::Exact, &formula)
        };
        let (field, written_out) = (sum("$change"), sum("($close/Ref($close,1)-1)"));
        assert_eq!(field, written_out, "{threshold}");
    }
}

#[test]
fn no_answer_depends_on_a_later_row() {
    let market = market();
    let (day, next) = (market.day_at(AS_OF).unwrap(), market.day_at(AS_OF + 1).unwrap());
    let cut = market.cut_after(day);
    let replaced = market.replaced_from(
        next,
        |_, _, bar| {
            Some(Bar {
                close: Price(bar.close.0 * 2),
                high: Price(bar.high.0 * 2),
                ..bar
            })
        },
        |_, level| level * 2.0,
    );
    for formula in [
        "$close/Ref($close,5)",
        "Corr($close,$volume,20)",
        "Sum($change,0)",
        "EMA($vwap,10)/$open",
    ] {
        let whole = asked(&market, Numeric::Rescaled, formula);
        assert!(
            15 < whole["candidates"]["rows"].as_array().unwrap().len(),
            "{whole}"
        );
        assert_eq!(whole, asked(&cut, Numeric::Rescaled, formula), "{formula}");
        assert_eq!(whole, asked(&replaced, Numeric::Rescaled, formula), "{formula}");
    }
}

/// Formulas of an attacker who counts rows.
const COUNTS: [&str; 7] = [
    "$close",
    "Count($close,0)",
    "Count($close,5000)",
    "EMA($close,0)",
    "Ref($close,0)",
    "Ref($close,150)",
    "Log(Sign(Count($close,0)-150.5))",
];

/// The market in which some stocks have no bar before a day.
fn listed_on(market: &Market, place: usize, is_new: impl Fn(usize) -> bool) -> Market {
    let (first, listing) = (market.day_at(0).unwrap(), market.day_at(place).unwrap());
    let new: Vec<_> = market.names().map(|(name, _)| name).collect();
    let is_new = |name| is_new(new.iter().position(|known| *known == name).unwrap());
    market.replaced_from(
        first,
        |name, day, bar| (listing <= day || !is_new(name)).then_some(bar),
        |_, level| level,
    )
}

/// No count of rows is longer for an old stock than for one of a year ago, so that no formula counts the panel's days; and
/// none answers where the panel is shorter.
#[test]
fn no_formula_counts_the_days_of_the_panel() {
    let market = market();
    let just_enough = listed_on(&market, ORIGIN - 239, |_| true);
    for formula in COUNTS {
        let whole = asked(&market, Numeric::Exact, formula);
        assert_eq!(whole, asked(&just_enough, Numeric::Exact, formula), "{formula}");
        assert_eq!(
            asked(&market, Numeric::Exact, "$close")["with_value"],
            whole["members"]
        );
        for place in [ORIGIN - 238, ORIGIN - 200, ORIGIN - 150, ORIGIN - 121] {
            let answer = asked(&listed_on(&market, place, |_| true), Numeric::Exact, formula);
            assert_eq!(answer["with_value"], 0, "{formula}: {answer}");
        }
    }
}

/// A panel that begins so late that its days could be counted has no value on any of the days between.
#[test]
fn no_formula_bisects_a_short_panel() {
    let market = market();
    for formula in COUNTS {
        let count = |place| {
            let arguments = json!({ "expression": formula, "side": "high" });
            answers_on(&market, (Numeric::Exact, place), &[arguments]).remove(0)["with_value"].clone()
        };
        for place in [130, 161, 200, 248] {
            assert_eq!(count(place), 0, "{formula} on day {place}");
        }
        assert_eq!(count(249), count(AS_OF), "{formula}");
    }
}

#[test]
fn no_formula_tells_for_how_long_a_stock_has_been_listed() {
    let market = market();
    let with_new = |place| listed_on(&market, place, |stock| stock % 4 == 1);
    let (old, new) = (
        with_new(ORIGIN - 238),
        [ORIGIN - 150, ORIGIN - 30, ORIGIN, AS_OF - 2],
    );
    for formula in COUNTS {
        let answer = asked(&old, Numeric::Rescaled, formula);
        for place in new {
            assert_eq!(
                answer,
                asked(&with_new(place), Numeric::Rescaled, formula),
                "{formula}: {place}"
            );
        }
    }
    let answer = asked(&old, Numeric::Rescaled, "$close");
    assert!(
        answer["with_value"].as_u64() < answer["members"].as_u64(),
        "{answer}"
    );
    assert!(0 < answer["with_value"].as_u64().unwrap(), "{answer}");
}

#[test]
fn the_highest_and_the_lowest_are_those_of_the_values() {
    let market = market();
    let ends = ["high", "low"]
        .map(|side| json!({ "expression": "$close/Ref($close,20)", "side": side, "top_k": 3 }));
    let [high, low] = <[Value; 2]>::try_from(answers(&market, Numeric::Rescaled, &ends)).unwrap();
    let percentiles = |answer: &Value| -> Vec<f64> {
        let rows = answer["candidates"]["rows"].as_array().unwrap();
        rows.iter().map(|row| row[1].as_f64().unwrap()).collect()
    };
    assert!((percentiles(&high)[0] - 100.0).abs() < 1e-9 && percentiles(&low)[0].abs() < 1e-9);
    assert!(percentiles(&high).is_sorted_by(|left, right| left >= right));
    assert!(percentiles(&low).is_sorted());
    // which stock it is, by its bars
    let day = market.day_at(AS_OF).unwrap();
    let gain = |name| {
        let close = |session: usize| Some(market.bar(name, market.day_at(session)?)?.adjusted_close());
        Some(close(AS_OF)? / close(AS_OF - 20)?)
    };
    let view = market.as_of(day);
    let best = view
        .members()
        .filter_map(|name| Some((name, gain(name)?)))
        .max_by(|left, right| left.1.total_cmp(&right.1))
        .unwrap();
    let shown = mask(&market, Numeric::Rescaled).asset(best.0).to_inline();
    assert_eq!(high["candidates"]["rows"][0][0], shown);
}

#[test]
fn a_step_takes_eight_formulas_each_as_often_as_it_likes() {
    let market = market();
    let of = |place: usize, top_k: usize| json!({ "expression": format!("Mean($close,{})", place + 1), "side": "low", "top_k": top_k });
    let mut calls: Vec<Value> = (0..8).map(|place| of(place, 3)).collect();
    calls.extend([
        of(2, 5),
        of(8, 3),
        json!({ "expression": "Mean( $close , 3 )", "side": "high" }),
    ]);
    let codes: Vec<String> = answers(&market, Numeric::Exact, &calls)
        .iter()
        .map(|answer| code(answer).to_owned())
        .collect();
    let (refused, rest): (Vec<usize>, Vec<usize>) =
        (0..codes.len()).partition(|place| !codes[*place].is_empty());
    assert_eq!((refused, rest.len()), (vec![9], 10));
    assert_eq!(codes[9], "too_many_formulas");
}

#[test]
fn what_is_wrong_with_a_formula_is_said_by_its_code_and_not_in_its_words() {
    let market = market();
    for (expression, fault) in [
        ("Ref($close,-1)/$close", "look_ahead"),
        ("Delta($close,-2)", "look_ahead"),
        ("$factor", "unknown_field"),
        ("$sh600519", "unknown_field"),
        ("ChangeInstrument('SH600519',$close)", "names_a_code"),
        ("Mask($close,'SH600519')/$close", "names_a_code"),
        ("Mean($close", "syntax"),
        ("SH600519($close,5)", "unknown_operator"),
        ("9**9**9*$close", "number"),
        ("12.34", "not_a_series"),
        ("$open>1>2", "chained_comparison"),
    ] {
        let answer = asked(&market, Numeric::Rescaled, expression);
        assert_eq!(code(&answer), fault, "{expression}: {answer}");
        assert!(!answer.to_string().to_lowercase().contains("600519"), "{answer}");
        assert_eq!(answer["errors"][0]["pointer"], "/expression", "{answer}");
    }
    for (arguments, fault) in [
        (
            json!({ "expression": "$close", "side": "high", "top_k": 31 }),
            "out_of_range",
        ),
        (json!({ "expression": "$close" }), "missing"),
        (json!({ "expression": "", "side": "high" }), "syntax"),
        (json!({ "expression": "$close", "side": "both" }), "unknown_value"),
    ] {
        let answer = answers(&market, Numeric::Rescaled, std::slice::from_ref(&arguments)).remove(0);
        assert_eq!(code(&answer), fault, "{arguments}: {answer}");
    }
}

#[test]
fn the_tool_is_in_no_set_that_does_not_ask_for_it_and_silent_where_no_bars_are_shown() {
    let market = market();
    assert_eq!(
        code(&asked(&market, Numeric::Ranked, "$close")),
        "formulas_hidden"
    );
    for numeric in Numeric::ALL {
        assert_eq!(numeric.takes_formulas(), WITH_FORMULAS.contains(&numeric));
    }
    let name = Tool::ScreenByExpression.name();
    let has_it = |toolbox: &Toolbox| toolbox.read_only_specs().iter().any(|spec| spec.name == name);
    assert!(!has_it(&Toolbox::new().unwrap()) && has_it(&Toolbox::of(&limits()).unwrap()));
    assert_eq!(
        Toolbox::of(&limits()).unwrap().specs().len(),
        Toolbox::new().unwrap().specs().len() + 1
    );
}
