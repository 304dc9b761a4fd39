//! What the benchmark must show on a market without alpha.

use crate::bench::{LeakageBench, default_test_years};
use crate::gains::LeakageGain;
use crate::key::{ModelFamily, RunKey};
use crate::mask_check::mask_check;
use crate::panel::tests::market;
use crate::series::TradeSeries;
use crate::settings::LeakageSettings;
use crate::switch::Switch;
use std::collections::BTreeMap;

const SESSIONS: usize = 252 * 4;

fn bench(seed: u64) -> LeakageBench {
    LeakageBench::new(
        market(SESSIONS, 36, seed),
        LeakageSettings::BENCHMARK,
        &[5, 20],
        None,
    )
    .unwrap()
}

fn series(
    bench: &LeakageBench,
    family: ModelFamily,
    switch: Switch,
    horizon: usize,
    seed: u64,
) -> TradeSeries {
    let run = |year| {
        let key = RunKey {
            family,
            switch,
            horizon,
            year,
            seed,
        };
        key.run(bench).unwrap().days
    };
    TradeSeries::of(
        default_test_years(bench.bars().months())
            .into_iter()
            .flat_map(run)
            .collect(),
    )
}

fn gains(bench: &LeakageBench, family: ModelFamily, horizon: usize) -> BTreeMap<Switch, LeakageGain> {
    let clean = series(bench, family, Switch::Clean, horizon, 1);
    let months = bench.bars().months();
    let gain = |switch| LeakageGain::of(&series(bench, family, switch, horizon, 1), &clean, months);
    Switch::ALL
        .into_iter()
        .map(|switch| (switch, gain(switch)))
        .collect()
}

fn is_dominant(switch: Switch) -> bool {
    matches!(switch, Switch::TempCenter | Switch::ExecOpen)
}

#[test]
fn two_switches_inflate_ridge_and_the_others_do_not() {
    for (seed, horizon) in [(1, 5), (2, 20)] {
        let bench = bench(seed);
        let gains = gains(&bench, ModelFamily::Ridge, horizon);
        let headline = |switch: Switch| gains[&switch].headline().unwrap();
        let least = headline(Switch::TempCenter).min(headline(Switch::ExecOpen));
        let others = Switch::ALL.into_iter().filter(|switch| !is_dominant(*switch));
        let largest = others.map(|switch| headline(switch).abs()).fold(0.0, f64::max);
        assert!(5.0 < least && 10.0 * largest < least, "{least} {largest}");
        assert!(headline(Switch::NormGlobal).abs() < 0.05);
        for switch in [Switch::TempCenter, Switch::ExecOpen] {
            assert!(gains[&switch].by_year.iter().all(|(_, gain)| 5.0 < *gain));
            if horizon == 20 {
                assert!(0.0 < gains[&switch].turnover.unwrap(), "{switch:?}");
            }
        }
    }
}

#[test]
fn momentum_gains_by_the_fill_alone_and_by_nothing_else_in_any_bit() {
    let bench = bench(3);
    let gains = gains(&bench, ModelFamily::Momentum, 5);
    let still = [
        Switch::TempCenter,
        Switch::NormGlobal,
        Switch::StructGraph,
        Switch::LabelOverlap,
    ];
    for switch in still {
        assert!(
            gains[&switch].headline().unwrap().abs() < f64::MIN_POSITIVE,
            "{switch:?}"
        );
    }
    assert!(1.0 < gains[&Switch::ExecOpen].headline().unwrap());
}

#[test]
fn costs_lower_every_protocol_and_change_no_order() {
    let bench = bench(1);
    let ratios = |switch| {
        series(&bench, ModelFamily::Ridge, switch, 5, 1)
            .figures()
            .sharpe
            .map(Result::unwrap)
    };
    let (clean, centred, open) = (
        ratios(Switch::Clean),
        ratios(Switch::TempCenter),
        ratios(Switch::ExecOpen),
    );
    assert!(clean.windows(2).all(|pair| pair[1] < pair[0]));
    for place in 0..clean.len() {
        assert!(clean[place] < centred[place] && clean[place] < open[place]);
        assert_eq!(centred[place] < open[place], centred[0] < open[0]);
    }
}

#[test]
fn the_masked_bar_takes_four_fifths_of_the_open_fill() {
    let bench = bench(1);
    let open = mask_check(&bench, Switch::ExecOpen, (5, 2021)).unwrap();
    assert!(open.change().unwrap() < -0.8 * open.full.unwrap(), "{open:?}");
    let clean = mask_check(&bench, Switch::Clean, (5, 2021)).unwrap();
    assert!(clean.change().unwrap().abs() < 1.0, "{clean:?}");
}

#[test]
fn trees_and_perceptrons_gain_by_both_switches() {
    let bench = bench(1);
    for family in [ModelFamily::Trees, ModelFamily::GraphMlp] {
        let ratio = |switch| series(&bench, family, switch, 5, 1).sharpe(5.0).unwrap();
        let clean = ratio(Switch::Clean);
        for switch in [Switch::TempCenter, Switch::ExecOpen] {
            let gain = ratio(switch) - clean;
            assert!(3.0 < gain, "{family:?} {switch:?}: {gain}");
        }
    }
}

#[test]
fn a_run_has_the_same_bits_after_and_beside_others() {
    let bench = bench(4);
    let key = |family, switch| RunKey {
        family,
        switch,
        horizon: 5,
        year: 2021,
        seed: 7,
    };
    let keys: Vec<RunKey> = [
        ModelFamily::Momentum,
        ModelFamily::Ridge,
        ModelFamily::Trees,
        ModelFamily::GraphMlp,
    ]
    .into_iter()
    .flat_map(|family| [key(family, Switch::Clean), key(family, Switch::StructGraph)])
    .collect();
    let forward: Vec<_> = keys.iter().map(|key| key.run(&bench).unwrap()).collect();
    let mut backward: Vec<_> = keys
        .iter()
        .rev()
        .map(|key| key.run(&bench.clone()).unwrap())
        .collect();
    backward.reverse();
    assert_eq!(forward, backward);
    assert!(
        forward
            .iter()
            .all(|run| run.days.len() == 252 - 6 || run.days.len() == 252 - 3)
    );
}
