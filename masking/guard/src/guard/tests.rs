use super::*;
use ktd_env::{DateSpan, MarketBuilder, PanelOptions, PriceBasis, RawBar, Ticker, VolumeBasis};
use serde_json::json;

/// 2024-01-02 to 2024-06-28, four names.
fn market() -> Market {
    let day = |text: &str| TradeDate::parse(text).unwrap();
    let calendar = ["2024-01-02", "2024-04-01", "2024-06-28"].map(day);
    let mut builder = MarketBuilder::new(PanelOptions {
        basis: PriceBasis::Raw,
        volume: VolumeBasis::Real,
        has_factors: false,
        has_amounts: false,
        calendar: Some(calendar.to_vec()),
    });
    let names: [(&str, &[&str]); 4] = [
        ("SH600519", &["贵州茅台", "Kweichow Moutai"]),
        ("SZ000858", &["五 粮 液", "Wuliangye"]),
        ("SZ000002", &["万  科Ａ", "China  Vanke"]),
        ("SH601318", &["中国平安", "Ping An", "Ping An Insurance"]),
    ];
    for (code, companies) in names {
        let ticker = Ticker::parse(code).unwrap();
        for (number, date) in (1..).zip(calendar) {
            let bar = RawBar {
                close: RawBar::cell("10.00").unwrap(),
                volume: RawBar::cell("100").unwrap(),
                ..RawBar::default()
            };
            builder.add_row("rows", number, ticker, date, &bar).unwrap();
        }
        builder.add_member(ticker, DateSpan::ALWAYS);
        for company in companies {
            builder.add_company_name(ticker, company);
        }
    }
    builder.build().unwrap().0
}

fn guard(level: Level) -> Guard {
    Guard::new(level, &market())
}

fn request(messages: &Value) -> Vec<u8> {
    json!({ "model": "m-2024-04-01", "seed": 600_519, "messages": messages })
        .to_string()
        .into_bytes()
}

/// What the guard of a level finds in a text that the harness says.
fn found(level: Level, text: &str) -> Option<&'static str> {
    let body = request(&json!([{ "role": "user", "content": text }]));
    guard(level).scan(&body).err().map(|finding| finding.kind)
}

const CODES: [&str; 16] = [
    "600519",
    "SH600519",
    "sh600519",
    "Sh600519",
    "600519.SH",
    "600519.XSHG",
    "600519.ss",
    "SH.600519",
    "SH-600519",
    "６００５１９",
    "ＳＨ６００５１９",
    "(600519)",
    "buy 600519,000858 now",
    "600519/000858",
    "code:600519.",
    "代码600519，好",
];

const DATES: [&str; 32] = [
    "2024-04-01",
    "20240401",
    "2024/4/1",
    "2024/04/01",
    "2024.04.01",
    "2024. 4. 1",
    "2024年4月1日",
    "2024年04月01日",
    "2024 年 4 月 1 日",
    "２０２４年４月１日",
    "２０２４-０４-０１",
    "2024-04-01T09:30:00",
    "days 20240401,20240402",
    "1 April 2024",
    "1st of April 2024",
    "1st April, 2024",
    "April 1, 2024",
    "Apr 1, 2024",
    "Apr. 1st 2024",
    "1-Apr-2024",
    "2024 Apr 1",
    "01/04/2024",
    "4/1/2024",
    "1.4.2024",
    "APRIL 2024",
    "Apr 2024",
    "April, 2024",
    "2024年4月",
    "2024-04",
    "2024/04",
    "June 28 2024",
    "2024-01-02",
];

const NAMES: [&str; 13] = [
    "贵州茅台",
    "买入贵州茅台吧",
    "贵州 茅台",
    "五粮液",
    "五 粮 液",
    "万科A",
    "万科Ａ",
    "Kweichow Moutai",
    "KWEICHOW MOUTAI",
    "kweichow  moutai",
    "the Wuliangye group",
    "China Vanke",
    "Ping An Insurances",
];

/// Numbers and words that an honest request holds.
const HONEST: [&str; 24] = [
    "600519.25",
    "0.600519",
    "-0.600519",
    "1,600,519.00",
    "16005190",
    "6005190",
    "60051",
    "20240401.5",
    "0.20240401",
    "20,240,401",
    "2024",
    "step 2024 of 2025",
    "2023-12-29",
    "20230401",
    "2024-07-01",
    "December 2023",
    "2024-13-01",
    "20241301",
    "weights 0.2024, 0.0401",
    "marched 2024 miles",
    "600518",
    "a ratio of 2024.04",
    "S0042 in month 4",
    "wuliangyes",
];

#[test]
fn every_spelling_of_a_code_is_found() {
    for text in CODES {
        for level in [Level::Blinded, Level::StockBlind] {
            assert_eq!(found(level, text), Some("code"), "{text} under {level:?}");
        }
    }
}

#[test]
fn every_spelling_of_a_date_is_found() {
    for text in DATES {
        for level in [Level::Blinded, Level::DateBlind] {
            assert_eq!(found(level, text), Some("date"), "{text} under {level:?}");
        }
    }
}

#[test]
fn every_spelling_of_a_company_is_found() {
    for text in NAMES {
        for level in [Level::Blinded, Level::StockBlind] {
            let kind = found(level, text);
            assert_eq!(kind, Some("company name"), "{text} under {level:?}");
        }
    }
}

#[test]
fn a_level_is_not_guarded_for_what_it_shows() {
    for text in CODES.iter().chain(&NAMES) {
        assert_eq!(found(Level::DateBlind, text), None, "{text}");
        assert_eq!(found(Level::Bright, text), None, "{text}");
    }
    for text in DATES {
        assert_eq!(found(Level::StockBlind, text), None, "{text}");
        assert_eq!(found(Level::Bright, text), None, "{text}");
    }
}

#[test]
fn honest_text_raises_no_alarm() {
    for text in HONEST {
        assert_eq!(found(Level::Blinded, text), None, "{text}");
    }
}

#[test]
fn an_honest_number_raises_no_alarm_wherever_it_stands() {
    let answer = json!({
        "volume": 600_519, "volumes": [600_519, 20_240_401], "nav": 600_519.25, "cash": 20_240_401,
        "table": { "columns": ["rank", "amount"], "rows": [[1, 600_519], [2, 20_240_401]] },
        "weight": 0.600_519, "seed": 600_519,
    });
    let body = request(&json!([
        { "role": "user", "content": format!("STATE:\n{answer}\nGo on.") },
        { "role": "tool", "tool_call_id": "call_1", "content": answer.to_string() },
    ]));
    assert_eq!(guard(Level::Blinded).scan(&body), Ok(()));
}

#[test]
fn a_number_under_the_key_of_an_identifier_is_no_honest_one() {
    for (key, number, kind) in [
        ("stock_id", 600_519, "code"),
        ("symbol", 600_519, "code"),
        ("code", 600_519, "code"),
        ("date", 20_240_401, "date"),
        ("as_of", 20_240_401, "date"),
    ] {
        let answer = json!({ "rows": [{ key: number }] }).to_string();
        assert_eq!(found(Level::Blinded, &answer), Some(kind), "{key}");
    }
}

/// Every place of a request in which the harness speaks, with the pointer that must be told.
fn places(text: &str) -> Vec<(Value, &'static str)> {
    let nested = json!({ "list": [{ "text": json!({ "inner": text }).to_string() }] }).to_string();
    let tool = |description: &str, parameters: Value| {
        json!({ "messages": [], "tools": [{ "type": "function",
        "function": { "name": "t", "description": description, "parameters": parameters } }] })
    };
    let message = |message: Value| json!({ "messages": [{ "role": "system", "content": "x" }, message] });
    vec![
        (
            message(json!({ "role": "user", "content": text })),
            "/messages/1/content",
        ),
        (
            message(json!({ "role": "system", "content": format!("See {text}!") })),
            "/messages/1/content",
        ),
        (
            message(json!({ "role": "user", "content": [{ "type": "text", "text": text }] })),
            "/messages/1/content/0/text",
        ),
        (
            message(
                json!({ "role": "tool", "tool_call_id": "c", "content": json!({ "a": text }).to_string() }),
            ),
            "/messages/1/content",
        ),
        (
            message(json!({ "role": "tool", "tool_call_id": "c", "content": nested })),
            "/messages/1/content",
        ),
        (
            // A tool's answer is the harness's, whatever its keys are called.
            message(json!({ "role": "tool", "content": json!({ "id": text, "model": text }).to_string() })),
            "/messages/1/content",
        ),
        (
            message(
                json!({ "role": "user", "content": json!({ "role": "assistant", "a": text }).to_string() }),
            ),
            "/messages/1/content",
        ),
        (tool(text, json!({})), "/tools/0/function/description"),
        (
            tool("x", json!({ "properties": { "a": { "enum": ["b", text] } } })),
            "/tools/0/function/parameters/properties/a/enum/1",
        ),
        (
            tool("x", json!({ "properties": { "id": { "description": text } } })),
            "/tools/0/function/parameters/properties/id/description",
        ),
    ]
}

#[test]
fn a_leak_is_found_wherever_the_harness_speaks_and_its_place_told() {
    let guard = guard(Level::Blinded);
    for (text, kind) in [
        ("SH600519", "code"),
        ("2024年4月1日", "date"),
        ("贵州茅台", "company name"),
    ] {
        for (body, pointer) in places(text) {
            let finding = guard.scan(body.to_string().as_bytes()).unwrap_err();
            assert_eq!(finding.kind, kind, "{body}");
            // Inside a text that carries JSON the pointer goes on.
            assert!(finding.pointer.starts_with(pointer), "{finding:?} in {body}");
        }
    }
}

#[test]
fn a_key_can_leak_as_well() {
    let answer = json!({ "by_name": { "SH600519": 1 } }).to_string();
    assert_eq!(found(Level::Blinded, &answer), Some("code"));
}

#[test]
fn escaped_text_is_read_as_the_model_will_read_it() {
    let body = br#"{"messages":[{"role":"user","content":"\u8d35\u5dde\u8305\u53f0"}]}"#;
    assert_eq!(guard(Level::Blinded).scan(body).unwrap_err().kind, "company name");
}

#[test]
fn the_models_own_words_and_identities_are_its_own() {
    let call = json!({ "id": "call_600519_20240401", "type": "function",
        "function": { "name": "submit_action", "arguments": "{\"stock_id\":\"SH600519\"}" } });
    let body = request(&json!([
        { "role": "assistant", "content": "This is 贵州茅台 (600519) on 2024-04-01.", "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "call_600519_20240401", "content": "{}" },
    ]));
    assert_eq!(guard(Level::Blinded).scan(&body), Ok(()));
}

#[test]
fn own_words_are_told_from_the_harness_on_every_wire() {
    let leak = "SH600519 on 2024-04-01";
    let own = [
        json!({ "messages": [{ "role": "assistant", "content": [{ "type": "text", "text": leak }] }] }),
        json!({ "input": [{ "type": "function_call", "name": "t", "arguments": leak },
            { "type": "reasoning", "summary": leak }, { "type": "message", "role": "assistant", "content": leak }] }),
        json!({ "contents": [{ "role": "model", "parts": [{ "text": leak }] }] }),
    ];
    for body in own {
        assert_eq!(
            guard(Level::Blinded).scan(body.to_string().as_bytes()),
            Ok(()),
            "{body}"
        );
    }
    let said = [
        json!({ "messages": [{ "role": "user", "content": [{ "type": "tool_result", "content": leak }] }] }),
        json!({ "system": [{ "type": "text", "text": leak }] }),
        json!({ "instructions": leak }),
        json!({ "input": [{ "type": "function_call_output", "call_id": "c", "output": leak }] }),
        json!({ "contents": [{ "role": "user", "parts": [{ "functionResponse": { "name": "t",
            "response": { "id": leak } } }] }] }),
        json!({ "prompt_cache_key": leak }),
        json!({ "tools": [{ "type": "function_call", "role": "assistant", "description": leak }] }),
        json!({ "metadata": { "role": "model", "x": leak } }),
    ];
    for body in said {
        assert!(
            guard(Level::Blinded).scan(body.to_string().as_bytes()).is_err(),
            "{body}"
        );
    }
}

#[test]
fn a_body_that_is_no_json_is_read_as_text() {
    let guard = guard(Level::Blinded);
    assert_eq!(guard.scan(b"buy SH600519").unwrap_err().kind, "code");
    assert_eq!(guard.scan(b"buy S0001"), Ok(()));
}

#[test]
fn codes_that_only_touch_longer_digits_are_none() {
    for text in ["6005191", "1600519", "SH6005190", "600519000000"] {
        assert_eq!(found(Level::Blinded, text), None, "{text}");
    }
}

#[test]
fn a_name_is_looked_for_as_listed_and_as_spoken() {
    let spoken = |name: &str| spellings(name)[1].clone();
    assert_eq!(spoken("五 粮 液"), "五粮液");
    assert_eq!(spoken("新易盛\0\0"), "新易盛");
    assert_eq!(spoken("万  科\u{ff21}"), "万科");
    assert_eq!(spoken("*ST国华"), "国华");
    assert_eq!(spoken("Drought Media"), "drought media");
    assert_eq!(spoken("TCL科技"), "tcl科技");
    assert_eq!(spellings("万  科\u{ff21}")[0], "万科a");
}

#[test]
fn the_cash_of_the_opening_sentence_is_no_code() {
    let text = r#"{"messages":[{"role":"system","content":"You start with 600,000.00 CNY."}]}"#;
    for level in Level::ALL {
        assert_eq!(guard(level).scan(text.as_bytes()), Ok(()));
    }
}

#[test]
fn a_long_text_is_judged_the_same_every_time() {
    let guard = guard(Level::Blinded);
    let clean = "nothing to see here ".repeat(100);
    let leak = format!("{clean} SH600519");
    for _ in 0..3 {
        assert_eq!(
            guard.scan(&request(&json!([{ "role": "user", "content": clean }]))),
            Ok(())
        );
        assert!(
            guard
                .scan(&request(&json!([{ "role": "user", "content": leak }])))
                .is_err()
        );
    }
}

/// What a guard remembers of earlier requests changes no verdict: each request is judged as by a guard that has seen none.
#[test]
fn a_guard_that_remembers_judges_like_a_new_one() {
    let clean = "nothing to see here ".repeat(100);
    let dated = format!("{clean} on 2024-04-01");
    let texts = [
        "hold",
        "S0001",
        "SH600519",
        "2024-04-01",
        "贵州茅台",
        clean.as_str(),
        dated.as_str(),
    ];
    for level in Level::ALL {
        let market = market();
        let remembering = Guard::new(level, &market);
        // Every request comes twice, and after every other one.
        for _ in 0..2 {
            for text in texts {
                for (body, _) in places(text) {
                    let body = body.to_string().into_bytes();
                    let found = remembering.scan(&body);
                    assert_eq!(
                        found,
                        Guard::new(level, &market).scan(&body),
                        "{level:?} {text:?}"
                    );
                    assert_eq!(found, remembering.scan(&body), "{level:?} {text:?}");
                }
            }
        }
    }
}

#[test]
fn a_day_that_is_given_away_passes_and_no_other_day_or_code_does() {
    let own = guard(Level::Blinded).but_day("2024-04-01");
    let scan = |text: &str| {
        let body = request(&json!([{ "role": "user", "content": text }]));
        own.scan(&body).err().map(|finding| finding.kind)
    };
    assert_eq!(scan("{\"given_day\":\"2024-04-01\",\"steps\":[]}"), None);
    assert_eq!(scan("the day is 20240401"), None);
    assert_eq!(scan("2024-04-02"), Some("date"));
    assert_eq!(scan("2024-04-01 and 2024-01-02"), Some("date"));
    assert_eq!(scan("2024-05"), Some("date"));
    assert_eq!(scan("SH600519 on 2024-04-01"), Some("code"));
    assert_eq!(found(Level::Blinded, "2024-04-01"), Some("date"));
}
