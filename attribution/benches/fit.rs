//! The daily regressions alone: 300 names x 548 days x 10 columns, exposures, returns and weights given, with classical
//! standard errors and the attribution of one portfolio of 20 names.

use criterion::{Criterion, Throughput};
use ktd_attribution::model::Solver;
use std::hint::black_box;
use std::time::Duration;

const NAMES: usize = 300;
const DAYS: usize = 548;
const STYLES: usize = 9;
const HELD: usize = 20;

/// Numbers that look like chance, from -1 to 1: a Weyl sequence.
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

struct Day {
    /// Style by style.
    exposures: Vec<f64>,
    returns: Vec<f64>,
    weights: Vec<f64>,
    /// Row and portfolio weight.
    held: Vec<(usize, f64)>,
}

fn days() -> Vec<Day> {
    let mut draws = Draws(7);
    (0..DAYS)
        .map(|_| {
            let exposures: Vec<f64> = (0..STYLES * NAMES).map(|_| draws.bell()).collect();
            let factors: Vec<f64> = (0..STYLES).map(|_| 0.005 * draws.bell()).collect();
            let returns = (0..NAMES).map(|name| {
                let common: f64 = exposures
                    .chunks(NAMES)
                    .zip(&factors)
                    .map(|(style, factor)| style.get(name).copied().unwrap_or(0.0) * factor)
                    .sum();
                common + 0.02 * draws.bell()
            });
            let returns = returns.collect();
            Day {
                returns,
                exposures,
                weights: (0..NAMES).map(|_| libm::exp(9.0 + draws.bell() / 2.0)).collect(),
                held: (0..HELD)
                    .map(|place| (place * NAMES / HELD, 1.0 / 20.0))
                    .collect(),
            }
        })
        .collect()
}

/// Common, style and specific return of the day's portfolio, and the sum of standard errors.
fn attribute(day: &Day, ones: &[f64], solver: &mut Solver) -> Option<[f64; 4]> {
    let mut columns = vec![ones];
    columns.extend(day.exposures.chunks(NAMES));
    let solution = solver.fit(&columns, &[&day.returns], &day.weights, 1e-10).ok()?;
    let (factors, residuals) = (solution.coefficients.first()?, solution.residuals.first()?);
    let mut loadings = [0.0; STYLES + 1];
    let mut specific = 0.0;
    for (row, weight) in &day.held {
        for (loading, column) in loadings.iter_mut().zip(&columns) {
            *loading += weight * column.get(*row)?;
        }
        specific += weight * residuals.get(*row)?;
    }
    let mut parts = loadings
        .iter()
        .zip(factors)
        .map(|(loading, factor)| loading * factor);
    Some([
        parts.next()?,
        parts.sum(),
        specific,
        solution.standard_errors.iter().flatten().sum(),
    ])
}

/// The sum of the coefficients of the same regression by nalgebra: rows times the root of their weight, normal equations,
/// Cholesky. No residuals, standard errors or portfolio.
fn by_nalgebra(day: &Day) -> Option<f64> {
    let roots: Vec<f64> = day.weights.iter().map(|weight| weight.sqrt()).collect();
    let cell = |column: usize, row: usize| match column.checked_sub(1) {
        None => 1.0,
        Some(style) => day.exposures.get(style * NAMES + row).copied().unwrap_or(0.0),
    };
    let root = |row: usize| roots.get(row).copied().unwrap_or(0.0);
    let matrix = nalgebra::DMatrix::from_fn(NAMES, STYLES + 1, |row, column| cell(column, row) * root(row));
    let vector = nalgebra::DVector::from_fn(NAMES, |row, _| {
        day.returns.get(row).copied().unwrap_or(0.0) * root(row)
    });
    let cholesky = nalgebra::Cholesky::new(matrix.tr_mul(&matrix))?;
    Some(cholesky.solve(&matrix.tr_mul(&vector)).sum())
}

fn main() {
    let days = days();
    let ones = vec![1.0; NAMES];
    let mut solver = Solver::default();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("fit");
    group
        .throughput(Throughput::Elements(548))
        .measurement_time(Duration::from_secs(4))
        .warm_up_time(Duration::from_secs(1));
    group.bench_function("300 names x 548 days x 10 columns", |bencher| {
        bencher.iter(|| {
            days.iter().fold([0.0; 4], |mut sums, day| {
                for (sum, part) in sums
                    .iter_mut()
                    .zip(attribute(black_box(day), &ones, &mut solver).unwrap_or_default())
                {
                    *sum += part;
                }
                sums
            })
        });
    });
    group.bench_function("coefficients alone, by nalgebra", |bencher| {
        bencher.iter(|| {
            days.iter()
                .filter_map(|day| by_nalgebra(black_box(day)))
                .sum::<f64>()
        });
    });
    group.finish();
    criterion.final_summary();
}
