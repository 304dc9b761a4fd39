//! The evaluator against the golden columns, and the compiled-in tasks against the set's.

use super::columns::{PANELS, bars, golden, text};
use ktd_factor_code::FactorTasks;

/// The spread of a column's values, as the set's tolerance takes it.
fn spread(cells: &[f64]) -> f64 {
    let present: Vec<f64> = cells.iter().copied().filter(|cell| !cell.is_nan()).collect();
    let count = f64::from(u32::try_from(present.len()).unwrap());
    let mean = present.iter().sum::<f64>() / count;
    (present
        .iter()
        .map(|cell| (cell - mean) * (cell - mean))
        .sum::<f64>()
        / count)
        .sqrt()
}

#[test]
fn all_columns_of_all_panels_are_the_golden_ones() {
    let tasks = FactorTasks::compiled_in().unwrap();
    let mut compared = 0;
    let mut wrong = Vec::new();
    let mut worst = 0.0_f64;
    for panel in PANELS {
        let (Some(bars), Some(columns)) = (bars(panel), golden(panel)) else {
            return;
        };
        for task in tasks.as_slice() {
            let ours = task.definition.evaluate(&bars).unwrap();
            let theirs = &columns[task.id.as_str()];
            assert_eq!(ours.len(), theirs.len());
            let spread = spread(theirs);
            for (row, (own, golden)) in ours.iter().zip(theirs).enumerate() {
                let missing = own.is_nan() || golden.is_nan();
                let bound = golden.abs().max(spread);
                let off = (own - golden).abs();
                if !missing && 0.0 < off {
                    worst = worst.max(off / bound);
                }
                if own.is_nan() != golden.is_nan() || (!missing && 1e-9 * bound < off) {
                    wrong.push(format!("{} on {panel}, row {row}: {own} and {golden}", task.id));
                    break;
                }
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{compared} columns compared, at worst {worst:e} apart");
    assert_eq!(compared, 4 * 108);
}

#[test]
fn the_compiled_in_tasks_are_those_of_the_set() {
    let Some(theirs) = text("tasks.jsonl") else {
        return;
    };
    assert_eq!(FactorTasks::compiled_in_text(), theirs);
}
