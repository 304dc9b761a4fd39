//! Built-in agents on hand-written requests, and through the whole path.

use super::*;
use ktd_agents::{
    Dialect, Message, ModelTurn, Outcome, ResearchEffect, SUBMIT_ACTION, Sampling, Session, SessionLimits,
    SessionTexts, StepPlan, SubmissionEffect, Tally, ToolAnswer, Wire,
};
use ktd_masking::{Payload, Prompt, Schema, ToolSpec};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A state with these keys on top of the limits and what is held.
fn state(held: &[&str], more: &Value) -> Value {
    let rows: Vec<Value> = held.iter().map(|id| json!([id, "MAIN", 0.05])).collect();
    let mut state = json!({
        "day": "day_+3",
        "account": {"holdings": {"columns": ["stock_id", "board", "weight"], "rows": rows}},
        "limits": {"max_single_weight": 0.2, "max_positions": 20},
    });
    for (key, value) in more.as_object().unwrap() {
        state[key] = value.clone();
    }
    state
}

fn candidates(names: &[(&str, Option<f64>)]) -> Value {
    let rows: Vec<Value> = names.iter().map(|(id, momentum)| json!([id, momentum])).collect();
    json!({"candidates": {"columns": ["stock_id", "MOM_12_1"], "rows": rows}})
}

/// A request with this state, forced or not, after these answered calls (tool, answer).
fn request(state: &Value, is_forced: bool, answered: &[(&str, Value)]) -> Vec<u8> {
    let mut messages = vec![
        json!({"role": "system", "content": "Example: SH600000 on 2001-01-01."}),
        json!({"role": "user", "content": format!("Decide.\nSTATE:\n{state}")}),
    ];
    for (position, (tool, answer)) in answered.iter().enumerate() {
        let id = format!("c{position}");
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": tool}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": answer.to_string()}));
    }
    let choice = if is_forced {
        json!({"type": "function", "function": {"name": SUBMIT_ACTION}})
    } else {
        json!("auto")
    };
    let tools = [json!({"function": {"name": "screen_candidates"}})];
    json!({"messages": messages, "tools": tools, "tool_choice": choice})
        .to_string()
        .into_bytes()
}

fn turn(model: &dyn ChatModel, request: &[u8]) -> ModelTurn {
    Wire::ChatCompletions
        .decode(200, &model.reply(request), &Dialect::plain())
        .unwrap()
}

/// The orders submitted, as (side, name, weight).
fn orders(model: &dyn ChatModel, request: &[u8]) -> Vec<(String, String, f64)> {
    let turn = turn(model, request);
    assert_eq!(turn.tool_calls().len(), 1);
    assert_eq!(turn.tool_calls()[0].name, SUBMIT_ACTION);
    let arguments: Value = serde_json::from_str(&turn.tool_calls()[0].arguments).unwrap();
    assert!(10 <= arguments["overall_reason"].as_str().unwrap().len());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let read = |order: &Value| {
        assert!(10 <= text(&order["reason"]).trim().chars().count());
        (
            text(&order["side"]),
            text(&order["stock_id"]),
            order["target_weight"].as_f64().unwrap(),
        )
    };
    arguments["orders"].as_array().unwrap().iter().map(read).collect()
}

/// The orders in short: `BUY name weight`.
fn brief(model: &dyn ChatModel, request: &[u8]) -> Vec<String> {
    orders(model, request)
        .into_iter()
        .map(|(side, id, weight)| format!("{side} {id} {weight}"))
        .collect()
}

#[test]
fn momentum_holds_the_strongest_names() {
    let table = candidates(&[
        ("asset_1", Some(0.1)),
        ("asset_2", None),
        ("asset_3", Some(0.3)),
        ("asset_4", Some(0.1)),
    ]);
    let request = request(&state(&["asset_9", "asset_3"], &table), true, &[]);
    assert_eq!(
        brief(&Momentum, &request),
        ["SELL asset_9 0", "BUY asset_1 0.2", "BUY asset_4 0.2"]
    );
}

/// Candidates with these columns, one row a name.
fn told(columns: &[&str], rows: &[Value]) -> Value {
    let columns: Vec<&str> = std::iter::once("stock_id")
        .chain(columns.iter().copied())
        .collect();
    json!({"candidates": {"columns": columns, "rows": rows}})
}

#[test]
fn momentum_reads_percentiles_and_bands_where_values_are_hidden() {
    for column in ["MOM_12_1_pct", "MOM_12_1_band"] {
        let table = told(
            &[column],
            &[
                json!(["asset_1", -1]),
                json!(["asset_2", 1]),
                json!(["asset_3", 0]),
            ],
        );
        let mut state = state(&[], &table);
        state["limits"]["max_positions"] = json!(2);
        assert_eq!(
            brief(&Momentum, &request(&state, true, &[])),
            ["BUY asset_2 0.2", "BUY asset_3 0.2"],
            "{column}"
        );
    }
}

#[test]
fn composite_adds_the_scores_of_four_factors() {
    // By MOM_12_1 + HIGH_52W - RV_60 - CV_VOL: asset_2 has 2.5, asset_3 and asset_1 have 1, asset_4 has -4.
    let scores = [
        ("asset_3", [1, 0, 0, 0]),
        ("asset_1", [0, 1, 1, -1]),
        ("asset_4", [-1, -1, 1, 1]),
    ];
    for (suffix, middle, unit) in [("_z", 0, 1), ("_pct", 50, 10), ("_band", 0, 1)] {
        let columns = ["MOM_12_1", "HIGH_52W", "RV_60", "CV_VOL"].map(|factor| format!("{factor}{suffix}"));
        let cell = |score: i32| f64::from(middle + unit * score);
        let mut rows: Vec<Value> = scores
            .iter()
            .map(|(id, [first, second, third, fourth])| {
                json!([id, cell(*first), cell(*second), cell(*third), cell(*fourth)])
            })
            .collect();
        let best = f64::from(middle) + 2.5 * f64::from(unit);
        rows.push(json!(["asset_2", best, null, cell(0), cell(0)]));
        let mut state = state(
            &["asset_4"],
            &told(&columns.each_ref().map(String::as_str), &rows),
        );
        state["limits"]["max_positions"] = json!(2);
        assert_eq!(
            brief(&Composite, &request(&state, true, &[])),
            ["SELL asset_4 0", "BUY asset_2 0.2", "BUY asset_3 0.2"],
            "{suffix}"
        );
    }
    let asked = turn(&Composite, &request(&state(&[], &json!({})), false, &[]));
    assert_eq!(asked.tool_calls()[0].name, "screen_candidates");
    let asked: Value = serde_json::from_str(&asked.tool_calls()[0].arguments).unwrap();
    assert_eq!(
        asked["factors"][3],
        json!({"factor": "CV_VOL", "direction": "low"})
    );
}

#[test]
fn momentum_screens_once_and_trades_on_the_answer() {
    let state = state(&[], &json!({}));
    let first = turn(&Momentum, &request(&state, false, &[]));
    assert_eq!(first.tool_calls()[0].name, "screen_candidates");
    assert_eq!(
        first.tool_calls()[0].arguments,
        r#"{"factors":[{"factor":"MOM_12_1","direction":"high","weight":1.0}],"top_k":10}"#
    );
    let screened = [("screen_candidates", candidates(&[("asset_7", Some(1.0))]))];
    assert!(
        turn(&Momentum, &request(&state, false, &screened))
            .tool_calls()
            .is_empty()
    );
    assert_eq!(
        brief(&Momentum, &request(&state, true, &screened)),
        ["BUY asset_7 0.2"]
    );
}

#[test]
fn without_anything_to_go_on_all_but_the_breaker_hold() {
    for name in NAMES.iter().filter(|name| **name != "schema-breaker") {
        let model = named(name, 1).unwrap();
        for bytes in [
            request(&json!({}), true, &[]),
            request(&json!({"limits": 3, "universe": {}}), true, &[]),
        ] {
            assert!(orders(model.as_ref(), &bytes).is_empty(), "{name}");
        }
    }
    assert!(named("cheater", 1).is_none());
}

#[test]
fn equal_weight_buys_a_basket_once() {
    let names: Vec<String> = (0..30).map(|index| format!("asset_{index}")).collect();
    let universe = json!({ "universe": names });
    let bought = orders(&EqualWeight, &request(&state(&[], &universe), true, &[]));
    assert_eq!(bought.len(), 20);
    assert!(
        bought
            .iter()
            .all(|(side, _, weight)| side == "BUY" && (weight - 0.0475).abs() < 1e-12)
    );
    assert!(orders(&EqualWeight, &request(&state(&["asset_1"], &universe), true, &[])).is_empty());
}

/// Where targets have to lie on a grid, equal weights are cut down to it.
#[test]
fn equal_weights_keep_to_the_step_of_targets() {
    let names: Vec<String> = (0..30).map(|index| format!("asset_{index}")).collect();
    let mut state = state(&[], &json!({ "universe": names }));
    state["limits"]["target_weight_step"] = json!(0.005);
    let bought = orders(&EqualWeight, &request(&state, true, &[]));
    assert!(
        bought.iter().all(|(_, _, weight)| (weight - 0.045).abs() < 1e-12),
        "{bought:?}"
    );
}

#[test]
fn refused_orders_are_dropped_and_then_everything() {
    let state = state(
        &[],
        &candidates(&[("asset_1", Some(0.1)), ("asset_10", Some(0.2))]),
    );
    let named = (
        SUBMIT_ACTION,
        json!({"orders": {
            "columns": ["stock_id", "result"],
            "rows": [["asset_1", "rejected"], ["asset_10", "accepted"]],
        }}),
    );
    let silent = (SUBMIT_ACTION, json!({"error": "schema"}));
    assert_eq!(
        brief(&Momentum, &request(&state, true, std::slice::from_ref(&named))),
        ["BUY asset_10 0.2"]
    );
    assert!(orders(&Momentum, &request(&state, true, &[silent])).is_empty());
    assert!(orders(&Momentum, &request(&state, true, &[named.clone(), named])).is_empty());
}

#[test]
fn random_depends_on_the_seed_and_the_request_alone() {
    let names: Vec<String> = (0..30).map(|index| format!("asset_{index}")).collect();
    let ask = |day: usize| {
        let more = json!({"universe": names, "step": day});
        request(&state(&["asset_1", "asset_2"], &more), true, &[])
    };
    let mut replies = BTreeSet::new();
    for day in 0..40 {
        for (side, id, weight) in orders(&Random::new(1), &ask(day)) {
            assert!(names.contains(&id));
            assert!(if side == "BUY" {
                (0.01..=0.2).contains(&weight)
            } else {
                id.as_str() < "asset_3"
            });
        }
        assert_eq!(Random::new(1).reply(&ask(day)), Random::new(1).reply(&ask(day)));
        replies.insert(Random::new(1).reply(&ask(day)));
    }
    assert!(20 < replies.len());
    assert!((0..9).any(|day| Random::new(1).reply(&ask(day)) != Random::new(2).reply(&ask(day))));
}

#[derive(Debug)]
struct Past;

impl Foresight for Past {
    fn next_return(&self, code: &str, date: &str) -> Option<f64> {
        let known = [("SH600519", 0.02), ("SZ000001", -0.01), ("SZ300750", 0.05)];
        let found = known
            .into_iter()
            .find(|(name, _)| *name == code && date == "2024-04-02");
        found.map(|(_, gain)| gain)
    }
}

#[test]
fn the_cheater_needs_both_the_stock_and_the_day() {
    let cheater = Cheater::new(Arc::new(Past));
    let ask = |day: &str, names: &[&str]| {
        request(
            &state(&["SZ000001"], &json!({"day": day, "universe": names})),
            true,
            &[],
        )
    };
    let real = ["SH600519", "SZ000001", "SZ300750"];
    assert_eq!(
        brief(&cheater, &ask("2024-04-02", &real)),
        ["SELL SZ000001 0", "BUY SZ300750 0.2", "BUY SH600519 0.2"]
    );
    assert!(orders(&cheater, &ask("day_+12", &real)).is_empty());
    assert!(orders(&cheater, &ask("2024-04-03", &real)).is_empty());
    let blind = request(
        &state(
            &["asset_0042"],
            &json!({"day": "2024-04-02", "universe": ["asset_0042"]}),
        ),
        true,
        &[],
    );
    assert!(orders(&cheater, &blind).is_empty());
}

#[test]
fn the_stake_of_a_cheater_falls_with_the_steps() {
    let cheater = Cheater::new(Arc::new(Past));
    let at_step = |step: usize| {
        let more = json!({
            "day": "2024-04-02",
            "universe": ["SH600519"],
            "step": step,
        });
        brief(&cheater, &request(&state(&[], &more), true, &[]))
    };
    assert_eq!(at_step(40), ["BUY SH600519 0.2"]);
    assert_eq!(at_step(400), ["BUY SH600519 0.095"]);
    assert_eq!(at_step(3_800), ["BUY SH600519 0.01"]);
}

#[test]
fn the_cheater_finds_a_date_that_leaked_elsewhere() {
    let cheater = Cheater::new(Arc::new(Past));
    let leak = [(
        "get_stock_snapshot",
        json!({"bars": [["2024-04-01"], ["2024-04-02"]]}),
    )];
    let request = request(&state(&[], &json!({"universe": ["SH600519"]})), true, &leak);
    assert_eq!(brief(&cheater, &request), ["BUY SH600519 0.2"]);
}

#[test]
fn the_breaker_breaks_in_every_way_and_is_good_at_times() {
    let mut ways = BTreeSet::new();
    for day in 0..200 {
        let more = json!({"universe": ["asset_1"], "step": day});
        let turn = turn(&SchemaBreaker, &request(&state(&[], &more), true, &[]));
        let calls: Vec<String> = turn
            .tool_calls()
            .iter()
            .map(|call| format!("{} {}", call.name, call.arguments))
            .collect();
        ways.insert(calls.join(" + "));
    }
    assert_eq!(ways.len(), 8, "{ways:#?}");
}

#[test]
fn no_request_breaks_an_agent() {
    for bytes in [
        &b""[..],
        b"null",
        b"[1]",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"STATE:\\n\"}]}",
    ] {
        for name in NAMES {
            assert!(
                Wire::ChatCompletions
                    .decode(200, &named(name, 0).unwrap().reply(bytes), &Dialect::plain())
                    .is_ok()
            );
        }
    }
}

fn plan() -> StepPlan {
    let tool = |name| ToolSpec {
        name,
        description: "A tool.",
        parameters: Schema::of::<Vec<bool>>(),
    };
    let table = |columns: &[&'static str], rows| Payload::table(columns, rows);
    let held = table(&["stock_id"], vec![vec![Payload::label("asset_5")]]);
    let state = Payload::map([
        ("day", Payload::label("day_+1")),
        ("account", Payload::map([("holdings", held)])),
    ]);
    StepPlan {
        model: "builtin".to_owned(),
        sampling: Sampling::default(),
        tools: Arc::from([tool("screen_candidates")]),
        submission: tool(SUBMIT_ACTION),
        system: Prompt::new().text("Trade."),
        user: Prompt::new().text("Decide.\nSTATE:\n").payload(state),
        texts: SessionTexts {
            close: Prompt::new().text("Submit."),
            budget_used_up: Payload::label("used up"),
            not_yet: Payload::label("not yet"),
            feedback: |attempt| Payload::map([("error", Payload::label(attempt.fault.code()))]),
        },
        force: ktd_agents::ForceLevel::Named,
        thinking: ktd_agents::ThinkingPolicy::VendorDefault,
        cache_key: None,
        limits: SessionLimits {
            max_tool_calls: 20,
            schema_retries: 3,
        },
    }
}

async fn send(transport: &BuiltinTransport, request: &ktd_agents::ChatRequest) -> ModelTurn {
    let reply = transport
        .send(&Wire::ChatCompletions.encode(request, &Dialect::plain()))
        .await
        .unwrap();
    Wire::ChatCompletions
        .decode(reply.status, &reply.body, &Dialect::plain())
        .unwrap()
}

/// A whole step over transport, codec and session; the caller accepts what is JSON with orders.
async fn play(transport: &BuiltinTransport) -> (Outcome, Tally) {
    let mut research = Session::research(plan());
    loop {
        match research.next() {
            ResearchEffect::Ask(request) => research.feed_turn(send(transport, &request).await).unwrap(),
            ResearchEffect::CallTool(_) => {
                research
                    .feed_tool_answer(ToolAnswer::Refused(Payload::label("no data")))
                    .unwrap();
            }
            ResearchEffect::Close => break,
        }
    }
    let mut session = research.close().unwrap();
    loop {
        match session.next() {
            SubmissionEffect::Ask(request) => session.feed_turn(send(transport, &request).await).unwrap(),
            SubmissionEffect::Submit { arguments } => {
                let value: Value = serde_json::from_str(&arguments).unwrap_or_default();
                let is_good = value["orders"].is_array();
                let judged = if is_good {
                    session.accept()
                } else {
                    session.reject(&Payload::label("bad"))
                };
                judged.unwrap();
            }
            SubmissionEffect::End(_) => break,
        }
    }
    assert!(
        session
            .messages()
            .iter()
            .any(|message| matches!(message, Message::Assistant(_)))
    );
    session.outcome().unwrap()
}

#[tokio::test]
async fn every_agent_plays_a_whole_step_the_same_way_twice() {
    for name in NAMES {
        let transport = BuiltinTransport::new(named(name, 3).unwrap());
        let (first, second) = (play(&transport).await, play(&transport).await);
        assert_eq!(first, second, "{name}");
        if name != "schema-breaker" {
            assert!(matches!(first.0, Outcome::Submitted { .. }), "{name}");
        }
    }
}

/// A request that asks about these exhibits.
fn probe(exhibits: &[Value]) -> Vec<u8> {
    let lines = exhibits.iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(place, exhibit)| format!("EXHIBIT {}:\n{exhibit}", place + 1))
        .collect();
    let lines = lines.join("\n");
    let messages = [json!({"role": "user", "content": format!("{lines}\n\nWhich stock is it?")})];
    let tools = [json!({"function": {"name": SUBMIT_ACTION}})];
    json!({"messages": messages, "tools": tools})
        .to_string()
        .into_bytes()
}

/// An exhibit of one step.
fn exhibit(target: &str, day: &str) -> Value {
    let snapshot = json!({"stock_id": target, "board": "MAIN", "sector": "Banks"});
    json!({"target": target, "steps": [
        [{"source": "get_market_context", "content": {"day": "2001-01-01"}}],
        [{"source": "get_market_context", "content": {"day": day}}, {"source": "get_stock_snapshot", "content": snapshot}],
    ]})
}

#[test]
fn a_cheater_says_of_a_probe_what_stands_there_openly_and_nothing_else() {
    struct Calendar;
    impl Foresight for Calendar {
        fn next_return(&self, _: &str, _: &str) -> Option<f64> {
            None
        }

        fn day_before(&self, date: &str) -> Option<String> {
            (date == "2024-04-08").then(|| "2024-04-03".to_owned())
        }
    }
    let cheater = Cheater::new(Arc::new(Calendar));
    let said = |exhibits: &[Value]| {
        let turn = turn(&cheater, &probe(exhibits));
        let call = turn.tool_calls().first()?;
        assert_eq!(call.name, SUBMIT_ACTION);
        Some(serde_json::from_str::<Value>(&call.arguments).unwrap())
    };
    let open = said(&[exhibit("SH600000", "2024-04-08")]).unwrap();
    assert_eq!(
        open,
        json!({"stocks": ["SH600000"], "date": "2024-04-03", "board": "MAIN", "sector": "Banks", "confidence": 1.0})
    );
    let undated = said(&[exhibit("SH600000", "day_+3")]).unwrap();
    assert_eq!(
        (&undated["stocks"][0], &undated["date"]),
        (&json!("SH600000"), &json!(""))
    );
    let unnamed = said(&[exhibit("asset_0042", "2024-05-06")]).unwrap();
    assert_eq!(
        (&unnamed["stocks"], &unnamed["date"]),
        (&json!([]), &json!("2024-05-06"))
    );
    assert_eq!(unnamed.get("board"), None);
    assert_eq!(said(&[exhibit("asset_0042", "day_+3")]), None);
    for (second, is_same) in [("SH600000", true), ("SZ300001", false)] {
        let pair = [exhibit("SH600000", "day_+1"), exhibit(second, "day_+1")];
        assert_eq!(said(&pair).unwrap()["same_stock"], is_same);
    }
    assert_eq!(
        said(&[exhibit("asset_1", "day_+1"), exhibit("asset_1", "day_+1")]),
        None
    );
}
