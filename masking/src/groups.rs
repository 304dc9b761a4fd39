//! Style groups: all that `banded` shows of a stock is in which of a few equally large groups it stands.
//!
//! A group is a row of bands, one a factor. The rows are the same on every day, and every group is as large as every
//! other, so what a whole screen shows is one constant list of rows: only who has which row is told. To somebody who knows the
//! day, a row names no stock closer than its group (k-anonymity by microaggregation); to somebody who does not, it
//! tells nothing of the day.

use crate::numeric::Numeric;
use ktd_env::factors::Factor;

const FACTORS: usize = Factor::ALL.len();

/// Groups of a rung: a row of bands each, and the directions that members are assigned by.
#[derive(Debug)]
pub(crate) struct Groups {
    /// By group: how much a standing in each factor speaks for it. Fitted on index members of 2010 to 2023 so that shown
    /// bands and true standings agree best over all factors; rounded to two decimals.
    directions: &'static [[f64; FACTORS]],
}

/// Rows for `banded`.
const THREE: [[f64; FACTORS]; 3] = [
    [0.19, -1.36, -0.12, 1.41, -1.18, 1.40, -1.29, 0.09, -1.15],
    [1.12, 1.00, -1.16, -0.62, 1.27, -0.83, 1.14, 1.18, -0.12],
    [-1.31, 0.37, 1.28, -0.80, -0.08, -0.58, 0.16, -1.27, 1.29],
];

/// Rows for `banded-5`.
const FIVE: [[f64; FACTORS]; 5] = [
    [1.12, 1.57, -0.76, -1.67, 1.19, 0.06, 0.27, 0.60, -0.46],
    [0.84, -0.77, -1.10, 0.85, -1.26, 0.46, -1.31, 0.62, -1.34],
    [-1.03, -1.15, 1.43, 0.19, -0.94, 1.58, -0.74, -1.03, -0.31],
    [0.39, -0.36, -0.51, 1.10, 1.06, -0.92, 1.62, 1.16, 0.52],
    [-1.35, 0.71, 0.95, -0.46, -0.04, -1.20, 0.17, -1.36, 1.62],
];

impl Groups {
    /// The groups of a rung; `None` where factors are told in other terms.
    pub(crate) const fn of(numeric: Numeric) -> Option<&'static Self> {
        match numeric {
            Numeric::Exact
            | Numeric::Rescaled
            | Numeric::RoundedTenth
            | Numeric::RoundedHalf
            | Numeric::Ranked => None,
            Numeric::BandedFive => Some(&Self { directions: &FIVE }),
            Numeric::Banded => Some(&Self { directions: &THREE }),
        }
    }

    /// How many groups there are.
    pub(crate) const fn count(&self) -> usize {
        self.directions.len()
    }

    /// The band of a group in a factor: its place among all groups, 0 in the middle.
    pub(crate) fn band(&self, group: usize, factor: Factor) -> i32 {
        let of = |row: &[f64; FACTORS]| row.get(factor.index()).copied().unwrap_or_default();
        let own = self.directions.get(group).map_or(0.0, of);
        let below = self.directions.iter().filter(|row| of(row) < own).count();
        let middle = self.count() / 2;
        i32::try_from(below).unwrap_or(0) - i32::try_from(middle).unwrap_or(0)
    }

    /// The group of each member, given where it stands in each factor. The groups are of equal size, the first ones
    /// larger by one where members are left over, and the sum of agreements between standings and directions is the largest possible.
    pub(crate) fn assign(&self, standings: &[[f64; FACTORS]]) -> Vec<usize> {
        let gain = |member: &[f64; FACTORS], group: &[f64; FACTORS]| -> f64 {
            member
                .iter()
                .zip(group)
                .map(|(score, direction)| score * direction)
                .sum()
        };
        let gains: Vec<Vec<f64>> = standings
            .iter()
            .map(|member| self.directions.iter().map(|group| gain(member, group)).collect())
            .collect();
        balanced(&gains, self.count())
    }
}

/// The assignment of rows to equally large groups with the largest sum of gains: from everybody's own best choice, along
/// the cheapest chain of moves from a group with too many to one with too few, until none is left.
fn balanced(gains: &[Vec<f64>], groups: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = gains.iter().map(|row| best(row)).collect();
    let room = |group: usize| gains.len() / groups + usize::from(group < gains.len() % groups);
    for _ in 0..gains.len() {
        let mut sizes = vec![0_usize; groups];
        for group in &chosen {
            if let Some(size) = sizes.get_mut(*group) {
                *size += 1;
            }
        }
        let excess: Vec<bool> = sizes
            .iter()
            .enumerate()
            .map(|(group, size)| room(group) < *size)
            .collect();
        let lack: Vec<bool> = sizes
            .iter()
            .enumerate()
            .map(|(group, size)| *size < room(group))
            .collect();
        let Some(chain) = cheapest_chain(gains, &chosen, &excess, &lack) else {
            break;
        };
        for (member, to) in chain {
            if let Some(group) = chosen.get_mut(member) {
                *group = to;
            }
        }
    }
    chosen
}

fn best(row: &[f64]) -> usize {
    let mut found = (0, f64::NEG_INFINITY);
    for (group, gain) in row.iter().enumerate() {
        if found.1 < *gain {
            found = (group, *gain);
        }
    }
    found.0
}

/// The cheapest member to move from one group to another, and what the move costs.
#[derive(Debug, Clone, Copy)]
struct Move {
    member: usize,
    loss: f64,
}

/// Moves of one member each, one after the other, and what they cost together.
#[derive(Debug, Clone, Default)]
struct Chain {
    loss: f64,
    /// Member and the group that it goes to.
    moves: Vec<(usize, usize)>,
}

/// The chain that takes one member out of an overfull group and puts one into a group with room; `None` when no group is
/// overfull.
fn cheapest_chain(
    gains: &[Vec<f64>],
    chosen: &[usize],
    excess: &[bool],
    lack: &[bool],
) -> Option<Vec<(usize, usize)>> {
    let groups = excess.len();
    let moves = moves(gains, chosen, groups);
    // Bellman and Ford: the losses of moves may be negative, their circles are not.
    let mut reached: Vec<Option<Chain>> = excess.iter().map(|over| over.then(Chain::default)).collect();
    for _ in 0..groups {
        for from in 0..groups {
            let Some(Some(chain)) = reached.get(from).cloned() else {
                continue;
            };
            // By rounding alone could a circle seem to gain: no group is passed twice.
            let is_passed = |to: usize| {
                excess.get(to) == Some(&true) || chain.moves.iter().any(|(_, group)| *group == to)
            };
            for to in (0..groups).filter(|to| !is_passed(*to)) {
                let Some(step) = moves.get(from * groups + to).copied().flatten() else {
                    continue;
                };
                let loss = chain.loss + step.loss;
                if let Some(cell) = reached.get_mut(to)
                    && cell.as_ref().is_none_or(|known| loss < known.loss)
                {
                    let moves = chain.moves.iter().copied().chain([(step.member, to)]).collect();
                    *cell = Some(Chain { loss, moves });
                }
            }
        }
    }
    let ends = reached.into_iter().zip(lack).filter(|(_, lacks)| **lacks);
    let ends = ends
        .filter_map(|(end, _)| end)
        .filter(|end| !end.moves.is_empty());
    ends.min_by(|left, right| left.loss.total_cmp(&right.loss))
        .map(|end| end.moves)
}

fn moves(gains: &[Vec<f64>], chosen: &[usize], groups: usize) -> Vec<Option<Move>> {
    let mut moves: Vec<Option<Move>> = vec![None; groups * groups];
    for (member, (row, from)) in gains.iter().zip(chosen).enumerate() {
        let own = row.get(*from).copied().unwrap_or_default();
        for (to, gain) in row.iter().enumerate().filter(|(to, _)| to != from) {
            let loss = own - gain;
            if let Some(known) = moves.get_mut(from * groups + to)
                && known.is_none_or(|known| loss < known.loss)
            {
                *known = Some(Move { member, loss });
            }
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::KeyedStream;

    fn draw(count: usize, key: u8) -> Vec<[f64; FACTORS]> {
        let mut stream = KeyedStream::new([key; 32]);
        (0..count)
            .map(|_| std::array::from_fn(|_| 12.0_f64.sqrt() * (stream.uniform() - 0.5)))
            .collect()
    }

    #[test]
    fn every_factor_has_every_band_once() {
        for numeric in [Numeric::Banded, Numeric::BandedFive] {
            let groups = Groups::of(numeric).unwrap();
            let most = i32::try_from(groups.count() / 2).unwrap();
            for factor in Factor::ALL {
                let mut bands: Vec<i32> = (0..groups.count())
                    .map(|group| groups.band(group, factor))
                    .collect();
                bands.sort_unstable();
                assert_eq!(bands, (-most..=most).collect::<Vec<_>>(), "{factor:?}");
            }
        }
    }

    #[test]
    fn groups_are_of_equal_size_whatever_the_members_are() {
        let groups = Groups::of(Numeric::BandedFive).unwrap();
        for (count, key) in [(0, 1), (1, 1), (4, 1), (5, 1), (283, 2), (300, 3)] {
            let mut sizes = [0_usize; 5];
            for group in groups.assign(&draw(count, key)) {
                sizes[group] += 1;
            }
            let whole: [usize; 5] = std::array::from_fn(|group| count / 5 + usize::from(group < count % 5));
            assert_eq!(sizes, whole);
        }
        // Members that all look alike are still spread evenly.
        let alike = groups.assign(&[[1.0; FACTORS]; 50]);
        assert!((0..5).all(|group| alike.iter().filter(|own| **own == group).count() == 10));
    }

    /// No exchange of two members, and no turn of three, gains anything: checked by trying all of them.
    #[test]
    fn the_assignment_is_the_best_one() {
        let groups = Groups::of(Numeric::Banded).unwrap();
        for key in 0..20 {
            let members = draw(31, key);
            let chosen = groups.assign(&members);
            let gain = |member: usize, group: usize| -> f64 {
                members[member]
                    .iter()
                    .zip(groups.directions[group])
                    .map(|(score, direction)| score * direction)
                    .sum()
            };
            for a in 0..31 {
                for b in 0..31 {
                    let two =
                        gain(a, chosen[b]) + gain(b, chosen[a]) - gain(a, chosen[a]) - gain(b, chosen[b]);
                    assert!(two < 1e-9, "{key} {a} {b} {two}");
                    for c in (0..31).filter(|c| *c != a && *c != b && a != b) {
                        let turned = gain(a, chosen[b]) + gain(b, chosen[c]) + gain(c, chosen[a]);
                        let as_is = gain(a, chosen[a]) + gain(b, chosen[b]) + gain(c, chosen[c]);
                        assert!(turned - as_is < 1e-9, "{key} {a} {b} {c}");
                    }
                }
            }
        }
    }
}
