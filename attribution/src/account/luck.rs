//! What luck alone would have selected: random portfolios that trade as the account did.

use super::attribution::Attribution;
use super::day_book::DayBook;
use super::linking::carino_weights;
use crate::model::{DayFit, Leg};
use ktd_stats::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};

/// Draws of a free name before a name is taken twice: with fewer candidates than holdings there is none.
const TRIES: usize = 64;

/// A holding from its first day to its last, with the account's weights.
struct Spell {
    first: usize,
    last: usize,
    weights: Vec<f64>,
}

/// Linked selection of random portfolios, one value each: the account's own count of names, weights and holding periods,
/// with every holding a name drawn at random from the estimation set of its first day, none twice at a time.
///
/// It is selection's null, whose mean is not 0 and whose spread is what a rank has to be compared with. The days are
/// linked with the account's own Carino weights. Portfolio `p` draws from `SplitMix64::of_replicate(seed, p)`, so that
/// equal seeds give equal bits. An account that was never invested has nulls of 0.
#[must_use]
pub fn random_selections<'f>(
    books: &[DayBook],
    attribution: &Attribution,
    fit: impl Fn(usize) -> Option<&'f DayFit>,
    (portfolios, seed): (u32, u64),
) -> Vec<f64> {
    let spells = spells(books);
    let fits: Vec<Option<&DayFit>> = books.iter().map(|book| fit(book.day)).collect();
    let candidates: Vec<Vec<usize>> = candidates(&spells, &fits);
    let weights = carino_weights(attribution.returns());
    let specific = specific(&spells, &fits);
    (0..portfolios)
        .map(|portfolio| {
            let mut generator = SplitMix64::of_replicate(seed, portfolio);
            selection(&spells, (&specific, &weights), &candidates, &mut generator)
        })
        .collect()
}

/// Holdings by weights before the day's trades, ascending by their first day.
fn spells(books: &[DayBook]) -> Vec<Spell> {
    let mut open: BTreeMap<usize, Spell> = BTreeMap::new();
    let mut closed = Vec::new();
    for (place, book) in books.iter().enumerate() {
        let held = book.held.iter().filter(|held| 0.0 < held.before_cny);
        for held in held {
            let weight = held.before_cny / book.nav_before_cny;
            let spell = open.entry(held.row).or_insert_with(|| Spell {
                first: place,
                last: place,
                weights: Vec::new(),
            });
            spell.last = place;
            spell.weights.push(weight);
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

/// Who may stand in for a holding that begins on a day: the estimation set, by day; empty on days on which none begins.
fn candidates(spells: &[Spell], fits: &[Option<&DayFit>]) -> Vec<Vec<usize>> {
    let begins: BTreeSet<usize> = spells.iter().map(|spell| spell.first).collect();
    let of_day = |(place, fit): (usize, Option<&DayFit>)| {
        let fit = fit.filter(|_| begins.contains(&place));
        fit.map_or_else(Vec::new, |fit| {
            (0..fit.names()).filter(|row| fit.is_estimated(*row)).collect()
        })
    };
    fits.iter().copied().enumerate().map(of_day).collect()
}

/// Specific returns of each day, by row: looked up millions of times, and read out of the fits once.
fn specific(spells: &[Spell], fits: &[Option<&DayFit>]) -> Vec<Vec<f64>> {
    let of_day = |fit: Option<&DayFit>| {
        fit.filter(|_| !spells.is_empty()).map_or_else(Vec::new, |fit| {
            let rows = 0..fit.names();
            rows.map(|row| fit.specific_return(row, Leg::CloseToClose))
                .collect()
        })
    };
    fits.iter().copied().map(of_day).collect()
}

fn selection(
    spells: &[Spell],
    (specific, links): (&[Vec<f64>], &[f64]),
    candidates: &[Vec<usize>],
    generator: &mut SplitMix64,
) -> f64 {
    // The last day on which a drawn name is held.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut linked = 0.0;
    for spell in spells {
        let free = |row: &usize| taken.get(row).is_none_or(|last| *last < spell.first);
        let names = candidates.get(spell.first).map_or(&[][..], Vec::as_slice);
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
        let days = specific.iter().zip(links).skip(spell.first);
        for ((specific, link), weight) in days.zip(&spell.weights) {
            linked += link * weight * specific.get(row).copied().unwrap_or(0.0);
        }
    }
    linked
}

fn draw(names: &[usize], generator: &mut SplitMix64) -> Option<usize> {
    let count = u32::try_from(names.len()).ok().filter(|count| 0 < *count)?;
    // The upper 32 bits times the count: the bias is below 2^-32 of it.
    let place = ((generator.next_u64() >> 32) * u64::from(count)) >> 32;
    names.get(usize::try_from(place).ok()?).copied()
}
