//! What a fit may read, and what may not move it.

use super::*;
use crate::panel::{Panel, PanelColumns};
use ktd_env::factors::{FactorConfig, RollingWindow};
use proptest::prelude::*;

const NAMES: usize = 40;
const DAYS: usize = 90;
/// Return day of most tests.
const DAY: usize = 70;

/// Windows of a few weeks, so that a panel of a few months will do.
fn config() -> ModelConfig {
    ModelConfig {
        factors: FactorConfig {
            momentum_long_days: 40,
            momentum_skip_days: 5,
            momentum_min_days: 20,
            volatility: RollingWindow::new(20, 12),
            short: RollingWindow::new(10, 7),
            skewness: RollingWindow::new(20, 12),
            high: RollingWindow::new(40, 20),
            amount_variation: RollingWindow::new(20, 12),
            ..FactorConfig::KTD
        },
        weight_window: RollingWindow::new(20, 8),
        min_names: 15,
        min_names_per_column: 2,
        ..ModelConfig::ktd()
    }
}

/// Numbers from 0 to 1 that look like chance.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        f64::from(u32::try_from(mixed >> 32).unwrap()) / f64::from(u32::MAX)
    }
}

/// Prices that wander, with suspensions, late listings and names outside the index.
fn columns(seed: u64) -> PanelColumns {
    let mut draws = Draws(seed);
    let mut columns = PanelColumns {
        names: NAMES,
        days: DAYS,
        ..PanelColumns::default()
    };
    for name in 0..NAMES {
        let mut close = 5.0 + 20.0 * draws.next();
        let size = 1e6 * (1.0 + 50.0 * draws.next());
        let listed = if name % 13 == 5 { 60 } else { 0 };
        for day in 0..DAYS {
            let open = close * (0.98 + 0.04 * draws.next());
            close = open * (0.97 + 0.06 * draws.next());
            let amount = size * (0.5 + draws.next());
            let there = listed <= day && draws.next() < 0.97;
            let price = |price: f64| if there { price } else { f64::NAN };
            columns.open.push(price(open));
            columns.high.push(price(open.max(close) * 1.01));
            columns.low.push(price(open.min(close) * 0.99));
            columns.close.push(price(close));
            columns.volume.push(price(amount / close));
            columns.amount.push(price(amount));
            columns.traded.push(there);
            columns.member.push(name % 9 != 4);
        }
    }
    columns
}

fn fit(columns: &PanelColumns, config: &ModelConfig, days: std::ops::Range<usize>) -> FactorModel {
    FactorModel::fit(&Panel::new(columns.clone()).unwrap(), config, days).unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Everything of a fit that is as of the day before.
fn known_before(fit: &DayFit) -> (Vec<u64>, Vec<u64>, String) {
    (
        bits(
            &(0..fit.styles())
                .flat_map(|style| fit.style_exposures(style))
                .collect::<Vec<_>>(),
        ),
        bits(&fit.weights),
        format!("{:?}", fit.scales),
    )
}

/// Changes all that happens from `first` on.
fn disturb(columns: &mut PanelColumns, first: usize, seed: u64) {
    let mut draws = Draws(seed);
    for cell in 0..NAMES * DAYS {
        if cell % DAYS < first {
            continue;
        }
        for column in [
            &mut columns.open,
            &mut columns.high,
            &mut columns.low,
            &mut columns.close,
            &mut columns.volume,
            &mut columns.amount,
        ] {
            column[cell] *= 0.5 + draws.next();
        }
        columns.traded[cell] ^= draws.next() < 0.2;
        columns.member[cell] ^= draws.next() < 0.5;
    }
}

fn weightings() -> [Weighting; 4] {
    [
        Weighting::SqrtAmount,
        Weighting::Amount,
        Weighting::Equal,
        Weighting::InverseResidualVariance,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn nothing_later_moves_a_bit(seed in 0_u64..1_000_000, centred in 0_usize..2, weighting in 0_usize..4) {
        let config = ModelConfig {
            centering: [Centering::Equal, Centering::Regression][centred],
            weighting: weightings()[weighting],
            ..config()
        };
        let base = columns(seed);
        let whole = fit(&base, &config, DAY..DAY + 1);
        prop_assert_eq!(whole.fits()[0].status, DayStatus::Fitted);
        let mut later = base.clone();
        disturb(&mut later, DAY + 1, seed + 1);
        prop_assert!(fit(&later, &config, DAY..DAY + 1) == whole);
        // The return day itself moves the fit, but no exposure, weight or moment.
        let mut same_day = base;
        disturb(&mut same_day, DAY, seed + 1);
        let moved = fit(&same_day, &config, DAY..DAY + 1);
        prop_assert!(known_before(&moved.fits()[0]) == known_before(&whole.fits()[0]));
        prop_assert!(moved.fits()[0].factor_returns != whole.fits()[0].factor_returns);
    }

    #[test]
    fn the_days_asked_for_move_no_bits(seed in 0_u64..1_000_000, weighting in 0_usize..4) {
        let config = ModelConfig { weighting: weightings()[weighting], ..config() };
        let base = columns(seed);
        let whole = fit(&base, &config, 60..DAYS);
        let alone = fit(&base, &config, DAY..DAY + 1);
        prop_assert!(alone.day(DAY).is_some() && whole.day(DAY) == alone.day(DAY));
        prop_assert_eq!(whole.day(59), None);
    }

    #[test]
    fn the_three_legs_add_up_and_rebuild_every_return(seed in 0_u64..1_000_000) {
        let model = fit(&columns(seed), &config(), 60..DAYS);
        for fit in model.fits() {
            for row in (0..fit.names()).filter(|row| fit.is_covered(*row)) {
                let parts: [f64; 3] = std::array::from_fn(|leg| {
                    let leg = Leg::ALL[leg];
                    let styles = (0..fit.styles()).map(|style| fit.exposure(row, style) * fit.factor_return(style + 1, leg));
                    let rebuilt = fit.factor_return(0, leg) + styles.sum::<f64>() + fit.specific_return(row, leg);
                    rebuilt - fit.name_return(row, leg)
                });
                prop_assert!(parts.into_iter().all(|part| part.abs() < 1e-14), "{parts:?}");
                let [whole, overnight, intraday] = Leg::ALL.map(|leg| fit.specific_return(row, leg));
                prop_assert!((whole - overnight - intraday).abs() < 1e-15);
            }
        }
    }
}

/// A regression in which the name has no weight is what its own return cannot have moved.
#[test]
fn a_name_is_left_out_of_what_explains_it() {
    let model = fit(&columns(11), &config(), DAY..DAY + 1);
    let own = &model.fits()[0];
    let rows = 0..own.names();
    let ones = vec![1.0; own.names()];
    let styles: Vec<Vec<f64>> = (0..own.styles())
        .map(|style| own.style_exposures(style).collect())
        .collect();
    let columns: Vec<&[f64]> = std::iter::once(&ones).chain(&styles).map(Vec::as_slice).collect();
    let overnight: Vec<f64> = rows
        .clone()
        .map(|row| own.name_return(row, Leg::Overnight))
        .collect();
    let estimated: Vec<usize> = rows.clone().filter(|row| own.is_estimated(*row)).collect();
    assert!(20 < estimated.len());
    for left in estimated {
        let is_in = |row: usize| own.is_estimated(row) && row != left;
        let weights: Vec<f64> = rows
            .clone()
            .map(|row| own.weight(row).filter(|_| is_in(row)).unwrap_or(0.0))
            .collect();
        let without = wls(&columns, &[&overnight], &weights, 1e-10).unwrap();
        let found = own.selection_return(left, Leg::Overnight);
        assert!((found - without.residuals[0][left]).abs() < 1e-13);
        assert!(own.specific_return(left, Leg::Overnight).abs() < found.abs());
        let influence = own.own_influence(left).unwrap();
        for (column, influence) in influence.iter().enumerate() {
            let loading = columns[column][left];
            let moved = influence * own.specific_return(left, Leg::Overnight);
            let expected =
                loading * (own.factor_return(column, Leg::Overnight) - without.coefficients[0][column]);
            assert!((moved - expected).abs() < 1e-13, "{moved} {expected}");
        }
    }
    let fitted = fit(
        &self::columns(11),
        &ModelConfig {
            residuals: Residuals::Fitted,
            ..config()
        },
        DAY..DAY + 1,
    );
    let row = rows.clone().find(|row| own.is_estimated(*row)).unwrap();
    assert_eq!(fitted.fits()[0].own_influence(row), None);
}

#[test]
fn a_panel_cut_where_it_may_be_gives_the_same_fits() {
    let base = columns(3);
    let config = config();
    let first = config.first_needed_day(DAY);
    assert!(0 < first);
    let cut = |first: usize| {
        let keep = |values: &[f64]| {
            let rows = values.chunks(DAYS);
            rows.flat_map(|row| row[first..].to_vec()).collect::<Vec<f64>>()
        };
        let flags = |values: &[bool]| {
            let rows = values.chunks(DAYS);
            rows.flat_map(|row| row[first..].to_vec()).collect::<Vec<bool>>()
        };
        let mut columns = PanelColumns {
            sector: Vec::new(),
            names: NAMES,
            days: DAYS - first,
            first_day: first,
            open: keep(&base.open),
            high: keep(&base.high),
            low: keep(&base.low),
            close: keep(&base.close),
            volume: keep(&base.volume),
            amount: keep(&base.amount),
            traded: flags(&base.traded),
            member: flags(&base.member),
        };
        // As a panel of a market has it: the mark that a name carries into the first day.
        for name in 0..NAMES {
            let before = &base.close[name * DAYS..=name * DAYS + first];
            let mark = before.iter().rfind(|close| !close.is_nan());
            columns.close[name * (DAYS - first)] = mark.copied().unwrap_or(f64::NAN);
        }
        columns
    };
    let whole = fit(&base, &config, DAY..DAYS);
    assert!(fit(&cut(first), &config, DAY..DAYS) == whole);
    let short = FactorModel::fit(&Panel::new(cut(first + 1)).unwrap(), &config, DAY..DAYS);
    assert_eq!(
        short,
        Err(ModelError::ShortHistory {
            first_day: first + 1,
            needed_day: first
        })
    );
}

#[test]
fn days_that_the_panel_does_not_hold_are_refused() {
    let panel = Panel::new(columns(1)).unwrap();
    for (start, end) in [(0, 5), (DAY, DAYS + 1), (DAY, DAY - 1)] {
        let refused = FactorModel::fit(&panel, &config(), start..end).unwrap_err();
        let expected = ModelError::Days {
            start,
            end,
            first: 1,
            last: DAYS,
        };
        assert_eq!(refused, expected);
        assert!(!refused.hint().is_empty());
    }
    assert_eq!(
        FactorModel::fit(&panel, &config(), DAY..DAY).map(|model| model.fits().len()),
        Ok(0)
    );
}

#[test]
fn a_day_with_too_few_names_is_thin_and_covers_nothing() {
    let config = ModelConfig {
        min_names: NAMES,
        ..config()
    };
    let model = fit(&columns(2), &config, DAY..DAY + 1);
    let thin = model.day(DAY).unwrap();
    assert_eq!(thin.status, DayStatus::Thin);
    assert!((0..NAMES).all(|row| !thin.is_covered(row)));
    assert_eq!(thin.kept(), [0_usize; 0]);
    let panel = Panel::new(columns(2)).unwrap();
    let health = model.health(&panel).unwrap();
    assert_eq!(
        (health.thin_days, health.mean_r_squared, health.variance_slope),
        (1, None, None)
    );
    assert_eq!(
        VifScreen::new(&model, VIF_THRESHOLD),
        Err(ModelError::AllThin { days: 1 })
    );
}

#[test]
fn names_without_a_sound_weight_leave_the_regression_but_keep_their_cover() {
    let base = columns(4);
    let fitted = fit(&base, &config(), DAY..DAY + 1);
    let row = (0..NAMES)
        .find(|row| fitted.fits()[0].is_estimated(*row))
        .unwrap();
    let mut poor = base;
    for day in 0..DAYS {
        poor.amount[row * DAYS + day] = 0.0;
    }
    let model = fit(&poor, &config(), DAY..DAY + 1);
    let fit = &model.fits()[0];
    // Without amounts illiquidity and the variation of amounts are missing too: two of nine.
    assert_eq!(
        (fit.is_estimated(row), fit.is_covered(row), fit.weight(row)),
        (false, true, None)
    );
    assert_eq!(fit.estimation_names + 1, fitted.fits()[0].estimation_names);
}

#[test]
fn health_counts_what_the_fits_say() {
    let panel = Panel::new(columns(5)).unwrap();
    let model = FactorModel::fit(&panel, &config(), 60..DAYS).unwrap();
    let health = model.health(&panel).unwrap();
    assert_eq!((health.days.len(), health.columns.len()), (DAYS - 60, 10));
    let mean = model.fits().iter().map(|fit| fit.r_squared).sum::<f64>() / 30.0;
    assert!((health.mean_r_squared.unwrap() - mean).abs() < 1e-15);
    let common = &health.columns[0];
    assert_eq!(
        (common.style, common.dropped_days, common.returns.len()),
        (None, 0, 30)
    );
    assert!(
        health
            .columns
            .iter()
            .all(|column| (0.0..=1.0).contains(&column.share_telling.unwrap()))
    );
    assert!(100 < health.variance_slope.unwrap().observations);
    let (calibrated, screen) = calibrate(&panel, &config(), 60..DAYS, 1.2).unwrap();
    assert_eq!(calibrated.styles, screen.kept);
    assert!(screen.path.len() == 10 - screen.kept.len() && screen.kept.len() < 9);
}
