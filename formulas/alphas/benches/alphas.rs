//! What a hundred alphas wait for: prediction, stability, and robustness under ten draws of noise over 300 names x 2,000 days,
//! every formula evaluated on each perturbed panel.
//!
//! One core, no threads. Five formulas are timed, every thirty-first of Alpha158, so that a hundred are twenty times as much; a
//! draw of noise is made once for all of them, and timed apart.

use criterion::{Criterion, Throughput};
use ktd_alphas::{
    AdjustedBars, DailyRanks, DayTable, MemberTable, NoiseLaw, StabilityMode, daily_correlations,
    noise_stream, perturbed_bars, rank_stability,
};
use ktd_env::KeyedStream;
use ktd_expressions::{
    Alpha158Options, CheckedFormula, FieldCells, FormulaEngine, FormulaPlan, FormulaPrecision, FormulaRole,
    NameRows, NoOtherNames, alpha158, check_formula,
};
use std::hint::black_box;

const FIELDS: [&str; 6] = ["open", "high", "low", "close", "volume", "vwap"];
const DAYS: usize = 2_000;
const NAMES: usize = 300;
const DRAWS: usize = 10;
const EVERY: usize = 31;

/// A walk of prices with a few suspended days.
fn bars(name: usize) -> AdjustedBars {
    let mut stream = KeyedStream::for_purpose(1, &format!("walk {name}"));
    let mut bars = AdjustedBars::default();
    let mut price = 20.0;
    for _ in 0..DAYS {
        price *= 1.0 + 0.02 * stream.normal();
        let lost = if stream.uniform() < 0.004 { f64::NAN } else { 1.0 };
        let mut near = || lost * price * (1.0 + 0.01 * stream.normal());
        let [open, close, vwap] = [near(), near(), near()];
        bars.open.push(open);
        bars.high.push(1.01 * open.max(close));
        bars.low.push(0.99 * open.min(close));
        bars.close.push(close);
        bars.volume.push(lost * 1e6 * (1.0 + stream.uniform()));
        bars.vwap.push(vwap);
        bars.amount.push(lost * 1e8);
    }
    bars
}

fn formulas() -> Vec<CheckedFormula> {
    let set = alpha158(&Alpha158Options::default());
    let chosen = set.iter().step_by(EVERY).take(5);
    chosen
        .filter_map(|formula| check_formula(&formula.text, &FIELDS, FormulaRole::Alpha).ok())
        .collect()
}

/// The scores of each formula on some bars.
fn scores(plan: &FormulaPlan, engine: &mut FormulaEngine, panel: &[AdjustedBars]) -> Vec<DayTable> {
    let mut tables = vec![DayTable::missing(DAYS, NAMES); plan.formulas()];
    for (name, bars) in panel.iter().enumerate() {
        let column = |field: &String| match field.as_str() {
            "open" => &bars.open,
            "high" => &bars.high,
            "low" => &bars.low,
            "close" => &bars.close,
            "volume" => &bars.volume,
            _ => &bars.vwap,
        };
        let columns = plan
            .fields()
            .iter()
            .map(|field| FieldCells::Doubles(column(field)));
        let rows = NameRows::new(0, columns.collect());
        let visit = |formula: usize, cells: &[f32]| {
            if let Some(table) = tables.get_mut(formula) {
                table.set_name(name, 0, cells.iter().map(|cell| f64::from(*cell)));
            }
        };
        engine.evaluate(plan, &rows, &NoOtherNames, visit).ok();
    }
    tables
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let panel: Vec<AdjustedBars> = (0..NAMES).map(bars).collect();
    let members = MemberTable::from_days(NAMES, vec![true; DAYS * NAMES]);
    let mut stream = KeyedStream::for_purpose(1, "labels");
    let labels = DayTable::from_days(NAMES, (0..DAYS * NAMES).map(|_| stream.normal()).collect());
    let days: Vec<usize> = (0..DAYS).collect();
    let plan = FormulaPlan::of(&formulas(), FormulaPrecision::Qlib);
    let mut engine = FormulaEngine::default();
    let noisy = |draw: usize| -> Vec<AdjustedBars> {
        let law = if draw == 0 {
            NoiseLaw::Normal
        } else {
            NoiseLaw::StudentT3
        };
        let of_name = |(name, bars): (usize, &AdjustedBars)| {
            let mut stream = noise_stream(1, law, draw, &name.to_string());
            perturbed_bars(bars, law, 0.01, &mut stream).bars
        };
        panel.iter().enumerate().map(of_name).collect()
    };
    let perturbed = [noisy(0), noisy(1)];
    let mut group = criterion.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(5));
    group.bench_function("five alphas", |bencher| {
        bencher.iter(|| {
            let clean = scores(&plan, &mut engine, &panel);
            let mut ranks = Vec::new();
            for table in &clean {
                black_box(daily_correlations(table, &labels, &members, &days, 10).power(0.5)).ok();
                black_box(rank_stability(table, &members, &days, 10, StabilityMode::Common)).ok();
                ranks.push(DailyRanks::of(table, &members));
            }
            for panel in perturbed.iter().cycle().take(DRAWS) {
                for (ranks, table) in ranks.iter().zip(scores(&plan, &mut engine, panel)) {
                    black_box(ranks.robustness(&table, &days, 10)).ok();
                }
            }
        });
    });
    group.finish();
    criterion.bench_function("one draw of each law", |bencher| {
        bencher.iter(|| (noisy(0), noisy(1)));
    });
    criterion.final_summary();
}
