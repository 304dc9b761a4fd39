//! `ktd plan`, and the experiment files that come with the program.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_certify::config::CertifyConfig;
use ktd_data::market_source::MarketSource;
use ktd_experiment::cells::cells;
use ktd_experiment::config::{ExperimentConfig, SyntheticConfig};
use ktd_experiment::window_config::WindowConfig;
use ktd_factor_study::read_factor_code_config;
use ktd_formula_study::AlphaEvaluating;
use ktd_formula_study::judge::FormulaJudging;
use ktd_formula_study::mine::FormulaMining;
use ktd_kit::{command, shipped_configs, workspace_root};
use ktd_leakage_study::read_leak_config;
use ktd_plan::ExperimentPlan;
use ktd_strategy_study::StrategyExperiment;
use ktd_study::read_study_file;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

const SMALL: &str = r#"
name = "small"
synthetic = { seed = 5, names = 60, days = 300 }
prune = true
windows = [
  { id = "all", start = "2023-01-09", end = "2023-03-17" },
  { id = "early", start = "2023-01-09", end = "2023-02-03" },
  { id = "late", start = "2023-02-03", end = "2023-03-10" },
]
masks = [{ level = "bright" }, { level = "blinded" }]
modes = ["memory-only", "open-research"]
seeds = [1, 2]
agents = [
  { id = "model", model = "m", vendor = "openai", api_key_env = "KTD_TEST_KEY", max_output_tokens = 500 },
  { id = "oracle", control = "oracle" },
  { id = "random", builtin = "random" },
]
prices = "prices.json"

[rates.KTD_TEST_KEY]
requests_per_minute = 10
"#;

const PRICES: &str = r#"{"_about":"made up","rows":[
    {"model":"m","vendor":"openai","asof":"2026-11","source":"test","input":5.0,"cached_input":0.5,"output":30.0}]}"#;

fn ktd(arguments: &[&str]) -> Output {
    command(&workspace_root(), arguments)
        .env_remove("KTD_TEST_KEY")
        .output()
        .unwrap()
}

fn plan_of(text: &str, more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("prices.json"), PRICES).unwrap();
    let output = ktd(&[&["plan", path.to_str().unwrap()], more].concat());
    // Neither results nor keys: a plan leaves nothing.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    output
}

/// Calls, tokens and cost follow from the length of prompts: their figures are left out, so that a changed prompt does
/// not change what a plan looks like.
fn without_traffic(plan: &str) -> String {
    let mut is_traffic = false;
    let lines = plan.lines().map(|line| {
        is_traffic = match line {
            "What it asks and costs" => true,
            "assumptions:" => false,
            _ => is_traffic,
        };
        let figures = |word: &str| {
            if word.contains(|character: char| character.is_ascii_digit()) {
                "#".to_owned()
            } else {
                word.to_owned()
            }
        };
        if is_traffic || line.starts_with("the rates of") {
            let words: Vec<String> = line.split_whitespace().map(figures).collect();
            words.join(" ")
        } else {
            line.to_owned()
        }
    });
    let lines: Vec<String> = lines.collect();
    lines.join("\n")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_plan_in_words() {
    let output = plan_of(SMALL, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    insta::assert_snapshot!("small", without_traffic(&text(&output.stdout)));
}

/// A cap that stops the run is told where it is planned, whichever of the three it is.
#[test]
fn each_cap_is_held_against_what_is_expected() {
    let budget = "budget = { experiment = \"900.00\", vendor = { openai = \"0.01\" }, cell = \"0.02\" }\n";
    let output = plan_of(&format!("{budget}{SMALL}"), &[]);
    let told = text(&output.stdout);
    for line in [
        "the budget of $900.00 is enough for what is expected, not for the most",
        "the budget of vendor openai of $0.0100 is not enough for what is expected",
        "the budget of a cell, for one of model in the mean, of $0.0200 is not enough for what is expected",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
}

#[test]
fn a_plan_for_programs() {
    let output = plan_of(SMALL, &["--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let plan = &document["plan"];
    // Three agents, three windows, two seeds; of four settings one is left out.
    assert_eq!(plan["cells"], 54);
    assert_eq!(plan["settings"][2]["cells"], 18);
    assert!(
        plan["settings"][2]["left_out"]
            .as_str()
            .unwrap()
            .starts_with("aliases without a number")
    );
    assert_eq!(plan["agents"][1]["kind"], "control");
    // Bright in two modes, three windows, the second seed.
    assert_eq!(plan["agents"][1]["repeated_cells"], 6);
    assert_eq!(plan["agents"][2]["repeated_cells"], 0);
    assert_eq!(plan["pairing"]["left_out"][0], "all");
    assert_eq!(plan["pairing"]["smallest_p"], 0.5);
    // The two windows inside share days, which count in the first; the one around them has none of its own.
    assert_eq!(plan["pooled"]["windows"].as_array().unwrap().len(), 2);
    assert_eq!(plan["pooled"]["left_out"][0], "all");
    assert!(plan["pooled"]["least_difference_a_day"]["value"].is_number());
    assert!(
        plan["estimate"]["all"]["expected"]["cost_picodollars"]
            .as_u64()
            .unwrap()
            > 0
    );
    assert!(plan["paces"][0]["minutes"]["least"].as_u64().unwrap() > 0);
}

#[test]
fn what_a_run_would_refuse_a_plan_refuses() {
    for (broken, part) in [
        (
            SMALL.replace("[rates.KTD_TEST_KEY]", "[rates.OTHER]"),
            "which no agent's key is called",
        ),
        (
            SMALL.replace("2023-03-17", "2033-03-17"),
            "is not inside the panel",
        ),
        (SMALL.replace("\"openai\"", "\"nobody\""), "there is no vendor"),
        (
            SMALL
                .replace("masks = [{ level = \"bright\" }, ", "masks = [")
                .replace(", \"open-research\"", ""),
            "`prune` leaves no cell",
        ),
    ] {
        let output = plan_of(&broken, &[]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(part) && told.contains("hint:"), "{told}");
    }
}

#[test]
fn a_run_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    let experiment = "name = \"x\"\nsynthetic = { seed = 5, names = 20, days = 150 }\nprune = true\n\
                      windows = [{ id = \"w\", last_days = 1 }]\nmodes = [\"memory-only\"]\n\
                      agents = [{ id = \"h\", builtin = \"hold\" }]\n";
    std::fs::write(&path, experiment).unwrap();
    let told =
        "1 cells of memory-only under blinded/exact are left out (prune = true): aliases without a number";
    let arguments = ["run", path.to_str().unwrap()];
    let output = ktd(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains(told), "{}", text(&output.stdout));
    let document: Value =
        serde_json::from_slice(&ktd(&[&arguments[..], &["--json"]].concat()).stdout).unwrap();
    let notes = document["notes"].as_array().unwrap();
    assert!(
        notes.iter().any(|note| note.as_str().unwrap().starts_with(told)),
        "{notes:?}"
    );
    let cells = std::fs::read_dir(folder.path().join("results/x/cells")).unwrap();
    assert_eq!(cells.count(), 1);
}

fn configs() -> BTreeMap<String, ExperimentConfig> {
    let folder = shipped_configs();
    let paths = std::fs::read_dir(folder.at("runs/configs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let toml: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    // What is no experiment says what `ktd probe` asks, what `ktd alpha eval` evaluates and `ktd alpha mine` searches, what `ktd
    // leak run` switches, and what `ktd factor-code run` and `ktd strategy-code run` ask.
    let experiment = |path: &PathBuf| match ExperimentConfig::read(path) {
        Ok(config) => Some((name(path), config)),
        Err(error) => {
            let probed = CertifyConfig::read(path);
            let evaluated = read_study_file::<AlphaEvaluating>(path);
            let judged = read_study_file::<FormulaJudging>(path);
            let searched = read_study_file::<FormulaMining>(path);
            let switched = read_leak_config(path);
            let written = read_factor_code_config(path);
            let traded = StrategyExperiment::read(path);
            assert!(
                probed.is_ok()
                    || evaluated.is_ok()
                    || judged.is_ok()
                    || searched.is_ok()
                    || switched.is_ok()
                    || written.is_ok()
                    || traded.is_ok(),
                "{error}; {probed:?}; {evaluated:?}; {judged:?}; {searched:?}; {switched:?}; {written:?}; {traded:?}"
            );
            None
        }
    };
    toml.iter().filter_map(experiment).collect()
}

/// A file of probes names no kind, for certificates and curves are made of it.
#[test]
fn a_file_of_probes_is_planned_as_a_certificate() {
    let plan = ktd(&["--json", "plan", "runs/configs/demo_certify.toml"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(plan["kind"], "certificate");
}

#[test]
fn every_file_that_comes_along_can_be_planned() {
    // One small market around all preset windows stands for every panel.
    let synthetic = SyntheticConfig {
        seed: Some(3),
        names: Some(60),
        days: Some(1_200),
    };
    let base = ExperimentConfig {
        panel: None,
        synthetic: Some(synthetic),
        ..configs().remove("demo").unwrap()
    };
    let source = MarketSource::of(&base, Path::new("")).unwrap();
    let planned: BTreeMap<String, ExperimentPlan> = configs()
        .into_iter()
        .map(|(name, config)| {
            let cells = cells(&config, &source.market, None).unwrap();
            let plan = ExperimentPlan::of(&config, &source, &cells, &[]).unwrap();
            (name, plan)
        })
        .collect();
    let cells = |name: &str| (planned[name].agents.len(), planned[name].cells);
    assert_eq!(cells("anchor_depth_scan"), (1, 500));
    assert_eq!(cells("headline"), (16, 480));
    assert_eq!(cells("mask_sensitivity"), (5, 300));
    assert_eq!(cells("ktd_windows"), (6, 132));
    assert_eq!(cells("baselines"), (6, 36));
    for name in ["anchor_depth_scan", "mask_sensitivity", "ktd_windows"] {
        let pairing = &planned[name].pairing;
        assert_eq!((pairing.windows.len(), &pairing.underpowered), (10, &None));
        assert!(pairing.least_difference.value.is_some());
        assert_eq!(pairing.overlaps.len(), 5);
        let pooled = &planned[name].pooled;
        assert_eq!(
            pooled.windows.len() + pooled.left_out.len(),
            planned[name].windows.len()
        );
        let least = pooled.least_difference_a_day.value.unwrap();
        let independent = pooled.least_difference_of_independent_seeds.value.unwrap();
        let ratio = least / independent;
        assert!(
            (ratio * ratio - f64::from(u32::try_from(planned[name].seeds).unwrap())).abs() < 1e-9,
            "{ratio}"
        );
    }
    assert_eq!(planned["ktd_windows"].pairing.left_out, ["long"]);
}

#[test]
fn the_windows_written_out_are_the_presets() {
    let written = configs().remove("ktd_windows").unwrap();
    assert_eq!(written.windows.len(), 11);
    for window in written.windows.listed() {
        let preset = WindowConfig {
            start: None,
            end: None,
            ..window.clone()
        };
        assert_eq!(window.dates(), preset.dates(), "{}", window.id);
        assert!(window.start.is_some() && window.end.is_some());
    }
}

#[test]
fn an_experiment_without_a_panel_can_be_planned_on_a_synthetic_one() {
    let panel = SMALL.replace(
        "synthetic = { seed = 5, names = 60, days = 300 }",
        "panel = \"absent.ktdp\"",
    );
    let absent = plan_of(&panel, &[]);
    assert_eq!(absent.status.code(), Some(2), "{}", text(&absent.stderr));
    let output = plan_of(&panel, &["--synthetic", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["plan"]["panel"]["is_synthetic"], true);
    assert_eq!(document["plan"]["cells"], 54);
}
