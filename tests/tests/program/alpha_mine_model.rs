//! `ktd alpha mine` with `method = "llm"`: a model finds formulas in rounds, recorded and billed, and is shown train figures
//! alone.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_formula_study::mine::{FormulaMining, MinedPool};
use ktd_kit::study::summary_of;
use ktd_kit::vendor::{called, ended};
use ktd_kit::{Folder, Vendor, assert_ok, quiet, refused};
use ktd_study::{StudyError, any};
use serde_json::{Value, json};

/// What the model submits, round by round; the last but one is no answer.
const ROUNDS: [&[&str]; 5] = [
    &[
        "Ref($close,-1)/$close-1",
        "$close/Ref($close,5)-1",
        "ChangeInstrument('SH600519',$close)/$close",
    ],
    &[
        "Mean($volume,5)/Mean($volume,20)",
        "$close / Ref($close,5) - 1",
        "$close-$close",
    ],
    &[
        "($high-$low)/$close",
        "Std($close/Ref($close,1),20)",
        "Mean($close,5",
    ],
    &[],
    &[
        "Rank($vwap/$close,10)",
        "Corr($close,$volume,10)",
        "Log($volume/$open)",
    ],
];

/// A word that stands in every idea of the model.
const IDEA: &str = "zebra";

fn round_of(request: &Value) -> usize {
    let question = request["messages"][1]["content"].as_str().unwrap();
    let words = question.strip_prefix("Round ").unwrap();
    words.split(' ').next().unwrap().parse().unwrap()
}

/// Tokens that each request reads and writes.
const TOKENS: (u64, u64) = (1000, 10);

fn answer(round: usize) -> Vec<u8> {
    let formulas = ROUNDS[round - 1];
    if formulas.is_empty() {
        return ended("I would rather talk.", "stop", TOKENS);
    }
    let alphas: Vec<Value> = formulas
        .iter()
        .map(|text| json!({"expression": text, "idea": format!("{IDEA} of round {round}")}))
        .collect();
    called("submit_alphas", &json!({ "alphas": alphas }), TOKENS)
}

fn model() -> Vendor {
    Vendor::answering(|request| answer(round_of(request)))
}

const VALID: &str = "'2023-02-23', '2023-08-14'";

fn search(vendor: &Vendor, valid: &str) -> Folder {
    let text = format!(
        "name = 'words'\nmethod = 'llm'\nsplits = {{ train = ['2022-03-07', '2022-11-30'], valid = [{valid}] }}\n\
         select = {{ take = 4, hall = 20 }}\n[llm]\nrounds = 5\nask = 3\nschema_retries = 1\n\
         retries = {{ attempts = 2, unanswered_hours = 0, first_wait_ms = 1 }}\n\
         [[llm.agents]]\nid = 'finder'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{}'\n",
        vendor.base_url()
    );
    Folder::with(&[("mine.toml", text.as_str())])
}

fn mined(folder: &Folder) -> Result<MinedPool, StudyError> {
    let files = (&*folder.at("mine.toml"), &*folder.at("out"));
    summary_of(any::<FormulaMining>(), files).map(|summary| serde_json::from_value(summary).unwrap())
}

fn bodies(vendor: &Vendor) -> Vec<String> {
    let requests = vendor.requests().into_iter();
    requests
        .map(|request| String::from_utf8(request.body).unwrap())
        .collect()
}

#[test]
fn a_model_that_answers_with_the_future_is_told_so_and_no_text_comes_back_to_it() {
    let vendor = model();
    let folder = search(&vendor, VALID);
    let pool = mined(&folder).unwrap();
    let requests = bodies(&vendor);
    // Four answers, and one round of two attempts.
    assert_eq!(requests.len(), 6);
    assert!(!requests[0].contains("look_ahead"));
    assert!(requests[1].contains("look_ahead") && requests[1].contains("reads a later day"));
    assert!(requests[1].contains("names_a_code") && requests[1].contains("Sub(Div($close,Ref($close,5)),1)"));
    assert!(requests[2].contains("duplicate") && requests[2].contains("constant"));
    assert!(requests[3].contains("syntax") && requests[3].contains("predictive_power"));
    for request in &requests {
        for hidden in [
            IDEA,
            "SH600519",
            "Ref($close,-1)",
            "Mean($close,5\"",
            "2022",
            "2023",
            "words",
        ] {
            assert!(!request.contains(hidden), "{hidden}: {request}");
        }
    }
    let model = pool.model.as_ref().unwrap();
    assert_eq!(
        (model.rounds, model.lost.model_mistakes, model.lost.all()),
        (5, 1, 1)
    );
    assert_eq!(
        (model.model.as_str(), model.known_until.as_str()),
        ("m", "unknown")
    );
    assert_eq!(pool.outcomes["look_ahead"], 1);
    assert_eq!((pool.tried, pool.outcomes["constant"]), (8, 1));
    assert!(!pool.formulas.is_empty());
    let events = folder.text("out/units/search/events.jsonl");
    assert_eq!(events.lines().count(), 5);
    assert!(events.contains(IDEA), "the record has the ideas");
    // A whole search does nothing more.
    assert_eq!(mined(&folder).unwrap(), pool);
    assert_eq!(vendor.count(), 6);
}

#[test]
fn requests_do_not_depend_on_valid_days_and_hold_none_of_their_figures() {
    let (first, second) = (model(), model());
    let pool = mined(&search(&first, VALID)).unwrap();
    let other = mined(&search(&second, "'2023-01-09', '2023-06-30'")).unwrap();
    assert_eq!(bodies(&first), bodies(&second));
    let figure = |pool: &MinedPool, name: &str| pool.formulas[0].valid.get(name).unwrap();
    assert_ne!(pool.formulas[0].valid, other.formulas[0].valid);
    let shown = bodies(&first).concat();
    let train: Vec<String> = pool
        .formulas
        .iter()
        .flat_map(|formula| ["pps", "rre", "ic", "rank_ic"].map(|name| formula.train.get(name).unwrap()))
        .map(|figure| format!("{figure:.4}"))
        .collect();
    for name in ["pps", "ic", "rank_ic", "rre"] {
        let text = format!("{:.4}", figure(&pool, name));
        assert!(train.contains(&text) || !shown.contains(&text), "{name} {text}");
    }
}

#[test]
fn the_command_continues_and_its_budget_stops_it() {
    let vendor = model();
    let folder = search(&vendor, VALID);
    let prices = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;
    folder.write("prices.json", prices);
    let text = folder.text("mine.toml");
    let capped = |dollars: &str| {
        let keys = format!("[llm]\nprices = 'prices.json'\nbudget = {{ experiment = '{dollars}' }}\n");
        folder.write("mine.toml", text.replacen("[llm]\n", &keys, 1));
    };
    let mine = ["--json", "alpha", "mine", "mine.toml", "--out", "out"];
    capped("0.008");
    assert!(refused(&quiet(folder.path(), &mine), 3).contains("has no room"));
    let asked = vendor.count();
    assert!(asked < 6, "{asked}");
    capped("1");
    let output = quiet(folder.path(), &mine);
    assert_ok(&output);
    assert_eq!(vendor.count(), 6);
    let pool: MinedPool = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(pool.method, "llm");
    assert_ok(&quiet(folder.path(), &["replay", "out"]));
    // Without the key's variable nobody is asked.
    folder.write(
        "mine.toml",
        text.replacen(
            "id = 'finder'",
            "id = 'finder'\napi_key_env = 'KTD_NO_SUCH_KEY'",
            1,
        ),
    );
    let error = refused(
        &quiet(folder.path(), &["alpha", "mine", "mine.toml", "--out", "new"]),
        2,
    );
    assert!(error.contains("KTD_NO_SUCH_KEY"), "{error}");
    assert_eq!(vendor.count(), 6);
}
