//! The factor model: the whole way from prices to factor returns, through our own factors and exposures.

use crate::golden::attribution::set::{
    Golden, TOLERANCE, Table, folders, json, model_config, over_every_set,
};
use ktd_attribution::model::{
    Centering, DayFit, DayStatus, FactorModel, Leg, ModelConfig, Solution, Solver, VifScreen, Weighting,
    calibrate, wls,
};
use ktd_env::factors::{Factor, Winsor};
use ktd_kit::golden::{near_of, number, numbers_or_nan, whole, wholes};
use serde_json::Value;
use std::path::Path;

over_every_set! {
    Golden::all();
    factor_returns_and_their_errors => factor_returns_and_their_errors_of,
    exposures_and_sets => exposures_and_sets_of,
    residuals_of_covered_names => residuals_of_covered_names_of,
    the_screen_and_its_path => the_screen_and_its_path_of,
    thin_days_cover_nothing => thin_days_cover_nothing_of,
    selection_moves_with_weights_and_limits_but_not_with_the_centre => selection_moves_of,
}

over_every_set! {
    folders();
    adversarial_regressions => adversarial_regressions_of,
    equal_weights_are_ordinary_least_squares => equal_weights_are_ordinary_least_squares_of,
}

/// The day after the last return day that the set's generator screens on.
const CALIBRATION_END: usize = 291;

fn compare_factor_returns(table: &Table, row: usize, fit: &DayFit) {
    let line = row + 2;
    let file = &table.file;
    assert_eq!(
        fit.estimation_names,
        table.count(row, "n"),
        "{file} line {line} n"
    );
    assert_eq!(
        fit.imputed,
        table.count(row, "imputed"),
        "{file} line {line} imputed"
    );
    table.near(row, "r2", Some(fit.r_squared));
    table.near(row, "sigma2", Some(fit.sigma_squared));
    for (column, name) in ["COMMON"]
        .into_iter()
        .chain(Factor::ALL.map(Factor::name))
        .enumerate()
    {
        for (leg, key) in Leg::ALL.into_iter().zip(["f_cc", "f_on", "f_id"]) {
            table.near(
                row,
                &format!("{key}:{name}"),
                Some(fit.factor_return(column, leg)),
            );
        }
        table.near(row, &format!("se:{name}"), fit.standard_error(column));
        table.near(row, &format!("hc1:{name}"), fit.standard_error_hc1(column));
    }
}

fn factor_returns_and_their_errors_of(golden: &Golden) {
    let weightings = [
        ("sqrt_amount", Weighting::SqrtAmount),
        ("equal", Weighting::Equal),
    ];
    let centers = [("equal", Centering::Equal), ("regression", Centering::Regression)];
    for (weight, weighting) in weightings {
        for (center, centering) in centers {
            let model = golden.fit(|config| (config.weighting, config.centering) = (weighting, centering));
            let table = Table::read(&golden.folder, &format!("factor_returns_{weight}_{center}.csv"));
            assert_eq!(table.rows.len(), model.fits().len());
            for row in 0..table.rows.len() {
                let day = table.count(row, "ret_day");
                compare_factor_returns(&table, row, model.day(day).unwrap());
            }
            println!("{}: {} days", table.file, table.rows.len());
        }
    }
}

fn exposures_and_sets_of(golden: &Golden) {
    let model = golden.fit(|_| ());
    let table = Table::read(&golden.folder, "exposures_z.csv");
    for row in 0..table.rows.len() {
        let fit = model.day(table.count(row, "ret_day")).unwrap();
        let name = golden.row(&table.rows[row]["stock"]);
        let flags = (fit.is_estimated(name), fit.is_covered(name));
        let expected = (
            table.rows[row]["in_estimation"] == "1",
            table.rows[row]["covered"] == "1",
        );
        assert_eq!(flags, expected, "{} line {}", table.file, row + 2);
        let weight = table.number(row, "reg_weight");
        let near = fit.weight(name).map_or_else(
            || weight.is_nan(),
            |own| (own - weight).abs() <= TOLERANCE * weight,
        );
        assert!(near, "{} line {} reg_weight", table.file, row + 2);
        for (style, factor) in Factor::ALL.into_iter().enumerate() {
            table.near(row, factor.name(), Some(fit.exposure(name, style)));
        }
    }
    println!("exposures_z.csv: {} rows", table.rows.len());
}

fn residuals_of_covered_names_of(golden: &Golden) {
    let model = golden.fit(|_| ());
    let table = Table::read(&golden.folder, "residuals.csv");
    for row in 0..table.rows.len() {
        let fit = model.day(table.count(row, "ret_day")).unwrap();
        let name = golden.row(&table.rows[row]["stock"]);
        assert!(fit.is_covered(name), "line {}", row + 2);
        for (leg, key) in Leg::ALL.into_iter().zip(["u_cc", "u_on", "u_id"]) {
            table.near(row, key, Some(fit.specific_return(name, leg)));
        }
    }
    println!("residuals.csv: {} rows", table.rows.len());
}

/// The columns of a matrix that is told row by row.
fn transposed(rows: &Value) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = rows.as_array().unwrap().iter().map(numbers_or_nan).collect();
    (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect()
}

fn views(columns: &[Vec<f64>]) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
}

fn compare_case(case: &Value, solution: &Solution, way: &str) {
    let name = case["name"].as_str().unwrap();
    let kept: Vec<usize> = wholes(&case["kept"]);
    assert_eq!(solution.kept, kept, "{name}, {way}: kept");
    let errors = numbers_or_nan(&case["se"]);
    // Rounding grows with the condition of the columns, which shows in their errors: one of 1e-4 apart loses as many
    // digits.
    let condition = errors.iter().copied().fold(0.01, f64::max) / 0.01;
    for (place, expected) in numbers_or_nan(&case["beta"]).into_iter().enumerate() {
        let tolerance = TOLERANCE * condition;
        near_of(
            &format!("{name}, {way}: beta {place}"),
            solution.coefficients[0][place],
            expected,
            tolerance,
        );
    }
    for (row, expected) in numbers_or_nan(&case["resid"]).into_iter().enumerate() {
        near_of(
            &format!("{name}, {way}: residual {row}"),
            solution.residuals[0][row],
            expected,
            TOLERANCE,
        );
    }
    let own = &solution.standard_errors;
    for (place, expected) in kept.iter().zip(errors) {
        let place_text = format!("{name}, {way}: error {place}");
        near_of(&place_text, own[*place].unwrap(), expected, TOLERANCE * condition);
    }
}

fn adversarial_regressions_of(folder: &Path) {
    let tolerance = model_config(&json(folder, "config.json")).rank_tolerance;
    let cases = json(folder, "adversarial_wls.json");
    for case in cases.as_array().unwrap() {
        let columns = transposed(&case["X"]);
        let columns = views(&columns);
        let (leg, weights) = (numbers_or_nan(&case["y"]), numbers_or_nan(&case["w"]));
        let quick = wls(&columns, &[&leg], &weights, tolerance).unwrap();
        compare_case(case, &quick, "quick");
        let mut careful = Solver::default();
        careful
            .fit_by_gram_schmidt(&columns, &[&leg], &weights, tolerance)
            .unwrap();
        compare_case(case, careful.solution(), "careful");
    }
    println!("adversarial_wls.json: {} cases", cases.as_array().unwrap().len());
}

fn equal_weights_are_ordinary_least_squares_of(folder: &Path) {
    let golden = &json(folder, "misc.json")["ols"];
    let columns = transposed(&golden["X"]);
    let leg = numbers_or_nan(&golden["y"]);
    for weight in [1.0, 7.7] {
        let solution = wls(&views(&columns), &[&leg], &vec![weight; leg.len()], 1e-10).unwrap();
        for (place, expected) in numbers_or_nan(&golden["beta"]).into_iter().enumerate() {
            near_of(
                &format!("misc.json ols beta {place}"),
                solution.coefficients[0][place],
                expected,
                TOLERANCE,
            );
        }
    }
}

fn the_screen_and_its_path_of(golden: &Golden) {
    let expected = json(&golden.folder, "vif.json");
    let threshold = number(&expected["threshold"]);
    // Only our own set says it.
    let end = expected["calibration_end"]
        .as_u64()
        .map_or(CALIBRATION_END, |end| end.try_into().unwrap());
    let days = golden.days.start..end;
    let (config, screen) = calibrate(&golden.panel, &golden.config, days, threshold).unwrap();
    let correlation = transposed(&expected["pooled_corr"]).concat();
    for (place, expected) in correlation.into_iter().enumerate() {
        near_of(
            &format!("pooled_corr {place}"),
            screen.correlation[place],
            expected,
            TOLERANCE,
        );
    }
    let path = expected["path"].as_array().unwrap();
    assert_eq!(screen.path.len(), path.len());
    for (round, (step, expected)) in screen.path.iter().zip(path).enumerate() {
        assert_eq!(step.inflations.len(), expected.as_object().unwrap().len());
        for (factor, inflation) in &step.inflations {
            let name = factor.name();
            near_of(
                &format!("round {round} {name}"),
                inflation.unwrap(),
                number(&expected[name]),
                TOLERANCE,
            );
        }
    }
    let kept: Vec<&str> = config.styles.iter().map(|style| style.name()).collect();
    assert_eq!(Value::from(kept), expected["kept"]);

    let first = golden.days.start;
    let one_day = FactorModel::fit(&golden.panel, &golden.config, first..first + 1).unwrap();
    let single = &expected[format!("single_day_{first}")];
    for (factor, inflation) in &VifScreen::new(&one_day, threshold).unwrap().path[0].inflations {
        near_of(
            factor.name(),
            inflation.unwrap(),
            number(&single[factor.name()]),
            TOLERANCE,
        );
    }
}

fn thin_days_cover_nothing_of(golden: &Golden) {
    let misc = json(&golden.folder, "misc.json");
    let least = whole(&misc["thin_min_cross_section"]);
    let model = golden.fit(|config| config.min_names = least);
    let days = misc["thin"].as_array().unwrap();
    for day in days {
        let day = whole(&day["t"]);
        let fit = model.day(day).unwrap();
        assert_eq!(fit.status, DayStatus::Thin, "day {day}");
        assert!((0..fit.names()).all(|row| !fit.is_covered(row)));
        assert!((0..fit.columns()).all(|column| fit.standard_error(column).is_none()));
    }
    assert!(!days.is_empty());
}

/// The largest difference of specific returns over all days and covered names.
fn residual_distance(left: &FactorModel, right: &FactorModel) -> f64 {
    let mut distance: f64 = 0.0;
    for (left, right) in left.fits().iter().zip(right.fits()) {
        for row in 0..left.names() {
            assert_eq!(left.is_covered(row), right.is_covered(row));
            for leg in Leg::ALL {
                distance =
                    distance.max((left.specific_return(row, leg) - right.specific_return(row, leg)).abs());
            }
        }
    }
    distance
}

fn selection_moves_of(golden: &Golden) {
    let base = golden.fit(|_| ());
    let moved = |change: &dyn Fn(&mut ModelConfig)| residual_distance(&base, &golden.fit(change));
    assert!(moved(&|config| config.centering = Centering::Regression) <= TOLERANCE);
    assert!(1e-5 < moved(&|config| config.weighting = Weighting::Equal));
    assert!(1e-5 < moved(&|config| config.weighting = Weighting::Amount));
    assert!(1e-5 < moved(&|config| config.winsor = Winsor::Unlimited));
    assert!(1e-5 < moved(&|config| config.winsor = Winsor::Sigma { k: 2.0 }));
}
