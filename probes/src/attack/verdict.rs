//! From what a scan found to an answer.

use crate::answer::ProbeAnswer;
use crate::database::{Database, count};
use crate::scan::{Best, ScanResult};
use ktd_env::{Board, DayIndex, KeyedStream, NameId};
use std::collections::BTreeMap;
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
    found: &ScanResult,
    days: &Range<usize>,
    dice: &mut Dice,
) -> Option<ProbeAnswer> {
    let mut names = found.names.clone();
    dice.0.shuffle(&mut names);
    // The sort is stable, so equals keep the order of the draw.
    names.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    names.first()?;
    let (of_sector, of_board, confidence) = likeliest(database, &found.names);
    Some(ProbeAnswer {
        names: first_names(database, &names),
        blanks: Vec::new(),
        day: day(database, found, days, dice),
        sector: of_sector,
        board: of_board,
        is_same: None,
        confidence: Some(confidence),
    })
}

/// A stock, its sector and board, and a day, each drawn from what is left open.
pub(crate) fn drawn(database: &Database, open: &ScanResult, dice: &mut Dice) -> Option<ProbeAnswer> {
    let mut names = open.names.clone();
    dice.0.shuffle(&mut names);
    let rows = database.names.get(names.first()?.place)?;
    let days = open.days.iter().enumerate();
    let days: Vec<usize> = days
        .filter(|(_, cost)| cost.is_finite())
        .map(|(day, _)| day)
        .collect();
    Some(ProbeAnswer {
        names: first_names(database, &names),
        blanks: Vec::new(),
        day: database.day_at(*days.get(dice.draw(days.len()))?),
        sector: rows.sector,
        board: Some(rows.board),
        is_same: None,
        confidence: Some(1.0 / count(names.len())),
    })
}

fn first_names(database: &Database, names: &[Best]) -> Vec<NameId> {
    let first = names.iter().take(ProbeAnswer::MOST_NAMES);
    first
        .filter_map(|best| Some(database.names.get(best.place)?.name))
        .collect()
}

/// The sector and the board with most of the likelihood, and that of the best stock.
fn likeliest(database: &Database, names: &[Best]) -> (Option<u16>, Option<Board>, f64) {
    let (mut sectors, mut boards, mut most) = (BTreeMap::new(), BTreeMap::new(), 0.0_f64);
    for (best, share) in names.iter().zip(posterior(names)) {
        if let Some(rows) = database.names.get(best.place) {
            if let Some(sector) = rows.sector {
                *sectors.entry(sector).or_insert(0.0) += share;
            }
            *boards.entry(rows.board).or_insert(0.0) += share;
        }
        most = most.max(share);
    }
    (largest(sectors), largest(boards), most)
}

fn largest<K>(shares: BTreeMap<K, f64>) -> Option<K> {
    let of_all = shares.into_iter();
    of_all
        .max_by(|left, right| left.1.total_cmp(&right.1))
        .map(|(key, _)| key)
}

/// Trading days over which a guess of the day gathers evidence.
const REACH_DAYS: usize = 20;
/// Costs this far above the best weigh nothing.
const NOTHING: f32 = 60.0;

/// The day around which most of the likelihood lies.
fn day(database: &Database, found: &ScanResult, days: &Range<usize>, dice: &mut Dice) -> Option<DayIndex> {
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
    let far: Vec<f64> = (0..weights.len())
        .map(|place| around(&weights, place, REACH_DAYS, |_| 1.0))
        .collect();
    let most = far.iter().copied().fold(0.0, f64::max);
    // Among days that have nearly as much within reach, the one that most lies close to.
    let close = |place: usize| around(&weights, place, REACH_DAYS, nearness);
    let nearly = far.iter().enumerate().filter(|(_, mass)| most * NEARLY <= **mass);
    let best =
        nearly
            .map(|(place, _)| (place, close(place)))
            .fold((drawn - days.start, 0.0), |best, next| {
                if best.1 < next.1 { next } else { best }
            });
    database.day_at(days.start + best.0)
}

/// As much as the most, but for so little.
const NEARLY: f64 = 0.98;

/// The likelihood of the days around one, each weighed by how far it lies.
fn around(weights: &[f64], place: usize, reach: usize, weigh: fn(usize) -> f64) -> f64 {
    let from = place.saturating_sub(reach);
    let until = (place + reach + 1).min(weights.len());
    let near = weights.get(from..until).unwrap_or_default().iter().enumerate();
    near.map(|(within, weight)| weight * weigh((from + within).abs_diff(place)))
        .sum()
}

/// Falls steeply: the day itself counts fully, one beyond reach not at all.
#[expect(clippy::cast_precision_loss, reason = "a few days")]
fn nearness(distance: usize) -> f64 {
    let triangle = 1.0 - distance as f64 / (REACH_DAYS + 1) as f64;
    triangle * triangle * triangle
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

/// Whether two exhibits show one stock: the odds of what was found if they do, against two stocks drawn apart. `before` is what
/// is found without reading the first.
pub(crate) fn is_same(
    (first, before): (&ScanResult, &ScanResult),
    second: &ScanResult,
    dice: &mut Dice,
) -> bool {
    let (left, right) = (posterior(&first.names), posterior(&second.names));
    let prior = posterior(&before.names);
    let mut others = second.names.iter().zip(&right).peekable();
    let mut odds = 0.0;
    // All stand in the order of the database.
    for ((best, likely), before) in first.names.iter().zip(&left).zip(&prior) {
        while others.next_if(|(other, _)| other.place < best.place).is_some() {}
        if let Some((_, other)) = others.next_if(|(other, _)| other.place == best.place) {
            odds += likely * other / before.max(f64::MIN_POSITIVE);
        }
    }
    // Odds that rounding alone moves from 1 tell nothing.
    if (odds - 1.0).abs() < 1e-6 {
        dice.draw(2) == 0
    } else {
        1.0 < odds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::hand_made::{Stock, database};
    use ktd_env::Board;
    use std::collections::BTreeSet;

    const DAYS: usize = 100;

    fn ten_stocks() -> Database {
        let stock = Stock {
            board: Board::Main,
            sector: None,
            first: 0,
            values: &[1.0],
        };
        database(100, &[stock; 10])
    }

    fn found(costs: &[f32], days: Vec<f32>) -> ScanResult {
        let best = |(place, cost): (usize, &f32)| Best::new(place, 0, *cost);
        ScanResult {
            names: costs.iter().enumerate().map(best).collect(),
            days,
        }
    }

    fn dice(turn: usize) -> Dice {
        Dice::new(7, "somebody", &format!("turn {turn}"))
    }

    fn day_of(database: &Database, days: Vec<f32>, range: &Range<usize>, turn: usize) -> usize {
        let found = found(&[0.0; 10], days);
        let answer = answer(database, &found, range, &mut dice(turn)).unwrap();
        answer.day.unwrap().index()
    }

    #[test]
    fn chance_decides_between_equals_and_never_against_a_better_one() {
        let database = ten_stocks();
        let mut costs = [5.0; 10];
        costs[3] = 1.0;
        let found = found(&costs, vec![0.0; DAYS]);
        let mut seconds = BTreeSet::new();
        for turn in 0..100 {
            let answer = answer(&database, &found, &(0..DAYS), &mut dice(turn)).unwrap();
            assert_eq!(answer.names[0], database.names[3].name);
            assert_eq!(answer.names.len(), ProbeAnswer::MOST_NAMES);
            seconds.insert(answer.names[1]);
            let whole: BTreeSet<_> = answer.names.iter().collect();
            assert_eq!(whole.len(), ProbeAnswer::MOST_NAMES, "each once");
        }
        assert_eq!(seconds.len(), 9);
        let again = |turn| answer(&database, &found, &(0..DAYS), &mut dice(turn));
        assert_eq!(again(5), again(5));
    }

    #[test]
    fn confidence_is_the_posterior_of_the_best() {
        let database = ten_stocks();
        let sure = |costs: &[f32]| {
            let found = found(costs, vec![0.0; DAYS]);
            let answer = answer(&database, &found, &(0..DAYS), &mut dice(0)).unwrap();
            answer.confidence.unwrap()
        };
        assert!((sure(&[0.0; 10]) - 0.1).abs() < 1e-12);
        let two = sure(&[0.0, 2.0 * std::f32::consts::LN_2]);
        assert!((two - 2.0 / 3.0).abs() < 1e-6, "{two}");
    }

    #[test]
    fn nothing_in_scope_is_no_answer() {
        let found = found(&[], vec![f32::INFINITY; DAYS]);
        assert!(answer(&ten_stocks(), &found, &(0..DAYS), &mut dice(0)).is_none());
    }

    #[test]
    fn without_evidence_any_open_day_is_drawn_and_no_other() {
        let database = ten_stocks();
        let mut days = vec![f32::INFINITY; DAYS];
        days[40..46].fill(3.0);
        let drawn: BTreeSet<usize> = (0..200)
            .map(|turn| day_of(&database, days.clone(), &(10..DAYS), turn))
            .collect();
        assert_eq!(drawn, (40..46).collect());
        let drawn: BTreeSet<usize> = (0..200)
            .map(|turn| day_of(&database, vec![0.0; DAYS], &(90..DAYS), turn))
            .collect();
        assert_eq!(drawn, (90..DAYS).collect());
    }

    #[test]
    fn neighbouring_days_together_outweigh_a_single_better_one() {
        let database = ten_stocks();
        let mut days = vec![50.0; DAYS];
        days[10] = 0.0;
        days[60..65].fill(1.0);
        assert_eq!(day_of(&database, days.clone(), &(0..DAYS), 0), 62);
        days[60..65].fill(8.0);
        assert_eq!(day_of(&database, days, &(0..DAYS), 0), 10);
    }

    #[test]
    fn a_day_beyond_reach_counts_nothing() {
        assert!((nearness(0) - 1.0).abs() < 1e-12 && nearness(REACH_DAYS + 1).abs() < 1e-12);
        assert!((nearness(7) - 8.0 / 27.0).abs() < 1e-12);
        let database = ten_stocks();
        let mut days = vec![59.0; DAYS];
        // The better one of two that are too far from each other to help.
        days[20] = 1.0;
        days[20 + 2 * REACH_DAYS + 1] = 0.9;
        assert_eq!(day_of(&database, days.clone(), &(0..DAYS), 0), 61);
        // A third beside the worse one helps it.
        days[18] = 1.0;
        assert!((18..=20).contains(&day_of(&database, days, &(0..DAYS), 0)));
    }

    #[test]
    fn two_exhibits_are_one_stock_where_the_same_one_fits_both() {
        let point = |place: usize| {
            let mut costs = [40.0; 10];
            costs[place] = 0.0;
            found(&costs, Vec::new())
        };
        let flat = found(&[0.0; 10], Vec::new());
        assert!(is_same((&point(2), &flat), &point(2), &mut dice(0)));
        assert!(!is_same((&point(2), &flat), &point(3), &mut dice(0)));
        let coins: BTreeSet<bool> = (0..50)
            .map(|turn| is_same((&flat, &flat), &flat, &mut dice(turn)))
            .collect();
        assert_eq!(coins.len(), 2, "without evidence a coin decides");
    }
}
