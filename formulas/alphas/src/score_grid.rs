//! The scores of a judge, and what they are worth: controls of length, nonsense and chance, and agreement with people.

use crate::figure_row::FigureRow;
use crate::judgement::{JudgedScore, length_control, length_slope, repeat_control};
use crate::ndcg;
use ktd_stats::moments::count;
use ktd_stats::{Sample, kendall_tau};
use serde::{Deserialize, Serialize};

/// What a formula is judged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum JudgedRole {
    /// To be judged.
    Alpha,
    /// An equal, longer form of the formula at this place.
    Longer {
        /// The place.
        of: usize,
    },
    /// A formula without meaning.
    Nonsense,
}

/// The scores of one judge by formula and order; the last order repeats the first.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreGrid {
    cells: Vec<Vec<Option<f64>>>,
    /// By formula: why its last lost answer was lost.
    reasons: Vec<Option<String>>,
    orders: usize,
}

impl ScoreGrid {
    /// An empty grid for so many formulas and orders.
    #[must_use]
    pub fn new(formulas: usize, orders: usize) -> Self {
        Self {
            cells: vec![vec![None; orders + 1]; formulas],
            reasons: vec![None; formulas],
            orders,
        }
    }

    /// Puts the score of a formula in an order, or why it was lost.
    pub fn put(&mut self, (formula, order): (usize, usize), score: Result<f64, Option<String>>) {
        match score {
            Ok(score) => {
                let cell = self.cells.get_mut(formula).and_then(|row| row.get_mut(order));
                if let Some(cell) = cell {
                    *cell = Some(score);
                }
            }
            Err(lost) => {
                let reason = self.reasons.get_mut(formula);
                if let Some(reason) = reason {
                    reason.clone_from(&lost);
                }
            }
        }
    }

    /// The scores of a formula by order, without the repeat.
    #[must_use]
    pub fn scores(&self, formula: usize) -> &[Option<f64>] {
        let row = self.cells.get(formula).map_or(&[][..], Vec::as_slice);
        row.get(..self.orders).unwrap_or(row)
    }

    /// Why the last lost answer about a formula was lost.
    #[must_use]
    pub fn reason(&self, formula: usize) -> Option<&String> {
        self.reasons.get(formula)?.as_ref()
    }

    /// What the scores of a formula come to.
    #[must_use]
    pub fn judged(&self, formula: usize) -> Option<JudgedScore> {
        let scores: Vec<f64> = self.scores(formula).iter().copied().flatten().collect();
        JudgedScore::of(&scores).ok()
    }

    fn median(&self, formula: usize) -> Option<f64> {
        self.judged(formula).map(|score| score.median)
    }

    /// How alike two judges rank some formulas: Kendall's tau-b, and how many both have scored.
    #[must_use]
    pub fn agreement(&self, other: &Self, formulas: impl Iterator<Item = usize>) -> (usize, Option<f64>) {
        let both = formulas.filter_map(|formula| Some((self.median(formula)?, other.median(formula)?)));
        let (left, right): (Vec<f64>, Vec<f64>) = both.unzip();
        let sample = |side| Sample::new("scores", side).ok();
        let tau = sample(&left).zip(sample(&right));
        let tau = tau.and_then(|(left, right)| kendall_tau(&left, &right).ok()?.ok());
        (left.len(), tau)
    }

    /// The figures of a judge: `formulas` come with their sizes; `human` are people's scores by formula, where there are any.
    #[must_use]
    pub fn figures(&self, formulas: &[(JudgedRole, usize)], human: Option<&[(usize, f64)]>) -> FigureRow {
        let of_role = |wanted: JudgedRole| {
            let places = formulas.iter().enumerate();
            places
                .filter(move |(_, (role, _))| *role == wanted)
                .map(|(place, (_, nodes))| (place, *nodes))
        };
        let mut row = FigureRow::default();
        let scored =
            of_role(JudgedRole::Alpha).filter_map(|(place, nodes)| Some((nodes, self.median(place)?)));
        let scored: Vec<(usize, f64)> = scored.collect();
        let scores: Vec<f64> = scored.iter().map(|(_, score)| *score).collect();
        row.put_mean("mean", &scores, TOO_FEW);
        let spreads = of_role(JudgedRole::Alpha).filter_map(|(place, _)| Some(self.judged(place)?.spread));
        row.put_mean("spread", &spreads.collect::<Vec<f64>>(), TOO_FEW);
        self.put_length(&mut row, formulas);
        row.put_all(
            &length_slope(&scored),
            &[
                ("length_slope", |line| Ok(line.slope)),
                ("length_slope_p", |line| Ok(line.p)),
            ],
        );
        let nonsense: Vec<f64> = of_role(JudgedRole::Nonsense)
            .filter_map(|(place, _)| self.median(place))
            .collect();
        row.put_mean("nonsense_mean", &nonsense, TOO_FEW);
        let highest = nonsense.iter().copied().reduce(f64::max);
        row.put("nonsense_highest", highest.ok_or_else(|| TOO_FEW.to_owned()));
        let repeat = repeat_control(&self.repeated());
        row.put_all(&repeat, &[("repeat_distance", |repeat| Ok(repeat.mean_distance))]);
        let tau = crate::coded(repeat).and_then(|repeat| repeat.tau.ok_or_else(|| "all_tied".to_owned()));
        row.put("repeat_tau", tau);
        if let Some(human) = human {
            let items = human
                .iter()
                .filter_map(|(place, score)| Some((*score, self.median(*place)?)));
            let items: Vec<(f64, f64)> = items.collect();
            for (name, first) in [
                ("ndcg_5", 5),
                ("ndcg_10", 10),
                ("ndcg_20", 20),
                ("ndcg_all", items.len()),
            ] {
                row.put(name, crate::coded(ndcg(&items, first)));
            }
        }
        row
    }

    fn put_length(&self, row: &mut FigureRow, formulas: &[(JudgedRole, usize)]) {
        let pair = |(place, (role, _)): (usize, &(JudgedRole, usize))| match role {
            JudgedRole::Longer { of } => Some((self.median(*of)?, self.median(place)?)),
            JudgedRole::Alpha | JudgedRole::Nonsense => None,
        };
        let pairs: Vec<(f64, f64)> = formulas.iter().enumerate().filter_map(pair).collect();
        row.put_all(
            &length_control(&pairs),
            &[
                ("length_difference", |length| Ok(length.mean_difference)),
                ("length_p", |length| Ok(length.test.p)),
                ("length_pairs", |length| Ok(count(length.pairs))),
            ],
        );
    }

    /// Scores of the first order with those of its repeat.
    fn repeated(&self) -> Vec<(f64, f64)> {
        let pair = |row: &Vec<Option<f64>>| Some(((*row.first()?)?, (*row.get(self.orders)?)?));
        self.cells.iter().filter_map(pair).collect()
    }
}

const TOO_FEW: &str = "too_few";
