//! Learners against `LightGBM` and automatic derivatives.

use super::json;
use ktd_kit::golden::{near, number, numbers};
use ktd_learners::{BoostedTrees, BoostingSettings, Chance, NamedWeights, NetShape, NeuralNet};
use serde_json::Value;

fn places(value: &Value) -> Option<usize> {
    value
        .as_i64()
        .and_then(|value| usize::try_from(value).ok())
        .filter(|value| 0 < *value)
}

fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let count = f64::from(u32::try_from(left.len()).unwrap());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (a, b) = (mean(left), mean(right));
    let sum = |f: &dyn Fn(f64, f64) -> f64| left.iter().zip(right).map(|(l, r)| f(l - a, r - b)).sum::<f64>();
    sum(&|l, r| l * r) / (sum(&|l, _| l * l) * sum(&|_, r| r * r)).sqrt()
}

#[test]
fn boosted_trees_follow_lightgbm() {
    let Some(golden) = json("gbdt.json") else { return };
    let (rows, labels, asked) = (
        numbers(&golden["X"]),
        numbers(&golden["y"]),
        numbers(&golden["Q"]),
    );
    let cases = golden["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let trees = places(&case["trees"]).unwrap();
        let settings = BoostingSettings {
            trees,
            leaves: places(&case["leaves"]).unwrap(),
            max_depth: places(&case["max_depth"]),
            column_share: 1.0,
            l1: number(&case["l1"]),
            l2: number(&case["l2"]),
            ..BoostingSettings::BENCHMARK
        };
        let width = rows.len() / labels.len();
        let mut none = || 0;
        let fit = BoostedTrees::fit(&rows, width, &labels, &settings, &mut Chance::new(&mut none)).unwrap();
        let (found, expected) = (fit.predict(&asked), numbers(&case["predictions"]));
        assert_eq!(found.len(), expected.len());
        let apart = found
            .iter()
            .zip(&expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        let alike = correlation(&found, &expected);
        println!("{trees} trees: largest difference {apart:e}, correlation {alike}");
        match trees {
            ..=5 => assert!(apart <= 1e-6, "{trees} trees: {apart}"),
            6..=20 => assert!(0.9999 <= alike, "{trees} trees: {alike}"),
            _ => assert!(0.999 <= alike, "{trees} trees: {alike}"),
        }
    }
}

/// The shape of a case, read off its weights.
fn shape(case: &Value) -> NetShape {
    let rows = |name: &str| case["weights"][name].as_array().unwrap().len();
    let columns = |name: &str| case["weights"][name][0].as_array().unwrap().len();
    match case["net"].as_str().unwrap() {
        "graph_mlp" => NetShape::GraphMlp {
            base: columns("base.0.weight"),
            peers: columns("peers.0.weight"),
            hidden: rows("base.0.weight"),
            head: rows("head.0.weight"),
        },
        "lstm" => NetShape::Lstm {
            features: columns("input.weight"),
            lookback: case["inputs"]["x"][0].as_array().unwrap().len(),
            hidden: columns("recurrent.weight"),
        },
        "transformer" => NetShape::Transformer {
            features: columns("embed.weight"),
            lookback: case["inputs"]["x"][0].as_array().unwrap().len(),
            embed: rows("embed.weight"),
            heads: places(&case["heads"]).unwrap(),
            wide: rows("wide.weight"),
            dropout: 0.0,
        },
        other => panic!("unknown network {other}"),
    }
}

fn examples(case: &Value) -> Vec<Vec<f64>> {
    let inputs = &case["inputs"];
    let first = inputs
        .get("x")
        .or_else(|| inputs.get("base"))
        .unwrap()
        .as_array()
        .unwrap();
    let mut rows: Vec<Vec<f64>> = first.iter().map(numbers).collect();
    if let Some(peers) = inputs.get("peers") {
        for (row, peers) in rows.iter_mut().zip(peers.as_array().unwrap()) {
            row.extend(numbers(peers));
        }
    }
    rows
}

fn close(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().zip(expected) {
        near(name, *found, *expected, 1e-10);
    }
}

#[test]
fn networks_follow_automatic_derivatives() {
    let Some(golden) = json("nets.json") else { return };
    let cases = golden.as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let name = case["net"].as_str().unwrap();
        let named = |field: &str| -> NamedWeights<f64> {
            let weights = case[field].as_object().unwrap();
            weights
                .iter()
                .map(|(name, values)| (name.clone(), numbers(values)))
                .collect()
        };
        let net = NeuralNet::with_weights(shape(case), &named("weights")).unwrap();
        let examples = examples(case);
        let examples: Vec<&[f64]> = examples.iter().map(Vec::as_slice).collect();
        let targets = numbers(&case["target"]);
        close(name, &net.outputs(&examples), &numbers(&case["output"]));
        let (loss, gradients) = net.loss_and_gradients(&examples, &targets);
        near(name, loss, number(&case["loss"]), 1e-10);
        let stepped = net.after_first_step(&examples, &targets, 1e-3).weights();
        for (field, found) in [("gradients", gradients), ("after_one_adam_step", stepped)] {
            let expected = named(field);
            assert_eq!(found.len(), expected.len());
            for (tensor, values) in found {
                let (_, expected) = expected.iter().find(|(other, _)| *other == tensor).unwrap();
                close(&format!("{name} {field} {tensor}"), &values, expected);
            }
        }
    }
}
