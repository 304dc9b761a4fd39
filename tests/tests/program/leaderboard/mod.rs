//! `ktd leaderboard` and `ktd attribute`: a board tells skill from memory from luck, and bad input gets a clear answer.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod chosen;
mod files;
mod identity;
mod kept;
mod models;
mod pooled;
mod prompt_only;
mod ranked;
mod references;

use ktd_kit::program::{on_one_core, printed};
use ktd_kit::{Folder, assert_ok, quiet};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 90, days = 330 }
mask_key_file = "key"
masks = [{ level = "bright" }, { level = "blinded" }]
modes = ["memory-only"]
seeds = [1, 2]
agents = [
    { id = "oracle", control = "oracle" },
    { id = "cheater", builtin = "cheater" },
    { id = "random", builtin = "random" },
    { id = "equal-weight", builtin = "equal-weight" },
    { id = "hold", builtin = "hold" },
]
windows = [{ id = "long", last_days = 43 }, { id = "day", last_days = 1 }]
"#;

/// A finished experiment, made once for all tests, which only read it.
pub(crate) fn scene() -> &'static Path {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE
        .get_or_init(|| {
            let folder = Folder::new();
            run(folder.path(), "out", EXPERIMENT);
            folder
        })
        .path()
}

fn run(folder: &Path, out: &str, experiment: &str) {
    std::fs::write(folder.join("try.toml"), experiment).unwrap();
    // A key of its own each run would let chance decide whether `random` lands inside its band of 95 %.
    std::fs::write(folder.join("key"), ktd_kit::MASK_KEY).unwrap();
    assert_ok(&quiet(folder, &["run", "try.toml", "--out", out]));
}

/// What a command that must fail said.
fn refused(output: &Output) -> String {
    ktd_kit::refused(output, 2)
}

pub(crate) fn board(folder: &Path, arguments: &[&str]) -> Value {
    printed(&quiet(
        folder,
        &[&["leaderboard", "--json", "--replicates", "200"], arguments].concat(),
    ))
}

fn track<'b>(board: &'b Value, window: &str, level: &str) -> &'b Value {
    let tracks = board["tracks"].as_array().unwrap();
    tracks
        .iter()
        .find(|track| track["window"] == window && track["level"] == level)
        .unwrap()
}

fn leader<'b>(track: &'b Value, agent: &str) -> &'b Value {
    let leaders = track["leaders"].as_array().unwrap();
    leaders.iter().find(|leader| leader["agent"] == agent).unwrap()
}

fn total_return(leader: &Value) -> f64 {
    leader["metrics"]["total_return"]["median"]["value"]
        .as_f64()
        .unwrap()
}

#[test]
fn skill_memory_and_luck_are_told_apart() {
    let board = board(scene(), &["out"]);
    let (bright, blinded) = (track(&board, "long", "bright"), track(&board, "long", "blinded"));
    let oracle = leader(blinded, "oracle");
    assert_eq!(
        (&oracle["cohort"], &oracle["alpha_rank"]),
        (&"control".into(), &Value::Null)
    );
    for agent in ["cheater", "random", "equal-weight", "hold", "buy-and-hold"] {
        assert!(
            total_return(oracle) > 1.0 + total_return(leader(blinded, agent)),
            "{agent}"
        );
    }
    assert!((total_return(oracle) - total_return(leader(bright, "oracle"))).abs() < 1e-12);
    let gap = |agent: &str| {
        leader(blinded, agent)["memory_gap"]["total_return"]
            .as_f64()
            .unwrap()
    };
    assert!(gap("cheater") > 0.5 && gap("hold").abs() < 1e-12);
    assert!(
        total_return(leader(blinded, "cheater")).abs() < 1e-12,
        "under the mask it recognises nothing"
    );
    let random = &leader(blinded, "random")["selection"];
    let band = &random["null_band"];
    let value = random["a_day"].as_f64().unwrap();
    assert!(
        band["low"].as_f64().unwrap() <= value && value <= band["high"].as_f64().unwrap(),
        "{random}"
    );
    let index = leader(bright, "price index SH009999");
    assert_eq!(
        (&index["cohort"], &index["return_rank"]),
        (&"reference".into(), &Value::Null)
    );
}

#[test]
fn every_day_adds_up_on_every_basis() {
    let board = board(scene(), &["out"]);
    let mut compared = 0;
    for track in board["tracks"].as_array().unwrap() {
        for leader in track["leaders"].as_array().unwrap() {
            for contribution in leader["attribution"]
                .as_object()
                .into_iter()
                .flat_map(|bases| bases.values())
            {
                assert!(contribution["daily_gauge"].as_f64().unwrap() < 1e-12);
                for linking in ["carino", "pnl", "sum"] {
                    assert!(contribution[linking]["gauge"].as_f64().unwrap().abs() < 1e-12);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 5 * 2 * 2 * 3 * 3, "{compared}");
}

/// A member of a summary, public or private, of a cell.
fn recorded(cell: &str) -> Value {
    let bytes = std::fs::read(scene().join("out/cells").join(cell).join("summary.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn curves_are_means_over_seeds_and_so_are_their_parts() {
    let board = board(scene(), &["out"]);
    let random = leader(track(&board, "long", "bright"), "random");
    let series = |name: &str| -> Vec<f64> {
        let values = random["curves"][name].as_array().unwrap().iter();
        values.map(|value| value.as_f64().unwrap()).collect()
    };
    let nav = series("nav");
    let ends = [1, 2].map(|seed| {
        let summary = recorded(&format!("random__long__bright-exact__memory-only__s{seed}"));
        let initial = summary["account"]["final_nav_fen"].as_f64().unwrap();
        initial / (1.0 + summary["account"]["total_return"]["value"].as_f64().unwrap())
    });
    assert!((ends[0] - ends[1]).abs() < 1.0, "both began with the same cash");
    let returns = random["metrics"]["total_return"]["values"].as_array().unwrap();
    let returns: Vec<f64> = returns.iter().map(|value| value.as_f64().unwrap()).collect();
    assert!(
        (returns[0] - returns[1]).abs() > 1e-3,
        "seeds that trade alike show nothing"
    );
    let mean = f64::midpoint(returns[0], returns[1]);
    assert!((nav.last().unwrap() - 1.0 - mean).abs() < 2e-6, "{nav:?}, {mean}");
    let parts = ["common", "style", "selection", "other"].map(series);
    for (day, nav) in nav.iter().enumerate() {
        let sum: f64 = parts.iter().map(|part| part[day]).sum();
        assert!((nav - 1.0 - sum).abs() < 5e-6, "day {day}: {nav}, {sum}");
    }
}

#[test]
fn rejected_orders_are_counted_by_code_and_add_up() {
    let board = board(scene(), &["out"]);
    let (mut rejected, mut submitted) = (0, 0);
    for track in board["tracks"].as_array().unwrap() {
        for leader in track["leaders"].as_array().unwrap() {
            let orders = &leader["orders"];
            if leader["cohort"] == "reference" {
                assert!(orders.is_null());
                continue;
            }
            let codes = orders["rejected"].as_array().unwrap().iter();
            let by_code: u64 = codes.map(|code| code["orders"].as_u64().unwrap()).sum();
            let all = orders["submitted"].as_u64().unwrap();
            assert_eq!(by_code + orders["filled"].as_u64().unwrap(), all, "{leader}");
            rejected += by_code;
            submitted += all;
        }
    }
    assert!(0 < submitted && rejected < submitted, "{rejected} of {submitted}");
}

#[test]
fn what_has_no_value_has_a_reason() {
    let board = board(scene(), &["out"]);
    let cash = leader(track(&board, "long", "blinded"), "hold");
    let reason = |metric: &Value| metric["median"]["reason"].as_str().unwrap().to_owned();
    assert!(reason(&cash["metrics"]["sharpe_ratio"]).contains("do not vary"));
    assert!(reason(&cash["metrics"]["ece"]).contains("no order"));
    assert_eq!(cash["metrics"]["hhi"]["median"]["value"], 0.0);
    assert_eq!(cash["metrics"]["abstention"]["median"]["value"], 1.0);
    assert_eq!(
        cash["selection"],
        Value::Null,
        "a control is attributed and not ranked"
    );
    let day = leader(track(&board, "day", "blinded"), "equal-weight");
    assert!(reason(&day["metrics"]["sharpe_ratio"]).contains("at least 2"));
    assert!(!board.to_string().contains("NaN"));
}

#[test]
fn a_board_has_the_same_bytes_whatever_the_threads() {
    let folder = scene();
    let once = quiet(folder, &["leaderboard", "out", "--json"]);
    let again = on_one_core(folder, &["leaderboard", "out", "--json"]);
    assert_ok(&once);
    assert_eq!(once.stdout, again.stdout);
}

#[test]
fn what_is_not_shown_counts_as_a_trial_all_the_same() {
    let all = board(scene(), &["out"]);
    let one = board(
        scene(),
        &["out/cells/random__long__bright-exact__memory-only__s1"],
    );
    let trials = |board: &Value| track(board, "long", "bright")["trials"].as_u64().unwrap();
    // Two agents, two masks, two seeds; the oracle, the cheater and `hold` are controls.
    assert_eq!((trials(&all), trials(&one)), (8, 8));
    let track = track(&one, "long", "bright");
    assert_eq!(
        track["leaders"].as_array().unwrap().len(),
        4,
        "itself and the three references"
    );
}

#[test]
fn tables_page_and_json_are_written() {
    let folder = scene();
    let out = tempfile::tempdir().unwrap();
    let to = out.path().to_str().unwrap();
    let output = quiet(
        folder,
        &["leaderboard", "out", "--table", "all", "--wide", "--out", to],
    );
    assert_ok(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "Leaderboard:",
        "Table 3",
        "Table 4",
        "Table 5",
        "Table 8",
        "Table 11",
        "Over seeds:",
        "Rejected orders:",
        "underpowered",
        "oracle",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let written = std::fs::read(out.path().join("leaderboard.json")).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(written["tracks"].as_array().unwrap().len(), 4);
    let mut reader = csv::Reader::from_path(
        out.path()
            .join("tables/table5_long_blinded-exact_memory-only.csv"),
    )
    .unwrap();
    let heads = reader.headers().unwrap().clone();
    let place = heads.iter().position(|head| head == "portfolio").unwrap();
    let first = reader.records().next().unwrap().unwrap();
    assert!(first[place].parse::<f64>().is_ok(), "{first:?}");
}

#[test]
fn other_rules_are_not_ranked_together() {
    let folder = tempfile::tempdir().unwrap();
    let other = EXPERIMENT
        .replace("[1, 2]", "[1]")
        .replace("windows", "rules = { buy_bps = 6 }\nwindows");
    run(folder.path(), "other", &other);
    let ours = scene().join("out");
    let said = refused(&quiet(
        folder.path(),
        &["leaderboard", "other", ours.to_str().unwrap()],
    ));
    assert!(
        said.contains("cannot be ranked together: their rules differ"),
        "{said}"
    );
    let data = EXPERIMENT
        .replace("[1, 2]", "[1]")
        .replace("seed = 5", "seed = 6");
    run(folder.path(), "data", &data);
    let said = refused(&quiet(
        folder.path(),
        &["leaderboard", "data", ours.to_str().unwrap()],
    ));
    assert!(said.contains("their data differ"), "{said}");
}

/// A copy of one bundle that may be damaged.
fn copied(to: &Path) -> PathBuf {
    copy(
        &scene().join("out/cells/random__long__bright-exact__memory-only__s1"),
        &to.join("bundle"),
    )
}

fn copy(from: &Path, bundle: &Path) -> PathBuf {
    ktd_kit::copy(from, bundle);
    bundle.to_owned()
}

#[test]
fn a_bundle_with_a_missing_day_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = copied(folder.path());
    let ledger = bundle.join("private/ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&ledger, format!("{kept}\n")).unwrap();
    for command in ["leaderboard", "attribute"] {
        let output = quiet(folder.path(), &[command, "bundle"]);
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("ledger.jsonl") && said.contains("hint:"), "{said}");
    }
}

#[test]
fn a_bundle_without_its_private_part_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = copied(folder.path());
    std::fs::remove_dir_all(bundle.join("private")).unwrap();
    let said = refused(&quiet(folder.path(), &["leaderboard", "bundle"]));
    assert!(said.contains("private part"), "{said}");
    let said = refused(&quiet(folder.path(), &["attribute", "bundle"]));
    assert!(said.contains("private part"), "{said}");
}

/// Real days of a masked bundle stand behind the switch, as they do on a board; those of a bright one are no secret.
#[test]
fn attribute_names_days_that_a_mask_hides_to_who_asks_for_them() {
    let cell = |mask: &str| format!("out/cells/random__long__{mask}__memory-only__s1");
    let said = |arguments: &[&str]| {
        let output = quiet(scene(), &[&["attribute"], arguments].concat());
        assert_ok(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    let masked = std::fs::read_dir(scene().join("out/cells")).unwrap();
    let masked = masked.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut masked =
        masked.filter(|name| name.starts_with("random__long__blinded-") && name.ends_with("__s1"));
    let masked = format!("out/cells/{}", masked.next().unwrap());
    let daily: Value = serde_json::from_str(&said(&[&masked, "--real", "--json"])).unwrap();
    let days = daily["attributions"][0]["daily"].as_array().unwrap();
    let day = days[7]["date"].as_str().unwrap();
    let year = &day[..5];
    for hidden in [said(&[&masked]), said(&[&masked, "--json"])] {
        assert!(!hidden.contains(year), "{hidden}");
    }
    assert!(said(&[&masked]).contains("43 trading days, which the mask hides (--real names them)"));
    assert!(said(&[&masked, "--real"]).contains(year));
    assert!(said(&[&cell("bright-exact")]).contains(year));
}

#[test]
fn attribute_shows_three_bases_and_writes_days() {
    let folder = tempfile::tempdir().unwrap();
    copied(folder.path());
    let output = quiet(folder.path(), &["attribute", "bundle", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &report["attributions"][0];
    assert_eq!(
        report["excess"]["total"],
        report["metrics"]["excess_return"]["value"]
    );
    assert_eq!(report["excess_reason"], Value::Null);
    let output = quiet(folder.path(), &["attribute", "bundle", "--daily", "daily.csv"]);
    assert_ok(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "pre",
        "post",
        "two",
        "MOM_12_1",
        "selection",
        "every day adds up",
        "of random portfolios",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let mut reader = csv::Reader::from_path(folder.path().join("daily.csv")).unwrap();
    let width = reader.headers().unwrap().len();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), width), (43, 2 + 3 * (7 + 9) + 9));
    for row in rows {
        let cells: Vec<f64> = row.iter().skip(1).map(|cell| cell.parse().unwrap()).collect();
        for basis in 0..3 {
            let parts: f64 = cells[1..].chunks(16).nth(basis).unwrap().iter().sum();
            assert!((cells[0] - parts).abs() < 1e-12);
        }
    }
}

/// A panel file of the scene's market.
fn panel(folder: &Path) {
    assert_ok(&quiet(
        folder,
        &[
            "data",
            "synth",
            "--names",
            "90",
            "--days",
            "330",
            "--seed",
            "5",
            "--out",
            "panel.ktdp",
        ],
    ));
}

#[test]
fn files_of_ones_own_are_checked_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    panel(folder.path());
    let (code, date) = (first_code(scene()), last_date(scene()));
    let attribute = |rows: &str| {
        std::fs::write(folder.path().join("own.csv"), rows).unwrap();
        quiet(
            folder.path(),
            &["attribute", "--file", "own.csv", "--panel", "panel.ktdp"],
        )
    };
    let good = attribute(&format!("date,symbol,weight\n{date},{code},0.5\n"));
    assert_ok(&good);
    for (rows, part) in [
        (
            format!("date,symbol,weight\n{date},SH699999,0.5\n"),
            "line 2: the panel has no name \"SH699999\"",
        ),
        (
            format!("date,symbol,weight\n{date},{code},0.5\n{date},{code},0.1\n"),
            "line 3: the name has a weight",
        ),
        (format!("date,symbol,weight\n{date},{code},1.5\n"), "more than 1"),
        (format!("date,symbol,weight\n{date},{code},-0.5\n"), "below 0"),
        (format!("date,symbol,weight\n{date},{code},much\n"), "no number"),
        (
            format!("date,symbol,weight\n1999-01-04,{code},0.5\n"),
            "is no trading day",
        ),
        (
            format!("date,symbol,shares,price\n{date},{code},-100,\n"),
            "0 are held",
        ),
        (
            format!("date,symbol,shares,price\n{date},{code},100,0\n"),
            "price is 0",
        ),
        (
            format!("date,symbol,shares,price\n{date},{code},90000000,\n"),
            "CNY of cash",
        ),
        ("date,symbol,weight\n".to_owned(), "has no rows"),
        ("day,name\n1,2\n".to_owned(), "its columns are"),
    ] {
        let said = refused(&attribute(&rows));
        assert!(said.contains(part) && said.contains("hint:"), "{rows}{said}");
    }
}

/// A code that traded in the scene's bright bundles.
fn first_code(scene: &Path) -> String {
    let ledger =
        scene.join("out/cells/equal-weight__long__bright-exact__memory-only__s1/private/ledger.jsonl");
    let text = std::fs::read_to_string(ledger).unwrap();
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["body"]["positions"][0]["symbol"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn last_date(scene: &Path) -> String {
    let ledger = scene.join("out/cells/hold__long__bright-exact__memory-only__s1/private/ledger.jsonl");
    let text = std::fs::read_to_string(ledger).unwrap();
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["body"]["date"].as_str().unwrap().to_owned()
}

#[test]
fn settings_are_checked_and_change_the_protocol() {
    let folder = scene();
    let settings = tempfile::tempdir().unwrap();
    let path = settings.path().join("s.toml");
    let file = path.to_str().unwrap();
    for (text, part) in [
        ("wieght = \"equal\"", "did you mean `weight`?"),
        ("weight = \"cap\"", "sqrt_amount, amount, equal"),
        ("styles = [\"MOM\"]", "which is no factor"),
        ("min_cross_section = 2\nmax_missing = 12", "max_missing"),
        ("calibration_start = \"2020-01-01\"", "set both"),
    ] {
        std::fs::write(&path, text).unwrap();
        let said = refused(&quiet(folder, &["leaderboard", "out", "--settings", file]));
        assert!(said.contains(part), "{text}: {said}");
    }
    std::fs::write(&path, "weight = \"equal\"\nvif_threshold = 1.2\n").unwrap();
    let (own, other) = (
        board(folder, &["out"]),
        board(folder, &["out", "--settings", file]),
    );
    assert_ne!(own["protocol"]["metrics"], other["protocol"]["metrics"]);
    assert_eq!(own["protocol"]["data"], other["protocol"]["data"]);
    assert!(
        other["model"]["styles"].as_array().unwrap().len() < 9,
        "the screen drops columns at 1.2"
    );
}
