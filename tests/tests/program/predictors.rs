//! `ktd data factors` and `ktd baseline linear`: what is written, what the label is, and that no span learns from the next.

#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ktd_env::synth::{SynthConfig, generate};
use ktd_kit::{Folder, assert_ok, refused};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;

const DAYS: usize = 260;
const STOCKS: u32 = 12;
/// The first day of whose stock 0 two shares stand for one.
const SPLIT: usize = 130;
/// The stock and the day without a row.
const HALT: (u32, usize) = (3, 150);
/// The first day that has the 120 days of history that factors need.
const FIRST: usize = 119;
/// The places of the last day to train on and of the last to validate on.
const BORDERS: (usize, usize) = (200, 230);
const FACTORS: [&str; 9] = [
    "MOM_12_1", "RV_60", "ILLIQ", "REV_ON", "MOM_ID", "SKEW", "CORR_PV", "HIGH_52W", "CV_VOL",
];

fn dates() -> Vec<String> {
    let config = SynthConfig {
        seed: 1,
        names: 10,
        days: number(DAYS),
    };
    let market = generate(&config).unwrap();
    let dates = market.calendar().iter();
    dates.map(|date| date.reveal().clone()).collect()
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap()
}

/// Open and close in fen, and the factor.
fn prices(stock: u32, day: usize) -> (u32, u32, u32) {
    let (base, place) = (2_000 + 80 * stock, number(day));
    let open = base + 2 * ((place * place * (stock + 3) + 7 * place) % 61);
    let close = base + 2 * ((place * place * (stock + 4) + 11 * place) % 59);
    if stock == 0 && SPLIT <= day {
        return (open / 2, close / 2, 2);
    }
    (open, close, 1)
}

fn yuan(fen: u32) -> String {
    format!("{}.{:02}", fen / 100, fen % 100)
}

fn code(stock: u32) -> String {
    format!("SZ{:06}", stock + 1)
}

/// A folder with the panel `NAME.ktdp`, whose opens are higher by some fen on the days that `raised` names.
fn import(folder: &Folder, name: &str, raised: &[usize]) {
    let mut rows = "date,symbol,open,high,low,close,volume,factor\n".to_owned();
    for (day, date) in dates().iter().enumerate() {
        for stock in (0..STOCKS).filter(|stock| (*stock, day) != HALT) {
            let (mut open, close, factor) = prices(stock, day);
            if raised.contains(&day) {
                open += 2 * (stock * 7 % 5);
            }
            let (high, low) = (yuan(open.max(close) + 1), yuan(open.min(close) - 1));
            let (open, close, code) = (yuan(open), yuan(close), code(stock));
            let volume = 10_000 + number(day) * (stock + 5) * 13 % 997;
            writeln!(
                rows,
                "{date},{code},{open},{high},{low},{close},{volume},{factor}"
            )
            .unwrap();
        }
    }
    folder.write(&format!("{name}.csv"), rows);
    let mut members = "symbol,start,end\n".to_owned();
    for stock in 0..STOCKS {
        writeln!(members, "{},2000-01-01,2099-12-31", code(stock)).unwrap();
    }
    folder.write("members.csv", members);
    ktd(
        folder,
        &format!("data import {name}.csv --basis raw --universe members.csv --out {name}.ktdp"),
    );
}

/// The document of a command that succeeds.
fn ktd(folder: &Folder, arguments: &str) -> Value {
    let arguments = format!("{arguments} --json");
    let output = folder.ktd(&arguments.split_whitespace().collect::<Vec<_>>());
    assert_ok(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn rows(folder: &Folder, name: &str) -> Vec<Row> {
    let file = SerializedFileReader::new(File::open(folder.at(name)).unwrap()).unwrap();
    file.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    row.get_column_iter()
        .find(|(column, _)| *column == name)
        .unwrap()
        .1
}

fn label(row: &Row) -> Option<f64> {
    let label = field(row, "future_return");
    if let Field::Double(label) = label {
        return Some(*label);
    }
    assert_eq!(label, &Field::Null);
    None
}

/// The rows by day, the first day with history first.
fn by_day(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut days: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        days.entry(field(row, "date").to_string()).or_default().push(row);
    }
    days.into_values().collect()
}

/// Checks the stocks and the labels of a day, and counts the labels.
fn check_day(rows: &[&Row], day: usize) -> usize {
    let codes: Vec<&Field> = rows.iter().map(|row| field(row, "code")).collect();
    let all: Vec<Field> = (0..STOCKS).map(|stock| Field::Str(code(stock))).collect();
    assert_eq!(codes, all.iter().collect::<Vec<_>>());
    let adjusted_open = |stock: u32, day: usize| {
        let (open, _, factor) = prices(stock, day);
        f64::from(open * factor)
    };
    let mut labelled = 0;
    for (row, stock) in rows.iter().zip(0..) {
        let is_halted = [(stock, day + 1), (stock, day + 2)].contains(&HALT);
        match label(row) {
            Some(label) => {
                assert!(day + 2 < DAYS && !is_halted, "day {day}, stock {stock}: {label}");
                let expected = adjusted_open(stock, day + 2) / adjusted_open(stock, day + 1) - 1.0;
                assert!(
                    (label - expected).abs() < 1e-12,
                    "day {day}, stock {stock}: {label}"
                );
                labelled += 1;
            }
            None => assert!(DAYS <= day + 2 || is_halted, "day {day}, stock {stock}: no label"),
        }
    }
    labelled
}

#[test]
fn factors_are_written_by_day_and_stock_with_the_return_between_the_next_two_opens() {
    let folder = Folder::new();
    import(&folder, "panel", &[]);
    let made = ktd(&folder, "data factors panel.ktdp --out factors.parquet");
    let rows = rows(&folder, "factors.parquet");
    let columns: Vec<String> = rows[0].get_column_iter().map(|(name, _)| name.clone()).collect();
    let z_scores = FACTORS.map(|factor| format!("{factor}_Z"));
    let factors = FACTORS.map(str::to_owned);
    let expected = [&["date".to_owned(), "code".to_owned()], &factors[..], &z_scores];
    let expected: Vec<String> = [&expected.concat()[..], &["future_return".to_owned()]].concat();
    assert_eq!(columns, expected);

    let days = by_day(&rows);
    assert_eq!(days.len(), DAYS - FIRST);
    let first_date = field(&rows[0], "date").to_string();
    assert!(first_date.starts_with(&dates()[FIRST]), "{first_date}");
    let labelled: usize = days
        .iter()
        .zip(FIRST..)
        .map(|(of_day, day)| check_day(of_day, day))
        .sum();
    assert_eq!(made["rows"], rows.len());
    assert_eq!(made["labelled"], labelled);
    let file = SerializedFileReader::new(File::open(folder.at("factors.parquet")).unwrap()).unwrap();
    let notes = file.metadata().file_metadata().key_value_metadata().unwrap();
    let note = notes.iter().find(|note| note.key == "future_return").unwrap();
    assert!(note.value.as_ref().unwrap().contains("never a feature"));

    // A span cuts rows and changes none.
    let dates = dates();
    let (start, end) = (&dates[FIRST + 10], &dates[FIRST + 19]);
    ktd(
        &folder,
        &format!("data factors panel.ktdp --out span.parquet --start {start} --end {end}"),
    );
    let span = self::rows(&folder, "span.parquet");
    let whole: Vec<Row> = days[10..20].concat().into_iter().cloned().collect();
    assert_eq!(span, whole);
}

#[test]
fn factors_of_no_panel_and_to_no_place_are_refused() {
    let folder = Folder::new();
    import(&folder, "panel", &[]);
    let before = folder.files();
    let end = &dates()[FIRST - 1];
    for (arguments, part) in [
        (
            "data factors absent.ktdp --out new.parquet".to_owned(),
            "absent.ktdp",
        ),
        (
            "data factors panel.csv --out new.parquet".to_owned(),
            "not a ktd panel",
        ),
        (
            "data factors panel.ktdp --out absent/new.parquet".to_owned(),
            "absent/new.parquet",
        ),
        ("data factors panel.ktdp --out panel.csv".to_owned(), "--force"),
        (
            format!("data factors panel.ktdp --out new.parquet --end {end}"),
            "120 trading days",
        ),
    ] {
        let message = refused(&folder.ktd(&arguments.split_whitespace().collect::<Vec<_>>()), 2);
        assert!(message.contains(part), "{arguments}: {message}");
    }
    assert!(folder.files() == before, "a refused command wrote");
}

#[test]
fn a_linear_predictor_of_one_market_has_the_same_bytes_each_time() {
    let folder = Folder::new();
    ktd(
        &folder,
        "data synth --out panel.ktdp --names 40 --days 420 --seed 3",
    );
    let market = ktd_data::load_panel(&folder.at("panel.ktdp")).unwrap();
    let date = |place: usize| market.calendar()[place].reveal().clone();
    let (train, validate) = (date(300), date(360));
    let spans = format!("--train-until {train} --validate-until {validate}");
    let mut one = ktd(
        &folder,
        &format!("baseline linear panel.ktdp --out one.csv {spans}"),
    );
    let mut two = ktd(
        &folder,
        &format!("baseline linear panel.ktdp --out two.csv {spans}"),
    );
    one["scores"] = Value::Null;
    two["scores"] = Value::Null;
    assert_eq!(one, two);
    let text = folder.text("one.csv");
    assert_eq!(text, folder.text("two.csv"));

    // Scores begin with the last close of the validation, which is traded on the day after, and end with the panel.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "date,code,score");
    assert!(lines[1].starts_with(&validate), "{}", lines[1]);
    assert!(lines.last().unwrap().starts_with(&date(419)));
    assert_eq!(one["rows"], lines.len() - 1);
    let scores = lines[1..]
        .iter()
        .map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    assert!(scores.clone().all(f64::is_finite));
    assert!(scores.clone().any(|score| 0.0 < score) && scores.clone().any(|score| score < 0.0));
}

/// A folder with the panel `rising.ktdp` of 40 stocks, of which every second one rises by a fifth of a percent of its first price a day.
fn import_rising(folder: &Folder, days: usize) {
    let config = SynthConfig {
        seed: 1,
        names: 10,
        days: number(days),
    };
    let mut rows = "date,symbol,open,high,low,close,volume,factor\n".to_owned();
    let mut members = "symbol,start,end\n".to_owned();
    for (day, date) in generate(&config).unwrap().calendar().iter().enumerate() {
        for stock in 0..40 {
            let place = number(day);
            let fen = 10_000 + stock % 2 * 20 * place;
            let open = fen + (place * place * (stock + 3) + 7 * place) % 11;
            let close = fen + (place * place * (stock + 4) + 11 * place) % 13;
            let (high, low) = (yuan(open.max(close) + 1), yuan(open.min(close) - 1));
            let (date, code, open, close) = (date.reveal(), code(stock), yuan(open), yuan(close));
            let volume = 10_000 + place * (stock + 5) * 13 % 997;
            writeln!(rows, "{date},{code},{open},{high},{low},{close},{volume},1").unwrap();
        }
    }
    for stock in 0..40 {
        writeln!(members, "{},2000-01-01,2099-12-31", code(stock)).unwrap();
    }
    folder.write("rising.csv", rows);
    folder.write("members.csv", members);
    ktd(
        folder,
        "data import rising.csv --basis raw --universe members.csv --out rising.ktdp",
    );
}

#[test]
fn boosted_trees_of_one_market_and_seed_have_the_same_bytes_each_time() {
    let folder = Folder::new();
    import_rising(&folder, 420);
    let market = ktd_data::load_panel(&folder.at("rising.ktdp")).unwrap();
    let date = |place: usize| market.calendar()[place].reveal().clone();
    let spans = format!("--train-until {} --validate-until {}", date(300), date(360));
    let train = |out: &str| {
        let mut found = ktd(
            &folder,
            &format!("baseline boosted-trees rising.ktdp --out {out} {spans}"),
        );
        found["scores"] = Value::Null;
        (found, folder.text(out))
    };
    let (found, text) = train("one.csv");
    assert_eq!((found.clone(), text.clone()), train("two.csv"));
    assert_eq!(text.lines().next(), Some("date,code,score"));
    assert_eq!(found["rows"], text.lines().count() - 1);
    assert!(0 < found["trees"].as_u64().unwrap() && found["days_validated"] == 360 - 2 - 300);
    // What rises has the higher score on every day that is scored: SZ000002 does, SZ000001 does not.
    let score_of = |line: &str, code: &str| -> Option<f64> {
        line.contains(code)
            .then(|| line.rsplit(',').next().unwrap().parse().unwrap())
    };
    let of = |code: &str| -> Vec<f64> { text.lines().filter_map(|line| score_of(line, code)).collect() };
    let pairs: Vec<(f64, f64)> = of("SZ000002").into_iter().zip(of("SZ000001")).collect();
    assert!(
        50 < pairs.len() && pairs.iter().all(|(rising, flat)| flat < rising),
        "{pairs:?}"
    );
}

#[test]
fn what_learns_nothing_says_so() {
    let folder = Folder::new();
    ktd(
        &folder,
        "data synth --out panel.ktdp --names 60 --days 420 --seed 3",
    );
    let market = ktd_data::load_panel(&folder.at("panel.ktdp")).unwrap();
    let date = |place: usize| market.calendar()[place].reveal().clone();
    let spans = format!("--train-until {} --validate-until {}", date(300), date(360));
    let run = |learner: &str| {
        let arguments = format!("baseline {learner} panel.ktdp --out {learner}.csv {spans}");
        folder.ktd(&arguments.split_whitespace().collect::<Vec<_>>())
    };
    // Trees without a split would give every stock the same score.
    let message = refused(&run("boosted-trees"), 2);
    assert!(
        message.contains("nothing was learnt") && message.contains("58 days"),
        "{message}"
    );
    assert!(!folder.at("boosted-trees.csv").exists(), "a constant was written");
    // A regression has scores that differ, and says that validation does not bear them out.
    let linear = run("linear");
    assert_ok(&linear);
    let text = String::from_utf8(linear.stdout).unwrap();
    let document = ktd(
        &folder,
        &format!("baseline linear panel.ktdp --out linear.csv --force {spans}"),
    );
    assert_eq!(
        text.contains("nothing was learnt"),
        document["validation_r2"].as_f64().unwrap() <= 0.0
    );
    assert_eq!(
        text.contains("largest that was tried"),
        document["largest_penalty"].as_bool().unwrap()
    );
    assert!(
        text.contains("note: "),
        "a market without a factor has one or both notes: {text}"
    );
}

#[test]
fn no_label_crosses_the_border_between_training_and_validation() {
    let folder = Folder::new();
    let dates = dates();
    let (train, validate) = (&dates[BORDERS.0], &dates[BORDERS.1]);
    let spans = format!("--train-until {train} --validate-until {validate}");
    let trained = |name: &str, raised: &[usize]| {
        import(&folder, name, raised);
        ktd(
            &folder,
            &format!("baseline linear {name}.ktdp --out {name}-scores.csv {spans}"),
        )
    };
    let plain = trained("plain", &[]);
    // The labels of the last two days of the span end at opens after it.
    let days = BORDERS.0 - 2 + 1 - FIRST;
    let missing = 2;
    assert_eq!(
        plain["rows_trained"],
        days * usize::try_from(STOCKS).unwrap() - missing
    );
    assert_eq!(plain["days_validated"], BORDERS.1 - 2 - BORDERS.0);
    let after = trained("after", &[BORDERS.0 + 1, BORDERS.0 + 2]);
    assert_eq!(
        after["penalty"], plain["penalty"],
        "another penalty has other coefficients"
    );
    assert_eq!(after["coefficients"], plain["coefficients"]);
    assert_ne!(after["validation_ic"], plain["validation_ic"], "nothing changed");
    // The last open of the span is in labels that are trained on.
    let before = trained("before", &[BORDERS.0]);
    assert_eq!(before["penalty"], plain["penalty"]);
    assert_ne!(before["coefficients"], plain["coefficients"]);
}
