//! `ktd run` under a budget: it stops at a cap with an exit code of its own and goes on when the cap is raised, killed
//! or not; and a plan asks nobody and writes nothing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken fixture fails the test, and what was spent is told"
)]

use ktd_baselines::named;
use ktd_kit::{Folder, Need, Vendor, assert_ok, command, quiet};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

const PRICES: &str = r#"{"_about":"made up","rows":[
    {"model":"momentum","asof":"2026-11","source":"test","input":5.0,"cached_input":0.5,"output":30.0}]}"#;

/// Six cells of a paid model and one that is free.
struct Scene {
    folder: Folder,
    /// It answers as `momentum` does.
    server: Vendor,
}

impl Scene {
    fn new() -> Self {
        Self {
            folder: Folder::with(&[("prices.json", PRICES), ("mask.key", ktd_kit::MASK_KEY)]),
            server: Vendor::of_model(named("momentum", 1).unwrap()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.at(name)
    }

    /// An experiment with this budget, and agents with these further keys.
    fn write(&self, more: &str, agent: &str) {
        let experiment = format!(
            "name = \"paid\"\nparallel_cells = 7\nsynthetic = {{ seed = 5, names = 20, days = 200 }}\n\
             mask_key_file = \"mask.key\"\nmasks = [{{ level = \"bright\" }}]\n\
             modes = [\"memory-only\", \"fixed-candidate\", \"open-research\"]\nseeds = [1, 2]\n\
             windows = [{{ id = \"w\", last_days = 2 }}]\n\
             agents = [{{ id = \"m\", model = \"momentum\", base_url = \"{}\"{agent} }},\n\
             {{ id = \"h\", builtin = \"hold\" }}]\n{more}",
            self.server.base_url()
        );
        self.folder.write("paid.toml", experiment);
    }

    fn capped(&self, cap: &str) {
        let more = format!("prices = \"prices.json\"\n[budget]\nexperiment = \"{cap}\"\n");
        self.write(&more, ", max_output_tokens = 400");
    }

    fn ktd(&self, arguments: &[&str], crash: Option<&str>) -> Output {
        let arguments = [&["--json", "--quiet", "run", "paid.toml"], arguments].concat();
        let mut command = command(self.folder.path(), &arguments);
        if let Some(crash) = crash {
            command.env("KTD_CRASH", crash);
        }
        command.output().unwrap()
    }

    fn run(&self, out: &str) -> (Option<i32>, Value) {
        let output = self.ktd(&["--out", out], None);
        let told = serde_json::from_slice(&output.stdout);
        (output.status.code(), told.unwrap_or_default())
    }
}

fn cost(money: &Value) -> u64 {
    let cost = &money["cost"];
    ["paid", "incomplete", "unknown"]
        .iter()
        .map(|part| cost[format!("{part}_picodollars")].as_u64().unwrap())
        .sum()
}

/// A cell's files whose bytes do not hang on when it was stopped.
fn events(scene: &Scene, out: &str) -> Vec<Vec<u8>> {
    let cells = scene.path(out).join("cells");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(cells)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let read = |folder: &PathBuf| std::fs::read(folder.join("events.jsonl")).unwrap();
    folders.iter().map(read).collect()
}

#[test]
fn cells_stop_at_the_cap_and_the_same_command_goes_on_when_it_is_raised() {
    let scene = Scene::new();
    scene.write("prices = \"prices.json\"\n", ", max_output_tokens = 400");
    let (code, whole) = scene.run("whole");
    assert_eq!(code, Some(0));
    let total = cost(&whole["money"]["experiment"]);
    let asked = scene.server.count();
    assert!(0 < total && whole["money"]["budget"].is_null());

    let (mut stops, mut spent_before) = (0, 0);
    // From a tenth of the cost on, in tenths; the most of a call is far above what it costs in the end.
    for tenths in 1..200 {
        let cap = total * tenths / 10;
        let text = format!("{}.{:012}", cap / 1_000_000_000_000, cap % 1_000_000_000_000);
        scene.capped(&text);
        let (code, told) = scene.run("capped");
        let spent = cost(&told["money"]["experiment"]);
        assert_eq!(
            told["money"]["budget"][0]["spent_picodollars"].as_u64(),
            Some(spent)
        );
        assert!(spent <= cap && spent_before <= spent, "{spent} of {cap}");
        spent_before = spent;
        let free = told["cells"].as_array().unwrap().iter();
        let mut free = free.filter(|cell| cell["agent"] == "h");
        assert!(free.all(|cell| cell["error"].is_null()), "what is free goes on");
        if code == Some(0) {
            assert_eq!(spent, total, "to the last place");
            break;
        }
        assert_eq!(code, Some(3), "{told}");
        stops += 1;
    }
    println!("{stops} stops on the way to {total}");
    assert!(2 < stops && spent_before == total);
    assert_eq!(scene.server.count(), 2 * asked, "nothing is asked twice");
    assert!(events(&scene, "whole") == events(&scene, "capped"));
}

#[test]
fn a_cell_that_goes_on_at_other_prices_says_what_it_had_spent_counts_now() {
    let scene = Scene::new();
    scene.capped("5.00");
    // One that is stopped by its cap in the middle, and goes on at half the price beside a program of one's own.
    let whole = scene.run("whole").1;
    let cap = cost(&whole["money"]["experiment"]) / 2;
    scene.capped(&format!("0.{cap:012}"));
    assert_eq!(scene.run("o").0, Some(3));
    scene.folder.write("prices.json", PRICES.replace("30.0", "15.0"));
    scene.capped("5.00");
    let own = "agents = [{ id = \"mine\", command = [\"false\"], unboxed = true, timeout_seconds = 1 },\n";
    let text = scene.folder.text("paid.toml").replace("agents = [", own);
    let short = "retries = { attempts = 1, unanswered_hours = 0, first_wait_ms = 1, longest_wait_ms = 1 }\n";
    scene.folder.write("paid.toml", format!("{short}{text}"));
    let output = command(scene.folder.path(), &["run", "paid.toml", "--out", "o"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("goes on at other prices; what it had spent, $0."),
        "{told}"
    );
    let ended = String::from_utf8_lossy(&output.stdout);
    assert!(ended.contains("mine") && !told.contains("budget"), "{told}");
}

#[test]
fn what_stops_is_told_with_the_way_on() {
    let scene = Scene::new();
    scene.capped("0.0001");
    let output = scene.ktd(&["--out", "o"], None);
    assert_eq!(output.status.code(), Some(3));
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    let (error, hint) = (told["error"].as_str().unwrap(), told["hint"].as_str().unwrap());
    assert!(
        error.contains("the budget of the experiment has no room: $0.0000 of $0.0001 are spent"),
        "{error}"
    );
    assert!(error.contains("6 of 12 cells are unfinished"), "{error}");
    assert!(hint.contains("raise the cap under [budget]"), "{hint}");
    assert_eq!(scene.server.count(), 0);

    // Who looks from elsewhere is told what the cap ended: in a line while it is watched, in a row for all cells.
    let status = |more: &[&str]| {
        let output = quiet(&scene.path(""), &[&["status", "o"], more].concat());
        assert_ok(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    let watched = status(&["--watch"]);
    assert!(
        watched.contains("6 failed") && watched.contains("; ended without a result: "),
        "{watched}"
    );
    assert!(
        watched.contains("the budget of the experiment has no room"),
        "{watched}"
    );
    let rows = status(&[]);
    assert_eq!(rows.matches("raise the cap").count(), 1, "{rows}");
}

#[test]
fn a_branch_stops_at_its_budget_and_goes_on_when_it_is_raised() {
    let scene = Scene::new();
    scene.capped("5.00");
    assert_eq!(scene.run("o").0, Some(0));
    let asked = scene.server.count();
    let branch = |budget: &str| {
        let bundle = "o/cells/m__w__bright-exact__memory-only__s1";
        let arguments = [
            "--json", "--quiet", "replay", bundle, "--branch", "2", "--out", "b",
        ];
        let who = ["--agent", "paid.toml:m", "--budget", budget];
        command(scene.folder.path(), &[&arguments[..], &who].concat())
            .output()
            .unwrap()
    };
    let output = branch("0.0001");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    let (error, hint) = (told["error"].as_str().unwrap(), told["hint"].as_str().unwrap());
    assert!(error.contains("$0.0000 of $0.0001 are spent"), "{error}");
    assert!(hint.contains("--budget"), "{hint}");
    assert_eq!(scene.server.count(), asked, "nothing is asked");
    assert_ok(&branch("5.00"));
    assert_eq!(
        scene.server.count(),
        asked + 1,
        "the one step after the recorded one"
    );
}

#[test]
fn a_measurement_stops_at_its_budget_before_a_call() {
    let scene = Scene::new();
    scene.capped("5.00");
    let measure = |more: &[&str]| {
        let arguments = [
            "--json",
            "--quiet",
            "doctor",
            "paid.toml",
            "--out",
            "o",
            "--probe",
            "m",
        ];
        let output = command(scene.folder.path(), &[&arguments[..], more].concat())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let told: Value = serde_json::from_slice(&output.stderr).unwrap();
        told["error"].as_str().unwrap().to_owned()
    };
    let error = measure(&["--budget", "0.000001"]);
    assert!(
        error.contains("the budget of measurement of m has no room"),
        "{error}"
    );
    scene.capped("0.000001");
    let error = measure(&[]);
    assert!(
        error.contains("the budget of the experiment has no room"),
        "{error}"
    );
    assert_eq!(scene.server.count(), 0);
}

#[test]
fn a_request_of_unknown_outcome_is_charged_at_its_most_and_shown_apart() {
    if !Need::CrashPoints.is_met() {
        return;
    }
    let scene = Scene::new();
    scene.capped("5.00");
    // Without the built-in agent, whose requests nobody pays: the one that the crash meets is the model's.
    let paid = scene.folder.text("paid.toml");
    let alone = paid.replace(",\n{ id = \"h\", builtin = \"hold\" }", "");
    assert_ne!(alone, paid);
    scene.folder.write("paid.toml", alone);
    assert!(!scene.ktd(&["--out", "o"], Some("sent:5")).status.success());
    let (code, told) = scene.run("o");
    assert_eq!(code, Some(0));
    let money = &told["money"]["experiment"];
    let unknown = money["sends"]["unknown"].as_u64().unwrap();
    // All cells were under way: one died between intent and outcome for certain, others perhaps.
    assert!((1..=6).contains(&unknown), "{money}");
    let most = money["cost"]["unknown_picodollars"].as_u64().unwrap();
    // 400 tokens of output and 1,024 of input at twice their price are in each.
    assert!(
        unknown * (400 * 30_000_000 + 1_024 * 10_000_000) < most,
        "{money}"
    );
    // The same request was answered after it: the lost one counts as much against the cap.
    let spent = told["money"]["budget"][0]["spent_picodollars"].as_u64().unwrap();
    let paid = money["cost"]["paid_picodollars"].as_u64().unwrap();
    assert!((paid + 1..cost(money)).contains(&spent), "{paid} {spent} {money}");
    // Counted again from the records alone, it is the same.
    let (_, again) = scene.run("o");
    assert_eq!(
        again["money"]["budget"][0]["spent_picodollars"].as_u64(),
        Some(spent)
    );
    let bundle = "o/cells/m__w__bright-exact__open-research__s1";
    assert_ok(&scene.folder.ktd(&["verify", bundle]));
}

/// Everything below a directory, by name.
fn names(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

#[test]
fn a_plan_asks_nobody_writes_nothing_and_needs_no_key() {
    let scene = Scene::new();
    let more = "prices = \"prices.json\"\n[budget]\nexperiment = \"0.01\"\n";
    scene.write(
        more,
        ", max_output_tokens = 400, api_key_env = \"KTD_TEST_NO_SUCH_KEY\"",
    );
    let before = names(scene.folder.path());
    let output = scene.folder.ktd(&["--json", "plan", "paid.toml"]);
    assert_ok(&output);
    assert_eq!(names(scene.folder.path()), before);
    assert_eq!(scene.server.count(), 0);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let agent = &told["plan"]["estimate"]["agents"][0];
    assert_eq!(
        (
            agent["agent"].as_str(),
            agent["cells"].as_u64(),
            agent["steps"].as_u64()
        ),
        (Some("m"), Some(6), Some(12))
    );
    let figures = |key: &str| {
        ["least", "expected", "most"].map(|scenario| agent["range"][scenario][key].as_u64().unwrap())
    };
    for key in ["calls", "input_tokens", "output_tokens", "cost_picodollars"] {
        assert!(
            figures(key).is_sorted() && 0 < figures(key)[0],
            "{key}: {:?}",
            figures(key)
        );
    }
    // One request a step without research, three with it.
    assert_eq!(figures("calls")[0], 2 * 2 * (1 + 1 + 3));
    let text = scene.folder.ktd(&["plan", "paid.toml"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("assumptions:") && text.contains("the budget of $0.0100"),
        "{text}"
    );
}

#[test]
fn a_budget_that_cannot_be_kept_is_told_before_the_run() {
    let scene = Scene::new();
    let budget = "[budget]\nexperiment = \"1.00\"\n";
    let prices = "prices = \"prices.json\"\n";
    let bound = ", max_output_tokens = 400";
    for (more, agent, part) in [
        (budget.to_owned(), bound, "no price table"),
        (format!("{prices}{budget}"), "", "no `max_output_tokens`"),
        (
            format!("{prices}[budget]\nvendor = {{ openai = \"1\" }}\n"),
            bound,
            "which no agent uses",
        ),
        (
            format!("{prices}[budget]\nexperiment = 1.0\n"),
            bound,
            "expected a string",
        ),
        (
            format!("{prices}[rates.NO_SUCH_KEY]\nin_flight = 2\n"),
            bound,
            "which no agent's key is called",
        ),
        (format!("{prices}[rates.X]\nin_flight = 0\n"), bound, "nonzero"),
        ("prices = \"none.json\"\n".to_owned(), bound, "none.json"),
    ] {
        scene.write(&more, agent);
        let output = scene.ktd(&["--out", "o"], None);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(part), "{part}: {told}");
        assert!(!scene.path("o/cells").exists());
    }
    let other = PRICES.replace("\"momentum\"", "\"other\"");
    scene.folder.write("prices.json", other);
    scene.write(&format!("{prices}{budget}"), bound);
    let told = scene.ktd(&["--out", "o"], None);
    assert!(String::from_utf8_lossy(&told.stderr).contains("no row for model"));
    // Without a budget the cost is unknown, and shown as such.
    scene.write(prices, bound);
    let (code, told) = scene.run("o");
    assert_eq!(code, Some(0));
    assert!(told["money"]["experiment"]["cost"].is_null(), "{told}");
    assert!(
        0 < told["money"]["experiment"]["tokens"]["uncached_input"]
            .as_u64()
            .unwrap()
    );
    // What is spent cannot be counted then; a row for it says what it was.
    scene.write(&format!("{prices}{budget}"), bound);
    assert_eq!(scene.ktd(&["--out", "o"], None).status.code(), Some(2));
    scene.capped("9.00");
    scene.folder.write("prices.json", PRICES);
    let (code, told) = scene.run("o");
    assert_eq!(code, Some(0));
    assert!(0 < told["money"]["budget"][0]["spent_picodollars"].as_u64().unwrap());
}
