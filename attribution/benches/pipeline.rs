//! From prices to attribution: a panel of 300 names x 800 days, nine factors, exposures and fits of 548 days with both
//! kinds of standard errors and all three legs, and the attribution of one portfolio of 20 names.

use criterion::{Criterion, Throughput};
use ktd_attribution::model::{FactorModel, Leg, ModelConfig};
use ktd_attribution::{Panel, PanelColumns};
use std::hint::black_box;
use std::time::Duration;

const NAMES: usize = 300;
const DAYS: usize = 800;
const RETURN_DAYS: usize = 548;
const HELD: usize = 20;

/// Numbers that look like chance, from -1 to 1.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let top = u32::try_from(mixed >> 32).unwrap_or(u32::MAX);
        f64::from(top) / f64::from(u32::MAX) * 2.0 - 1.0
    }

    /// A bell of deviation 1, near enough.
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() / 2.0
    }
}

fn panel() -> Option<Panel> {
    let mut draws = Draws(7);
    let mut columns = PanelColumns {
        names: NAMES,
        days: DAYS,
        traded: vec![true; NAMES * DAYS],
        member: vec![true; NAMES * DAYS],
        ..PanelColumns::default()
    };
    for _ in 0..NAMES {
        let mut close = 20.0;
        for _ in 0..DAYS {
            close *= libm::exp(0.02 * draws.bell());
            let open = close * libm::exp(0.008 * draws.bell());
            let volume = libm::exp(15.0 + 0.5 * draws.bell());
            columns.open.push(open);
            columns.close.push(close);
            columns.high.push(open.max(close) * 1.005);
            columns.low.push(open.min(close) * 0.995);
            columns.volume.push(volume);
            columns.amount.push(volume * close);
        }
    }
    Panel::new(columns).ok()
}

/// Common, style and specific return of 20 equal weights, summed over the days.
fn attribute(model: &FactorModel) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for fit in model.fits() {
        let rows = (0..HELD).map(|place| place * NAMES / HELD);
        let weight = 0.05;
        for row in rows.filter(|row| fit.is_covered(*row)) {
            sums[0] += weight * fit.factor_return(0, Leg::CloseToClose);
            for style in 0..fit.styles() {
                sums[1] +=
                    weight * fit.exposure(row, style) * fit.factor_return(style + 1, Leg::CloseToClose);
            }
            sums[2] += weight * fit.specific_return(row, Leg::CloseToClose);
        }
    }
    sums
}

fn main() {
    let Some(panel) = panel() else { return };
    let config = ModelConfig::ktd();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("pipeline");
    group
        .throughput(Throughput::Elements(548))
        .measurement_time(Duration::from_secs(6))
        .warm_up_time(Duration::from_secs(1))
        .sample_size(40);
    group.bench_function("800 days x 300 names to 548 attributed days", |bencher| {
        bencher.iter(|| {
            let model = FactorModel::fit(black_box(&panel), &config, DAYS - RETURN_DAYS..DAYS);
            model.map(|model| attribute(&model))
        });
    });
    group.finish();
    criterion.final_summary();
}
