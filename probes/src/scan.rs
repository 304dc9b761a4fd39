//! Lays an exhibit against every stock and day that it could show.

use crate::clue::{Clues, UNSUSPECTED, add_costs, least};
use crate::database::{Database, HISTORY_DAYS};
use crate::likelihood::{DayLikelihoods, add_weighted};
use crate::parsed_exhibit::ParsedExhibit;
use crate::prior::PriorCosts;
use ktd_env::{Board, Ticker};
use std::ops::Range;

/// Who and when an exhibit could be, by what it says openly.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    board: Option<Board>,
    code: Option<Ticker>,
    /// Place of the last step's as-of day, where dates are shown.
    day: Option<usize>,
    /// Stretches of days left open: by that date, and by the memberships of a stock given away, which was one of the
    /// index's when the target was.
    open: Vec<Range<usize>>,
}

impl Scope {
    pub(crate) fn of(database: &Database, parsed: &ParsedExhibit) -> Self {
        let date = parsed.steps.last().and_then(|step| step.date);
        let trading_day = date.and_then(|date| database.calendar.binary_search(&date).ok());
        let given_day = parsed.given_day.as_ref();
        let given_day = given_day.and_then(|date| database.calendar.binary_search(date).ok());
        let day = trading_day.and_then(|day| day.checked_sub(1)).or(given_day);
        let mut open: Vec<Range<usize>> = std::iter::once(0..database.day_count()).collect();
        for (_, code) in parsed.known() {
            if let Some(place) = place_of(database, code) {
                let days = member_days(database, place);
                let both = open
                    .iter()
                    .flat_map(|open| days.iter().map(|days| meet(open, days)));
                open = both.filter(|both| !both.is_empty()).collect();
            }
        }
        if let Some(day) = day {
            open = open.iter().map(|days| meet(days, &(day..day + 1))).collect();
        }
        Self {
            board: parsed.board(),
            code: Ticker::parse(&parsed.target).ok(),
            day,
            open,
        }
    }

    /// Stretches of rows: place of the stock, rows.
    pub(crate) fn stretches<'d>(
        &'d self,
        database: &'d Database,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 'd {
        let fitting = database.members.iter().filter(|members| {
            database.names.get(members.place).is_some_and(|names| {
                self.board.is_none_or(|board| board == names.board)
                    && self.code.is_none_or(|code| code == names.ticker)
            })
        });
        fitting.flat_map(move |members| {
            let days = database.days_of_rows(members.place, &members.span);
            self.open.iter().filter_map(move |open| {
                let both = meet(open, &days);
                let row = |day: usize| members.span.start + (day - days.start);
                (!both.is_empty()).then(|| (members.place, row(both.start)..row(both.end)))
            })
        })
    }

    /// The days that it could be.
    pub(crate) fn days(&self, database: &Database) -> Range<usize> {
        self.day
            .map_or(HISTORY_DAYS - 1..database.day_count(), |day| day..day + 1)
    }
}

fn meet(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    left.start.max(right.start)..left.end.min(right.end)
}

/// Place of the stock that an exhibit gives away.
fn given_away(database: &Database, parsed: &ParsedExhibit) -> Option<usize> {
    place_of(database, &parsed.anchor.as_ref()?.1)
}

/// Place of the stock of a code.
pub(crate) fn place_of(database: &Database, code: &str) -> Option<usize> {
    let code = Ticker::parse(code).ok()?;
    database.names.iter().position(|rows| rows.ticker == code)
}

/// The stretches of days on which a stock was a member.
fn member_days(database: &Database, place: usize) -> Vec<Range<usize>> {
    let members = database.members.iter();
    members
        .filter(|members| members.place == place)
        .map(|members| database.days_of_rows(place, &members.span))
        .collect()
}

/// How well a stock fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    /// Place of the stock.
    pub(crate) place: usize,
    /// Twice the negative logarithm of its likelihood, summed over its days: what one good day says, and what many weak ones do.
    pub(crate) cost: f32,
    /// Place of the day that fits best.
    pub(crate) day: usize,
    /// The cost of that day.
    least: f32,
    mass: f32,
}

impl Best {
    /// A stock whose only day is this one.
    pub(crate) const fn new(place: usize, day: usize, cost: f32) -> Self {
        Self {
            place,
            cost,
            day,
            least: cost,
            mass: 0.0,
        }
    }
}

/// What one reading of an exhibit found.
#[derive(Debug, Clone)]
pub(crate) struct ScanResult {
    /// Every stock in scope, in the order of the database.
    pub(crate) names: Vec<Best>,
    /// The cost of each day of the calendar, of its likelihood summed over the stocks; infinite out of scope.
    pub(crate) days: Vec<f32>,
}

/// A scan under way: likelihoods are summed in units of that of a row of the cost `unit`.
struct Scanning {
    names: Vec<Best>,
    least: Vec<f32>,
    masses: Vec<f32>,
    unit: f32,
    weights: Vec<f32>,
}

/// A row so much better than the unit becomes the unit, long before sums overflow.
const BETTER: f32 = 40.0;

impl Scanning {
    fn new(days: usize, unit: f32) -> Self {
        Self {
            names: Vec::new(),
            least: vec![f32::INFINITY; days],
            masses: vec![0.0; days],
            unit,
            weights: Vec::new(),
        }
    }

    fn take(&mut self, place: usize, first_day: usize, costs: &[f32]) {
        let cost = least(costs);
        if cost + BETTER < self.unit {
            self.measure_in(cost);
        }
        self.weights.clear();
        self.weights.resize(costs.len(), 0.0);
        let days = first_day..first_day + costs.len();
        let (Some(least), Some(masses)) = (self.least.get_mut(days.clone()), self.masses.get_mut(days))
        else {
            return;
        };
        let mass = DayLikelihoods {
            costs,
            unit: self.unit,
            weights: &mut self.weights,
            least,
            masses,
        }
        .add();
        let known = self.names.last_mut().filter(|last| last.place == place);
        let day = || first_day + position(costs, cost);
        match known {
            Some(known) => {
                known.mass += mass;
                if cost < known.least {
                    (known.least, known.day) = (cost, day());
                }
            }
            None => self.names.push(Best {
                mass,
                ..Best::new(place, day(), cost)
            }),
        }
    }

    fn measure_in(&mut self, unit: f32) {
        let share = libm::expf((unit - self.unit) / 2.0);
        let names = self.names.iter_mut().map(|best| &mut best.mass);
        for mass in names.chain(&mut self.masses) {
            *mass *= share;
        }
        self.unit = unit;
    }

    fn finish(self) -> ScanResult {
        let unit = self.unit;
        let cost = |least: f32, mass: f32| {
            if 0.0 < mass {
                unit - 2.0 * libm::logf(mass)
            } else {
                least
            }
        };
        let names = self.names.into_iter().map(|best| Best {
            cost: cost(best.least, best.mass),
            ..best
        });
        let days = self.least.iter().zip(&self.masses);
        ScanResult {
            names: names.collect(),
            days: days.map(|(least, mass)| cost(*least, *mass)).collect(),
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
    pub(crate) fn new(database: &Database, parsed: &ParsedExhibit, clues: &'c Clues) -> Self {
        Self {
            clues,
            day_costs: clues.day_costs(database, given_away(database, parsed)),
        }
    }

    /// What the rows of one stock cost; where every row costs more than `enough`, perhaps only a part of it.
    pub(crate) fn costs(
        &self,
        database: &Database,
        (place, rows): (usize, &Range<usize>),
        enough: f32,
        costs: &mut Vec<f32>,
    ) {
        costs.clear();
        let day = database.day_of_row(place, rows.start);
        costs.extend(self.day_costs.iter().skip(day).take(rows.len()));
        costs.resize(rows.len(), 0.0);
        let Some(names) = database.names.get(place) else {
            return;
        };
        let suspects = &self.clues.suspects;
        if !suspects.is_empty() && !suspects.contains(&names.code_order) {
            for cost in costs.iter_mut() {
                *cost += UNSUSPECTED;
            }
        }
        for clue in &self.clues.lots {
            clue.add(database, (rows, &names.span), costs);
        }
        add_costs(&self.clues.stock, database, (rows, &names.span), enough, costs);
    }

    /// The cost of the row that fits the first clues best: no better than the best of all. Where there are no others, the scan
    /// itself is as fast.
    fn first_look(&self, database: &Database, scope: &Scope, prior: Option<&PriorCosts>) -> f32 {
        if self.clues.stock.len() <= FIRST_CLUES {
            return f32::INFINITY;
        }
        let some = Clues {
            stock: self.clues.stock.iter().copied().take(FIRST_CLUES).collect(),
            suspects: self.clues.suspects.clone(),
            ..Clues::default()
        };
        let glance = Case {
            clues: &some,
            day_costs: self.day_costs.clone(),
        };
        let (mut costs, mut best) = (Vec::new(), (f32::INFINITY, 0, 0));
        for (place, rows) in scope.stretches(database) {
            glance.costs(database, (place, &rows), f32::INFINITY, &mut costs);
            add_prior(database, (place, rows.start), prior, &mut costs);
            let cost = least(&costs);
            if cost < best.0 {
                best = (cost, place, rows.start + position(&costs, cost));
            }
        }
        let (_, place, row) = best;
        self.costs(database, (place, &(row..row + 1)), f32::INFINITY, &mut costs);
        add_prior(database, (place, row), prior, &mut costs);
        costs.first().copied().unwrap_or(f32::INFINITY)
    }
}

/// Adds what rows of a stock cost before an exhibit is read.
fn add_prior(
    database: &Database,
    (place, row): (usize, usize),
    prior: Option<&PriorCosts>,
    costs: &mut [f32],
) {
    let (Some(prior), Some(names)) = (prior, database.names.get(place)) else {
        return;
    };
    let of_days = prior.of_board(names.board);
    if let Some(of_days) = of_days.get(database.day_of_row(place, row)..) {
        add_weighted(costs, 1.0, of_days);
    }
}

/// The first place of a cost.
fn position(costs: &[f32], wanted: f32) -> usize {
    costs.iter().position(|cost| *cost <= wanted).unwrap_or(0)
}

/// Clues of the first look.
const FIRST_CLUES: usize = 6;
/// Rows laid against at once: the fewer, the sooner all of them are hopeless.
const ROWS_A_BLOCK: usize = 512;
/// A row that costs so much more than the best is e^-40 times as likely: it is hopeless whatever else it costs.
const HOPELESS: f32 = 80.0;

/// Lays every case over the rows in scope in one pass, and with them their sum under `weights`; each beside the prior.
pub(crate) fn scan(
    database: &Database,
    scope: &Scope,
    cases: &[Case<'_>],
    weights: &[f32],
    prior: Option<&PriorCosts>,
) -> (Vec<ScanResult>, ScanResult) {
    let (distinct, of_case) = distinct(cases, weights);
    let length = database.day_count();
    let units: Vec<f32> = distinct
        .iter()
        .map(|(case, _)| case.first_look(database, scope, prior))
        .collect();
    let mut found: Vec<Scanning> = units.iter().map(|unit| Scanning::new(length, *unit)).collect();
    let mut together = Scanning::new(length, f32::INFINITY);
    let (mut costs, mut sum) = (Vec::new(), Vec::new());
    for (place, rows) in scope.stretches(database) {
        for start in rows.clone().step_by(ROWS_A_BLOCK) {
            let block = start..rows.end.min(start + ROWS_A_BLOCK);
            let day = database.day_of_row(place, block.start);
            sum.clear();
            sum.resize(block.len(), 0.0);
            add_prior(database, (place, start), prior, &mut sum);
            for (((case, weight), unit), found) in distinct.iter().zip(&units).zip(&mut found) {
                case.costs(database, (place, &block), unit + HOPELESS, &mut costs);
                add_weighted(&mut sum, *weight, &costs);
                add_prior(database, (place, start), prior, &mut costs);
                found.take(place, day, &costs);
            }
            together.take(place, day, &sum);
        }
    }
    let found: Vec<ScanResult> = found.into_iter().map(Scanning::finish).collect();
    let of_each = of_case.iter().filter_map(|place| found.get(*place).cloned());
    (of_each.collect(), together.finish())
}

/// The cases that read something of their own, each with the weight of all that read the same, and which of them each case is.
fn distinct<'a, 'c>(cases: &'a [Case<'c>], weights: &[f32]) -> (Vec<(&'a Case<'c>, f32)>, Vec<usize>) {
    let mut distinct: Vec<(&Case<'_>, f32)> = Vec::new();
    let mut of_case = Vec::with_capacity(cases.len());
    for (number, case) in cases.iter().enumerate() {
        let weight = weights.get(number).copied().unwrap_or(0.0);
        let known = distinct.iter().position(|(known, _)| known.clues == case.clues);
        let place = known.unwrap_or(distinct.len());
        if known.is_none() {
            distinct.push((case, 0.0));
        }
        if let Some((_, sum)) = distinct.get_mut(place) {
            *sum += weight;
        }
        of_case.push(place);
    }
    (distinct, of_case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clue::{Bounds, Clue};
    use crate::column::Column;
    use crate::database::hand_made::{Stock, database};
    use crate::parsed_exhibit::ParsedStep;
    use crate::parsed_stock::ParsedStock;

    fn three_stocks() -> Database {
        let stock = |board, first, values| Stock {
            board,
            sector: None,
            first,
            values,
        };
        database(
            30,
            &[
                stock(Board::Main, 0, &[1.0, 2.0, 3.0, 4.0]),
                stock(Board::Star, 2, &[5.0, 6.0, 7.0, 8.0]),
                stock(Board::Main, 3, &[2.0, 9.0, 3.0, 1.0]),
            ],
        )
    }

    fn parsed(target: &str, board: Option<Board>, date: Option<ktd_env::TradeDate>) -> ParsedExhibit {
        ParsedExhibit {
            target: target.to_owned(),
            anchor: None,
            others: Vec::new(),
            given_day: None,
            steps: vec![ParsedStep {
                date,
                target: Some(ParsedStock {
                    board,
                    ..ParsedStock::default()
                }),
                ..ParsedStep::default()
            }],
        }
    }

    fn places(database: &Database, parsed: &ParsedExhibit) -> Vec<(usize, Range<usize>)> {
        Scope::of(database, parsed).stretches(database).collect()
    }

    #[test]
    fn a_shown_board_leaves_its_stocks() {
        let database = three_stocks();
        let blinded = places(&database, &parsed("asset_0001", Some(Board::Main), None));
        assert_eq!(blinded, [(0, 0..4), (2, 8..12)]);
        assert_eq!(places(&database, &parsed("asset_0001", None, None)).len(), 3);
        assert!(places(&database, &parsed("asset_0001", Some(Board::Bse), None)).is_empty());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a bright exhibit shows the code")]
    fn a_shown_code_leaves_one_stock() {
        let database = three_stocks();
        let code = database.names[1].ticker.reveal().to_owned();
        assert_eq!(places(&database, &parsed(&code, None, None)), [(1, 4..8)]);
    }

    #[test]
    fn a_shown_date_leaves_the_day_before_it() {
        let database = three_stocks();
        let on = |day: usize| parsed("asset_0001", None, Some(database.calendar[day]));
        assert_eq!(places(&database, &on(4)), [(0, 3..4), (1, 5..6), (2, 8..9)]);
        assert_eq!(places(&database, &on(7)), [(2, 11..12)], "all others have ended");
        assert_eq!(Scope::of(&database, &on(4)).days(&database), 3..4);
        assert!(places(&database, &on(20)).is_empty());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "an anchor shows a code")]
    fn a_stock_given_away_leaves_the_days_of_its_membership() {
        let database = three_stocks();
        let mut beside = parsed("asset_0001", Some(Board::Main), None);
        let code = database.names[1].ticker.reveal().to_owned();
        beside.anchor = Some(("asset_0002".to_owned(), code));
        assert_eq!(places(&database, &beside), [(0, 2..4), (2, 8..11)]);
        beside.steps[0].date = Some(database.calendar[4]);
        assert_eq!(places(&database, &beside), [(0, 3..4), (2, 8..9)]);
        beside.steps[0].date = Some(database.calendar[7]);
        assert!(places(&database, &beside).is_empty(), "it had left before");
    }

    #[test]
    fn the_best_day_of_each_stock_is_found_and_the_least_of_each_day() {
        let database = three_stocks();
        let clues = Clues {
            stock: vec![Clue {
                column: Column::LnClose,
                at: 0,
                minus: None,
                bounds: Bounds::around(3.0, 0.5),
            }],
            ..Clues::default()
        };
        let parsed = parsed("asset_0001", Some(Board::Main), None);
        let scope = Scope::of(&database, &parsed);
        let case = Case::new(&database, &parsed, &clues);
        let (found, together) = scan(&database, &scope, &[case], &[2.0], None);
        let best: Vec<(usize, usize)> = found[0].names.iter().map(|best| (best.place, best.day)).collect();
        assert_eq!(best, [(0, 2), (2, 5)]);
        assert!(found[0].names.iter().all(|best| best.cost < 1e-6));
        let days = &found[0].days;
        assert!(
            days[2] < 1e-6 && days[5] < 1e-6 && days[2] < days[0] && days[3] < days[4],
            "{days:?}"
        );
        assert!(days[7..].iter().all(|cost| cost.is_infinite()));
        let of_two = &together.days;
        assert!(
            of_two[2] < 1e-6 && days[0] < of_two[0],
            "twice the weight sees more"
        );
    }

    #[test]
    fn those_without_a_suspicion_cost_more() {
        let database = three_stocks();
        let clues = Clues {
            suspects: vec![2],
            ..Clues::default()
        };
        let parsed = parsed("asset_0001", None, None);
        let scope = Scope::of(&database, &parsed);
        let (found, _) = scan(
            &database,
            &scope,
            &[Case::new(&database, &parsed, &clues)],
            &[1.0],
            None,
        );
        let costs: Vec<f32> = found[0].names.iter().map(|best| best.cost).collect();
        let above = |place: usize| (costs[place] - costs[2] - UNSUSPECTED).abs();
        assert!(above(0) < 1e-4 && above(1) < 1e-4, "{costs:?}");
    }
}
