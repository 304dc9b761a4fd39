//! How long the definitions of all tasks take on 5,000 rows, one thread: `cargo bench -p ktd-factor-code`.

#![expect(clippy::expect_used, reason = "a broken measurement ends here")]

use criterion::{Criterion, criterion_group, criterion_main};
use ktd_factor_code::{FactorPanels, FactorTasks, PanelKind, timing_bars};
use std::hint::black_box;

fn definitions(criterion: &mut Criterion) {
    let tasks = FactorTasks::compiled_in().expect("compiled in");
    let bars = timing_bars(20_260_401).expect("enough weekdays");
    let panels = FactorPanels::new(20_260_401, None).expect("enough weekdays");
    criterion.bench_function("108 definitions on 5,000 rows", |bencher| {
        bencher.iter(|| {
            for task in tasks.as_slice() {
                black_box(task.definition.evaluate(&bars).expect("no gaps"));
            }
        });
    });
    criterion.bench_function("108 definitions on panel G", |bencher| {
        bencher.iter(|| {
            for task in tasks.as_slice() {
                black_box(
                    task.definition
                        .evaluate(panels.bars(PanelKind::G))
                        .expect("no gaps"),
                );
            }
        });
    });
}

criterion_group!(benches, definitions);
criterion_main!(benches);
