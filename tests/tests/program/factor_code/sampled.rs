//! Several samples of a task, drawn at a temperature.

use super::scene::{STUDY, folder_of, found, vendor};
use ktd_kit::{assert_ok, has_boxes, quiet};
use serde_json::{Value, json};

#[test]
fn one_of_two_samples_is_half_a_pass_at_one_and_a_whole_one_at_two() {
    if !has_boxes() {
        return;
    }
    // each sample has a seed of its own: the first fails, the second runs and looks ahead
    let vendor = vendor(|request, function, _| {
        let body = match request["seed"].as_u64().unwrap() {
            1 => "raise ValueError('no')",
            _ => "return df['day_close'].shift(-1)",
        };
        Some((format!("def {function}(df):\n    {body}\n"), "stop"))
    });
    let agent = format!(
        "[[agents]]\nid = 'writer'\nmodel = 'm'\nvendor = 'vllm'\nbase_url = '{}'\ntemperature = 0.7\nsend_seed = true\n",
        vendor.base_url()
    );
    let folder = folder_of(&agent, "samples = 2\npass_at = [1, 2]\nfeedback = 'execution'");
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    // what looks ahead ends its sample, for failures of layer 1 alone are fed back
    assert_eq!(vendor.count(), 2 * (2 + 1));
    for request in vendor.requests() {
        let request: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(request["temperature"], 0.7);
    }
    let unit = "results/x/units/writer__original__s1";
    for source in ["MOM-1-01-s1-1.py", "MOM-1-01-s1-2.py", "REV-1-01-s2-1.py"] {
        assert!(
            folder.at(&format!("{unit}/sources/{source}")).is_file(),
            "{source}"
        );
    }
    let summary = found(&folder, unit);
    for (place, k, runs) in [(0, 1, 0.5), (1, 2, 1.0)] {
        let pass = &summary["pass_at"][place];
        assert_eq!(
            (&pass["k"], &pass["round"], &pass["tasks"]),
            (&json!(k), &json!(1), &json!(2))
        );
        for rule in ["published", "strict"] {
            let shares = &pass["shares"][rule];
            assert_eq!(
                (&shares["Pass@1"], &shares["Safe"]),
                (&json!(runs), &json!(0.0)),
                "{pass}"
            );
        }
    }
    // the funnel is that of all samples
    let all = &summary["rounds"][0]["counts"]["all"];
    assert_eq!((&all["tasks"], &all["answers"]), (&json!(2), &json!(4)));
    assert_eq!(all["strict"]["Pass@1"], 2);
    let table = folder.text(&format!("{STUDY}/T1_pass_at_k.csv"));
    assert!(
        table.contains("writer__original__s1,strict,2,1,2,0.7,2,1,0,0,0"),
        "{table}"
    );
    assert_ok(&quiet(folder.path(), &["replay", STUDY]));
    assert_eq!(vendor.count(), 6);
}
