//! Lays an exhibit against every stock and day that it could show.

use crate::clue::{Clues, UNSUSPECTED, add_costs, least};
use crate::database::{Database, HISTORY_DAYS};
use crate::parsed_exhibit::ParsedExhibit;
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

    /// Whether a day is left open.
    pub(crate) fn is_open(&self, day: usize) -> bool {
        self.open.iter().any(|days| days.contains(&day))
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
pub(crate) struct ScanResult {
    /// Every stock in scope, in the order of the database.
    pub(crate) names: Vec<Best>,
    /// The least cost of each day of the calendar over the stocks; infinite out of scope.
    pub(crate) days: Vec<f32>,
}

impl ScanResult {
    fn new(days: usize) -> Self {
        Self {
            names: Vec::new(),
            days: vec![f32::INFINITY; days],
        }
    }

    fn take(&mut self, place: usize, first_day: usize, costs: &[f32]) {
        for (kept, cost) in self.days.iter_mut().skip(first_day).zip(costs) {
            *kept = if *cost < *kept { *cost } else { *kept };
        }
        let cost = least(costs);
        let known = self.names.last_mut().filter(|last| last.place == place);
        if known.as_ref().is_some_and(|known| known.cost <= cost) {
            return;
        }
        let best = Best {
            place,
            cost,
            day: first_day + position(costs, cost),
        };
        match known {
            Some(known) => *known = best,
            None => self.names.push(best),
        }
    }
}

/// The first place of a cost.
fn position(costs: &[f32], wanted: f32) -> usize {
    costs.iter().position(|cost| *cost <= wanted).unwrap_or(0)
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

    /// The cost of the row that fits the first clues best: no better than the best of all.
    fn first_look(&self, database: &Database, scope: &Scope) -> f32 {
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
            let cost = least(&costs);
            if cost < best.0 {
                best = (cost, place, rows.start + position(&costs, cost));
            }
        }
        let (_, place, row) = best;
        self.costs(database, (place, &(row..row + 1)), f32::INFINITY, &mut costs);
        costs.first().copied().unwrap_or(f32::INFINITY)
    }
}

/// Clues of the first look.
const FIRST_CLUES: usize = 6;
/// Rows laid against at once: the fewer, the sooner all of them are hopeless.
const ROWS_A_BLOCK: usize = 512;
/// A row that costs so much more than the best is e^-40 times as likely: it is hopeless whatever else it costs.
const HOPELESS: f32 = 80.0;

/// Lays every case over the rows in scope in one pass, and with them their sum under `weights`.
pub(crate) fn scan(
    database: &Database,
    scope: &Scope,
    cases: &[Case<'_>],
    weights: &[f32],
) -> (Vec<ScanResult>, ScanResult) {
    let length = database.day_count();
    let mut found: Vec<ScanResult> = cases.iter().map(|_| ScanResult::new(length)).collect();
    let mut together = ScanResult::new(length);
    let enough: Vec<f32> = cases
        .iter()
        .map(|case| case.first_look(database, scope) + HOPELESS)
        .collect();
    let (mut costs, mut sum) = (Vec::new(), Vec::new());
    for (place, rows) in scope.stretches(database) {
        for start in rows.clone().step_by(ROWS_A_BLOCK) {
            let block = start..rows.end.min(start + ROWS_A_BLOCK);
            let day = database.day_of_row(place, block.start);
            sum.clear();
            sum.resize(block.len(), 0.0);
            for (number, (case, found)) in cases.iter().zip(&mut found).enumerate() {
                let most = enough.get(number).copied().unwrap_or(f32::INFINITY);
                case.costs(database, (place, &block), most, &mut costs);
                found.take(place, day, &costs);
                let weight = weights.get(number).copied().unwrap_or(0.0);
                for (sum, cost) in sum.iter_mut().zip(&costs) {
                    *sum += weight * cost;
                }
            }
            together.take(place, day, &sum);
        }
    }
    (found, together)
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
        let (found, together) = scan(&database, &scope, &[case], &[2.0]);
        let best: Vec<(usize, usize)> = found[0].names.iter().map(|best| (best.place, best.day)).collect();
        assert_eq!(best, [(0, 2), (2, 5)]);
        assert!(found[0].names.iter().all(|best| best.cost < 1e-6));
        let days = &found[0].days;
        assert!(
            days[2] < 1e-6 && days[5] < 1e-6 && 0.5 < days[3] && days[3] < 3.0,
            "{days:?}"
        );
        assert!(days[7..].iter().all(|cost| cost.is_infinite()));
        for (sum, cost) in together.days.iter().zip(days) {
            assert_eq!(sum.to_bits(), (2.0 * cost).to_bits());
        }
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
        );
        let costs: Vec<f32> = found[0].names.iter().map(|best| best.cost).collect();
        assert_eq!(costs, [UNSUSPECTED, UNSUSPECTED, 0.0]);
    }
}
