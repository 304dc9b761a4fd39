//! How many independent decisions are behind a trajectory.

use super::day_book::DayBook;
use std::collections::BTreeMap;

/// Below this many, tests that count days say more than was decided.
pub const FEW_DECISIONS: f64 = 30.0;

/// A holding: its days so far, and the sum over them of its share of all that was held.
#[derive(Default)]
struct Holding {
    days: f64,
    share: f64,
    last: usize,
}

impl Holding {
    /// The mean, over its days, of its share of all that was held at the time.
    fn uniqueness(&self) -> f64 {
        self.share / self.days.max(1.0)
    }
}

/// The sum of the average uniqueness of an account's holdings: of each, the mean over its days of its share of all that was held
/// at the time. Names bought together and kept to the end are one decision, however many names and days; twenty names that
/// are replaced every five days are one decision each five days; a lot that is swapped each day beside a book that is kept is
/// next to none.
///
/// Source: López de Prado, Advances in Financial Machine Learning (2018), chapter 4 (concurrency and average uniqueness), with
/// shares of value in the place of one over the number of holdings: they are the same where all weigh the same.
#[must_use]
pub fn independent_decisions(books: &[DayBook]) -> f64 {
    let mut open: BTreeMap<usize, Holding> = BTreeMap::new();
    let mut decisions = 0.0;
    for (place, book) in books.iter().enumerate() {
        let held = || book.held.iter().filter(|held| 0.0 < held.after_cny);
        let total_cny: f64 = held().map(|held| held.after_cny).sum();
        for held in held() {
            let holding = open.entry(held.row).or_default();
            holding.days += 1.0;
            holding.share += held.after_cny / total_cny;
            holding.last = place;
        }
        open.retain(|_, holding| {
            let is_held = holding.last == place;
            decisions += if is_held { 0.0 } else { holding.uniqueness() };
            is_held
        });
    }
    decisions + open.values().map(Holding::uniqueness).sum::<f64>()
}

/// Days on which an account bought or sold: a holding whose value the day's return alone changed was not traded.
#[must_use]
pub fn traded_days(books: &[DayBook]) -> usize {
    let is_traded = |book: &&DayBook| {
        0.0 < book.fees_cny
            || book
                .held
                .iter()
                .any(|held| (held.before_cny == 0.0) != (held.after_cny == 0.0))
    };
    books.iter().filter(is_traded).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::HeldName;

    fn books(held: impl Fn(usize) -> Vec<usize>, days: usize) -> Vec<DayBook> {
        (0..days)
            .map(|day| DayBook {
                day,
                nav_before_cny: 1.0,
                nav_after_cny: 1.0,
                held: held(day)
                    .into_iter()
                    .map(|row| HeldName {
                        row,
                        before_cny: 0.0,
                        after_cny: 1.0,
                    })
                    .collect(),
                fees_cny: 0.0,
                slippage_cny: 0.0,
                corporate_cny: 0.0,
                unmarked_cny: 0.0,
            })
            .collect()
    }

    #[test]
    fn what_is_kept_is_one_decision_and_what_is_replaced_is_many() {
        let kept = books(|_| (0..300).collect(), 548);
        assert!((independent_decisions(&kept) - 1.0).abs() < 1e-9);
        let replaced = books(|day| (0..20).map(|name| 20 * (day / 5) + name).collect(), 100);
        assert!((independent_decisions(&replaced) - 20.0).abs() < 1e-9);
        // One of twenty names a day: each is held for twenty days beside nineteen others.
        let rolled = books(|day| (day..day + 20).collect(), 400);
        assert!(
            (independent_decisions(&rolled) - 20.95).abs() < 0.01,
            "{}",
            independent_decisions(&rolled)
        );
        assert!(independent_decisions(&books(|_| Vec::new(), 10)) < 1e-15);
    }

    #[test]
    fn lots_that_are_swapped_beside_a_book_that_is_kept_are_no_decisions() {
        let mut swapped = books(|day| vec![0, 1 + day], 500);
        for book in &mut swapped {
            book.held[0].after_cny = 1_000.0;
        }
        let found = independent_decisions(&swapped);
        assert!((1.0..1.6).contains(&found), "{found}");
        assert_eq!(traded_days(&swapped), 500);
    }
}
