//! Ranks that hold all at once, and pairs each by itself.
//!
//! Of each pair the difference of means is judged as a mean of its own. All pairs at once are separated where the difference
//! exceeds what the largest of all differences comes to by chance, in steps (Romano and Wolf 2005): the rank of an agent then lies
//! between one more than those that are above it and all but those that are below (Mogstad, Romano, Shaikh and Wilhelm 2024),
//! for every agent together.

use crate::contrasts::{MeanContrasts, Turned};
use crate::moments::count;
use crate::rotation::{MeanTable, Rotations};
use crate::{Confidence, StatsError};

/// An agent's rank and the set that holds its true one, with those of all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSet {
    /// Rank of the mean, 1 the best; ties share it.
    pub rank: usize,
    /// Best rank of the set.
    pub lower: usize,
    /// Worst rank of the set.
    pub upper: usize,
    /// Share of drawn means of all agents in which this one is not below another.
    pub first_share: f64,
}

/// Two agents side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairTest {
    /// Mean of the first less that of the second.
    pub difference: f64,
    /// Two-sided p-value of this pair by itself; 1 of twins.
    pub p: f64,
    /// Whether the two are told apart with all other pairs at once.
    pub is_separated: bool,
}

/// Ranks of agents, and what is known of each pair.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSets {
    agents: Vec<RankSet>,
    /// Row by row, those behind the diagonal.
    pairs: Vec<PairTest>,
}

struct OpenPair {
    columns: (usize, usize),
    turned: Turned,
    square: f64,
    t: f64,
}

impl RankSets {
    /// Ranks the means of a table.
    ///
    /// # Errors
    /// [`StatsError`] where a difference has no t.
    pub fn of(table: &MeanTable, confidence: Confidence, rotations: &Rotations) -> Result<Self, StatsError> {
        let columns = table.columns();
        let mut pairs = Vec::new();
        let mut open = Vec::new();
        for (one, first) in columns.iter().enumerate() {
            for (other, second) in columns.iter().enumerate().skip(one + 1) {
                let difference = first.less(second)?;
                let p = difference
                    .estimate()
                    .map_or(Ok(1.0), |found| found.p_two_sided(0.0))?;
                let turned = difference.turned(0.0);
                let square = turned.square();
                open.push(OpenPair {
                    columns: (one, other),
                    t: difference.t_of_contrasts(0.0).abs(),
                    turned,
                    square,
                });
                pairs.push(PairTest {
                    difference: difference.mean(),
                    p,
                    is_separated: false,
                });
            }
        }
        let levels: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| {
                let turned = column.turned(0.0);
                rotations
                    .directions()
                    .map(|direction| turned.level_in(direction))
                    .collect()
            })
            .collect();
        let still_open = separate(
            open,
            &levels,
            (2.0 * confidence.lower(), rotations.directions().len()),
        );
        for (place, pair) in pairs.iter_mut().enumerate() {
            pair.is_separated = !still_open.contains(&place);
        }
        Ok(Self {
            agents: agents(table, &pairs, rotations),
            pairs,
        })
    }

    /// The agents, by column.
    #[must_use]
    pub fn agents(&self) -> &[RankSet] {
        &self.agents
    }

    /// Columns, best first.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.agents.len()).collect();
        let rank = |place: usize| self.agents.get(place).map_or(usize::MAX, |agent| agent.rank);
        order.sort_by_key(|place| (rank(*place), *place));
        order
    }

    /// One column beside another; the difference is of the first less the second. `None` for one column or none that exists.
    #[must_use]
    pub fn pair(&self, one: usize, other: usize) -> Option<PairTest> {
        pair_in(&self.pairs, self.agents.len(), (one, other))
    }
}

fn pair_in(pairs: &[PairTest], agents: usize, (one, other): (usize, usize)) -> Option<PairTest> {
    let pair = *pairs.get(pair_place(agents, (one, other))?)?;
    let sign = if one < other { 1.0 } else { -1.0 };
    Some(PairTest {
        difference: sign * pair.difference,
        ..pair
    })
}

/// Where a pair stands among all, row by row behind the diagonal; none for one agent or none that exists.
pub(crate) fn pair_place(agents: usize, (one, other): (usize, usize)) -> Option<usize> {
    let (first, second) = (one.min(other), one.max(other));
    if first == second || agents <= second {
        return None;
    }
    // Rows above hold one pair less each.
    let before = first * (2 * agents - first - 1) / 2;
    Some(before + second - first - 1)
}

/// The best and the worst rank among so many that are left by others less this one, of those that are told apart from it.
pub(crate) fn rank_range(agents: usize, apart: impl Iterator<Item = f64>) -> (usize, usize) {
    apart.fold((1, agents), |(lower, upper), difference| {
        (
            lower + usize::from(0.0 < difference),
            upper - usize::from(difference < 0.0),
        )
    })
}

fn agents(table: &MeanTable, pairs: &[PairTest], rotations: &Rotations) -> Vec<RankSet> {
    let means: Vec<f64> = table.columns().iter().map(MeanContrasts::mean).collect();
    let agent = |(place, (mean, first_share)): (usize, (&f64, f64))| {
        let others = (0..means.len()).filter_map(|other| pair_in(pairs, means.len(), (other, place)));
        let apart = others
            .filter(|pair| pair.is_separated)
            .map(|pair| pair.difference);
        let (lower, upper) = rank_range(means.len(), apart);
        RankSet {
            rank: 1 + means.iter().filter(|other| mean < other).count(),
            lower,
            upper,
            first_share,
        }
    };
    let firsts = first_shares(table, rotations);
    means.iter().zip(firsts).enumerate().map(agent).collect()
}

/// Places of the pairs that stay open, when those that exceed the largest t of all that are still open are taken out, until none is.
fn separate(mut open: Vec<OpenPair>, levels: &[Vec<f64>], (alpha, replicates): (f64, usize)) -> Vec<usize> {
    let mut places: Vec<usize> = (0..open.len()).collect();
    loop {
        let mut largest: Vec<f64> = (0..replicates)
            .map(|replicate| {
                let level = |column: usize| levels.get(column).and_then(|of| of.get(replicate)).copied();
                let t = open.iter().map(|pair| {
                    let level = level(pair.columns.0).unwrap_or(0.0) - level(pair.columns.1).unwrap_or(0.0);
                    pair.turned.t(level, pair.square).abs()
                });
                t.fold(0.0, f64::max)
            })
            .collect();
        largest.sort_unstable_by(f64::total_cmp);
        // The share that may reach the bound counts the observed direction with the drawn ones.
        let allowed = alpha * (count(replicates) + 1.0) - 1.0;
        let above = crate::split_mix::whole(allowed.max(0.0));
        let Some(bound) = largest
            .len()
            .checked_sub(above + 1)
            .and_then(|place| largest.get(place))
        else {
            return places;
        };
        let before = open.len();
        let is_open: Vec<bool> = open.iter().map(|pair| pair.t <= *bound).collect();
        let mut keep = is_open.iter();
        places.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = is_open.iter();
        open.retain(|_| keep.next().copied().unwrap_or(true));
        if open.len() == before || open.is_empty() {
            return places;
        }
    }
}

/// Of each column, the share of draws in which it is not below another: a mean less its standard error times the t of a turn.
fn first_shares(table: &MeanTable, rotations: &Rotations) -> Vec<f64> {
    let columns: Vec<(f64, f64, Turned)> = table
        .columns()
        .iter()
        .map(|column| {
            let error = column.estimate().map_or(0.0, |found| found.standard_error);
            (column.mean(), error, column.turned(column.mean()))
        })
        .collect();
    let mut firsts = vec![0_usize; columns.len()];
    for direction in rotations.directions() {
        let drawn = |(mean, error, turned): &(f64, f64, Turned)| {
            let square = turned.square();
            mean - error * turned.t(turned.level_in(direction), square)
        };
        let drawn: Vec<f64> = columns.iter().map(drawn).collect();
        let best = drawn.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (first, value) in firsts.iter_mut().zip(drawn) {
            *first += usize::from(best <= value);
        }
    }
    let replicates = count(rotations.directions().len().max(1));
    firsts
        .into_iter()
        .map(|first| count(first) / replicates)
        .collect()
}
