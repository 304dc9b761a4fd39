//! Lays an exhibit against every stock and day that it could show.

use crate::clue::{Clues, UNSUSPECTED, add_costs};
use crate::database::Database;
use crate::sight::Sight;
use ktd_env::{Board, Ticker};
use std::ops::Range;

/// Who and when an exhibit could be, by what it says openly.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    board: Option<Board>,
    code: Option<Ticker>,
    /// Place of the last step's as-of day, where dates are shown.
    day: Option<usize>,
}

impl Scope {
    pub(crate) fn of(database: &Database, sight: &Sight) -> Self {
        let date = sight.steps.last().and_then(|step| step.date);
        let trading_day = date.and_then(|date| database.calendar.binary_search(&date).ok());
        Self {
            board: sight.board(),
            code: Ticker::parse(&sight.target).ok(),
            day: trading_day.and_then(|day| day.checked_sub(1)),
        }
    }

    /// Stretches of rows: place of the stock, rows.
    pub(crate) fn stretches<'d>(
        &'d self,
        database: &'d Database,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 'd {
        database.members.iter().filter_map(move |members| {
            let names = database.names.get(members.place)?;
            let fits = self.board.is_none_or(|board| board == names.board)
                && self.code.is_none_or(|code| code == names.ticker);
            let rows = match self.day {
                Some(day) => {
                    let row = names.span.start + day.checked_sub(names.first)?;
                    members.span.contains(&row).then_some(row..row + 1)?
                }
                None => members.span.clone(),
            };
            fits.then_some((members.place, rows))
        })
    }

    /// The days that it could be.
    pub(crate) fn days(&self, database: &Database) -> Range<usize> {
        self.day.map_or(
            crate::plan::ProbePlan::HISTORY_DAYS - 1..database.day_count(),
            |day| day..day + 1,
        )
    }
}

/// How well the best day of a stock fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    /// Place of the stock.
    pub(crate) place: usize,
    pub(crate) cost: f32,
    /// Place of the day.
    pub(crate) day: usize,
}

/// What one reading of an exhibit found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Every stock in scope, in the order of the database.
    pub(crate) names: Vec<Best>,
    /// The least cost of each day of the calendar over the stocks; infinite out of scope.
    pub(crate) days: Vec<f32>,
}

impl Found {
    fn new(days: usize) -> Self {
        Self {
            names: Vec::new(),
            days: vec![f32::INFINITY; days],
        }
    }

    fn take(&mut self, place: usize, first_day: usize, costs: &[f32]) {
        let mut best = Best {
            place,
            cost: f32::INFINITY,
            day: first_day,
        };
        let days = self.days.iter_mut().skip(first_day).zip(costs).enumerate();
        for (within, (least, cost)) in days {
            *least = least.min(*cost);
            if *cost < best.cost {
                (best.cost, best.day) = (*cost, first_day + within);
            }
        }
        match self.names.last_mut().filter(|last| last.place == place) {
            Some(last) if best.cost < last.cost => *last = best,
            Some(_) => {}
            None => self.names.push(best),
        }
    }
}

/// One reading with what each day costs before any stock is looked at.
#[derive(Debug)]
pub(crate) struct Case<'c> {
    pub(crate) clues: &'c Clues,
    pub(crate) day_costs: Vec<f32>,
}

impl<'c> Case<'c> {
    pub(crate) fn new(database: &Database, sight: &Sight, clues: &'c Clues) -> Self {
        let anchor = sight.anchor.as_ref().and_then(|(_, code)| {
            let code = Ticker::parse(code).ok()?;
            database.names.iter().position(|rows| rows.ticker == code)
        });
        Self {
            clues,
            day_costs: clues.day_costs(database, anchor),
        }
    }

    /// What the rows of one stock cost.
    pub(crate) fn costs(&self, database: &Database, place: usize, rows: &Range<usize>, costs: &mut Vec<f32>) {
        costs.clear();
        let day = database.day_of_row(place, rows.start);
        costs.extend(self.day_costs.iter().skip(day).take(rows.len()));
        costs.resize(rows.len(), 0.0);
        let Some(names) = database.names.get(place) else {
            return;
        };
        add_costs(&self.clues.stock, database, rows, &names.span, costs);
        let suspects = &self.clues.suspects;
        if !suspects.is_empty() && !suspects.contains(&names.code_order) {
            for cost in costs {
                *cost += UNSUSPECTED;
            }
        }
    }
}

/// Lays every case over the rows in scope in one pass, and with them their sum under `weights`.
pub(crate) fn scan(
    database: &Database,
    scope: &Scope,
    cases: &[Case<'_>],
    weights: &[f32],
) -> (Vec<Found>, Found) {
    let length = database.day_count();
    let mut found: Vec<Found> = cases.iter().map(|_| Found::new(length)).collect();
    let mut together = Found::new(length);
    let (mut costs, mut sum) = (Vec::new(), Vec::new());
    for (place, rows) in scope.stretches(database) {
        let day = database.day_of_row(place, rows.start);
        sum.clear();
        sum.resize(rows.len(), 0.0);
        for ((case, found), weight) in cases.iter().zip(&mut found).zip(weights) {
            case.costs(database, place, &rows, &mut costs);
            found.take(place, day, &costs);
            for (sum, cost) in sum.iter_mut().zip(&costs) {
                *sum += weight * cost;
            }
        }
        together.take(place, day, &sum);
    }
    (found, together)
}
