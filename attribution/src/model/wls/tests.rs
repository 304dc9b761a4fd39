//! The two ways held against each other, and the edges.

use super::*;
use proptest::prelude::*;

const TOLERANCE: f64 = 1e-10;

fn views(columns: &[Vec<f64>]) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
}

/// Numbers from -1 to 1 that look like chance.
fn draws(seed: u64, rows: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut draw = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        f64::from(u32::try_from(mixed >> 32).unwrap()) / f64::from(u32::MAX) * 2.0 - 1.0
    };
    (0..rows).map(|_| draw()).collect()
}

fn design(columns: u64, rows: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut design = vec![vec![1.0; rows]];
    design.extend((1..columns).map(|column| draws(seed + 1000 * column, rows)));
    design
}

fn positive(seed: u64, rows: usize) -> Vec<f64> {
    draws(seed, rows).into_iter().map(|draw| 1.5 + draw).collect()
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * right.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_quick_way_agrees_with_the_careful_one(columns in 1_u64..12, rows in 24_usize..90, seed in 0_u64..1_000_000) {
        let design = design(columns, rows, seed);
        let legs = [draws(seed + 7, rows), draws(seed + 8, rows)];
        let weights = positive(seed + 9, rows);
        let (mut quick, mut careful) = (Solver::default(), Solver::default());
        quick.fit(&views(&design), &views(&legs), &weights, TOLERANCE).unwrap();
        careful.fit_by_gram_schmidt(&views(&design), &views(&legs), &weights, TOLERANCE).unwrap();
        let (left, right) = (quick.solution(), careful.solution());
        prop_assert_eq!(&left.kept, &right.kept);
        let cells = |solution: &Solution| -> Vec<f64> {
            let parts = solution.coefficients.iter().chain(&solution.residuals).flatten().copied();
            let errors = solution.standard_errors.iter().map(|error| error.unwrap());
            parts.chain(errors).chain([solution.sigma_squared, solution.r_squared]).collect()
        };
        for (left, right) in cells(left).into_iter().zip(cells(right)) {
            prop_assert!(near(left, right), "{left} {right}");
        }
        let (left, right) = (quick.covariance_hc1(&views(&design)), careful.covariance_hc1(&views(&design)));
        for (left, right) in left.into_iter().zip(right) {
            prop_assert!(near(left, right), "{left} {right}");
        }
    }

    #[test]
    fn an_independent_decomposition_gives_the_same_coefficients(columns in 1_u64..12, rows in 24_usize..90, seed in 0_u64..1_000_000) {
        let design = design(columns, rows, seed);
        let leg = draws(seed + 7, rows);
        let weights = positive(seed + 9, rows);
        let ours = wls(&views(&design), &[&leg], &weights, TOLERANCE).unwrap();
        // Weighted least squares are plain ones of rows times the root of their weight, here by singular values.
        let root = |row: usize| weights[row].sqrt();
        let matrix = nalgebra::DMatrix::from_fn(rows, design.len(), |row, column| design[column][row] * root(row));
        let vector = nalgebra::DVector::from_fn(rows, |row, _| leg[row] * root(row));
        let theirs = matrix.svd(true, true).solve(&vector, 1e-12).unwrap();
        for (ours, theirs) in ours.coefficients[0].iter().zip(theirs.iter()) {
            prop_assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{ours} {theirs}");
        }
    }

    #[test]
    fn residuals_are_orthogonal_to_what_was_kept(columns in 2_u64..9, rows in 20_usize..70, seed in 0_u64..1_000_000) {
        let mut design = design(columns, rows, seed);
        let double: Vec<f64> = design[1].iter().map(|value| 3.0 * value - 1.0).collect();
        design.push(double);
        let leg = draws(seed + 7, rows);
        let weights = positive(seed + 9, rows);
        let solution = wls(&views(&design), &[&leg], &weights, TOLERANCE).unwrap();
        // The last column repeats the first two.
        prop_assert_eq!(&solution.kept, &(0..usize::try_from(columns).unwrap()).collect::<Vec<_>>());
        for column in &design {
            let product: f64 = column.iter().zip(&weights).zip(&solution.residuals[0]).map(|((x, v), u)| x * v * u).sum();
            prop_assert!(product.abs() < 1e-10, "{product}");
        }
    }
}

/// Ten rows, of which the last two are left out, and hold what is not finite.
fn with_gaps() -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let mut design = design(3, 10, 5);
    let mut leg = draws(11, 10);
    design[1][8] = f64::NAN;
    design[2][9] = f64::INFINITY;
    leg[9] = f64::NAN;
    let mut weights = positive(12, 10);
    (weights[8], weights[9]) = (0.0, f64::NAN);
    (design, leg, weights)
}

#[test]
fn rows_without_a_weight_may_hold_anything() {
    let (design, leg, mut weights) = with_gaps();
    let short: Vec<Vec<f64>> = design.iter().map(|column| column[..8].to_vec()).collect();
    let mut part = Solver::default();
    part.fit(&views(&short), &[&leg[..8]], &weights[..8], TOLERANCE)
        .unwrap();
    for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        weights[8] = nothing;
        let mut whole = Solver::default();
        whole.fit(&views(&design), &[&leg], &weights, TOLERANCE).unwrap();
        let (left, right) = (whole.solution(), part.solution());
        assert_eq!((left.observations, &left.kept), (8, &right.kept));
        let pairs = left.coefficients[0].iter().zip(&right.coefficients[0]);
        assert!(pairs.into_iter().all(|(left, right)| near(*left, *right)));
        let pairs = left.residuals[0].iter().zip(&right.residuals[0]);
        assert!(pairs.into_iter().all(|(left, right)| near(*left, *right)));
        assert!(near(left.sigma_squared, right.sigma_squared) && near(left.r_squared, right.r_squared));
        let hc1 = (
            whole.covariance_hc1(&views(&design)),
            part.covariance_hc1(&views(&short)),
        );
        assert!(hc1.0.iter().zip(&hc1.1).all(|(left, right)| near(*left, *right)));
    }
}

#[test]
fn what_is_not_finite_in_a_row_with_a_weight_is_named() {
    let (mut design, mut leg, mut weights) = with_gaps();
    weights[8] = 1.0;
    let refused = |design: &[Vec<f64>], leg: &[f64], weights: &[f64]| {
        wls(&views(design), &[leg], weights, TOLERANCE).unwrap_err()
    };
    let error = refused(&design, &leg, &weights);
    assert_eq!(
        error,
        WlsError::NotFinite {
            part: "column",
            place: 1
        }
    );
    assert!(!error.hint().is_empty());
    design[1][8] = 0.5;
    leg[3] = f64::INFINITY;
    assert_eq!(
        refused(&design, &leg, &weights),
        WlsError::NotFinite {
            part: "leg",
            place: 0
        }
    );
}

#[test]
fn shapes_that_do_not_fit_and_too_few_rows_are_refused() {
    let (ones, leg) = (vec![1.0; 3], [1.0, 2.0, 4.0]);
    let length = WlsError::Length {
        part: "leg",
        place: 0,
        rows: 2,
        expected_rows: 3,
    };
    assert_eq!(
        wls(&[&ones], &[&leg[..2]], &[1.0; 3], TOLERANCE).unwrap_err(),
        length
    );
    let few = WlsError::TooFewRows { rows: 1, columns: 1 };
    assert_eq!(
        wls(&[&ones], &[&leg], &[0.0, 2.0, 0.0], TOLERANCE).unwrap_err(),
        few
    );
    let none = WlsError::TooFewRows { rows: 0, columns: 0 };
    assert_eq!(wls(&[&ones], &[&leg], &[0.0; 3], TOLERANCE).unwrap_err(), none);
}

#[test]
fn a_weighted_mean_by_hand() {
    // Weights 1, 1, 2: mean 3, residuals -2, -1, 1.5 less; variance of them over two degrees of freedom.
    let solution = wls(&[&[1.0; 3]], &[&[1.0, 3.0, 4.0]], &[1.0, 1.0, 2.0], TOLERANCE).unwrap();
    assert!(near(solution.coefficients[0][0], 3.0));
    assert!(near(solution.sigma_squared, (4.0 + 0.0 + 2.0) / 2.0));
    assert!(near(solution.standard_errors[0].unwrap(), (3.0_f64 / 4.0).sqrt()));
    assert!(solution.r_squared.abs() < 1e-15);
}

#[test]
fn returns_that_do_not_vary_have_no_r_squared() {
    let solution = wls(
        &[&[1.0; 9], &draws(3, 9)],
        &[&[0.1; 9]],
        &positive(4, 9),
        TOLERANCE,
    )
    .unwrap();
    assert_eq!(solution.r_squared.to_bits(), 0.0_f64.to_bits());
    let zero = wls(
        &[&[1.0; 9], &draws(3, 9)],
        &[&[0.0; 9]],
        &positive(4, 9),
        TOLERANCE,
    )
    .unwrap();
    assert_eq!(
        (zero.r_squared.to_bits(), zero.sigma_squared.to_bits()),
        (0.0_f64.to_bits(), 0.0_f64.to_bits())
    );
}

#[test]
fn a_solver_forgets_the_fit_before() {
    let (large, small) = (design(7, 50, 1), design(3, 21, 2));
    let legs = (draws(3, 50), draws(4, 21));
    let mut used = Solver::default();
    used.fit(&views(&large), &[&legs.0, &legs.0], &positive(5, 50), TOLERANCE)
        .unwrap();
    let again = used
        .fit(&views(&small), &[&legs.1], &positive(6, 21), TOLERANCE)
        .unwrap()
        .clone();
    let fresh = wls(&views(&small), &[&legs.1], &positive(6, 21), TOLERANCE).unwrap();
    assert_eq!(again, fresh);
}
