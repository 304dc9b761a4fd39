//! A task that the infrastructure lost: it counts for nothing, and its model has no rank.

#![expect(clippy::indexing_slicing, reason = "a broken fixture fails the test")]

use super::scene::{STUDY, UNIT, answering, events, experiment, found, has_boxes, table};
use ktd_kit::{assert_ok, quiet};
use serde_json::{Value, json};

const RUN: [&str; 3] = ["factor-code", "run", "code.toml"];

#[test]
fn a_lost_task_is_uncovered_and_its_model_has_no_rank() {
    if !has_boxes() {
        return;
    }
    // the first task is answered with a call that the server's parser lost; the second is refused
    let vendor = answering(|_, function, _| {
        let finish = if function.contains("roc_10") {
            "tool_calls"
        } else {
            "content_filter"
        };
        ("no".to_owned(), finish)
    });
    let folder = experiment(&vendor, "");
    assert_ok(&quiet(folder.path(), &RUN));
    // the lost task has no second round
    let lost: Vec<(Value, Value)> = events(&folder, UNIT)
        .iter()
        .map(|event| (event["task"].clone(), event["lost"].clone()))
        .collect();
    let other = || (json!("REV-1-01"), Value::Null);
    assert_eq!(
        lost,
        [(json!("MOM-1-01"), json!("server_parser_leak")), other(), other()]
    );
    let found = found(&folder, UNIT);
    assert_eq!(
        (&found["uncovered"], &found["pass_at"][0]["tasks"]),
        (&json!(1), &json!(1))
    );

    assert_eq!(
        table(&folder, "T1_ranks")[0][5],
        "n/a (1 of 2 tasks are uncovered)"
    );
    let funnel = table(&folder, "T1_funnel").into_iter();
    let all: Vec<_> = funnel
        .filter(|row| row[1] == "strict" && row[2] == "all")
        .collect();
    // one task with a verdict, one without: a share of one task
    assert_eq!(all[0][3..6], ["1", "1", "0"]);
    assert_eq!(table(&folder, "T6_thresholds")[0][5], "0");
    assert_ok(&quiet(folder.path(), &["replay", STUDY]));
}
