//! The portfolio test: long the top fifth, short the bottom fifth, no market in between.

use crate::day_table::{DayTable, MemberTable, usable};
use ktd_stats::Undefined;
use ktd_stats::moments::{Moments, count, mean};

/// How the portfolio is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PortfolioTerms {
    /// The share of the scored names on each side.
    pub share: f64,
    /// Fewest scored names of a day.
    pub min_names: usize,
    /// Costs in basis points of the value traded.
    pub cost_bps: f64,
}

impl Default for PortfolioTerms {
    fn default() -> Self {
        Self {
            share: 0.2,
            min_names: 10,
            cost_bps: 0.0,
        }
    }
}

/// What the portfolio earned.
#[derive(Debug, Clone, PartialEq)]
pub struct PortfolioTest {
    /// By evaluated day.
    pub returns: Vec<f64>,
    /// 252 times the mean daily return.
    pub annual_return: f64,
    /// Annual mean over deviation.
    pub sharpe: Result<f64, Undefined>,
    /// Mean half sum of changes of weights, from 0 to 2; the first day is left out.
    pub turnover: Result<f64, Undefined>,
    /// Largest fall of the value from a height, as a share of it.
    pub max_drawdown: f64,
    /// Holdings without a label, which earned 0.
    pub without_label: usize,
}

/// Tests an alpha as a portfolio over some days. Names are in the order of their codes, which breaks ties.
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
    let (mut returns, mut turnovers, mut without_label) = (Vec::new(), Vec::new(), 0);
    let mut before: Option<Vec<f64>> = None;
    for day in days {
        let Some(weights) = weights(scores.day(*day), members.day(*day), terms) else {
            continue;
        };
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
        returns.push(earned - traded * terms.cost_bps / 1e4);
        if before.is_some() {
            turnovers.push(traded / 2.0);
        }
        before = Some(weights);
    }
    summary(returns, &turnovers, without_label)
}

fn summary(returns: Vec<f64>, turnovers: &[f64], without_label: usize) -> Result<PortfolioTest, Undefined> {
    let days = returns.len();
    let average = mean(&returns).ok_or(Undefined::TooFewDays { days, need_days: 1 })?;
    let few = Undefined::TooFewDays { days, need_days: 2 };
    let sharpe = Moments::of(&returns)
        .ok_or(few)
        .and_then(|moments| moments.annual_ratio(Undefined::ZeroVariance));
    Ok(PortfolioTest {
        annual_return: average * ktd_stats::TRADING_DAYS_PER_YEAR,
        sharpe,
        turnover: mean(turnovers).ok_or(few),
        max_drawdown: max_drawdown(&returns),
        without_label,
        returns,
    })
}

fn max_drawdown(returns: &[f64]) -> f64 {
    let (mut value, mut height, mut largest) = (1.0, 1.0_f64, 0.0_f64);
    for earned in returns {
        value *= 1.0 + earned;
        height = height.max(value);
        largest = largest.max(1.0 - value / height);
    }
    largest
}

/// The weights of a day by name: 1/k on each of the k best, -1/k on each of the k worst.
fn weights(scores: &[f64], members: &[bool], terms: PortfolioTerms) -> Option<Vec<f64>> {
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
    let top = order.iter().take(size).map(|(_, name)| (*name, 1.0));
    let bottom = order.iter().rev().take(size).map(|(_, name)| (*name, -1.0));
    for (name, sign) in top.chain(bottom) {
        if let Some(weight) = weights.get_mut(name) {
            *weight = sign / count(size);
        }
    }
    Some(weights)
}

/// The names on a side: the whole part of the share, at least one.
fn side(names: usize, share: f64) -> usize {
    let wanted = share * count(names);
    (1..=names)
        .take_while(|size| count(*size) <= wanted)
        .last()
        .unwrap_or(1)
}
