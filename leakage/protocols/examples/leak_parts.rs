//! One part of the benchmark's work on 300 names of 2,000 days, for a clock outside: `leak_parts PART`. `market` and
//! `rows` make the data alone, so that what another part costs is the difference.

use ktd_leakage::{BarGrid, FeatureGrid, GraphWindow, LeakageSettings, SessionMonth, Switch, peer_graphs};
use ktd_learners::{BoostedTrees, BoostingSettings, Chance, RidgeFit};
use ktd_stats::SplitMix64;
use std::error::Error;
use std::hint::black_box;

const NAMES: usize = 300;
const DAYS: usize = 2_000;
const ROWS: usize = 505_000;
const SCORED: usize = 76_000;
const WIDTH: usize = 25;

/// About normal: the sum of four uniforms.
fn normal(stream: &mut SplitMix64) -> f64 {
    let sum: f64 = (0..4).map(|_| stream.uniform()).sum();
    (sum - 2.0) * 1.7
}

/// A market of walks, every name on every day, 21 days a month.
fn market() -> Result<BarGrid, Box<dyn Error>> {
    let mut stream = SplitMix64::new(2);
    let mut columns: [Vec<f64>; 5] = std::array::from_fn(|_| Vec::with_capacity(NAMES * DAYS));
    let mut closes = [20.0; NAMES];
    for _ in 0..DAYS {
        for close in &mut closes {
            let open = *close * (1.0 + 0.005 * normal(&mut stream));
            *close *= 1.0 + 0.02 * normal(&mut stream);
            let (high, low) = (open.max(*close) * 1.004, open.min(*close) * 0.996);
            let volume = 1e6 * (2.5 + normal(&mut stream)).max(0.1);
            for (column, value) in columns.iter_mut().zip([open, high, low, *close, volume]) {
                column.push(value);
            }
        }
    }
    let months: Vec<SessionMonth> = (0..DAYS)
        .map(|day| -> Result<SessionMonth, std::num::TryFromIntError> {
            Ok(SessionMonth {
                year: 2014 + i32::try_from(day / 252)?,
                month: u8::try_from(day % 252 / 21)? + 1,
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(BarGrid::new(months, NAMES, columns)?)
}

/// Rows of features with a label that a product and a sum of them decide in part.
fn rows() -> (Vec<f64>, Vec<f64>) {
    let mut stream = SplitMix64::new(1);
    let features: Vec<f64> = (0..ROWS * WIDTH).map(|_| normal(&mut stream)).collect();
    let label = |row: &[f64]| match row {
        [one, two, three, ..] => 0.002 * one - 0.001 * two * three + 0.05 * normal(&mut stream),
        _ => 0.0,
    };
    let labels = features.chunks(WIDTH).map(label).collect();
    (features, labels)
}

#[expect(
    clippy::disallowed_methods,
    reason = "which part is timed is named on the command line"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let part = std::env::args().nth(1).unwrap_or_default();
    let settings = LeakageSettings::BENCHMARK;
    match part.as_str() {
        "market" => drop(black_box(market()?)),
        "graphs" => {
            let window = GraphWindow::trailing(settings.graph_days);
            black_box(peer_graphs(&market()?, window, settings.graph_peers));
        }
        "features" => {
            let bars = market()?;
            let grid = FeatureGrid::new(&bars, &settings);
            for session in 0..DAYS {
                black_box(grid.features(Switch::Clean, session));
            }
        }
        "rows" => drop(black_box(rows())),
        "ridge" => {
            let (features, labels) = rows();
            let fit = RidgeFit::fit(&features, WIDTH, &labels, 1.0)?;
            let scored = features.get(..SCORED * WIDTH).unwrap_or(&[]);
            black_box(fit.predict(scored));
        }
        "trees" => {
            let (features, labels) = rows();
            let mut stream = SplitMix64::new(3);
            let mut next = || stream.next_u64();
            let settings = BoostingSettings::BENCHMARK;
            let mut chance = Chance::new(&mut next);
            let fit = BoostedTrees::fit(&features, WIDTH, &labels, &settings, &mut chance)?;
            let scored = features.get(..SCORED * WIDTH).unwrap_or(&[]);
            black_box(fit.predict(scored));
        }
        _ => return Err("name a part: market, graphs, features, rows, ridge or trees".into()),
    }
    Ok(())
}
