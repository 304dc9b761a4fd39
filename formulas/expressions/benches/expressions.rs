//! Alpha158 and Alpha360 over names of 2,000 days, and ten thousand texts: what a research day waits for.
//!
//! One core, no threads. Criterion's time of Alpha158 is that of ten names.

use criterion::{Criterion, Throughput};
use ktd_expressions::{
    Alpha158Options, CheckedFormula, FieldCells, FormulaEngine, FormulaPlan, FormulaPrecision, FormulaRole,
    NameRows, NamedFormula, NoOtherNames, alpha158, alpha360, check_formula,
};
use std::hint::black_box;

const FIELDS: [&str; 6] = ["open", "high", "low", "close", "volume", "vwap"];
const DAYS: usize = 2_000;
const NAMES: u64 = 10;

/// A walk of prices with a few suspended days.
fn columns(seed: u64) -> Vec<Vec<f32>> {
    let mut state = seed;
    let mut unit = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap_or(0)) / f64::from(u32::MAX >> 1)
    };
    let mut price = 20.0;
    let mut columns = vec![Vec::with_capacity(DAYS); FIELDS.len()];
    for _ in 0..DAYS {
        price *= 1.0 + 0.05 * (unit() - 0.5);
        let is_suspended = unit() < 0.004;
        for (field, column) in FIELDS.iter().zip(&mut columns) {
            let scale = if *field == "volume" { 1e6 } else { price };
            let value = scale * (1.0 + 0.02 * unit());
            #[expect(clippy::cast_possible_truncation, reason = "columns are float32")]
            let cell = if is_suspended { f32::NAN } else { value as f32 };
            column.push(cell);
        }
    }
    columns
}

fn checked(set: &[NamedFormula]) -> Vec<CheckedFormula> {
    set.iter()
        .filter_map(|formula| check_formula(&formula.text, &FIELDS, FormulaRole::Alpha).ok())
        .collect()
}

fn evaluate(criterion: &mut Criterion, label: &str, set: &[NamedFormula]) {
    let plan = FormulaPlan::of(&checked(set), FormulaPrecision::Qlib);
    let panel: Vec<Vec<Vec<f32>>> = (0..NAMES).map(columns).collect();
    let place = |field: &String| FIELDS.iter().position(|known| known == field).unwrap_or(0);
    let names: Vec<NameRows<'_>> = panel
        .iter()
        .map(|name| {
            let cells = |field: &String| {
                name.get(place(field))
                    .map_or(FieldCells::Singles(&[]), |cells| FieldCells::Singles(cells))
            };
            NameRows::new(0, plan.fields().iter().map(cells).collect())
        })
        .collect();
    let mut engine = FormulaEngine::default();
    let mut group = criterion.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(NAMES));
    group.bench_function(label, |bencher| {
        bencher.iter(|| {
            for name in &names {
                let visit = |formula: usize, cells: &[f32]| {
                    black_box((formula, cells));
                };
                black_box(engine.evaluate(&plan, name, &NoOtherNames, visit)).ok();
            }
        });
    });
    group.finish();
}

fn parsing(criterion: &mut Criterion) {
    let set = alpha158(&Alpha158Options {
        windows: (1..=345).collect(),
        ..Alpha158Options::default()
    });
    criterion.bench_function("check ten thousand formulas", |bencher| {
        bencher.iter(|| {
            for formula in set.iter().take(10_000) {
                black_box(check_formula(&formula.text, &FIELDS, FormulaRole::Alpha)).ok();
            }
        });
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    evaluate(&mut criterion, "Alpha158", &alpha158(&Alpha158Options::default()));
    evaluate(&mut criterion, "Alpha360", &alpha360());
    parsing(&mut criterion);
    criterion.final_summary();
}
