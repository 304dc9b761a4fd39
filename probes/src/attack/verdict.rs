//! From what a scan found to an answer.

use crate::answer::Answer;
use crate::database::Database;
use crate::scan::{Best, Found};
use ktd_env::{DayIndex, KeyedStream};
use std::ops::Range;

/// What decides between equals: chance, under a published seed.
pub(crate) struct Dice(KeyedStream);

impl Dice {
    pub(crate) fn new(seed: u64, attacker: &str, purpose: &str) -> Self {
        Self(KeyedStream::for_purpose(seed, &format!("{attacker} {purpose}")))
    }

    fn draw(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.below(u64::try_from(bound).unwrap_or(0))).unwrap_or(0)
    }
}

/// The answer that fits best. Where days cost the same, chance decides; where stocks do, too.
pub(crate) fn answer(
    database: &Database,
    found: &Found,
    days: &Range<usize>,
    dice: &mut Dice,
) -> Option<Answer> {
    let mut names = found.names.clone();
    dice.0.shuffle(&mut names);
    // The sort is stable, so equals keep the order of the draw.
    names.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    let best = *names.first()?;
    let rows = database.names.get(best.place)?;
    let confidence = posterior(&found.names).into_iter().fold(0.0, f64::max);
    Some(Answer {
        names: names
            .iter()
            .take(Answer::MOST_NAMES)
            .filter_map(|best| Some(database.names.get(best.place)?.name))
            .collect(),
        blanks: Vec::new(),
        day: day(database, found, days, dice),
        sector: rows.sector,
        board: Some(rows.board),
        is_same: None,
        confidence: Some(confidence),
    })
}

/// Trading days over which a guess of the day gathers evidence.
const REACH_DAYS: usize = 20;
/// Costs this far above the best weigh nothing.
const NOTHING: f32 = 60.0;

/// The day around which most of the likelihood lies.
fn day(database: &Database, found: &Found, days: &Range<usize>, dice: &mut Dice) -> Option<DayIndex> {
    let costs = found.days.get(days.clone())?;
    let least = costs.iter().copied().fold(f32::INFINITY, f32::min);
    // Days on which no stock in scope was a member are no days at all, not days that fit badly.
    let open = days.clone().zip(costs).filter(|(_, cost)| cost.is_finite());
    let open: Vec<usize> = open.map(|(day, _)| day).collect();
    let drawn = *open.get(dice.draw(open.len()))?;
    if !costs.iter().any(|cost| least < *cost && cost.is_finite()) {
        return database.day_at(drawn);
    }
    let weight = |cost: f32| {
        if cost - least < NOTHING {
            libm::exp(f64::from(least - cost) / 2.0)
        } else {
            0.0
        }
    };
    let weights: Vec<f64> = costs.iter().map(|cost| weight(*cost)).collect();
    let mut best = (0.0, drawn);
    for place in 0..weights.len() {
        let from = place.saturating_sub(REACH_DAYS);
        let until = (place + REACH_DAYS + 1).min(weights.len());
        let near = weights.get(from..until).unwrap_or_default().iter().enumerate();
        let mass: f64 = near
            .map(|(within, weight)| weight * nearness((from + within).abs_diff(place)))
            .sum();
        if best.0 < mass {
            best = (mass, days.start + place);
        }
    }
    database.day_at(best.1)
}

/// A triangle: the day itself counts fully, one beyond reach not at all.
#[expect(clippy::cast_precision_loss, reason = "a few days")]
const fn nearness(distance: usize) -> f64 {
    1.0 - distance as f64 / (REACH_DAYS + 1) as f64
}

/// The likelihood of each stock among those in scope, if each was as likely before.
fn posterior(names: &[Best]) -> Vec<f64> {
    let least = names.iter().map(|best| best.cost).fold(f32::INFINITY, f32::min);
    let weights: Vec<f64> = names
        .iter()
        .map(|best| libm::exp(f64::from(least - best.cost) / 2.0))
        .collect();
    let all: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / all).collect()
}

/// Whether two exhibits show one stock: the odds of what was found if they do, against two stocks drawn apart.
pub(crate) fn is_same(first: &Found, second: &Found, dice: &mut Dice) -> bool {
    let (left, right) = (posterior(&first.names), posterior(&second.names));
    let mut others = second.names.iter().zip(&right).peekable();
    let mut overlap = 0.0;
    // Both stand in the order of the database.
    for (best, likely) in first.names.iter().zip(&left) {
        while others.next_if(|(other, _)| other.place < best.place).is_some() {}
        if let Some((_, other)) = others.next_if(|(other, _)| other.place == best.place) {
            overlap += likely * other;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "some hundred names")]
    let odds = overlap * first.names.len().max(second.names.len()) as f64;
    // Odds that rounding alone moves from 1 tell nothing.
    if (odds - 1.0).abs() < 1e-9 {
        dice.draw(2) == 0
    } else {
        1.0 < odds
    }
}
