//! Sessions driven by scripted turns.

use super::*;
use crate::{Dialect, ForceLevel, ThinkingPolicy, Wire};
use ktd_masking::{Payload, Prompt};
use std::collections::BTreeSet;

/// A turn with these calls (name, arguments), as a provider would send it.
fn turn_with(calls: &[(&str, &str)], content: &str, finish: &str) -> ModelTurn {
    let calls: Vec<String> = calls
        .iter()
        .enumerate()
        .map(|(position, (name, arguments))| {
            let (name, arguments) = (
                serde_json::to_string(name).unwrap(),
                serde_json::to_string(arguments).unwrap(),
            );
            format!(r#"{{"id":"c{position}","type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#)
        })
        .collect();
    let body = format!(
        r#"{{"choices":[{{"finish_reason":"{finish}","message":{{"role":"assistant","content":{},"tool_calls":[{}]}}}}],"usage":{{"prompt_tokens":1,"completion_tokens":1}}}}"#,
        serde_json::to_string(content).unwrap(),
        calls.join(",")
    );
    Wire::ChatCompletions
        .decode(200, body.as_bytes(), &Dialect::plain())
        .unwrap()
}

fn calls(names: &[&str]) -> ModelTurn {
    let calls: Vec<(&str, &str)> = names.iter().map(|name| (*name, "{}")).collect();
    turn_with(&calls, "", "tool_calls")
}

fn prose() -> ModelTurn {
    turn_with(&[], "I have seen enough.", "stop")
}

fn feedback(attempt: Attempt) -> Payload {
    Payload::map([
        ("error", Payload::label(attempt.fault.code())),
        ("is_last", Payload::bool(attempt.number == attempt.of)),
    ])
}

/// The tool that submits in these tests.
const SUBMIT: &str = "hand_in";

fn tool(name: &'static str) -> ktd_masking::ToolSpec {
    ktd_masking::ToolSpec {
        name,
        description: "",
        parameters: ktd_masking::Schema::of::<Vec<bool>>(),
    }
}

fn plan(max_tool_calls: u32, schema_retries: u32) -> StepPlan {
    StepPlan {
        model: "m".to_owned(),
        sampling: crate::Sampling::default(),
        tools: Arc::from([tool("risk_check")]),
        submission: tool(SUBMIT),
        force: ForceLevel::Named,
        thinking: ThinkingPolicy::VendorDefault,
        cache_key: None,
        system: Prompt::new().text("rules"),
        user: Prompt::new().text("state"),
        texts: SessionTexts {
            close: Prompt::new().text("submit now"),
            budget_used_up: Payload::label("budget used up"),
            not_yet: Payload::label("not yet"),
            feedback,
        },
        limits: SessionLimits {
            max_tool_calls,
            schema_retries,
        },
    }
}

fn data() -> ToolAnswer {
    ToolAnswer::Data(Payload::label("data"))
}

/// The conversation in short, one word a message.
fn shape<P>(session: &Session<P>) -> Vec<String> {
    session
        .messages()
        .iter()
        .map(|message| match message {
            Message::System(_) => "system".to_owned(),
            Message::User(prompt) => format!("user:{}", prompt.render()),
            Message::Assistant(turn) => format!("assistant:{}", turn.tool_calls().len()),
            Message::Tool { call_id, content } => format!("{}={}", call_id.as_str(), content.to_inline()),
        })
        .collect()
}

/// Research with no turn in it, ended by prose.
fn at_submission(retries: u32) -> Session<Submission> {
    let mut research = Session::research(plan(5, retries));
    research.feed_turn(prose()).unwrap();
    research.close().unwrap()
}

#[test]
fn a_step_goes_from_research_to_an_accepted_submission() {
    let mut research = Session::research(plan(5, 3));
    let ResearchEffect::Ask(request) = research.next() else {
        panic!("asks first")
    };
    assert_eq!(request.tool_choice, ToolChoice::Auto);
    research
        .feed_turn(calls(&["screen_candidates", "risk_check"]))
        .unwrap();
    for name in ["screen_candidates", "risk_check"] {
        let ResearchEffect::CallTool(call) = research.next() else {
            panic!("calls {name}")
        };
        assert_eq!(call.name, name);
        research.feed_tool_answer(data()).unwrap();
    }
    research.feed_turn(prose()).unwrap();
    let mut session = research.close().unwrap();
    let SubmissionEffect::Ask(request) = session.next() else {
        panic!("asks for the submission")
    };
    assert_eq!(request.tool_choice, ToolChoice::Named(SUBMIT));
    session
        .feed_turn(turn_with(&[(SUBMIT, r#"{"orders":[]}"#)], "", "stop"))
        .unwrap();
    assert!(
        matches!(session.next(), SubmissionEffect::Submit { arguments } if arguments == r#"{"orders":[]}"#)
    );
    session.accept().unwrap();
    assert_eq!(
        shape(&session),
        [
            "system",
            "user:state",
            "assistant:2",
            "c0=data",
            "c1=data",
            "assistant:0",
            "user:submit now",
            "assistant:1"
        ]
    );
    let (outcome, tally) = session.outcome().unwrap();
    assert_eq!(
        outcome,
        Outcome::Submitted {
            arguments: r#"{"orders":[]}"#.to_owned(),
            is_repaired: false,
        }
    );
    assert_eq!(
        (tally.turns, tally.tool_calls_answered, tally.submissions),
        (3, 2, 1)
    );
    assert!(tally.faults.is_empty());
}

#[test]
fn calls_beyond_the_budget_are_answered_and_end_research() {
    let mut research = Session::research(plan(2, 0));
    research.feed_turn(calls(&["a", "b", "c"])).unwrap();
    research.feed_tool_answer(data()).unwrap();
    research
        .feed_tool_answer(ToolAnswer::Refused(Payload::label("no")))
        .unwrap();
    assert!(matches!(research.next(), ResearchEffect::Close));
    assert_eq!(
        shape(&research)[2..],
        ["assistant:3", "c0=data", "c1=no", "c2=budget used up"]
    );
    let tally = research.tally();
    assert_eq!(
        (
            tally.tool_calls_answered,
            tally.tool_calls_refused,
            tally.tool_calls_over_budget
        ),
        (1, 1, 1)
    );
    assert_eq!(tally.count(ModelFault::BadToolCall), 1);
}

#[test]
fn calls_beyond_what_a_reply_may_hold_are_counted_and_never_go_back() {
    let many: Vec<&str> = std::iter::repeat_n("a", 10_000).collect();
    let dropped = 10_000 - crate::CALLS_PER_REPLY_MAX;
    let mut research = Session::research(plan(2, 1));
    research.feed_turn(calls(&many)).unwrap();
    while let ResearchEffect::CallTool(_) = research.next() {
        research.feed_tool_answer(data()).unwrap();
    }
    let tally = research.tally();
    assert_eq!(tally.count(ModelFault::TooManyCalls), 1);
    assert_eq!(tally.tool_calls_dropped, u64::try_from(dropped).unwrap());
    let mut session = research.close().unwrap();
    let SubmissionEffect::Ask(request) = session.next() else {
        panic!("asks for the submission")
    };
    assert_answered(&request);
    let bytes = Wire::ChatCompletions.encode(&request, &Dialect::plain());
    assert!(bytes.body().len() < 20_000, "{}", bytes.body().len());
    session.feed_turn(calls(&many)).unwrap();
    let SubmissionEffect::Ask(request) = session.next() else {
        panic!("asks again")
    };
    assert_answered(&request);
    assert_eq!(session.tally().count(ModelFault::TooManyCalls), 2);
}

#[test]
fn an_early_submission_is_a_wish_and_other_calls_are_still_answered() {
    let mut research = Session::research(plan(5, 3));
    research.feed_turn(calls(&[SUBMIT, "a"])).unwrap();
    research.feed_tool_answer(data()).unwrap();
    assert!(matches!(research.next(), ResearchEffect::Close));
    assert_eq!(shape(&research)[2..], ["assistant:2", "c0=not yet", "c1=data"]);
    assert_eq!(research.tally().early_submissions, 1);
    assert_eq!(research.tally().submissions, 0);
}

#[test]
fn what_is_no_submission_is_fed_back_until_the_retries_are_used_up() {
    let mut session = at_submission(3);
    session.feed_turn(prose()).unwrap();
    session.feed_turn(calls(&["risk_check"])).unwrap();
    session.feed_turn(calls(&[SUBMIT, SUBMIT])).unwrap();
    assert_eq!(session.retries_left(), 0);
    session
        .feed_turn(turn_with(&[(SUBMIT, "{}")], "", "stop"))
        .unwrap();
    session.reject(&Payload::label("bad")).unwrap();
    insta::assert_snapshot!(shape(&session)[4..].join("\n"), @r#"
    assistant:0
    user:{"error":"no_tool_call","is_last":false}
    assistant:1
    c0={"error":"wrong_tool","is_last":false}
    assistant:2
    c0={"error":"multiple_submissions","is_last":false}
    c1={"error":"multiple_submissions","is_last":false}
    assistant:1
    c0=bad
    "#);
    let (outcome, tally) = session.outcome().unwrap();
    assert_eq!(
        outcome,
        Outcome::Fallback {
            last_fault: ModelFault::Rejected
        }
    );
    assert_eq!(tally.faults.values().sum::<u32>(), 4);
}

#[test]
fn cut_and_declined_turns_have_their_own_kind() {
    let mut session = at_submission(9);
    session.feed_turn(turn_with(&[], "I would", "length")).unwrap();
    session
        .feed_turn(turn_with(&[], "I cannot", "content_filter"))
        .unwrap();
    session
        .feed_turn(turn_with(&[(SUBMIT, r#"{"orders":["#)], "", "length"))
        .unwrap();
    session.reject(&Payload::label("cut")).unwrap();
    assert_eq!(session.tally().count(ModelFault::Truncated), 2);
    assert_eq!(session.tally().count(ModelFault::Refusal), 1);
    assert_eq!(session.tally().count(ModelFault::Rejected), 0);
}

#[test]
fn what_is_no_json_is_judged_with_the_rest_and_blamed_as_such() {
    let mut session = at_submission(2);
    session
        .feed_turn(turn_with(&[(SUBMIT, "{'orders': []}")], "", "stop"))
        .unwrap();
    session.reject(&Payload::label("position 1")).unwrap();
    assert_eq!(session.tally().count(ModelFault::ArgumentsMalformed), 1);
    let deep = "[".repeat(100);
    session
        .feed_turn(turn_with(&[(SUBMIT, &deep)], "", "stop"))
        .unwrap();
    assert_eq!(session.tally().count(ModelFault::ArgumentsTooLarge), 1);
    assert!(matches!(session.next(), SubmissionEffect::Ask(_)));
}

#[test]
fn a_refusal_is_asked_once_more_and_then_it_stands() {
    let mut session = at_submission(9);
    for _ in 0..2 {
        session
            .feed_turn(turn_with(&[], "I cannot", "content_filter"))
            .unwrap();
    }
    let last_fault = ModelFault::Refusal;
    assert!(
        matches!(session.next(), SubmissionEffect::End(Outcome::Fallback { last_fault: it }) if it == last_fault)
    );
}

#[test]
fn each_force_level_asks_in_its_own_way() {
    for (force, tools, choice) in [
        (ForceLevel::Named, 2, ToolChoice::Named(SUBMIT)),
        (ForceLevel::Required, 1, ToolChoice::Required),
        (ForceLevel::Auto, 1, ToolChoice::Auto),
        (ForceLevel::Json, 0, ToolChoice::Withdrawn),
        (ForceLevel::Text, 0, ToolChoice::Withdrawn),
    ] {
        let plan = StepPlan {
            force,
            thinking: ThinkingPolicy::ThinkThenForce,
            ..plan(3, 3)
        };
        let research = Session::research(plan.clone());
        let ResearchEffect::Ask(request) = research.next() else {
            panic!("asks");
        };
        assert_eq!((request.tools.len(), request.thinking), (2, Thinking::On));
        let SubmissionEffect::Ask(request) = Session::submission(plan).next() else {
            panic!("asks");
        };
        assert_eq!(
            (request.shown_tools().len(), request.tool_choice),
            (tools, choice),
            "{force}"
        );
        assert_eq!(request.thinking, Thinking::Off);
        let has_format = matches!(&request.reply_format, ReplyFormat::Arguments(tool) if tool.name == SUBMIT);
        assert_eq!(has_format, force == ForceLevel::Json);
    }
}

#[test]
fn text_is_a_submission_only_where_the_level_has_no_calls_or_the_call_was_printed() {
    let submission = |force, text: &str| {
        let plan = StepPlan { force, ..plan(0, 1) };
        let mut session = Session::submission(plan);
        session.feed_turn(turn_with(&[], text, "stop")).unwrap();
        if matches!(session.next(), SubmissionEffect::Submit { .. }) {
            session.accept().unwrap();
        }
        match session.next() {
            SubmissionEffect::End(Outcome::Submitted {
                arguments,
                is_repaired,
            }) => Some((arguments, is_repaired)),
            SubmissionEffect::Ask(_) | SubmissionEffect::Submit { .. } | SubmissionEffect::End(_) => None,
        }
    };
    let bare = r#"{"orders":[]}"#;
    let around = format!("I hold.\n```json\n{bare}\n```");
    let printed = r#"<tool_call>{"name":"hand_in","arguments":{"orders":[]}}</tool_call>"#;
    let orders = |is_repaired| Some((bare.to_owned(), is_repaired));
    assert_eq!(submission(ForceLevel::Json, bare), orders(false));
    assert_eq!(submission(ForceLevel::Text, &around), orders(true));
    assert_eq!(submission(ForceLevel::Auto, printed), orders(true));
    assert_eq!(submission(ForceLevel::Auto, bare), None);
    assert_eq!(submission(ForceLevel::Named, &around), None);
    assert_eq!(submission(ForceLevel::Text, "I hold."), None);
}

#[test]
fn a_blank_turn_is_not_sent_back() {
    let mut session = Session::submission(plan(0, 1));
    session.feed_turn(turn_with(&[], "", "length")).unwrap();
    assert_eq!(
        shape(&session),
        [
            "system",
            "user:state",
            r#"user:{"error":"truncated","is_last":false}"#
        ]
    );
}

#[test]
fn the_same_request_comes_again_until_a_turn_is_fed() {
    let session = at_submission(1);
    let bytes = |effect| match effect {
        SubmissionEffect::Ask(request) => Wire::ChatCompletions.encode(&request, &Dialect::plain()),
        SubmissionEffect::Submit { .. } | SubmissionEffect::End(_) => panic!("asks"),
    };
    assert_eq!(bytes(session.next()), bytes(session.next()));
}

#[test]
fn what_was_not_asked_for_is_refused() {
    let mut research = Session::research(plan(5, 0));
    assert_eq!(research.feed_tool_answer(data()), Err(SessionError::NoCallOpen));
    assert_eq!(research.clone().close().unwrap_err(), SessionError::ResearchOpen);
    research.feed_turn(calls(&["a"])).unwrap();
    assert_eq!(research.feed_turn(prose()), Err(SessionError::NoRequestOpen));
    let mut session = at_submission(0);
    assert_eq!(session.accept(), Err(SessionError::NoSubmissionOpen));
    assert_eq!(
        session.reject(&Payload::null()),
        Err(SessionError::NoSubmissionOpen)
    );
    assert_eq!(session.clone().outcome().unwrap_err(), SessionError::NotEnded);
    session.feed_turn(calls(&[SUBMIT])).unwrap();
    assert_eq!(session.feed_turn(prose()), Err(SessionError::NoRequestOpen));
}

/// Every call of an assistant turn is answered directly after it, in order, before anything else is said.
fn assert_answered(request: &ChatRequest) {
    let mut open: Vec<&str> = Vec::new();
    for message in &request.messages {
        match message {
            Message::Assistant(turn) => {
                assert!(open.is_empty());
                open = turn.tool_calls().iter().map(|call| call.id.as_str()).collect();
            }
            Message::Tool { call_id, .. } => assert_eq!(open.remove(0), call_id.as_str()),
            Message::System(_) | Message::User(_) => assert!(open.is_empty()),
        }
    }
    assert!(open.is_empty());
}

/// What a scripted model does at one request: its calls by index, how it stops, and what the caller thinks of it.
type Move = (Vec<usize>, bool, bool);

const NAMES: [&str; 4] = ["screen_candidates", SUBMIT, "no_such_tool", ""];
const FINISHES: [&str; 2] = ["stop", "length"];

fn turn_of(script: &Move) -> ModelTurn {
    let calls: Vec<(&str, &str)> = script.0.iter().map(|index| (NAMES[*index], "{")).collect();
    turn_with(&calls, "words", FINISHES[usize::from(script.1)])
}

/// Plays a whole step from `script`, endlessly repeated; returns (requests, tools run, submissions judged).
fn play(script: &[Move], max_tool_calls: u32, retries: u32) -> (u32, u32, u32) {
    let mut moves = script.iter().cycle();
    let (mut asks, mut tools, mut submissions) = (0, 0, 0);
    let bound = max_tool_calls + retries + 2;
    let mut research = Session::research(plan(max_tool_calls, retries));
    loop {
        match research.next() {
            ResearchEffect::Ask(request) => {
                assert_answered(&request);
                asks += 1;
                assert!(asks <= bound);
                research.feed_turn(turn_of(moves.next().unwrap())).unwrap();
            }
            ResearchEffect::CallTool(call) => {
                assert_ne!(call.name, SUBMIT);
                tools += 1;
                research.feed_tool_answer(data()).unwrap();
            }
            ResearchEffect::Close => break,
        }
    }
    let mut session = research.close().unwrap();
    let mut script = moves.next().unwrap();
    loop {
        match session.next() {
            SubmissionEffect::Ask(request) => {
                assert_answered(&request);
                assert_eq!(request.tool_choice, ToolChoice::Named(SUBMIT));
                asks += 1;
                assert!(asks <= bound);
                script = moves.next().unwrap();
                session.feed_turn(turn_of(script)).unwrap();
            }
            SubmissionEffect::Submit { .. } => {
                submissions += 1;
                let judged = if script.2 {
                    session.accept()
                } else {
                    session.reject(&Payload::null())
                };
                judged.unwrap();
            }
            SubmissionEffect::End(_) => break,
        }
    }
    let (_, tally) = session.outcome().unwrap();
    assert_eq!((tally.turns, tally.submissions), (asks, submissions));
    assert_eq!(tally.tool_calls_answered, tools);
    (asks, tools, submissions)
}

proptest::proptest! {
    #[test]
    fn any_model_is_brought_to_an_end(
        script in proptest::collection::vec(
            (proptest::collection::vec(0_usize..NAMES.len(), 0..5), proptest::bool::ANY, proptest::bool::ANY),
            1..12,
        ),
        max_tool_calls in 0_u32..6,
        retries in 0_u32..4,
    ) {
        let (asks, tools, submissions) = play(&script, max_tool_calls, retries);
        proptest::prop_assert!(tools <= max_tool_calls);
        proptest::prop_assert!(submissions <= 1 + retries);
        proptest::prop_assert!(asks <= max_tool_calls + 1 + retries);
    }
}

#[test]
fn fault_codes_are_distinct() {
    let all = [
        ModelFault::BadToolCall,
        ModelFault::NoCall,
        ModelFault::WrongTool,
        ModelFault::MultipleCalls,
        ModelFault::TooManyCalls,
        ModelFault::Rejected,
        ModelFault::Truncated,
        ModelFault::Refusal,
    ];
    assert_eq!(
        all.map(ModelFault::code).iter().collect::<BTreeSet<_>>().len(),
        all.len()
    );
}
