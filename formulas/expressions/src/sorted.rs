//! The cells of a window in their order, for quantiles and ranks.
//!
//! The rows of a name are sorted once, and a window is a set of places in that order: several windows and shares use one
//! order. Up to 64 rows the set is a sorted list ([`ShortList`](crate::short_list::ShortList)), beyond it bits with a
//! tree of counts ([`PlaceSet`](crate::place_set::PlaceSet)), in which a row enters and leaves in a few steps whatever
//! the window. Only comparisons of cells within the window decide, so that later rows change nothing.

use crate::casts::{count_of, floor_of};
use crate::node::Statistic;
use crate::ordered_places::OrderedPlaces;
use crate::place_set::PlaceSet;
use crate::short_list::ShortList;

/// The rows of a name in the order of their cells.
#[derive(Debug, Default)]
pub(crate) struct SortedCells {
    /// Present cells, ascending.
    values: Vec<f64>,
    /// Of each row: its place, the first and the place after the last of the cells equal to it; `None` where missing.
    places: Vec<Option<CellPlace>>,
    /// Cells and rows as one number each, which sorts faster than two.
    order: Vec<u128>,
}

const ROW_BITS: u32 = 64;
const SIGN: u64 = 1 << 63;

/// A number that sorts as a cell does, and equal cells by their rows.
fn sort_key(cell: f64, row: usize) -> u128 {
    // the two zeros are one
    let bits = (cell + 0.0).to_bits();
    let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    (u128::from(ordered) << ROW_BITS) | row as u128
}

fn cell_of(key: u128) -> f64 {
    let ordered = u64::try_from(key >> ROW_BITS).unwrap_or(0);
    f64::from_bits(if ordered & SIGN == 0 {
        !ordered
    } else {
        ordered & !SIGN
    })
}

fn row_of(key: u128) -> usize {
    usize::try_from(key & u128::from(u64::MAX)).unwrap_or(usize::MAX)
}

#[derive(Debug, Clone, Copy)]
struct CellPlace {
    own: u32,
    first: u32,
    after: u32,
}

impl SortedCells {
    /// Sorts the prepared cells of a name.
    pub(crate) fn fill(&mut self, cells: &[f64]) {
        let present = cells.iter().enumerate().filter(|(_, cell)| !cell.is_nan());
        self.order.clear();
        self.order.extend(present.map(|(row, cell)| sort_key(*cell, row)));
        self.order.sort_unstable();
        self.values.clear();
        self.values.extend(self.order.iter().map(|key| cell_of(*key)));
        self.places.clear();
        self.places.resize(cells.len(), None);
        let mut first = 0_u32;
        for equals in self
            .order
            .chunk_by(|left, right| left >> ROW_BITS == right >> ROW_BITS)
        {
            let after = first.saturating_add(u32::try_from(equals.len()).unwrap_or(u32::MAX));
            for (own, key) in (first..).zip(equals) {
                if let Some(place) = self.places.get_mut(row_of(*key)) {
                    *place = Some(CellPlace { own, first, after });
                }
            }
            first = after;
        }
    }
}

/// Fills the answers of all ranks and quantiles of one window.
pub(crate) fn ordered(
    sorted: &SortedCells,
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    set: &mut PlaceSet,
) {
    match window {
        1..=16 => slide(sorted, window, asked, &mut ShortList::<16>::default()),
        17..=32 => slide(sorted, window, asked, &mut ShortList::<32>::default()),
        33..=64 => slide(sorted, window, asked, &mut ShortList::<64>::default()),
        _ => {
            set.reset(sorted.values.len());
            slide(sorted, window, asked, set);
        }
    }
}

fn slide(
    sorted: &SortedCells,
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    set: &mut impl OrderedPlaces,
) {
    let waiting = if window == 0 { sorted.places.len() } else { window };
    let leaving = std::iter::repeat_n(&None, waiting).chain(&sorted.places);
    for (place, left) in sorted.places.iter().zip(leaving) {
        set.exchange(left.map(|left| left.own), place.map(|place| place.own));
        for (statistic, answer) in asked.iter_mut() {
            answer.push(match (statistic, place) {
                (Statistic::Quantile(share), _) => quantile(sorted, set, f64::from_bits(*share)),
                (_, Some(place)) => rank(set, *place),
                (_, None) => f64::NAN,
            });
        }
    }
}

fn rank(set: &impl OrderedPlaces, place: CellPlace) -> f64 {
    let below = set.below(place.first);
    let is_single = place.after - place.first < 2;
    let equal = if is_single {
        1
    } else {
        set.below(place.after) - below
    };
    (count_of(below) + f64::midpoint(count_of(equal), 1.0)) / count_of(set.count())
}

/// The straight line between the two cells around a share.
fn quantile(sorted: &SortedCells, set: &impl OrderedPlaces, share: f64) -> f64 {
    if set.count() == 0 {
        return f64::NAN;
    }
    let place = share * count_of(set.count() - 1);
    let whole = floor_of(place);
    let (lower, upper) = set.at(whole);
    let value = |place: u32| sorted.values.get(place as usize).copied().unwrap_or(f64::NAN);
    let low = value(lower);
    let part = place - count_of(whole);
    upper.map_or(low, |upper| low + (value(upper) - low) * part)
}
