//! The statistic whose speed a report waits for, at the size of the long window.
//!
//! One core, no threads: 28 strategies over 548 days in 16 blocks.

use criterion::Criterion;
use ktd_stats::{DailyTable, SplitMix64, pbo};
use std::hint::black_box;

/// Trading days of the longest window.
const WINDOW_DAYS: usize = 548;

/// Daily returns of agents without skill.
fn returns(agents: usize) -> Vec<Vec<f64>> {
    let mut generator = SplitMix64::new(42);
    let mut agent = || {
        (0..WINDOW_DAYS)
            .map(|_| 0.04 * (generator.uniform() - 0.5))
            .collect()
    };
    (0..agents).map(|_| agent()).collect()
}

fn slices(columns: &[Vec<f64>]) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
}

fn overfitting(criterion: &mut Criterion) {
    let columns = returns(28);
    let Ok(table) = DailyTable::new("returns", &slices(&columns)) else {
        return;
    };
    criterion.bench_function("overfitting, 16 blocks, 28 strategies, 548 days", |bencher| {
        bencher.iter(|| pbo(black_box(&table), 16));
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    overfitting(&mut criterion);
    criterion.final_summary();
}
