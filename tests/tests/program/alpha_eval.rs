//! `ktd alpha eval`: a study is evaluated as a stranger would ask.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_data::{ImportOptions, import};
use ktd_env::{Market, PriceBasis, TradeDate};
use ktd_expressions::{FormulaPrecision, FormulaRole};
use ktd_formula_study::{AlphaEvaluating, AlphaReport};
use ktd_formulas::{BuiltInSet, SetOfFormulas, ValueSpan, evaluate, market_fields};
use ktd_kit::golden::golden_root;
use ktd_kit::need::data_root;
use ktd_kit::program::printed;
use ktd_kit::study::run_study;
use ktd_kit::{Folder, Need, assert_ok, files, quiet, refused};
use ktd_study::any;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const SPLITS: &str =
    "splits = { train = ['2022-03-07', '2023-02-22'], test = ['2023-02-23', '2023-08-14'] }\n";

const FORMULAS: &str = "id,expression\nreversal,\"$close/Ref($close,5)\"\nagain,\"$close / Ref($close, 5)\"\n\
                        volume,\"Mean($volume,5)/$volume\"\nconstant,\"$close*0\"\nfuture,\"Ref($close,-1)\"\n";

fn study(keys: &str) -> Folder {
    let pools = "pools = [{ id = 'mine', file = 'mine.csv' }]\n";
    let text = format!("name = 'study'\n{SPLITS}{pools}noise = {{ draws = 1 }}\n{keys}");
    Folder::with(&[("study.toml", text.as_str()), ("mine.csv", FORMULAS)])
}

fn evaluated(folder: &Path, file: &str, threads: usize, out: &str) -> AlphaReport {
    let files = (&*folder.join(file), &*folder.join(out));
    let end = run_study(any::<AlphaEvaluating>(), files, threads).unwrap();
    serde_json::from_value(end.finished.unwrap().summary).unwrap()
}

#[test]
fn a_study_has_the_same_bytes_on_any_threads_and_a_second_run_does_nothing() {
    let folder = study("");
    let report = evaluated(folder.path(), "study.toml", 1, "one");
    evaluated(folder.path(), "study.toml", 2, "two");
    evaluated(folder.path(), "study.toml", 7, "seven");
    let bytes = |out: &str| -> Vec<Vec<u8>> {
        let files = [
            "report.json",
            "alphas.csv",
            "pools.csv",
            "combinations.csv",
            "register.json",
        ];
        files
            .map(|file| std::fs::read(folder.at(out).join(file)).unwrap())
            .to_vec()
    };
    assert_eq!(bytes("one"), bytes("two"));
    assert_eq!(bytes("one"), bytes("seven"));
    let changed = |out: &str| {
        std::fs::metadata(folder.at(out).join("report.json"))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = changed("one");
    assert_eq!(evaluated(folder.path(), "study.toml", 2, "one"), report);
    assert_eq!(changed("one"), before);
    // A table that is not the report's own, as a killed run may leave it, is made again.
    folder.write("one/pools.csv", "another run's");
    assert_eq!(evaluated(folder.path(), "study.toml", 2, "one"), report);
    assert_eq!(bytes("one"), bytes("two"));
    let pool = &report.pools[0];
    assert_eq!(
        (pool.alphas, pool.duplicates, pool.constants, pool.refused),
        (4, 1, 1, 1)
    );
    let (reversal, again, constant) = (&report.alphas[0], &report.alphas[1], &report.alphas[3]);
    assert_eq!(again.duplicate_of.as_deref(), Some("reversal"));
    assert_eq!(again.row, reversal.row);
    // What is undefined is null with its reason, never 0.
    let json: Value = serde_json::from_slice(&bytes("one")[0]).unwrap();
    assert_eq!(json["alphas"][3]["id"], "constant");
    for figure in ["pps", "pfs", "nw_t"] {
        assert!(json["alphas"][3]["figures"][figure].is_null(), "{figure}");
        assert_eq!(json["alphas"][3]["undefined"][figure], "too_few_days");
        assert_eq!(constant.row.get(figure), None);
    }
    assert_eq!(json["refused"][0]["code"], "look_ahead");
}

/// What has no figure has a reason in its place, stands in the pool's count, and moves no other formula.
#[test]
fn alphas_that_are_infinite_missing_or_rare_are_evaluated() {
    let folder = study("");
    let lines = [
        "id,expression",
        "reversal,\"$close/Ref($close,5)\"",
        "infinite,\"$close/($close-$close)\"",
        "missing,\"Log(0-$close)\"",
        "rare,\"Log(Abs($close/Ref($close,1)-1)-0.05)\"",
        "nul,\"$close\0\"",
        "unknown,\"$turnover\"",
    ];
    folder.write("mine.csv", lines.join("\n"));
    let report = evaluated(folder.path(), "study.toml", 2, "out");
    let pool = &report.pools[0];
    assert_eq!((pool.alphas, pool.refused), (4, 2));
    let text = std::fs::read_to_string(folder.at("out/report.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    for (place, id) in [(1, "infinite"), (2, "missing")] {
        let alpha = &json["alphas"][place];
        assert_eq!(alpha["id"], id);
        for figure in ["pps", "rre", "pfs", "sr"] {
            assert!(alpha["figures"][figure].is_null(), "{id} {figure}");
            assert!(alpha["undefined"][figure].is_string(), "{id} {figure}");
        }
    }
    let rare = json["alphas"][3]["figures"]["coverage"].as_f64().unwrap();
    assert!((0.0..0.5).contains(&rare), "{rare}");
    assert_eq!(json["refused"][0]["code"], "syntax");
    assert_eq!(json["refused"][1]["code"], "unknown_field");
    let refused = json["refused"][1].to_string();
    assert!(refused.contains("close"), "{refused}");
    assert!(!text.contains("NaN"));
    folder.write("mine.csv", lines[..2].join("\n"));
    let alone = evaluated(folder.path(), "study.toml", 2, "alone");
    let figure = |report: &AlphaReport, name: &str| report.alphas[0].row.get(name);
    for name in ["pps", "rre", "pfs", "sr", "turnover"] {
        assert_eq!(figure(&alone, name), figure(&report, name), "{name}");
    }
    assert_eq!(alone.pools[0].row.get("de"), None);
}

/// Of a formula and the same times -1, one is turned, and both are one alpha on train and on test days.
#[test]
fn the_sign_that_train_days_teach_holds_on_test_days() {
    let folder = study("");
    let pair = "id,expression\nup,\"$close/Ref($close,5)\"\ndown,\"-($close/Ref($close,5))\"\n";
    folder.write("mine.csv", pair);
    let turned = evaluated(folder.path(), "study.toml", 2, "turned");
    let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
    folder.write("written.toml", format!("{text}orientation = 'none'\n"));
    let written = evaluated(folder.path(), "written.toml", 2, "written");
    let figure = |report: &AlphaReport, row: usize| report.alphas[row].row.get("rank_ic").unwrap();
    for (row, split) in [(0, "train"), (2, "test")] {
        let (up, down) = (&turned.alphas[row], &turned.alphas[row + 1]);
        assert_eq!((up.split.as_str(), down.id.as_str()), (split, "down"));
        assert_ne!(up.is_turned, down.is_turned);
        assert_eq!(up.row, down.row);
        let sign = if up.is_turned { -1.0 } else { 1.0 };
        assert!((figure(&turned, row) - sign * figure(&written, row)).abs() < 1e-15);
        assert!(!written.alphas[row].is_turned && !written.alphas[row + 1].is_turned);
    }
    assert!(0.0 < figure(&turned, 0), "{}", figure(&turned, 0));
}

/// What may be concluded stands in the report: intervals hold their figures, ratios are deflated by the number tried, the best
/// of valid days are followed on test days, and a pool of a model that may know test days is marked.
#[test]
fn a_report_says_what_may_be_concluded() {
    let folder = study("");
    let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
    let splits = "splits = { train = ['2022-03-07', '2022-11-30'], valid = ['2022-12-01', '2023-03-31'], test = ['2023-04-03', '2023-09-29'] }\n";
    let formula = "{\"id\":\"a\",\"expression\":\"$close/Ref($close,5)\"}";
    let wide = "{\"id\":\"b\",\"expression\":\"Std($close,20)\"}";
    folder.write(
        "pool.json",
        format!(
            "{{\"formulas\":[{formula},{wide}],\"tried\":5000,\"model\":{{\"known_until\":\"unknown\"}}}}"
        ),
    );
    let pools = "{ id = 'mined', mined = '.' }, { id = 'old', file = 'mine.csv', known_until = '2023-01-31' }, { id = 'bars', builtin = 'alpha158', first = 12 }";
    folder.write(
        "study.toml",
        text.replace(SPLITS, splits)
            .replace("{ id = 'mine', file = 'mine.csv' }", pools),
    );
    let report = evaluated(folder.path(), "study.toml", 2, "out");
    let of = |pool: &str, split: &str| {
        let row = report
            .pools
            .iter()
            .find(|row| row.pool == pool && row.split == split)
            .unwrap();
        (row.is_hindsight, row.known_until.clone())
    };
    assert_eq!(of("mined", "test"), (true, Some("unknown".to_owned())));
    assert_eq!(of("old", "valid"), (true, Some("2023-01-31".to_owned())));
    assert_eq!(of("old", "test"), (false, Some("2023-01-31".to_owned())));
    assert_eq!(of("bars", "test"), (false, None));
    let alpha = |pool: &str, id: &str| {
        let mut rows = report.alphas.iter().filter(|row| row.split == "test");
        rows.find(|row| row.pool == pool && row.id == id).unwrap()
    };
    let figure = |pool: &str, id: &str, name: &str| alpha(pool, id).row.get(name).unwrap();
    let (low, sr, high) = (
        figure("mined", "a", "sr_low"),
        figure("mined", "a", "sr"),
        figure("mined", "a", "sr_high"),
    );
    assert!(low < sr && sr < high, "{low} {sr} {high}");
    // The same formula in both pools: 5,000 trials of either sign are the most that anybody may have tried.
    assert_eq!(alpha("mined", "a").formula, alpha("old", "reversal").formula);
    assert_eq!(
        figure("mined", "a", "dsr").to_bits(),
        figure("old", "reversal", "dsr_low").to_bits()
    );
    assert!(figure("mined", "a", "dsr") < figure("old", "reversal", "dsr_high"));
    assert!((0.9..=1.0).contains(&figure("mined", "a", "coverage")));
    for row in report.inference.iter().filter(|row| row.pool == "bars") {
        let share = row.row.get("pbo").unwrap();
        let p = row.row.get("spa_p").unwrap();
        assert!(
            (0.0..=1.0).contains(&share) && (0.0..=1.0).contains(&p),
            "{share} {p}"
        );
    }
    let shown = folder.text("out/report.md");
    assert!(
        shown.contains(
            "an alpha whose gain after costs on test days is more than luck gives the best of as many"
        ),
        "{shown}"
    );
    assert_ranks_and_choices(&folder, &report);
}

/// A pool that a search chose by days that the study tests is hindsight on test days, as one of a model that knows them is.
#[test]
fn a_pool_that_was_chosen_by_test_days_is_marked_on_them_alone() {
    let folder = study("");
    for (pool, made) in [
        ("late", "\"read_until\":\"2023-02-23\""),
        ("early", "\"read_until\":\"2023-02-22\""),
        ("silent", "\"tried\":3"),
        (
            "model",
            "\"read_until\":\"2022-12-30\",\"model\":{\"known_until\":\"2023-08-31\"}",
        ),
    ] {
        let formula = "{\"id\":\"a\",\"expression\":\"$close/Ref($close,5)\"}";
        let text = format!("{{\"formulas\":[{formula}],{made}}}");
        folder.write(&format!("{pool}/pool.json"), text);
    }
    let pools =
        ["late", "early", "silent", "model"].map(|pool| format!("{{ id = '{pool}', mined = '{pool}' }}"));
    let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
    let text = text.replace("{ id = 'mine', file = 'mine.csv' }", &pools.join(", "));
    folder.write("study.toml", text);
    let report = evaluated(folder.path(), "study.toml", 2, "out");
    let marks: BTreeMap<(&str, &str), (bool, Option<&str>)> = report
        .pools
        .iter()
        .map(|row| {
            let mark = (row.is_hindsight, row.known_until.as_deref());
            ((row.pool.as_str(), row.split.as_str()), mark)
        })
        .collect();
    assert_eq!(marks[&("late", "test")], (true, Some("2023-02-23")));
    assert_eq!(marks[&("early", "test")], (false, Some("2023-02-22")));
    assert_eq!(marks[&("silent", "test")], (true, Some("unknown")));
    assert_eq!(marks[&("model", "test")], (true, Some("2023-08-31")));
    assert_eq!(marks[&("late", "train")], (false, None));
    assert_eq!(marks[&("model", "train")], (true, Some("2023-08-31")));
}

/// Ranks with their groups, and choices by valid days with their curves.
fn assert_ranks_and_choices(folder: &Folder, report: &AlphaReport) {
    // Pools and alphas are ranked, with an interval that holds the rank, and everybody is in a group.
    for split in ["train", "valid", "test"] {
        let of_split = report.ranks.iter().filter(|row| row.split == split);
        let (pools, alphas): (Vec<_>, Vec<_>) = of_split.partition(|row| row.of == "pools");
        assert_eq!((pools.len(), alphas.len()), (3, 16));
        let holds =
            |row: &&ktd_formula_study::RankRow| row.rank_low <= row.rank_high && !row.groups.is_empty();
        assert!(pools.iter().chain(&alphas).all(holds));
    }
    // Four figures and five weights, chosen on valid days among distinct alphas.
    assert_eq!(report.selections.len(), 9);
    for selection in &report.selections {
        assert!(selection.alphas.len() <= 20 && !selection.alphas.contains(&"old/again".to_owned()));
        assert_eq!(selection.curve.len(), report.curve_days.len());
        let last = selection.curve.last().unwrap();
        assert!(last.is_finite() && 0.0 < *last);
    }
    let valid = |id: &str| {
        let rows = &mut report.alphas.iter().filter(|row| row.split == "valid");
        rows.find(|row| format!("{}/{}", row.pool, row.id) == id)
            .and_then(|row| row.row.get("pps"))
    };
    let chosen: Vec<f64> = report.selections[0]
        .alphas
        .iter()
        .filter_map(|id| valid(id))
        .collect();
    assert!(chosen.is_sorted_by(|left, right| left >= right), "{chosen:?}");
    let years: BTreeSet<&str> = report.years.iter().map(|row| row.year.as_str()).collect();
    assert_eq!(years, BTreeSet::from(["2022", "2023"]));
    let csv = std::fs::read_to_string(folder.at("out/curves.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + report.curve_days.len());
    let csv = std::fs::read_to_string(folder.at("out/robustness_and_drawdown.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 3 * 11);
    let page = std::fs::read_to_string(folder.at("out/index.html")).unwrap();
    assert!(page.contains("by the weight of IC in it (selections.csv)"));
}

/// The page needs nothing else, and everything but the report can be made again of it.
#[test]
fn tables_and_page_are_made_again_of_the_report() {
    let folder = study("");
    evaluated(folder.path(), "study.toml", 2, "out");
    let before = files(&folder.at("out"));
    let page = String::from_utf8(before[Path::new("index.html")].clone()).unwrap();
    for needle in [
        "<svg",
        "turnover on stability",
        "test days (robustness_and_drawdown.csv)",
        "what luck explains",
        "rose.csv",
        "look_ahead",
    ] {
        assert!(page.contains(needle), "{needle}");
    }
    for foreign in ["http://", "https://", "<script", "<link", "NaN", "src="] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    for (path, _) in before
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|end| end == "csv"))
    {
        std::fs::remove_file(folder.at("out").join(path)).unwrap();
    }
    std::fs::remove_file(folder.at("out/index.html")).unwrap();
    assert_ok(&quiet(folder.path(), &["report", "out"]));
    assert_eq!(files(&folder.at("out")), before);
    let error = refused(&quiet(folder.path(), &["report", "nowhere"]), 2);
    assert!(error.contains("no such file or folder"), "{error}");
}

/// What is evaluated with a formula moves none of its figures: batches of one give the same bytes.
#[test]
fn a_study_has_the_same_figures_in_batches_of_any_size() {
    let folder = study("");
    let whole = evaluated(folder.path(), "study.toml", 2, "whole");
    let text = folder.text("study.toml");
    folder.write("study.toml", format!("batch_mb = 0\n{text}"));
    assert_eq!(evaluated(folder.path(), "study.toml", 2, "one_by_one"), whole);
    assert_ok(&quiet(folder.path(), &["verify", "one_by_one", "--deep"]));
    // A block that is another one's is found.
    let alphas = |block: &str| folder.at(&format!("one_by_one/units/{block}/alphas.jsonl.zst"));
    std::fs::copy(alphas("block.0001"), alphas("block.0003")).unwrap();
    let error = refused(&quiet(folder.path(), &["verify", "one_by_one"]), 1);
    assert!(error.contains("block.0003"), "{error}");
}

/// The deviation of the noise is that of days that both runs read.
#[test]
fn a_closed_test_split_moves_no_figure_of_the_others() {
    let folder = study("");
    let opened = evaluated(folder.path(), "study.toml", 2, "opened");
    let output = quiet(
        folder.path(),
        &[
            "--json",
            "alpha",
            "eval",
            "study.toml",
            "--no-test",
            "--out",
            "closed",
        ],
    );
    assert_ok(&output);
    let closed: AlphaReport = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(closed.noise_sigma, opened.noise_sigma);
    assert!(!closed.alphas.is_empty());
    for row in &closed.alphas {
        assert!(opened.alphas.contains(row), "{}", row.id);
    }
}

/// Everything that a report shows decides whether it is made again.
#[test]
fn a_report_is_made_again_when_a_refused_formula_or_the_number_tried_is_another() {
    let folder = study("");
    let refused = |folder: &Folder| evaluated(folder.path(), "study.toml", 2, "out").refused[0].clone();
    assert_eq!(
        (refused(&folder).id.as_str(), refused(&folder).code.as_str()),
        ("future", "look_ahead")
    );
    folder.write(
        "mine.csv",
        FORMULAS.replace("future,\"Ref($close,-1)\"", "broken,\"Ref($close\""),
    );
    assert_eq!(
        (refused(&folder).id.as_str(), refused(&folder).code.as_str()),
        ("broken", "syntax")
    );
    let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
    folder.write("study.toml", text.replace("file = 'mine.csv'", "mined = '.'"));
    let tried = |tried: usize| {
        folder.write(
            "pool.json",
            format!("{{\"formulas\":[{{\"id\":\"a\",\"expression\":\"$close\"}}],\"tried\":{tried}}}"),
        );
        evaluated(folder.path(), "study.toml", 2, "out").pools[0].tried
    };
    assert_eq!([tried(7), tried(8)], [Some(7), Some(8)]);
}

/// Robustness to noise on inputs and to noise on an alpha's own values are two figures.
#[test]
fn each_mode_of_noise_is_a_metric_of_its_own() {
    let folder = study("");
    let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
    let figures = ["input", "bar", "output", "code"].map(|mode| {
        folder.write(
            "study.toml",
            text.replace("draws = 1", &format!("mode = '{mode}', draws = 1, sigma = 0.05")),
        );
        let report = evaluated(folder.path(), "study.toml", 2, mode);
        assert_eq!(report.noise_mode, mode);
        report.alphas[0].row.get("pfs_n").unwrap()
    });
    assert!(
        figures.iter().all(|figure| 0.0 < *figure && *figure < 1.0),
        "{figures:?}"
    );
    let mut distinct = figures.map(f64::to_bits).to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 4, "{figures:?}");
    // The index's level, scaled to [0, 1], varies more than its daily returns.
    let sigma = ["input", "code"].map(|mode| {
        folder.write(
            "study.toml",
            text.replace("draws = 1", &format!("mode = '{mode}', draws = 1")),
        );
        evaluated(folder.path(), "study.toml", 2, "sigma")
            .noise_sigma
            .unwrap()
    });
    assert!(sigma[0] < 0.05 && 0.1 < sigma[1], "{sigma:?}");
}

#[test]
fn test_days_are_closed_until_asked_for_and_every_set_that_saw_them_is_counted() {
    let folder = study("");
    let eval = |arguments: &[&str]| -> Value {
        printed(&quiet(
            folder.path(),
            &[
                &["--json", "alpha", "eval", "study.toml", "--out", "out"],
                arguments,
            ]
            .concat(),
        ))
    };
    let closed = eval(&["--no-test"]);
    assert_eq!(closed["test_looks"], 0);
    assert_eq!(closed["splits"].as_array().unwrap().len(), 1);
    assert!(!folder.at("out/register.json").exists());
    assert_eq!(eval(&[])["test_looks"], 1);
    assert_eq!(eval(&[])["test_looks"], 1);
    folder.write("mine.csv", "id,expression\nother,\"$open/$close\"\n");
    assert_eq!(eval(&[])["test_looks"], 2);
    // The same formulas in another order and by other names are the same look.
    folder.write("mine.csv", "id,expression\nnamed,\"$open / $close\"\n");
    assert_eq!(eval(&[])["test_looks"], 2);
    // Closing them again forgets nobody who has looked.
    let closed = eval(&["--no-test"]);
    assert_eq!(
        (&closed["test_looks"], &closed["is_test_open"]),
        (&2.into(), &false.into())
    );
    let shown = folder.ktd(&["alpha", "eval", "study.toml", "--out", "out", "--no-test"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("test days closed now, looked at 2 times before"),
        "{shown}"
    );
}

#[test]
fn an_invalid_study_says_what_and_how_to_fix_it() {
    for (keys, from, to, part) in [
        (
            "",
            "2022-03-07",
            "2001-01-01",
            "split train, 2001-01-01 to 2023-02-22, leaves the panel",
        ),
        ("", "'2023-02-22'", "'2022-03-21'", "split train has 11 sessions"),
        (
            "",
            "'2023-02-23'",
            "'2023-02-20'",
            "split test begins before split train ends",
        ),
        (
            "",
            "file = 'mine.csv'",
            "builtin = 'alpha159'",
            "\"alpha159\" is unknown",
        ),
        (
            "",
            "file = 'mine.csv'",
            "file = 'mine.csv', pool = 'x'",
            "pool \"mine\" has no formula",
        ),
        (
            "",
            "train = ['2022-03-07', '2023-02-22'], ",
            "",
            "needs a train split",
        ),
        ("label = 'tomorrow'\n", "", "", "tomorrow"),
    ] {
        let folder = study(keys);
        let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
        folder.write("study.toml", text.replace(from, to));
        let error = refused(
            &quiet(folder.path(), &["alpha", "eval", "study.toml", "--out", "out"]),
            2,
        );
        assert!(error.contains(part), "{part}: {error}");
        assert!(!folder.at("out").exists());
    }
}

#[test]
fn without_an_index_the_deviation_of_the_noise_must_be_given() {
    let folder = study("universe = 'all'\nbins = 'bins'\n");
    let days: Vec<String> = (0..420)
        .map(|day| TradeDate::from_days_since_epoch(19_000 + day).unwrap().reveal())
        .collect();
    folder.write("bins/calendars/day.txt", days.join("\n"));
    folder.write(
        "bins/instruments/all.txt",
        format!("SH600000\t{}\t{}\n", days[0], days[419]),
    );
    let bytes: Vec<u8> = std::iter::once(0.0_f32)
        .chain((0_u16..420).map(|day| 1.0 + f32::from(day)))
        .flat_map(f32::to_le_bytes)
        .collect();
    std::fs::create_dir_all(folder.at("bins/features/sh600000")).unwrap();
    for field in ["open", "high", "low", "close", "volume"] {
        std::fs::write(
            folder.at(&format!("bins/features/sh600000/{field}.day.bin")),
            &bytes,
        )
        .unwrap();
    }
    let text = std::fs::read_to_string(folder.at("study.toml")).unwrap();
    let splits = format!("splits = {{ train = ['{}', '{}'] }}\n", days[0], days[300]);
    folder.write("study.toml", text.replace(SPLITS, &splits));
    let error = refused(
        &quiet(folder.path(), &["alpha", "eval", "study.toml", "--out", "out"]),
        2,
    );
    assert!(
        error.contains("no index") && error.contains("sigma = 0.01"),
        "{error}"
    );
    folder.write(
        "study.toml",
        text.replace(SPLITS, &splits).replace("draws = 1", "sigma = 0.01"),
    );
    assert_ok(&quiet(
        folder.path(),
        &["alpha", "eval", "study.toml", "--out", "out"],
    ));
}

/// Members with a bar on every day of the window, at least.
const FEWEST_MEMBERS: f64 = 270.0;

/// The most that residues move any figure, whatever their number.
const MOST_BY_RESIDUES: f64 = 1e-3;

/// Cells of members, and days with one, on which the deviation of a window is exactly 0, by alpha. Volume is then 0 on all its
/// days, or nearly: pandas keeps a residue of what has left the window, and divides it by 1e-12.
fn still_cells(market: &Market) -> BTreeMap<String, (u32, u32)> {
    let panel = market_fields(market);
    let lines = BuiltInSet::Alpha158.lines().into_iter();
    let lines = lines.filter(|line| line.id.starts_with("VSTD") || line.id.starts_with("WVMA"));
    let set = SetOfFormulas::check(lines.collect(), &panel.fields, FormulaRole::Alpha);
    let span = ValueSpan {
        from: TradeDate::parse("2024-01-02").ok(),
        to: TradeDate::parse("2026-04-10").ok(),
        names: None,
    };
    let values = evaluate(&panel, &set.formulas(), FormulaPrecision::Qlib, &span, 2).unwrap();
    let mut cells: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for values in &values.names {
        let stock = market
            .names()
            .find(|(_, info)| info.ticker.reveal() == values.code);
        let Some((stock, _)) = stock else { continue };
        for ((line, _), column) in set.checked.iter().zip(&values.columns) {
            for (session, cell) in values.sessions.iter().zip(column) {
                if cell.abs() <= 0.0 && market.is_member(stock, panel.calendar[*session]) {
                    cells.entry(line.id.clone()).or_default().push(*session);
                }
            }
        }
    }
    let counted = |sessions: Vec<usize>| {
        let days: BTreeSet<usize> = sessions.iter().copied().collect();
        (
            u32::try_from(sessions.len()).unwrap(),
            u32::try_from(days.len()).unwrap(),
        )
    };
    cells
        .into_iter()
        .map(|(id, sessions)| (id, counted(sessions)))
        .collect()
}

/// By how much the reference's residues may move a figure, given still cells and their days: a correlation of values by 2 on
/// each of those days, a correlation of ranks by the way of one name through all others, a stability by what it weighs on both
/// of its days.
fn moved_by_residues(figure: &str, (cells, days): (u32, u32)) -> f64 {
    let (cells, days) = (f64::from(cells), f64::from(days));
    let moved = match figure {
        "ic" | "ic_close" => 2.0 * days / 546.0,
        "rank_ic" | "rank_ic_close" => 12.0 * cells / (FEWEST_MEMBERS * 546.0),
        "rre" => 12.0 * cells / (FEWEST_MEMBERS * 547.0),
        _ => 0.0,
    };
    moved.min(MOST_BY_RESIDUES)
}

/// Alpha158 on the real window panel by pyqlib's values and scipy's statistics.
#[test]
fn alpha158_of_the_real_window_panel_is_worth_what_scipy_says() {
    let table = golden_root().join("alphaeval/real_panel.csv");
    if !Need::RealPanels.is_met() || !Need::Golden("alphaeval").is_met() || !table.is_file() {
        return;
    }
    let options = ImportOptions {
        sources: vec![data_root().join("cn_csi300_window_2023_2026.parquet")],
        basis: Some(PriceBasis::Raw),
        universe: Some(data_root().join("cn_csi300_members.csv")),
        ..ImportOptions::default()
    };
    let market = import(&options, &mut ()).unwrap().market;
    let still = still_cells(&market);
    let folder = Folder::with(&[(
        "study.toml",
        "name = 'real'\npanel = 'real.ktdp'\norientation = 'none'\nties = 'code'\nnoise = { draws = 0 }\n\
         splits = { test = ['2024-01-02', '2026-04-10'] }\n\
         pools = [{ id = 'alpha158', builtin = 'alpha158' }]\n",
    )]);
    folder.write("real.ktdp", market.to_bytes());
    let report = evaluated(folder.path(), "study.toml", 2, "results");
    let summary = std::fs::read(golden_root().join("alphaeval/real_panel_summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let split = &report.splits[0];
    assert_eq!(split.days as u64, summary["sessions"].as_u64().unwrap());
    assert_eq!(split.cells as u64, summary["cells"].as_u64().unwrap());
    assert_eq!(split.points as u64, summary["alphas"].as_u64().unwrap());
    let near = |what: &str, found: Option<f64>, wanted: f64, by: f64| {
        let distance = (found.unwrap() - wanted).abs();
        assert!(distance <= by, "{what}: {found:?}, not {wanted}");
    };
    let mut compared = 0;
    let mut file = csv::Reader::from_path(table).unwrap();
    for (alpha, record) in report.alphas.iter().zip(file.records()) {
        let record = record.unwrap();
        assert_eq!(alpha.id, record[0]);
        let number = |place: usize| -> f64 { record[place].parse().unwrap() };
        let figures = [
            ("days", 1, 0.0),
            ("ic", 2, 1e-5),
            ("rank_ic", 3, 1e-5),
            ("ic_close", 5, 1e-5),
            ("rank_ic_close", 6, 1e-5),
            ("rre", 7, 1e-5),
            ("turnover", 8, 1e-3),
        ];
        let still = still.get(&alpha.id).copied().unwrap_or_default();
        for (name, place, by) in figures {
            let by = by + moved_by_residues(name, still);
            near(
                &format!("{} {name}", alpha.id),
                alpha.row.get(name),
                number(place),
                by,
            );
        }
        compared += 1;
    }
    assert_eq!((compared, report.alphas.len()), (158, 158));
    let wanted = |name: &str| summary[name].as_f64().unwrap();
    // The residues are in the reference's diversity too: it agrees to three decimals.
    near("DE", report.pools[0].row.get("de"), wanted("DE"), 5e-4);
    near("slope", split.row.get("slope"), wanted("slope"), 1e-3);
    near("intercept", split.row.get("intercept"), wanted("intercept"), 1e-3);
    near("R2", split.row.get("r_squared"), wanted("r2"), 1e-3);
}
