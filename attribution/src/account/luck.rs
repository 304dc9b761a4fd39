//! What luck alone would have selected: random portfolios that trade as the account did.

use super::basis::WeightBasis;
use super::day_book::DayBook;
use super::peers::Peers;
use crate::model::{DayFit, Leg};
use ktd_stats::SplitMix64;
use ktd_stats::moments::count;
use std::collections::BTreeMap;

/// Draws of a free name before a name is taken twice: with fewer candidates than holdings there is none.
const TRIES: usize = 64;

/// Weights of one day: overnight, and intraday.
type Weights = [f64; 2];

/// A name that some seed holds, from its first day to its last, with the weights of all seeds together.
struct Spell {
    row: usize,
    first: usize,
    last: usize,
    weights: Vec<Weights>,
}

/// Selection a day of random portfolios, one value each: the account's own count of names, weights and holding periods,
/// with every holding a name drawn at random from its peers of the estimation set of its first day, none twice at a time.
///
/// Of several seeds it is the mean, and a name that several hold at a time is one draw for all of them: drawn apart, their
/// mean would be steadier than luck is. All seeds must have the same days.
///
/// It is selection's null, whose mean is not 0 and whose spread is what a rank has to be compared with. Portfolio `p` draws from `SplitMix64::of_replicate(seed, p)`, so that
/// equal seeds give equal bits. An account that was never invested has nulls of 0.
#[must_use]
pub fn random_selections<'f>(
    seeds: &[&[DayBook]],
    (basis, peers): (WeightBasis, Peers),
    fit: impl Fn(usize) -> Option<&'f DayFit>,
    (portfolios, seed): (u32, u64),
) -> Vec<f64> {
    let spells = spells(seeds, basis);
    let days = seeds.first().map_or(&[][..], |books| *books);
    let fits: Vec<Option<&DayFit>> = days.iter().map(|book| fit(book.day)).collect();
    let candidates: Vec<Vec<usize>> = spells
        .iter()
        .map(|spell| {
            let fit = fits.get(spell.first).copied().flatten();
            fit.map_or_else(Vec::new, |fit| peers.of(fit, spell.row))
        })
        .collect();
    let specific = specific(&spells, &fits);
    (0..portfolios)
        .map(|portfolio| {
            let mut generator = SplitMix64::of_replicate(seed, portfolio);
            let whole = selection(&spells, &specific, &candidates, &mut generator);
            whole / count(days.len().max(1))
        })
        .collect()
}

/// Weights before and after the day's trades, as a basis takes them overnight and intraday.
const fn weights(basis: WeightBasis, before: f64, after: f64) -> Weights {
    match basis {
        WeightBasis::Pre => [before, before],
        WeightBasis::Post => [after, after],
        WeightBasis::Two => [before, after],
    }
}

/// Holdings of all seeds together in shares of their accounts, by row, on the day at `place`: means over seeds.
fn held(seeds: &[&[DayBook]], basis: WeightBasis, place: usize) -> BTreeMap<usize, Weights> {
    let mut rows: BTreeMap<usize, Weights> = BTreeMap::new();
    for books in seeds {
        let Some(book) = books.get(place) else { continue };
        let scale = 1.0 / (count(seeds.len()) * book.nav_before_cny);
        for held in &book.held {
            let own = weights(basis, held.before_cny, held.after_cny);
            if own.iter().any(|weight| 0.0 < *weight) {
                let sums = rows.entry(held.row).or_default();
                for (sum, weight) in sums.iter_mut().zip(own) {
                    *sum += scale * weight;
                }
            }
        }
    }
    rows
}

/// Holdings, ascending by their first day.
fn spells(seeds: &[&[DayBook]], basis: WeightBasis) -> Vec<Spell> {
    let days = seeds.first().map_or(0, |books| books.len());
    let mut open: BTreeMap<usize, Spell> = BTreeMap::new();
    let mut closed = Vec::new();
    for place in 0..days {
        for (row, weights) in held(seeds, basis, place) {
            let spell = open.entry(row).or_insert_with(|| Spell {
                row,
                first: place,
                last: place,
                weights: Vec::new(),
            });
            spell.last = place;
            spell.weights.push(weights);
        }
        let ended: Vec<usize> = open
            .iter()
            .filter(|(_, spell)| spell.last < place)
            .map(|(row, _)| *row)
            .collect();
        closed.extend(ended.into_iter().filter_map(|row| open.remove(&row)));
    }
    closed.extend(open.into_values());
    closed.sort_by_key(|spell| (spell.first, spell.last));
    closed
}

/// What of each return is selection, by day and row, overnight and intraday: looked up millions of times, and read out of the fits once.
fn specific(spells: &[Spell], fits: &[Option<&DayFit>]) -> Vec<Vec<Weights>> {
    let of_day = |fit: Option<&DayFit>| {
        fit.filter(|_| !spells.is_empty()).map_or_else(Vec::new, |fit| {
            let rows = 0..fit.names();
            rows.map(|row| [Leg::Overnight, Leg::Intraday].map(|leg| fit.selection_return(row, leg)))
                .collect()
        })
    };
    fits.iter().copied().map(of_day).collect()
}

fn selection(
    spells: &[Spell],
    specific: &[Vec<Weights>],
    candidates: &[Vec<usize>],
    generator: &mut SplitMix64,
) -> f64 {
    // The last day on which a drawn name is held.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut whole = 0.0;
    for (spell, names) in spells.iter().zip(candidates) {
        let free = |row: &usize| taken.get(row).is_none_or(|last| *last < spell.first);
        let mut drawn = None;
        for _ in 0..TRIES {
            drawn = draw(names, generator);
            if drawn.as_ref().is_none_or(&free) {
                break;
            }
        }
        // Nobody stands in on a day without a fit: nothing is selected then.
        let Some(row) = drawn else { continue };
        taken.insert(row, spell.last);
        let days = specific.iter().skip(spell.first);
        for (specific, weights) in days.zip(&spell.weights) {
            let [overnight, intraday] = specific.get(row).copied().unwrap_or_default();
            let [by_night, by_day] = weights;
            whole += by_night * overnight + by_day * intraday;
        }
    }
    whole
}

fn draw(names: &[usize], generator: &mut SplitMix64) -> Option<usize> {
    let count = u32::try_from(names.len()).ok().filter(|count| 0 < *count)?;
    // The upper 32 bits times the count: the bias is below 2^-32 of it.
    let place = ((generator.next_u64() >> 32) * u64::from(count)) >> 32;
    names.get(usize::try_from(place).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Attribution, HeldName, attribute};
    use crate::model::{FactorModel, ModelConfig, Residuals};
    use crate::panel::Panel;
    use ktd_env::synth::{SynthConfig, generate};

    const DAYS: std::ops::Range<usize> = 290..320;

    fn model() -> FactorModel {
        model_of(Residuals::LeftOut)
    }

    fn model_of(residuals: Residuals) -> FactorModel {
        let market = generate(&SynthConfig {
            seed: 5,
            names: 90,
            days: 330,
        })
        .unwrap();
        let config = ModelConfig {
            residuals,
            ..ModelConfig::ktd()
        };
        let panel = Panel::from_market(&market, config.first_needed_day(DAYS.start)..DAYS.end).unwrap();
        FactorModel::fit(&panel, &config, DAYS).unwrap()
    }

    /// Ten names from `first` on, bought on the first day in shares of 1 and `tilt` by turns, at NAV that does not move.
    fn books(first: usize, tilt: f64) -> Vec<DayBook> {
        let held = |bought: bool| {
            (first..first + 10)
                .map(|row| {
                    let value = if row % 2 == 0 { 1.0 } else { tilt };
                    HeldName {
                        row,
                        before_cny: if bought { value } else { 0.0 },
                        after_cny: value,
                    }
                })
                .collect()
        };
        DAYS.map(|day| DayBook {
            day,
            nav_before_cny: 20.0,
            nav_after_cny: 20.0,
            held: held(DAYS.start < day),
            fees_cny: 0.0,
            slippage_cny: 0.0,
            corporate_cny: 0.0,
            unmarked_cny: 0.0,
        })
        .collect()
    }

    fn spread(model: &FactorModel, accounts: &[Vec<DayBook>]) -> f64 {
        let seeds: Vec<&[DayBook]> = accounts.iter().map(Vec::as_slice).collect();
        let drawn = random_selections(
            &seeds,
            (WeightBasis::Two, Peers::Alike),
            |day| model.day(day),
            (600, 3),
        );
        let mean = drawn.iter().sum::<f64>() / 600.0;
        (drawn
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum::<f64>()
            / 600.0)
            .sqrt()
    }

    #[test]
    fn seeds_that_share_names_share_their_luck() {
        let model = model();
        let one = spread(&model, &[books(0, 1.0)]);
        let alike = spread(&model, &[books(0, 1.0), books(0, 0.9)]);
        let apart = spread(&model, &[books(0, 1.0), books(10, 1.0)]);
        // Drawn apart, two accounts of the same names would be steadier by the root of two.
        assert!((alike / one - 1.0).abs() < 0.08, "{alike} {one}");
        assert!((apart / one - 0.5_f64.sqrt()).abs() < 0.08, "{apart} {one}");
    }

    /// What a name's own return moved of common and style is selection, and nothing else changes.
    #[test]
    fn a_split_that_leaves_names_out_adds_up_and_knows_the_fitted_one() {
        let of = |residuals| {
            let model = model_of(residuals);
            attribute(&books(0, 0.7), model.config().styles.len(), |day| model.day(day)).unwrap()
        };
        let (left_out, fitted) = (of(Residuals::LeftOut), of(Residuals::Fitted));
        for basis in WeightBasis::ALL {
            let wholes = |split: &Attribution| -> Vec<f64> {
                split.parts(basis).rows().map(|row| row.iter().sum()).collect()
            };
            let apart = wholes(&left_out).into_iter().zip(wholes(&fitted));
            assert!(apart.into_iter().all(|(one, other)| (one - other).abs() < 1e-14));
            let pairs = left_out
                .fitted_selection(basis)
                .into_iter()
                .zip(fitted.selection(basis));
            let apart = pairs.map(|(one, other)| (one - other).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-15);
            assert!(left_out.selection(basis) != fitted.selection(basis));
        }
    }

    #[test]
    fn luck_is_of_the_basis_that_ranks() {
        let model = model();
        let books = books(0, 1.0);
        let of = |basis| random_selections(&[&books], (basis, Peers::Alike), |day| model.day(day), (1, 3));
        // On the first day nothing is held before the trades: the bases differ by that day alone, and `two` by its night.
        assert!(
            of(WeightBasis::Pre) != of(WeightBasis::Two) && of(WeightBasis::Post) != of(WeightBasis::Two)
        );
    }
}
