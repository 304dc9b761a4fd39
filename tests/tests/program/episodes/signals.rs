//! Scores predicted elsewhere and traded inside a track: at the next open, behind every mask, and never a day too early.

use ktd_bundle::BundlePaths;
use ktd_bundle::summary_file::read_summary;
use ktd_env::{Market, NameId};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::score_files::hash_score_files;
use ktd_kit::Folder;
use ktd_kit::episode::{Trace, experiment, key, market, prepare, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const DAYS: usize = 30;

const GRID: &str = r#"
masks = [{ level = "bright" }, { level = "blinded" }, { level = "blinded", numeric = "banded" }]
modes = ["fixed-candidate"]
agents = [
    { id = "top20", control = "signals", scores = "FILE", strategy = "top20" },
    { id = "dropout", control = "signals", scores = "FILE", strategy = "topk-dropout" },
]
rules = { max_positions = 5, max_single_weight = "0.2" }
"#;

/// The return from the open of the day after `day` to the open of the day after that.
fn next_return(market: &Market, name: NameId, day: usize) -> Option<f64> {
    let open = |day: usize| {
        let bar = market.bar(name, market.day_at(day)?)?;
        Some(bar.adjusted(bar.open.filter(|_| bar.trades_at_open())?))
    };
    Some(open(day + 2)? / open(day + 1)? - 1.0)
}

/// A score file of a window: what is known of each stock, `late` days after it is of use.
fn scores(market: &Market, late: usize, noise: impl Fn(usize) -> f64) -> String {
    let last = market.calendar().len();
    let mut text = "date,code,score\n".to_owned();
    for day in last - DAYS - 3..last {
        let date = market.calendar()[day].reveal();
        for (name, info) in market.names() {
            if let Some(score) = day.checked_sub(late).and_then(|of| next_return(market, name, of)) {
                let code = info.ticker.reveal();
                writeln!(text, "{date},{code},{}", score * noise(day)).unwrap();
            }
        }
    }
    text
}

fn with_file(grid: &str, path: &Path) -> ExperimentConfig {
    let mut config = experiment(DAYS, &grid.replace("FILE", path.to_str().unwrap()));
    hash_score_files(&mut config.agents, Path::new("")).unwrap();
    config
}

/// Gains at the end and traces, by agent and mask.
fn played(scores: &str) -> BTreeMap<(String, String), (f64, Trace)> {
    let folder = Folder::with(&[("scores.csv", scores)]);
    let config = with_file(GRID, &folder.at("scores.csv"));
    let prepared = prepare(&config, market(11), key(7));
    let output = tempfile::tempdir().unwrap();
    let ended = run(&config, &prepared, output.path()).into_iter();
    ended
        .map(|(cell, bundle)| {
            let summary = read_summary(&BundlePaths::new(&bundle)).unwrap();
            let fen = summary.account.unwrap().final_nav_fen;
            let mask = format!("{}/{}", cell.mask.level.label(), cell.mask.numeric.label());
            let gain = ktd_env::Fen(fen).to_yuan() / 1e6 - 1.0;
            ((cell.agent.id, mask), (gain, Trace::of(&bundle)))
        })
        .collect()
}

#[test]
fn scores_by_real_code_are_traded_behind_every_mask_and_never_a_day_too_early() {
    let market = market(11);
    let (on_time, late) = (
        played(&scores(&market, 0, |_| 1.0)),
        played(&scores(&market, 1, |_| 1.0)),
    );
    for ((agent, mask), (gain, _)) in &on_time {
        let (late, _) = late[&(agent.clone(), mask.clone())];
        println!("{agent} {mask}: on time {gain:.3}, a day late {late:.3}");
        assert!(0.3 < *gain, "{agent} {mask}: {gain}");
        // What is dated by the day of the trade is known to whoever peeks at that day's rows, and to nobody else.
        assert!(late < 0.2 * gain, "{agent} {mask}: {late}");
    }
    for agent in ["top20", "dropout"] {
        let gain = |mask: &str| on_time[&(agent.to_owned(), mask.to_owned())].0;
        assert!((gain("bright/exact") - gain("blinded/exact")).abs() < f64::EPSILON);
    }
}

#[test]
fn no_score_of_a_later_day_is_read() {
    let market = market(11);
    let window = market.calendar().len() - DAYS;
    let base = played(&scores(&market, 0, |_| 1.0));
    for days in [1, 12] {
        let turned = played(&scores(
            &market,
            0,
            |day| if day < window + days { 1.0 } else { -1.0 },
        ));
        for (cell, (_, trace)) in &base {
            let other = &turned[cell].1;
            assert!(
                trace.before_close_of(days) == other.before_close_of(days),
                "{cell:?}, {days}"
            );
            assert!(
                trace != other,
                "{cell:?}: the scores after day {days} changed nothing"
            );
        }
    }
}

/// An experiment on a panel file, for the program.
const EXPERIMENT: &str = r#"
name = "try"
panel = "panel.ktdp"
windows = [{ id = "w", last_days = 3 }]
masks = [{ level = "blinded" }]
modes = ["fixed-candidate"]
agents = [{ id = "ml", control = "signals", scores = "scores.csv", strategy = "top20" }]
"#;

fn folder(scores: &str) -> Folder {
    let folder = Folder::with(&[("try.toml", EXPERIMENT), ("scores.csv", scores)]);
    folder.write("panel.ktdp", market(11).to_bytes());
    folder
}

#[test]
fn a_record_names_its_score_file_and_replays_without_it() {
    let folder = folder(&scores(&market(11), 0, |_| 1.0));
    let run = |arguments: &[&str]| {
        let output = folder.ktd(arguments);
        let told = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(told).unwrap())
    };
    let (ended, told) = run(&["run", "try.toml", "--out", "out"]);
    assert!(ended, "{told}");
    let bundle = "out/private/cells/ml__w__blinded-exact__fixed-candidate__s1";
    let header = folder.text(&format!("{bundle}/header.json"));
    let hash = ktd_io::sha256::sha256_hex(&folder.read("scores.csv"));
    assert!(
        header.contains(&format!("\"scores_sha256\": \"{hash}\"")),
        "{header}"
    );

    std::fs::remove_file(folder.at("scores.csv")).unwrap();
    for command in ["replay", "verify"] {
        let (same, told) = run(&[command, bundle]);
        assert!(same, "{command}: {told}");
    }
    let (ended, told) = run(&["run", "try.toml", "--out", "out"]);
    assert!(!ended && told.contains("scores.csv"), "{told}");
    folder.write("scores.csv", scores(&market(11), 1, |_| 1.0));
    let (ended, told) = run(&["run", "try.toml", "--out", "out"]);
    assert!(!ended && told.contains("scores_sha256"), "{told}");
}

#[test]
fn a_score_file_that_is_wrong_is_refused_by_column_or_row() {
    let market = market(11);
    let date = market.calendar().last().unwrap().reveal();
    let code = market.names().next().unwrap().1.ticker.reveal();
    let row = format!("{date},{code},0.5");
    for (text, part) in [
        (format!("date,code\n{date},{code}\n"), "no column `score`"),
        (format!("date,symbol,score\n{row}\n"), "no column `code`"),
        (
            format!("date,code,score\n{row}\n{row}\n"),
            "row 3: a second score",
        ),
        (
            format!("date,code,score\n{date},{code},NaN\n"),
            "row 2: the score is not",
        ),
        (
            format!("date,code,score\n{date},{code},\n"),
            "row 2: the score is not",
        ),
        (
            format!("date,code,score\n{date},SH999999,1\n"),
            "row 2: unknown code \"SH999999\"",
        ),
        (
            format!("date,code,score\n1999-01-04,{code},1\n"),
            "1999-01-04 is no trading day",
        ),
        ("date,code,score\n".to_owned(), "no score"),
        (String::new(), "is empty"),
    ] {
        let folder = folder(&text);
        let output = folder.ktd(&["run", "try.toml", "--out", "out"]);
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!output.status.success() && told.contains(part), "{text}: {told}");
    }
}
