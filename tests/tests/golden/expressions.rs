//! The engine against Qlib's own answers, and against exact arithmetic: the golden set `expressions`, and every set of
//! its layout. A file that a set lacks is passed over with a word.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

use flate2::read::GzDecoder;
use ktd_expressions::{
    Alpha158Options, CellKind, CheckedFormula, FieldCells, FormulaEngine, FormulaPlan, FormulaPrecision,
    FormulaRole, NamePanel, NameRows, alpha158, alpha360, check_formula,
};
use ktd_kit::Need;
use ktd_kit::golden::golden_root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

const FIELDS: [&str; 9] = [
    "open", "high", "low", "close", "volume", "vwap", "amount", "factor", "change",
];

/// A file of the set, where it is there.
fn golden(file: &str) -> Option<PathBuf> {
    let path = golden_root().join("expressions").join(file);
    if Need::Golden("expressions").is_there() && path.is_file() {
        return Some(path);
    }
    println!("passed over: no {}", path.display());
    None
}

fn bytes(path: &PathBuf) -> Vec<u8> {
    let mut file = File::open(path).unwrap();
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    } else {
        file.read_to_end(&mut bytes).unwrap();
    }
    bytes
}

fn text(path: &PathBuf) -> String {
    String::from_utf8(bytes(path)).unwrap()
}

/// The names of a panel, in the order of the file, with their columns by field.
struct Panel {
    fields: Vec<String>,
    names: Vec<(String, usize, BTreeMap<String, Vec<f32>>)>,
}

impl Panel {
    fn read(path: &PathBuf) -> Self {
        let text = text(path);
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let rows: Vec<Vec<&str>> = lines.collect();
        let mut dates: Vec<&str> = rows.iter().map(|row| row[1]).collect();
        dates.sort_unstable();
        dates.dedup();
        let mut names: Vec<(String, usize, BTreeMap<String, Vec<f32>>)> = Vec::new();
        for row in &rows {
            if names.last().is_none_or(|(code, ..)| code != row[0]) {
                let start = dates.binary_search(&row[1]).unwrap();
                names.push((row[0].to_owned(), start, BTreeMap::new()));
            }
            let (_, _, columns) = names.last_mut().unwrap();
            for (field, cell) in header.iter().zip(row).skip(2) {
                let cell = if cell.is_empty() {
                    f32::NAN
                } else {
                    cell.parse().unwrap()
                };
                columns.entry((*field).to_owned()).or_default().push(cell);
            }
        }
        Self {
            fields: FIELDS.map(str::to_owned).to_vec(),
            names,
        }
    }

    fn rows(&self, place: usize) -> NameRows<'_> {
        let (_, start, columns) = &self.names[place];
        let columns = self
            .fields
            .iter()
            .map(|field| FieldCells::Singles(&columns[field]))
            .collect();
        NameRows::new(*start, columns)
    }

    /// The columns of all formulas, the rows of all names one after the other.
    fn evaluate(&mut self, formulas: &[CheckedFormula], precision: FormulaPrecision) -> Vec<Vec<f32>> {
        let plan = FormulaPlan::of(formulas, precision);
        self.fields = plan.fields().to_vec();
        let mut engine = FormulaEngine::default();
        let mut columns = vec![Vec::new(); formulas.len()];
        for place in 0..self.names.len() {
            let rows = self.rows(place);
            let visit = |formula: usize, cells: &[f32]| columns[formula].extend_from_slice(cells);
            engine.evaluate(&plan, &rows, self, visit).unwrap();
        }
        columns
    }
}

impl NamePanel for Panel {
    fn name_rows(&self, code: &str) -> Option<NameRows<'_>> {
        let place = self
            .names
            .iter()
            .position(|(name, ..)| name.eq_ignore_ascii_case(code))?;
        Some(self.rows(place))
    }
}

/// A line of `exprs.csv`.
struct Expected {
    group: String,
    name: String,
    expression: String,
    canonical: String,
    atol: f64,
    is_close: bool,
}

fn expected(path: &PathBuf) -> Vec<Expected> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        Expected {
            group: row[1].to_owned(),
            name: row[2].to_owned(),
            expression: row[3].to_owned(),
            canonical: row[4].to_owned(),
            atol: row[5].parse().unwrap(),
            is_close: &row[9] == "close",
        }
    });
    rows.collect()
}

/// The distance from a float32 to the next larger one in size.
fn spacing(value: f32) -> f64 {
    let size = value.abs();
    f64::from(f32::from_bits(size.to_bits() + 1)) - f64::from(size)
}

/// Whether a cell is the golden one: missing and infinite alike, else within the tolerance.
fn is_golden(ours: f32, golden: f32, row: &Expected) -> bool {
    if !row.is_close {
        return !ours.is_finite() || !golden.is_finite() || agrees(ours, golden, row.atol);
    }
    if ours.is_nan() || golden.is_nan() {
        return ours.is_nan() && golden.is_nan();
    }
    if ours.is_infinite() || golden.is_infinite() {
        return ours.to_bits() == golden.to_bits();
    }
    agrees(ours, golden, row.atol)
}

fn agrees(ours: f32, golden: f32, atol: f64) -> bool {
    (f64::from(ours) - f64::from(golden)).abs() <= atol + 4.0 * spacing(golden)
}

fn checked(row: &Expected) -> CheckedFormula {
    let role = if row.group == "future" {
        FormulaRole::Label
    } else {
        FormulaRole::Alpha
    };
    check_formula(&row.expression, &FIELDS, role)
        .unwrap_or_else(|error| panic!("{}: {error}", row.expression))
}

/// The columns that differ, by group.
fn different(precision: FormulaPrecision) -> Option<(usize, Vec<String>)> {
    let files = [
        golden("panel.csv.gz"),
        golden("exprs.csv"),
        golden("golden.f32.gz"),
    ];
    let [Some(panel), Some(table), Some(answers)] = files else {
        return None;
    };
    let mut panel = Panel::read(&panel);
    let rows = expected(&table);
    let formulas: Vec<CheckedFormula> = rows.iter().map(checked).collect();
    for (row, formula) in rows.iter().zip(&formulas) {
        assert_eq!(
            row.canonical.to_lowercase(),
            formula.canonical().to_lowercase(),
            "{}",
            row.expression
        );
    }
    let columns = panel.evaluate(&formulas, precision);
    let cells: Vec<f32> = bytes(&answers)
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect();
    let length = cells.len() / rows.len();
    assert_eq!(length, columns[0].len(), "rows of the panel and of the answers");
    let mut different = Vec::new();
    for ((row, ours), golden) in rows.iter().zip(&columns).zip(cells.chunks(length)) {
        let wrong: Vec<usize> = (0..length)
            .filter(|cell| !is_golden(ours[*cell], golden[*cell], row))
            .collect();
        if let Some(first) = wrong.first() {
            different.push(format!(
                "{} {}: {} cells, first at {first}: {} against {} (atol {})",
                row.group,
                row.expression,
                wrong.len(),
                ours[*first],
                golden[*first],
                row.atol
            ));
        }
    }
    Some((rows.len(), different))
}

#[test]
fn columns_are_qlibs() {
    let Some((columns, different)) = different(FormulaPrecision::Qlib) else {
        return;
    };
    assert!(
        different.is_empty(),
        "{} of {columns} columns differ:\n{}",
        different.len(),
        different.join("\n")
    );
}

/// The types of the language are tested only if another type shows.
#[test]
fn elements_in_float64_are_not_qlibs() {
    let Some((_, different)) = different(FormulaPrecision::Float64) else {
        return;
    };
    assert!(
        different.iter().any(|column| column.starts_with("element ")),
        "{different:?}"
    );
}

#[test]
fn named_sets_are_qlibs() {
    if let Some(table) = golden("exprs.csv") {
        let rows = expected(&table);
        let ours: BTreeMap<String, String> = alpha158(&Alpha158Options::default())
            .into_iter()
            .map(|formula| (formula.name, formula.text))
            .collect();
        assert_eq!(ours.len(), 158);
        let theirs: Vec<&Expected> = rows.iter().filter(|row| row.group == "alpha158").collect();
        assert!(!theirs.is_empty());
        for row in theirs {
            assert_eq!(ours.get(&row.name), Some(&row.expression), "{}", row.name);
        }
    }
    let (Some(table), Some(panel)) = (golden("alpha360.csv"), golden("panel.csv.gz")) else {
        return;
    };
    let mut reader = csv::Reader::from_path(table).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let ours = alpha360();
    let names: Vec<(&str, &str)> = ours
        .iter()
        .map(|formula| (formula.name.as_str(), formula.text.as_str()))
        .collect();
    let theirs: Vec<(&str, &str)> = rows.iter().map(|row| (&row[0], &row[1])).collect();
    assert_eq!(names, theirs);
    let formulas: Vec<CheckedFormula> = ours
        .iter()
        .map(|formula| check_formula(&formula.text, &FIELDS, FormulaRole::Alpha).unwrap())
        .collect();
    let columns = Panel::read(&panel).evaluate(&formulas, FormulaPrecision::Qlib);
    for (row, column) in rows.iter().zip(&columns) {
        let bytes: Vec<u8> = column.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        let hash = ktd_io::sha256::sha256_hex(&bytes);
        assert_eq!(hash, row[2], "{}", &row[0]);
    }
}

fn json_lines(path: &PathBuf) -> Vec<Value> {
    text(path)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn texts_are_read_or_refused_as_they_should_be() {
    let Some(path) = golden("parse.jsonl") else {
        return;
    };
    let mut wrong = Vec::new();
    for case in json_lines(&path) {
        let text = case["text"].as_str().unwrap();
        let canonical = case["canonical"]
            .as_str()
            .or_else(|| case["ours_reads_it_as"].as_str());
        let role = if canonical.is_some() {
            FormulaRole::Label
        } else {
            FormulaRole::Alpha
        };
        let ours = check_formula(text, &FIELDS, role);
        let short: String = text.chars().take(60).collect();
        match (canonical, ours) {
            (Some(canonical), Ok(ours)) => {
                let back = case["back_days"].as_u64().map(|rows| rows.to_string());
                let is_all = ours.canonical().contains("EMA");
                let back_is_right = back.is_none_or(|back| is_all || back == ours.reach().back.to_string());
                let forward = case["forward_days"].as_u64().unwrap_or(0);
                if canonical != ours.canonical() || !back_is_right || forward != ours.reach().forward {
                    wrong.push(format!("{short}: {case} against {ours:?}"));
                }
            }
            (None, Err(ours)) if case["error"] == ours.fault.code() => {
                assert!(
                    ours.at <= text.len() && !ours.hint.is_empty() && !ours.expected.is_empty(),
                    "{ours:?}"
                );
            }
            (_, ours) => wrong.push(format!("{short}: {} against {ours:?}", case["error"])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn windows_are_exact() {
    let Some(path) = golden("exact.jsonl") else {
        return;
    };
    for case in json_lines(&path) {
        let values: Vec<f64> = case["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap().parse().unwrap())
            .collect();
        let row = usize::try_from(case["row"].as_u64().unwrap()).unwrap();
        let rows = usize::try_from(case["n"].as_u64().unwrap()).unwrap();
        let window = &values[row + 1 - rows..=row];
        let mean = window.iter().sum::<f64>() / 20.0_f64.min(window.iter().map(|_| 1.0).sum());
        let spread = window
            .iter()
            .map(|value| (value - mean).abs())
            .fold(0.0, f64::max);
        for (operator, answer) in case["expected"].as_object().unwrap() {
            let answer: f64 = answer.as_str().unwrap().parse().unwrap();
            let ours = exact_value(operator, &values, rows, row);
            let absolute = match operator.as_str() {
                "Var" => spread * spread,
                "Rsquare" => 1.0,
                _ => spread,
            };
            let tolerance = (1e-9 * answer.abs()).max(1e-9 * absolute);
            let label = &case["series"];
            // a penny's variance is none to Qlib, whose bound on the deviation is absolute
            let is_flat = operator == "Rsquare" && ours.is_nan() && spread < 2e-5;
            assert!(
                is_flat || (ours - answer).abs() <= tolerance,
                "{label} {operator} {rows}: {ours} against {answer}"
            );
        }
    }
}

/// A window's value in float64: the two float32 parts of the answer, which leaves the engine as float32.
fn exact_value(operator: &str, values: &[f64], rows: usize, row: usize) -> f64 {
    let text = format!("{operator}($close,{rows})");
    let column = |text: &str, values: &[f64]| -> Vec<f32> {
        let formula = check_formula(text, &["close", "part"], FormulaRole::Alpha).unwrap();
        assert_eq!(formula.kind(), CellKind::Double);
        let plan = FormulaPlan::of(&[formula], FormulaPrecision::Float64);
        let parts: Vec<f64> = vec![0.0; values.len()];
        let columns = plan
            .fields()
            .iter()
            .map(|field| FieldCells::Doubles(if field == "close" { values } else { &parts }))
            .collect();
        let mut out = Vec::new();
        let name = NameRows::new(0, columns);
        FormulaEngine::default()
            .evaluate(&plan, &name, &ktd_expressions::NoOtherNames, |_, cells| {
                out = cells.to_vec();
            })
            .unwrap();
        out
    };
    // the size first, so that float32 holds it; then what float32 lost of it, three times
    let scale: f64 = if values.iter().all(|value| value.abs() < 1e30) {
        1.0
    } else {
        1e-150
    };
    let power = if operator == "Var" {
        scale * scale
    } else if operator == "Rsquare" {
        1.0
    } else {
        scale
    };
    let mut sum = 0.0;
    for _ in 0..3 {
        let factor = if (scale - 1.0).abs() < 0.5 {
            String::new()
        } else {
            format!("*{power:e}")
        };
        let part = column(&format!("{text}{factor}-({sum:e})"), values)[row];
        sum += f64::from(part);
        if !sum.is_finite() {
            break;
        }
    }
    sum / power
}
