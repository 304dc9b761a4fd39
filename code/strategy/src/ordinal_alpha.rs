//! Krippendorff's alpha of ordinal marks: do several people who mark the same things agree?

use crate::indicators::count;
use std::collections::BTreeMap;

/// Krippendorff's alpha for ordinal marks, one list a thing that was marked: 1 where all who marked the same agree, 0 where they
/// agree no more than by chance, below 0 where they agree less. A thing may have any number of marks; one with a single mark is
/// no pair and counts nowhere. None where no thing has two marks, or all marks in pairs are equal.
///
/// K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section D: observed over expected disagreement, with the
/// squared number of marks that lie between two, each of the two counted half.
#[must_use]
pub fn ordinal_alpha(units: &[Vec<u8>]) -> Option<f64> {
    let pairable = || units.iter().filter(|marks| marks.len() > 1);
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for mark in pairable().flatten() {
        *counts.entry(*mark).or_insert(0) += 1;
    }
    let total: usize = counts.values().sum();
    let distance = |one: u8, other: u8| {
        let range = one.min(other)..=one.max(other);
        let between: usize = counts.range(range).map(|(_, count)| count).sum();
        let of = |mark: u8| counts.get(&mark).map_or(0.0, |own| count(*own));
        let steps = count(between) - f64::midpoint(of(one), of(other));
        steps * steps
    };
    let mut observed = 0.0;
    for marks in pairable() {
        let mut own: BTreeMap<u8, usize> = BTreeMap::new();
        for mark in marks {
            *own.entry(*mark).or_insert(0) += 1;
        }
        let values: Vec<u8> = own.keys().copied().collect();
        let of = |mark: u8| own.get(&mark).map_or(0.0, |own| count(*own));
        // Marks that are equal disagree in nothing: only pairs of different values count, however many gave them.
        let pairs = pairs(&values).map(|(one, other)| 2.0 * of(one) * of(other) * distance(one, other));
        observed += pairs.sum::<f64>() / count(marks.len() - 1);
    }
    let values: Vec<u8> = counts.keys().copied().collect();
    let expected: f64 = pairs(&values)
        .map(|(one, other)| {
            let of = |mark: u8| counts.get(&mark).map_or(0.0, |own| count(*own));
            2.0 * of(one) * of(other) * distance(one, other)
        })
        .sum();
    (expected > 0.0).then(|| 1.0 - count(total - 1) * observed / expected)
}

/// Every two of a list, once.
fn pairs(marks: &[u8]) -> impl Iterator<Item = (u8, u8)> + '_ {
    let with_later = |(place, one): (usize, &u8)| {
        let one = *one;
        marks.iter().skip(place + 1).map(move |other| (one, *other))
    };
    marks.iter().enumerate().flat_map(with_later)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Things by their marks; a dot is a missing one.
    fn units(observers: &[&str]) -> Vec<Vec<u8>> {
        let length = observers.first().map_or(0, |marks| marks.len());
        let digit = |marks: &&str, place: usize| marks.as_bytes()[place].checked_sub(b'0');
        (0..length)
            .map(|place| observers.iter().filter_map(|marks| digit(marks, place)).collect())
            .collect()
    }

    #[test]
    fn the_published_example_of_four_observers_has_its_published_alpha() {
        // Krippendorff 2011, section C: four observers, twelve things, some marks missing; ordinal alpha 0.815. More digits: by a
        // program of matrices of coincidences.
        let observers = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."];
        let alpha = ordinal_alpha(&units(&observers)).unwrap();
        assert!((alpha - 0.815_387_503_754_881_4).abs() < 1e-12, "{alpha}");
    }

    #[test]
    fn agreement_is_one_and_what_cannot_be_paired_has_no_alpha() {
        let agreed = ordinal_alpha(&[vec![1, 1], vec![10, 10, 10], vec![4]]);
        assert_eq!(agreed, Some(1.0));
        assert!(ordinal_alpha(&[vec![1, 10], vec![10, 1]]).unwrap() < 0.0);
        for none in [
            vec![],
            vec![vec![], vec![3]],
            vec![vec![1], vec![10]],
            vec![vec![5, 5], vec![5, 5], vec![1]],
        ] {
            assert_eq!(ordinal_alpha(&none), None, "{none:?}");
        }
    }

    #[test]
    fn a_thing_may_have_very_many_marks() {
        // Of 400,000 marks there are 80 thousand million pairs.
        let marks: Vec<u8> = [1, 2].repeat(200_000);
        let alpha = ordinal_alpha(&[marks]).unwrap();
        // Of one thing alone, observed disagreement is that of chance.
        assert!(alpha.abs() < 1e-9, "{alpha}");
    }

    #[test]
    fn only_the_order_of_marks_counts() {
        let near = ordinal_alpha(&[vec![1, 2], vec![2, 2], vec![3, 3], vec![3, 1]]);
        let far = ordinal_alpha(&[vec![1, 5], vec![5, 5], vec![9, 9], vec![9, 1]]);
        assert_eq!(near, far);
    }
}
