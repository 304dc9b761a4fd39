//! How many functions of the set the rule for over-engineered ones names.

use super::columns::text;
use ktd_factor_code::{FactorReplies, FactorTasks, ReplySource, SourceSize};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn the_rule_names_one_right_reply_which_loops_and_no_wrong_one() {
    let (Some(replies), Some(expected)) = (text("replies.jsonl"), text("expected.json.gz")) else {
        return;
    };
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let tasks = FactorTasks::compiled_in().unwrap();
    let replies = FactorReplies::parse(&replies, &tasks).unwrap();
    // How a reply came out: all of them, and the kinds of those that are named.
    let mut counts: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
    for row in expected["replies"].as_array().unwrap() {
        let (id, round) = (row["id"].as_str().unwrap(), row["round"].as_u64().unwrap());
        let Some(reply) = replies.get(id, u32::try_from(round).unwrap()) else {
            continue;
        };
        let golden = tasks.find(id).unwrap().golden.as_deref().unwrap();
        let came_out = match (row["pass1"] == true, row["acc_strict"] == true) {
            (false, _) => "fails",
            (true, true) => "right",
            (true, false) => "wrong",
        };
        let (all, named) = counts.entry(came_out).or_default();
        *all += 1;
        if SourceSize::of(&ReplySource::of(reply).text, golden).is_over_engineered() {
            named.push(row["kind"].as_str().unwrap());
        }
    }
    println!("over-engineered: {counts:?}");
    assert_eq!(counts["right"], (99, vec!["loop"]));
    assert_eq!(counts["wrong"], (88, Vec::new()));
    assert_eq!(counts["fails"], (9, Vec::new()));
}
