//! What must hold of every history: no look-ahead, no dependence on the range asked for.

use super::*;
use proptest::prelude::*;
use std::ops::Range;

/// An owned history.
#[derive(Debug, Clone)]
struct History {
    open: Vec<f64>,
    high: Vec<f64>,
    low: Vec<f64>,
    close: Vec<f64>,
    volume: Vec<f64>,
    amount: Vec<f64>,
    traded: Vec<bool>,
}

impl History {
    fn series(&self, days: usize) -> Series<'_> {
        Series {
            open: &self.open[..days],
            high: &self.high[..days],
            low: &self.low[..days],
            close: &self.close[..days],
            volume: &self.volume[..days],
            amount: &self.amount[..days],
            traded: &self.traded[..days],
        }
    }
}

/// One day: overnight and intraday growth, spread, volume, and what kind of day it is.
type Draw = (f64, f64, f64, f64, u8);

fn history(draws: &[Draw]) -> History {
    let mut history = History {
        open: vec![],
        high: vec![],
        low: vec![],
        close: vec![],
        volume: vec![],
        amount: vec![],
        traded: vec![],
    };
    let mut last = 10.0;
    for &(overnight, intraday, spread, volume, kind) in draws {
        let (open, close) = (last * overnight, last * overnight * intraday);
        // One kind in ten has no bar, one has a bar without a trade.
        let (bar, traded) = (kind != 0, 1 < kind);
        let price = |price: f64| if bar { price } else { f64::NAN };
        history.open.push(price(open));
        history.high.push(price(open.max(close) * (1.0 + spread)));
        history.low.push(price(open.min(close) * (1.0 - spread)));
        history.close.push(price(close));
        history.volume.push(if traded { volume } else { 0.0 });
        history.amount.push(if traded { volume * close } else { 0.0 });
        history.traded.push(traded);
        if bar {
            last = close;
        }
    }
    history
}

fn draws(days: Range<usize>) -> impl Strategy<Value = Vec<Draw>> {
    let draw = (0.91..1.1, 0.91..1.1, 0.0..0.05, 0.0..1e7, 0_u8..20);
    proptest::collection::vec(draw, days)
}

/// Bits of every factor, technical and mean amount over `days`, a row a day.
fn bits(series: &Series<'_>, config: &FactorConfig, days: Range<usize>) -> Vec<Vec<u64>> {
    let factors = compute(series, config, days.clone()).unwrap();
    let technicals = compute_technicals(series, days.clone()).unwrap();
    let amounts = mean_amount(series, RollingWindow::new(60, 20), days.clone()).unwrap();
    let row = |index: usize| {
        let factors = Factor::ALL.map(|factor| factors.column(factor)[index]);
        let technicals = Technical::ALL.map(|technical| technicals.column(technical)[index]);
        let values = factors.into_iter().chain(technicals).chain([amounts[index]]);
        values.map(f64::to_bits).collect()
    };
    (0..days.len()).map(row).collect()
}

/// Windows short enough that every rule is met within a drawn history.
const SHORT: FactorConfig = FactorConfig {
    momentum_long_days: 30,
    momentum_skip_days: 5,
    momentum_min_days: 12,
    volatility: RollingWindow::new(20, 10),
    short: RollingWindow::new(9, 5),
    skewness: RollingWindow::new(25, 12),
    high: RollingWindow::new(40, 10),
    amount_variation: RollingWindow::new(17, 8),
    illiquidity_scale_cny: 1e8,
    illiquidity_log: true,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_after_a_day_moves_its_bits(
        past in draws(1..120),
        future in draws(1..40),
        other in draws(1..40),
    ) {
        let known = past.len();
        let with = |future: &[Draw]| history(&[past.as_slice(), future].concat());
        let cut = bits(&history(&past).series(known), &SHORT, 0..known);
        for future in [future, other] {
            let history = with(&future);
            let whole = bits(&history.series(known + future.len()), &SHORT, 0..known + future.len());
            prop_assert_eq!(&whole[..known], &cut[..]);
        }
    }

    #[test]
    fn the_range_asked_for_moves_no_bits(drawn in draws(1..200), start in 0_usize..200, length in 0_usize..60) {
        let days = drawn.len();
        let history = history(&drawn);
        let series = history.series(days);
        let whole = bits(&series, &SHORT, 0..days);
        let start = start.min(days);
        let end = (start + length).min(days);
        prop_assert_eq!(&bits(&series, &SHORT, start..end)[..], &whole[start..end]);
    }

    #[test]
    fn values_keep_to_their_bounds(drawn in draws(60..200)) {
        let history = history(&drawn);
        let days = drawn.len();
        let factors = compute(&history.series(days), &SHORT, 0..days).unwrap();
        let technicals = compute_technicals(&history.series(days), 0..days).unwrap();
        for day in 0..days {
            let bounded = |value: Option<f64>, low: f64, high: f64| {
                value.is_none_or(|value| low - 1e-12 <= value && value <= high + 1e-12)
            };
            prop_assert!(bounded(factors.value(Factor::CorrPv, day), -1.0, 1.0));
            prop_assert!(bounded(factors.value(Factor::Rv60, day), 0.0, f64::MAX));
            prop_assert!(bounded(technicals.value(Technical::Rsi14, day), 0.0, 100.0));
            prop_assert!(bounded(technicals.value(Technical::Drawdown60, day), -1.0, 0.0));
        }
    }

    #[test]
    fn standardised_members_have_mean_zero_and_deviation_one(
        raw in proptest::collection::vec(-1e3..1e3, 5..80),
        gaps in proptest::collection::vec(0_u8..5, 80),
    ) {
        let mut values = raw;
        for (value, gap) in values.iter_mut().zip(&gaps).skip(3) {
            if *gap == 0 {
                *value = f64::NAN;
            }
        }
        let known: Vec<bool> = values.iter().map(|value| value.is_finite()).collect();
        let members = vec![true; values.len()];
        let outcome = standardise(&mut values, &members, Center::Equal, &CrossSectionConfig::KTD);
        prop_assume!(matches!(outcome, Ok(CrossSection::Scaled(_))));
        let kept: Vec<f64> = values.iter().zip(&known).filter(|pair| *pair.1).map(|pair| *pair.0).collect();
        let n = moments::count(kept.len());
        prop_assert!((kept.iter().sum::<f64>() / n).abs() < 1e-9);
        prop_assert!((kept.iter().map(|z| z * z).sum::<f64>() / n - 1.0).abs() < 1e-9);
        let imputed = values.iter().zip(&known).filter(|pair| !pair.1).map(|pair| *pair.0);
        for z in imputed {
            prop_assert_eq!(z.to_bits() & !(1 << 63), 0);
        }
    }
}

#[test]
fn the_benchmark_windows_keep_their_bits_over_two_years() {
    let step = |day: u32| {
        let wave = f64::from(day * 7919 % 101) / 1010.0;
        (
            0.95 + wave,
            1.05 - wave,
            wave / 5.0,
            f64::from(day % 97 + 1) * 1e4,
            u8::from(day % 23 != 5) * 2,
        )
    };
    let history = history(&(0..520).map(step).collect::<Vec<_>>());
    let whole = bits(&history.series(520), &FactorConfig::KTD, 0..520);
    assert!(
        whole[519][..9]
            .iter()
            .all(|bits| f64::from_bits(*bits).is_finite())
    );
    for day in [0, 59, 251, 252, 253, 519] {
        let alone = bits(&history.series(day + 1), &FactorConfig::KTD, day..day + 1);
        assert_eq!(alone[0], whole[day], "day {day}");
    }
}
