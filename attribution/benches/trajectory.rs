//! One more trajectory on a factor model that is fitted already: 548 trading days, 20 names held, one traded a day, three
//! bases; and its luck band. `cargo bench -p ktd-attribution --bench trajectory`.

#![expect(clippy::unwrap_used, reason = "a bench: what cannot be set up ends it")]

use criterion::{Criterion, criterion_group, criterion_main};
use ktd_attribution::Panel;
use ktd_attribution::account::{
    DayBook, HeldName, Linking, Peers, WeightBasis, attribute, random_selections,
};
use ktd_attribution::model::{FactorModel, Leg, ModelConfig};
use ktd_env::synth::{SynthConfig, generate};
use std::hint::black_box;

const DAYS: usize = 548;
const HELD: usize = 20;

/// The days of an account that holds the same value of 20 rows and moves one of them on by a row a day.
fn books(model: &FactorModel) -> Vec<DayBook> {
    let value = 1e6 / 25.0;
    let mut nav = 1e6;
    model
        .fits()
        .iter()
        .enumerate()
        .map(|(place, fit)| {
            let rows: Vec<usize> = (0..HELD)
                .map(|slot| slot * 12 + usize::from(slot <= place % HELD))
                .collect();
            let bought = place % HELD * 12 + 1;
            let held: Vec<HeldName> = rows
                .iter()
                .map(|row| HeldName {
                    row: *row,
                    before_cny: if *row == bought { 0.0 } else { value },
                    after_cny: value,
                })
                .collect();
            let gain: f64 = held
                .iter()
                .map(|held| {
                    held.before_cny * fit.name_return(held.row, Leg::Overnight)
                        + held.after_cny * fit.name_return(held.row, Leg::Intraday)
                })
                .sum();
            let book = DayBook {
                day: fit.day,
                nav_before_cny: nav,
                nav_after_cny: nav + gain - 20.0,
                held,
                fees_cny: 20.0,
                slippage_cny: 0.0,
                corporate_cny: 0.0,
                unmarked_cny: 0.0,
            };
            nav = book.nav_after_cny;
            book
        })
        .collect()
}

fn trajectory(criterion: &mut Criterion) {
    let market = generate(&SynthConfig {
        seed: 1,
        names: 300,
        days: 805,
    })
    .unwrap();
    let end = market.calendar().len();
    let panel = Panel::from_market(&market, 0..end).unwrap();
    let config = ModelConfig::ktd();
    let model = FactorModel::fit(&panel, &config, end - DAYS..end).unwrap();
    let books = books(&model);
    let styles = config.styles.len();
    criterion.bench_function(
        "one more trajectory: 548 days x 20 names, three bases, linked",
        |bencher| {
            bencher.iter(|| {
                let split = attribute(black_box(&books), styles, |day| model.day(day)).unwrap();
                WeightBasis::ALL.map(|basis| split.linked(basis, Linking::Carino))
            });
        },
    );
    criterion.bench_function("luck band: 500 random portfolios", |bencher| {
        bencher.iter(|| {
            random_selections(
                &[black_box(books.as_slice())],
                (WeightBasis::HEADLINE, Peers::Alike),
                |day| model.day(day),
                (500, 1),
            )
        });
    });
}

criterion_group!(benches, trajectory);
criterion_main!(benches);
