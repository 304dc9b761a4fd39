//! The price database that attackers own: every stock and every day of the panel, in columns.

use crate::column::{Column, DayColumn};
use crate::parsed_exhibit::market;
use crate::prior::Priors;
use crate::sampling_design::SamplingDesign;
use ktd_env::exchange::{Account, LimitState, PriceLimits, Rules};
use ktd_env::factors::{Factor, Technical};
use ktd_env::{AsOf, Board, DayIndex, DaysBack, FactorTable, History, Market, NameId, Ticker, TradeDate};
use ktd_guard::Register;
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric, PERIOD_DAYS, style_groups};
use ktd_tools::{Tool, ToolContext, ToolLimits, Toolbox};
use std::collections::BTreeMap;
use std::ops::Range;

/// Trading days before the first day that has a full set of factors. Attackers know it as everyone does: from the factors.
pub(crate) const HISTORY_DAYS: usize = 260;

/// All that an attacker may look up. A row is a stock on a day; a stock's rows lie next to each other, day by day.
#[derive(Debug)]
pub struct Database {
    pub(crate) names: Vec<Rows>,
    pub(crate) columns: Vec<Vec<f32>>,
    days: BTreeMap<DayColumn, Vec<f32>>,
    /// Rows of index members, as stretches of one stock each.
    pub(crate) members: Vec<Members>,
    pub(crate) calendar: Vec<TradeDate>,
    /// Boards of all names of the panel, in the order of the codes.
    pub(crate) boards: Vec<Board>,
    pub(crate) register: Register,
    /// How many members of each board can be asked about on each day: they traded, and have a full set of factors.
    pub(crate) askable: Vec<Vec<u32>>,
    /// How the probes were drawn, as their set says.
    pub(crate) design: SamplingDesign,
    pub(crate) priors: Priors,
    /// Cash of an account before it trades, in yuan.
    pub(crate) cash: f64,
    day_indices: Vec<DayIndex>,
}

/// The rows of one stock.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) name: NameId,
    /// Place among all names of the panel.
    pub(crate) code_order: usize,
    pub(crate) ticker: Ticker,
    pub(crate) board: Board,
    pub(crate) sector: Option<u16>,
    /// Place of the first row's day.
    pub(crate) first: usize,
    /// The stock's rows.
    pub(crate) span: Range<usize>,
}

/// Consecutive days on which a stock was an index member.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    /// Place of the stock in [`Database::names`].
    pub(crate) place: usize,
    pub(crate) span: Range<usize>,
}

/// What a database is made of.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseSource<'a> {
    /// The panel.
    pub market: &'a Market,
    /// Its factors on every day from `HISTORY_DAYS` - 1 on.
    pub factors: &'a FactorTable,
    /// The tools.
    pub toolbox: &'a Toolbox,
    /// The exchange's rules.
    pub rules: &'a Rules,
}

impl Database {
    /// The database of a panel.
    #[must_use]
    pub fn new(source: &DatabaseSource<'_>) -> Self {
        let market = source.market;
        let mut database = Self {
            names: Vec::new(),
            columns: vec![Vec::new(); Column::COUNT],
            days: BTreeMap::new(),
            members: Vec::new(),
            calendar: market.calendar().to_vec(),
            boards: market.names().map(|(name, _)| market.board(name)).collect(),
            register: Register::of(market),
            askable: Vec::new(),
            design: SamplingDesign::default(),
            priors: Priors::new(),
            cash: source.rules.initial_cash.to_yuan(),
            day_indices: (0..market.calendar().len())
                .filter_map(|day| market.day_at(day))
                .collect(),
        };
        for (code_order, (name, _)) in market.names().enumerate() {
            database.push_name(source, name, code_order);
        }
        database.rank_members();
        database.count_askable();
        database.group_members(source);
        database.push_counts();
        database.push_days(source);
        database
    }

    /// Days of the panel.
    pub(crate) const fn day_count(&self) -> usize {
        self.calendar.len()
    }

    /// The day at a place of the calendar.
    pub(crate) fn day_at(&self, place: usize) -> Option<DayIndex> {
        self.day_indices.get(place).copied()
    }

    pub(crate) fn column(&self, column: Column) -> &[f32] {
        self.columns.get(column.place()).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn day_column(&self, column: DayColumn) -> &[f32] {
        self.days.get(&column).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn day_of_row(&self, place: usize, row: usize) -> usize {
        self.names
            .get(place)
            .map_or(0, |rows| rows.first + row - rows.span.start)
    }

    /// Places of the days of consecutive rows of one stock.
    pub(crate) fn days_of_rows(&self, place: usize, rows: &Range<usize>) -> Range<usize> {
        let first = self.day_of_row(place, rows.start);
        first..first + rows.len()
    }

    fn put(&mut self, column: Column, value: f64) {
        if let Some(cells) = self.columns.get_mut(column.place()) {
            cells.push(narrow(value));
        }
    }

    fn push_name(&mut self, source: &DatabaseSource<'_>, name: NameId, code_order: usize) {
        let market = source.market;
        let start = self.column(Column::LnClose).len();
        let (Some(info), Some(first)) = (market.name(name), market.first_bar_day(name)) else {
            return;
        };
        let end = info.last_row.index() + 1;
        let days = first.index()..end.max(first.index() + 1);
        let history = History::new(market, name, days.clone());
        let mut carried = (f64::NAN, f64::NAN);
        for (place, day) in days.clone().enumerate() {
            let Some(index) = market.day_at(day) else {
                break;
            };
            let at = |column: &[f64]| column.get(place).copied().unwrap_or(f64::NAN);
            let bar = market.bar(name, index);
            if let Some(bar) = bar {
                carried = (bar.adjusted_close(), bar.close.to_yuan());
            }
            let close = libm::log(carried.0);
            let of_close = |price: f64| libm::log(price) - close;
            let shares = bar.map_or(f64::NAN, |bar| shares(bar.volume));
            self.put(Column::LnClose, close);
            self.put(Column::LnOpen, of_close(at(&history.open)));
            self.put(Column::LnHigh, of_close(at(&history.high)));
            self.put(Column::LnLow, of_close(at(&history.low)));
            self.put(Column::CloseYuan, carried.1);
            self.put(Column::LnShares, libm::log(shares));
            self.put(Column::LnVolume, libm::log(at(&history.volume)));
            self.put(Column::GroupOfThree, f64::NAN);
            self.put(Column::GroupOfFive, f64::NAN);
            self.push_view(source, name, index);
        }
        let place = self.names.len();
        let rows = start..self.column(Column::LnClose).len();
        self.push_members(market, place, name, (first.index(), &rows));
        self.names.push(Rows {
            name,
            code_order,
            ticker: info.ticker,
            board: market.board(name),
            sector: info.sector,
            first: first.index(),
            span: rows,
        });
    }

    /// What the tools compute of a stock on a day.
    fn push_view(&mut self, source: &DatabaseSource<'_>, name: NameId, day: DayIndex) {
        let as_of = source.market.as_of(day).with_factors(source.factors);
        self.put(Column::State, state(source.rules, &as_of, name));
        for factor in Factor::ALL {
            self.put(
                Column::Raw(factor),
                as_of.factor(name, factor).unwrap_or(f64::NAN),
            );
            self.put(
                Column::Score(factor),
                as_of.factor_z(name, factor).unwrap_or(f64::NAN),
            );
            self.put(Column::Percentile(factor), f64::NAN);
        }
        for technical in Technical::ALL {
            self.put(
                Column::Technical(technical),
                as_of.technical(name, technical).unwrap_or(f64::NAN),
            );
            self.put(Column::TechnicalPercentile(technical), f64::NAN);
        }
    }

    /// The stretches of membership from the first day with factors on.
    fn push_members(&mut self, market: &Market, place: usize, name: NameId, of: (usize, &Range<usize>)) {
        let (first, rows) = of;
        let mut open: Option<usize> = None;
        for row in rows.start..=rows.end {
            let day = first + row - rows.start;
            let date = self.calendar.get(day).filter(|_| row < rows.end);
            let is_member = HISTORY_DAYS <= day + 1 && date.is_some_and(|date| market.is_member(name, *date));
            match (open, is_member) {
                (None, true) => open = Some(row),
                (Some(start), false) => {
                    self.members.push(Members {
                        place,
                        span: start..row,
                    });
                    open = None;
                }
                (None, false) | (Some(_), true) => {}
            }
        }
    }

    /// The style groups of the members of each day.
    fn group_members(&mut self, source: &DatabaseSource<'_>) {
        let places: BTreeMap<NameId, usize> = self
            .names
            .iter()
            .enumerate()
            .map(|(place, rows)| (rows.name, place))
            .collect();
        for day in HISTORY_DAYS - 1..self.day_count() {
            let Some(index) = self.day_at(day) else { continue };
            let view = source.market.as_of(index).with_factors(source.factors);
            for numeric in Numeric::ALL {
                let Some(column) = Column::of_groups(numeric) else {
                    continue;
                };
                for (name, group) in style_groups(numeric, &view) {
                    let rows = places.get(&name).and_then(|place| self.names.get(*place));
                    let row = rows.and_then(|rows| Some(rows.span.start + day.checked_sub(rows.first)?));
                    let cells = self.columns.get_mut(column.place());
                    if let Some(cell) = cells.zip(row).and_then(|(cells, row)| cells.get_mut(row)) {
                        *cell = narrow(count(group));
                    }
                }
            }
        }
    }

    /// How many stocks are listed on each day, and what share of the members moved from each group to each within a period.
    fn push_counts(&mut self) {
        let length = self.day_count();
        let mut listed = vec![0.0_f32; length];
        for rows in &self.names {
            for cell in listed.iter_mut().skip(rows.first) {
                *cell += 1.0;
            }
        }
        self.days.insert(DayColumn::Listed, listed);
        self.push_moves(Column::GroupOfThree, 3, DayColumn::MovesOfThree);
        self.push_moves(Column::GroupOfFive, 5, DayColumn::MovesOfFive);
    }

    fn push_moves(&mut self, column: Column, groups: usize, to: OfPlace) {
        let length = self.day_count();
        let mut counts = vec![vec![0.0_f32; length]; groups * groups];
        let group = |row: usize| {
            let group = *self.column(column).get(row)?;
            let is = |place: &usize| (narrow(count(*place)) - group).abs() < 0.5;
            (0..groups).find(is)
        };
        for rows in &self.names {
            for row in rows.span.clone().skip(PERIOD_DAYS) {
                let day = rows.first + row - rows.span.start;
                if let (Some(from), Some(now)) = (group(row - PERIOD_DAYS), group(row))
                    && let Some(cell) = counts.get_mut(from * groups + now).and_then(|of| of.get_mut(day))
                {
                    *cell += 1.0;
                }
            }
        }
        let mut sums = vec![0.0_f32; length];
        for of_place in &counts {
            for (sum, cell) in sums.iter_mut().zip(of_place) {
                *sum += cell;
            }
        }
        for (place, of_place) in counts.into_iter().enumerate() {
            let shares = of_place.iter().zip(&sums).map(|(cell, sum)| cell / sum);
            self.days.insert(to(place), shares.collect());
        }
    }

    /// The market's columns, from what the context tool says unmasked.
    fn push_days(&mut self, source: &DatabaseSource<'_>) {
        let length = self.day_count();
        for day in HISTORY_DAYS - 1..length {
            let Some(content) = context(source, day) else {
                continue;
            };
            for (column, value) in market(&content) {
                let cells = self.days.entry(column).or_insert_with(|| vec![f32::NAN; length]);
                if let Some(cell) = cells.get_mut(day) {
                    *cell = narrow(value);
                }
            }
        }
        let gap = |day: usize| {
            let before = self.calendar.get(day.checked_sub(1)?)?;
            Some(f64::from(
                self.calendar.get(day)?.days_since_epoch() - before.days_since_epoch(),
            ))
        };
        let gaps = (0..length)
            .map(|day| narrow(gap(day).unwrap_or(f64::NAN)))
            .collect();
        self.days.insert(DayColumn::Gap, gaps);
        let places = (0..length).map(|day| narrow(count(day))).collect();
        self.days.insert(DayColumn::Place, places);
        let levels = self.day_column(DayColumn::IndexLevel).iter();
        let logs = levels.map(|level| narrow(libm::log(f64::from(*level)))).collect();
        self.days.insert(DayColumn::LnIndex, logs);
        self.rank_boards();
    }

    /// Ranks of the boards' returns, 1 for the highest; ties share the better place.
    fn rank_boards(&mut self) {
        for (from, to) in [
            (
                DayColumn::BoardReturn1d as OfBoard,
                DayColumn::BoardRank1d as OfBoard,
            ),
            (DayColumn::BoardReturn20d, DayColumn::BoardRank20d),
        ] {
            self.rank_boards_by(from, to);
        }
    }

    fn rank_boards_by(&mut self, from: OfBoard, to: OfBoard) {
        let boards = 0..Board::ALL.len();
        let returns: Vec<Vec<f32>> = boards
            .clone()
            .map(|board| self.day_column(from(board)).to_vec())
            .collect();
        for board in boards {
            let rank = |day: usize| {
                let own = *returns.get(board)?.get(day)?;
                let above = returns
                    .iter()
                    .filter_map(|column| column.get(day))
                    .filter(|value| own < **value);
                own.is_finite().then(|| narrow(1.0 + count(above.count())))
            };
            let ranks = (0..self.day_count())
                .map(|day| rank(day).unwrap_or(f32::NAN))
                .collect();
            self.days.insert(to(board), ranks);
        }
    }
}

/// A column of a place of a table.
type OfPlace = fn(usize) -> DayColumn;

/// A column of the board at a place of the list of boards.
type OfBoard = fn(usize) -> DayColumn;

/// What the context tool says of a day under the brightest mask.
fn context(source: &DatabaseSource<'_>, day: usize) -> Option<serde_json::Value> {
    let market = source.market;
    let as_of = market.as_of(market.day_at(day)?).with_factors(source.factors);
    let settings = MaskSettings {
        level: Level::Bright,
        numeric: Numeric::Exact,
    };
    let frame = EpisodeFrame {
        market,
        window: &[market.day_at(day)?],
        initial_cash: source.rules.initial_cash,
    };
    let mask = Mask::new(settings, &MaskKey::from_bytes([0; 32]), &frame)?;
    let context = ToolContext {
        as_of: &as_of,
        account: &Account::with_cash(source.rules.initial_cash),
        mask: &mask,
        rules: source.rules,
        limits: &ToolLimits::default(),
        last_step: None,
        step: 1,
    };
    let answer = source.toolbox.call(&context, Tool::GetMarketContext.name(), "{}");
    serde_json::from_str(&answer.payload.to_json()).ok()
}

/// States of [`Column::State`]; those between them are states of a limit too.
pub(crate) const LIMIT_UP: f64 = 1.0;
pub(crate) const LIMIT_DOWN: f64 = 2.0;
pub(crate) const SUSPENDED: f64 = 3.0;

/// How a stock stood on a day, as [`Column::State`] has it.
pub(crate) fn state(rules: &Rules, as_of: &AsOf<'_>, name: NameId) -> f64 {
    let Some(bar) = as_of.bar(name, DaysBack(0)).filter(|bar| 0 < bar.volume) else {
        return SUSPENDED;
    };
    PriceLimits::of_last_bar(rules, as_of, name).map_or(4.0, |limits| match limits.exact_state(bar.close) {
        LimitState::Inside => 0.0,
        LimitState::Up => LIMIT_UP,
        LimitState::Down => LIMIT_DOWN,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "seven digits tell stocks apart")]
pub(crate) const fn narrow(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) const fn count(counted: usize) -> f64 {
    counted as f64
}

#[expect(clippy::cast_precision_loss, reason = "volumes stay far below 2^53 shares")]
const fn shares(volume: u64) -> f64 {
    volume as f64
}

/// Databases written by hand, for tests of what looks things up in them.
#[cfg(test)]
pub(crate) mod hand_made {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    /// One stock: every column holds the same values, and it is a member on every one of its days.
    #[derive(Clone, Copy)]
    pub(crate) struct Stock<'a> {
        pub(crate) board: Board,
        pub(crate) sector: Option<u16>,
        pub(crate) first: usize,
        pub(crate) values: &'a [f32],
    }

    pub(crate) fn database(days: u32, stocks: &[Stock<'_>]) -> Database {
        let config = SynthConfig {
            seed: 1,
            names: u32::try_from(stocks.len()).unwrap(),
            days,
        };
        let market = generate(&config).unwrap();
        let mut database = Database {
            names: Vec::new(),
            columns: vec![Vec::new(); Column::COUNT],
            days: BTreeMap::new(),
            members: Vec::new(),
            calendar: market.calendar().to_vec(),
            boards: stocks.iter().map(|stock| stock.board).collect(),
            register: Register::of(&market),
            askable: Vec::new(),
            design: SamplingDesign::default(),
            priors: Priors::new(),
            cash: 1e6,
            day_indices: (0..market.calendar().len())
                .filter_map(|day| market.day_at(day))
                .collect(),
        };
        for (place, ((name, info), stock)) in market.names().zip(stocks).enumerate() {
            let start = database.columns[0].len();
            for column in &mut database.columns {
                column.extend(stock.values);
            }
            let span = start..start + stock.values.len();
            database.members.push(Members {
                place,
                span: span.clone(),
            });
            database.names.push(Rows {
                name,
                code_order: place,
                ticker: info.ticker,
                board: stock.board,
                sector: stock.sector,
                first: stock.first,
                span,
            });
        }
        database.count_askable();
        database
    }

    impl Database {
        pub(crate) fn with_day_column(mut self, column: DayColumn, values: &[f32]) -> Self {
            self.days.insert(column, values.to_vec());
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HISTORY_DAYS;
    use crate::plan::ProbePlan;

    #[test]
    fn every_day_that_is_asked_about_is_in_the_database() {
        assert_eq!(HISTORY_DAYS, ProbePlan::HISTORY_DAYS);
    }
}
