//! `ktd alpha`: formulas are checked, proven and computed as a stranger would ask.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_data::{ImportOptions, import};
use ktd_env::PriceBasis;
use ktd_expressions::{FormulaPrecision, FormulaRole};
use ktd_formulas::{
    BuiltInSet, FormulaLine, FormulaValues, SetOfFormulas, ValueSpan, evaluate, market_fields, qlib_fields,
};
use ktd_kit::golden::golden_root;
use ktd_kit::need::data_root;
use ktd_kit::program::json_of;
use ktd_kit::{Folder, Need, assert_ok, quiet, refused};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn the_future_is_refused_as_a_signal_and_taken_as_a_label() {
    let folder = Folder::new();
    let label = "Ref($close,-1)/$close-1";
    let error = refused(&quiet(folder.path(), &["alpha", "check", label]), 2);
    assert!(
        error.contains("look_ahead at byte 0") && error.contains("hint: "),
        "{error}"
    );
    let taken = json_of(folder.path(), &["alpha", "check", label, "--role", "label"]);
    assert_eq!(taken["formulas"][0]["days_ahead"], 1);
    let both = quiet(
        folder.path(),
        &["--json", "alpha", "check", "$close", label, "Mean($cloze,5)"],
    );
    assert_eq!(both.status.code(), Some(2));
    let shown: Value = serde_json::from_slice(&both.stdout).unwrap();
    let codes: Vec<&str> = shown["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refused| refused["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["look_ahead", "unknown_field"]);
    assert_eq!(shown["formulas"].as_array().unwrap().len(), 1);
}

#[test]
fn a_label_cannot_be_proven() {
    let folder = Folder::new();
    let asked = ["alpha", "check", "Ref($close,-1)", "--prove", "--role", "label"];
    let error = refused(&quiet(folder.path(), &asked), 2);
    assert!(error.contains("a label reads later days"), "{error}");
}

#[test]
fn columns_that_a_reader_cannot_tell_apart_are_refused() {
    let folder = Folder::with(&[("mine.csv", "id,expression\ndate,$close\n")]);
    for sets in [&["alpha158", "alpha360"][..], &["mine.csv"]] {
        let asked = [&["alpha", "compute"], sets, &["--out", "values.csv"]].concat();
        let error = refused(&quiet(folder.path(), &asked), 2);
        assert!(error.contains("an id of its own"), "{error}");
        assert!(!folder.at("values.csv").exists());
    }
}

#[test]
fn the_built_in_sets_are_proven_on_cut_and_replaced_panels() {
    let folder = Folder::new();
    for (set, count) in [("alpha158", 158), ("alpha360", 360)] {
        let proven = json_of(folder.path(), &["alpha", "check", set, "--prove"]);
        assert_eq!(proven["formulas"].as_array().unwrap().len(), count);
        assert_eq!(proven["earlier_cells_moved"], 0);
    }
}

#[test]
fn values_do_not_depend_on_the_days_names_and_formulas_beside_them() {
    let folder = Folder::with(&[(
        "two.csv",
        "id,expression\nmean,\"Mean($close,20)\"\nema,\"EMA($volume,10)\"\n",
    )]);
    let compute = |arguments: &[&str], out: &str| {
        let all = [&["alpha", "compute"], arguments, &["--out", out]].concat();
        assert_ok(&quiet(folder.path(), &all));
        std::fs::read_to_string(folder.at(out)).unwrap()
    };
    let whole = compute(&["two.csv"], "whole.csv");
    let last = whole.lines().last().unwrap();
    let (day, code) = (last.split(',').next().unwrap(), last.split(',').nth(1).unwrap());
    let part = compute(&["two.csv", "--from", day, "--names", code], "part.csv");
    assert_eq!(part.lines().collect::<Vec<_>>(), ["date,symbol,mean,ema", last]);
    let one = compute(&["EMA($volume,10)", "--from", day, "--names", code], "one.csv");
    assert_eq!(
        one.lines().last().unwrap().rsplit(',').next(),
        last.rsplit(',').next()
    );
    // A file is not replaced unasked, and an ending that names no format is refused before anything is computed.
    let again = refused(
        &quiet(folder.path(), &["alpha", "compute", "$close", "--out", "one.csv"]),
        2,
    );
    assert!(again.contains("one.csv"), "{again}");
    let error = refused(
        &quiet(
            folder.path(),
            &["alpha", "compute", "$close", "--out", "one.xlsx"],
        ),
        2,
    );
    assert!(error.contains(".parquet or .csv"), "{error}");
}

#[test]
fn a_directory_of_qlib_gives_its_bins_as_they_are_stored() {
    let folder = Folder::new();
    let bin = |name: &str, start: f32, values: &[f32]| {
        let bytes: Vec<u8> = std::iter::once(&start)
            .chain(values)
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let path = folder.at(&format!("bins/features/sh600000/{name}.day.bin"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    bin("close", 1.0, &[1.1, f32::NAN, 1.3]);
    bin("mine", 2.0, &[7.0, 8.0]);
    folder.write(
        "bins/calendars/day.txt",
        "2024-01-02\n2024-01-03\n2024-01-04\n2024-01-05\n",
    );
    folder.write("bins/instruments/all.txt", "SH600000\t2024-01-04\t2024-01-05\n");
    let panel = qlib_fields(&folder.at("bins")).unwrap();
    assert_eq!(panel.fields, ["close", "mine"]);
    let line = |text: &str| FormulaLine {
        id: text.to_owned(),
        expression: text.to_owned(),
        pool: None,
    };
    let lines = vec![line("Count($close,3)"), line("$mine"), line("Ref($close,1)")];
    let set = SetOfFormulas::check(lines, &panel.fields, FormulaRole::Alpha);
    let values = evaluate(
        &panel,
        &set.formulas(),
        FormulaPrecision::Qlib,
        &ValueSpan::default(),
        2,
    )
    .unwrap();
    let name = &values.names[0];
    // The window sees the row before the listing's span, which is not written.
    assert_eq!(name.sessions, [2, 3]);
    assert_eq!(name.columns[0], [1.0, 2.0]);
    assert_eq!(name.columns[1], [7.0, 8.0]);
    assert_eq!(name.columns[2][0].to_bits(), 1.1_f32.to_bits());
    bin("close", 9.0, &[1.0]);
    let error = qlib_fields(&folder.at("bins")).unwrap_err().to_string();
    assert!(error.contains("features/sh600000/close.day.bin"), "{error}");
}

/// One number of a cell of the golden table.
fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

/// The distance between a float32 and the next one.
fn spacing(value: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the spacing of float32 is asked for"
    )]
    let single = value.abs() as f32;
    f64::from(f32::from_bits(single.to_bits() + 1)) - f64::from(single)
}

/// One formula of the golden table with its column.
struct Compared<'v> {
    row: BTreeMap<String, String>,
    values: &'v FormulaValues,
    place: usize,
}

impl Compared<'_> {
    fn cell(&self, head: &str) -> &str {
        &self.row[head]
    }

    fn sd(&self) -> f64 {
        number(self.cell("sd"))
    }

    fn assert_near(&self, found: f64, head: &str, by: f64) {
        let wanted = number(self.cell(head));
        let tolerance = by * self.sd() + 4.0 * spacing(wanted);
        let name = self.cell("name");
        assert!(
            (found - wanted).abs() <= tolerance,
            "{name} {head}: {found}, not {wanted}"
        );
    }

    fn assert_moments(&self) {
        let names = self.values.names.iter();
        let cells = names
            .flat_map(|name| &name.columns[self.place])
            .map(|cell| f64::from(*cell));
        let cells: Vec<f64> = cells.collect();
        assert_eq!(cells.len().to_string(), self.cell("rows"));
        let finite: Vec<f64> = cells.into_iter().filter(|cell| cell.is_finite()).collect();
        let name = self.cell("name");
        assert_eq!(finite.len().to_string(), self.cell("finite"), "{name}");
        let count = f64::from(u32::try_from(finite.len()).unwrap());
        let mean = finite.iter().sum::<f64>() / count;
        let squares: f64 = finite.iter().map(|cell| (cell - mean) * (cell - mean)).sum();
        let least = finite.iter().copied().fold(f64::MAX, f64::min);
        let most = finite.iter().copied().fold(f64::MIN, f64::max);
        // A deviation over the mean of cells that are not negative is at most the root of their number. Where the reference is
        // above it, pandas keeps a residue of a sum that has left the window, over a mean of nothing: its moments are those of
        // the residue.
        let bound = name.strip_prefix("WVMA").map(|window| number(window).sqrt());
        if bound.is_some_and(|bound| bound * (1.0 + 1e-6) < number(self.cell("max"))) {
            assert!(
                bound.is_some_and(|bound| most <= bound * (1.0 + 1e-6)),
                "{name}: {most}"
            );
            return;
        }
        self.assert_near(mean, "mean", 1e-6);
        self.assert_near((squares / count).sqrt(), "sd", 1e-6);
        self.assert_near(least, "min", 1e-5);
        self.assert_near(most, "max", 1e-5);
    }

    fn assert_cells(&self) {
        for head in self.row.keys() {
            let Some((code, day)) = head.strip_prefix("at ").and_then(|at| at.split_once('|')) else {
                continue;
            };
            let name = self.values.names.iter().find(|name| name.code == code).unwrap();
            let calendar = &self.values.calendar;
            let session = calendar.iter().position(|date| date.reveal() == day).unwrap();
            let at = name.sessions.iter().position(|known| *known == session).unwrap();
            let found = f64::from(name.columns[self.place][at]);
            if self.cell(head).is_empty() {
                assert!(found.is_nan(), "{} {head}", self.cell("name"));
            } else {
                self.assert_near(found, head, 1e-5);
            }
        }
    }
}

/// Alpha158 of Qlib itself over the real window panel, by moments and cells that the golden set has of it.
#[test]
fn alpha158_of_the_real_window_panel_is_qlibs() {
    let table = golden_root().join("expressions/real_panel.csv");
    if !Need::RealPanels.is_met() || !Need::Golden("expressions").is_met() || !table.is_file() {
        return;
    }
    let options = ImportOptions {
        sources: vec![data_root().join("cn_csi300_window_2023_2026.parquet")],
        basis: Some(PriceBasis::Raw),
        ..ImportOptions::default()
    };
    let panel = market_fields(&import(&options, &mut ()).unwrap().market);
    let set = SetOfFormulas::check(BuiltInSet::Alpha158.lines(), &panel.fields, FormulaRole::Alpha);
    assert!(set.refused.is_empty());
    let span = ValueSpan::default();
    let values = evaluate(&panel, &set.formulas(), FormulaPrecision::Qlib, &span, 2).unwrap();
    let mut file = csv::Reader::from_path(table).unwrap();
    let mut compared = 0;
    for (place, row) in file.deserialize().enumerate() {
        let compare = Compared {
            row: row.unwrap(),
            values: &values,
            place,
        };
        assert_eq!(set.checked[place].0.id, compare.cell("name"));
        compare.assert_moments();
        compare.assert_cells();
        compared += 1;
    }
    assert_eq!(compared, 158);
}
