//! What the size of an account would cost: at which capital selection is eaten, and ranks turn.
//!
//! The exchange fills any order at the open, so an account of CNY 1 million and one of 10 billion earn the same. Beside the rank
//! stands what trading at a capital would move prices by: an order of a share q of a day's amount costs the name's daily deviation
//! times the root of q (Almgren, Thum, Hauptmann and Li 2005; Toth et al. 2011, with a coefficient of 1). It is no rule of the exchange.

use super::record::{LeaderboardRow, SizeCost};
use super::score::ScoredEpisode;
use ktd_env::{History, Market, NameId};
use ktd_stats::moments::{Moments, count, mean};
use std::collections::BTreeMap;
use std::ops::Range;

/// Days up to the one before a trade whose amounts and returns say what a name bears, and how many of them must be there.
const WINDOW_DAYS: usize = 20;
const LEAST_DAYS: usize = 10;

/// Cost of size a day of one episode, as a share of the account, per root of a CNY of its capital. A trade in a name of which too little
/// is known costs nothing.
pub(super) fn cost_per_root_cny(score: &ScoredEpisode, market: &Market) -> f64 {
    let (Some(first), Some(last)) = (score.days.first(), score.days.last()) else {
        return 0.0;
    };
    let days = first.index().saturating_sub(WINDOW_DAYS + 1)..last.index() + 1;
    let names: Vec<NameId> = market.names().map(|(name, _)| name).collect();
    let mut histories: BTreeMap<usize, History> = BTreeMap::new();
    let mut sum = 0.0;
    for book in &score.books {
        for held in &book.held {
            let traded = (held.after_cny - held.before_cny).abs() / book.nav_before_cny;
            let Some(name) = names.get(held.row).filter(|_| 0.0 < traded) else {
                continue;
            };
            let history = histories
                .entry(held.row)
                .or_insert_with(|| History::new(market, *name, days.clone()));
            let place = book.day.saturating_sub(days.start);
            let bears = depth(history, place.saturating_sub(WINDOW_DAYS)..place);
            sum += bears.map_or(0.0, |(amount_cny, deviation)| {
                traded * deviation * (traded / amount_cny).sqrt()
            });
        }
    }
    sum / count(score.books.len().max(1))
}

/// Mean amount traded a day in CNY, and the deviation of daily returns; `None` where too few days are known.
fn depth(history: &History, days: Range<usize>) -> Option<(f64, f64)> {
    let amounts = history.amount.get(days.clone())?;
    let amounts: Vec<f64> = amounts.iter().copied().filter(|amount| 0.0 < *amount).collect();
    let closes = history.close.get(days)?;
    let returns = closes
        .iter()
        .zip(closes.iter().skip(1))
        .map(|(before, close)| close / before - 1.0);
    let returns: Vec<f64> = returns.filter(|daily| daily.is_finite()).collect();
    if amounts.len() < LEAST_DAYS || returns.len() < LEAST_DAYS {
        return None;
    }
    Some((mean(&amounts)?, Moments::of(&returns)?.deviation()))
}

/// Fills in the costs of size of ranked rows, which stand in the order of their ranks; `cost` is that of an agent.
pub(super) fn fill(leaders: &mut [LeaderboardRow], cost: impl Fn(&str) -> Option<f64>) {
    let of = |row: &LeaderboardRow| Some((row.selection.as_ref()?.a_day, cost(&row.agent)?));
    let known: Vec<Option<(f64, f64)>> = leaders.iter().map(of).collect();
    let names: Vec<String> = leaders.iter().map(|row| row.agent.clone()).collect();
    for (place, row) in leaders.iter_mut().enumerate() {
        let Some(Some((own, cost))) = known.get(place).copied() else {
            continue;
        };
        let below = known.iter().zip(&names).skip(place + 1);
        let passing = below.filter_map(|(other, name)| {
            let (other, theirs) = (*other)?;
            Some((turning_cny(own - other, cost - theirs)?, name))
        });
        let passed = passing.min_by(|one, other| one.0.total_cmp(&other.0));
        row.size_cost = Some(SizeCost {
            a_day_per_root_cny: cost,
            break_even_cny: turning_cny(own, cost),
            passed_at_cny: passed.map(|(capital, _)| capital),
            passed_by: passed.map(|(_, name)| name.clone()),
        });
    }
}

/// The capital at which a lead a day is eaten by a cost a day per root of a CNY; `None` where there is no lead or no cost.
fn turning_cny(lead: f64, cost: f64) -> Option<f64> {
    (0.0 < lead && 0.0 < cost).then(|| (lead / cost) * (lead / cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_turns_where_its_cost_has_grown_to_it() {
        // A basis point a day, and a tenth of one at a million: a hundred millions.
        let capital = turning_cny(1e-4, 1e-5 / 1e6_f64.sqrt()).unwrap();
        assert!((capital / 1e8 - 1.0).abs() < 1e-12);
        assert_eq!((turning_cny(-1e-4, 1e-9), turning_cny(1e-4, 0.0)), (None, None));
    }
}
