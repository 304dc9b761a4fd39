//! Readers of what an asking agent collects.

use super::{DatabaseAttacker, Reading};
use crate::asked_calls::STEPS_TO_LIST;
use crate::clue::{Bounds, Clue, Clues, DayClue, LotClue};
use crate::column::DayColumn;
use crate::parsed_exhibit::ParsedStep;
use crate::tolerance;
use ktd_env::factors::Factor;
use ktd_masking::{FactorScale, Numeric, PERIOD_DAYS, group_of_band};
use std::collections::{BTreeMap, BTreeSet};

/// Links rows of ids that are seen in several periods: how many stocks moved from each group to each tells the day, and the
/// target's own path its name.
pub(super) struct RosterPath;

impl DatabaseAttacker for RosterPath {
    fn name(&self) -> &'static str {
        "roster-path"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        Clues {
            stock: reading.paths(),
            days: moves(reading),
            ..Clues::default()
        }
    }
}

/// Counts: ids that a period lists, and ids that name nobody.
pub(super) struct Census;

impl DatabaseAttacker for Census {
    fn name(&self) -> &'static str {
        "census"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let periods = periods(reading);
        // Rosters of one size on all days tell nothing, and no roster is larger than the thinnest day.
        let is_told = |ids: usize| reading.background.fewest_members < ids;
        let listed = periods
            .iter()
            .filter(|(_, ids)| is_told(ids.len()))
            .map(|(at, ids)| counted(DayColumn::Members, *at, ids.len()));
        Clues {
            days: listed.chain(known(reading)).collect(),
            ..Clues::default()
        }
    }
}

/// Plans the same name at many weights: a weight after a trade in whole lots tells the price of a lot.
pub(super) struct WeightOracle;

impl DatabaseAttacker for WeightOracle {
    fn name(&self) -> &'static str {
        "weight-oracle"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let steps = reading.parsed.steps.iter();
        let lots = steps.flat_map(|step| {
            let plan = |(target, after): &(f64, f64)| LotClue {
                at: step.offset,
                target: *target,
                after: *after,
                // Fees take a little of the account that weights are shares of.
                tolerance: tolerance::weight(reading.numeric) + 1e-3 * target,
                nav: reading.background.cash,
            };
            step.plans.iter().map(plan)
        });
        // Bands show a book of ordered weights, which no lot has touched.
        let is_account = reading.numeric.scale() != FactorScale::Bands;
        Clues {
            lots: lots.filter(|_| is_account).collect(),
            ..Clues::default()
        }
    }
}

/// Knows some of the stocks: the day on which all of them stood so, and then the target.
pub(super) struct GivenAway;

impl DatabaseAttacker for GivenAway {
    fn name(&self) -> &'static str {
        "given-away"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let background = reading.background;
        let of_place = |(number, place): (usize, &Option<usize>)| {
            let snapshots = if number == 0 {
                reading.shown(|step| step.anchor.as_ref())
            } else {
                reading.shown(|step| {
                    let mut others = step.others.iter();
                    others
                        .find(|(other, _)| other + 1 == number)
                        .map(|(_, stock)| stock)
                })
            };
            Some(((*place)?, reading.factors(&snapshots, &Factor::ALL)))
        };
        Clues {
            stock: reading.factors(&reading.targets(), &Factor::ALL),
            known: background.known.iter().enumerate().filter_map(of_place).collect(),
            ..Clues::default()
        }
    }
}

/// Reads the target alone and leaves the day to what is known of it: where the day is given away, the stock is what is left.
pub(super) struct KnownDay;

impl DatabaseAttacker for KnownDay {
    fn name(&self) -> &'static str {
        "known-day"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        Clues {
            stock: reading.factors(&reading.targets(), &Factor::ALL),
            ..Clues::default()
        }
    }
}

/// Ids that were compared in each period: trading days from the last step to the day that its groups are of, ids with groups.
fn periods<'s>(reading: &Reading<'s>) -> Vec<(i64, BTreeMap<&'s str, Option<usize>>)> {
    let mut periods: BTreeMap<i64, BTreeMap<&str, Option<usize>>> = BTreeMap::new();
    let has_bands = reading.numeric.scale() == FactorScale::Bands;
    for step in &reading.parsed.steps {
        let at = period(step);
        if has_bands {
            for (id, factor, band) in &step.bands {
                let group = group_of_band(reading.numeric, *factor, *band);
                periods.entry(at).or_default().insert(id, group);
            }
        } else {
            // Some steps list every member, and no step lists another.
            for (id, _) in &step.listed {
                periods.entry(at).or_default().insert(id, None);
            }
        }
    }
    // A period that the exhibit cuts short was not listed whole.
    let whole = reading.whole_periods();
    periods.into_iter().filter(|(at, _)| whole.contains(at)).collect()
}

/// How many stocks of one period moved from each group to each in the next, where ids are seen in both.
fn moves(reading: &Reading<'_>) -> Vec<DayClue> {
    let periods = periods(reading);
    let mut clues = Vec::new();
    let pairs = periods.iter().zip(periods.iter().skip(1));
    // Moves are counted over one period: those between others are unknown.
    let adjacent = pairs.filter(|(before, after)| Ok(after.0 - before.0) == i64::try_from(PERIOD_DAYS));
    for (before, after) in adjacent {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let groups = groups(reading.numeric);
        for (id, group) in &after.1 {
            if let (Some(Some(from)), Some(to)) = (before.1.get(id), group) {
                *counts.entry(from * groups + to).or_default() += 1;
            }
        }
        let all: usize = counts.values().sum();
        if all < LEAST_LINKED {
            continue;
        }
        clues.extend((0..groups * groups).filter_map(|place| {
            let share = share(counts.get(&place).copied().unwrap_or(0), all);
            Some(DayClue {
                column: column(reading.numeric, place)?,
                at: after.0,
                minus: None,
                bounds: Bounds::around(share, (0.4 * libm::sqrt(share / count(all))).max(0.005)),
            })
        }));
    }
    clues
}

/// Fewer ids in both periods than this are holdings, whose rows do not change.
const LEAST_LINKED: usize = 30;

const fn groups(numeric: Numeric) -> usize {
    match numeric {
        Numeric::BandedFive => 5,
        Numeric::Banded => 3,
        Numeric::Exact
        | Numeric::Rescaled
        | Numeric::RoundedTenth
        | Numeric::RoundedHalf
        | Numeric::Ranked => 0,
    }
}

const fn column(numeric: Numeric, place: usize) -> Option<DayColumn> {
    match numeric {
        Numeric::BandedFive => Some(DayColumn::MovesOfFive(place)),
        Numeric::Banded => Some(DayColumn::MovesOfThree(place)),
        Numeric::Exact
        | Numeric::Rescaled
        | Numeric::RoundedTenth
        | Numeric::RoundedHalf
        | Numeric::Ranked => None,
    }
}

/// Stocks that were known at the first step, where every alias of the panel was tried.
fn known(reading: &Reading<'_>) -> Option<DayClue> {
    let first = reading.parsed.steps.first()?;
    let is_whole = reading.numeric.scale() != FactorScale::Bands && 0 < first.unknown_ids;
    let known = reading.background.stocks.checked_sub(first.unknown_ids)?;
    is_whole.then(|| counted(DayColumn::Listed, first.offset, known))
}

fn counted(column: DayColumn, at: i64, number: usize) -> DayClue {
    DayClue {
        column,
        at,
        minus: None,
        bounds: Bounds::around(count(number), 0.4),
    }
}

impl Reading<'_> {
    /// The target's groups in every period in which it was compared: of an id that is kept, its path.
    fn paths(&self) -> Vec<Clue> {
        let mut clues = self.factors(&self.targets(), &Factor::ALL);
        clues.truncate(1);
        let seen = self.parsed.steps.iter().flat_map(|step| {
            let own = step.bands.iter().filter(|(id, ..)| *id == self.parsed.target);
            own.map(|(_, factor, band)| (period(step), *factor, *band))
        });
        let read = seen.filter_map(|(at, factor, band)| {
            Some(Clue {
                column: crate::column::Column::of_groups(self.numeric)?,
                at,
                minus: None,
                bounds: Bounds::group(group_of_band(self.numeric, factor, band)?),
            })
        });
        for clue in read {
            if !clues.contains(&clue) {
                clues.push(clue);
            }
        }
        clues
    }

    /// The periods of which enough steps are shown to list them.
    fn whole_periods(&self) -> BTreeSet<i64> {
        let mut steps: BTreeMap<i64, usize> = BTreeMap::new();
        for step in &self.parsed.steps {
            *steps.entry(period(step)).or_default() += 1;
        }
        let whole = steps.into_iter().filter(|(_, steps)| STEPS_TO_LIST <= *steps);
        whole.map(|(at, _)| at).collect()
    }
}

/// Trading days from the last step's as-of day to the first of the step's period.
fn period(step: &ParsedStep) -> i64 {
    let period = i64::try_from(PERIOD_DAYS).unwrap_or(1);
    step.offset - step.label.unwrap_or(0).rem_euclid(period)
}

fn share(part: usize, whole: usize) -> f64 {
    count(part) / count(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "stocks are few")]
const fn count(stocks: usize) -> f64 {
    stocks as f64
}
