//! The statistics whose speed a report waits for, at the sizes of the long window.
//!
//! One core, no threads: ten agents over 548 days and 2,000 replicates; 28 strategies in 16 blocks.

use criterion::Criterion;
use ktd_stats::{
    Confidence, DailyTable, ReplicateSums, SplitMix64, StationaryBootstrap, mean_intervals, pbo,
    rank_intervals, sharpe_intervals, superior_ability,
};
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

fn bootstrap(criterion: &mut Criterion) {
    let columns = returns(10);
    let Ok(draws) = StationaryBootstrap::new(WINDOW_DAYS, 10.0, 2000, 42) else {
        return;
    };
    let (Ok(simple), Ok(logarithmic)) = (
        DailyTable::new("returns", &slices(&columns)),
        DailyTable::log_returns(&slices(&columns)),
    ) else {
        return;
    };
    criterion.bench_function("bootstrap 2000 x 10 x 548: ranks and means", |bencher| {
        bencher.iter(|| {
            let sums = ReplicateSums::of_all([&simple, &logarithmic], black_box(&draws));
            sums.iter().flatten().for_each(|sums| {
                black_box(mean_intervals(sums, Confidence::P95));
                black_box(rank_intervals(sums, Confidence::P95));
            });
        });
    });
    criterion.bench_function("bootstrap 2000 x 10 x 548: Sharpe ratios", |bencher| {
        bencher.iter(|| sharpe_intervals(&simple, black_box(&draws), Confidence::P95));
    });
    criterion.bench_function("superior ability 2000 x 10 x 548", |bencher| {
        bencher.iter(|| superior_ability(&simple, black_box(&draws)));
    });
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
    bootstrap(&mut criterion);
    overfitting(&mut criterion);
    criterion.final_summary();
}
