//! The portfolio test: long the top fifth, short the bottom fifth, no market in between.

use crate::day_table::{DayTable, MemberTable, usable};
use ktd_stats::Undefined;
use ktd_stats::moments::{Moments, count, mean};
use serde::{Deserialize, Serialize};

/// Who is held of names with equal scores, where not all of them fit on a side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// All of them, who share what is left of the side: scores that do not tell names apart earn nothing by their codes.
    #[default]
    Shared,
    /// The first by code on the long side, the last on the short side, as published code does.
    #[serde(rename = "code")]
    ByCode,
}

/// How the portfolio is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PortfolioTerms {
    /// The share of the scored names on each side.
    pub share: f64,
    /// Fewest scored names of a day.
    pub min_names: usize,
    /// Who is held of names with equal scores.
    pub ties: Ties,
}

impl Default for PortfolioTerms {
    fn default() -> Self {
        Self {
            share: 0.2,
            min_names: 10,
            ties: Ties::Shared,
        }
    }
}

/// What the portfolio earned.
#[derive(Debug, Clone, PartialEq)]
pub struct PortfolioTest {
    /// All days that were asked for: without enough scored names nothing is held, and nothing earned.
    pub days: Vec<usize>,
    /// What each of them earned, costs taken off.
    pub returns: Vec<f64>,
    /// The value that each of them traded, as a share of the capital on a side.
    traded: Vec<f64>,
    /// 252 times the mean daily return.
    pub annual_return: f64,
    /// Annual mean over deviation.
    pub sharpe: Result<f64, Undefined>,
    /// Mean half sum of changes of weights, from 0 to 2, of the days after the first with a portfolio.
    pub turnover: Result<f64, Undefined>,
    /// Largest fall of the value from a height, as a share of it.
    pub max_drawdown: f64,
    /// Holdings without a label, which earned 0.
    pub without_label: usize,
}

/// Tests an alpha as a portfolio over some days; on one without enough scored names it is sold. Names are in the order of their codes.
///
/// # Errors
/// [`Undefined::TooFewDays`] where no day has enough scored names.
pub fn portfolio_test(
    scores: &DayTable,
    labels: &DayTable,
    members: &MemberTable,
    days: &[usize],
    terms: PortfolioTerms,
) -> Result<PortfolioTest, Undefined> {
    let (mut returns, mut all_traded) = (Vec::new(), Vec::new());
    let mut without_label = 0;
    let mut before: Option<Vec<f64>> = None;
    let mut first = None;
    for (place, day) in days.iter().enumerate() {
        let weights = portfolio_weights(scores.day(*day), members.day(*day), terms);
        first = first.or(weights.as_ref().map(|_| place));
        let weights = weights.unwrap_or_else(|| vec![0.0; scores.day(*day).len()]);
        let empty = vec![0.0; weights.len()];
        let old = before.as_ref().unwrap_or(&empty);
        let traded: f64 = weights.iter().zip(old).map(|(new, old)| (new - old).abs()).sum();
        let mut earned = 0.0;
        for (weight, label) in weights.iter().zip(labels.day(*day)) {
            let held = weight.abs() > 0.0;
            without_label += usize::from(held && label.is_nan());
            earned += if held && !label.is_nan() {
                weight * label
            } else {
                0.0
            };
        }
        returns.push(earned);
        all_traded.push(traded);
        before = Some(weights);
    }
    let none = Undefined::TooFewDays {
        days: 0,
        need_days: 1,
    };
    let first = first.ok_or(none)?;
    let after_first: Vec<f64> = all_traded
        .iter()
        .skip(first + 1)
        .map(|traded| traded / 2.0)
        .collect();
    let few = Undefined::TooFewDays {
        days: 1,
        need_days: 2,
    };
    Ok(PortfolioTest {
        days: days.to_vec(),
        traded: all_traded,
        turnover: mean(&after_first).ok_or(few),
        without_label,
        annual_return: 0.0,
        sharpe: Err(few),
        max_drawdown: 0.0,
        returns: Vec::new(),
    }
    .earning(returns))
}

impl PortfolioTest {
    /// The cost in basis points of the value traded at which the mean return is 0; none of what does not trade.
    #[must_use]
    pub fn break_even_bps(&self) -> Option<f64> {
        let traded: f64 = self.traded.iter().sum();
        (0.0 < traded).then(|| self.returns.iter().sum::<f64>() / traded * 1e4)
    }

    /// The same after costs in basis points of the value traded.
    #[must_use]
    pub fn after_costs(&self, cost_bps: f64) -> Self {
        let days = self.returns.iter().zip(&self.traded);
        let returns = days.map(|(earned, traded)| earned - traded * cost_bps / 1e4);
        self.clone().earning(returns.collect())
    }

    /// The same with other daily returns.
    fn earning(self, returns: Vec<f64>) -> Self {
        let days = returns.len();
        let few = Undefined::TooFewDays { days, need_days: 2 };
        let moments = Moments::of(&returns).ok_or(few);
        Self {
            annual_return: mean(&returns).unwrap_or_default() * ktd_stats::TRADING_DAYS_PER_YEAR,
            sharpe: moments.and_then(|moments| moments.annual_ratio(Undefined::ZeroVariance)),
            max_drawdown: max_drawdown(&returns),
            returns,
            ..self
        }
    }
}

/// The largest fall of the product of returns plus 1 from a height, 1 before the first, as a share of the height.
#[must_use]
pub fn max_drawdown(returns: &[f64]) -> f64 {
    let (mut value, mut height, mut largest) = (1.0, 1.0_f64, 0.0_f64);
    for earned in returns {
        value *= 1.0 + earned;
        height = height.max(value);
        largest = largest.max(1.0 - value / height);
    }
    largest
}

/// The weights of a day by name: 1/k on each of the k best, -1/k on each of the k worst; a name that shares both sides has the sum. None
/// of a day without enough scored names.
#[must_use]
pub fn portfolio_weights(scores: &[f64], members: &[bool], terms: PortfolioTerms) -> Option<Vec<f64>> {
    let (places, [values]) = usable(members, [scores]);
    if places.len() < terms.min_names {
        return None;
    }
    let mut order: Vec<(f64, usize)> = values.into_iter().zip(places).collect();
    order.sort_by(|(left, left_name), (right, right_name)| {
        right.total_cmp(left).then(left_name.cmp(right_name))
    });
    let size = side(order.len(), terms.share);
    let mut weights = vec![0.0; scores.len()];
    let bottom: Vec<(f64, usize)> = order.iter().rev().copied().collect();
    for (side, sign) in [(order, 1.0), (bottom, -1.0)] {
        for (name, share) in held(&side, size, terms.ties) {
            if let Some(weight) = weights.get_mut(name) {
                *weight += sign * share / count(size);
            }
        }
    }
    Some(weights)
}

/// Names of a side of so many places, the first of these, and how much of a place each has.
fn held(side: &[(f64, usize)], places: usize, ties: Ties) -> Vec<(usize, f64)> {
    let last = places.checked_sub(1).and_then(|last| side.get(last));
    let Some((last, _)) = last.filter(|_| ties == Ties::Shared) else {
        return side.iter().take(places).map(|(_, name)| (*name, 1.0)).collect();
    };
    let is_tied = |(score, _): &&(f64, usize)| score.total_cmp(last).is_eq();
    let before = side.iter().take_while(|one| !is_tied(one)).count();
    let tied = side.iter().skip(before).take_while(is_tied).count();
    let share = count(places - before) / count(tied.max(1));
    let whole = side.iter().take(before).map(|(_, name)| (*name, 1.0));
    let shared = side
        .iter()
        .skip(before)
        .take(tied)
        .map(|(_, name)| (*name, share));
    whole.chain(shared).collect()
}

/// The names on a side: the whole part of the share, at least one.
fn side(names: usize, share: f64) -> usize {
    let wanted = share * count(names);
    (1..=names)
        .take_while(|size| count(*size) <= wanted)
        .last()
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::{PortfolioTerms, Ties, max_drawdown, portfolio_test};
    use crate::{DayTable, MemberTable};

    /// 0 and -0 are one score, also of an alpha that was turned.
    #[test]
    fn equal_scores_share_places_or_go_by_code() {
        let names = 10;
        let members = MemberTable::from_days(names, vec![true; 2 * names]);
        let labels = DayTable::from_days(names, (0..20_u8).map(|cell| f64::from(cell % 10)).collect());
        let earned_by = |scores: &DayTable, ties| {
            let terms = PortfolioTerms {
                ties,
                ..PortfolioTerms::default()
            };
            let test = portfolio_test(scores, &labels, &members, &[0, 1], terms);
            test.unwrap().returns
        };
        let earned = |scores: DayTable| {
            assert_eq!(earned_by(&scores, Ties::Shared), [0.0, 0.0]);
            earned_by(&scores, Ties::ByCode)
        };
        let zeros = DayTable::from_days(names, vec![0.0; 2 * names]);
        let mixed = (0..20_u8).map(|cell| if cell % 3 == 0 { 0.0 } else { -0.0 });
        assert_eq!(earned(zeros.clone()), [-8.0, -8.0]);
        assert_eq!(earned(DayTable::from_days(names, mixed.collect())), [-8.0, -8.0]);
        assert_eq!(earned(zeros.times(-1.0)), [-8.0, -8.0]);
        // Two places a side of scores 1, 0 and -1: one is whole, eight names have an eighth of one on either side.
        let three = (0..20_u8).map(|cell| match cell % 10 {
            0 => -1.0,
            9 => 1.0,
            _ => 0.0,
        });
        let three = DayTable::from_days(names, three.collect());
        assert_eq!(earned_by(&three, Ties::Shared), [4.5, 4.5]);
    }

    /// An alpha that has scores on every fourth day is annualised as the account that it makes: over all days, and it is sold between.
    #[test]
    fn days_without_scores_hold_nothing_and_count() {
        let (names, days) = (10, 40);
        let members = MemberTable::from_days(names, vec![true; days * names]);
        let cells = (0..days).flat_map(|day| {
            (0..10_u8).map(move |name| if day % 4 == 1 { f64::from(name) } else { f64::NAN })
        });
        let scores = DayTable::from_days(names, cells.collect());
        let earned = |day: usize| if day % 8 == 1 { 0.01 } else { 0.002 };
        let cells = (0..days).flat_map(|day| (0..10_u8).map(move |name| f64::from(name) * earned(day)));
        let labels = DayTable::from_days(names, cells.collect());
        let all: Vec<usize> = (0..days).collect();
        let some: Vec<usize> = all.iter().copied().filter(|day| day % 4 == 1).collect();
        let of = |days: &[usize]| portfolio_test(&scores, &labels, &members, days, PortfolioTerms::default());
        let (whole, traded) = (of(&all).unwrap(), of(&some).unwrap());
        assert!((whole.annual_return - traded.annual_return / 4.0).abs() < 1e-12);
        let (mean, square) = (0.048, f64::midpoint(0.08 * 0.08, 0.016 * 0.016));
        let (mean, square) = (mean / 4.0, square / 4.0);
        let deviation = ((square - mean * mean) * 40.0 / 39.0).sqrt();
        assert!((whole.sharpe.unwrap() - 252.0_f64.sqrt() * mean / deviation).abs() < 1e-9);
        assert!(traded.sharpe.unwrap() > 3.0 * whole.sharpe.unwrap() / 2.0);
        // Bought on ten days and sold on ten, of the 38 after the first.
        assert_eq!(whole.returns.len(), days);
        assert!((whole.turnover.unwrap() - 19.0 / 38.0).abs() < 1e-12);
        assert!((whole.after_costs(10.0).returns[2] + 0.002).abs() < 1e-15);
        assert!(of(&[0, 2, 3]).is_err());
    }

    #[test]
    fn costs_are_taken_off_the_value_traded() {
        let names = 10;
        let members = MemberTable::from_days(names, vec![true; 3 * names]);
        let cells = |turned: [f64; 3]| -> Vec<f64> {
            let days = turned.into_iter();
            days.flat_map(|sign| (0..10_u8).map(move |name| sign * f64::from(name)))
                .collect()
        };
        let scores = DayTable::from_days(names, cells([1.0, 1.0, -1.0]));
        let labels = DayTable::from_days(names, vec![0.0; 3 * names]);
        let test = portfolio_test(&scores, &labels, &members, &[0, 1, 2], PortfolioTerms::default());
        let test = test.unwrap();
        assert_eq!(test.turnover, Ok(1.0));
        assert_eq!(test.after_costs(10.0).returns, [-0.002, 0.0, -0.004]);
        assert_eq!(test.after_costs(0.0), test);
        assert_eq!(test.break_even_bps(), Some(0.0));
        assert!((max_drawdown(&[0.5, -0.5, 0.2]) - 0.5).abs() < 1e-15);
    }
}
