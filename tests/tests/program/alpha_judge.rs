//! `ktd alpha judge`: language models score formulas, recorded and billed, and what their scores are worth is shown.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_formula_study::judge::{FormulaJudging, LogicJudgement};
use ktd_formula_study::{AlphaEvaluating, AlphaReport};
use ktd_kit::study::summary_of;
use ktd_kit::vendor::{called, ended, reply};
use ktd_kit::{Folder, Vendor, assert_ok, quiet, refused};
use ktd_study::{StudyError, any};
use serde_json::{Value, json};

/// What a scripted judge answers.
enum Say {
    /// A call of `submit_scores` with a score for each formula.
    Scores(Vec<f64>),
    /// The provider's filter.
    Filtered,
    Status(&'static str),
}

impl Say {
    fn bytes(&self) -> Vec<u8> {
        const TOKENS: (u64, u64) = (1000, 10);
        match self {
            Self::Scores(scores) => {
                let scores = scores.iter().enumerate();
                let scores: Vec<Value> = scores
                    .map(|(index, score)| json!({"index": index, "score": score, "explanation": "made up"}))
                    .collect();
                called("submit_scores", &json!({ "scores": scores }), TOKENS)
            }
            Self::Filtered => ended("no", "content_filter", TOKENS),
            Self::Status(status) => reply(status, "", b"{}"),
        }
    }
}

/// The formulas of a question.
fn formulas(request: &Value) -> Vec<String> {
    let question = request["messages"][1]["content"].as_str().unwrap();
    let list = question.lines().find(|line| line.starts_with("[{")).unwrap();
    let list: Vec<Value> = serde_json::from_str(list).unwrap();
    list.iter()
        .map(|formula| formula["formula"].as_str().unwrap().to_owned())
        .collect()
}

/// A judge by a rule on the formulas of a question and the answers it gave before in the conversation.
fn judge(rule: impl Fn(&[String], usize) -> Say + Send + Sync + 'static) -> Vendor {
    Vendor::answering(move |request| {
        let spoken = request["messages"].as_array().unwrap().iter();
        let spoken = spoken.filter(|message| message["role"] == "assistant").count();
        rule(&formulas(request), spoken).bytes()
    })
}

/// A score that grows with the text of a formula.
fn fond_of_length(formula: &str) -> f64 {
    let letters = u32::try_from(formula.len()).unwrap();
    (20.0 + 0.5 * f64::from(letters)).min(100.0)
}

fn fond_judge() -> Vendor {
    judge(|formulas, _| Say::Scores(formulas.iter().map(|formula| fond_of_length(formula)).collect()))
}

/// A study with twelve formulas in two pools, one of them in both, and one that names a stock.
fn study(judge: &str) -> Folder {
    let means = (2..12).map(|rows| format!("mean{rows},\"Mean($volume,{rows})/$volume\"\n"));
    let mine = [
        "id,expression\nreversal,\"$close/Ref($close,5)\"\ncode,\"Mask($close,'SH600519')/$close\"\n"
            .to_owned(),
        means.collect(),
    ]
    .concat();
    let text = format!(
        "kind = 'alpha-judge'\nname = 'study'\n\
         pools = [{{ id = 'secret_pool', file = 'mine.csv' }}, {{ id = 'other_pool', file = 'other.csv' }}]\n\
         retries = {{ attempts = 2, unanswered_hours = 0, first_wait_ms = 1 }}\nschema_retries = 2\n{judge}"
    );
    let other = "id,expression\nr,\"$close / Ref($close, 5)\"\nrange,\"($high-$low)/$close\"\n";
    Folder::with(&[
        ("study.toml", text.as_str()),
        ("mine.csv", mine.as_str()),
        ("other.csv", other),
    ])
}

fn agent(id: &str, vendor: &Vendor) -> String {
    format!(
        "[[agents]]\nid = '{id}'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{}'\n",
        vendor.base_url()
    )
}

fn asked(folder: &Folder) -> Result<LogicJudgement, StudyError> {
    let files = (&*folder.at("study.toml"), &*folder.at("judge"));
    summary_of(any::<FormulaJudging>(), files).map(|summary| serde_json::from_value(summary).unwrap())
}

/// Alphas of the list, ten longer forms, and formulas without meaning.
const LISTED: usize = 12 + 10 + 5;

#[test]
fn a_judge_that_likes_length_is_shown_to() {
    let vendor = fond_judge();
    let folder = study(&agent("j", &vendor));
    let judgement = asked(&folder).unwrap();
    assert_eq!(judgement.formulas.len(), 12);
    for formula in &judgement.formulas {
        let score = fond_of_length(&formula.formula);
        assert_eq!(formula.score, Some(score), "{}", formula.formula);
        assert_eq!(formula.by[0].scores, vec![Some(score); 3]);
        assert_eq!(formula.by[0].spread, Some(0.0));
    }
    let judge = &judgement.judges[0];
    assert_eq!(judge.row.get("length_pairs"), Some(10.0));
    assert!(6.0 <= judge.row.get("length_difference").unwrap());
    // All ten differences lie on one side: of 1,024 assignments of signs two are as far from the middle.
    assert!((judge.row.get("length_p").unwrap() - 2.0 / 1024.0).abs() < 1e-12);
    assert_eq!(judge.row.get("repeat_distance"), Some(0.0));
    assert!(judge.row.get("nonsense_mean").is_some());
    assert_eq!(judgement.logic("Sub($open,$close)").unwrap_err(), "not_judged");
    // Three orders and the first once more, in questions of eight.
    let questions = 4 * LISTED.div_ceil(8);
    assert_eq!((vendor.count(), judge.questions), (questions, questions));
    assert_eq!(judge.tokens.all(), u64::try_from(questions).unwrap() * 1010);
    let pools: Vec<(&str, usize, usize)> = judgement
        .pools
        .iter()
        .map(|pool| (pool.pool.as_str(), pool.judged, pool.alphas))
        .collect();
    assert_eq!(pools, [("secret_pool", 11, 12), ("other_pool", 2, 2)]);
}

#[test]
fn no_text_of_a_file_is_in_any_request() {
    let vendor = fond_judge();
    let folder = study(&agent("j", &vendor));
    let judgement = asked(&folder).unwrap();
    assert_eq!(judgement.unjudged.len(), 1);
    assert_eq!(judgement.unjudged[0].reason, "names_a_code");
    assert_eq!(
        judgement.logic(&judgement.unjudged[0].formula).unwrap_err(),
        "names_a_code"
    );
    for request in vendor.requests() {
        let text = String::from_utf8(request.body).unwrap();
        for hidden in [
            "600519",
            "secret_pool",
            "other_pool",
            "reversal",
            "mean7",
            "study",
        ] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
    }
}

#[test]
fn mistakes_refusals_and_faults_are_told_apart() {
    let wrong = judge(|formulas, _| Say::Scores(vec![170.0; formulas.len()]));
    let refusing = judge(|_, _| Say::Filtered);
    let good = fond_judge();
    let folder = study(&[agent("w", &wrong), agent("r", &refusing), agent("g", &good)].concat());
    let judgement = asked(&folder).unwrap();
    let questions = 4 * LISTED.div_ceil(8);
    let lost: Vec<(usize, usize, usize)> = judgement
        .judges
        .iter()
        .map(|judge| (judge.lost.model_mistakes, judge.lost.refusals, judge.lost.faults))
        .collect();
    assert_eq!(lost, [(questions, 0, 0), (0, questions, 0), (0, 0, 0)]);
    assert_eq!(judgement.judges[0].mistakes["score_range"], 3 * questions);
    assert_eq!(wrong.count(), 3 * questions);
    let last = wrong.requests().pop().unwrap().body;
    assert!(
        String::from_utf8(last)
            .unwrap()
            .contains("score_range, a score is not within 0 and 100")
    );
    // The judge that answered still counts; alone, the others leave Logic undefined with their reason.
    assert!(judgement.formulas.iter().all(|formula| formula.score.is_some()));
    let alone = study(&agent("w", &wrong));
    let judgement = asked(&alone).unwrap();
    assert_eq!(
        judgement.logic("Div($close,Ref($close,5))").unwrap_err(),
        "score_range"
    );
    let down = judge(|_, _| Say::Status("503 Service Unavailable"));
    let folder = study(&agent("d", &down));
    let error = asked(&folder).unwrap_err();
    assert!(error.to_string().contains("agent d, question"), "{error}");
    assert!(error.hint().contains("same command again"), "{}", error.hint());
    assert!(!folder.at("judge/report.json").exists());
}

#[test]
fn several_judges_are_averaged_and_compared_and_a_miner_is_marked() {
    let (fond, averse) = (
        fond_judge(),
        judge(|formulas, _| Say::Scores(formulas.iter().map(|text| 100.0 - fond_of_length(text)).collect())),
    );
    let keys = format!(
        "human = 'human.csv'\n{}{}",
        agent("f", &fond),
        agent("a", &averse)
    );
    let folder = study(&keys);
    folder.write("human.csv", "id,score\nrange,1\nmean2,3\nmean3,2\n");
    let text = folder
        .text("study.toml")
        .replace("file = 'other.csv'", "mined = 'found'");
    folder.write("study.toml", text);
    let finder = json!({"model": "m", "known_until": "unknown"});
    let found = json!({"model": finder, "formulas": [
        {"id": "r", "expression": "$close/Ref($close,5)"}, {"id": "range", "expression": "($high-$low)/$close"}
    ]});
    folder.write("found/pool.json", found.to_string());
    let judgement = asked(&folder).unwrap();
    assert!(
        judgement
            .formulas
            .iter()
            .all(|formula| formula.score == Some(50.0))
    );
    assert_eq!(judgement.agreement.len(), 1);
    assert_eq!(judgement.agreement[0].tau, Some(-1.0));
    assert!(judgement.judges.iter().all(|judge| judge.is_miner));
    assert_eq!(judgement.pools[1].miners, ["m"]);
    let gain = |judge: usize| judgement.judges[judge].row.get("ndcg_all").unwrap();
    assert!(gain(1) < gain(0) && gain(0) < 1.0, "{} {}", gain(0), gain(1));
}

#[test]
fn other_formulas_do_not_go_on_with_its_answers() {
    let vendor = fond_judge();
    let folder = study(&agent("j", &vendor));
    asked(&folder).unwrap();
    folder.write("other.csv", "id,expression\nr,\"$open/$close\"\n");
    let error = asked(&folder).unwrap_err();
    assert!(error.to_string().contains("of other settings"), "{error}");
}

#[test]
fn the_command_says_what_stopped_it_by_its_exit_code() {
    let vendor = fond_judge();
    let refusing = judge(|_, _| Say::Status("401 Unauthorized"));
    let judge = ["--json", "alpha", "judge", "study.toml", "--out", "out"];
    let folder = study(&agent("j", &refusing));
    let error = refused(&quiet(folder.path(), &judge), 2);
    assert!(error.contains("agent j, question"), "{error}");
    let prices = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;
    let capped = |dollars: &str| {
        let keys = format!("prices = 'prices.json'\nbudget = {{ experiment = '{dollars}' }}\n");
        let folder = study(&format!("{keys}{}", agent("j", &vendor)));
        folder.write("prices.json", prices);
        folder
    };
    let poor = capped("0.001");
    assert!(refused(&quiet(poor.path(), &judge), 3).contains("has no room"));
    assert_eq!(vendor.count(), 0);
    let rich = capped("1");
    let output = quiet(rich.path(), &judge);
    assert_ok(&output);
    let judgement: LogicJudgement = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(judgement.formulas.len(), 12);
    // A replay needs the record alone.
    for named in ["mine.csv", "other.csv"] {
        std::fs::remove_file(rich.at(named)).unwrap();
    }
    assert_ok(&quiet(rich.path(), &["replay", "out"]));
    // Without a judge in its file there is nobody to ask, and another kind's command says whose it is.
    let text = rich.text("study.toml");
    assert!(refused(&quiet(rich.path(), &["alpha", "eval", "study.toml"]), 2).contains("alpha-judge"));
    rich.write("study.toml", text.split("[[agents]]").next().unwrap());
    assert!(refused(&quiet(rich.path(), &judge), 2).contains("`agents` names no model"));
}

#[test]
fn logic_enters_the_tables_and_the_composite_once_a_study_was_judged() {
    let vendor = fond_judge();
    let folder = study(&agent("j", &vendor));
    let evaluation = "name = 'study'\nsplits = { train = ['2022-03-07', '2023-02-22'] }\nnoise = { draws = 0 }\n\
        pools = [{ id = 'secret_pool', file = 'mine.csv' }, { id = 'other_pool', file = 'other.csv' }]\n";
    folder.write("eval.toml", evaluation);
    // The synthetic market has no such instrument.
    let mine = folder
        .text("mine.csv")
        .replace("Mask($close,'SH600519')/$close", "Log($factor)");
    folder.write("mine.csv", mine);
    let evaluated = || -> AlphaReport {
        let files = (&*folder.at("eval.toml"), &*folder.at("evaluated"));
        serde_json::from_value(summary_of(any::<AlphaEvaluating>(), files).unwrap()).unwrap()
    };
    let before = evaluated();
    assert!(
        before
            .alphas
            .iter()
            .all(|alpha| alpha.row.undefined["logic"] == "no_judge")
    );
    folder.write("eval.toml", format!("judged = 'judge'\n{evaluation}"));
    let unjudged = summary_of(
        any::<AlphaEvaluating>(),
        (&folder.at("eval.toml"), &folder.at("evaluated")),
    );
    assert!(unjudged.unwrap_err().to_string().contains("judge/report.json"));
    asked(&folder).unwrap();
    let after = evaluated();
    assert_ne!(before.inputs, after.inputs, "figures hang on the judgement");
    for (before, after) in before.alphas.iter().zip(&after.alphas) {
        assert_eq!(after.row.get("logic"), Some(fond_of_length(&after.formula)));
        assert_eq!(before.row.get("pps"), after.row.get("pps"));
    }
    let composite = |report: &AlphaReport| -> Vec<Option<f64>> {
        report
            .alphas
            .iter()
            .map(|alpha| alpha.row.get("composite"))
            .collect()
    };
    assert_ne!(composite(&before), composite(&after));
    assert!(after.pools.iter().all(|pool| pool.row.get("logic").is_some()));
}
